//! Reading a topic.

use super::links::links;
use super::{Topic, TopicError, TopicName, Topics, find};

/// A topic with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it says of itself.
    pub topic: Topic,
    /// The whole file.
    pub text: String,
    /// Its wikilinks, and the topics to which they lead.
    pub links: Vec<(String, Option<TopicName>)>,
}

/// Reads the topic that is called `reference`, and counts that as a use of it.
///
/// # Errors
/// When there is none, or it cannot be read as text.
pub fn read(topics: &Topics, reference: &str) -> Result<Reading, TopicError> {
    let name = find(topics, reference)?;
    let missing = || TopicError::not_found(reference);
    let found = topics.store.text(name.path())?.ok_or_else(missing)?;
    topics.store.count_use(&name, topics.clock.now());
    let links = if found.text.contains("[[") { links(&topics.store.topics()?, &found.text) } else { Vec::new() };
    Ok(Reading { topic: found.topic.ok_or_else(missing)?, text: found.text, links })
}
