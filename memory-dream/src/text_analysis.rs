//! The cached analysis of a memory's text.

use memory_core::{Category, Memory, wikilink};

use crate::classify::{CategoryChoice, choose_category, shipped_model};
use crate::similar::{MinHash, SKETCH_BYTES, SKETCH_VERSION};

/// The cached analysis of a memory's text, which saves reading the text again in the next dream.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, kept as one bit"
)]
pub struct TextAnalysis {
    /// The category of the memory; the confidence is in steps of 1/255.
    pub choice: CategoryChoice,
    /// The `MinHash` sketch of the text.
    pub sketch: MinHash,
    /// Whether the text contains wikilinks.
    pub has_links: bool,
    /// Whether the text was compared with all other texts at that time.
    pub is_compared: bool,
    /// Whether the wikilinks in the text and those to the memory were resolved.
    pub is_linked: bool,
    /// Whether the text was searched for requests for reminders.
    pub is_heard: bool,
    /// Whether a language model was queried for the category.
    pub is_asked: bool,
    /// Whether a language model was queried for a summary.
    pub is_summarised: bool,
}

const COMPARED_FLAG: u8 = 1;
const LINKED_FLAG: u8 = 2;
const MODEL_CLASSIFIED_FLAG: u8 = 4;
const HAS_LINKS_FLAG: u8 = 8;
const REMINDERS_FLAG: u8 = 16;
const SUMMARISED_FLAG: u8 = 32;

/// The byte that encodes the absence of a category.
const NO_CATEGORY: u8 = u8::MAX;

/// Size of an encoded analysis in bytes: version, flags, category, confidence and sketch.
const ANALYSIS_BYTES: usize = 8 + 3 + SKETCH_BYTES;

impl TextAnalysis {
    /// Analyses the text of a memory.
    pub fn of(memory: &Memory) -> Self {
        let choice = choose_category(memory);
        Self {
            choice: CategoryChoice {
                confidence: quantize(choice.confidence),
                ..choice
            },
            sketch: MinHash::of(&memory.content),
            has_links: memory.content.contains("[[")
                && !wikilink::parse(&memory.content).is_empty(),
            is_compared: false,
            is_linked: false,
            is_heard: false,
            is_asked: false,
            is_summarised: false,
        }
    }

    /// Encodes the analysis as bytes.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a confidence is from 0 to 1"
    )]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ANALYSIS_BYTES);
        bytes.extend(analysis_version().to_le_bytes());
        let flags = [
            (self.has_links, HAS_LINKS_FLAG),
            (self.is_compared, COMPARED_FLAG),
            (self.is_linked, LINKED_FLAG),
            (self.is_heard, REMINDERS_FLAG),
            (self.is_asked, MODEL_CLASSIFIED_FLAG),
            (self.is_summarised, SUMMARISED_FLAG),
        ];
        bytes.push(
            flags
                .into_iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, flag)| flag)
                .sum(),
        );
        let number = |category: Category| Category::ALL.iter().position(|own| *own == category);
        bytes.push(
            self.choice
                .suggestion
                .and_then(number)
                .and_then(|number| u8::try_from(number).ok())
                .unwrap_or(NO_CATEGORY),
        );
        bytes.push((self.choice.confidence * 255.0).round() as u8);
        bytes.extend(self.sketch.to_bytes());
        bytes
    }

    /// Decodes the result of [`TextAnalysis::to_bytes`]; `None` if another version of the analysis wrote it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, sketch) = bytes.split_at_checked(ANALYSIS_BYTES - SKETCH_BYTES)?;
        let [flags, category, confidence] = head[8..].try_into().ok()?;
        if head[..8] != analysis_version().to_le_bytes() {
            return None;
        }
        Some(Self {
            choice: CategoryChoice {
                suggestion: Category::ALL.get(usize::from(category)).copied(),
                confidence: f32::from(confidence) / 255.0,
            },
            sketch: MinHash::from_bytes(sketch)?,
            has_links: flags & HAS_LINKS_FLAG != 0,
            is_compared: flags & COMPARED_FLAG != 0,
            is_linked: flags & LINKED_FLAG != 0,
            is_heard: flags & REMINDERS_FLAG != 0,
            is_asked: flags & MODEL_CLASSIFIED_FLAG != 0,
            is_summarised: flags & SUMMARISED_FLAG != 0,
        })
    }
}

/// Returns the version of the analysis: a value derived from the classifier and sketch versions.
fn analysis_version() -> u64 {
    shipped_model().fitted_on ^ u64::from(SKETCH_VERSION).rotate_left(56)
}

/// Rounds down, so that the confidence reaches [`crate::classify::SURE`] only if it did before.
fn quantize(confidence: f32) -> f32 {
    (confidence * 255.0).floor() / 255.0
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use memory_core::{Draft, MemoryId};
    use proptest::prelude::*;

    use super::*;

    fn analyse(text: &str) -> TextAnalysis {
        TextAnalysis::of(
            &Draft::new(text).into_memory(MemoryId::for_path("a"), DateTime::UNIX_EPOCH),
        )
    }

    #[test]
    fn what_asks_to_be_reminded_is_about_a_date() {
        assert_eq!(
            analyse("Remind me to call Anna tomorrow at 3pm")
                .choice
                .category(),
            Some(Category::Date)
        );
        assert_eq!(analyse("…").choice.category(), None);
    }

    proptest! {
        #[test]
        fn it_is_the_same_when_it_comes_back(text in "(\\PC{1,40}|see \\[\\[tea\\]\\])", flags in any::<[bool; 5]>()) {
            let [is_compared, is_linked, is_heard, is_asked, is_summarised] = flags;
            let seen = TextAnalysis { is_compared, is_linked, is_heard, is_asked, is_summarised, ..analyse(&text) };
            prop_assert_eq!(TextAnalysis::from_bytes(&seen.to_bytes()), Some(seen));
        }

        #[test]
        fn bytes_of_anybody_else_are_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(TextAnalysis::from_bytes(&bytes), None);
        }
    }
}
