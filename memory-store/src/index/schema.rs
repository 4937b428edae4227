//! The tables, and how their database file is opened.

use std::io;
use std::path::Path;
use std::time::Duration;

use memory_core::{MemoryId, UnsupportedDrive};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use uuid::Uuid;

use super::error::{IndexError, is_locked};
use crate::disk::FileStat;

/// Version of the tables, of the row content, of the tokenization and of the classification of standing sentences.
///
/// Another version causes a rebuild.
pub(super) const VERSION: i64 = 26;

/// The name of the database file.
pub(super) const FILE: &str = "documents.db";

/// The lock timeout. Another process may be rebuilding the whole index.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_mins(2);

/// The time after which a lock that is not granted may be one that the drive does not support.
const LOCK_CHECK_DELAY: Duration = Duration::from_millis(200);

/// The settings of a connection. The last one reads the file.
const SETTINGS: &str = "
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA cache_size = -8000;
PRAGMA user_version;
";

/// The tables, indexes and triggers.
///
/// `counts` has the number of documents with an id, by attributes that lists filter by. Triggers maintain it. `tags` has the names of all
/// tags that were ever indexed. `revision` counts the transactions that changed a row of `documents`. The columns that it depends on
/// are never updated, except for the id. The numbers in the index `ending` and in the triggers are [`super::row::NEVER`] and
/// [`super::row::SUPERSEDED`].
const TABLES: &str = "
CREATE TABLE meta(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  length INTEGER NOT NULL,
  characters INTEGER NOT NULL,
  checked_ns INTEGER NOT NULL,
  journal TEXT,
  revision INTEGER NOT NULL
);
CREATE TABLE documents(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB UNIQUE,
  claimed BLOB NOT NULL,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  stamp BLOB NOT NULL,
  content_hash BLOB NOT NULL,
  embedded_hash BLOB NOT NULL,
  phase TEXT NOT NULL,
  category TEXT NOT NULL,
  scope TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  holds_until INTEGER NOT NULL,
  version INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  accesses INTEGER NOT NULL,
  headline TEXT NOT NULL,
  damaged INTEGER NOT NULL,
  words INTEGER NOT NULL,
  length INTEGER NOT NULL,
  characters INTEGER NOT NULL,
  handles BLOB NOT NULL,
  due INTEGER,
  stage INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  place TEXT NOT NULL
);
CREATE INDEX by_created ON documents(created_at DESC, id, holds_until, phase, category, scope, source, place);
CREATE INDEX by_use ON documents(
  category, scope, pinned DESC, access_count + accesses DESC, updated_at DESC, id, holds_until
);
CREATE INDEX turns ON documents(scope, created_at, key, source, length, characters);
CREATE INDEX sources ON documents(scope, source);
CREATE INDEX unsettled ON documents(key) WHERE settled = 0;
CREATE INDEX reminders ON documents(stage, due, id) WHERE due NOT NULL;
CREATE INDEX damaged ON documents(key) WHERE damaged = 1;
CREATE INDEX accessed ON documents(key) WHERE accesses > 0;
CREATE INDEX ending ON documents(holds_until, scope, category, phase, place, id)
  WHERE id NOT NULL AND holds_until < 9223372036854775807;
CREATE TABLE counts(
  scope TEXT NOT NULL,
  category TEXT NOT NULL,
  phase TEXT NOT NULL,
  place TEXT NOT NULL,
  superseded INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  PRIMARY KEY (scope, category, phase, place, superseded)
) WITHOUT ROWID;
CREATE TRIGGER count_inserted AFTER INSERT ON documents WHEN new.id NOT NULL BEGIN
  INSERT OR IGNORE INTO counts
    VALUES(new.scope, new.category, new.phase, new.place, new.holds_until = -9223372036854775808, 0);
  UPDATE counts SET documents = documents + 1
    WHERE scope = new.scope AND category = new.category AND phase = new.phase AND place = new.place
      AND superseded = (new.holds_until = -9223372036854775808);
END;
CREATE TRIGGER count_deleted AFTER DELETE ON documents WHEN old.id NOT NULL BEGIN
  UPDATE counts SET documents = documents - 1
    WHERE scope = old.scope AND category = old.category AND phase = old.phase AND place = old.place
      AND superseded = (old.holds_until = -9223372036854775808);
END;
CREATE TRIGGER count_named AFTER UPDATE OF id ON documents WHEN old.id IS NULL AND new.id NOT NULL BEGIN
  INSERT OR IGNORE INTO counts
    VALUES(new.scope, new.category, new.phase, new.place, new.holds_until = -9223372036854775808, 0);
  UPDATE counts SET documents = documents + 1
    WHERE scope = new.scope AND category = new.category AND phase = new.phase AND place = new.place
      AND superseded = (new.holds_until = -9223372036854775808);
END;
CREATE TRIGGER count_unnamed AFTER UPDATE OF id ON documents WHEN old.id NOT NULL AND new.id IS NULL BEGIN
  UPDATE counts SET documents = documents - 1
    WHERE scope = old.scope AND category = old.category AND phase = old.phase AND place = old.place
      AND superseded = (old.holds_until = -9223372036854775808);
END;
CREATE TABLE handles(
  bits INTEGER NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (bits, document)
) WITHOUT ROWID;
CREATE TABLE tags(
  bits INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE TABLE impressions(
  document INTEGER PRIMARY KEY,
  text BLOB NOT NULL,
  bytes BLOB NOT NULL
);
CREATE TABLE unreadable(
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE folders(
  path TEXT PRIMARY KEY,
  modified_ns INTEGER,
  names INTEGER NOT NULL,
  signatures INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE pending(
  document INTEGER PRIMARY KEY,
  removed INTEGER NOT NULL,
  id BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  holds_until INTEGER NOT NULL,
  length INTEGER NOT NULL,
  characters_length INTEGER NOT NULL,
  text TEXT NOT NULL,
  characters TEXT NOT NULL,
  filters BLOB NOT NULL,
  facts INTEGER NOT NULL,
  fresh INTEGER NOT NULL,
  spelled TEXT NOT NULL
);
";

/// Opens the database file, regardless of its content, and creates it if it is missing.
pub(super) fn connect(place: &Path, lock_timeout: Duration) -> Result<Connection, IndexError> {
    create_file(place)?;
    let connection = Connection::open(place.join(FILE))?;
    connection.busy_timeout(lock_timeout.min(LOCK_CHECK_DELAY))?;
    // Durability is left to flushes: rows lost in a power cut are read from the files again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without it, a prepared statement is planned again for each set of parameters.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let opened = connection.execute_batch(SETTINGS);
    connection.busy_timeout(lock_timeout)?;
    match opened {
        // SQLite reports a drive without locks like a lock that another process holds, and would wait for it.
        Err(error) if is_locked(&error) => {
            check_locks(place)?;
            connection.execute_batch(SETTINGS)?;
        }
        opened => opened?,
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Checks that SQLite can lock files in the folder `place`.
fn check_locks(place: &Path) -> Result<(), IndexError> {
    // No other process knows this file, so no lock of it is held.
    let folder = tempfile::Builder::new()
        .prefix(".derived-")
        .tempdir_in(place)?;
    let connection = Connection::open(folder.path().join(FILE))?;
    connection.busy_timeout(Duration::ZERO)?;
    match connection.execute_batch("BEGIN IMMEDIATE") {
        Err(error) if is_locked(&error) => {
            Err(UnsupportedDrive::error("locks", io::Error::other(error)).into())
        }
        opened => Ok(opened?),
    }
}

/// Creates a missing database file that only its owner can access.
///
/// Files that SQLite adds get the same mode.
fn create_file(place: &Path) -> io::Result<()> {
    let file = place.join(FILE);
    if file.symlink_metadata().is_ok() {
        return Ok(());
    }
    // Closing a file drops the POSIX locks of all its handles in the process, including those of SQLite. The file is therefore created and
    // closed under another name.
    let empty = tempfile::Builder::new()
        .prefix(".derived-")
        .tempfile_in(place)?
        .into_temp_path();
    match empty.persist_noclobber(file) {
        Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => Err(refused.error),
        _ => Ok(()),
    }
}

/// Returns whether the tables exist, are filled and have the current version.
pub(super) fn is_complete(connection: &Connection) -> Result<bool, IndexError> {
    let version: i64 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    Ok(version == VERSION)
}

/// Replaces all tables by empty ones; new keys follow `last_key`.
pub(super) fn create(
    transaction: &Transaction<'_>,
    epoch: i64,
    last_key: i64,
) -> Result<(), IndexError> {
    let mut names = transaction.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )?;
    let names = names
        .query_map((), |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>, _>>()?;
    for name in names {
        transaction.execute_batch(&format!("DROP TABLE \"{}\"", name.replace('"', "\"\"")))?;
    }
    transaction.execute_batch(TABLES)?;
    transaction.execute(
        "INSERT INTO meta VALUES(1, ?, 0, 0, 0, 0, 0, NULL, 0)",
        [epoch],
    )?;
    transaction.execute(
        "INSERT INTO sqlite_sequence(name, seq) VALUES('documents', ?)",
        [last_key],
    )?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

/// The metadata of the index.
#[derive(Debug, Clone)]
pub(super) struct IndexMeta {
    /// The name of the folder of the full text.
    pub(super) epoch: i64,
    /// Number of flushes.
    pub(super) generation: u64,
    /// Number of documents.
    pub(super) documents: u64,
    /// The total length of all documents in weighted words, and in weighted single characters.
    pub(super) lengths: [u64; 2],
    /// The time of the last check of every file, in nanoseconds since 1970.
    pub(super) checked_ns: i64,
    /// The position in the journal up to which the index is current.
    pub(super) journal: Option<String>,
    /// The number of transactions that changed rows in this epoch.
    pub(super) revision: i64,
}

impl IndexMeta {
    /// Reads the metadata.
    pub(super) fn read(connection: &Connection) -> Result<Self, IndexError> {
        let sql = "SELECT epoch, generation, documents, length, characters, checked_ns, journal, revision FROM meta";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Self {
                epoch: row.get(0)?,
                generation: row_count(row, 1)?,
                documents: row_count(row, 2)?,
                lengths: [row_count(row, 3)?, row_count(row, 4)?],
                checked_ns: row.get(5)?,
                journal: row.get(6)?,
                revision: row.get(7)?,
            })
        };
        Ok(connection.prepare_cached(sql)?.query_row((), read)?)
    }
}

/// Checkpoints the write-ahead log into the database file: the data is durable and the log empty.
pub(super) fn checkpoint(connection: &Connection) {
    // A reader can prevent the checkpoint; the next checkpoint completes it.
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
}

/// Returns the bytes of an id for a column.
pub(super) fn id_bytes(id: &MemoryId) -> [u8; 16] {
    Uuid::from(*id).into_bytes()
}

/// Reads an id from a column.
pub(super) fn row_id(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    Ok(Uuid::from_bytes(row.get::<_, [u8; 16]>(column)?))
}

/// Reads a non-negative number from a column.
pub(super) fn row_count(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Reads a signature from four columns.
pub(super) fn row_stat(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<FileStat> {
    Ok(FileStat {
        size: row.get::<_, i64>(first)?.cast_unsigned(),
        modified_ns: row.get(first + 1)?,
        changed_ns: row.get(first + 2)?,
        inode: row.get::<_, i64>(first + 3)?.cast_unsigned(),
        is_folder: false,
    })
}

/// Encodes numbers for a column, in little-endian order.
pub(super) fn encode_numbers(numbers: &[i64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Decodes numbers of a column.
pub(super) fn decode_numbers(bytes: &[u8]) -> Vec<i64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers
        .iter()
        .map(|number| i64::from_le_bytes(*number))
        .collect()
}

/// Runs `write` in a transaction of its own.
pub(super) fn write<T>(
    connection: &mut Connection,
    write: impl FnOnce(&Transaction<'_>) -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let written = write(&transaction)?;
    transaction.commit()?;
    Ok(written)
}
