//! Undoes an operation on a bank.

use memory_core::bank::{BankError, BankErrorKind, BankRecord};
use memory_core::json::{JsonError, JsonText};
use memory_core::{Operation, OperationId, Recorded};

use super::change::{BankSnapshot, BankWriter};
use super::edit::{BankEdit, ItemEdit, SchemaEdit};
use super::file::{self, BankFile, damaged_error};
use super::folder::WritableBankFolder;
use super::trash::{self, BankFileLine, BankPayload, EntryLine};
use crate::disk::Disk;
use crate::oplog::{find_undoable, hash_bytes};

/// Returns the operation `undone` with its record, if it can be undone.
pub(super) fn find(
    disk: &dyn Disk,
    undone: &OperationId,
) -> Result<(Recorded<BankPayload>, BankRecord), BankError> {
    find_undoable(trash::log(disk).operations()?, undone)
}

/// Undoes the operation `undone`. The caller holds the lock of its bank.
pub(super) fn undo(
    place: WritableBankFolder<'_>,
    undone: &OperationId,
    operation: &Operation,
) -> Result<BankRecord, BankError> {
    let (line, record) = find(place.disk, undone)?;
    let work = BankWriter {
        place,
        name: &record.subject.bank,
        operation,
    };
    let done = match &line.subject.file {
        Some(whole) => work.restore_file(whole, undone),
        None => work.restore_entries(&line.subject, undone),
    };
    match done {
        Ok(true) => Ok(record),
        Ok(false) => Err(BankError::new(BankErrorKind::ChangedSince)
            .with_bank(record.subject.bank.as_str(), None)),
        Err(error) => Err(error.with_bank(record.subject.bank.as_str(), None)),
    }
}

impl BankWriter<'_> {
    /// Restores a file that was deleted or replaced, or deletes one that an undo restored.
    ///
    /// Returns `false` if the bank has changed since the operation.
    fn restore_file(&self, whole: &BankFileLine, undone: &OperationId) -> Result<bool, BankError> {
        let current = file::find(self.place.disk, self.name.as_str())?;
        let current = current
            .map(|(path, _)| file::read_bytes(self.place.disk, &path).map(|bytes| (path, bytes)))
            .transpose()?;
        let is_as_left = match (&current, &whole.after) {
            (None, None) => true,
            (Some((_, bytes)), Some(after)) => hash_bytes(bytes) == *after,
            _ => false,
        };
        if !is_as_left {
            return Ok(false);
        }
        let Some(trash) = &whole.trash else {
            return self.remove(Some(undone));
        };
        if self
            .place
            .disk
            .stat(trash)
            .map_err(file::read_error(trash))?
            .is_none()
        {
            return Err(file::damaged_error(
                trash,
                "it is missing, so the bank cannot be restored",
            ));
        }
        let former = file::read_bytes(self.place.disk, trash)?;
        let mut line = BankFileLine {
            path: whole.path.clone(),
            trash: None,
            after: Some(hash_bytes(&former)),
        };
        if let Some((path, _)) = &current {
            line.trash = Some(self.copy_to_trash(path)?);
        }
        let own = BankPayload {
            file: Some(line),
            ..BankPayload::new(self.name)
        };
        let seen = current
            .zip(file::find(self.place.disk, self.name.as_str())?)
            .map(|((path, bytes), (_, signature))| BankFile::from_bytes(path, signature, bytes));
        self.replace(
            own,
            Some(undone),
            seen.as_ref(),
            Some(trash),
            &whole.path,
            &former,
        )
    }

    /// Restores entries. Returns `false` if they have changed since the operation.
    fn restore_entries(&self, line: &BankPayload, undone: &OperationId) -> Result<bool, BankError> {
        let Some(former) = BankSnapshot::read(self)? else {
            return Ok(false);
        };
        if !is_unchanged_since(&former, line) {
            return Ok(false);
        }
        let left = line
            .entries
            .iter()
            .filter(|entry| entry.after.is_some())
            .count();
        if line.made && left == former.layout.items.len() {
            return self.remove(Some(undone));
        }
        let edit = |entry: &EntryLine| match &entry.before {
            Some(text) => ItemEdit::PutText(entry.key.clone(), text.clone(), entry.follows.clone()),
            None => ItemEdit::Remove(entry.key.clone()),
        };
        let schema = match &line.schema {
            Some(schema) => SchemaEdit::from_option(self.parse_schema(schema.before.as_deref())?),
            None => SchemaEdit::Keep,
        };
        let edit = BankEdit {
            items: line.entries.iter().map(edit).collect(),
            schema,
        };
        self.apply_edit(
            Some(former),
            &edit,
            BankPayload::new(self.name),
            Some(undone),
        )
    }

    fn parse_schema(&self, text: Option<&str>) -> Result<Option<JsonText>, BankError> {
        let schema = text
            .filter(|text| *text != "null")
            .map(str::parse)
            .transpose();
        schema.map_err(|why: JsonError| {
            damaged_error(
                self.name.as_str(),
                &format!("its previous schema is invalid: {why}"),
            )
        })
    }
}

/// Returns whether the parts that an operation changed are still in the state after the operation.
fn is_unchanged_since(former: &BankSnapshot, line: &BankPayload) -> bool {
    let BankSnapshot { file, layout } = former;
    let hash = |key: &str| {
        let item = layout.items.iter().find(|item| item.key == key)?;
        Some(hash_bytes(file.text[item.entry.clone()].as_bytes()))
    };
    let schema = layout
        .meta
        .as_ref()
        .and_then(|meta| meta.schema.clone())
        .map_or("null", |range| &file.text[range]);
    line.entries
        .iter()
        .all(|entry| hash(&entry.key) == entry.after)
        && line
            .schema
            .as_ref()
            .is_none_or(|line| line.after.as_deref().unwrap_or("null") == schema)
}
