//! The combined log of operations on notes, banks, topics, instances and conversations, and their undo.

use std::iter::Peekable;

use chrono::{DateTime, Utc};

use crate::bank::{self, BankError, BankErrorKind, BankRecord, BankScope, BankUndoReport, Banks};
use crate::conversation::{self, ConversationLocation, ConversationRecord, ConversationUndoReport};
use crate::instance::{self, InstanceError, InstanceRecord, InstanceUndoReport, NamedInstance};
use crate::topic::{self, TopicError, TopicRecord, TopicUndoReport};
use crate::{Code, OperationId, OperationRecord, Services, StoreError, UndoReport};

/// A logged operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// An operation on notes.
    Notes(OperationRecord),
    /// An operation on a bank.
    Bank(BankScope, BankRecord),
    /// An operation on topics.
    Topics(TopicRecord),
    /// An operation on the instance with this name.
    Instance(String, InstanceRecord),
    /// An operation on a conversation in this folder.
    Conversation(String, ConversationRecord),
}

impl LogEntry {
    /// Returns the id of the operation.
    pub fn id(&self) -> &OperationId {
        match self {
            Self::Notes(record) => &record.id,
            Self::Bank(_, record) => &record.operation.id,
            Self::Topics(record) => &record.operation.id,
            Self::Instance(_, record) => &record.operation.id,
            Self::Conversation(_, record) => &record.operation.id,
        }
    }

    /// Returns the time of the operation.
    pub fn at(&self) -> DateTime<Utc> {
        match self {
            Self::Notes(record) => record.at,
            Self::Bank(_, record) => record.operation.at,
            Self::Topics(record) => record.operation.at,
            Self::Instance(_, record) => record.operation.at,
            Self::Conversation(_, record) => record.operation.at,
        }
    }
}

/// The error that operations cannot be read or undone.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of notes, banks or conversations.
    #[error(transparent)]
    Bank(#[from] BankError),
    /// An error of topics.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// An error of an instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

impl From<StoreError> for LogError {
    fn from(error: StoreError) -> Self {
        Self::Bank(error.into())
    }
}

type LogIterator<'a> = Peekable<Box<dyn Iterator<Item = Result<LogEntry, LogError>> + 'a>>;

/// Returns the last `limit` operations, newest first.
///
/// # Errors
/// If the operations cannot be read.
pub fn log(
    services: &Services,
    banks: &Banks,
    instances: &[NamedInstance],
    conversations: &[ConversationLocation],
    limit: usize,
) -> Result<Vec<LogEntry>, LogError> {
    let notes = services.history.records().map(|record| Ok(LogEntry::Notes(record?)));
    let of_banks = bank::history(banks)?.into_iter().map(|(scope, record)| Ok(LogEntry::Bank(scope, record)));
    let mut done: Vec<LogIterator> = vec![peekable(notes), peekable(of_banks)];
    if let Some(topics) = &services.topics {
        done.push(peekable(topic::history(topics)?.into_iter().map(|record| Ok(LogEntry::Topics(record)))));
    }
    for one in instances {
        let records = one.store.operations()?;
        done.push(peekable(records.map(|record| Ok(LogEntry::Instance(one.name.clone(), record?)))));
    }
    for one in conversations {
        let records = one.store.operations()?.into_iter();
        done.push(peekable(records.map(|record| Ok(LogEntry::Conversation(one.place.clone(), record)))));
    }
    let mut logged = Vec::new();
    while logged.len() < limit {
        // Operations of one store stay in their order, regardless of their timestamps; an error precedes all operations.
        let at = |done: &mut LogIterator| done.peek().map(|next| next.as_ref().map_or(DateTime::<Utc>::MAX_UTC, LogEntry::at));
        let ats: Vec<_> = done.iter_mut().map(at).collect();
        let newest = ats.iter().enumerate().max_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
        match done[newest].next() {
            Some(next) => logged.push(next?),
            None => break,
        }
    }
    Ok(logged)
}

fn peekable<'a>(done: impl Iterator<Item = Result<LogEntry, LogError>> + 'a) -> LogIterator<'a> {
    let done: Box<dyn Iterator<Item = Result<LogEntry, LogError>> + 'a> = Box::new(done);
    done.peekable()
}

/// An undone operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoneOperation {
    /// An operation on notes.
    Notes(UndoReport),
    /// An operation on a bank.
    Bank(BankUndoReport),
    /// An operation on topics.
    Topics(TopicUndoReport),
    /// An operation on the instance with this name.
    Instance(String, InstanceUndoReport),
    /// An operation on a conversation in this folder.
    Conversation(String, ConversationUndoReport),
}

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// The operation may be one on notes, banks, topics, or one of the given instances and conversations.
///
/// # Errors
/// Those of [`crate::undo()`], [`bank::undo()`], [`topic::undo()`] and [`instance::undo()`].
pub fn undo_logged(
    services: &Services,
    banks: &Banks,
    instances: &[NamedInstance],
    conversations: &[ConversationLocation],
    reference: Option<&str>,
) -> Result<UndoneOperation, LogError> {
    let Some(reference) = reference else { return undo_last_logged(services, banks, instances, conversations) };
    let missing = match crate::undo(services, Some(reference)) {
        Err(missing @ StoreError::OperationNotFound { .. }) => missing,
        done => return Ok(UndoneOperation::Notes(done?)),
    };
    match bank::undo(banks, reference) {
        Err(BankError { trouble: BankErrorKind::Store(error), .. }) if matches!(*error, StoreError::OperationNotFound { .. }) => {
        }
        done => return Ok(UndoneOperation::Bank(done?)),
    }
    if let Some(topics) = &services.topics {
        match topic::undo(topics, reference) {
            Err(error) if error.code() == Code::OperationNotFound => {}
            done => return Ok(UndoneOperation::Topics(done?)),
        }
    }
    for one in instances {
        match instance::undo(one.store.as_ref(), Some(reference), services.clock.as_ref(), services.ids.as_ref()) {
            // The instance has no such operation. If it was already undone, the code differs.
            Err(error) if error.code() == Code::OperationNotFound => {}
            done => return Ok(UndoneOperation::Instance(one.name.clone(), done?)),
        }
    }
    for one in conversations {
        match conversation::undo(one.store.as_ref(), reference, services.clock.as_ref(), services.ids.as_ref()) {
            Err(StoreError::OperationNotFound { .. }) if !has_operation(one, reference)? => {}
            done => return Ok(UndoneOperation::Conversation(one.place.clone(), done?)),
        }
    }
    Err(missing.into())
}

/// Returns whether an operation of these conversations has an id that starts with `reference`.
///
/// If so, a failed undo means that the deleted conversation may have been purged.
fn has_operation(one: &ConversationLocation, reference: &str) -> Result<bool, StoreError> {
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &ConversationRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    Ok(one.store.operations()?.iter().any(is_wanted))
}

fn undo_last_logged(
    services: &Services,
    banks: &Banks,
    instances: &[NamedInstance],
    conversations: &[ConversationLocation],
) -> Result<UndoneOperation, LogError> {
    let mut last = crate::undo::last_undoable(services)?.map(LogEntry::Notes);
    let mut offer = |other: Option<LogEntry>| {
        // On a tie, the operation on notes counts as the earlier one.
        if other.is_some() && last.as_ref().map(LogEntry::at) <= other.as_ref().map(LogEntry::at) {
            last = other;
        }
    };
    offer(bank::last(banks)?.map(|record| LogEntry::Bank(BankScope::User, record)));
    if let Some(topics) = &services.topics {
        offer(topic::last(topics)?.map(LogEntry::Topics));
    }
    for one in instances {
        offer(instance::last(one.store.as_ref())?.map(|record| LogEntry::Instance(one.name.clone(), record)));
    }
    for one in conversations {
        offer(conversation::last(one.store.as_ref())?.map(|record| LogEntry::Conversation(one.place.clone(), record)));
    }
    match last {
        Some(LogEntry::Conversation(place, record)) => {
            let kept = conversations.iter().find(|one| one.place == place).expect("it is one of these");
            let id = record.operation.id.as_str();
            let undone = conversation::undo(kept.store.as_ref(), id, services.clock.as_ref(), services.ids.as_ref())?;
            Ok(UndoneOperation::Conversation(place, undone))
        }
        Some(LogEntry::Bank(_, record)) => Ok(UndoneOperation::Bank(bank::undo(banks, record.operation.id.as_str())?)),
        Some(LogEntry::Topics(record)) => {
            let topics = services.topics.as_ref().expect("something was done to them");
            Ok(UndoneOperation::Topics(topic::undo(topics, record.operation.id.as_str())?))
        }
        Some(LogEntry::Instance(name, record)) => {
            let kept = instances.iter().find(|one| one.name == name).expect("it is one of these");
            let id = Some(record.operation.id.as_str());
            let undone = instance::undo(kept.store.as_ref(), id, services.clock.as_ref(), services.ids.as_ref())?;
            Ok(UndoneOperation::Instance(name, undone))
        }
        Some(LogEntry::Notes(_)) | None => Ok(UndoneOperation::Notes(crate::undo(services, None)?)),
    }
}
