//! Creates a file.

use crate::secret::Checked;
use crate::topic::write::check_text;
use crate::topic::{TopicChange, TopicError, TopicPath, TopicText, Topics};
use crate::{SecretPolicy, Verb};

/// Creates a file with this text.
///
/// # Errors
/// [`TopicError::Taken`] if the file exists; if the text contains a credential; or a disk error.
pub fn create(topics: &Topics, path: &TopicPath, text: &str, secrets: SecretPolicy) -> Result<(), TopicError> {
    path.refuse_index()?;
    check_text(text)?;
    let text = Checked::new(text.to_owned(), [path.as_str()], secrets)?;
    let mut decide = |former: Option<&TopicText>| match former {
        Some(_) => Err(TopicError::Taken { name: path.to_string(), other: None }),
        None => Ok(TopicChange::Text(text.clone())),
    };
    topics.store.change(path, &topics.operation(Verb::Write), &mut decide).map(drop)
}
