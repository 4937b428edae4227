//! The words within identifiers of programs.

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
    use super::identifier_parts;

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
