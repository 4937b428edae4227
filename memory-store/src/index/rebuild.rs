//! Builds the index from the files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use memory_core::{MemoryId, RecordedChange};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use super::embeddings::text_hashes;
use super::error::IndexError;
use super::file_reader::{FileReadResult, read_files};
use super::memory_index::MemoryIndex;
use super::row::DocumentRow;
use super::scan;
use super::scan::FolderSums;
use super::schema::{self, IndexMeta, checkpoint, row_id};
use super::text::{self, FullText, TextDocument, TextWriter};
use super::update::{assign_claimed_id, insert};
use super::vectors::ModelVectors;
use crate::disk::{FileStat, now_ns, parent_folder};
use crate::journal::journal;

/// The reason for a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RebuildReason {
    /// The user or another component requests it.
    Asked,
    /// There is no index yet, or it has another version.
    Incomplete,
    /// The full text of this epoch is damaged.
    Damaged {
        /// The damaged epoch.
        epoch: i64,
    },
}

/// Rebuilds the index from the files, unless the reason no longer exists.
///
/// Another process may have rebuilt it before. The rebuild is one transaction. Until it commits, queries see the previous index, or wait if
/// there was no index.
pub(super) fn rebuild(
    index: &MemoryIndex,
    connection: &mut Connection,
    place: &Path,
    reason: RebuildReason,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), IndexError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_complete = schema::is_complete(&transaction)?;
    let is_needed = match reason {
        RebuildReason::Asked => true,
        RebuildReason::Incomplete => !is_complete,
        RebuildReason::Damaged { epoch } => {
            !is_complete || IndexMeta::read(&transaction)?.epoch == epoch
        }
    };
    if !is_needed {
        return Ok(());
    }
    let kept = if is_complete {
        PreservedData::read(&transaction)?
    } else {
        PreservedData::default()
    };
    let begun = now_ns();
    // An index that was built under a wrong clock may have the last number.
    let epoch = kept.epoch.checked_add(1).map_or(1, |next| begun.max(next));
    let built = fill(index, &transaction, place, epoch, &kept, progress).and_then(|()| {
        transaction.execute(
            "UPDATE meta SET journal = ?, checked_ns = ?",
            params![kept.journal, begun],
        )?;
        // Vectors that cannot be moved are computed again.
        let _ = reassign_vectors(&transaction, place);
        // As opposed to `commit`, a failure does not end the transaction.
        Ok(transaction.execute_batch("COMMIT")?)
    });
    if let Err(error) = built {
        let error = error.or_full_disk(place);
        // No attempt may leave its files on a full disk. Until the end of the transaction, no other process builds an index.
        let _ = fs::remove_dir_all(text::epoch_folder(place, epoch));
        return Err(error);
    }
    drop(transaction);
    checkpoint(connection);
    remove_old_epochs(place, epoch);
    Ok(())
}

/// Creates the tables and the full text of `epoch`, and adds all documents.
fn fill(
    index: &MemoryIndex,
    transaction: &Transaction<'_>,
    place: &Path,
    epoch: i64,
    kept: &PreservedData,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), IndexError> {
    schema::create(transaction, epoch, kept.last_key)?;
    let text = FullText::create(place, epoch, index.lock_timeout)?;
    let mut writer = text.bulk_writer()?;
    let mut build = IndexRebuild::new(transaction, &mut writer, kept.last_key);
    build.run(index, progress)?;
    let IndexRebuild {
        handles,
        folders,
        documents,
        lengths,
        contested,
        ..
    } = build;
    insert_handles(transaction, handles)?;
    insert_folders(transaction, &folders)?;
    contested
        .iter()
        .try_for_each(|claimed| assign_claimed_id(transaction, claimed))?;
    kept.write(transaction)?;
    let sql = "UPDATE meta SET documents = ?, length = ?, characters = ?";
    transaction.execute(sql, params![documents, lengths[0], lengths[1]])?;
    writer.commit_in_one_segment(0)
}

/// Removes the content of deleted documents from the database file and its log. Queries of other processes may run.
pub(super) fn erase_deleted(connection: &Connection) -> Result<(), IndexError> {
    connection.execute_batch("VACUUM")?;
    checkpoint(connection);
    Ok(())
}

/// Assigns the vectors to the documents that have their texts now.
///
/// No other process changes vectors during the call, because this requires the write lock of the tables.
fn reassign_vectors(transaction: &Transaction<'_>, place: &Path) -> Result<(), IndexError> {
    for mut vectors in ModelVectors::open_all_or_delete(place)? {
        let texts = text_hashes(transaction)?;
        vectors.rekey(texts.into_iter().map(|(key, text, _)| (key, text)))?;
    }
    Ok(())
}

/// The part of the index that cannot be derived from the files of the memories.
#[derive(Debug, Default)]
struct PreservedData {
    epoch: i64,
    last_key: i64,
    journal: Option<String>,
    accesses: Vec<(Uuid, i64)>,
}

impl PreservedData {
    fn read(transaction: &Transaction<'_>) -> Result<Self, IndexError> {
        let meta = IndexMeta::read(transaction)?;
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'documents'";
        let last_key = transaction.query_row(sql, (), |row| row.get(0))?;
        let mut accesses = transaction
            .prepare("SELECT id, accesses FROM documents WHERE accesses > 0 AND id NOT NULL")?;
        let accesses = accesses
            .query_map((), |row| Ok((row_id(row, 0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(Self {
            epoch: meta.epoch,
            last_key,
            journal: meta.journal,
            accesses,
        })
    }

    fn write(&self, transaction: &Transaction<'_>) -> Result<(), IndexError> {
        let mut update = transaction.prepare("UPDATE documents SET accesses = ? WHERE id = ?")?;
        for (id, accesses) in &self.accesses {
            update.execute(params![accesses, id.into_bytes()])?;
        }
        Ok(())
    }
}

/// The state of a rebuild.
struct IndexRebuild<'b> {
    transaction: &'b Transaction<'b>,
    writer: &'b mut TextWriter,
    ids: HashSet<MemoryId>,
    contested: HashSet<MemoryId>,
    handles: Vec<(i64, i64)>,
    folders: BTreeMap<String, FolderSums>,
    documents: i64,
    lengths: [i64; 2],
    last_key: i64,
}

impl<'b> IndexRebuild<'b> {
    fn new(transaction: &'b Transaction<'b>, writer: &'b mut TextWriter, last_key: i64) -> Self {
        Self {
            transaction,
            writer,
            ids: HashSet::new(),
            contested: HashSet::new(),
            handles: Vec::new(),
            folders: BTreeMap::new(),
            documents: 0,
            lengths: [0, 0],
            last_key,
        }
    }

    fn run(
        &mut self,
        index: &MemoryIndex,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), IndexError> {
        let (mut paths, mut refused) = (Vec::new(), Vec::new());
        for folder in scan::walk(&index.root)? {
            for file in &folder.files {
                let path = format!("{}/{}", folder.path, file.name());
                if file.regular {
                    paths.push(path);
                } else {
                    refused.push((path, file.signature));
                }
            }
            // Files can be added during the rebuild: only the next refresh may mark the folder as verified.
            self.folders.insert(folder.path, FolderSums::default());
        }
        // Keys follow the order of creation, so that messages of a conversation have keys in their order.
        sort_by_creation(index, &mut paths);
        let total = paths.len() as u64;
        let mut done = 0;
        read_files(index.disk.as_ref(), &paths, &mut |reading| {
            match reading {
                FileReadResult::Row(row) => self.add(&row)?,
                FileReadResult::Refused(path, signature) => {
                    self.add_unreadable(&path, &signature)?;
                }
                FileReadResult::Gone(_) => {}
            }
            done += 1;
            progress(done, total);
            Ok(())
        })?;
        refused
            .iter()
            .try_for_each(|(path, signature)| self.add_unreadable(path, signature))
    }

    fn add(&mut self, row: &DocumentRow) -> Result<(), IndexError> {
        let id = self.ids.insert(row.claimed).then_some(row.claimed);
        if id.is_none() {
            self.contested.insert(row.claimed);
        }
        self.last_key += 1;
        let key = insert(self.transaction, row, Some(self.last_key), id.as_ref(), 0)?;
        self.handles
            .extend(row.handles.iter().map(|bits| (*bits, key)));
        self.writer.add(&TextDocument {
            key,
            id: Uuid::from(row.claimed).as_u128(),
            words: &row.words,
            filters: &row.filters,
            facts: row.facts.to_bits(),
            created_at: row.created_at,
            holds_until: row.holds_until,
        })?;
        self.add_to_sums(&row.path, &row.signature);
        self.documents += 1;
        self.lengths[0] += i64::from(row.lengths[0]);
        self.lengths[1] += i64::from(row.lengths[1]);
        Ok(())
    }

    fn add_unreadable(&mut self, path: &str, signature: &FileStat) -> Result<(), IndexError> {
        self.add_to_sums(path, signature);
        let (size, inode) = (signature.size.cast_signed(), signature.inode.cast_signed());
        let row = params![
            path,
            size,
            signature.modified_ns,
            signature.changed_ns,
            inode
        ];
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO unreadable VALUES(?, ?, ?, ?, ?)")?
            .execute(row)?;
        Ok(())
    }

    fn add_to_sums(&mut self, path: &str, signature: &FileStat) {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        self.folders
            .entry(parent_folder(path).to_owned())
            .or_default()
            .add(name.as_bytes(), signature);
    }
}

/// Sorts files by their creation in the journal; other files follow, sorted by path.
fn sort_by_creation(index: &MemoryIndex, paths: &mut [String]) {
    if paths.is_empty() {
        return;
    }
    // The journal is read backwards, from the current name of a file to its earlier names.
    let (mut made, mut called) = (
        HashMap::<String, i64>::new(),
        HashMap::<String, String>::new(),
    );
    let mut place = 0;
    let operations = journal(index.disk.as_ref())
        .operations()
        .into_iter()
        .flatten();
    for record in operations.filter_map(Result::ok) {
        for RecordedChange { before, after, .. } in record.subject.changes.into_iter().rev() {
            let Some(after) = after else { continue };
            let name = called.remove(&after.path).unwrap_or(after.path);
            match before {
                None => {
                    place -= 1;
                    made.insert(name, place);
                }
                Some(before) if before.path != name => drop(called.insert(before.path, name)),
                Some(_) => {}
            }
        }
    }
    paths.sort_by_cached_key(|path| (made.get(path).copied().unwrap_or(i64::MAX), path.clone()));
}

/// Inserts the handles in key order, which is several times as fast as in arbitrary order.
fn insert_handles(
    transaction: &Transaction<'_>,
    mut handles: Vec<(i64, i64)>,
) -> Result<(), IndexError> {
    handles.sort_unstable();
    let mut insert = transaction.prepare("INSERT OR IGNORE INTO handles VALUES(?, ?)")?;
    for (bits, key) in handles {
        insert.execute([bits, key])?;
    }
    Ok(())
}

fn insert_folders(
    transaction: &Transaction<'_>,
    folders: &BTreeMap<String, FolderSums>,
) -> Result<(), IndexError> {
    let mut insert = transaction.prepare("INSERT INTO folders VALUES(?, NULL, ?, ?)")?;
    for (path, sums) in folders {
        insert.execute(params![
            path,
            sums.names.cast_signed(),
            sums.signatures.cast_signed()
        ])?;
    }
    Ok(())
}

/// Removes the full text of earlier epochs; errors are left to the next rebuild.
fn remove_old_epochs(place: &Path, epoch: i64) {
    let Ok(entries) = fs::read_dir(place.join(text::FOLDER)) else {
        return;
    };
    for entry in entries.flatten() {
        let is_former = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
            .is_some_and(|other: i64| other != epoch);
        if is_former {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
