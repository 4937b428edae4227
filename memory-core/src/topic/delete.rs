//! Taking a topic away.

use super::{TopicError, TopicName, TopicVerb, Topics, find};

/// Moves the topic that is called `reference` to the trash, and returns which it was. Undo brings it back.
///
/// # Errors
/// When there is none, [`TopicError::IsFolder`], or the disk refuses.
pub fn delete(topics: &Topics, reference: &str) -> Result<TopicName, TopicError> {
    let name = find(topics, reference)?;
    if let Err(error @ TopicError::IsFolder { .. }) = topics.store.text(name.path()) {
        return Err(error);
    }
    topics.store.relocate(name.path(), None, &topics.operation(TopicVerb::Delete))?;
    Ok(name)
}
