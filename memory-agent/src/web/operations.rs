//! Operations of the log as rows with their author and an undo.

use memory_core::{LARGE_OPERATION, LogEntry, RecordedChange, StoreError, Subject, Verb, change_versions};

use super::error::PageError;
use super::fields::encode;
use super::html::Label;
use super::request::WebRequest;
use super::time_label::TimeLabel;
use super::undo_offer::UndoOffer;

/// Maximum number of characters of an object.
const MAX_OBJECT: usize = 100;

/// The actors that are not agents.
pub(crate) const PEOPLE: [&str; 7] = ["cli", "web", "api", "daemon", "proxy", "external", "http"];

/// Returns whether an actor is an agent.
pub(crate) fn is_agent(by: &str) -> bool {
    !by.is_empty() && !PEOPLE.contains(&by)
}

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
    /// Whether the object is a single memory that does not exist any more.
    pub(crate) is_deleted: bool,
    /// The page of the object, if it exists.
    pub(crate) path: Option<String>,
    pub(crate) undo: UndoOffer,
}

impl OperationRow {
    /// Returns the row of an operation.
    ///
    /// # Errors
    /// If the changed object cannot be read.
    pub(crate) fn new(request: &WebRequest, entry: &LogEntry) -> Result<Self, PageError> {
        let changes = few_changes(request, entry)?;
        let ChangedObject { label, path, is_deleted } = ChangedObject::of(request, entry, &changes)?;
        let by = entry.operation.by.as_str();
        Ok(Self {
            id: entry.operation.id.to_string(),
            time: TimeLabel::exact(request.local(entry.operation.at)),
            verb: past_tense(entry.operation.verb),
            by: Label::cut(if by.is_empty() { "unknown" } else { by }, MAX_OBJECT),
            by_query: encode(by).into_owned(),
            object: label,
            is_deleted,
            path,
            undo: UndoOffer::new(request, entry, &changes)?,
        })
    }
}

/// Returns the changes of an operation on few memories; empty for a large operation, and for one on other data.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn few_changes(request: &WebRequest, entry: &LogEntry) -> Result<Vec<RecordedChange>, StoreError> {
    match &entry.subject {
        Subject::Notes(files) if files.count < LARGE_OPERATION as u64 => {
            // The number of changes is known, so that the rest of the journal need not be read.
            let count = usize::try_from(files.count).unwrap_or(usize::MAX);
            request.services.history.changes(&entry.operation.id).take(count).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// The object that an operation changed.
pub(super) struct ChangedObject {
    pub(super) label: Label,
    /// The path of its page.
    pub(super) path: Option<String>,
    /// Whether it is a single memory that does not exist any more.
    pub(super) is_deleted: bool,
}

impl ChangedObject {
    /// Returns the object of an operation with these changes, see [`few_changes`].
    ///
    /// A memory is named by its text of that time, if it is known.
    ///
    /// # Errors
    /// If the object cannot be read.
    pub(super) fn of(request: &WebRequest, entry: &LogEntry, changes: &[RecordedChange]) -> Result<Self, PageError> {
        let id = &entry.operation.id;
        let existing = |text: &str, path: Option<String>| Self { label: Label::cut(text, MAX_OBJECT), path, is_deleted: false };
        Ok(match &entry.subject {
            Subject::Notes(files) if files.count == 1 => {
                let Some(change) = changes.first() else { return Ok(existing("1 memory", None)) };
                let (headline, exists) = headline_of_change(request, entry, change)?;
                let path = Some(format!("/memories/{}", change.id));
                Self { label: Label::cut(&headline, MAX_OBJECT), path, is_deleted: !exists }
            }
            Subject::Notes(files) => existing(&format!("{} memories", files.count), Some(format!("/activity/{id}"))),
            Subject::Bank(scope, bank) => {
                let name = match bank.keys.as_slice() {
                    [] => bank.bank.to_string(),
                    [key] => format!("{} / {key}", bank.bank),
                    keys => format!("{}: {} keys", bank.bank, keys.len()),
                };
                existing(&name, Some(format!("/banks/{scope}/{}", encode(bank.bank.as_str()))))
            }
            Subject::Topics(topics) => {
                let name = topics.files.first().map(String::as_str).unwrap_or_default();
                existing(name, Some(format!("/topics/{}", encode(name))))
            }
            Subject::Instance(name, instance) => {
                existing(&format!("{name} / {}", instance.label()), Some(format!("/instances/{name}")))
            }
            Subject::Conversation(_, conversation) => {
                let id = conversation.conversation.as_str();
                existing(id, Some(format!("/conversations/{}", encode(id))))
            }
        })
    }
}

/// Returns the headline of a changed memory at the time of the change, and whether the memory exists now.
///
/// That of an undo is the headline that it reverted. Without a version of that time, it is the current headline, or else the name of
/// the file.
pub(crate) fn headline_of_change(
    request: &WebRequest,
    entry: &LogEntry,
    change: &RecordedChange,
) -> Result<(String, bool), PageError> {
    let current = match request.services.store.get(&change.id) {
        Ok(stored) => Some(stored.memory),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let versions = change_versions(&request.services, &entry.operation.id, change)?;
    let reverted = versions.before.as_ref().filter(|_| entry.operation.verb == Verb::Undo);
    let headline = reverted.or(versions.newest()).or(current.as_ref()).map(|memory| memory.headline().to_owned());
    let file_name = || {
        let path = change.after.as_ref().or(change.before.as_ref()).map(|file| file.path.as_str()).unwrap_or_default();
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    Ok((headline.filter(|headline| !headline.is_empty()).unwrap_or_else(file_name), current.is_some()))
}

/// Returns the verb of an operation as a completed action, such as `Deleted`.
pub(crate) const fn past_tense(verb: Verb) -> &'static str {
    match verb {
        Verb::Write => "Written",
        Verb::Update => "Changed",
        Verb::Tag => "Tags changed",
        Verb::Link => "Linked",
        Verb::Unlink => "Unlinked",
        Verb::ResolveLinks => "Links resolved",
        Verb::Upgrade => "Filed",
        Verb::Delete => "Deleted",
        Verb::Ingest => "Ingested",
        Verb::Import => "Imported",
        Verb::Remind => "Reminder created",
        Verb::Notify => "Reminder delivered",
        Verb::Snooze => "Snoozed",
        Verb::Done => "Done",
        Verb::Dream => "Consolidated",
        Verb::Expire => "Expired",
        Verb::Decay => "Removed as unused",
        Verb::Consolidate => "Maintained",
        Verb::Undo => "Undone",
        Verb::Restore => "Restored",
        Verb::Repair => "Repaired",
        Verb::Rename => "Renamed",
        Verb::Gc => "Removed as expired",
        Verb::Schema => "Schema changed",
        Verb::Set => "Value set",
        Verb::Purge => "Records deleted",
        Verb::Reconcile => "Facts updated",
        Verb::Evict => "Oldest facts removed",
        Verb::Propose => "Proposed",
        Verb::Accept => "Accepted",
        Verb::Reject => "Rejected",
    }
}
