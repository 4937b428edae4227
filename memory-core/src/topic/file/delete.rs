//! Deletes a file or folder.

use crate::Verb;
use crate::topic::{TopicError, TopicPath, Topics};

/// Moves a file, or a folder with its contents, to the trash. Undo restores it.
///
/// An empty folder is removed without an operation in the history, because there is no content to restore.
///
/// # Errors
/// [`TopicError::NotFound`], or a disk error.
pub fn delete(topics: &Topics, path: &TopicPath) -> Result<(), TopicError> {
    path.refuse_index()?;
    topics.store.relocate(path, None, &topics.operation(Verb::Delete))
}
