//! Replaces a passage of a file.

use crate::topic::update::replace_once;
use crate::topic::write::refuse_new_secrets;
use crate::topic::{TopicChange, TopicError, TopicPath, TopicText, Topics};
use crate::{SecretPolicy, Verb};

/// Replaces `old` by `new` in a file; `old` must occur exactly once.
///
/// Returns the new text, and the line in which the new passage starts, counted from 1.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Absent`], [`TopicError::Twice`]; if `new` adds a credential; or a disk
/// error.
pub fn replace(
    topics: &Topics,
    path: &TopicPath,
    old: &str,
    new: &str,
    secrets: SecretPolicy,
) -> Result<(String, usize), TopicError> {
    path.refuse_index()?;
    let mut done = (String::new(), 1);
    let mut decide = |former: Option<&TopicText>| {
        let former = former.ok_or_else(|| TopicError::not_found(path.as_str()))?;
        let (next, line) = replace_once(path, &former.text, old, new)?;
        let next = refuse_new_secrets(&former.text, next, secrets)?;
        done = (next.to_string(), line);
        Ok(if *next == former.text { TopicChange::Keep } else { TopicChange::Text(next) })
    };
    topics.store.change(path, &topics.operation(Verb::Update), &mut decide)?;
    Ok(done)
}
