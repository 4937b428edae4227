//! Reading a file.

use crate::topic::{TopicError, TopicName, TopicPath, Topics};

/// Reads a file, or returns `None` if there is none. Of a topic, that counts as a use.
///
/// # Errors
/// When it cannot be read as text.
pub fn read(topics: &Topics, path: &TopicPath) -> Result<Option<String>, TopicError> {
    let found = topics.store.text(path)?;
    if let (Some(_), Some(name)) = (&found, TopicName::of_file(path)) {
        topics.store.count_use(&name, topics.clock.now());
    }
    Ok(found.map(|found| found.text))
}
