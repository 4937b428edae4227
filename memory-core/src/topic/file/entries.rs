//! Lists files and folders.

use crate::topic::{PathEntry, TopicError, TopicPath, Topics};

/// Returns all files and folders below `folder` that are not hidden, or `None` if it does not exist.
///
/// Without `folder` it lists the whole folder of topics.
///
/// # Errors
/// If the folder cannot be read.
pub fn entries(topics: &Topics, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError> {
    topics.store.entries(folder)
}
