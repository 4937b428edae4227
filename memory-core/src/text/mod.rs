//! Tokenizes, folds and formats text, with one tokenizer for the index and for queries.
//!
//! [`tokens()`] returns the same tokens for a text in the index and in a query. A change of its result for any text requires that all
//! indexes are rebuilt.

mod fold;
mod invisible;
mod lemma;
mod one_line;
mod overlaps;
mod query_terms;
mod script;
mod simplified;
mod slug;
mod snippet;
mod stem;
mod symbols;
mod token_count;
mod tokens;
mod with_causes;

pub use fold::fold;
pub use invisible::deceptive_characters;
pub(crate) use invisible::is_invisible;
pub use one_line::one_line;
pub use overlaps::Overlaps;
pub use query_terms::{Term, query_terms};
pub use slug::slug;
pub use snippet::{Snippet, snippet};
pub(crate) use symbols::is_picture;
pub use symbols::{symbol_terms, symbols};
pub use token_count::token_count;
pub use tokens::{Token, TokenKind, tokens};
pub use with_causes::with_causes;
