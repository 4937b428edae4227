//! Removing for good what was before.

use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};
use memory_core::bank::BankError;

use super::file::refused;
use super::trash::FOLDER;
use crate::disk::{Disk, EntryKind};
use crate::error::io_error;

/// Removes the months of the trash that ended before `before`; returns how many files and bytes that was.
pub(super) fn purge(disk: &dyn Disk, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
    let (mut files, mut bytes) = (0, 0);
    for entry in disk.folder(FOLDER).map_err(|error| refused(FOLDER, error))? {
        let path = format!("{FOLDER}/{}", entry.name);
        match entry.kind {
            EntryKind::File if entry.name.strip_suffix(".jsonl").and_then(end_of).is_some_and(|end| end <= before) => {
                remove(disk, &path, &mut files, &mut bytes)?;
            }
            EntryKind::Folder if end_of(&entry.name).is_some_and(|end| end <= before) => {
                empty(disk, &path, &mut files, &mut bytes)?;
            }
            EntryKind::File | EntryKind::Folder | EntryKind::Other => {}
        }
    }
    if files != 0 {
        disk.sync_folder(FOLDER).map_err(|error| BankError::from(io_error(format!("purge {FOLDER}"), error)))?;
    }
    Ok((files, bytes))
}

/// Returns the first moment after a month such as `2026-05`.
fn end_of(month: &str) -> Option<DateTime<Utc>> {
    let first = NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").ok()?;
    let next = first.checked_add_months(Months::new(1)).filter(|next| next.day() == 1)?;
    Some(next.and_hms_opt(0, 0, 0)?.and_utc())
}

fn empty(disk: &dyn Disk, folder: &str, files: &mut u64, bytes: &mut u64) -> Result<(), BankError> {
    for entry in disk.folder(folder).map_err(|error| refused(folder, error))? {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            EntryKind::File => remove(disk, &path, files, bytes)?,
            EntryKind::Folder => empty(disk, &path, files, bytes)?,
            EntryKind::Other => {}
        }
    }
    disk.remove_folder(folder).map_err(|error| BankError::from(io_error(format!("remove {folder}"), error)))
}

fn remove(disk: &dyn Disk, path: &str, files: &mut u64, bytes: &mut u64) -> Result<(), BankError> {
    let size = disk.signature(path).map_err(|error| refused(path, error))?.map_or(0, |found| found.size);
    disk.remove(path).map_err(|error| BankError::from(io_error(format!("remove {path}"), error)))?;
    *files += 1;
    *bytes += size;
    Ok(())
}
