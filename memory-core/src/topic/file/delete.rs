//! Taking a file or folder away.

use crate::topic::{TopicError, TopicPath, TopicVerb, Topics};

/// Moves a file, or a folder with all that is in it, to the trash. Undo brings it back. An empty folder is just removed: it held nothing
/// that could come back, and no operation is told of.
///
/// # Errors
/// [`TopicError::NotFound`]; or when the disk refuses.
pub fn delete(topics: &Topics, path: &TopicPath) -> Result<(), TopicError> {
    path.refuse_index()?;
    topics.store.relocate(path, None, &topics.operation(TopicVerb::Delete))
}
