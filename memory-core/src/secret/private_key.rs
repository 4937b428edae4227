//! The text of private keys.

use std::ops::Range;

/// Minimum length of an uninterrupted run of characters in a key. Ordinary words and `...` are shorter.
const MIN_RUN: usize = 16;

/// Returns the private key that starts with `-----BEGIN … PRIVATE KEY-----`.
///
/// `begin` is the range of `-----BEGIN `.
///
/// The block extends to its last line, or else to the next block, or else to the end of the text.
pub(super) fn find_private_key(text: &str, begin: Range<usize>) -> Option<Range<usize>> {
    let label = &text[begin.end..];
    let label = &label[..label
        .bytes()
        .take(64)
        .position(|byte| !is_label_byte(byte))?];
    let body = begin.end
        + label.len()
        + text[begin.end + label.len()..]
            .strip_prefix("-----")
            .map(|_| 5)?;
    if !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    let rest = &text[body..];
    let next = rest.find("-----BEGIN ").unwrap_or(rest.len());
    let end = match rest[..next].find("-----END ") {
        Some(last_line) => {
            let closing = format!("-----END {label}-----");
            last_line
                + if rest[last_line..].starts_with(&closing) {
                    closing.len()
                } else {
                    0
                }
        }
        None => next,
    };
    has_encoded_data(&rest[..end]).then(|| begin.start..body + end)
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// Returns whether `body` contains encoded data rather than only prose.
fn has_encoded_data(body: &str) -> bool {
    body.split(|character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '+' | '/'))
    })
    .any(|run| {
        MIN_RUN <= run.len()
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase())
            && run.bytes().any(|byte| !byte.is_ascii_alphabetic())
    })
}
