//! Detection of credentials by the name that they are assigned to.

use std::ops::Range;

use super::placeholder::{is_placeholder, looks_random};

/// Minimum length of a credential in bytes.
const MIN_LENGTH: usize = 16;

/// Maximum number of bytes of a value to examine; they suffice for the decision.
const MAX_EXAMINED: usize = 256;

/// Returns the value that is assigned to a name with `keyword`: `DB_PASSWORD="…"`, `api_key: …`.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let rest = skip_name(&text[keyword.end..])?;
    let rest = skip_blanks(rest);
    let rest = rest.strip_prefix(":=").or_else(|| rest.strip_prefix("=>")).or_else(|| rest.strip_prefix([':', '=']))?;
    let rest = skip_blanks(rest);
    let rest = rest.strip_prefix(is_quote).unwrap_or(rest);

    let start = text.len() - rest.len();
    let looked_at = value_length(rest.bytes().take(MAX_EXAMINED));
    let value = &rest[..looked_at];
    if value.len() < MIN_LENGTH || !looks_random(value) || is_reference(value) || is_placeholder(value) {
        return None;
    }
    Some(start..start + value_length(rest.bytes()))
}

/// Skips the rest of a name, such as `_base` after `secret`, and its closing quote.
fn skip_name(rest: &str) -> Option<&str> {
    let name = rest.bytes().take(25).take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let rest = (name < 25).then(|| &rest[name..])?;
    Some(rest.strip_prefix(is_quote).unwrap_or(rest))
}

/// Skips up to three spaces or tabs around an assignment sign.
fn skip_blanks(rest: &str) -> &str {
    let blanks = rest.bytes().take(3).take_while(|&byte| byte == b' ' || byte == b'\t').count();
    &rest[blanks..]
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`')
}

/// Returns the length of a value: printable ASCII except quotes, brackets and separators of lists.
fn value_length(bytes: impl Iterator<Item = u8>) -> usize {
    let in_value = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`,;<>(){}[]|\\".contains(byte);
    bytes.take_while(in_value).count()
}

/// Returns whether `value` is a path, a URL or another reference rather than a credential.
fn is_reference(value: &str) -> bool {
    value.contains("://") || value.contains("::") || value.starts_with(['/', '.', '~', '@'])
}
