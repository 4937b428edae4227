//! Normalization of a text before a unigram tokenizer splits it.

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::charsmap::Charsmap;

/// A normalization step; a tokenizer has several of them.
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
    /// Replaces a text that is not empty.
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
    /// Returns the normalized text, cut to `limit` bytes.
    ///
    /// Steps may lengthen a text, and a file may contain many of them. Since each step stops at the limit, no file makes a text grow
    /// without bounds.
    pub(super) fn apply(&self, text: &str, limit: usize) -> String {
        let mut normalized = BoundedText::new(text.len(), limit);
        match self {
            Self::Charsmap(map) => normalized.extend(map.normalized_parts(text)),
            Self::Nfc => normalized.extend_chars(text.nfc()),
            Self::Nfd => normalized.extend_chars(text.nfd()),
            Self::Nfkc => normalized.extend_chars(text.nfkc()),
            Self::Nfkd => normalized.extend_chars(text.nfkd()),
            // Lowercasing by character has no special case for a final sigma.
            Self::Lowercase => normalized.extend_chars(text.chars().flat_map(char::to_lowercase)),
            Self::StripAccents => normalized.extend_chars(
                text.chars()
                    .filter(|character| !is_combining_mark(*character)),
            ),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { text };
                normalized.extend([if *right { text.trim_end() } else { text }]);
            }
            Self::Prepend(_) if text.is_empty() => {}
            Self::Prepend(prefix) => normalized.extend([prefix.as_str(), text]),
            Self::Replace { text: from, with } => {
                normalized.replace(
                    text,
                    with,
                    text.match_indices(from.as_str())
                        .map(|(start, found)| start..start + found.len()),
                );
            }
            Self::ReplacePattern { pattern, with } => {
                normalized.replace(
                    text,
                    with,
                    pattern.find_iter(text).map(|found| found.range()),
                );
            }
        }
        normalized.text
    }
}

/// A text with a maximum length in bytes.
struct BoundedText {
    text: String,
    limit: usize,
}

impl BoundedText {
    fn new(expected: usize, limit: usize) -> Self {
        Self {
            text: String::with_capacity(expected.min(limit)),
            limit,
        }
    }

    /// Appends as much of `part` as the limit allows; returns whether all of it was appended.
    fn push(&mut self, part: &str) -> bool {
        let end = part.floor_char_boundary(self.limit.saturating_sub(self.text.len()));
        self.text.push_str(&part[..end]);
        end == part.len()
    }

    fn extend<'p>(&mut self, parts: impl IntoIterator<Item = &'p str>) {
        // The iteration ends at the limit, since a source may be much longer.
        let _ = parts.into_iter().all(|part| self.push(part));
    }

    fn extend_chars(&mut self, characters: impl Iterator<Item = char>) {
        let mut buffer = [0; 4];
        for character in characters {
            if !self.push(character.encode_utf8(&mut buffer)) {
                return;
            }
        }
    }

    /// Appends `text` with each of the ordered ranges `found` replaced.
    fn replace(
        &mut self,
        text: &str,
        with: &str,
        found: impl Iterator<Item = std::ops::Range<usize>>,
    ) {
        let mut start = 0;
        for range in found {
            if !self.push(&text[start..range.start]) || !self.push(with) {
                return;
            }
            start = range.end;
        }
        self.push(&text[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(text: &str, with: &str) -> Normalizer {
        Normalizer::Replace {
            text: text.into(),
            with: with.into(),
        }
    }

    #[test]
    fn no_step_exceeds_the_limit() {
        let long = "long ".repeat(1_000_000);
        let pattern = |pattern: &str| Normalizer::ReplacePattern {
            pattern: Regex::new(pattern).unwrap(),
            with: long.clone(),
        };
        for step in [
            replace("a", "aa"),
            replace("a", &long),
            Normalizer::Prepend(long.clone()),
            pattern("a"),
            pattern(""),
        ] {
            let text = step.apply("abab", 64);
            assert!(text.len() <= 64 && text.capacity() < 1024, "{text}");
        }
        assert_eq!(
            Normalizer::Nfkd.apply("\u{fdfa}\u{fdfa}", 10),
            "صلى ا",
            "cut between characters"
        );
        let mut text = "a".to_owned();
        for _ in 0..40 {
            text = replace("a", "aa").apply(&text, 1_000);
        }
        assert_eq!(text.len(), 1_000);
    }

    #[test]
    fn a_text_below_the_limit_is_complete() {
        assert_eq!(replace(",", " , ").apply("a,b,", 64), "a , b , ");
        let pattern = Normalizer::ReplacePattern {
            pattern: Regex::new(" {2,}").unwrap(),
            with: "$0".into(),
        };
        assert_eq!(
            pattern.apply("a   b", 64),
            "a$0b",
            "the replacement is no template"
        );
        assert_eq!(Normalizer::Prepend("▁".into()).apply("", 64), "");
        assert_eq!(Normalizer::Prepend("▁".into()).apply("a", 64), "▁a");
    }
}
