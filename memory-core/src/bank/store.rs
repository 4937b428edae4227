//! Where banks are kept.

use std::collections::HashMap;
use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{Bank, BankError, BankName, Entry, Key};
use crate::OperationId;
use crate::json::JsonText;

/// One folder of banks. Every implementation passes `testing::bank_suite`.
///
/// All methods may be called from any thread and from many processes at once. Reading takes no lock and sees a bank as it was at
/// one moment; once a change has returned, neither a crash nor a power cut loses it.
pub trait BankStore: Debug + Send + Sync {
    /// Returns where it is, for people.
    fn folder(&self) -> String;

    /// Tells whether there is a bank of that name, readable or not.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn has(&self, name: &BankName) -> Result<bool, BankError>;

    /// Returns what there is, by name. A bank that cannot be read is among them.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn banks(&self) -> Result<Vec<BankSummary>, BankError>;

    /// Returns a whole bank, or `None` if there is none of that name.
    ///
    /// # Errors
    /// When it cannot be read as a bank.
    fn bank(&self, name: &BankName) -> Result<Option<Bank>, BankError>;

    /// Returns one entry, and no more of the bank than needs be read.
    ///
    /// # Errors
    /// When the bank or this entry cannot be read.
    fn entry(&self, name: &BankName, key: &Key) -> Result<Found, BankError>;

    /// Returns a whole bank as a JSON text, as [`super::document`] writes it or as others did, without what has expired at `now`; or `None`
    /// if there is none of that name.
    ///
    /// # Errors
    /// When it cannot be read as a bank.
    fn document(&self, name: &BankName, now: DateTime<Utc>) -> Result<Option<String>, BankError>;

    /// Changes a bank as `decide` says, which is shown what there is, under the lock of the bank. Writers of other banks do not wait.
    /// Where a program that takes no lock changes it in between, `decide` is asked again, up to three times.
    ///
    /// What was there before is kept, and [`BankStore::undo`] brings it back.
    ///
    /// # Errors
    /// Those of `decide`; [`super::Trouble::Conflict`] after the third time; whatever the disk refuses. Then the bank is as it was.
    fn change(
        &self,
        name: &BankName,
        operation: &BankOperation,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<Changed, BankError>;

    /// Returns what was done to these banks, newest first.
    ///
    /// # Errors
    /// When that cannot be read.
    fn history(&self) -> Result<Vec<BankRecord>, BankError>;

    /// Takes back the operation `undone`.
    ///
    /// # Errors
    /// [`super::Trouble::Conflict`] if what it left was changed since.
    fn undo(&self, undone: &OperationId, operation: &BankOperation) -> Result<BankRecord, BankError>;

    /// Removes for good what was there before changes of long ago, by whole months that ended before `before`; returns how many files and
    /// bytes that was. Those changes cannot be taken back any more.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), BankError>;

    /// Looks for damage in one bank or in all, and if `repairs` says so, keeps what can be read and sets the rest aside.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    fn repair(&self, name: Option<&BankName>, repairs: Repairs, operation: &BankOperation) -> Result<Vec<Damage>, BankError>;
}

/// A bank, without what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSummary {
    /// Its name.
    pub name: BankName,
    /// The size of its file in bytes, as it lies on the disk.
    pub size_bytes: u64,
}

/// What was found under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There is no such bank.
    NoBank,
    /// There is no such key in it.
    NoKey,
    /// This entry, expired or not.
    Entry(Box<Entry>),
}

/// Who changes banks, when and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankOperation {
    /// Its name.
    pub id: OperationId,
    /// What was asked for.
    pub verb: BankVerb,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BankVerb {
    /// A value was written.
    Write,
    /// A value was changed by a filter.
    Update,
    /// An entry or a bank was deleted.
    Delete,
    /// Entries were taken in from an export.
    Import,
    /// Expired or old entries were taken away.
    Gc,
    /// The schema was set or cleared.
    Schema,
    /// Damage was seen to.
    Repair,
    /// An operation was taken back.
    Undo,
}

impl BankVerb {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Import => "import",
            Self::Gc => "gc",
            Self::Schema => "schema",
            Self::Repair => "repair",
            Self::Undo => "undo",
        }
    }

    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Write, Self::Update, Self::Delete, Self::Import, Self::Gc, Self::Schema, Self::Repair, Self::Undo];
}

/// What is to become of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BankChange {
    /// Nothing.
    Nothing,
    /// These entries change, each key at most once. A bank that is not there is made.
    Entries(Vec<EntryChange>),
    /// As with `Entries`, and it gets this schema.
    EntriesAndSchema(Vec<EntryChange>, JsonText),
    /// It gets this schema, or none.
    Schema(Option<JsonText>),
    /// It goes to trash.
    Remove,
}

/// What is to become of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// It is this one from now on.
    Put(Key, Entry),
    /// It goes.
    Remove(Key),
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// The bank is another now.
    Yes,
    /// Nothing had to be done.
    No,
}

/// Something that was done to the banks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRecord {
    /// What.
    pub operation: BankOperation,
    /// To which bank.
    pub bank: BankName,
    /// To which keys; none if it was about the bank as a whole.
    pub keys: Vec<String>,
    /// The operation that this one took back, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that took this one back, if any did.
    pub undone_by: Option<OperationId>,
}

/// Says of each of `records`, which are newest first, which operation took it back. An undo that was itself taken back took nothing back.
pub fn mark_undone(records: &mut [BankRecord]) {
    let mut undone = HashMap::new();
    for record in records {
        record.undone_by = undone.get(&record.operation.id).cloned();
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            undone.insert(other.clone(), record.operation.id.clone());
        }
    }
}

/// Whether damage is only looked for or also seen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repairs {
    /// It is only told.
    None,
    /// What can be read is kept, and what cannot is set aside.
    All,
}

/// Something that is wrong with a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The bank, as its file is called.
    pub bank: String,
    /// The key, if it is about one entry.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
    /// Where that which cannot be read was set aside, as a path.
    pub set_aside: Option<String>,
    /// Whether it is well now.
    pub repaired: bool,
}
