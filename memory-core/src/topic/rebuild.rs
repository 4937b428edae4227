//! Regenerates the index.

use super::{TopicChangeResult, TopicError, Topics};
use crate::Verb;

/// Regenerates the index from the topics and returns whether it changed.
///
/// Lines of the user are preserved.
///
/// # Errors
/// If the folder cannot be read, or the index cannot be written.
pub fn rebuild(topics: &Topics) -> Result<TopicChangeResult, TopicError> {
    topics.store.rebuild(&topics.operation(Verb::Write))
}
