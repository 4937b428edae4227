//! What was done to notes, banks, topics and instances alike, and the way back.

use std::iter::Peekable;

use chrono::{DateTime, Utc};

use crate::bank::{self, BankError, BankRecord, BankScope, BankUndone, Banks, Trouble};
use crate::conversation::{self, ConversationRecord, ConversationUndone, KeptConversations};
use crate::instance::{self, InstanceError, InstanceRecord, InstanceUndone, KeptInstance};
use crate::topic::{self, TopicError, TopicRecord, TopicUndone};
use crate::{Code, OperationId, Record, Services, StoreError, Undone};

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logged {
    /// To notes.
    Notes(Record),
    /// To a bank.
    Bank(BankScope, BankRecord),
    /// To topics.
    Topics(TopicRecord),
    /// To an instance, which is called so.
    Instance(String, InstanceRecord),
    /// To a conversation in a folder.
    Conversation(String, ConversationRecord),
}

impl Logged {
    /// Returns its name.
    pub fn id(&self) -> &OperationId {
        match self {
            Self::Notes(record) => &record.id,
            Self::Bank(_, record) => &record.operation.id,
            Self::Topics(record) => &record.operation.id,
            Self::Instance(_, record) => &record.operation.id,
            Self::Conversation(_, record) => &record.operation.id,
        }
    }

    /// Returns when it was done.
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

/// What was done cannot be read, or not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// To notes, or to a bank.
    #[error(transparent)]
    Bank(#[from] BankError),
    /// To topics.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// To an instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

impl From<StoreError> for LogError {
    fn from(error: StoreError) -> Self {
        Self::Bank(error.into())
    }
}

type Done<'a> = Peekable<Box<dyn Iterator<Item = Result<Logged, LogError>> + 'a>>;

/// Returns the last `limit` of what was done, newest first.
///
/// # Errors
/// When what was done cannot be read.
pub fn log(
    services: &Services,
    banks: &Banks,
    instances: &[KeptInstance],
    conversations: &[KeptConversations],
    limit: usize,
) -> Result<Vec<Logged>, LogError> {
    let notes = services.history.records().map(|record| Ok(Logged::Notes(record?)));
    let of_banks = bank::history(banks)?.into_iter().map(|(scope, record)| Ok(Logged::Bank(scope, record)));
    let mut done: Vec<Done> = vec![peekable(notes), peekable(of_banks)];
    if let Some(topics) = &services.topics {
        done.push(peekable(topic::history(topics)?.into_iter().map(|record| Ok(Logged::Topics(record)))));
    }
    for one in instances {
        let records = one.store.operations()?;
        done.push(peekable(records.map(|record| Ok(Logged::Instance(one.name.clone(), record?)))));
    }
    for one in conversations {
        let records = one.store.operations()?.into_iter();
        done.push(peekable(records.map(|record| Ok(Logged::Conversation(one.place.clone(), record)))));
    }
    let mut logged = Vec::new();
    while logged.len() < limit {
        // What was done in one place stays in its order, whatever the clock said; what cannot be read comes first.
        let at = |done: &mut Done| done.peek().map(|next| next.as_ref().map_or(DateTime::<Utc>::MAX_UTC, Logged::at));
        let ats: Vec<_> = done.iter_mut().map(at).collect();
        let newest = ats.iter().enumerate().max_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
        match done[newest].next() {
            Some(next) => logged.push(next?),
            None => break,
        }
    }
    Ok(logged)
}

fn peekable<'a>(done: impl Iterator<Item = Result<Logged, LogError>> + 'a) -> Done<'a> {
    let done: Box<dyn Iterator<Item = Result<Logged, LogError>> + 'a> = Box::new(done);
    done.peekable()
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenBack {
    /// Something that was done to notes.
    Notes(Undone),
    /// Something that was done to a bank.
    Bank(BankUndone),
    /// Something that was done to topics.
    Topics(TopicUndone),
    /// Something that was done to an instance, which is called so.
    Instance(String, InstanceUndone),
    /// Something that was done to a conversation in a folder.
    Conversation(String, ConversationUndone),
}

/// Takes back the operation whose id begins with `reference`, or the last one that was not taken back, be it on notes, on a bank, on
/// topics or on one of these instances.
///
/// # Errors
/// As [`crate::undo()`], [`bank::undo()`], [`topic::undo()`] and [`instance::undo()`].
pub fn take_back(
    services: &Services,
    banks: &Banks,
    instances: &[KeptInstance],
    conversations: &[KeptConversations],
    reference: Option<&str>,
) -> Result<TakenBack, LogError> {
    let Some(reference) = reference else { return take_last_back(services, banks, instances, conversations) };
    let missing = match crate::undo(services, Some(reference)) {
        Err(missing @ StoreError::OperationNotFound { .. }) => missing,
        done => return Ok(TakenBack::Notes(done?)),
    };
    match bank::undo(banks, reference) {
        Err(BankError { trouble: Trouble::Store(error), .. }) if matches!(*error, StoreError::OperationNotFound { .. }) => {}
        done => return Ok(TakenBack::Bank(done?)),
    }
    if let Some(topics) = &services.topics {
        match topic::undo(topics, reference) {
            Err(error) if error.code() == Code::OperationNotFound => {}
            done => return Ok(TakenBack::Topics(done?)),
        }
    }
    for one in instances {
        match instance::undo(one.store.as_ref(), Some(reference), services.clock.as_ref(), services.ids.as_ref()) {
            // Nothing of it is called so, as against what was taken back already.
            Err(error) if error.code() == Code::OperationNotFound => {}
            done => return Ok(TakenBack::Instance(one.name.clone(), done?)),
        }
    }
    for one in conversations {
        match conversation::undo(one.store.as_ref(), reference, services.clock.as_ref(), services.ids.as_ref()) {
            Err(StoreError::OperationNotFound { .. }) if !has_operation(one, reference)? => {}
            done => return Ok(TakenBack::Conversation(one.place.clone(), done?)),
        }
    }
    Err(missing.into())
}

/// Tells whether an operation of these conversations begins so: then what it deleted may have been purged.
fn has_operation(one: &KeptConversations, reference: &str) -> Result<bool, StoreError> {
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &ConversationRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    Ok(one.store.operations()?.iter().any(is_wanted))
}

fn take_last_back(
    services: &Services,
    banks: &Banks,
    instances: &[KeptInstance],
    conversations: &[KeptConversations],
) -> Result<TakenBack, LogError> {
    let mut last = crate::undo::last_open(services)?.map(Logged::Notes);
    let mut offer = |other: Option<Logged>| {
        // Of two at one moment, notes are the earlier.
        if other.is_some() && last.as_ref().map(Logged::at) <= other.as_ref().map(Logged::at) {
            last = other;
        }
    };
    offer(bank::last(banks)?.map(|record| Logged::Bank(BankScope::User, record)));
    if let Some(topics) = &services.topics {
        offer(topic::last(topics)?.map(Logged::Topics));
    }
    for one in instances {
        offer(instance::last(one.store.as_ref())?.map(|record| Logged::Instance(one.name.clone(), record)));
    }
    for one in conversations {
        offer(conversation::last(one.store.as_ref())?.map(|record| Logged::Conversation(one.place.clone(), record)));
    }
    match last {
        Some(Logged::Conversation(place, record)) => {
            let kept = conversations.iter().find(|one| one.place == place).expect("it is one of these");
            let id = record.operation.id.as_str();
            let undone = conversation::undo(kept.store.as_ref(), id, services.clock.as_ref(), services.ids.as_ref())?;
            Ok(TakenBack::Conversation(place, undone))
        }
        Some(Logged::Bank(_, record)) => Ok(TakenBack::Bank(bank::undo(banks, record.operation.id.as_str())?)),
        Some(Logged::Topics(record)) => {
            let topics = services.topics.as_ref().expect("something was done to them");
            Ok(TakenBack::Topics(topic::undo(topics, record.operation.id.as_str())?))
        }
        Some(Logged::Instance(name, record)) => {
            let kept = instances.iter().find(|one| one.name == name).expect("it is one of these");
            let id = Some(record.operation.id.as_str());
            let undone = instance::undo(kept.store.as_ref(), id, services.clock.as_ref(), services.ids.as_ref())?;
            Ok(TakenBack::Instance(name, undone))
        }
        Some(Logged::Notes(_)) | None => Ok(TakenBack::Notes(crate::undo(services, None)?)),
    }
}
