//! The set of sentences in some texts.

use std::collections::HashSet;

use super::passage::{Passage, parse_passages};

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
            Some(topic) => self.said_under.contains(&(topic.to_owned(), key.to_owned())),
        }
    }
}

/// Returns the topic of a passage: the key of its heading or announcement.
pub(crate) fn passage_topic<'p>(passages: &'p [Passage<'_>], passage: &Passage<'_>) -> Option<&'p str> {
    passage.under.and_then(|under| passages[under].topic())
}
