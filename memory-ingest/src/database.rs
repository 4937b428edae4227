//! Reading an SQLite database of another program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memory_core::SourceError;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::{Map, Number, Value};
use tempfile::TempDir;

use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, RecordReader, file_name};

/// The first bytes of every database.
const HEADER: &[u8] = b"SQLite format 3\0";

/// Maximum size of a row in bytes.
const MAX_ROW_BYTES: i32 = 16 << 20;

/// Maximum number of attempts to copy a database that is being written.
const ATTEMPTS: usize = 5;

/// Maximum size of a file that a file system stores without blocks, in bytes.
#[cfg(unix)]
const MAX_INLINE: u64 = 64 * 1024;

/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 256;

/// The files beside a database that contain changes which are not in it yet.
const PENDING: [&str; 2] = ["-wal", "-journal"];

/// A table that is read, and the columns that it must have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceTable {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
}

/// An SQLite database of another program. Neither it nor its folder is ever written.
///
/// A database without pending changes is opened as immutable, which needs neither locks nor files beside it. Otherwise a
/// private copy is read, since SQLite writes files beside a database to read its pending changes.
#[derive(Debug)]
pub(crate) struct SourceDatabase {
    name: String,
    /// The database or its copy.
    path: PathBuf,
    /// The folder of the copy.
    copy: Option<TempDir>,
    /// The tables that exist.
    tables: Vec<SourceTable>,
    /// Maximum size of all rows, in bytes. Rows share the default values of columns.
    max_bytes: u64,
}

impl SourceDatabase {
    /// Opens the database at `path`, a regular file. The first of `tables` must exist; others may be missing.
    ///
    /// # Errors
    /// [`SourceError::NotRecognized`] with `expected` if the file is not a database with this table,
    /// [`SourceError::Unreadable`].
    pub(crate) fn open(
        path: &Path,
        tables: &[SourceTable],
        expected: &str,
    ) -> Result<Self, SourceError> {
        let shown = || path.display().to_string();
        let not_recognized = || SourceError::NotRecognized {
            path: shown(),
            expected: expected.to_owned(),
        };
        let unreadable = |source| SourceError::Unreadable {
            path: shown(),
            source,
        };
        if !is_database(path).map_err(unreadable)? {
            return Err(not_recognized());
        }
        let mut database = Self {
            name: file_name(path),
            path: path.to_owned(),
            copy: None,
            tables: Vec::new(),
            // UTF-16 in the file is shorter than UTF-8 for some scripts. Pending changes may make a copy of any length.
            max_bytes: 2 * stored_bytes(path),
        };
        if has_pending_changes(path) {
            let folder = private_temp_folder().map_err(unreadable)?;
            database.path = copy_database(path, folder.path()).map_err(unreadable)?;
            database.copy = Some(folder);
        }
        let connection = database
            .connect()
            .map_err(|error| unreadable(io::Error::other(error)))?;
        for table in tables {
            if has_table(&connection, table).map_err(|error| unreadable(io::Error::other(error)))? {
                database.tables.push(*table);
            }
        }
        let is_first =
            |table: &SourceTable| tables.first().is_some_and(|first| first.name == table.name);
        if database.tables.first().is_some_and(is_first) {
            Ok(database)
        } else {
            Err(not_recognized())
        }
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        connect(&self.path, self.copy.is_some())
    }
}

impl RecordFile for SourceDatabase {
    fn name(&self) -> &str {
        &self.name
    }

    fn reader(&self) -> Result<Box<dyn RecordReader>, String> {
        let connection = self.connect().map_err(reason)?;
        let tables = self.tables.iter();
        let tables = tables
            .map(|table| Ok((*table, row_query(&connection, table)?)))
            .collect::<rusqlite::Result<_>>()
            .map_err(reason)?;
        Ok(Box::new(DatabaseReader {
            connection,
            tables,
            max_bytes: self.max_bytes,
        }))
    }
}

struct DatabaseReader {
    connection: Connection,
    /// The tables, with the query of a row.
    tables: Vec<(SourceTable, String)>,
    /// Maximum size of all rows, in bytes. Rows share the default values of columns.
    max_bytes: u64,
}

impl DatabaseReader {
    /// Returns the ids of the rows of a table, and an error if some cannot be read.
    ///
    /// Behind a damaged page, they are read from the end.
    fn row_ids(&self, table: &SourceTable) -> (Vec<i64>, Option<rusqlite::Error>) {
        let mut ids = Vec::new();
        let Err(error) = self.collect_row_ids(table, &mut ids) else {
            return (ids, None);
        };
        let mut rest = Vec::new();
        // The first error is reported; the second is about the same page.
        let _ = self.collect_row_ids_from_end(table, ids.last().copied(), &mut rest);
        ids.extend(rest.into_iter().rev());
        (ids, Some(error))
    }

    fn collect_row_ids(&self, table: &SourceTable, ids: &mut Vec<i64>) -> rusqlite::Result<()> {
        let query = format!(
            "SELECT rowid FROM {} NOT INDEXED ORDER BY rowid",
            quote_name(table.name)
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if ids.last().is_some_and(|last| id <= *last) {
                return Err(disorder());
            }
            ids.push(id);
        }
        Ok(())
    }

    fn collect_row_ids_from_end(
        &self,
        table: &SourceTable,
        last: Option<i64>,
        ids: &mut Vec<i64>,
    ) -> rusqlite::Result<()> {
        let query = format!(
            "SELECT rowid FROM {} NOT INDEXED ORDER BY rowid DESC",
            quote_name(table.name)
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if last.is_some_and(|last| id <= last) {
                break;
            }
            if ids.last().is_some_and(|last| *last <= id) {
                return Err(disorder());
            }
            ids.push(id);
        }
        Ok(())
    }

    fn read_row(&self, table: &str, id: i64) -> rusqlite::Result<Option<SourceRecord>> {
        let mut tables = self.tables.iter();
        let Some((_, query)) = tables.find(|(own, _)| own.name == table) else {
            return Ok(None);
        };
        let mut statement = self.connection.prepare_cached(query)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let to_record = |row: &rusqlite::Row<'_>| {
            let mut fields = Map::new();
            for (index, name) in names.iter().enumerate() {
                if let Some(value) = to_json(row.get_ref(index)?) {
                    fields.insert(name.clone(), value);
                }
            }
            Ok(SourceRecord(fields))
        };
        statement.query_row([id], to_record).optional()
    }
}

impl RecordReader for DatabaseReader {
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool) {
        let mut left = self.max_bytes;
        for (table, _) in &self.tables {
            let (ids, error) = self.row_ids(table);
            for id in ids {
                let position = RecordPosition {
                    list: table.name,
                    number: id,
                    start: 0,
                    length: 0,
                };
                let record = read_again(self.read_row(table.name, id));
                let size = record.as_ref().map_or(0, record_bytes);
                let is_within = size <= left;
                left = left.saturating_sub(size);
                let record = if is_within {
                    record
                } else {
                    Err("the rows have more values than the file".to_owned())
                };
                if !see(position, record) || !is_within {
                    return;
                }
            }
            let position = RecordPosition {
                list: table.name,
                number: 0,
                start: 0,
                length: 0,
            };
            if error.is_some_and(|error| {
                !see(position, Err(format!("some rows cannot be read: {error}")))
            }) {
                return;
            }
        }
    }

    fn read(&mut self, position: &RecordPosition) -> Result<SourceRecord, String> {
        read_again(self.read_row(position.list, position.number))
    }
}

/// The error for ids that are not in order: pages of a table with several parents have any number of rows.
fn disorder() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
        Some("its rows are not in order".to_owned()),
    )
}

fn read_again(row: rusqlite::Result<Option<SourceRecord>>) -> Result<SourceRecord, String> {
    row.map_err(reason)?
        .ok_or_else(|| "was deleted meanwhile".into())
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn reason(error: rusqlite::Error) -> String {
    format!("cannot be read: {error}")
}

/// Returns a value as JSON. NULL, bytes and numbers that are not finite have none.
fn to_json(value: ValueRef<'_>) -> Option<Value> {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Number::from_f64(number).map(Value::Number),
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into()),
    }
}

/// Returns the size of a database and its pending changes on the disk, in bytes.
fn stored_bytes(path: &Path) -> u64 {
    let pending = PENDING.iter().map(|suffix| beside(path, suffix));
    let files = std::iter::once(path.to_owned()).chain(pending);
    files
        .filter_map(|file| file.metadata().ok())
        .map(|found| {
            #[cfg(unix)]
            let stored = std::os::unix::fs::MetadataExt::blocks(&found) * 512 + MAX_INLINE;
            #[cfg(not(unix))]
            let stored = u64::MAX;
            found.len().min(stored)
        })
        .sum()
}

/// Returns the minimum size of a record in a file, in bytes: each value has a byte for its type.
fn record_bytes(record: &SourceRecord) -> u64 {
    let value_bytes = |value: &Value| 1 + value.as_str().map_or(0, str::len) as u64;
    record.0.values().map(value_bytes).sum()
}

/// Returns whether the file at `path` is an SQLite database.
pub(crate) fn is_database(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?
        .take(HEADER.len() as u64)
        .read_to_end(&mut start)?;
    Ok(start == HEADER)
}

/// Returns whether the file at `path` is a database with `table`, without its pending changes.
pub(crate) fn has_table_at_rest(path: &Path, table: &SourceTable) -> bool {
    path.is_file()
        && is_database(path).unwrap_or(false)
        && connect(path, false)
            .is_ok_and(|connection| has_table(&connection, table).unwrap_or(false))
}

fn has_table(connection: &Connection, table: &SourceTable) -> rusqlite::Result<bool> {
    // A view or a virtual table could run any query, also one without an end.
    let query =
        "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?1";
    if connection
        .query_row(query, [table.name], |_| Ok(()))
        .optional()?
        .is_none()
    {
        return Ok(false);
    }
    let columns = stored_columns(connection, table)?;
    let is_wide = MAX_COLUMNS < columns.len();
    Ok(!is_wide
        && table
            .columns
            .iter()
            .all(|column| columns.iter().any(|own| own == column)))
}

/// Returns the names of the columns of a table that are not computed. A computation could need any time and memory.
fn stored_columns(connection: &Connection, table: &SourceTable) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare(&format!("PRAGMA table_info({})", quote_name(table.name)))?;
    statement
        .query_map([], |row| row.get("name"))?
        .collect::<rusqlite::Result<_>>()
}

/// Returns the query of a row of a table by its id.
fn row_query(connection: &Connection, table: &SourceTable) -> rusqlite::Result<String> {
    let columns = stored_columns(connection, table)?;
    let columns: Vec<String> = columns.iter().map(|name| quote_name(name)).collect();
    Ok(format!(
        "SELECT {} FROM {} NOT INDEXED WHERE rowid = ?1",
        columns.join(", "),
        quote_name(table.name)
    ))
}

fn connect(path: &Path, is_copy: bool) -> rusqlite::Result<Connection> {
    // Only a copy is written: opening it applies its pending changes.
    let (mode, access) = if is_copy {
        ("rw", OpenFlags::SQLITE_OPEN_READ_WRITE)
    } else {
        ("ro&immutable=1", OpenFlags::SQLITE_OPEN_READ_ONLY)
    };
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(format!("file:{}?mode={mode}", encode_path(path)), flags)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Returns a path for a URI, with every byte encoded that has a meaning in one.
fn encode_path(path: &Path) -> String {
    let encode = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
            char::from(*byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(encode)
        .collect()
}

fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn has_pending_changes(path: &Path) -> bool {
    PENDING.iter().any(|suffix| {
        beside(path, suffix)
            .metadata()
            .is_ok_and(|found| 0 < found.len())
    })
}

/// Creates a temporary folder that only this user can access.
fn private_temp_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("memory-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// Copies a database and its pending changes into `folder`, and returns the path of the copy.
///
/// If a file changes meanwhile, the copy is repeated.
fn copy_database(path: &Path, folder: &Path) -> io::Result<PathBuf> {
    let copy = folder.join("copy.db");
    for _ in 0..ATTEMPTS {
        let before = file_states(path);
        fs::copy(path, &copy)?;
        for suffix in PENDING {
            let pending = beside(path, suffix);
            match pending.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let _ = fs::remove_file(beside(&copy, suffix));
                }
                // A pipe is endless, and a symlink may lead to such a file.
                Ok(found) if !found.is_file() => {
                    let reason = format!("{} is no regular file", pending.display());
                    return Err(io::Error::other(reason));
                }
                found => {
                    found.and_then(|_| fs::copy(&pending, beside(&copy, suffix)))?;
                }
            }
        }
        if before == file_states(path) {
            // A database without write permission cannot be recovered.
            let mut permissions = copy.metadata()?.permissions();
            #[expect(
                clippy::permissions_set_readonly_false,
                reason = "the folder of the copy is private"
            )]
            permissions.set_readonly(false);
            fs::set_permissions(&copy, permissions)?;
            return Ok(copy);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::ResourceBusy,
        "it is being written; close its program and try again",
    ))
}

/// Returns the size and the time of the last change of a database and the files beside it.
fn file_states(path: &Path) -> Vec<Option<(u64, Option<std::time::SystemTime>)>> {
    let files =
        std::iter::once(path.to_owned()).chain(PENDING.iter().map(|suffix| beside(path, suffix)));
    files
        .map(|file| {
            file.metadata()
                .ok()
                .map(|found| (found.len(), found.modified().ok()))
        })
        .collect()
}

#[cfg(test)]
mod tests;
