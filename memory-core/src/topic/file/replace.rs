//! Replacing a passage of a file.

use crate::Secrets;
use crate::topic::update::replaced;
use crate::topic::write::refuse_new_secrets;
use crate::topic::{TopicChange, TopicError, TopicPath, TopicText, TopicVerb, Topics};

/// Replaces `old` by `new` in a file, where `old` must stand exactly once. Returns the text as it is then, and in which line the new
/// passage begins, counted from 1.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Absent`], [`TopicError::Twice`]; when a credential or the disk is against it.
pub fn replace(topics: &Topics, path: &TopicPath, old: &str, new: &str, secrets: Secrets) -> Result<(String, usize), TopicError> {
    path.refuse_index()?;
    let mut done = (String::new(), 1);
    let mut decide = |former: Option<&TopicText>| {
        let former = former.ok_or_else(|| TopicError::not_found(path.as_str()))?;
        let (next, line) = replaced(path, &former.text, old, new)?;
        refuse_new_secrets(&former.text, &next, secrets)?;
        done = (next.clone(), line);
        Ok(if next == former.text { TopicChange::Keep } else { TopicChange::Text(next) })
    };
    topics.store.change(path, &topics.operation(TopicVerb::Update), &mut decide)?;
    Ok(done)
}
