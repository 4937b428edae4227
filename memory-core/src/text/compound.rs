//! Compounds of two words with a hyphen, which are also written as one word: `e-mail`, `UTF-8`; names of several parts; and the words
//! within identifiers of programs.

use super::{Token, TokenKind, tokenize};

const HYPHENS: [char; 3] = ['-', '\u{2010}', '\u{2011}'];

/// Maximum length of each word of a compound in bytes.
const MAX_WORD: usize = 24;

/// Calls `each` with the compounds of two words in `text`, as they are without the hyphen. The span of a token is that of the compound.
///
/// Words with several hyphens, such as names of commands and ids, and dates have no such token.
///
/// ```
/// # use memory_core::text::for_each_compound_token;
/// let mut found = Vec::new();
/// for_each_compound_token("the Wi-Fi in UTF-8, 10-12", &mut |token| found.push(token.text.to_owned()));
/// assert_eq!(found, ["wifi", "utf8"]);
/// ```
pub fn for_each_compound_token(text: &str, each: &mut dyn FnMut(Token<'_>)) {
    let is_letter = |letter: char| letter.is_alphanumeric();
    let is_inner = |letter: char| HYPHENS.contains(&letter) || matches!(letter, '_' | '/' | '.');
    for (at, hyphen) in text.match_indices(HYPHENS) {
        let (before, after) = (&text[..at], &text[at + hyphen.len()..]);
        let first = before.len() - before.trim_end_matches(is_letter).len();
        let second = after.len() - after.trim_start_matches(is_letter).len();
        let (start, end) = (at - first, at + hyphen.len() + second);
        let (first, second) = (&text[start..at], &after[..second]);
        let is_word = |word: &str| !word.is_empty() && word.len() <= MAX_WORD;
        if !is_word(first) || !is_word(second) || !first.starts_with(char::is_alphabetic) {
            continue;
        }
        let rest = text[end..].strip_prefix(is_inner);
        let goes_on = rest.is_some_and(|rest| rest.starts_with(is_letter));
        if text[..start].ends_with(is_inner) || goes_on {
            continue;
        }
        tokenize(&format!("{first}{second}"), &mut |token| {
            if token.kind == TokenKind::Word && token.span.len() == first.len() + second.len() {
                each(Token {
                    span: start..end,
                    ..token
                });
            }
        });
    }
}

/// Maximum number of parts of a name.
const MAX_PARTS: usize = 12;

/// Returns the names of three or more parts in a text, in small letters and joined by `_`: identifiers, paths, versions and dates.
///
/// ```
/// # use memory_core::text::compound_names;
/// let found: Vec<String> = compound_names("maxRetryCount in src/core/main.rs since v3.1.1, not 3.14").collect();
/// assert_eq!(found, ["max_retry_count", "src_core_main_rs", "3_1_1"]);
/// ```
pub fn compound_names(text: &str) -> impl Iterator<Item = String> {
    let is_joint = |letter: char| matches!(letter, '_' | '-' | '.' | '/' | ':');
    text.split(move |letter: char| !letter.is_ascii_alphanumeric() && !is_joint(letter))
        .filter_map(move |run| {
            let mut name = String::with_capacity(run.len() + 4);
            let mut parts = 0;
            for word in run.split(is_joint).filter(|word| !word.is_empty()) {
                let is_version = parts == 0 && word.len() < 4 && word.starts_with(['v', 'V']);
                let digits = &word[usize::from(is_version)..];
                let is_number =
                    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
                let word = if is_version && is_number {
                    digits
                } else {
                    word
                };
                if MAX_WORD < word.len() {
                    return None;
                }
                let mut was_small = true;
                for letter in word.chars() {
                    let is_start = letter.is_ascii_uppercase() && was_small;
                    if is_start && !name.is_empty() && !name.ends_with('_') {
                        name.push('_');
                        parts += 1;
                    }
                    was_small = !letter.is_ascii_uppercase();
                    name.push(letter.to_ascii_lowercase());
                }
                parts += 1;
                name.push('_');
            }
            name.pop();
            (3..=MAX_PARTS).contains(&parts).then_some(name)
        })
}

/// Returns the words of an identifier in camel case, such as `getUserById`; none for any other word.
///
/// A word that begins with a capital, such as `GitHub`, is an identifier from three words on.
///
/// ```
/// # use memory_core::text::identifier_parts;
/// assert_eq!(identifier_parts("parseHTTPResponse"), ["parse", "HTTP", "Response"]);
/// assert!(identifier_parts("GitHub").is_empty() && identifier_parts("iPhone").is_empty());
/// ```
pub fn identifier_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    for pair in letters.windows(2) {
        let [(_, before), (at, letter)] = [pair[0], pair[1]];
        let next = word[at..].chars().nth(1);
        let ends_capitals = before.is_uppercase() && next.is_some_and(char::is_lowercase);
        if letter.is_uppercase() && (before.is_lowercase() || before.is_numeric() || ends_capitals)
        {
            parts.push(&word[start..at]);
            start = at;
        }
    }
    parts.push(&word[start..]);
    let is_name = word.starts_with(char::is_uppercase) && parts.len() < 3;
    if parts.len() < 2 || is_name || parts[0].len() < 2 {
        return Vec::new();
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn compounds_of_two_words_are_also_one_word() {
        for (text, expected) in [
            ("an e-mail.", "email"),
            ("(COVID-19)", "covid19"),
            ("PGMP\u{2011}15", "pgmp15"),
            ("Wi-Fi-Router, state-of-the-art", ""),
            ("2026-05", ""),
            ("550e8400-e29b-41d4", ""),
            ("docs/a-b a-b.md _a-b", ""),
            ("- item -x y-", ""),
            ("中-文", ""),
        ] {
            let mut found = Vec::new();
            for_each_compound_token(text, &mut |token| found.push(token.text.to_owned()));
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn spans_are_parts_of_the_text(text in "[a-c1\\-‑ é中]{0,20}") {
            for_each_compound_token(&text, &mut |token| {
                assert!(!text[token.span].contains(' '));
            });
        }
    }

    #[test]
    fn identifiers_consist_of_words_and_names_do_not() {
        for (word, parts) in [
            ("maxRetryCount", &["max", "Retry", "Count"][..]),
            ("GetUserByID", &["Get", "User", "By", "ID"]),
            ("utf8Decode", &["utf8", "Decode"]),
            ("größeÄndern", &["größe", "Ändern"]),
        ] {
            assert_eq!(identifier_parts(word), parts, "{word}");
        }
        for word in ["tea", "PostgreSQL", "McDonald", "NASA", "eBay", "", "用"] {
            assert!(identifier_parts(word).is_empty(), "{word}");
        }
    }
}
