//! Comparisons of texts with the entries of a word class.

/// Returns the words of a class that are of scripts without spaces.
pub(crate) fn unspaced<'w>(class: &'w [&'static str]) -> impl Iterator<Item = &'static str> + 'w {
    class.iter().copied().filter(|word| !word.is_ascii())
}

/// Returns whether a text contains an entry in any place.
pub fn contains_any(text: &str, class: &[&str]) -> bool {
    class.iter().any(|word| text.contains(word))
}

/// Returns whether a text starts with an entry.
pub fn starts_with_any(text: &str, class: &[&str]) -> bool {
    class.iter().any(|word| text.starts_with(word))
}

/// Returns the text behind the first entry that it starts with.
pub fn strip_any<'t>(text: &'t str, class: &[&str]) -> Option<&'t str> {
    class.iter().find_map(|word| text.strip_prefix(word))
}

/// Returns the text without the entries.
pub fn remove_all(text: &str, class: &[&str]) -> String {
    class
        .iter()
        .fold(text.to_owned(), |text, word| text.replace(word, ""))
}
