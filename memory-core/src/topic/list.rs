//! Lists topics.

use super::{Listing, TopicError, Topics};

/// Returns the topics by name, with the current content of their files.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(topics: &Topics) -> Result<Listing, TopicError> {
    topics.store.topics()
}
