//! The names of languages.

use std::sync::LazyLock;

/// The names of each language in several languages, folded; the first one identifies the language.
static LANGUAGES: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../language/names.json")).unwrap_or_default()
});

/// Returns the language that a folded word names.
pub(super) fn language(word: &str) -> Option<&'static str> {
    LANGUAGES
        .iter()
        .find(|names| names.contains(&word))
        .map(|names| names[0])
}

/// Returns the language whose name in Chinese characters is at the start of the folded text, and the length of the name in bytes.
pub(super) fn language_at(text: &str) -> Option<(&'static str, usize)> {
    LANGUAGES.iter().find_map(|names| {
        let name = names
            .iter()
            .find(|name| !name.is_ascii() && text.starts_with(**name))?;
        Some((names[0], name.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_file() {
        for name in ["french", "franzosisch", "francais", "frances", "法语"] {
            assert_eq!(language(name), Some("french"), "{name}");
        }
    }
}
