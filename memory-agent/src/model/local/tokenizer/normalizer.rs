//! Normalization of a text before a unigram tokenizer splits it.

use regex::{NoExpand, Regex};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::charsmap::Charsmap;

/// A normalization step; a tokenizer has any number of them.
#[derive(Debug)]
pub(super) enum Normalizer {
    /// The map of a `SentencePiece` model.
    Charsmap(Charsmap),
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Lowercase,
    /// Removes combining marks.
    StripAccents,
    /// Trims white space.
    Strip {
        left: bool,
        right: bool,
    },
    /// Adds this prefix to a non-empty text.
    Prepend(String),
    Replace {
        text: String,
        with: String,
    },
    ReplacePattern {
        pattern: Regex,
        with: String,
    },
}

impl Normalizer {
    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Self::Charsmap(map) => map.normalize(text),
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            // Lowercasing by character has no special case for a final sigma.
            Self::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
            Self::StripAccents => text.chars().filter(|character| !is_combining_mark(*character)).collect(),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { text };
                if *right { text.trim_end() } else { text }.to_owned()
            }
            Self::Prepend(prefix) if text.is_empty() => prefix[..0].to_owned(),
            Self::Prepend(prefix) => format!("{prefix}{text}"),
            Self::Replace { text: from, with } => text.replace(from.as_str(), with),
            Self::ReplacePattern { pattern, with } => pattern.replace_all(text, NoExpand(with)).into_owned(),
        }
    }
}
