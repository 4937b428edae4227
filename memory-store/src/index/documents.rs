//! Documents according to the index, and their current content.

use std::sync::Arc;
use std::thread;

use memory_core::{ContentHash, FileVersion, MemoryId, StoredMemory};
use rusqlite::{Connection, OptionalExtension, Row};

use super::error::IndexError;
use super::memory_index::MemoryIndex;
use super::schema::{id_bytes, row_count, row_id};

/// The columns of a [`IndexedDocument`].
pub(super) const COLUMNS: &str = "key, id, path, stamp, accesses, created_at";

/// A document according to the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedDocument {
    pub(super) key: i64,
    pub(super) id: MemoryId,
    pub(super) path: String,
    pub(super) stamp: FileVersion,
    /// Number of accesses that the file does not include yet.
    pub(super) accesses: u64,
    pub(super) created_at: i64,
}

/// Documents after reading their files.
#[derive(Debug)]
pub(super) struct LoadedDocuments<T> {
    /// The documents that match the index, with their current content.
    pub(super) fresh: Vec<(StoredMemory, T)>,
    /// The paths of the other documents.
    pub(super) stale: Vec<String>,
}

impl IndexedDocument {
    /// Reads a document from [`COLUMNS`].
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get(0)?,
            id: MemoryId::from(row_id(row, 1)?),
            path: row.get(2)?,
            stamp: FileVersion(ContentHash::from(row.get::<_, [u8; 32]>(3)?)),
            accesses: row_count(row, 4)?,
            created_at: row.get(5)?,
        })
    }

    /// Returns the document with this key.
    pub(super) fn by_key(connection: &Connection, key: i64) -> Result<Option<Self>, IndexError> {
        let sql = "SELECT key, id, path, stamp, accesses, created_at FROM documents WHERE key = ?";
        Ok(connection
            .prepare_cached(sql)?
            .query_row([key], Self::from_row)
            .optional()?)
    }

    /// Returns the document with this id.
    pub(super) fn by_id(
        connection: &Connection,
        id: &MemoryId,
    ) -> Result<Option<Self>, IndexError> {
        let sql = "SELECT key, id, path, stamp, accesses, created_at FROM documents WHERE id = ?";
        let id = id_bytes(id);
        Ok(connection
            .prepare_cached(sql)?
            .query_row([id], Self::from_row)
            .optional()?)
    }

    /// Returns the documents with a handle, oldest first.
    pub(super) fn by_handle(connection: &Connection, bits: i64) -> Result<Vec<Self>, IndexError> {
        // Sorted here: the setup of a sorter takes SQLite ten times as long as to find an empty result.
        let sql = "SELECT key, id, path, stamp, accesses, created_at FROM handles JOIN documents ON key = document \
                   WHERE bits = ? AND id NOT NULL";
        let mut select = connection.prepare_cached(sql)?;
        let mut documents = select
            .query_map([bits], Self::from_row)?
            .collect::<Result<Vec<_>, _>>()?;
        documents.sort_by_key(|document| (document.created_at, document.key));
        Ok(documents)
    }

    /// Sets the id of the document and the total of its accesses in the content of its file.
    pub(super) fn complete(&self, mut stored: StoredMemory) -> StoredMemory {
        stored.memory.id = self.id;
        stored.memory.access_count = stored.memory.access_count.saturating_add(self.accesses);
        stored
    }
}

/// Minimum number of files for a second thread; with fewer it costs more than it saves.
const MIN_FILES_FOR_THREAD: usize = 64;

impl MemoryIndex {
    /// Reads the file of each document, and separates changed documents.
    pub(super) fn load_documents<T: Sync>(
        &self,
        documents: Vec<T>,
        document: impl Fn(&T) -> &IndexedDocument + Sync,
    ) -> LoadedDocuments<T> {
        let read = |one: &T| {
            let known = document(one);
            let stored = self
                .kept
                .load(self.disk.as_ref(), &known.path)
                .ok()
                .flatten();
            let stored = stored.filter(|stored| stored.stamp == known.stamp);
            stored.map(|stored| known.complete(Arc::unwrap_or_clone(stored)))
        };
        let read_all = |documents: &[T]| documents.iter().map(read).collect::<Vec<_>>();
        let stored = if documents.len() < MIN_FILES_FOR_THREAD {
            read_all(&documents)
        } else {
            let (first, second) = documents.split_at(documents.len() / 2);
            thread::scope(|scope| {
                let helper = scope.spawn(|| read_all(second));
                let mut stored = read_all(first);
                stored.extend(helper.join().expect("reading files does not panic"));
                stored
            })
        };
        let mut freshened = LoadedDocuments {
            fresh: Vec::with_capacity(documents.len()),
            stale: Vec::new(),
        };
        for (one, stored) in documents.into_iter().zip(stored) {
            match stored {
                Some(stored) => freshened.fresh.push((stored, one)),
                None => freshened.stale.push(document(&one).path.clone()),
            }
        }
        freshened
    }
}
