//! A folder of banks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::bank::{
    Bank, BankChange, BankChangeResult, BankDamage, BankError, BankErrorKind, BankLimits,
    BankLookup, BankName, BankRecord, BankRepairMode, BankStore, BankSummary, Key,
};
use memory_core::{Operation, OperationId, StoreError};

use super::change::{self, BankWriter, FORMER_WAITING};
use super::decode::decode_entry;
use super::edit::{self, ItemEdit};
use super::file::{self, BankFileFormat, damaged_error, read_error};
use super::layout::EntryLayout;
use super::{index, repair, trash, undo};
use crate::disk::{DirEntryKind, Disk, LazyDisk};
use crate::error::io_error;
use crate::gitignore;
use crate::lock::{FOLDER as LOCKS, PATIENCE, WriterLock};
use crate::oplog::not_found_error;
use crate::store_folder::StoreFolder;
use memory_core::text::is_device_name;

/// A folder of banks, which is created on the first write.
#[derive(Debug)]
pub struct BankFolder {
    pub(crate) place: StoreFolder,
    pub(crate) options: BankOptions,
    /// Whether the folder is a symlink that is not followed.
    pub(crate) is_refused: bool,
}

/// The options of a folder of banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankOptions {
    /// The limits of each bank.
    pub limits: BankLimits,
    /// The size in bytes above which a bank is compressed; `None` disables compression.
    pub compress_above: Option<usize>,
    /// The timeout for locks.
    pub patience: Duration,
    /// Whether the folder is two levels below one of a project: its first write adds a `.gitignore`, and neither level is a symlink.
    pub is_in_project: bool,
}

impl Default for BankOptions {
    fn default() -> Self {
        Self {
            limits: BankLimits::default(),
            compress_above: Some(1024 * 1024),
            patience: PATIENCE,
            is_in_project: false,
        }
    }
}

/// A folder of banks that the caller may write to.
#[derive(Debug, Clone, Copy)]
pub(super) struct WritableBankFolder<'a> {
    pub disk: &'a dyn Disk,
    pub root: &'a Path,
    pub options: &'a BankOptions,
}

impl BankFolder {
    /// Returns the folder of banks at `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>, options: BankOptions) -> Self {
        let depth = if options.is_in_project { 2 } else { 0 };
        Self {
            place: StoreFolder::new(LazyDisk::in_project(root.into(), depth)),
            options,
            is_refused: false,
        }
    }

    /// Returns the folder of banks at `root`, accessed through `disk`.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>, options: BankOptions) -> Self {
        Self {
            place: StoreFolder::new(LazyDisk::on_disk(root.into(), disk)),
            options,
            is_refused: false,
        }
    }

    /// Returns the folder of banks at `link`, which is a symlink, or behind one, where symlinks are not permitted.
    ///
    /// All operations fail with [`BankErrorKind::Symlink`], except those on the history, which is empty: none was ever executed here.
    pub fn behind_symlink(link: PathBuf, options: BankOptions) -> Self {
        Self {
            is_refused: true,
            ..Self::new(link, options)
        }
    }

    /// Copies the banks in the folder at `source` to the database of this replica, with their history, and returns the number of files.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the folder is not a replica, or if the database contains other banks; or if the database cannot be
    /// reached.
    pub fn copy_files(&self, source: &Path) -> Result<usize, StoreError> {
        self.place.copy_files(source)
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    fn display_path(&self) -> String {
        self.root().display().to_string()
    }

    fn check_link(&self) -> Result<(), BankError> {
        if self.is_refused {
            Err(BankError::new(BankErrorKind::Symlink {
                path: self.display_path(),
            }))
        } else {
            Ok(())
        }
    }

    /// Returns the disk with the history, or `None` if there is none.
    fn history_disk(&self) -> Result<Option<&dyn Disk>, BankError> {
        if self.is_refused {
            Ok(None)
        } else {
            self.disk()
        }
    }

    /// Returns the disk with the changes of other nodes, or `None` if the folder does not exist.
    fn disk(&self) -> Result<Option<&dyn Disk>, BankError> {
        self.check_link()?;
        self.place.catch_up(self.options.patience)?;
        self.place.get().map_err(read_error(&self.display_path()))
    }

    /// Waits for the lock of the bank `name`, recovers from an interrupted writer, and calls `work`.
    ///
    /// Writers of other banks do not wait. A version up to 0.1, which locks the whole folder, does.
    fn write<T>(
        &self,
        name: &BankName,
        mut work: impl FnMut(WritableBankFolder<'_>) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        self.with_place(|place| self.write_locked(place, name, &mut work))
    }

    /// Calls `work`, which takes the locks that it needs.
    fn with_place<T>(
        &self,
        mut work: impl FnMut(WritableBankFolder<'_>) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        let (disk, patience) = (self.create()?, self.options.patience);
        let done = self.place.write(disk, patience, |disk| {
            work(WritableBankFolder {
                disk,
                root: self.root(),
                options: &self.options,
            })
        });
        done.map_err(|error| self.map_write_error(error))
    }

    fn write_locked<T>(
        &self,
        place: WritableBankFolder<'_>,
        name: &BankName,
        work: &mut impl FnMut(WritableBankFolder<'_>) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        loop {
            let shared =
                WriterLock::acquire_shared(place.disk, self.root(), self.options.patience)?;
            if change::is_interrupted(place.disk, FORMER_WAITING)? {
                drop(shared);
                self.write_exclusive_locked(place, &mut |_| Ok(()))?;
                continue;
            }
            // The folder of locks does not exist before the first write. Afterwards the `.gitignore` belongs to the user.
            if self.options.is_in_project && matches!(place.disk.stat(LOCKS), Ok(None)) {
                gitignore::write(place.disk);
            }
            // Windows reserves some names of banks that earlier versions created.
            let suffix = if is_device_name(name.as_str()) {
                "_"
            } else {
                ""
            };
            let _lock = WriterLock::acquire_named(
                place.disk,
                self.root(),
                &format!("{name}{suffix}"),
                self.options.patience,
            )?;
            let done = change::recover(&place, name).and_then(|()| work(place));
            drop(shared);
            return done;
        }
    }

    /// Waits for the exclusive lock of the folder, recovers from interrupted writers, and calls `work`.
    fn write_exclusive<T>(
        &self,
        mut work: impl FnMut(WritableBankFolder<'_>) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        self.with_place(|place| self.write_exclusive_locked(place, &mut work))
    }

    fn write_exclusive_locked<T>(
        &self,
        place: WritableBankFolder<'_>,
        work: &mut impl FnMut(WritableBankFolder<'_>) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        let _lock = WriterLock::acquire(place.disk, self.root(), self.options.patience)?;
        change::recover_legacy(&place)?;
        self.interrupted_banks(place.disk)?
            .iter()
            .try_for_each(|bank| change::recover(&place, bank))?;
        work(place)
    }

    fn create(&self) -> Result<&dyn Disk, BankError> {
        self.check_link()?;
        let opened = self.place.get_or_create();
        opened.map_err(|error| {
            self.write_error(io_error(format!("open {}", self.display_path()), error))
        })
    }

    /// Returns the banks with a temporary file: the writer was interrupted or is still running.
    fn interrupted_banks(&self, disk: &dyn Disk) -> Result<Vec<BankName>, BankError> {
        let entries = disk
            .list_folder("")
            .map_err(read_error(&self.display_path()))?;
        Ok(entries
            .iter()
            .filter_map(|entry| change::bank_of_temp_path(&entry.name))
            .collect())
    }

    fn map_write_error(&self, error: BankError) -> BankError {
        match error {
            BankError {
                trouble: BankErrorKind::Store(store),
                bank,
                key,
                scope,
            } => BankError {
                bank,
                key,
                scope,
                ..self.write_error(*store)
            },
            other => other,
        }
    }

    /// Recovers from interrupted writers, and then checks the banks for damage.
    pub(crate) fn check(&self) -> Result<Vec<BankDamage>, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        // In a read-only folder, the check runs without the recovery.
        self.write_exclusive(|place| repair::check(place.disk, None))
            .or_else(|_| repair::check(disk, None))
    }

    fn write_error(&self, error: StoreError) -> BankError {
        file::write_error(&self.display_path(), error)
    }
}

/// Returns whether a replica of the folder shares a file.
#[cfg(feature = "postgres")]
pub(crate) fn is_shared(path: &str) -> bool {
    let is_bank =
        BankFileFormat::parse_path(path).is_some_and(|(name, _)| name.parse::<BankName>().is_ok());
    is_bank || crate::store_folder::is_in_log_folder(path, trash::FOLDER)
}

impl BankStore for BankFolder {
    fn folder(&self) -> String {
        self.display_path()
    }

    fn has(&self, name: &BankName) -> Result<bool, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(false);
        };
        // A bank that exists but cannot be read, such as a folder of that name, counts; opening it reports the error.
        Ok(file::find(disk, name.as_str()).map_or(true, |found| found.is_some()))
    }

    fn banks(&self) -> Result<Vec<BankSummary>, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let entries = disk
            .list_folder("")
            .map_err(read_error(&self.display_path()))?;
        let mut names: BTreeMap<BankName, bool> = BTreeMap::new();
        for entry in &entries {
            let Some(name) =
                BankFileFormat::parse_path(&entry.name).and_then(|(name, _)| name.parse().ok())
            else {
                continue;
            };
            *names.entry(name).or_default() |= entry.kind == DirEntryKind::Other;
        }
        let summary = |(name, is_odd): (BankName, bool)| match file::find(disk, name.as_str()) {
            Ok(Some((_, signature))) => Some(BankSummary {
                name,
                size_bytes: signature.size,
            }),
            // The file was deleted since.
            Ok(None) if !is_odd => None,
            // Opening the bank reports the error, for example for a symlink.
            Ok(None) | Err(_) => Some(BankSummary {
                name,
                size_bytes: 0,
            }),
        };
        Ok(names.into_iter().filter_map(summary).collect())
    }

    fn bank(&self, name: &BankName) -> Result<Option<Bank>, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let Some(file) = file::read(disk, name.as_str())? else {
            return Ok(None);
        };
        let layout = file.parse_layout()?;
        Ok(Some(file.to_bank(name, &layout)))
    }

    fn entry(&self, name: &BankName, key: &Key) -> Result<BankLookup, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(BankLookup::NoBank);
        };
        let told = |why: String| {
            damaged_error(
                &BankFileFormat::Plain.path(name.as_str()),
                &format!("the entry '{key}' {why}"),
            )
        };
        if let Some((path, signature)) = file::find(disk, name.as_str())? {
            let is_large = index::WORTHWHILE
                <= usize::try_from(signature.size).unwrap_or(usize::MAX)
                || path == BankFileFormat::Packed.path(name.as_str());
            if is_large
                && let Some((text, item)) = index::lookup_entry(disk, &path, &signature, key)
            {
                let written_at = chrono::DateTime::from_timestamp_nanos(signature.modified_ns);
                return Ok(BankLookup::Entry(Box::new(
                    decode_entry(&text, &item, written_at).map_err(told)?,
                )));
            }
        }
        let Some(file) = file::read(disk, name.as_str())? else {
            return Ok(BankLookup::NoBank);
        };
        let layout = file.parse_layout()?;
        if index::WORTHWHILE <= file.text.len() {
            index::update(disk, &file, &layout);
        }
        let Some(item) = layout.items.iter().find(|item| item.key == key.as_str()) else {
            return Ok(BankLookup::NoKey);
        };
        Ok(BankLookup::Entry(Box::new(
            decode_entry(&file.text, item, file.modified_at()).map_err(told)?,
        )))
    }

    fn document(&self, name: &BankName, now: DateTime<Utc>) -> Result<Option<String>, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let Some(file) = file::read(disk, name.as_str())? else {
            return Ok(None);
        };
        let layout = file.parse_layout()?;
        let written_at = file.modified_at();
        // Only entries with a time to live are parsed, to determine whether they have expired.
        let has_expired = |item: &&EntryLayout| {
            let lives_on = item
                .ttl
                .as_ref()
                .is_none_or(|ttl| &file.text[ttl.clone()] == "null");
            !lives_on
                && decode_entry(&file.text, item, written_at)
                    .is_ok_and(|entry| entry.is_expired(now))
        };
        let gone = layout
            .items
            .iter()
            .filter(has_expired)
            .map(|item| ItemEdit::Remove(item.key.clone()));
        let edits = edit::removal_edits(&file.text, &layout, &gone.collect::<Vec<_>>());
        Ok(Some(if edits.is_empty() {
            file.text
        } else {
            edit::apply_edits(&file.text, &edits)
        }))
    }

    fn change(
        &self,
        name: &BankName,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<BankChangeResult, BankError> {
        self.write(name, |place| {
            BankWriter {
                place,
                name,
                operation,
            }
            .change(decide)
        })
    }

    fn history(&self) -> Result<Vec<BankRecord>, BankError> {
        let Some(disk) = self.history_disk()? else {
            return Ok(Vec::new());
        };
        // Interrupted operations are not listed. If nothing can be written, the log is returned without recovery.
        if change::is_interrupted(disk, FORMER_WAITING)? {
            let _ = self.write_exclusive(|_| Ok(()));
        }
        for bank in self.interrupted_banks(disk)? {
            let _ = self.write(&bank, |_| Ok(()));
        }
        trash::log(disk).records()
    }

    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<BankRecord, BankError> {
        let found = self
            .history_disk()?
            .map(|disk| undo::find(disk, undone))
            .transpose()?;
        match found {
            Some((_, record)) => self.write(&record.subject.bank, |place| {
                undo::undo(place, undone, operation)
            }),
            None => Err(not_found_error(undone).into()),
        }
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
        if self.history_disk()?.is_none() {
            Ok((0, 0))
        } else {
            self.write_exclusive(|place| trash::log(place.disk).purge(before))
        }
    }

    fn repair(
        &self,
        name: Option<&BankName>,
        repairs: BankRepairMode,
        operation: &Operation,
    ) -> Result<Vec<BankDamage>, BankError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        match repairs {
            BankRepairMode::None => repair::check(disk, name),
            BankRepairMode::All => {
                self.write_exclusive(|place| repair::repair(place, name, operation))
            }
        }
    }
}
