//! The storage interface of banks.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{Bank, BankEntry, BankError, BankName, Key};
use crate::json::JsonText;
use crate::secret::Checked;
use crate::{Operation, OperationId, Recorded};

/// The storage of one folder of banks. Every implementation passes `testing::bank_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. Reads take no lock and observe a consistent snapshot
/// of a bank. Once a change has returned, it survives a crash and a power loss.
pub trait BankStore: Debug + Send + Sync {
    /// Returns the location, for display.
    fn folder(&self) -> String;

    /// Returns whether a bank of that name exists, readable or not.
    ///
    /// # Errors
    /// If the folder cannot be read.
    fn has(&self, name: &BankName) -> Result<bool, BankError>;

    /// Returns the banks by name, including those that cannot be read.
    ///
    /// # Errors
    /// If the folder cannot be read.
    fn banks(&self) -> Result<Vec<BankSummary>, BankError>;

    /// Returns a whole bank, or `None` if it does not exist.
    ///
    /// # Errors
    /// If the bank cannot be parsed.
    fn bank(&self, name: &BankName) -> Result<Option<Bank>, BankError>;

    /// Returns one entry, and reads no more of the bank than necessary.
    ///
    /// # Errors
    /// If the bank or this entry cannot be read.
    fn entry(&self, name: &BankName, key: &Key) -> Result<BankLookup, BankError>;

    /// Returns a whole bank as JSON text, or `None` if it does not exist.
    ///
    /// Entries that have expired at `now` are left out. The text has the form of [`super::render_document`], or the form that another program
    /// wrote.
    ///
    /// # Errors
    /// If the bank cannot be parsed.
    fn document(&self, name: &BankName, now: DateTime<Utc>) -> Result<Option<String>, BankError>;

    /// Changes a bank as `decide` determines from its current content, under the lock of the bank.
    ///
    /// Writers of other banks do not wait. If a program that does not use the lock changes the bank in between, `decide` is called again,
    /// up to three times in total. The previous content is retained, and [`BankStore::undo`] restores it.
    ///
    /// # Errors
    /// Those of `decide`; [`super::BankErrorKind::Conflict`] after the third attempt; or a disk error. Then the bank is unchanged.
    fn change(
        &self,
        name: &BankName,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<BankChangeResult, BankError>;

    /// Returns the operations on these banks, newest first.
    ///
    /// # Errors
    /// If the log of operations cannot be read.
    fn history(&self) -> Result<Vec<BankRecord>, BankError>;

    /// Undoes the operation `undone`.
    ///
    /// # Errors
    /// [`super::BankErrorKind::ChangedSince`] if its result was changed afterwards.
    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<BankRecord, BankError>;

    /// Deletes the previous versions of changes in whole months that ended before `before`.
    ///
    /// Returns the number of files and bytes deleted. Those changes can no longer be undone.
    ///
    /// # Errors
    /// If the versions cannot be read or deleted.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), BankError>;

    /// Checks one bank or all of them for damage.
    ///
    /// With [`BankRepairMode::All`] it also retains the readable entries, and moves the damaged file to a new name next to the bank.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    fn repair(
        &self,
        name: Option<&BankName>,
        repairs: BankRepairMode,
        operation: &Operation,
    ) -> Result<Vec<BankDamage>, BankError>;
}

/// A bank without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSummary {
    /// The name.
    pub name: BankName,
    /// The size of the file on disk, in bytes.
    pub size_bytes: u64,
}

/// The result of a lookup of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BankLookup {
    /// The bank does not exist.
    NoBank,
    /// The bank does not contain the key.
    NoKey,
    /// The entry, expired or not.
    Entry(Box<BankEntry>),
}

/// A change of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BankChange {
    /// No change.
    Nothing,
    /// Changes these entries, each key at most once. A missing bank is created.
    Entries(Vec<BankEntryChange>),
    /// Changes entries like `Entries`, and sets the schema.
    EntriesAndSchema(Vec<BankEntryChange>, Checked<JsonText>),
    /// Sets the schema, or removes it if `None`.
    Schema(Option<Checked<JsonText>>),
    /// Moves the bank to the trash.
    Remove,
}

/// A change of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BankEntryChange {
    /// Writes the entry.
    Put(Key, Checked<BankEntry>),
    /// Deletes the entry.
    Remove(Key),
}

/// Whether a change modified the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankChangeResult {
    /// The bank was modified.
    Yes,
    /// The bank was already in the requested state.
    No,
}

/// An operation on banks in the log.
pub type BankRecord = Recorded<BankSubject>;

/// The entries that an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSubject {
    /// The bank.
    pub bank: BankName,
    /// The affected keys; empty if the operation affected the bank as a whole.
    pub keys: Vec<String>,
}

/// Whether damage is only reported or also repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankRepairMode {
    /// Only reports damage.
    None,
    /// Retains the readable entries, and moves the damaged file to a new name.
    All,
}

/// A defect of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankDamage {
    /// The bank, as in its file name.
    pub bank: String,
    /// The key, if the defect affects one entry.
    pub key: Option<String>,
    /// The defect, as a statement.
    pub what: String,
    /// The path that the damaged file was moved to, if it was moved.
    pub set_aside: Option<String>,
    /// Whether the defect is repaired.
    pub repaired: bool,
}
