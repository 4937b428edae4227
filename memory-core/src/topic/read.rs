//! Reads a topic.

use super::links::resolve_links;
use super::{Topic, TopicError, TopicName, Topics, find};

/// A topic with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicReadResult {
    /// The metadata of the topic.
    pub topic: Topic,
    /// The whole file.
    pub text: String,
    /// Its wikilinks, each with the topic that it resolves to.
    pub links: Vec<(String, Option<TopicName>)>,
}

/// Reads the topic called `reference`, and counts a use of it.
///
/// # Errors
/// If the topic does not exist or cannot be read as text.
pub fn read(topics: &Topics, reference: &str) -> Result<TopicReadResult, TopicError> {
    let name = find(topics, reference)?;
    let missing = || TopicError::not_found(reference);
    let found = topics.store.text(name.path())?.ok_or_else(missing)?;
    topics.store.count_use(&name, topics.clock.now());
    let links = if found.text.contains("[[") { resolve_links(&topics.store.topics()?, &found.text) } else { Vec::new() };
    Ok(TopicReadResult { topic: found.topic.ok_or_else(missing)?, text: found.text, links })
}
