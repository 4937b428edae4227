//! The check that a merge loses no sentence.

use super::passage::parse_passages;
use super::sentence::sentence_ranges;
use super::sentence_set::{SentenceSet, passage_topic};

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
/// use memory_dream::merge::check_conserved;
///
/// assert!(check_conserved(&["Use tabs.", "Never spaces!"], &["use tabs; that is:", "Use tabs. Never spaces"]).is_ok());
/// assert_eq!(check_conserved(&["Use tabs. Always."], &["Use tabs."]).unwrap_err().sentence, "Always.");
/// ```
pub fn check_conserved(sources: &[&str], kept: &[&str]) -> Result<(), LostSentence> {
    let mut known = SentenceSet::default();
    for text in kept {
        known.add(text);
    }
    for (source_number, text) in sources.iter().enumerate() {
        let passages = parse_passages(text);
        for passage in &passages {
            let topic = passage_topic(&passages, passage);
            if let Some(key) = passage.keys.iter().find(|key| !known.contains(topic, key)) {
                let is_it = |sentence: &&str| super::sentence::key(sentence).as_ref() == Some(key);
                let sentence = sentence_ranges(passage.text).into_iter().map(|range| &passage.text[range]).find(is_it);
                return Err(LostSentence { source_number, sentence: sentence.unwrap_or(passage.text).to_owned() });
            }
        }
    }
    Ok(())
}
