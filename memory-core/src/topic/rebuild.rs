//! Making the index anew.

use super::{Changed, TopicError, TopicVerb, Topics};

/// Makes the index anew from the topics, and tells whether that changed it. Lines that a person wrote in it stay where they are.
///
/// # Errors
/// When the folder cannot be read, or the index cannot be written.
pub fn rebuild(topics: &Topics) -> Result<Changed, TopicError> {
    topics.store.rebuild(&topics.operation(TopicVerb::Write))
}
