//! What topics there are.

use super::{Listing, TopicError, Topics};

/// Returns the topics, by name, as their files say now.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(topics: &Topics) -> Result<Listing, TopicError> {
    topics.store.topics()
}
