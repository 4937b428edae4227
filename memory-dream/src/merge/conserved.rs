//! The check that nothing was lost.

use super::known::{Known, topic};
use super::passage::passages;
use super::sentence::sentences;

/// A sentence that was in a source and is in nothing that is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sentence of source {source_number} would be lost: {sentence}")]
pub struct Lost {
    /// Which of the sources it was in, from 0.
    pub source_number: usize,
    /// The sentence, or the passage that must stay whole.
    pub sentence: String,
}

/// Checks that every sentence of every source is in some kept text.
///
/// Case, width, blanks and the punctuation at the end of a sentence do not matter; in code only blanks at the ends of lines
/// do not. A sentence under a heading, or after another that announces it, must be kept under the same words.
///
/// # Errors
/// Returns the first sentence that is lost.
///
/// ```
/// use memory_dream::merge::conserved;
///
/// assert!(conserved(&["Use tabs.", "Never spaces!"], &["use tabs; that is:", "Use tabs. Never spaces"]).is_ok());
/// assert_eq!(conserved(&["Use tabs. Always."], &["Use tabs."]).unwrap_err().sentence, "Always.");
/// ```
pub fn conserved(sources: &[&str], kept: &[&str]) -> Result<(), Lost> {
    let mut known = Known::default();
    for text in kept {
        known.add(text);
    }
    for (source_number, text) in sources.iter().enumerate() {
        let passages = passages(text);
        for passage in &passages {
            let topic = topic(&passages, passage);
            if let Some(key) = passage.keys.iter().find(|key| !known.says(topic, key)) {
                let is_it = |sentence: &&str| super::sentence::key(sentence).as_ref() == Some(key);
                let sentence = sentences(passage.text).into_iter().map(|range| &passage.text[range]).find(is_it);
                return Err(Lost { source_number, sentence: sentence.unwrap_or(passage.text).to_owned() });
            }
        }
    }
    Ok(())
}
