//! Lists topics.

use super::{TopicError, TopicListing, Topics};

/// Returns the topics by name, with the current content of their files.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(topics: &Topics) -> Result<TopicListing, TopicError> {
    topics.store.topics()
}
