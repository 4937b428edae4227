//! What there is.

use crate::topic::{PathEntry, TopicError, TopicPath, Topics};

/// Returns all files and folders below `folder`, or in all, that are not hidden; or `None` if there is no such folder.
///
/// # Errors
/// When it cannot be read.
pub fn entries(topics: &Topics, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError> {
    topics.store.entries(folder)
}
