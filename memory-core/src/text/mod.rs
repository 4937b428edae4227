//! Tokenizes, folds and formats text, with one tokenizer for the index and for queries.
//!
//! [`tokenize()`] returns the same tokens for a text in the index and in a query. A change of its result for any text requires that all
//! indexes are rebuilt.

mod compound;
mod fold;
mod invisible;
pub(crate) mod lookalike;
mod one_line;
mod overlaps;
mod query_terms;
mod slug;
mod small_alef;
mod snippet;
mod stem;
mod styled;
mod symbols;
mod token_count;
mod tokens;
mod windows_name;

pub use compound::{compound_names, for_each_compound_token, identifier_parts};
pub use fold::fold;
pub(crate) use fold::to_ascii_form;
pub(crate) use invisible::is_invisible;
pub use invisible::{deceptive_characters, is_han};
pub(crate) use one_line::visible_char;
pub use one_line::{counted, format_error_chain, to_one_line};
pub use overlaps::WordOverlaps;
pub use query_terms::{Term, query_terms};
pub use slug::slug;
pub use small_alef::for_each_alef_token;
pub use snippet::{Snippet, snippet};
pub(crate) use snippet::{contained_terms, fitting_snippet};
pub use styled::for_each_styled_token;
pub(crate) use styled::without_inner_styling;
pub use symbols::{for_each_symbol, is_sign_or_emoji, symbol_terms};
pub use token_count::token_count;
pub(crate) use tokens::{QUOTATION_MARKS, is_blankless, is_hebrew, push_range, sentences};
pub use tokens::{
    Token, TokenKind, exact_form, hyphenated_form, is_other_form, is_sentence_end, tokenize,
};
pub use windows_name::{is_device_name, windows_name_problem};
