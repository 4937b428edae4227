//! The records of a program in its SQLite database, or in a JSON file that was exported.

use std::path::Path;

use memory_core::SourceError;

use crate::database::{SourceDatabase, SourceTable, has_table_at_rest, is_database};
use crate::json_records::{JsonRecordFile, MAX_RECORD_BYTES};
use crate::program_folder::begins_with_json;
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, find_file};

/// The number of records that are read to determine whether a file is one of the program.
const SAMPLE: usize = 10;

/// A program with a database and exports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordProgram {
    /// The name of the database.
    pub(crate) database: &'static str,
    /// The tables that are read; the first must exist.
    pub(crate) tables: &'static [SourceTable],
    /// The lists of an export.
    pub(crate) lists: &'static [&'static str],
    /// The expected content, for an error.
    pub(crate) expected: &'static str,
    /// Returns whether a record of a JSON file is one of the program.
    pub(crate) is_own: fn(&RecordPosition, &SourceRecord) -> bool,
}

/// The opened records of a program.
#[derive(Debug)]
pub(crate) enum ProgramRecords {
    /// The database.
    Database(SourceDatabase),
    /// An export.
    Json(JsonRecordFile),
}

impl RecordProgram {
    /// Opens the database or the export at `path`, or the database in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub(crate) fn open(&self, path: &Path) -> Result<ProgramRecords, SourceError> {
        let found = find_file(path, &[self.database])?;
        let shown = || found.display().to_string();
        if is_database(&found).map_err(|source| SourceError::Unreadable {
            path: shown(),
            source,
        })? {
            return Ok(ProgramRecords::Database(SourceDatabase::open(
                &found,
                self.tables,
                self.expected,
            )?));
        }
        let file = JsonRecordFile::open(&found, self.lists, MAX_RECORD_BYTES)?;
        if !has_record(&file, SAMPLE, self.is_own) {
            return Err(SourceError::NotRecognized {
                path: shown(),
                expected: self.expected.into(),
            });
        }
        Ok(ProgramRecords::Json(file))
    }

    /// Returns whether `path` is the database or its folder, or a JSON file of which one of the first `count` records `is_own`.
    pub(crate) fn recognizes(
        &self,
        path: &Path,
        count: usize,
        is_own: fn(&RecordPosition, &SourceRecord) -> bool,
    ) -> bool {
        let database = if path.is_dir() {
            path.join(self.database)
        } else {
            path.to_owned()
        };
        let has_table = self
            .tables
            .first()
            .is_some_and(|table| has_table_at_rest(&database, table));
        let has_own = || {
            JsonRecordFile::open(path, self.lists, MAX_RECORD_BYTES)
                .is_ok_and(|file| has_record(&file, count, is_own))
        };
        has_table || begins_with_json(path) && has_own()
    }
}

impl ProgramRecords {
    /// Returns the records as a file of any format.
    pub(crate) fn into_file(self) -> Box<dyn RecordFile> {
        match self {
            Self::Database(database) => Box::new(database),
            Self::Json(file) => Box::new(file),
        }
    }
}

fn has_record(
    file: &JsonRecordFile,
    count: usize,
    is_own: fn(&RecordPosition, &SourceRecord) -> bool,
) -> bool {
    file.first_records(count)
        .iter()
        .any(|(position, record)| is_own(position, record))
}
