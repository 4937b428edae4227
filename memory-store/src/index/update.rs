//! Inserts, changes and removes rows.

use std::collections::{BTreeMap, BTreeSet};

use memory_core::{ContentHash, MemoryId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use uuid::Uuid;

use super::embeddings::remove_vectors;
use super::error::IndexError;
use super::file_reader::{FileReadResult, read_files};
use super::flush::flush_if_due;
use super::lookup_key::LookupKey;
use super::memory_index::MemoryIndex;
use super::row::{DocumentRow, PROPOSAL, stem};
use super::scan::FolderSums;
use super::schema::{
    IndexMeta, decode_numbers, encode_numbers, id_bytes, row_count, row_id, row_stat, write,
};
use crate::access_key::name_and_readers;
use crate::disk::{FileStat, parent_folder};

/// A set of changes to the rows, within one transaction. [`IndexUpdate::finish`] must follow.
///
/// Every change that affects the full text adds a pending row.
#[derive(Debug)]
pub(super) struct IndexUpdate<'t> {
    transaction: &'t Transaction<'t>,
    folders: BTreeMap<String, FolderSums>,
    documents: i64,
    lengths: [i64; 2],
    claims: BTreeSet<MemoryId>,
    /// The documents that lost the text of their vectors, or became proposals.
    without_text: Vec<i64>,
    /// Handles to write, as hash and document.
    ///
    /// They are written in order, so that each page is changed once.
    handles: Vec<[i64; 2]>,
}

/// Whether the full text may already contain a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextPresence {
    ToNobody,
    ToFullText,
}

/// The previous state of a row.
struct PreviousRow {
    key: i64,
    claimed: MemoryId,
    path: String,
    signature: FileStat,
    stamp: ContentHash,
    embedded_hash: ContentHash,
    words: i64,
    lengths: [i64; 2],
    handles: Vec<i64>,
    accesses: u64,
}

impl<'t> IndexUpdate<'t> {
    /// Starts an empty set of changes.
    pub(super) fn new(transaction: &'t Transaction<'t>) -> Self {
        Self {
            transaction,
            folders: BTreeMap::new(),
            documents: 0,
            lengths: [0, 0],
            claims: BTreeSet::new(),
            without_text: Vec::new(),
            handles: Vec::new(),
        }
    }

    /// Inserts or changes the row of a file. `former_path` is the previous path of a moved document.
    pub(super) fn upsert(
        &mut self,
        row: &DocumentRow,
        former_path: Option<&str>,
    ) -> Result<(), IndexError> {
        self.remove_unreadable(&row.path)?;
        let former = match (self.row_at(&row.path)?, former_path) {
            (Some(former), _) => Some(former),
            (None, Some(path)) => self.row_at(path)?,
            (None, None) => None,
        };
        let Some(former) = former else {
            return self.insert(row);
        };
        self.change_sums(&former.path, |sums, name| {
            sums.subtract(name, &former.signature);
        });
        self.change_sums(&row.path, |sums, name| sums.add(name, &row.signature));
        if former.stamp == row.stamp && former.path == row.path {
            return self.update_stat(former.key, row);
        }
        self.change(&former, row)
    }

    /// Removes the row of the file at `path`, if there is one.
    pub(super) fn remove(&mut self, path: &str) -> Result<(), IndexError> {
        self.remove_unreadable(path)?;
        let Some(former) = self.row_at(path)? else {
            return Ok(());
        };
        self.change_sums(path, |sums, name| sums.subtract(name, &former.signature));
        self.drop_handles(&former)?;
        self.transaction
            .prepare_cached("DELETE FROM documents WHERE key = ?")?
            .execute([former.key])?;
        self.add_pending(former.key, None, TextPresence::ToFullText)?;
        self.without_text.push(former.key);
        self.documents -= 1;
        for (length, gone) in self.lengths.iter_mut().zip(former.lengths) {
            *length -= gone;
        }
        self.claims.insert(former.claimed);
        Ok(())
    }

    /// Records that the file at `path` cannot be read, so that it is read again only after a change.
    pub(super) fn mark_unreadable(
        &mut self,
        path: &str,
        signature: &FileStat,
    ) -> Result<(), IndexError> {
        self.remove(path)?;
        self.change_sums(path, |sums, name| sums.add(name, signature));
        let (size, inode) = (signature.size.cast_signed(), signature.inode.cast_signed());
        let row = params![
            path,
            size,
            signature.modified_ns,
            signature.changed_ns,
            inode
        ];
        self.transaction
            .prepare_cached("INSERT INTO unreadable VALUES(?, ?, ?, ?, ?)")?
            .execute(row)?;
        Ok(())
    }

    /// Writes the collected totals, and assigns every affected id to one document.
    pub(super) fn finish(mut self) -> Result<(), IndexError> {
        self.write_handles()?;
        let transaction = self.transaction;
        let sql = "UPDATE meta SET documents = documents + ?, length = length + ?, characters = characters + ?, \
                   revision = revision + 1";
        transaction.prepare_cached(sql)?.execute(params![
            self.documents,
            self.lengths[0],
            self.lengths[1]
        ])?;
        for (path, change) in self.folders {
            let sql = "SELECT names, signatures FROM folders WHERE path = ?";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            let (names, signatures) = transaction
                .prepare_cached(sql)?
                .query_row([&path], read)
                .optional()?
                .unwrap_or_default();
            let names = names.wrapping_add(change.names.cast_signed());
            let signatures = signatures.wrapping_add(change.signatures.cast_signed());
            // The recorded time of the folder no longer matches the sums; the next refresh lists the folder once.
            let sql = "INSERT OR REPLACE INTO folders VALUES(?, NULL, ?, ?)";
            transaction
                .prepare_cached(sql)?
                .execute(params![path, names, signatures])?;
        }
        self.claims
            .iter()
            .try_for_each(|claimed| assign_claimed_id(transaction, claimed))?;
        // If the transaction fails after this, the next one repeats it.
        remove_vectors(transaction, &self.without_text)
    }

    fn insert(&mut self, row: &DocumentRow) -> Result<(), IndexError> {
        let key = insert(self.transaction, row, None, None, 0)?;
        self.change_sums(&row.path, |sums, name| sums.add(name, &row.signature));
        self.add_handles(key, row);
        self.add_pending(key, Some(row), TextPresence::ToNobody)?;
        self.documents += 1;
        self.lengths[0] += i64::from(row.lengths[0]);
        self.lengths[1] += i64::from(row.lengths[1]);
        self.claims.insert(row.claimed);
        Ok(())
    }

    fn change(&mut self, former: &PreviousRow, row: &DocumentRow) -> Result<(), IndexError> {
        self.drop_handles(former)?;
        self.transaction
            .prepare_cached("DELETE FROM documents WHERE key = ?")?
            .execute([former.key])?;
        // Accesses that the file includes now are subtracted.
        let accesses = former.accesses.saturating_sub(row.access_count);
        insert(self.transaction, row, Some(former.key), None, accesses)?;
        self.add_handles(former.key, row);
        if former.words != row.words_hash() {
            self.add_pending(former.key, Some(row), TextPresence::ToFullText)?;
        }
        for ((sum, now), before) in self.lengths.iter_mut().zip(row.lengths).zip(former.lengths) {
            *sum += i64::from(now) - before;
        }
        if former.embedded_hash != row.embedded_hash || row.phase == PROPOSAL {
            self.without_text.push(former.key);
        }
        self.claims.extend([former.claimed, row.claimed]);
        Ok(())
    }

    /// Updates the signature of a file with unchanged content.
    fn update_stat(&self, key: i64, row: &DocumentRow) -> Result<(), IndexError> {
        let sql = "UPDATE documents SET size = ?, modified_ns = ?, changed_ns = ?, inode = ?, settled = ? WHERE key = ?";
        let FileStat {
            size,
            modified_ns,
            changed_ns,
            inode,
            ..
        } = row.signature;
        let values = params![
            size.cast_signed(),
            modified_ns,
            changed_ns,
            inode.cast_signed(),
            row.settled,
            key
        ];
        self.transaction.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn row_at(&self, path: &str) -> Result<Option<PreviousRow>, IndexError> {
        let sql = "SELECT key, claimed, path, size, modified_ns, changed_ns, inode, stamp, words, length, characters, handles, \
                   access_count + accesses, embedded_hash FROM documents WHERE path = ?";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(PreviousRow {
                key: row.get(0)?,
                claimed: MemoryId::from(row_id(row, 1)?),
                path: row.get(2)?,
                signature: row_stat(row, 3)?,
                stamp: ContentHash::from(row.get::<_, [u8; 32]>(7)?),
                words: row.get(8)?,
                lengths: [row.get(9)?, row.get(10)?],
                handles: decode_numbers(&row.get::<_, Vec<u8>>(11)?),
                accesses: row_count(row, 12)?,
                embedded_hash: ContentHash::from(row.get::<_, [u8; 32]>(13)?),
            })
        };
        Ok(self
            .transaction
            .prepare_cached(sql)?
            .query_row([path], read)
            .optional()?)
    }

    fn change_sums(&mut self, path: &str, change: impl FnOnce(&mut FolderSums, &[u8])) {
        let (folder, name) = (
            parent_folder(path),
            path.rsplit_once('/').map_or(path, |(_, name)| name),
        );
        if !self.folders.contains_key(folder) {
            self.folders
                .insert(folder.to_owned(), FolderSums::default());
        }
        if let Some(sums) = self.folders.get_mut(folder) {
            change(sums, name.as_bytes());
        }
    }

    fn remove_unreadable(&mut self, path: &str) -> Result<(), IndexError> {
        let sql =
            "DELETE FROM unreadable WHERE path = ? RETURNING size, modified_ns, changed_ns, inode";
        let read = |row: &rusqlite::Row<'_>| row_stat(row, 0);
        if let Some(signature) = self
            .transaction
            .prepare_cached(sql)?
            .query_row([path], read)
            .optional()?
        {
            self.change_sums(path, |sums, name| sums.subtract(name, &signature));
        }
        Ok(())
    }

    fn add_handles(&mut self, key: i64, row: &DocumentRow) {
        self.handles
            .extend(row.handles.iter().map(|bits| [*bits, key]));
    }

    fn write_handles(&mut self) -> Result<(), IndexError> {
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO handles VALUES(?, ?)")?;
        self.handles.sort_unstable();
        for handle in self.handles.drain(..) {
            insert.execute(handle)?;
        }
        Ok(())
    }

    fn drop_handles(&mut self, former: &PreviousRow) -> Result<(), IndexError> {
        self.write_handles()?;
        let mut delete = self
            .transaction
            .prepare_cached("DELETE FROM handles WHERE bits = ? AND document = ?")?;
        for bits in &former.handles {
            delete.execute([*bits, former.key])?;
        }
        Ok(())
    }

    fn add_pending(
        &self,
        key: i64,
        row: Option<&DocumentRow>,
        known: TextPresence,
    ) -> Result<(), IndexError> {
        let sql = "INSERT OR REPLACE INTO pending VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut insert = self.transaction.prepare_cached(sql)?;
        match row {
            None => insert.execute(params![
                key,
                true,
                [0_u8; 16].as_slice(),
                0,
                0,
                0,
                0,
                "",
                "",
                [0_u8; 0].as_slice(),
                0,
                false,
                ""
            ])?,
            Some(row) => insert.execute(params![
                key,
                false,
                id_bytes(&row.claimed),
                row.created_at,
                row.holds_until,
                row.lengths[0],
                row.lengths[1],
                row.words.text.0,
                row.words.characters.0,
                encode_numbers(&row.filters),
                row.facts.to_bits().cast_signed(),
                known == TextPresence::ToNobody,
                row.words.spelled.0,
            ])?,
        };
        Ok(())
    }
}

/// Inserts a row, with its id if it is assigned already, and returns its key.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    row: &DocumentRow,
    key: Option<i64>,
    id: Option<&MemoryId>,
    accesses: u64,
) -> Result<i64, IndexError> {
    let sql = "INSERT INTO documents VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![
        key,
        id.map(id_bytes),
        id_bytes(&row.claimed),
        row.path,
        row.signature.size.cast_signed(),
        row.signature.modified_ns,
        row.signature.changed_ns,
        row.signature.inode.cast_signed(),
        row.settled,
        row.stamp.as_bytes().as_slice(),
        row.content_hash.as_bytes().as_slice(),
        row.embedded_hash.as_bytes().as_slice(),
        row.phase,
        row.category,
        row.scope,
        row.source,
        row.created_at,
        row.updated_at,
        row.holds_until,
        row.version.cast_signed(),
        row.access_count.cast_signed(),
        accesses.cast_signed(),
        row.headline,
        row.damaged,
        row.words_hash(),
        row.lengths[0],
        row.lengths[1],
        encode_numbers(&row.handles),
        row.due,
        row.stage as i64,
        row.pinned,
        row.place,
    ])?;
    let key = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO tags VALUES(?, ?)")?;
    for tag in &row.tags {
        insert.execute(params![LookupKey::Tag(tag).bits(), tag])?;
    }
    Ok(key)
}

/// Assigns the id `claimed` to one of the files that name it.
///
/// In a replica, a file of a more private access key precedes others, so that nobody takes the id of a memory that they do not read. Then the
/// file with a name that ends in the short form of the id gets it, otherwise the first by path. The other files get an id derived from
/// their path.
pub(super) fn assign_claimed_id(
    transaction: &Transaction<'_>,
    claimed: &MemoryId,
) -> Result<(), IndexError> {
    let mut claimants = claimants(transaction, claimed)?;
    let ending = format!("-{}", claimed.short());
    claimants.sort_by_cached_key(|(_, path)| {
        let (stem, readers) = name_and_readers(stem(path));
        (readers, !stem.ends_with(&ending), path.clone())
    });
    for (key, _) in claimants.iter().skip(1) {
        set_id(transaction, *key, None)?;
    }
    for (rank, (key, path)) in claimants.iter().enumerate() {
        let id = if rank == 0 {
            *claimed
        } else {
            MemoryId::for_path(path)
        };
        let spare = MemoryId::for_path(&format!("{path}#{claimed}"));
        if !set_id(transaction, *key, Some(&id))? && !set_id(transaction, *key, Some(&spare))? {
            return Err(IndexError::Mismatch);
        }
    }
    Ok(())
}

/// Returns the keys and paths of the documents with files that name this id.
pub(super) fn claimants(
    connection: &Connection,
    claimed: &MemoryId,
) -> Result<Vec<(i64, String)>, IndexError> {
    let sql = "SELECT key, path FROM handles JOIN documents ON key = document WHERE bits = ? AND claimed = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = params![
        LookupKey::Claim(claimed).bits(),
        Uuid::from(*claimed).into_bytes()
    ];
    Ok(select
        .query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

/// Sets or clears the id of a document, and returns whether the id was free.
fn set_id(
    transaction: &Transaction<'_>,
    key: i64,
    id: Option<&MemoryId>,
) -> Result<bool, IndexError> {
    let mut update =
        transaction.prepare_cached("UPDATE OR IGNORE documents SET id = ? WHERE key = ?")?;
    Ok(update.execute(params![id.map(id_bytes), key])? == 1)
}

/// A change of a file.
#[derive(Debug)]
pub(crate) enum AppliedChange {
    /// The file was created, replaced or moved.
    Kept {
        /// The current path.
        path: String,
        /// The previous path, if the file was moved.
        former_path: Option<String>,
    },
    /// The file was removed.
    Removed {
        /// The previous path.
        path: String,
    },
}

impl AppliedChange {
    /// Returns the path of the file, unless it was removed.
    fn written_path(&self) -> Option<&str> {
        match self {
            Self::Kept { path, .. } => Some(path),
            Self::Removed { .. } => None,
        }
    }

    /// Returns the previous path of a removed file.
    fn removed_path(&self) -> Option<&str> {
        match self {
            Self::Kept { .. } => None,
            Self::Removed { path } => Some(path),
        }
    }
}

impl MemoryIndex {
    /// Updates the index after changes of the files, and stores the position in the journal.
    ///
    /// The call does not sync, and its cost does not depend on the number of files. No data is lost if it fails: the next refresh detects
    /// the changes.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub(crate) fn apply(
        &self,
        applied: &[AppliedChange],
        journal_mark: Option<&str>,
    ) -> Result<(), StoreError> {
        let paths: Vec<String> = applied
            .iter()
            .filter_map(AppliedChange::written_path)
            .map(str::to_owned)
            .collect();
        self.modify("write the index", |index, opened| {
            write(&mut opened.connection, |transaction| {
                let mut update = IndexUpdate::new(transaction);
                let mut left = applied.iter();
                read_files(index.disk.as_ref(), &paths, &mut |reading| {
                    for one in left.by_ref() {
                        match one {
                            AppliedChange::Removed { path } => update.remove(path)?,
                            AppliedChange::Kept { path, former_path } => {
                                // If another program has changed the file since, the next refresh updates the index.
                                if let FileReadResult::Row(row) = &reading {
                                    update.upsert(row, former_path.as_deref())?;
                                }
                                // The document has moved along, unless the new path had a document already.
                                let moved = former_path.as_deref().filter(|former| former != path);
                                return moved.map_or(Ok(()), |former| update.remove(former));
                            }
                        }
                    }
                    Ok(())
                })?;
                left.filter_map(AppliedChange::removed_path)
                    .try_for_each(|path| update.remove(path))?;
                update.finish()?;
                if let Some(mark) = journal_mark {
                    transaction
                        .prepare_cached("UPDATE meta SET journal = ?")?
                        .execute([mark])?;
                }
                Ok(())
            })?;
            flush_if_due(opened)
        })
    }

    /// Returns the journal position of the last [`MemoryIndex::apply`] that stored one.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn journal_mark(&self) -> Result<Option<String>, StoreError> {
        self.query("read the index", |_, opened| {
            Ok(IndexMeta::read(&opened.connection)?.journal)
        })
    }
}
