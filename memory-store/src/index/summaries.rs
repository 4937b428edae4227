//! Summaries of all documents from the index, without access to their files.

use chrono::{DateTime, Utc};
use memory_core::{
    CachedAnalysis, Category, ContentHash, HomeSection, MemoryId, MemorySummary, Phase, Scope,
    StoreError,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::IndexError;
use super::filter::ACCEPTED;
use super::memory_index::MemoryIndex;
use super::row::{NEVER, SUPERSEDED};
use super::schema::{IndexMeta, id_bytes, row_count, row_id, write};
use crate::markdown::path_category;

const KNOWN: &str = "the index writes down only what it has read";

impl MemoryIndex {
    /// Returns the outlines of all documents except proposals, sorted by id.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        self.query("list memories", |_, opened| {
            let sql = format!(
                "SELECT id, phase, category, scope, created_at, updated_at, holds_until, access_count + accesses, damaged, \
                 embedded_hash, bytes, path, due NOT NULL \
                 FROM documents LEFT JOIN impressions ON document = key AND text = embedded_hash \
                 WHERE id NOT NULL AND {ACCEPTED} ORDER BY id"
            );
            let mut select = opened.connection.prepare_cached(&sql)?;
            Ok(select.query_map((), read_summary)?.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the scope of each of `ids`; `None` for an id that does not exist.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        self.query("look up memories", |_, opened| {
            let mut select = opened
                .connection
                .prepare_cached("SELECT scope FROM documents WHERE id = ?")?;
            let mut scope = |id: &MemoryId| {
                select
                    .query_row([id_bytes(id)], |row| row.get::<_, String>(0))
                    .optional()
            };
            let scopes = ids
                .iter()
                .map(|id| Ok(scope(id)?.map(|scope| scope.parse().expect(KNOWN))));
            scopes.collect()
        })
    }

    /// Stores impressions of documents that still have the analyzed texts.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub(crate) fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError> {
        self.modify("store cached analyses", |_, opened| {
            write(&mut opened.connection, |transaction| {
                let sql = "INSERT OR REPLACE INTO impressions SELECT key, embedded_hash, ? FROM documents \
                           WHERE id = ? AND embedded_hash = ?";
                let mut insert = transaction.prepare_cached(sql)?;
                for CachedAnalysis { id, text, bytes } in impressions {
                    insert.execute(params![bytes, id_bytes(id), text.as_bytes()])?;
                }
                remove_orphaned_analyses(transaction)
            })
        })
    }
}

/// Removes the impressions of deleted documents if there are more impressions than documents.
fn remove_orphaned_analyses(connection: &Connection) -> Result<(), IndexError> {
    let kept = connection.query_row("SELECT count(*) FROM impressions", (), |row| {
        row_count(row, 0)
    })?;
    if IndexMeta::read(connection)?.documents < kept {
        connection.execute(
            "DELETE FROM impressions WHERE document NOT IN (SELECT key FROM documents)",
            (),
        )?;
    }
    Ok(())
}

fn read_summary(row: &Row<'_>) -> rusqlite::Result<MemorySummary> {
    let until: i64 = row.get(6)?;
    let path = row.get_ref(11)?.as_str()?;
    Ok(MemorySummary {
        id: MemoryId::from(row_id(row, 0)?),
        phase: row.get_ref(1)?.as_str()?.parse::<Phase>().expect(KNOWN),
        category: row.get_ref(2)?.as_str()?.parse::<Category>().expect(KNOWN),
        scope: row.get_ref(3)?.as_str()?.parse::<Scope>().expect(KNOWN),
        created_at: DateTime::from_timestamp_nanos(row.get(4)?),
        updated_at: DateTime::from_timestamp_nanos(row.get(5)?),
        is_superseded: until == SUPERSEDED,
        ends_at: Some(until)
            .filter(|until| ![NEVER, SUPERSEDED].contains(until))
            .map(DateTime::<Utc>::from_timestamp_nanos),
        access_count: row_count(row, 7)?,
        is_damaged: row.get(8)?,
        text: ContentHash::from(row.get::<_, [u8; 32]>(9)?),
        impression: row.get(10)?,
        is_foreign: path_category(path).is_none(),
        place: HomeSection::of(path),
        is_reminder: row.get(12)?,
    })
}
