//! The check that a merge loses no sentence.

use super::passage::passages;
use super::sentence::sentences;
use super::sentence_set::{SentenceSet, topic};

/// A sentence of a source that is missing from all results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the merge would lose a sentence of source {source_number}: {sentence}")]
pub struct LostSentence {
    /// The index of the source, from 0.
    pub source_number: usize,
    /// The sentence, or the whole passage if it cannot be split.
    pub sentence: String,
}

/// Checks that every sentence of every source is in one of the `kept` texts.
///
/// The comparison ignores case, width, whitespace and final punctuation; in code it ignores only whitespace at the ends of lines. A
/// sentence under a heading or an announcement must be under the same one in the result.
///
/// # Errors
/// The first missing sentence.
///
/// ```
/// use memory_dream::merge::conserved;
///
/// assert!(conserved(&["Use tabs.", "Never spaces!"], &["use tabs; that is:", "Use tabs. Never spaces"]).is_ok());
/// assert_eq!(conserved(&["Use tabs. Always."], &["Use tabs."]).unwrap_err().sentence, "Always.");
/// ```
pub fn conserved(sources: &[&str], kept: &[&str]) -> Result<(), LostSentence> {
    let mut known = SentenceSet::default();
    for text in kept {
        known.add(text);
    }
    for (source_number, text) in sources.iter().enumerate() {
        let passages = passages(text);
        for passage in &passages {
            let topic = topic(&passages, passage);
            if let Some(key) = passage.keys.iter().find(|key| !known.contains(topic, key)) {
                let is_it = |sentence: &&str| super::sentence::key(sentence).as_ref() == Some(key);
                let sentence = sentences(passage.text).into_iter().map(|range| &passage.text[range]).find(is_it);
                return Err(LostSentence { source_number, sentence: sentence.unwrap_or(passage.text).to_owned() });
            }
        }
    }
    Ok(())
}
