//! Credentials that are known only by the name of what they are assigned to.

use std::ops::Range;

use super::placeholder::{is_placeholder, looks_random};

/// The fewest bytes of a value that is taken for a credential.
const SHORTEST: usize = 16;

/// As much of a value is looked at. Longer ones are no credentials, or are known after this much.
const LONGEST_LOOK: usize = 256;

/// Finds the value that is assigned to a name which contains `keyword`: `DB_PASSWORD="…"`, `api_key: …`.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let rest = after_name(&text[keyword.end..])?;
    let rest = skip_blanks(rest);
    let rest = rest.strip_prefix(":=").or_else(|| rest.strip_prefix("=>")).or_else(|| rest.strip_prefix([':', '=']))?;
    let rest = skip_blanks(rest);
    let rest = rest.strip_prefix(is_quote).unwrap_or(rest);

    let start = text.len() - rest.len();
    let looked_at = end_of_value(rest.bytes().take(LONGEST_LOOK));
    let value = &rest[..looked_at];
    if value.len() < SHORTEST || !looks_random(value) || is_reference(value) || is_placeholder(value) {
        return None;
    }
    Some(start..start + end_of_value(rest.bytes()))
}

/// Skips the rest of a name, such as `_base` after `secret`, and the quote that ends it.
fn after_name(rest: &str) -> Option<&str> {
    let name = rest.bytes().take(25).take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let rest = (name < 25).then(|| &rest[name..])?;
    Some(rest.strip_prefix(is_quote).unwrap_or(rest))
}

/// Skips what people put around `=` for looks; more of it is something else.
fn skip_blanks(rest: &str) -> &str {
    let blanks = rest.bytes().take(3).take_while(|&byte| byte == b' ' || byte == b'\t').count();
    &rest[blanks..]
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`')
}

/// Counts the bytes of a value, which are printable ASCII but quotes, brackets and what parts lists.
fn end_of_value(bytes: impl Iterator<Item = u8>) -> usize {
    let in_value = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`,;<>(){}[]|\\".contains(byte);
    bytes.take_while(in_value).count()
}

/// Tells whether `value` says where something is rather than what it is.
fn is_reference(value: &str) -> bool {
    value.contains("://") || value.contains("::") || value.starts_with(['/', '.', '~', '@'])
}
