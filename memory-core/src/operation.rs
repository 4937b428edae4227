//! Operations: who changed what and when, their records in the log, and the selection of one to undo.
//!
//! All stores share these types. A store adds its own description of what changed, as the `T` of a [`Recorded`].

use std::collections::HashMap;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{Clock, IdSource, OperationId, ParseError, StoreError};

/// The metadata of an operation: changes that are made together, recorded together and undone together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The id. The parts of a long operation, such as the batches of an import, share it.
    pub id: OperationId,
    /// The kind of request.
    pub verb: Verb,
    /// The person, agent or program that made the request; empty if it is not recorded.
    pub by: String,
    /// The time.
    pub at: DateTime<Utc>,
}

impl Operation {
    /// Creates an operation with a new id at the current time.
    pub fn new(verb: Verb, by: &str, clock: &dyn Clock, ids: &dyn IdSource) -> Self {
        Self {
            id: ids.operation_id(),
            verb,
            by: by.to_owned(),
            at: clock.now(),
        }
    }

    /// Returns whether one of these principals, or an agent of one, made the operation.
    pub(crate) fn is_by_any(&self, principals: &[String]) -> bool {
        let name = self.by.split('/').next().unwrap_or_default();
        principals.iter().any(|principal| principal == name)
    }
}

/// The kind of an operation, as logs record it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Verb {
    /// A memory, a fact, a topic or a value of a bank was written.
    Write,
    /// A memory, a topic or a value of a bank was changed.
    Update,
    /// Tags were added or removed.
    Tag,
    /// Two memories were linked.
    Link,
    /// The link between two memories was removed.
    Unlink,
    /// Wikilinks were resolved and recorded.
    ResolveLinks,
    /// A memory was moved from the inbox to a category.
    Upgrade,
    /// A memory, a topic, a value, an entry, a bank or a session was deleted.
    Delete,
    /// Memories were ingested from files of another program.
    Ingest,
    /// Memories or entries of a bank were imported from an export.
    Import,
    /// A reminder was created.
    Remind,
    /// A reminder was delivered.
    Notify,
    /// A reminder was snoozed.
    Snooze,
    /// A reminder was marked as done.
    Done,
    /// The background consolidation changed memories.
    Dream,
    /// Memories that exceeded their time in the inbox moved to the trash.
    Expire,
    /// Memories without any reads moved to the trash.
    Decay,
    /// All tasks of the daemon ran once.
    Consolidate,
    /// An operation was undone.
    Undo,
    /// A file or an entry was restored from the trash.
    Restore,
    /// Files were repaired.
    Repair,
    /// Files were renamed.
    Rename,
    /// Expired or old entries of banks were deleted.
    Gc,
    /// The schema of a bank was set or removed.
    Schema,
    /// A value was replaced.
    Set,
    /// Records of a session were deleted.
    Purge,
    /// A model added facts, or deleted or replaced facts because of new ones.
    Reconcile,
    /// The oldest facts and turns were deleted, because the limit was exceeded.
    Evict,
    /// An agent proposed a change of memories.
    Propose,
    /// A proposal was accepted.
    Accept,
    /// A proposal was rejected.
    Reject,
    /// A memory was merged into another one.
    Merge,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS
        .first_chunk()
        .expect("the derived list has all variants");

    /// Returns the word used in logs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl_display!(Verb);

impl FromStr for Verb {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL
            .into_iter()
            .find(|verb| verb.as_str() == text)
            .ok_or_else(|| ParseError::new(text, "the verb of an operation"))
    }
}

/// An operation in the log of a store, with a description of what it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded<T> {
    /// The operation.
    pub operation: Operation,
    /// What it changed.
    pub subject: T,
    /// The operation that this one undid, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, if any.
    pub undone_by: Option<OperationId>,
}

impl<T> Recorded<T> {
    /// Creates the record of an operation that is not undone.
    pub fn new(operation: &Operation, subject: T, undoes: Option<&OperationId>) -> Self {
        Self {
            operation: operation.clone(),
            subject,
            undoes: undoes.cloned(),
            undone_by: None,
        }
    }

    /// Returns whether an undo without a reference may select this operation.
    pub fn is_open(&self) -> bool {
        self.operation.verb != Verb::Undo && self.undone_by.is_none()
    }

    /// Returns the record with another description of what the operation changed.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Recorded<U> {
        let Self {
            operation,
            subject,
            undoes,
            undone_by,
        } = self;
        Recorded {
            operation,
            subject: change(subject),
            undoes,
            undone_by,
        }
    }
}

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone<T> {
    /// The operation that was undone.
    pub record: Recorded<T>,
    /// The id of the undo; undoing it repeats the operation.
    pub undo: OperationId,
    /// The files of a large operation that were changed since, and left as they are.
    pub left: Vec<String>,
}

impl<T> Undone<T> {
    /// Creates the result of a complete undo.
    pub fn new(record: Recorded<T>, undo: OperationId) -> Self {
        Self {
            record,
            undo,
            left: Vec::new(),
        }
    }

    /// Returns the result with another description of what the operation changed.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Undone<U> {
        Undone {
            record: self.record.map(change),
            undo: self.undo,
            left: self.left,
        }
    }
}

/// Sets `undone_by` of each of `records`, which are ordered newest first.
///
/// An undo that was itself undone has no effect.
pub fn mark_undone<T>(records: &mut [Recorded<T>]) {
    let mut marker = UndoMarker::default();
    for record in records {
        marker.mark(record);
    }
}

/// Sets `undone_by` of records as [`mark_undone()`] does, while they are read.
pub fn mark_undone_lazily<T, E>(
    records: impl Iterator<Item = Result<Recorded<T>, E>>,
) -> impl Iterator<Item = Result<Recorded<T>, E>> {
    let mut marker = UndoMarker::default();
    records.map(move |record| {
        let mut record = record?;
        marker.mark(&mut record);
        Ok(record)
    })
}

/// The undo of each operation among the records so far.
#[derive(Debug, Default)]
struct UndoMarker(HashMap<OperationId, OperationId>);

impl UndoMarker {
    fn mark<T>(&mut self, record: &mut Recorded<T>) {
        // The parts of an operation are several records with the same id.
        record.undone_by = self.0.get(&record.operation.id).cloned();
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            self.0.insert(other.clone(), record.operation.id.clone());
        }
    }
}

/// Returns the record of the operation `undone`, which can be undone. The records are ordered newest first.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is none, [`StoreError::Invalid`] if it is already undone, and those of `records`.
pub fn find_undoable<T, E: From<StoreError>>(
    records: impl Iterator<Item = Result<Recorded<T>, E>>,
    undone: &OperationId,
) -> Result<Recorded<T>, E> {
    let is_it = |record: &Recorded<T>| record.operation.id == *undone;
    let found = mark_undone_lazily(records)
        .find(|record| record.as_ref().map_or(true, is_it))
        .transpose()?;
    let record = found.ok_or_else(|| StoreError::OperationNotFound {
        wanted: format!("no operation has the id {undone}"),
    })?;
    match &record.undone_by {
        Some(other) => Err(StoreError::Invalid {
            why: format!("{undone} was already undone by {other}"),
        }
        .into()),
        None => Ok(record),
    }
}

/// Returns the record of the operation with an id that starts with `reference`, of at least 4 digits.
///
/// Records of the same operation count once; the first of them is returned.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if none matches, [`StoreError::Ambiguous`] if several operations match, and those of `records`.
pub fn find_by_prefix<T, E: From<StoreError>>(
    records: impl IntoIterator<Item = Result<Recorded<T>, E>>,
    reference: &str,
) -> Result<Recorded<T>, E> {
    let wanted = reference.trim().to_lowercase();
    let missing = || StoreError::OperationNotFound {
        wanted: format!("no operation has the id {reference}"),
    };
    if wanted.len() < MIN_PREFIX {
        return Err(missing().into());
    }
    let mut found = None::<Recorded<T>>;
    for record in records {
        let record = record?;
        if record.operation.id.as_str() == wanted {
            return Ok(record);
        }
        if !record.operation.id.as_str().starts_with(&wanted) {
            continue;
        }
        match &found {
            Some(other) if other.operation.id == record.operation.id => {}
            Some(other) => {
                let candidates = vec![
                    other.operation.id.to_string(),
                    record.operation.id.to_string(),
                ];
                return Err(StoreError::Ambiguous {
                    reference: wanted,
                    candidates,
                }
                .into());
            }
            None => found = Some(record),
        }
    }
    found.ok_or_else(|| missing().into())
}

/// The minimum number of digits that identify an operation.
const MIN_PREFIX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_in_logs_are_permanent() {
        assert_eq!(
            Verb::ALL.map(Verb::as_str).join(" "),
            "write update tag link unlink resolve-links upgrade delete ingest import remind notify snooze done dream expire decay \
             consolidate undo restore repair rename gc schema set purge reconcile evict propose accept reject merge"
        );
    }

    fn record(number: u64, undoes: Option<u64>) -> Recorded<()> {
        let verb = if undoes.is_some() {
            Verb::Undo
        } else {
            Verb::Write
        };
        let operation = Operation {
            id: OperationId::from_random(number),
            verb,
            by: "cli".into(),
            at: DateTime::UNIX_EPOCH,
        };
        Recorded {
            operation,
            subject: (),
            undoes: undoes.map(OperationId::from_random),
            undone_by: None,
        }
    }

    #[test]
    fn an_undo_that_was_undone_reverts_nothing() {
        let mut records = vec![record(3, Some(2)), record(2, Some(1)), record(1, None)];
        mark_undone(&mut records);
        let undone: Vec<_> = records
            .iter()
            .map(|record| record.undone_by.clone())
            .collect();
        assert_eq!(undone, [None, Some(OperationId::from_random(3)), None]);
        mark_undone(&mut records[1..]);
        assert_eq!(records[2].undone_by, Some(OperationId::from_random(2)));
    }

    #[test]
    fn an_undo_reverts_all_parts_of_an_operation() {
        let mut records = vec![record(2, Some(1)), record(1, None), record(1, None)];
        mark_undone(&mut records);
        assert!(
            records[1..]
                .iter()
                .all(|record| record.undone_by == Some(OperationId::from_random(2)))
        );
    }

    #[test]
    fn a_prefix_of_four_digits_identifies_one_operation() {
        let find = |reference: &str| {
            let records = [0x1234_0000_0001, 0x1234_0000_0001, 0x1234_1000_0002]
                .map(|number| Ok(record(number, None)));
            find_by_prefix::<(), StoreError>(records, reference)
                .map(|record| record.operation.id.to_string())
        };
        assert_eq!(find(" 12340 ").unwrap(), "123400000001");
        assert_eq!(find("123410000002").unwrap(), "123410000002");
        assert!(
            matches!(find("1234"), Err(StoreError::Ambiguous { candidates, .. }) if candidates.len() == 2)
        );
        for missing in ["123", "5678", ""] {
            assert!(
                matches!(find(missing), Err(StoreError::OperationNotFound { .. })),
                "{missing}"
            );
        }
    }
}
