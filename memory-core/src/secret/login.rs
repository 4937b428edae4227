//! Passwords beside the name of a user, in addresses, flags and headers.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::placeholder::is_placeholder;
use super::rule::has_digit;

/// Maximum length of user and password in bytes; it bounds the scan of each URL.
const MAX_AUTHORITY: usize = 512;

/// Returns the password in `scheme://user:password@host`, where `separator` is `://`.
pub(super) fn find_password(text: &str, separator: Range<usize>) -> Option<Range<usize>> {
    if !text[..separator.start].ends_with(|character: char| character.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = &text[separator.end..];
    let user = length_while(rest, |character| {
        character.is_ascii_graphic() && !"/?#\"'`\\[]()<>,;:".contains(character)
    });
    let (user, password) = (&rest[..user], rest[user..].strip_prefix(':')?);
    if starts_with_port(password) {
        return None;
    }
    let length = password_length(password).or_else(|| wide_password_length(user, password))?;
    let start = separator.end + user.len() + 1;
    is_real_password(user, &password[..length]).then(|| start..start + length)
}

fn length_while(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.char_indices()
        .find(|&(at, character)| MAX_AUTHORITY <= at || !accept(character))
        .map_or(text.len(), |(at, _)| at)
}

/// Returns whether a text starts with the port of an address, which a path, punctuation or another script ends.
fn starts_with_port(text: &str) -> bool {
    let digits = text.bytes().take(6).take_while(u8::is_ascii_digit).count();
    let next = text[digits..].chars().next();
    (1..=5).contains(&digits)
        && next.is_none_or(|next| !next.is_ascii_graphic() || ",;/?#()[].\"'`<>\\".contains(next))
}

/// Returns the length of a password up to the last `@` of an authority, since people may not escape an `@` in it.
fn password_length(text: &str) -> Option<usize> {
    let authority = length_while(text, |character| {
        if character.is_ascii() {
            character.is_ascii_graphic() && !"/?#\"'`\\[]()<>".contains(character)
        } else {
            character.is_alphanumeric()
        }
    });
    text[..authority].rfind('@')
}

/// Returns the length of a password with unescaped characters of a path: it has a digit and a letter, a host follows, and
/// no host precedes.
fn wide_password_length(user: &str, text: &str) -> Option<usize> {
    let rest = length_while(text, |character| {
        character.is_ascii_graphic() && !"\"'`\\<>".contains(character)
    });
    let length = text[..rest].find('@')?;
    let password = &text[..length];
    let real = 6 <= length
        && has_digit(password)
        && password.contains(|character: char| character.is_ascii_alphabetic())
        && !password.contains("://")
        && !user.contains(['@', '.'])
        && text[length + 1..].starts_with(|character: char| character.is_ascii_alphanumeric());
    real.then_some(length)
}

/// Returns the password of `curl -u user:password`.
pub(super) fn find_login(text: &str, flag: Range<usize>) -> Option<Range<usize>> {
    let rest = text[flag.end..].trim_start_matches([' ', '=', '"', '\'']);
    let login = length_while(rest, |character| {
        character.is_ascii_graphic() && !"\"'`".contains(character)
    });
    let (user, password) = rest[..login].split_once(':')?;
    let line = text[..flag.start]
        .bytes()
        .rev()
        .take(256)
        .take_while(|&byte| byte != b'\n');
    let before = &text.as_bytes()[flag.start - line.count()..flag.start];
    if !["curl", "http", "wget"]
        .iter()
        .any(|tool| before.windows(4).any(|part| part == tool.as_bytes()))
    {
        return None;
    }
    let start = text.len() - rest.len() + user.len() + 1;
    (!user.contains('/') && is_real_password(user, password)).then(|| start..start + password.len())
}

/// Returns whether the password of a user is neither a placeholder nor one of documentation.
fn is_real_password(user: &str, password: &str) -> bool {
    !password.is_empty()
        && !is_placeholder(password)
        && !is_generic_word(password)
        && !password.eq_ignore_ascii_case(user)
}

/// Words that documentation uses as passwords.
const GENERIC_WORDS: [&str; 32] = [
    "password",
    "passwd",
    "passwort",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "guest",
    "root",
    "admin",
    "administrator",
    "anonymous",
    "user",
    "username",
    "changeme",
    "test",
    "testing",
    "postgres",
    "mysql",
    "mongo",
    "redis",
    "rabbitmq",
    "demo",
    "default",
    "foo",
    "bar",
    "baz",
    "hidden",
    "minioadmin",
    "sa",
    "x-oauth-basic",
];

/// Returns whether `password` is only a generic word or a mask.
fn is_generic_word(password: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let word = lower.strip_prefix("my").unwrap_or(&lower);
    GENERIC_WORDS.contains(&word.trim_start_matches(['_', '-']))
        || lower.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'.'))
}

/// Returns whether base64 encodes a user and a password.
pub(super) fn is_basic_login(encoded: &str) -> bool {
    let encoded = encoded.trim_end_matches('=');
    let Ok(decoded) = STANDARD_NO_PAD.decode(&encoded[..encoded.len().min(256)]) else {
        return false;
    };
    std::str::from_utf8(&decoded)
        .ok()
        .filter(|login| !login.contains(char::is_control))
        .and_then(|login| login.split_once(':'))
        .is_some_and(|(user, password)| is_real_password(user, password))
}
