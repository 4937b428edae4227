//! Splitting of a text before a unigram tokenizer segments it.

/// A splitting step; each step of a tokenizer splits the parts that the previous one returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PreTokenizer {
    /// Splits at white space and removes it.
    Whitespace,
    /// Replaces spaces by a visible character, which may also be added at the start.
    Metaspace {
        space: char,
        prepend: Prepend,
        splits: bool,
    },
}

/// The parts to which a leading space is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prepend {
    Always,
    /// Only the part at the start of the text.
    First,
    Never,
}

/// A part of a text, and whether the text starts with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextPart {
    text: String,
    is_first: bool,
}

/// Applies the splitting steps in order. No part is empty.
pub(super) fn split(text: String, pre_tokenizers: &[PreTokenizer]) -> Vec<String> {
    let mut parts = vec![TextPart {
        text,
        is_first: true,
    }];
    for pre_tokenizer in pre_tokenizers {
        parts = parts
            .iter()
            .flat_map(|part| pre_tokenizer.split(part))
            .collect();
    }
    parts
        .into_iter()
        .map(|part| part.text)
        .filter(|text| !text.is_empty())
        .collect()
}

impl PreTokenizer {
    fn split(&self, part: &TextPart) -> Vec<TextPart> {
        if part.text.is_empty() {
            return Vec::new();
        }
        match self {
            Self::Whitespace => {
                let starts_here = part.is_first && !part.text.starts_with(char::is_whitespace);
                let words = part.text.split_whitespace().enumerate();
                words
                    .map(|(number, word)| TextPart {
                        text: word.to_owned(),
                        is_first: starts_here && number == 0,
                    })
                    .collect()
            }
            Self::Metaspace {
                space,
                prepend,
                splits,
            } => {
                let mut text = part.text.replace(' ', space.encode_utf8(&mut [0; 4]));
                let prepends = match prepend {
                    Prepend::Always => true,
                    Prepend::First => part.is_first,
                    Prepend::Never => false,
                };
                if prepends && !text.starts_with(*space) {
                    text.insert(0, *space);
                }
                if !splits {
                    return vec![TextPart {
                        text,
                        is_first: part.is_first,
                    }];
                }
                let starts = text
                    .match_indices(*space)
                    .map(|(at, _)| at)
                    .filter(|at| 0 < *at);
                let ends: Vec<usize> = starts.chain([text.len()]).collect();
                let mut start = 0;
                let word = |end: usize| {
                    let word = TextPart {
                        text: text[start..end].to_owned(),
                        is_first: part.is_first && start == 0,
                    };
                    start = end;
                    word
                };
                ends.into_iter().map(word).collect()
            }
        }
    }
}
