//! Private keys in text armour.

use std::ops::Range;

/// The fewest characters without a break that a key has. Single words and `...` have fewer.
const SHORTEST_LINE: usize = 16;

/// Finds the private key that begins with `-----BEGIN … PRIVATE KEY-----`, of which `begin` is the first part.
///
/// The block ends with its last line, else before the next block, else with the text.
pub(super) fn block(text: &str, begin: Range<usize>) -> Option<Range<usize>> {
    let label = &text[begin.end..];
    let label = &label[..label.bytes().take(64).position(|byte| !is_in_label(byte))?];
    let body = begin.end + label.len() + text[begin.end + label.len()..].strip_prefix("-----").map(|_| 5)?;
    if !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    let rest = &text[body..];
    let next = rest.find("-----BEGIN ").unwrap_or(rest.len());
    let end = match rest[..next].find("-----END ") {
        Some(last_line) => {
            let closing = format!("-----END {label}-----");
            last_line + if rest[last_line..].starts_with(&closing) { closing.len() } else { 0 }
        }
        None => next,
    };
    has_key(&rest[..end]).then(|| begin.start..body + end)
}

fn is_in_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// Tells whether there is encoded data in `body`, and not only words about it.
fn has_key(body: &str) -> bool {
    body.split(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '+' | '/'))).any(|run| {
        SHORTEST_LINE <= run.len()
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase())
            && run.bytes().any(|byte| !byte.is_ascii_alphabetic())
    })
}
