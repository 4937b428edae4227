//! Deletes a topic.

use super::{TopicError, TopicName, Topics, find};
use crate::Verb;

/// Moves the topic called `reference` to the trash and returns its name. Undo restores it.
///
/// # Errors
/// If the topic does not exist, [`TopicError::IsFolder`], or a disk error.
pub fn delete(topics: &Topics, reference: &str) -> Result<TopicName, TopicError> {
    let name = find(topics, reference)?;
    if let Err(error @ TopicError::IsFolder { .. }) = topics.store.text(name.path()) {
        return Err(error);
    }
    topics.store.relocate(name.path(), None, &topics.operation(Verb::Delete))?;
    Ok(name)
}
