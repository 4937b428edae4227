//! A folder of banks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::bank::{
    Bank, BankChange, BankError, BankName, BankOperation, BankRecord, BankStore, BankSummary, Changed, Damage, Found, Key,
    Limits, Repairs, Trouble,
};
use memory_core::{OperationId, StoreError};

use super::change::{self, FORMER_WAITING, Place, Work};
use super::decode::entry;
use super::edit::{self, ItemEdit};
use super::file::{self, Kind, damaged, refused};
use super::layout::Item;
use super::{index, repair, trash, undo};
use crate::disk::{Disk, EntryKind, LateDisk};
use crate::error::io_error;
use crate::gitignore;
use crate::lock::{FOLDER as LOCKS, PATIENCE, WriterLock};
use crate::months;

/// How banks are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankOptions {
    /// How much they hold.
    pub limits: Limits,
    /// Above how many bytes a bank is compressed; `None` for never.
    pub compress_above: Option<usize>,
    /// How long a writer waits for the others.
    pub patience: Duration,
    /// Whether the folder is part of a project, so that its first write adds a `.gitignore`.
    pub is_in_project: bool,
}

impl Default for BankOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), compress_above: Some(1024 * 1024), patience: PATIENCE, is_in_project: false }
    }
}

/// A folder of banks, which is made when the first bank is written.
#[derive(Debug)]
pub struct BankFolder {
    place: LateDisk,
    pub(super) options: BankOptions,
}

impl BankFolder {
    /// Returns the banks at `root`, whether the folder is there or not.
    pub fn new(root: impl Into<PathBuf>, options: BankOptions) -> Self {
        Self { place: LateDisk::new(root.into()), options }
    }

    /// Returns the banks at `root`, where `disk` is what writes there.
    pub fn on_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>, options: BankOptions) -> Self {
        Self { place: LateDisk::on_disk(root.into(), disk), options }
    }

    /// Returns where it is.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    fn place(&self) -> String {
        self.root().display().to_string()
    }

    /// Returns the disk, unless there is no folder.
    fn disk(&self) -> Result<Option<&dyn Disk>, BankError> {
        self.place.if_there().map_err(|error| refused(&self.place(), error))
    }

    /// Waits for the right to write to the bank `name`, sees to what its last writer left, and does `work`. Writers of other banks go on
    /// meanwhile; a version up to 0.1, which locks the folder, waits.
    fn write<T>(&self, name: &BankName, work: impl FnOnce(Place<'_>) -> Result<T, BankError>) -> Result<T, BankError> {
        let place = self.made()?;
        let refused = |error| self.not_written(error);
        loop {
            let shared = WriterLock::share(self.root(), self.options.patience).map_err(refused)?;
            if change::is_interrupted(place.disk, FORMER_WAITING)? {
                drop(shared);
                self.write_alone(|_| Ok(()))?;
                continue;
            }
            // There is no folder of locks before the first write. From then on the file is the person's.
            if self.options.is_in_project && matches!(place.disk.signature(LOCKS), Ok(None)) {
                gitignore::write(place.disk);
            }
            let _lock = WriterLock::of_name(self.root(), name.as_str(), self.options.patience).map_err(refused)?;
            let done = change::recover(&place, name).and_then(|()| work(place));
            drop(shared);
            return done.map_err(|error| self.denied(error));
        }
    }

    /// Waits for the right to write to the whole folder, sees to what the last writers left, and does `work`.
    fn write_alone<T>(&self, work: impl FnOnce(Place<'_>) -> Result<T, BankError>) -> Result<T, BankError> {
        let place = self.made()?;
        let _lock = WriterLock::acquire(self.root(), self.options.patience).map_err(|error| self.not_written(error))?;
        let recover = || {
            change::recover_former(&place)?;
            self.interrupted(place.disk)?.iter().try_for_each(|bank| change::recover(&place, bank))
        };
        recover().and_then(|()| work(place)).map_err(|error| self.denied(error))
    }

    fn made(&self) -> Result<Place<'_>, BankError> {
        let opened = self.place.made();
        let disk = opened.map_err(|error| self.not_written(io_error(format!("open {}", self.place()), error)))?;
        Ok(Place { disk, root: self.root(), options: &self.options })
    }

    /// Returns the banks whose last writer did not finish, or is about to.
    fn interrupted(&self, disk: &dyn Disk) -> Result<Vec<BankName>, BankError> {
        let entries = disk.folder("").map_err(|error| refused(&self.place(), error))?;
        Ok(entries.iter().filter_map(|entry| change::bank_waiting_in(&entry.name)).collect())
    }

    fn denied(&self, error: BankError) -> BankError {
        match error {
            BankError { trouble: Trouble::Store(store), bank, key, scope } => {
                BankError { bank, key, scope, ..self.not_written(*store) }
            }
            other => other,
        }
    }

    /// Looks for damage, once what the last writer left is seen to.
    pub(crate) fn check(&self) -> Result<Vec<Damage>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        // Where nothing may be written, it is looked at as it is.
        self.write_alone(|place| repair::check(place.disk, None)).or_else(|_| repair::check(disk, None))
    }

    fn not_written(&self, error: StoreError) -> BankError {
        file::not_written(&self.place(), error)
    }
}

impl BankStore for BankFolder {
    fn folder(&self) -> String {
        self.place()
    }

    fn has(&self, name: &BankName) -> Result<bool, BankError> {
        let Some(disk) = self.disk()? else { return Ok(false) };
        // What is there and cannot be read, such as a symlink, is one: whoever opens it is told.
        Ok(file::find(disk, name.as_str()).map_or(true, |found| found.is_some()))
    }

    fn banks(&self) -> Result<Vec<BankSummary>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        let entries = disk.folder("").map_err(|error| refused(&self.place(), error))?;
        let mut names: BTreeMap<BankName, bool> = BTreeMap::new();
        for entry in &entries {
            let Some(name) = Kind::name_in(&entry.name).and_then(|(name, _)| name.parse().ok()) else { continue };
            *names.entry(name).or_default() |= entry.kind == EntryKind::Other;
        }
        let summary = |(name, is_odd): (BankName, bool)| match file::find(disk, name.as_str()) {
            Ok(Some((_, signature))) => Some(BankSummary { name, size_bytes: signature.size }),
            // It was deleted in the meantime.
            Ok(None) if !is_odd => None,
            // Whoever opens it is told, as of a symlink.
            Ok(None) | Err(_) => Some(BankSummary { name, size_bytes: 0 }),
        };
        Ok(names.into_iter().filter_map(summary).collect())
    }

    fn bank(&self, name: &BankName) -> Result<Option<Bank>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(None) };
        let Some(file) = file::read(disk, name.as_str())? else { return Ok(None) };
        let layout = file.layout()?;
        Ok(Some(file.bank(name, &layout)))
    }

    fn entry(&self, name: &BankName, key: &Key) -> Result<Found, BankError> {
        let Some(disk) = self.disk()? else { return Ok(Found::NoBank) };
        let told = |why: String| damaged(&Kind::Plain.path(name.as_str()), &format!("the entry '{key}' {why}"));
        if let Some((path, signature)) = file::find(disk, name.as_str())? {
            let is_large = index::WORTHWHILE <= usize::try_from(signature.size).unwrap_or(usize::MAX)
                || path == Kind::Packed.path(name.as_str());
            if is_large && let Some((text, item)) = index::entry(disk, &path, &signature, key) {
                let written_at = chrono::DateTime::from_timestamp_nanos(signature.modified_ns);
                return Ok(Found::Entry(Box::new(entry(&text, &item, written_at).map_err(told)?)));
            }
        }
        let Some(file) = file::read(disk, name.as_str())? else { return Ok(Found::NoBank) };
        let layout = file.layout()?;
        if index::WORTHWHILE <= file.text.len() {
            index::keep(disk, self.root(), &file, &layout);
        }
        let Some(item) = layout.items.iter().find(|item| item.key == key.as_str()) else { return Ok(Found::NoKey) };
        Ok(Found::Entry(Box::new(entry(&file.text, item, file.written_at()).map_err(told)?)))
    }

    fn document(&self, name: &BankName, now: DateTime<Utc>) -> Result<Option<String>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(None) };
        let Some(file) = file::read(disk, name.as_str())? else { return Ok(None) };
        let layout = file.layout()?;
        let written_at = file.written_at();
        // Only what has a time to live is read, and only to know whether it is over.
        let has_expired = |item: &&Item| {
            let lives_on = item.ttl.as_ref().is_none_or(|ttl| &file.text[ttl.clone()] == "null");
            !lives_on && entry(&file.text, item, written_at).is_ok_and(|entry| entry.is_expired(now))
        };
        let gone = layout.items.iter().filter(has_expired).map(|item| ItemEdit::Remove(item.key.clone()));
        let edits = edit::removals(&file.text, &layout, &gone.collect::<Vec<_>>());
        Ok(Some(if edits.is_empty() { file.text } else { edit::apply(&file.text, &edits) }))
    }

    fn change(
        &self,
        name: &BankName,
        operation: &BankOperation,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<Changed, BankError> {
        self.write(name, |place| Work { place, name, operation }.change(decide))
    }

    fn history(&self) -> Result<Vec<BankRecord>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        // What was not carried out is not told of. Where nothing can be written, it is told as it is.
        if change::is_interrupted(disk, FORMER_WAITING)? {
            let _ = self.write_alone(|_| Ok(()));
        }
        for bank in self.interrupted(disk)? {
            let _ = self.write(&bank, |_| Ok(()));
        }
        trash::records(disk)
    }

    fn undo(&self, undone: &OperationId, operation: &BankOperation) -> Result<BankRecord, BankError> {
        let found = self.disk()?.map(|disk| undo::find(disk, undone)).transpose()?;
        match found {
            Some(record) => self.write(&record.bank, |place| undo::undo(place, undone, operation)),
            None => Err(StoreError::OperationNotFound { wanted: format!("no operation is called {undone}") }.into()),
        }
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
        if self.disk()?.is_none() {
            Ok((0, 0))
        } else {
            self.write_alone(|place| {
                months::purge(place.disk, trash::FOLDER, before).map_err(|error| refused(trash::FOLDER, error))
            })
        }
    }

    fn repair(&self, name: Option<&BankName>, repairs: Repairs, operation: &BankOperation) -> Result<Vec<Damage>, BankError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        match repairs {
            Repairs::None => repair::check(disk, name),
            Repairs::All => self.write_alone(|place| repair::repair(place, name, operation)),
        }
    }
}
