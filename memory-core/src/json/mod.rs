//! JSON as text that preserves the spelling of numbers and the order of keys.
//!
//! Stored JSON is preserved to the digit: `0.1`, `1e1000` and `100000000000000000001` are not converted to
//! floating-point numbers, since [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) does not limit numbers. A value is
//! therefore a validated text, [`JsonText`], and [`JsonTokens`] reads its content token by token.

mod text;
mod tokens;

pub use text::{JsonText, format_pretty, is_exact_number, unescape_strings};
pub use tokens::{JsonError, JsonToken, JsonTokenKind, JsonTokens, MAX_DEPTH, unquote};
