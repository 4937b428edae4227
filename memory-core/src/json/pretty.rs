//! Formatting of JSON for display.

use super::{JsonTokenKind, JsonTokens};

/// Formats a JSON text with one line per item and two spaces per level, as `jq .` does.
///
/// Text that is not JSON is returned unchanged.
pub fn format_pretty(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len() * 2);
    // Whether an item precedes the next token in the same bracket, and whether the next token is the value of a key.
    let (mut needs_comma, mut follows_key) = (false, false);
    for token in JsonTokens::of(text) {
        let Ok(token) = token else { return text.to_owned() };
        let ends = matches!(token.kind, JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds);
        let begins = matches!(token.kind, JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins);
        if !ends && needs_comma {
            laid_out.push(',');
        }
        // Empty brackets contain no line break.
        if token.depth != 0 && !follows_key && !ends || ends && needs_comma {
            laid_out.push('\n');
            laid_out.extend(std::iter::repeat_n("  ", token.depth));
        }
        laid_out.push_str(&text[token.range]);
        follows_key = token.kind == JsonTokenKind::Key;
        if follows_key {
            laid_out.push_str(": ");
        }
        needs_comma = !begins && !follows_key;
    }
    laid_out
}

#[cfg(test)]
mod tests {
    use super::format_pretty;

    #[test]
    fn every_level_is_two_spaces_further_in() {
        let text = r#"{"a":[1,{"b":{}}],"c":[],"d":"x"}"#;
        assert_eq!(
            format_pretty(text),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": {}\n    }\n  ],\n  \"c\": [],\n  \"d\": \"x\"\n}"
        );
        assert_eq!((format_pretty("1e1000").as_str(), format_pretty("{broken").as_str()), ("1e1000", "{broken"));
    }
}
