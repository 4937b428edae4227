//! The combined log of operations on notes, banks, topics, instances and conversations, and their undo.

use std::iter::Peekable;

use crate::bank::{self, BankError, BankScope, BankSubject, Banks};
use crate::conversation::{self, ConversationLocation, ConversationSubject};
use crate::instance::{self, InstanceError, InstanceSubject, NamedInstance};
use crate::topic::{self, TopicError, TopicSubject, Topics};
use crate::{
    ChangedFiles, Code, MAX_TIME, Operation, Recorded, Services, StoreError, Undone, Verb,
    find_by_prefix,
};

/// A logged operation.
pub type LogEntry = Recorded<Subject>;

/// An undone operation.
pub type UndoneOperation = Undone<Subject>;

/// What an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Notes.
    Notes(ChangedFiles),
    /// A bank of this scope.
    Bank(BankScope, BankSubject),
    /// Topics.
    Topics(TopicSubject),
    /// The content of the instance with this name.
    Instance(String, InstanceSubject),
    /// A conversation in this folder.
    Conversation(String, ConversationSubject),
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

impl LogError {
    fn code(&self) -> Code {
        match self {
            Self::Bank(error) => error.code(),
            Self::Topic(error) => error.code(),
            Self::Instance(error) => error.code(),
        }
    }
}

impl From<StoreError> for LogError {
    fn from(error: StoreError) -> Self {
        Self::Bank(error.into())
    }
}

/// The operations of one log.
pub(crate) type LogEntries<'a> = Box<dyn Iterator<Item = Result<LogEntry, LogError>> + 'a>;

/// The stores with a log of operations.
#[derive(Debug, Clone, Copy)]
pub struct OperationLogs<'a> {
    /// The notes, and the topics if there are any.
    pub services: &'a Services,
    /// The banks.
    pub banks: &'a Banks,
    /// The instances.
    pub instances: &'a [NamedInstance],
    /// The folders of conversations.
    pub conversations: &'a [ConversationLocation],
    /// The names of principals other than the user of the home, whose operations an undo without a reference skips.
    pub others: &'a [String],
}

/// A store with a log of operations.
#[derive(Debug, Clone, Copy)]
enum LogSource<'a> {
    Notes(&'a Services),
    Banks(&'a Banks),
    Topics(&'a Topics),
    Instance(&'a NamedInstance),
    Conversations(&'a ConversationLocation),
}

impl<'a> LogSource<'a> {
    /// Returns the operations, newest first.
    fn entries(self) -> Result<LogEntries<'a>, LogError> {
        Ok(match self {
            Self::Notes(services) => Box::new(
                services
                    .history
                    .records()
                    .map(|record| Ok(record?.map(Subject::Notes))),
            ),
            Self::Banks(banks) => {
                let records = bank::history(banks)?.into_iter();
                Box::new(
                    records.map(|(scope, record)| {
                        Ok(record.map(|subject| Subject::Bank(scope, subject)))
                    }),
                )
            }
            Self::Topics(topics) => Box::new(
                topic::history(topics)?
                    .into_iter()
                    .map(|record| Ok(record.map(Subject::Topics))),
            ),
            Self::Instance(one) => {
                let named = |subject| Subject::Instance(one.name.clone(), subject);
                Box::new(
                    one.store
                        .operations()?
                        .map(move |record| Ok(record?.map(named))),
                )
            }
            Self::Conversations(one) => {
                let placed = |subject| Subject::Conversation(one.place.clone(), subject);
                Box::new(
                    one.store
                        .operations()?
                        .into_iter()
                        .map(move |record| Ok(record.map(placed))),
                )
            }
        })
    }

    /// Returns the operation that an undo without a reference would revert: the last one of the user.
    fn last(self, others: &[String]) -> Result<Option<LogEntry>, LogError> {
        match self {
            Self::Notes(services) => {
                let record = crate::undo::last_undoable(services, others)?;
                Ok(record.map(|record| record.map(Subject::Notes)))
            }
            _ => self
                .entries()?
                .find(|entry| {
                    entry.as_ref().map_or(true, |entry| {
                        entry.is_open() && !entry.operation.is_by_any(others)
                    })
                })
                .transpose(),
        }
    }

    /// Undoes the operation with this id, which is one of this store.
    fn undo(
        self,
        id: &str,
        services: &Services,
        operation: &Operation,
    ) -> Result<UndoneOperation, LogError> {
        let (clock, ids) = (services.clock.as_ref(), services.ids.as_ref());
        Ok(match self {
            Self::Notes(services) => {
                crate::undo::undo_as(services, Some(id), operation)?.map(Subject::Notes)
            }
            Self::Banks(banks) => {
                let undone = bank::undo(banks, id)?;
                Undone::new(undone.record, undone.undo)
                    .map(|subject| Subject::Bank(undone.scope, subject))
            }
            Self::Topics(topics) => topic::undo(topics, id)?.map(Subject::Topics),
            Self::Instance(one) => {
                let undone = instance::undo_as(one.store.as_ref(), Some(id), operation)?;
                undone.map(|subject| Subject::Instance(one.name.clone(), subject))
            }
            Self::Conversations(one) => {
                let undone = conversation::undo(one.store.as_ref(), id, clock, ids)?;
                undone.map(|subject| Subject::Conversation(one.place.clone(), subject))
            }
        })
    }
}

impl<'a> OperationLogs<'a> {
    fn sources(self) -> impl Iterator<Item = LogSource<'a>> {
        let topics = self.services.topics.as_ref().map(LogSource::Topics);
        [
            LogSource::Notes(self.services),
            LogSource::Banks(self.banks),
        ]
        .into_iter()
        .chain(topics)
        .chain(self.instances.iter().map(LogSource::Instance))
        .chain(self.conversations.iter().map(LogSource::Conversations))
    }

    /// Returns the operations of each log, newest first.
    pub(crate) fn logs(self) -> Result<Vec<LogEntries<'a>>, LogError> {
        self.sources().map(LogSource::entries).collect()
    }

    /// Returns the last `limit` operations, newest first.
    ///
    /// # Errors
    /// If the operations cannot be read.
    pub fn list(self, limit: usize) -> Result<Vec<LogEntry>, LogError> {
        let mut logs: Vec<Peekable<LogEntries>> =
            self.logs()?.into_iter().map(Iterator::peekable).collect();
        let mut listed = Vec::new();
        while listed.len() < limit {
            // Operations of one store stay in their order, regardless of their timestamps; an error precedes all operations.
            let time = |next: &Result<LogEntry, LogError>| {
                next.as_ref().map_or(MAX_TIME, |next| next.operation.at)
            };
            let times: Vec<_> = logs.iter_mut().map(|log| log.peek().map(time)).collect();
            let newest = times
                .iter()
                .enumerate()
                .max_by_key(|(_, time)| **time)
                .map_or(0, |(number, _)| number);
            match logs[newest].next() {
                Some(next) => listed.push(next?),
                None => break,
            }
        }
        Ok(listed)
    }

    /// Returns the operation with an id that starts with `reference`, of at least 4 digits.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if none matches, [`StoreError::Ambiguous`] if several operations of one store match.
    pub fn find(self, reference: &str) -> Result<LogEntry, LogError> {
        self.find_with_source(reference).map(|(entry, _)| entry)
    }

    fn find_with_source(self, reference: &str) -> Result<(LogEntry, LogSource<'a>), LogError> {
        for source in self.sources() {
            match find_by_prefix(source.entries()?, reference) {
                Err(error) if error.code() == Code::OperationNotFound => {}
                found => return Ok((found?, source)),
            }
        }
        Err(StoreError::OperationNotFound {
            wanted: format!("no operation has the id {reference}"),
        }
        .into())
    }

    /// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
    ///
    /// An ingestion that wrote notes and sessions is undone in both. The result then describes the notes. If the undo of one
    /// fails, a repeated undo reverts the rest.
    ///
    /// # Errors
    /// Those of [`Self::find`], [`crate::undo()`], [`bank::undo()`], [`topic::undo()`] and [`instance::undo()`].
    pub fn undo(self, reference: Option<&str>) -> Result<UndoneOperation, LogError> {
        // An interrupted operation is rolled back first, so that it does not count as completed.
        self.services.history.recover()?;
        let (entry, source) = match reference {
            Some(reference) => self.find_with_source(reference)?,
            None => self.last()?,
        };
        let id = entry.operation.id.as_str();
        let operation = self.services.operation(Verb::Undo);
        // Sessions come first: they prevent the undo if one of them was changed, and changed notes may be left.
        let mut sources = vec![source];
        if matches!(entry.operation.verb, Verb::Ingest | Verb::Undo) {
            sources = self.open_sources_of(id)?;
            // An operation that is already undone everywhere is refused by its store.
            if sources.is_empty() {
                sources.push(source);
            }
            sources.sort_by_key(|source| matches!(source, LogSource::Notes(_)));
        }
        let mut undone = None;
        for source in sources {
            undone = Some(source.undo(id, self.services, &operation)?);
        }
        undone.ok_or_else(|| {
            StoreError::OperationNotFound {
                wanted: format!("no operation has the id {id}"),
            }
            .into()
        })
    }

    /// Returns the stores in which the operation `id` is not undone.
    fn open_sources_of(self, id: &str) -> Result<Vec<LogSource<'a>>, LogError> {
        let mut sources = Vec::new();
        for source in self.sources() {
            let is_it = |entry: &Result<LogEntry, LogError>| {
                entry
                    .as_ref()
                    .map_or(true, |entry| entry.operation.id.as_str() == id)
            };
            let found = source.entries()?.find(is_it).transpose()?;
            sources.extend(
                found
                    .filter(|entry| entry.undone_by.is_none())
                    .map(|_| source),
            );
        }
        Ok(sources)
    }

    /// Returns whether the user of the home, or an agent of the user, made an operation.
    pub fn is_own(self, entry: &LogEntry) -> bool {
        let by_other = matches!(&entry.subject, Subject::Notes(files) if files.by_other);
        !by_other && !entry.operation.is_by_any(self.others)
    }

    /// Returns the operation with an id that starts with `reference` if another person made it, whose undo needs a confirmation.
    ///
    /// # Errors
    /// Those of [`Self::find`], and if the operations of other machines cannot be fetched.
    pub fn find_of_other(self, reference: &str) -> Result<Option<LogEntry>, LogError> {
        // An operation of another machine may not be on this one yet.
        self.services.history.recover()?;
        self.services.store.refresh()?;
        let entry = self.find(reference)?;
        Ok((!self.is_own(&entry)).then_some(entry))
    }

    fn last(self) -> Result<(LogEntry, LogSource<'a>), LogError> {
        let mut last = None::<(LogEntry, LogSource<'a>)>;
        for source in self.sources() {
            // On a tie, the operation on notes counts as the earlier one.
            if let Some(entry) = source.last(self.others)?
                && last
                    .as_ref()
                    .is_none_or(|(last, _)| last.operation.at <= entry.operation.at)
            {
                last = Some((entry, source));
            }
        }
        let missing = || StoreError::OperationNotFound {
            wanted: "there is no operation to undo".into(),
        };
        last.ok_or_else(|| missing().into())
    }
}
