//! What some texts say.

use std::collections::HashSet;

use super::passage::{Passage, passages};

/// What some texts say, sentence by sentence, and under which heading or announcement.
#[derive(Debug, Default)]
pub(crate) struct Known {
    said: HashSet<String>,
    said_under: HashSet<(String, String)>,
}

impl Known {
    /// Adds what a text says.
    pub(crate) fn add(&mut self, text: &str) {
        let passages = passages(text);
        for passage in &passages {
            self.learn(topic(&passages, passage), &passage.keys);
        }
    }

    /// Adds sentences that are said under `topic`.
    pub(crate) fn learn(&mut self, topic: Option<&str>, keys: &[String]) {
        for key in keys {
            if let Some(topic) = topic {
                self.said_under.insert((topic.to_owned(), key.clone()));
            }
            self.said.insert(key.clone());
        }
    }

    /// Tells whether a sentence is said. What stands under something must be said under the same; what does not, anywhere.
    pub(crate) fn says(&self, topic: Option<&str>, key: &str) -> bool {
        match topic {
            None => self.said.contains(key),
            Some(topic) => self.said_under.contains(&(topic.to_owned(), key.to_owned())),
        }
    }
}

/// Returns what the sentences of a passage are said under.
pub(crate) fn topic<'p>(passages: &'p [Passage<'_>], passage: &Passage<'_>) -> Option<&'p str> {
    passage.under.and_then(|under| passages[under].topic())
}
