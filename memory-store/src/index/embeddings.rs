//! Finds documents without vectors, and stores vectors.

use std::collections::HashSet;
use std::path::Path;

use memory_core::{ContentHash, MemoryId, StoreError, TextVector};
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::error::IndexError;
use super::filter::ACCEPTED;
use super::memory_index::MemoryIndex;
use super::schema::{id_bytes, row_count, row_id, write};
use super::vectors::{DocumentVector, ModelVectors};

impl MemoryIndex {
    /// Returns the documents without a vector of the model `identity` for their current text, newest first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn without_vectors(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        self.query("find missing vectors", |_, opened| {
            let texts = text_hashes(&opened.connection)?;
            let Some(vectors) = ModelVectors::open_existing(&opened.place, identity)? else {
                return Ok(texts.into_iter().map(|(.., id)| id).collect());
            };
            let documents = texts.iter().map(|(key, text, _)| (*key, *text));
            let missing: HashSet<i64> = vectors.missing(documents).map(|(key, _)| key).collect();
            Ok(texts
                .into_iter()
                .filter(|(key, ..)| missing.contains(key))
                .map(|(.., id)| id)
                .collect())
        })
    }

    /// Returns the number of documents without a vector of the model `identity`, from totals alone.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn count_without_vectors(&self, identity: &str) -> Result<u64, StoreError> {
        self.query("count missing vectors", |_, opened| {
            let sql = format!("SELECT coalesce(sum(documents), 0) FROM counts WHERE {ACCEPTED}");
            let documents: u64 = opened
                .connection
                .prepare_cached(&sql)?
                .query_row((), |row| row_count(row, 0))?;
            let vectors = ModelVectors::open_existing(&opened.place, identity)?;
            let count = vectors.map_or(0, |vectors| vectors.count() as u64);
            Ok(documents.saturating_sub(count))
        })
    }

    /// Returns whether vectors of the model `identity`, or of any model if `None`, exist, readable or not.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        self.query("find vectors", |_, opened| {
            Ok(ModelVectors::exist(&opened.place, identity))
        })
    }

    /// Stores vectors of the model `identity`, and returns their number.
    ///
    /// Only vectors of documents that still have these texts are stored.
    ///
    /// # Errors
    /// If a vector is invalid for this model, or cannot be stored.
    pub(crate) fn store_vectors(
        &self,
        identity: &str,
        embedded: &[TextVector],
    ) -> Result<u64, StoreError> {
        let first = embedded.iter().find_map(|own| own.vectors.first());
        let Some(dimensions) = first.map(Vec::len) else {
            return Ok(0);
        };
        self.modify("store vectors", |_, opened| {
            let place = opened.place.clone();
            // A rebuild of the index moves the vectors under the same write lock.
            write(&mut opened.connection, |transaction| {
                let mut rows = Vec::with_capacity(embedded.len());
                for TextVector { id, text, vectors } in embedded {
                    let current =
                        current_text(transaction, id)?.filter(|(_, current)| current == text);
                    rows.extend(current.map(|(key, _)| DocumentVector {
                        key,
                        text: *text,
                        vectors,
                    }));
                }
                let mut vectors = ModelVectors::open(&place, identity, dimensions)?;
                vectors.put(&rows)?;
                vectors.compact()?;
                Ok(rows.len() as u64)
            })
        })
    }
}

/// Returns keys, hashes of the embedded texts and ids of all documents except proposals, newest first.
pub(super) fn text_hashes(
    connection: &Connection,
) -> Result<Vec<(i64, ContentHash, MemoryId)>, IndexError> {
    let sql = format!(
        "SELECT key, embedded_hash, id FROM documents WHERE id NOT NULL AND {ACCEPTED} ORDER BY created_at DESC, id"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get(0)?,
            ContentHash::from(row.get::<_, [u8; 32]>(1)?),
            MemoryId::from(row_id(row, 2)?),
        ))
    };
    Ok(select.query_map((), read)?.collect::<Result<_, _>>()?)
}

/// Returns the key of a document and the hash of its embedded text, unless it is a proposal.
fn current_text(
    connection: &Connection,
    id: &MemoryId,
) -> Result<Option<(i64, ContentHash)>, IndexError> {
    let sql = format!("SELECT key, embedded_hash FROM documents WHERE id = ? AND {ACCEPTED}");
    let mut select = connection.prepare_cached(&sql)?;
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, ContentHash::from(row.get::<_, [u8; 32]>(1)?)));
    Ok(select.query_row([id_bytes(id)], read).optional()?)
}

/// Returns the hashes of the embedded texts of documents. Keys without a document are omitted.
pub(super) fn text_hashes_of(
    connection: &Connection,
    keys: impl Iterator<Item = i64>,
) -> Result<Vec<(i64, ContentHash)>, IndexError> {
    let mut select =
        connection.prepare_cached("SELECT embedded_hash FROM documents WHERE key = ?")?;
    let mut texts = Vec::new();
    for key in keys {
        let text = select
            .query_row([key], |row| row.get::<_, [u8; 32]>(0))
            .optional()?;
        texts.extend(text.map(|text| (key, ContentHash::from(text))));
    }
    Ok(texts)
}

/// Removes the vectors of documents, of every model, from the disk. Vectors that cannot be read are all deleted.
///
/// The caller must hold the write lock of the tables.
pub(super) fn remove_vectors(
    transaction: &Transaction<'_>,
    keys: &[i64],
) -> Result<(), IndexError> {
    let place = transaction.path().and_then(|path| Path::new(path).parent());
    let Some(place) = place.filter(|_| !keys.is_empty()) else {
        return Ok(());
    };
    for mut vectors in ModelVectors::open_all_or_delete(place)? {
        vectors.remove(keys)?;
        vectors.compact()?;
    }
    Ok(())
}
