//! Returns the index for a prompt.

use super::index::overflow_message;
use super::{TopicError, Topics, index_text};

/// Returns the index for a prompt, generated from the current topics and the lines of the user.
///
/// The text is always under [`super::INDEX_LINES`] lines and [`super::INDEX_BYTES`] bytes. Lines of the user that do
/// not fit are replaced by a line with their number.
///
/// # Errors
/// If the folder cannot be read.
pub fn view(topics: &Topics) -> Result<String, TopicError> {
    let listing = topics.store.topics()?;
    // An unreadable index contributes no lines of the user.
    let former = topics.store.index().ok().flatten();
    let index = index_text(&listing.topics, &topics.store.usages(), former.as_ref());
    Ok(super::index::truncate_index(&index))
}

/// Returns why the index exceeds its limits, if the lines of the user are the cause.
///
/// # Errors
/// If the folder cannot be read.
pub fn index_overflow(topics: &Topics) -> Result<Option<String>, TopicError> {
    let Some(index) = topics.store.index().ok().flatten() else { return Ok(None) };
    match overflow_message(&index, true) {
        Some(why) if overflow_message(&index, false).is_some() || !topics.store.topics()?.topics.is_empty() => Ok(Some(why)),
        _ => Ok(None),
    }
}
