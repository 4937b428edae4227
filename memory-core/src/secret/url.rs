//! Detection of passwords in URLs.

use std::ops::Range;

use super::placeholder::is_placeholder;

/// Maximum length of user and password in bytes; it bounds the scan of each URL.
const MAX_AUTHORITY: usize = 512;

/// Returns the password in `scheme://user:password@host`, where `separator` is `://`.
pub(super) fn find_password(text: &str, separator: Range<usize>) -> Option<Range<usize>> {
    let has_scheme = text[..separator.start].ends_with(|character: char| character.is_ascii_alphanumeric());
    let rest = &text[separator.end..];
    let authority = rest.bytes().take(MAX_AUTHORITY).take_while(|&byte| is_authority_byte(byte)).count();
    // The last `@` ends the password, since people may not escape an `@` in it.
    let at = rest.as_bytes()[..authority].iter().rposition(|&byte| byte == b'@')?;
    let colon = rest.as_bytes()[..at].iter().position(|&byte| byte == b':')?;
    let password = &rest[colon + 1..at];

    let real = has_scheme && !password.is_empty() && !is_generic_word(password) && !is_placeholder(password);
    real.then(|| separator.end + colon + 1..separator.end + at)
}

fn is_authority_byte(byte: u8) -> bool {
    0x80 <= byte || (byte.is_ascii_graphic() && !b"/?#\"'`\\[]()<>".contains(&byte))
}

/// Returns whether `password` is only a generic word or a mask.
fn is_generic_word(password: &str) -> bool {
    ["password", "passwd", "secret", "token", "..."].iter().any(|word| password.eq_ignore_ascii_case(word))
        || password.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}
