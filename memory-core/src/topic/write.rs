//! Writes a topic.

use super::services::index_overflow;
use super::{TopicChange, TopicDraft, TopicError, TopicKind, TopicName, TopicText, Topics};
use crate::secret::Checked;
use crate::text::deceptive_characters;
use crate::{SecretPolicy, Verb};

/// Maximum size of a file in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

/// Maximum length of a title in characters.
const LONGEST_TITLE: usize = 200;

/// Maximum length of a description in characters.
const LONGEST_DESCRIPTION: usize = 1000;

/// A request to write a topic. Fields that are `None` keep their value.
#[derive(Debug, Clone)]
pub struct TopicWriteRequest {
    /// The name of the topic.
    pub name: TopicName,
    /// The title; for a new topic it defaults to the file name without `.md`.
    pub title: Option<String>,
    /// The description, on one line; required for a new topic.
    pub description: Option<String>,
    /// The type; required for a new topic.
    pub kind: Option<TopicKind>,
    /// The text; required for a new topic.
    pub content: Option<String>,
    /// Whether credentials are refused.
    pub secrets: SecretPolicy,
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicWriteResult {
    /// The topic.
    pub name: TopicName,
    /// Whether the topic is new.
    pub created: bool,
    /// Whether the content changed.
    pub changed: bool,
    /// Why the index could not be updated, if so.
    pub stale_index: Option<String>,
    /// Why the index exceeds its limits, if the lines of the user are the cause.
    pub long_index: Option<String>,
}

/// Writes a topic and replaces an existing one.
///
/// Other header fields of the file are preserved, and the previous version is retained for undo.
///
/// # Errors
/// If a field is missing, too long or not a single line; if a text contains a credential; [`TopicError::Taken`] if a
/// file exists with a name that [`is_same_name`](super::is_same_name) treats as equal; or a disk error.
pub fn write(topics: &Topics, request: &TopicWriteRequest) -> Result<TopicWriteResult, TopicError> {
    let TopicWriteRequest {
        name,
        title,
        description,
        kind,
        content,
        secrets,
    } = request;
    check_line("name", title.as_deref(), LONGEST_TITLE)?;
    check_line("description", description.as_deref(), LONGEST_DESCRIPTION)?;
    check_text(content.as_deref().unwrap_or_default())?;
    let given = TopicDraft {
        title: title.clone().unwrap_or_default(),
        description: description.clone().unwrap_or_default(),
        kind: *kind,
        content: content.clone(),
    };
    let given = Checked::new(given, [name.as_str()], *secrets)?;
    let mut created = false;
    let mut decide = |former: Option<&TopicText>| {
        let former = former.and_then(|former| former.topic.as_ref());
        created = former.is_none();
        let missing = |what: &str| {
            TopicError::invalid(
                format!("{name} is new, and has no {what}"),
                "a new topic needs a type, a description of one line and a text",
            )
        };
        if content.is_none() && created {
            return Err(missing("text"));
        }
        if kind.is_none() && created {
            return Err(missing("type"));
        }
        let title = title
            .clone()
            .or_else(|| former.map(|former| former.title.clone()));
        let title = title
            .unwrap_or_else(|| name.stem().to_owned())
            .trim()
            .to_owned();
        let description = description
            .clone()
            .or_else(|| former.map(|former| former.description.clone()));
        let description = description
            .ok_or_else(|| missing("description"))?
            .trim()
            .to_owned();
        Ok(TopicChange::Topic(given.clone().map(|given| TopicDraft {
            title,
            description,
            ..given
        })))
    };
    let operation = topics.begin(Verb::Write)?;
    let done = topics.store.change(name.path(), &operation, &mut decide)?;
    topics.store.count_use(name, operation.at);
    Ok(TopicWriteResult {
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
        format!("the {what} contains a line break or another control character")
    } else if let Some((_, character)) = deceptive_characters(text).next() {
        format!(
            "the {what} contains U+{:04X}, a deceptive invisible character",
            u32::from(character)
        )
    } else if longest < text.chars().count() {
        return Err(TopicError::TooLarge {
            what: format!("the {what} is longer than {longest} characters"),
        });
    } else {
        return Ok(());
    };
    Err(TopicError::invalid(why, "use one line of text"))
}

/// Checks that a text contains no NUL character and is not too long.
pub(super) fn check_text(text: &str) -> Result<(), TopicError> {
    if text.contains('\0') {
        return Err(TopicError::invalid(
            "the text contains a NUL character, which a text file must not contain",
            "remove it",
        ));
    }
    if LONGEST < text.len() {
        return Err(TopicError::TooLarge {
            what: format!(
                "the text has {} bytes; the maximum is {LONGEST}",
                text.len()
            ),
        });
    }
    Ok(())
}

/// Refuses a text with a credential that its previous version does not contain, and returns other texts.
pub(super) fn refuse_new_secrets(
    before: &str,
    after: String,
    secrets: SecretPolicy,
) -> Result<Checked<String>, TopicError> {
    Ok(Checked::new_version(
        after,
        Some(&before.to_owned()),
        [],
        secrets,
    )?)
}
