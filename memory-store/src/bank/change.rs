//! Changes a bank atomically, also if the power fails.

use std::collections::HashSet;

use memory_core::bank::{
    Bank, BankChange, BankChangeResult, BankEntryChange, BankError, BankErrorKind, BankLimits,
    BankName,
};
use memory_core::secret::Checked;

use super::edit::{self, BankEdit, BankTextEdit, ItemEdit, SchemaEdit};
use super::file::{self, BankFile, BankFileFormat};
use super::folder::WritableBankFolder;
use super::layout::{BankLayout, BankLayoutError, parse_layout};
use super::trash::{self, BankFileLine, BankPayload, EntryLine, SchemaLine};
use super::{gzip, index};
use crate::disk::{Disk, stage_file};
use crate::error::io_error;
use crate::oplog::hash_bytes;
use memory_core::text::windows_name_problem;
use memory_core::{Operation, OperationId, Recorded};

/// The temporary file of versions up to 0.1, which lock the whole folder.
pub(super) const FORMER_WAITING: &str = ".next.tmp";

/// Returns the path of the temporary file of a bank.
///
/// There is one per bank, because each bank has at most one writer at a time.
pub(super) fn temp_path(bank: &BankName) -> String {
    format!(".next-{bank}.tmp")
}

/// Returns the bank that a temporary file belongs to.
pub(super) fn bank_of_temp_path(path: &str) -> Option<BankName> {
    path.strip_prefix(".next-")?
        .strip_suffix(".tmp")?
        .parse()
        .ok()
}

/// Number of attempts to apply a change.
///
/// An attempt fails if a program that takes no lock changes the bank at the same time.
const MAX_ATTEMPTS: usize = 3;

/// Returns whether the temporary file at `path` exists.
///
/// The last writer leaves it if it is interrupted.
pub(super) fn is_interrupted(disk: &dyn Disk, path: &str) -> Result<bool, BankError> {
    let found = disk
        .stat(path)
        .map_err(|error| BankError::from(io_error(format!("check {path}"), error)))?;
    Ok(found.is_some())
}

/// Records that the interrupted operation of the last writer of a bank was not executed.
///
/// The caller holds the lock of the bank.
pub(super) fn recover(place: &WritableBankFolder<'_>, bank: &BankName) -> Result<(), BankError> {
    recover_at(place, &temp_path(bank), |sum| {
        trash::last_with_checksum(place.disk, bank, sum)
    })
}

/// Does the same as [`recover`] for a writer of a version up to 0.1.
///
/// The caller holds the lock of the folder.
pub(super) fn recover_legacy(place: &WritableBankFolder<'_>) -> Result<(), BankError> {
    recover_at(place, FORMER_WAITING, |sum| {
        let last = trash::log(place.disk).last()?;
        Ok(last.and_then(|(line, is_aborted)| {
            (!is_aborted && line.subject.sum == Some(sum)).then_some(line)
        }))
    })
}

fn recover_at(
    place: &WritableBankFolder<'_>,
    path: &str,
    line_with_sum: impl FnOnce(u32) -> Result<Option<Recorded<BankPayload>>, BankError>,
) -> Result<(), BankError> {
    let disk = place.disk;
    let told = |error| BankError::from(io_error(format!("check {path}"), error));
    if !is_interrupted(disk, path)? {
        return Ok(());
    }
    let waiting = disk.read_part(path, 0, file::MAX_FILE).map_err(told)?;
    if let Some(line) = line_with_sum(crc32fast::hash(&waiting))? {
        let was_taken_away = match line
            .subject
            .file
            .as_ref()
            .filter(|file| file.after.is_none())
        {
            Some(file) => disk.stat(&file.path).map_err(told)?.is_none(),
            None => false,
        };
        if !was_taken_away {
            return trash::file_operation(place, path.to_owned()).abort(&line.operation);
        }
    }
    disk.remove(path).map_err(told)
}

/// A change of one bank. The caller holds the lock of the bank.
#[derive(Debug, Clone, Copy)]
pub(super) struct BankWriter<'a> {
    pub place: WritableBankFolder<'a>,
    pub name: &'a BankName,
    pub operation: &'a Operation,
}

/// The state of a bank before a change.
#[derive(Debug)]
pub(super) struct BankSnapshot {
    pub file: BankFile,
    pub layout: BankLayout,
}

impl BankSnapshot {
    /// Reads the current state of the bank, or returns `None` if the bank does not exist.
    pub(super) fn read(work: &BankWriter<'_>) -> Result<Option<Self>, BankError> {
        let Some(file) = file::read(work.place.disk, work.name.as_str())? else {
            return Ok(None);
        };
        Ok(Some(Self {
            layout: file.parse_layout()?,
            file,
        }))
    }
}

impl BankWriter<'_> {
    /// Applies the change that `decide` returns.
    pub(super) fn change(
        &self,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<BankChangeResult, BankError> {
        for _ in 0..MAX_ATTEMPTS {
            let former = match BankSnapshot::read(self) {
                Ok(former) => former,
                // A bank that cannot be parsed can still be deleted as a file.
                Err(error) => match decide(None) {
                    Ok(BankChange::Remove) => {
                        return self.remove(None).map(|_| BankChangeResult::Yes);
                    }
                    _ => return Err(error),
                },
            };
            let bank = former
                .as_ref()
                .map(|former| former.file.to_bank(self.name, &former.layout));
            let edit = match decide(bank.as_ref())? {
                BankChange::Nothing => return Ok(BankChangeResult::No),
                BankChange::Remove if former.is_none() => return Ok(BankChangeResult::No),
                BankChange::Remove => return self.remove(None).map(|_| BankChangeResult::Yes),
                BankChange::Entries(changes) => BankEdit {
                    items: changes.into_iter().map(ItemEdit::from).collect(),
                    ..BankEdit::default()
                },
                BankChange::EntriesAndSchema(changes, schema) => BankEdit {
                    items: changes.into_iter().map(ItemEdit::from).collect(),
                    schema: SchemaEdit::Set(schema.into_inner()),
                },
                BankChange::Schema(schema) => BankEdit {
                    schema: SchemaEdit::from_option(schema.map(Checked::into_inner)),
                    ..BankEdit::default()
                },
            };
            if self.apply_edit(former, &edit, BankPayload::new(self.name), None)? {
                return Ok(BankChangeResult::Yes);
            }
        }
        Err(BankError::new(BankErrorKind::Conflict))
    }

    /// Writes `line` to the log and applies the edit.
    ///
    /// Returns `false`, and leaves the bank unchanged, if the bank differs from `former`.
    pub(super) fn apply_edit(
        &self,
        former: Option<BankSnapshot>,
        edit: &BankEdit,
        mut payload: BankPayload,
        undoes: Option<&OperationId>,
    ) -> Result<bool, BankError> {
        let damaged =
            |why: BankLayoutError| file::damaged_error(self.name.as_str(), &why.to_string());
        payload.made = former.is_none();
        let (text, before, former) = if let Some(BankSnapshot { file, layout }) = former {
            (file.text.clone(), layout, Some(file))
        } else {
            let text = edit::empty_bank_text(self.operation.at);
            let layout = parse_layout(&text).map_err(damaged)?;
            (text, layout, None)
        };
        let planned = edit::plan_edits(&text, &before, edit, self.operation.at);
        let next = edit::apply_edits(&text, &planned);
        let after = parse_layout(&next).map_err(damaged)?;
        check_limits(
            &self.place.options.limits,
            (text.len(), before.items.len()),
            (next.len(), after.items.len()),
        )?;

        let kind = self.file_format(next.len());
        let bytes = encode_file(kind, former.as_ref(), &planned, &next, &after)
            .map_err(|error| BankError::from(io_error(format!("compress {}", self.name), error)))?;
        payload.entries = entry_lines(&text, &before, &next, &after, &edit.items);
        payload.schema = edit.schema.new_text().map(|after| SchemaLine {
            before: before
                .meta
                .and_then(|meta| meta.schema)
                .map(|range| text[range].to_owned()),
            after: Some(after.to_owned()),
        });
        let path = kind.path(self.name.as_str());
        if let Some(why) = windows_name_problem(&path).filter(|_| former.is_none()) {
            return Err(BankError::new(BankErrorKind::InvalidBankName { why })
                .with_bank(self.name.as_str(), None));
        }
        let rights = former.as_ref().map(|former| former.path.as_str());
        if !self.replace(payload, undoes, former.as_ref(), rights, &path, &bytes)? {
            return Ok(false);
        }
        self.update_index(&path, bytes, next, &after);
        Ok(true)
    }

    /// Updates the index of entries for the new file.
    pub(super) fn update_index(
        &self,
        path: &str,
        bytes: Vec<u8>,
        text: String,
        layout: &BankLayout,
    ) {
        let Ok(Some(signature)) = self.place.disk.stat(path) else {
            return;
        };
        let packed = gzip::is_gzip(&bytes).then_some(bytes);
        let members = packed.as_deref().map_or_else(Vec::new, gzip::members);
        let file = BankFile {
            path: path.to_owned(),
            signature,
            text,
            packed,
            members,
        };
        index::update(self.place.disk, &file, layout);
    }

    /// Returns the file format for a text of this length.
    pub(super) fn file_format(&self, length: usize) -> BankFileFormat {
        let is_large = self
            .place
            .options
            .compress_above
            .is_some_and(|above| above < length);
        if is_large {
            BankFileFormat::Packed
        } else {
            BankFileFormat::Plain
        }
    }

    /// Replaces the file of the bank, with a line in the log.
    ///
    /// It writes the new file to the temporary path, appends `line` to the log, and renames the file to `path`. The file gets the
    /// owner and mode of the file at `rights`. Returns `false`, and leaves the bank unchanged, if the bank differs from `former`.
    pub(super) fn replace(
        &self,
        mut payload: BankPayload,
        undoes: Option<&OperationId>,
        former: Option<&BankFile>,
        rights: Option<&str>,
        path: &str,
        bytes: &[u8],
    ) -> Result<bool, BankError> {
        let disk = self.place.disk;
        let told = |error| BankError::from(io_error(format!("write {path}"), error));
        payload.sum = Some(crc32fast::hash(bytes));
        let file = trash::file_operation(&self.place, temp_path(self.name));
        stage_file(disk, &file.waiting, bytes, rights).map_err(told)?;
        let is_placed = file.commit(&Recorded::new(self.operation, payload, undoes), || {
            let is_as_seen = self.is_unchanged(former)?;
            if is_as_seen {
                disk.rename(&file.waiting, path).map_err(told)?;
            }
            Ok(is_as_seen)
        })?;
        if !is_placed {
            return Ok(false);
        }
        self.delete_other_files(path, former.map(|former| former.path.as_str()))?;
        disk.sync_folder("").map_err(told)?;
        Ok(true)
    }

    /// Deletes all files of the bank except the one at `path`.
    ///
    /// The content of the file at `former` is part of the new file; every other file is first copied to the trash.
    fn delete_other_files(&self, path: &str, former: Option<&str>) -> Result<(), BankError> {
        for other in [BankFileFormat::Plain, BankFileFormat::Packed]
            .map(|kind| kind.path(self.name.as_str()))
        {
            let told = |error| BankError::from(io_error(format!("delete {other}"), error));
            let is_file = self
                .place
                .disk
                .stat(&other)
                .map_err(told)?
                .is_some_and(|found| !found.is_folder);
            if other == path || !is_file {
                continue;
            }
            if former != Some(other.as_str()) {
                self.copy_to_trash(&other)?;
            }
            self.place.disk.remove(&other).map_err(told)?;
        }
        Ok(())
    }

    fn is_unchanged(&self, former: Option<&BankFile>) -> Result<bool, BankError> {
        let Some((path, _)) = file::find(self.place.disk, self.name.as_str())? else {
            return Ok(former.is_none());
        };
        let Some(former) = former.filter(|former| former.path == path) else {
            return Ok(false);
        };
        Ok(file::read_bytes(self.place.disk, &path)? == former.bytes())
    }

    /// Moves the file of the bank to the trash; returns `false` if there is none.
    pub(super) fn remove(&self, undoes: Option<&OperationId>) -> Result<bool, BankError> {
        let Some((path, _)) = file::find(self.place.disk, self.name.as_str())? else {
            return Ok(false);
        };
        let file = BankFileLine {
            path: path.clone(),
            trash: Some(self.copy_to_trash(&path)?),
            after: None,
        };
        let payload = BankPayload {
            file: Some(file),
            ..BankPayload::new(self.name)
        };
        self.delete_trashed_file(&path, payload, undoes)?;
        Ok(true)
    }

    /// Copies or links a file to the trash, and returns its path there.
    pub(super) fn copy_to_trash(&self, path: &str) -> Result<String, BankError> {
        let folder = trash::log(self.place.disk).trash_folder(self.operation);
        let trashed = format!("{folder}/{path}");
        let kept = self
            .place
            .disk
            .hard_link(path, &trashed)
            .and_then(|()| self.place.disk.sync_folder(&folder));
        kept.map_err(|error| {
            BankError::from(io_error(format!("copy {path} to the trash"), error))
        })?;
        Ok(trashed)
    }

    /// Writes `line` to the log, and deletes a file that is in the trash already.
    fn delete_trashed_file(
        &self,
        path: &str,
        mut payload: BankPayload,
        undoes: Option<&OperationId>,
    ) -> Result<(), BankError> {
        let disk = self.place.disk;
        let told = |error| BankError::from(io_error(format!("delete {path}"), error));
        // No file replaces the deleted one, so this temporary file marks the operation as possibly incomplete.
        let mark = self.operation.id.as_str().as_bytes();
        payload.sum = Some(crc32fast::hash(mark));
        let file = trash::file_operation(&self.place, temp_path(self.name));
        stage_file(disk, &file.waiting, mark, None).map_err(told)?;
        let record = Recorded::new(self.operation, payload, undoes);
        file.commit(&record, || disk.remove(path).map(|()| true).map_err(told))?;
        self.delete_other_files(path, None)?;
        disk.remove(&file.waiting)
            .and_then(|()| disk.sync_folder(""))
            .map_err(told)
    }
}

impl From<BankEntryChange> for ItemEdit {
    fn from(change: BankEntryChange) -> Self {
        match change {
            BankEntryChange::Put(key, entry) => {
                Self::Put(key.as_str().to_owned(), entry.into_inner())
            }
            BankEntryChange::Remove(key) => Self::Remove(key.as_str().to_owned()),
        }
    }
}

/// Returns the bytes of the file of a bank with the text `next`, which `edits` of `former` result in, if there is one.
pub(super) fn encode_file(
    kind: BankFileFormat,
    former: Option<&BankFile>,
    edits: &[BankTextEdit],
    next: &str,
    layout: &BankLayout,
) -> std::io::Result<Vec<u8>> {
    match (kind, former) {
        (BankFileFormat::Plain, _) => Ok(next.as_bytes().to_vec()),
        (BankFileFormat::Packed, Some(former)) if !former.members.is_empty() => gzip::recompress(
            former.bytes(),
            &former.members,
            next.as_bytes(),
            edits,
            &split_offsets(layout),
        ),
        (BankFileFormat::Packed, _) => gzip::compress(next.as_bytes(), &split_offsets(layout)),
    }
}

/// Returns the offsets at which a packed text may be split: before each entry.
fn split_offsets(layout: &BankLayout) -> Vec<usize> {
    layout.items.iter().map(|item| item.range.start).collect()
}

/// Checks the size and the number of keys of a bank.
///
/// A bank that is already too large may still shrink.
fn check_limits(
    limits: &BankLimits,
    before: (usize, usize),
    after: (usize, usize),
) -> Result<(), BankError> {
    let refuse = |what: String| Err(BankError::new(BankErrorKind::TooLarge { what }));
    if limits.keys < after.1 && before.1 < after.1 {
        return refuse(format!(
            "The bank would have {} keys; the limit is {}",
            after.1, limits.keys
        ));
    }
    if limits.bank_bytes < after.0 && before.0 < after.0 {
        return refuse(format!(
            "The bank would have {} bytes; the limit is {}",
            after.0, limits.bank_bytes
        ));
    }
    Ok(())
}

fn entry_lines(
    text: &str,
    before: &BankLayout,
    next: &str,
    after: &BankLayout,
    edits: &[ItemEdit],
) -> Vec<EntryLine> {
    let key = |edit: &ItemEdit| match edit {
        ItemEdit::Put(key, _) | ItemEdit::PutText(key, ..) | ItemEdit::Remove(key) => key.clone(),
    };
    let places = |layout: &BankLayout| -> std::collections::HashMap<String, usize> {
        layout
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| (item.key.clone(), index))
            .collect()
    };
    let (was, is) = (places(before), places(after));
    let staying: HashSet<&str> = after.items.iter().map(|item| item.key.as_str()).collect();
    let line = |edit: &ItemEdit| {
        let key = key(edit);
        let former = was.get(&key).copied();
        let follows = former.and_then(|index| {
            before.items[..index]
                .iter()
                .rev()
                .find(|item| staying.contains(item.key.as_str()))
        });
        EntryLine {
            before: former.map(|index| text[before.items[index].entry.clone()].to_owned()),
            after: is
                .get(&key)
                .map(|&index| hash_bytes(next[after.items[index].entry.clone()].as_bytes())),
            follows: follows.map(|item| item.key.clone()),
            key,
        }
    };
    edits.iter().map(line).collect()
}
