//! The object of an operation of the log, and what the operation did to it.

use memory_core::{
    Acceptance, LARGE_OPERATION, LogEntry, OperationId, ProposalEnd, ProposedAction,
    RecordedChange, StoreError, Subject, Verb, change_versions, operation_subject, proposal_end,
};

use memory_core::text::to_one_line;

use super::error::PageError;
use super::fields::encode;
use super::html::Label;
use super::request::WebRequest;

/// Maximum number of characters of an object.
pub(super) const MAX_OBJECT: usize = 100;

/// Number of memories of an operation that are named.
const MAX_NAMES: usize = 3;

/// Maximum number of characters of each of these names.
const MAX_NAME: usize = 40;

/// Returns the changes of an operation on few memories; empty for a large operation, and for one on other data.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn few_changes(
    request: &WebRequest,
    entry: &LogEntry,
) -> Result<Vec<RecordedChange>, StoreError> {
    match &entry.subject {
        Subject::Notes(files) if files.count < LARGE_OPERATION as u64 => {
            // The number of changes is known, so that the rest of the journal need not be read.
            let count = usize::try_from(files.count).unwrap_or(usize::MAX);
            request
                .services
                .history
                .changes(&entry.operation.id)
                .take(count)
                .collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// The object that an operation changed.
pub(super) struct ChangedObject {
    pub(super) label: Label,
    /// The path of its page.
    pub(super) path: Option<String>,
    /// The completed action, such as `Deleted`.
    pub(super) verb: &'static str,
    /// Whether the operation repeats one that was undone.
    pub(super) is_redo: bool,
    /// The state of a single proposal, or of a single memory that does not exist any more.
    pub(super) state: Option<&'static str>,
    /// Whether it is a single proposal and not the memory that the proposal changes.
    pub(super) is_proposal: bool,
    /// The changes without those of a proposal that only came to its end; see [`operation_subject`].
    pub(super) changes: Vec<RecordedChange>,
}

impl ChangedObject {
    /// Returns the object of an operation with these changes, see [`few_changes`].
    ///
    /// A memory is named by its text of that time, if it is known.
    ///
    /// # Errors
    /// If the object cannot be read.
    pub(super) fn of(
        request: &WebRequest,
        entry: &LogEntry,
        changes: &[RecordedChange],
    ) -> Result<Self, PageError> {
        let (id, verb) = (&entry.operation.id, entry.operation.verb);
        let subject = operation_subject(&request.services, verb, changes);
        let is_redo = verb == Verb::Undo && is_undo(request, entry.undoes.as_ref());
        let past = if is_redo { "Redone" } else { past_tense(verb) };
        let action = subject.acceptance.map_or(past, describe_acceptance);
        let existing = |text: &str, path: Option<String>| Self {
            label: Label::cut(text, MAX_OBJECT),
            path,
            verb: action,
            is_redo,
            state: None,
            is_proposal: false,
            changes: Vec::new(),
        };
        Ok(match &entry.subject {
            Subject::Notes(files) => match subject.changes.as_slice() {
                [change] => {
                    let memory = ChangedMemory::of(request, entry, change)?;
                    let proposed = memory.proposed.filter(|_| verb == Verb::Propose);
                    Self {
                        label: Label::cut(&memory.headline, MAX_OBJECT),
                        path: Some(format!("/memories/{}", change.id)),
                        verb: proposed.map_or(action, describe_proposal),
                        is_redo,
                        state: memory.state,
                        is_proposal: memory.proposed.is_some(),
                        changes: subject.changes,
                    }
                }
                few => {
                    let count = if few.is_empty() {
                        files.count
                    } else {
                        few.len() as u64
                    };
                    let (noun, path) = (
                        if count == 1 { "memory" } else { "memories" },
                        Some(format!("/activity/{id}")),
                    );
                    let mut names = Vec::new();
                    for change in few.iter().take(MAX_NAMES) {
                        names.push(to_one_line(
                            &ChangedMemory::of(request, entry, change)?.headline,
                            MAX_NAME,
                        ));
                    }
                    let more = if names.len() < few.len() { ", …" } else { "" };
                    let names = if names.is_empty() {
                        String::new()
                    } else {
                        format!(": {}{more}", names.join(", "))
                    };
                    Self {
                        changes: few.to_vec(),
                        ..existing(&format!("{count} {noun}{names}"), path)
                    }
                }
            },
            Subject::Bank(scope, bank) => {
                let name = match bank.keys.as_slice() {
                    [] => bank.bank.to_string(),
                    [key] => format!("{} / {key}", bank.bank),
                    keys => format!("{}: {} keys", bank.bank, keys.len()),
                };
                existing(
                    &name,
                    Some(format!("/banks/{scope}/{}", encode(bank.bank.as_str()))),
                )
            }
            Subject::Topics(topics) => {
                let name = topics.files.first().map(String::as_str).unwrap_or_default();
                existing(name, Some(format!("/topics/{}", encode(name))))
            }
            Subject::Instance(name, instance) => existing(
                &format!("{name} / {}", instance.label()),
                Some(format!("/instances/{name}")),
            ),
            Subject::Conversation(_, conversation) => {
                let id = conversation.conversation.as_str();
                existing(id, Some(format!("/conversations/{}", encode(id))))
            }
        })
    }
}

/// Returns whether an operation is an undo.
fn is_undo(request: &WebRequest, operation: Option<&OperationId>) -> bool {
    let find = |id: &OperationId| request.with_logs(|logs| logs.find(id.as_str())).ok();
    operation
        .and_then(find)
        .is_some_and(|entry| entry.operation.verb == Verb::Undo)
}

/// A memory that an operation changed.
pub(super) struct ChangedMemory {
    /// The headline at the time of the change, and for an undo the headline that it reverted. Without a version of that time, the
    /// current one, or else the name of the file.
    pub(super) headline: String,
    /// Whether it is a memory, and no proposal, that does not exist any more.
    pub(super) is_deleted: bool,
    /// The state of a proposal, or of a memory that does not exist any more.
    pub(super) state: Option<&'static str>,
    /// The action of the proposal, if it is one.
    pub(super) proposed: Option<ProposedAction>,
}

impl ChangedMemory {
    /// Returns the memory of a change.
    ///
    /// # Errors
    /// If the journal or the memory cannot be read.
    pub(super) fn of(
        request: &WebRequest,
        entry: &LogEntry,
        change: &RecordedChange,
    ) -> Result<Self, PageError> {
        let current = match request.services.store.get(&change.id) {
            Ok(stored) => Some(stored.memory),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let versions = change_versions(&request.services, &entry.operation.id, change)?;
        let reverted = versions
            .before
            .as_ref()
            .filter(|_| entry.operation.verb == Verb::Undo);
        let shown = reverted.or(versions.newest()).or(current.as_ref());
        let headline = shown
            .map(|memory| memory.headline().to_owned())
            .filter(|headline| !headline.is_empty());
        let file_name = || {
            let path = change
                .after
                .as_ref()
                .or(change.before.as_ref())
                .map(|file| file.path.as_str())
                .unwrap_or_default();
            path.rsplit('/').next().unwrap_or(path).to_owned()
        };
        let end = if current.is_none() {
            proposal_end(&request.services, &change.id)?
        } else {
            None
        };
        Ok(Self {
            headline: headline.unwrap_or_else(file_name),
            is_deleted: current.is_none() && end.is_none(),
            state: match &current {
                Some(memory) => memory.is_proposal().then_some("waiting"),
                None => Some(describe_end(end)),
            },
            proposed: shown
                .and_then(|memory| memory.proposal.as_ref())
                .map(|proposal| proposal.action),
        })
    }
}

/// Describes the state of a memory that does not exist any more. A proposal is no deleted memory.
const fn describe_end(end: Option<ProposalEnd>) -> &'static str {
    match end {
        Some(ProposalEnd::Accepted) => "accepted proposal",
        Some(ProposalEnd::Rejected) => "rejected proposal",
        Some(ProposalEnd::Withdrawn) => "withdrawn proposal",
        None => "deleted",
    }
}

/// Returns the effect of an acceptance as a completed action.
const fn describe_acceptance(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Written => "Accepted",
        Acceptance::Merged => "Merged into",
        Acceptance::Updated => "Accepted the change of",
        Acceptance::Deleted => "Accepted the deletion of",
        Acceptance::Filed => "Filed",
    }
}

/// Returns a proposal as a completed action.
const fn describe_proposal(action: ProposedAction) -> &'static str {
    match action {
        ProposedAction::Write => "Proposed",
        ProposedAction::Update(_) => "Proposed a change of",
        ProposedAction::Delete(_) => "Proposed to delete",
    }
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
        Verb::Merge => "Merged",
    }
}
