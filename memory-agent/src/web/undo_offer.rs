//! Whether an operation can be undone, for the lists of operations and the history of a memory.

use memory_core::{
    LogEntry, Memory, MemoryStep, RecordedChange, Subject, UndoObstacle, Verb, undo_obstacle,
};

use super::changed_object::ChangedObject;
use super::error::PageError;
use super::request::WebRequest;

/// Whether an operation can be undone now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UndoOffer {
    /// A button with this label.
    Button(String),
    /// The operation is already undone.
    Undone,
    /// The operation cannot be undone, for this reason.
    Refused(&'static str),
}

impl UndoOffer {
    /// Returns the offer for an operation on `object` in a list. `changes` are its changes if it is one of few memories.
    ///
    /// # Errors
    /// If the changed memories cannot be read.
    pub(crate) fn new(
        request: &WebRequest,
        entry: &LogEntry,
        changes: &[RecordedChange],
        object: &ChangedObject,
    ) -> Result<Self, PageError> {
        if entry.undone_by.is_some() {
            return Ok(Self::Undone);
        }
        let is_undo = entry.operation.verb == Verb::Undo && !object.is_redo;
        let Subject::Notes(files) = &entry.subject else {
            return Ok(Self::Button(
                if is_undo { "Redo" } else { "Undo" }.to_owned(),
            ));
        };
        let obstacle = if changes.is_empty() {
            let count = usize::try_from(files.count).unwrap_or(usize::MAX);
            let all = request
                .services
                .history
                .changes(&entry.operation.id)
                .take(count);
            undo_obstacle(&request.services, all, files.count)?
        } else {
            undo_obstacle(
                &request.services,
                changes.iter().cloned().map(Ok),
                files.count,
            )?
        };
        if let Some(obstacle) = obstacle {
            return Ok(Self::Refused(describe_obstacle(obstacle)));
        }
        let is_creation = matches!(object.changes.as_slice(), [change] if change.before.is_none() && change.after.is_some());
        let is_deletion = matches!(object.changes.as_slice(), [change] if change.before.is_some() && change.after.is_none());
        Ok(Self::Button(
            match () {
                () if is_undo && is_creation && !object.is_proposal => "Redo (deletes it)",
                () if is_undo && is_deletion && !object.is_proposal => "Redo (restores it)",
                () if is_undo => "Redo",
                () if is_creation && object.is_proposal => "Undo (withdraws it)",
                () if is_creation => "Undo (deletes it)",
                () if is_deletion && object.is_proposal => "Undo (returns it to the inbox)",
                () if is_deletion => "Undo (restores it)",
                () => "Undo",
            }
            .to_owned(),
        ))
    }

    /// Returns the offer for a change in the history of a memory.
    pub(crate) fn for_step(step: &MemoryStep) -> Self {
        let memories = match step.undo {
            _ if step.undone_by.is_some() => return Self::Undone,
            Err(obstacle) => return Self::Refused(describe_obstacle(obstacle)),
            Ok(memories) => memories,
        };
        let is_proposal = step.before.as_ref().is_some_and(Memory::is_proposal);
        Self::Button(match step.operation.verb {
            _ if 1 < memories => format!("Undo this change of {memories} memories"),
            Verb::Undo | Verb::Restore if step.is_creation => {
                "Delete this memory again (undo its restoration)".to_owned()
            }
            Verb::Undo if step.is_deletion => "Restore this memory".to_owned(),
            Verb::Undo => "Repeat the change that was undone".to_owned(),
            Verb::Accept if is_proposal && !step.is_deletion => {
                "Return it to the inbox (undo its acceptance)".to_owned()
            }
            Verb::Propose if step.is_creation => {
                "Delete this proposal (undo its creation)".to_owned()
            }
            _ if step.is_creation => "Delete this memory (undo its creation)".to_owned(),
            _ if step.is_deletion && is_proposal => {
                "Return it to the inbox (undo its end)".to_owned()
            }
            _ if step.is_deletion => "Restore this memory (undo its deletion)".to_owned(),
            _ => "Undo this change".to_owned(),
        })
    }

    /// Returns the label of the button, if there is one.
    pub(crate) fn button(&self) -> Option<&str> {
        match self {
            Self::Button(label) => Some(label),
            Self::Undone | Self::Refused(_) => None,
        }
    }

    /// Returns why the operation cannot be undone, if it is not undone.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Refused(reason) => Some(reason),
            Self::Undone | Self::Button(_) => None,
        }
    }

    pub(crate) fn is_undone(&self) -> bool {
        *self == Self::Undone
    }
}

/// Describes an obstacle to a person.
const fn describe_obstacle(obstacle: UndoObstacle) -> &'static str {
    match obstacle {
        UndoObstacle::ChangedSince => "A later change builds on this one.",
        UndoObstacle::Purged => "The former version is no longer in the trash.",
        UndoObstacle::ExternalDeletion => {
            "Another program deleted the file, so its text is not in the trash."
        }
    }
}
