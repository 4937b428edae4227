//! Renames a file or folder.

use crate::secret::Checked;
use crate::topic::{TopicError, TopicPath, Topics};
use crate::{SecretPolicy, Verb};

/// Moves a file, or a folder with its contents, to a path that does not exist yet. Undo moves it back.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Taken`]; if the new name is a credential; or a disk error.
pub fn rename(topics: &Topics, from: &TopicPath, to: &TopicPath) -> Result<(), TopicError> {
    from.refuse_index()?;
    to.refuse_index()?;
    if from != to && from.contains(to) {
        return Err(TopicError::invalid(format!("{to} is inside {from}"), "choose another target"));
    }
    let to = Checked::new(to, [], SecretPolicy::Refuse)?;
    topics.store.relocate(from, Some(to), &topics.operation(Verb::Rename))
}
