//! The index of the sessions of a history, with a document for each message.
//!
//! The file of a session takes the place of a folder, and its records that of the files in it: the record at byte 120 of `s1.jsonl` is the
//! document `s1.jsonl/000000000120`. In the record of such a folder, the sums are those of the file of the session, so that
//! an unchanged session is not read again.

use std::collections::HashMap;

use memory_core::{ContentHash, Progress, StoreError};
use rusqlite::{Connection, params};

use super::error::IndexError;
use super::flush::flush_if_due;
use super::memory_index::{MemoryIndex, OpenIndex};
use super::row::{DocumentRow, is_settled};
use super::scan::FolderSums;
use super::schema::write;
use super::update::IndexUpdate;
use crate::disk::{DirEntryKind, now_ns};
use crate::history::{is_session_file, read_messages};

/// Number of changed messages per transaction.
const MESSAGES_PER_TRANSACTION: usize = 2_000;

/// Changes of an index of sessions that are not written yet.
#[derive(Debug, Default)]
struct SessionUpdate {
    rows: Vec<DocumentRow>,
    gone: Vec<String>,
    /// The files that were read completely, with their sums.
    read: Vec<(String, FolderSums)>,
    /// The files that no longer exist.
    lost: Vec<String>,
}

impl MemoryIndex {
    /// Updates an index of sessions to the files in its folder, and returns the number of unreadable files.
    ///
    /// `progress` counts the bytes of changed files. The messages of an unreadable file stay in the index.
    ///
    /// # Errors
    /// If the folder cannot be listed, or the index cannot be read or written.
    pub(crate) fn refresh_sessions(
        &self,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64, StoreError> {
        self.query("find changed sessions", |index, opened| {
            let now = now_ns();
            let mut known = session_sums(&opened.connection)?;
            let mut changed = Vec::new();
            for entry in index.disk.list_folder("")? {
                let is_session = entry.kind == DirEntryKind::File && is_session_file(&entry.name);
                let Some(signature) = is_session
                    .then(|| index.disk.stat(&entry.name))
                    .transpose()?
                    .flatten()
                else {
                    continue;
                };
                let mut sums = FolderSums::default();
                sums.add(entry.name.as_bytes(), &signature);
                if known.remove(&entry.name) != Some(sums) {
                    changed.push((entry.name, signature, sums));
                }
            }
            let mut read = Progress {
                done: 0,
                total: Some(changed.iter().map(|(_, signature, _)| signature.size).sum()),
            };
            let mut update = SessionUpdate::default();
            let mut unreadable = 0;
            for (name, signature, sums) in changed {
                if index.read_session(opened, &name, &mut update)? {
                    // A file that may change without a new signature is read again by the next refresh.
                    let is_settled = is_settled(&signature, now);
                    let sums = Some(sums).filter(|_| is_settled).unwrap_or_default();
                    update.read.push((name, sums));
                } else {
                    unreadable += 1;
                }
                read.done += signature.size;
                progress(read);
            }
            for lost in known.into_keys() {
                update
                    .gone
                    .extend(indexed_messages(&opened.connection, &lost)?.into_keys());
                update.lost.push(lost);
            }
            update.write(opened)?;
            Ok(unreadable)
        })
    }

    /// Returns whether no session is in the index, as after a repair.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn has_no_sessions(&self) -> Result<bool, StoreError> {
        self.query("find indexed sessions", |_, opened| {
            let sql = "SELECT NOT EXISTS(SELECT 1 FROM folders)";
            Ok(opened.connection.query_row(sql, (), |row| row.get(0))?)
        })
    }

    /// Adds the differences between a session and its messages in the index to `update`, and writes full portions.
    ///
    /// Returns whether the file could be read.
    fn read_session(
        &self,
        opened: &mut OpenIndex,
        file: &str,
        update: &mut SessionUpdate,
    ) -> Result<bool, IndexError> {
        let mut known = indexed_messages(&opened.connection, file)?;
        let Ok(messages) = read_messages(self.disk.as_ref(), file) else {
            return Ok(false);
        };
        for message in messages {
            let Ok(message) = message else {
                return Ok(false);
            };
            if known.remove(&message.stored.path) == Some(message.stored.stamp.0) {
                continue;
            }
            update.rows.push(DocumentRow::of(&message, now_ns()));
            if MESSAGES_PER_TRANSACTION <= update.rows.len() {
                std::mem::take(update).write(opened)?;
            }
        }
        update.gone.extend(known.into_keys());
        Ok(true)
    }
}

impl SessionUpdate {
    fn write(self, opened: &mut OpenIndex) -> Result<(), IndexError> {
        if self.rows.is_empty() && self.read.is_empty() && self.lost.is_empty() {
            return Ok(());
        }
        write(&mut opened.connection, |transaction| {
            let mut update = IndexUpdate::new(transaction);
            self.gone.iter().try_for_each(|path| update.remove(path))?;
            self.rows
                .iter()
                .try_for_each(|row| update.upsert(row, None))?;
            update.finish()?;
            for (file, sums) in &self.read {
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO folders VALUES(?, NULL, ?, ?)")?
                    .execute(params![
                        file,
                        sums.names.cast_signed(),
                        sums.signatures.cast_signed()
                    ])?;
            }
            let mut delete = transaction.prepare_cached("DELETE FROM folders WHERE path = ?")?;
            for file in &self.lost {
                delete.execute([file])?;
            }
            Ok(())
        })?;
        flush_if_due(opened)
    }
}

/// Returns the sums of the files that were read.
fn session_sums(connection: &Connection) -> Result<HashMap<String, FolderSums>, IndexError> {
    let mut select = connection.prepare_cached("SELECT path, names, signatures FROM folders")?;
    let read = |row: &rusqlite::Row<'_>| {
        let sums = FolderSums {
            names: row.get::<_, i64>(1)?.cast_unsigned(),
            signatures: row.get::<_, i64>(2)?.cast_unsigned(),
        };
        Ok((row.get(0)?, sums))
    };
    Ok(select.query_map((), read)?.collect::<Result<_, _>>()?)
}

/// Returns the messages of a session in the index, with the hashes of their records.
fn indexed_messages(
    connection: &Connection,
    file: &str,
) -> Result<HashMap<String, ContentHash>, IndexError> {
    let sql = "SELECT path, stamp FROM documents WHERE ?1 < path AND path < ?2";
    let mut select = connection.prepare_cached(sql)?;
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, ContentHash::from(row.get::<_, [u8; 32]>(1)?)));
    // `0` is the character after `/`.
    Ok(select
        .query_map([format!("{file}/"), format!("{file}0")], read)?
        .collect::<Result<_, _>>()?)
}
