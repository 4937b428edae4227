//! Writing a topic.

use super::view::index_overflow;
use super::{TopicChange, TopicDraft, TopicError, TopicKind, TopicName, TopicText, TopicVerb, Topics};
use crate::text::deceptive_characters;
use crate::{Secrets, secret};

/// The longest file that is written, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1000;

/// A topic that is to be written.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// Its file.
    pub name: TopicName,
    /// What people call it; as before if left out, and as the file without `.md` if it is new.
    pub title: Option<String>,
    /// What it is about, in a line; as before if left out.
    pub description: Option<String>,
    /// What kind of thing it is about; as before if left out.
    pub kind: Option<TopicKind>,
    /// Its text; as before if left out.
    pub content: Option<String>,
    /// What becomes of credentials.
    pub secrets: Secrets,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The topic.
    pub name: TopicName,
    /// Whether it is new.
    pub created: bool,
    /// Whether something is another now.
    pub changed: bool,
    /// Why the index does not follow, if it does not.
    pub stale_index: Option<String>,
    /// Why the index is longer than its limits, if the lines of a person make it so.
    pub long_index: Option<String>,
}

/// Writes a topic, in place of the one that is there. What else the file says of itself stays, and what was there before is kept.
///
/// # Errors
/// When something is missing, too long or not of one line, a credential or the disk is against it, or
/// [`TopicError::Taken`] if a file is there whose name differs in case alone.
pub fn write(topics: &Topics, request: &WriteRequest) -> Result<Written, TopicError> {
    let WriteRequest { name, title, description, kind, content, secrets } = request;
    check_line("name", title.as_deref(), LONGEST_TITLE)?;
    check_line("description", description.as_deref(), LONGEST_DESCRIPTION)?;
    check_text(content.as_deref().unwrap_or_default())?;
    if *secrets == Secrets::Refuse {
        let texts = [title.as_deref(), description.as_deref(), content.as_deref()].into_iter().flatten();
        secret::refuse(texts.chain([name.as_str()]))?;
    }
    let mut created = false;
    let mut decide = |former: Option<&TopicText>| {
        let former = former.and_then(|former| former.topic.as_ref());
        created = former.is_none();
        let missing = |what: &str| {
            TopicError::invalid(
                format!("{name} is new, and has no {what}"),
                "say its type, describe it in a line, and give its text",
            )
        };
        if content.is_none() && created {
            return Err(missing("text"));
        }
        if kind.is_none() && created {
            return Err(missing("type"));
        }
        let title = title.clone().or_else(|| former.map(|former| former.title.clone()));
        let description = description.clone().or_else(|| former.map(|former| former.description.clone()));
        Ok(TopicChange::Topic(TopicDraft {
            title: title.unwrap_or_else(|| name.stem().to_owned()).trim().to_owned(),
            description: description.ok_or_else(|| missing("description"))?.trim().to_owned(),
            kind: *kind,
            content: content.clone(),
        }))
    };
    let operation = topics.operation(TopicVerb::Write);
    let done = topics.store.change(name.path(), &operation, &mut decide)?;
    topics.store.count_use(name, operation.at);
    Ok(Written {
        name: name.clone(),
        created,
        changed: done.is_yes(),
        stale_index: done.stale_index(),
        long_index: index_overflow(topics).ok().flatten(),
    })
}

fn check_line(what: &'static str, text: Option<&str>, longest: usize) -> Result<(), TopicError> {
    let Some(text) = text else { return Ok(()) };
    let why = if text.trim().is_empty() {
        format!("the {what} is empty")
    } else if text.contains(char::is_control) {
        format!("the {what} holds a line break or another control character")
    } else if let Some((_, character)) = deceptive_characters(text).next() {
        format!("the {what} holds U+{:04X}, an invisible character that can deceive", u32::from(character))
    } else if longest < text.chars().count() {
        return Err(TopicError::TooLarge { what: format!("the {what} is longer than {longest} characters") });
    } else {
        return Ok(());
    };
    Err(TopicError::invalid(why, "it is one line of text"))
}

/// Checks a text before it is kept.
pub(super) fn check_text(text: &str) -> Result<(), TopicError> {
    if text.contains('\0') {
        return Err(TopicError::invalid("the text holds a NUL character, which no text file may", "leave it out"));
    }
    if LONGEST < text.len() {
        return Err(TopicError::TooLarge { what: format!("the text has {} bytes; a file may have {LONGEST}", text.len()) });
    }
    Ok(())
}

/// Refuses a text that holds more credentials than the one whose place it takes.
pub(super) fn refuse_new_secrets(before: &str, after: &str, secrets: Secrets) -> Result<(), TopicError> {
    if secrets == Secrets::Refuse && secret::find(before).len() < secret::find(after).len() {
        secret::refuse([after])?;
    }
    Ok(())
}
