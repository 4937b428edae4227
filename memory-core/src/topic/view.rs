//! The index.

use super::index::overflow;
use super::{TopicError, Topics, index_text};

/// Returns the index as it is to be in a prompt: made from the topics as they are now, with the lines of a person around it, always
/// under [`super::INDEX_LINES`] lines and [`super::INDEX_BYTES`] bytes. What finds no room of a person's lines is counted.
///
/// # Errors
/// When the folder cannot be read.
pub fn view(topics: &Topics) -> Result<String, TopicError> {
    let listing = topics.store.topics()?;
    // An index that cannot be read says nothing that is not made here.
    let former = topics.store.index().ok().flatten();
    let index = index_text(&listing.topics, &topics.store.uses(), former.as_ref());
    Ok(super::index::cut(&index))
}

/// Returns why the index is longer than its limits, if the lines that a person wrote in it make it so.
///
/// # Errors
/// When the folder cannot be read.
pub fn index_overflow(topics: &Topics) -> Result<Option<String>, TopicError> {
    let Some(index) = topics.store.index().ok().flatten() else { return Ok(None) };
    match overflow(&index, true) {
        Some(why) if overflow(&index, false).is_some() || !topics.store.topics()?.topics.is_empty() => Ok(Some(why)),
        _ => Ok(None),
    }
}
