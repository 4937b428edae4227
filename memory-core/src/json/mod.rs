//! JSON as text: every digit, every key in its place.
//!
//! What people keep as JSON is theirs to the digit: `0.1`, `1e1000` and `100000000000000000001` are no floating-point numbers
//! here but the text that was written ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) sets no limits to numbers). So a value is
//! a checked text, [`JsonText`], and who wants to know what is in it reads it token by token, with [`Tokens`].

mod pretty;
mod spelled_out;
mod text;
mod tokens;

pub use pretty::pretty;
pub use spelled_out::spelled_out;
pub use text::{JsonError, JsonText, MAX_DEPTH, is_exact_number};
pub use tokens::{Token, TokenKind, Tokens, unquoted};
