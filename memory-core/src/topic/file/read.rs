//! Reads a file.

use crate::topic::{TopicError, TopicName, TopicPath, Topics};

/// Returns the text of a file, or `None` if it does not exist. Reading a topic counts as a use.
///
/// # Errors
/// If the file cannot be read as text.
pub fn read(topics: &Topics, path: &TopicPath) -> Result<Option<String>, TopicError> {
    let found = topics.store.text(path)?;
    if let (Some(_), Some(name)) = (&found, TopicName::from_path(path)) {
        topics.store.count_use(&name, topics.clock.now());
    }
    Ok(found.map(|found| found.text))
}
