//! The check that a merge loses no sentence.

use std::collections::HashSet;

use super::passage::{Passage, parse_passages};
use super::sentence::sentence_ranges;

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
                let sentence = sentence_ranges(passage.text)
                    .into_iter()
                    .map(|range| &passage.text[range])
                    .find(is_it);
                return Err(LostSentence {
                    source_number,
                    sentence: sentence.unwrap_or(passage.text).to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// The set of sentences in some texts, with the heading or announcement of each.
#[derive(Debug, Default)]
pub(crate) struct SentenceSet {
    said: HashSet<String>,
    said_under: HashSet<(String, String)>,
}

impl SentenceSet {
    /// Adds the sentences of a text.
    pub(crate) fn add(&mut self, text: &str) {
        let passages = parse_passages(text);
        for passage in &passages {
            self.add_sentences(passage_topic(&passages, passage), &passage.keys);
        }
    }

    /// Adds sentences that are under `topic`.
    pub(crate) fn add_sentences(&mut self, topic: Option<&str>, keys: &[String]) {
        for key in keys {
            if let Some(topic) = topic {
                self.said_under.insert((topic.to_owned(), key.clone()));
            }
            self.said.insert(key.clone());
        }
    }

    /// Returns whether the set contains a sentence.
    ///
    /// With a topic, the sentence must be under the same topic; without, it may be anywhere.
    pub(crate) fn contains(&self, topic: Option<&str>, key: &str) -> bool {
        match topic {
            None => self.said.contains(key),
            Some(topic) => self
                .said_under
                .contains(&(topic.to_owned(), key.to_owned())),
        }
    }
}

/// Returns the topic of a passage: the key of its heading or announcement.
pub(crate) fn passage_topic<'p>(
    passages: &'p [Passage<'_>],
    passage: &Passage<'_>,
) -> Option<&'p str> {
    passage.under.and_then(|under| passages[under].topic())
}
