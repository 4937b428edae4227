//! Moves the pending rows into the full text.

use std::fs::File;
use std::io;
use std::path::Path;

use memory_core::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use uuid::Uuid;

use super::document_terms::{DocumentTerms, EncodedTerms};
use super::error::IndexError;
use super::memory_index::{MemoryIndex, OpenIndex};
use super::schema::{self, IndexMeta, checkpoint, decode_numbers, row_count, row_id};
use super::text::TextDocument;

/// Maximum number of pending rows before an automatic flush.
const MAX_PENDING: u64 = 256;

impl MemoryIndex {
    /// Moves the pending rows into the full text, and returns their number.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub(crate) fn flush(&self) -> Result<u64, StoreError> {
        self.modify("write the full-text index", |_, opened| {
            let waiting = count(&opened.connection)?;
            if 0 < waiting {
                flush(opened)?;
            }
            Ok(waiting)
        })
    }
}

/// Moves the pending rows into the full text if they exceed the limit.
pub(super) fn flush_if_due(opened: &mut OpenIndex) -> Result<(), IndexError> {
    if MAX_PENDING < count(&opened.connection)? {
        flush(opened)
    } else {
        Ok(())
    }
}

/// Returns the number of pending rows.
pub(super) fn count(connection: &Connection) -> Result<u64, IndexError> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM pending")?
        .query_row((), |row| row_count(row, 0))?)
}

/// Moves the pending rows into the full text.
///
/// The full text is committed first, with the next generation. After a crash between the two commits, the rows are still pending and
/// replace their copies in the full text. The next flush writes them again.
pub(super) fn flush(opened: &mut OpenIndex) -> Result<(), IndexError> {
    let place = opened.place.clone();
    let epoch = IndexMeta::read(&opened.connection)?.epoch;
    let (connection, text, _) = opened.text(epoch)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let meta = IndexMeta::read(&transaction)?;
    if meta.epoch != epoch || count(&transaction)? == 0 {
        // Another process has flushed them already.
        return Ok(());
    }
    let written = text.generation()?;
    if written < meta.generation {
        return Err(IndexError::Mismatch);
    }
    // The full text must not survive a crash that loses the rows of its keys.
    sync_write_ahead_log(&place)?;
    // After a crash between the two commits the full text contains the pending documents; otherwise it cannot contain the fresh ones.
    let is_even = written == meta.generation;
    let mut writer = text.writer()?;
    let mut select = transaction.prepare(
        "SELECT document, removed, id, created_at, holds_until, text, characters, filters, facts, fresh, spelled FROM pending",
    )?;
    let mut rows = select.query(())?;
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        if !is_even || !row.get::<_, bool>(9)? {
            writer.remove(key);
        }
        if row.get(1)? {
            continue;
        }
        writer.add(&TextDocument {
            key,
            id: Uuid::as_u128(&row_id(row, 2)?),
            created_at: row.get(3)?,
            holds_until: row.get(4)?,
            words: &DocumentTerms {
                text: EncodedTerms(row.get(5)?),
                characters: EncodedTerms(row.get(6)?),
                spelled: EncodedTerms(row.get(10)?),
            },
            filters: &decode_numbers(&row.get::<_, Vec<u8>>(7)?),
            facts: row.get::<_, i64>(8)?.cast_unsigned(),
        })?;
    }
    drop(rows);
    drop(select);
    let generation = written.max(meta.generation) + 1;
    writer.commit(generation)?;
    transaction.execute("DELETE FROM pending", ())?;
    transaction.execute("UPDATE meta SET generation = ?", [generation.cast_signed()])?;
    transaction.commit()?;
    checkpoint(connection);
    Ok(())
}

fn sync_write_ahead_log(place: &Path) -> io::Result<()> {
    // Windows syncs only files that are open for writing.
    match File::options()
        .read(true)
        .write(cfg!(windows))
        .open(place.join(format!("{}-wal", schema::FILE)))
    {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        log => log?.sync_data(),
    }
}
