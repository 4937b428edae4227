//! Operations of the log as rows with their author and an undo.

use memory_core::{LogEntry, StoreError, Subject, Verb};

use super::error::PageError;
use super::fields::encode;
use super::html::Label;
use super::request::WebRequest;
use super::time_label::TimeLabel;
use super::undo::past_tense;

/// Maximum number of characters of an object.
const MAX_OBJECT: usize = 100;

/// An operation as a row.
#[derive(Debug)]
pub(crate) struct OperationRow {
    pub(crate) id: String,
    pub(crate) time: TimeLabel,
    pub(crate) verb: &'static str,
    /// The person, agent or program.
    pub(crate) by: Label,
    /// The query that selects the operations of the same author.
    pub(crate) by_query: String,
    /// The changed object.
    pub(crate) object: Label,
    /// The page of the object, if it exists.
    pub(crate) path: Option<String>,
    pub(crate) is_undone: bool,
    /// Whether the operation is itself an undo, so that its undo repeats another operation.
    pub(crate) is_undo: bool,
}

impl OperationRow {
    /// Returns the row of an operation.
    ///
    /// # Errors
    /// If the changed object cannot be read.
    pub(crate) fn new(request: &WebRequest, entry: &LogEntry) -> Result<Self, PageError> {
        let (object, path) = object(request, entry)?;
        let by = entry.operation.by.as_str();
        Ok(Self {
            id: entry.operation.id.to_string(),
            time: TimeLabel::exact(request.local(entry.operation.at)),
            verb: past_tense(entry.operation.verb),
            by: Label::cut(if by.is_empty() { "unknown" } else { by }, MAX_OBJECT),
            by_query: encode(by).into_owned(),
            object,
            path,
            is_undone: entry.undone_by.is_some(),
            is_undo: entry.operation.verb == Verb::Undo,
        })
    }
}

/// Returns the changed object and the path of its page.
fn object(request: &WebRequest, entry: &LogEntry) -> Result<(Label, Option<String>), PageError> {
    let cut = |text: &str| Label::cut(text, MAX_OBJECT);
    Ok(match &entry.subject {
        Subject::Notes(files) if files.count == 1 => {
            let Some(change) = request.services.history.changes(&entry.operation.id).next().transpose()? else {
                return Ok((Label::new("1 memory"), None));
            };
            match request.services.store.get(&change.id) {
                Ok(stored) => (cut(stored.memory.headline()), Some(format!("/memories/{}", change.id))),
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {
                    let path = change.after.or(change.before).map(|file| file.path).unwrap_or_default();
                    (cut(path.rsplit('/').next().unwrap_or(&path)), Some(format!("/memories/{}", change.id)))
                }
                Err(error) => return Err(error.into()),
            }
        }
        Subject::Notes(files) => {
            (Label::new(&format!("{} memories", files.count)), Some(format!("/activity/{}", entry.operation.id)))
        }
        Subject::Bank(scope, bank) => {
            let name = match bank.keys.as_slice() {
                [] => bank.bank.to_string(),
                [key] => format!("{} / {key}", bank.bank),
                keys => format!("{}: {} keys", bank.bank, keys.len()),
            };
            (cut(&name), Some(format!("/banks/{scope}/{}", encode(bank.bank.as_str()))))
        }
        Subject::Topics(topics) => {
            let name = topics.files.first().map(String::as_str).unwrap_or_default();
            (cut(name), Some(format!("/topics/{}", encode(name))))
        }
        Subject::Instance(name, instance) => (cut(&format!("{name} / {}", instance.name)), Some(format!("/instances/{name}"))),
        Subject::Conversation(_, conversation) => {
            let id = conversation.conversation.as_str();
            (cut(id), Some(format!("/conversations/{}", encode(id))))
        }
    })
}
