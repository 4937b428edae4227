//! Unescaping of the strings in JSON text.

use std::borrow::Cow;

use super::{JsonTokenKind, JsonTokens, unquote};

/// Returns a JSON text with unescaped strings, for full-text search. The result may not be valid JSON.
pub fn unescape_strings(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    let mut end = 0;
    for token in JsonTokens::of(json).map_while(Result::ok) {
        if !matches!(token.kind, JsonTokenKind::Key | JsonTokenKind::String) {
            continue;
        }
        text.push_str(&json[end..token.range.start]);
        match unquote(&json[token.range.clone()]) {
            Some(said) => {
                text.push('"');
                text.push_str(&said);
                text.push('"');
            }
            None => text.push_str(&json[token.range.clone()]),
        }
        end = token.range.end;
    }
    text.push_str(&json[end..]);
    Cow::Owned(text)
}
