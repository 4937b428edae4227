//! Files of records, and their notes in the order of their paths.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memory_core::{SourceError, SourceItem};

use crate::folder::SourceFolder;
use crate::record::SourceRecord;

/// Maximum number of records of a table or a list that are read.
const MAX_RECORDS: usize = 1 << 20;

/// The position of a record in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordPosition {
    /// The name of the table or the list; empty for records at the top level.
    pub(crate) list: &'static str,
    /// The number of the record or of its line, counted from 1, or the id of the row.
    pub(crate) number: i64,
    /// The first byte, if the file has no rows with ids.
    pub(crate) start: u64,
    /// The number of bytes.
    pub(crate) length: u64,
}

/// A file of records. Each reader reads it from its beginning.
pub(crate) trait RecordFile: Debug + Send + Sync {
    /// Returns the file name.
    fn name(&self) -> &str;

    /// Opens the file, or returns the reason of the failure.
    fn reader(&self) -> Result<Box<dyn RecordReader>, String>;
}

/// A reader of the records of a file.
pub(crate) trait RecordReader {
    /// Calls `see` with each record, or the reason why it cannot be read, until `see` returns `false`.
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool);

    /// Reads the record at `position` again.
    fn read(&mut self, position: &RecordPosition) -> Result<SourceRecord, String>;
}

/// The path of the item of a record: `None` if it has none of its own, or the reason why it is broken.
pub(crate) type RecordPath = Result<Option<String>, String>;

/// The positions of the records of a file with a path, and the records that were skipped.
#[derive(Debug, Default)]
pub(crate) struct RecordIndex {
    /// The path of each item, and the position of its record.
    pub(crate) entries: Vec<(String, RecordPosition)>,
    /// The records that were skipped.
    pub(crate) skipped: Vec<SourceItem>,
}

impl RecordIndex {
    /// Indexes the records for which `path_of` returns a path.
    pub(crate) fn of(
        file: &dyn RecordFile,
        reader: &mut dyn RecordReader,
        path_of: &mut dyn FnMut(&RecordPosition, &SourceRecord) -> RecordPath,
    ) -> Self {
        let mut index = Self::default();
        let mut count = 0;
        let mut list = "";
        reader.scan(&mut |position, record| {
            count = if position.list == list { count + 1 } else { 1 };
            list = position.list;
            if MAX_RECORDS < count {
                if MAX_RECORDS + 1 == count {
                    let reason = format!(
                        "and the following records were not read: the maximum is {MAX_RECORDS}"
                    );
                    index.skipped.push(skipped(file, &position, reason));
                }
                return true;
            }
            match record.and_then(|record| path_of(&position, &record)) {
                Ok(Some(path)) => index.entries.push((path, position)),
                Ok(None) => {}
                Err(reason) => index.skipped.push(skipped(file, &position, reason)),
            }
            true
        });
        index
    }

    /// Returns the items in the order of their paths, then the records that were skipped.
    ///
    /// Of several records with one path, the first is returned and the others are skipped.
    pub(crate) fn into_items<'a>(
        mut self,
        file: &'a dyn RecordFile,
        mut reader: Box<dyn RecordReader>,
        mut item_of: impl FnMut(&str, &RecordPosition, &SourceRecord) -> SourceItem + 'a,
    ) -> Box<dyn Iterator<Item = SourceItem> + 'a> {
        // The sort is stable: records with equal paths remain in the order of the file.
        self.entries.sort_by(|left, right| left.0.cmp(&right.0));
        let mut last = None;
        let items = self.entries.into_iter().map(move |(path, position)| {
            if last.as_ref() == Some(&path) {
                return skipped(file, &position, format!("is a duplicate of {path}"));
            }
            let item = match reader.read(&position) {
                Ok(record) => item_of(&path, &position, &record),
                Err(reason) => skipped(file, &position, reason),
            };
            last = Some(path);
            item
        });
        Box::new(items.chain(self.skipped))
    }
}

/// Returns the finding that a file cannot be read.
pub(crate) fn unreadable<'a>(
    file: &dyn RecordFile,
    reason: String,
) -> Box<dyn Iterator<Item = SourceItem> + 'a> {
    Box::new(std::iter::once(SourceItem::Skipped {
        path: file.name().into(),
        reason,
    }))
}

/// Returns the finding that a record was skipped.
pub(crate) fn skipped(
    file: &dyn RecordFile,
    position: &RecordPosition,
    reason: String,
) -> SourceItem {
    SourceItem::Skipped {
        path: record_name(file.name(), position),
        reason,
    }
}

/// Returns the name of a record for messages, such as `memory.jsonl#3`.
pub(crate) fn record_name(file_name: &str, position: &RecordPosition) -> String {
    let separator = if position.list.is_empty() { "" } else { "/" };
    format!(
        "{file_name}#{}{separator}{}",
        position.list, position.number
    )
}

/// Returns the path of the file at `path`, or of the first of `names` in the folder at `path`.
///
/// # Errors
/// [`SourceError::Missing`], [`SourceError::Unreadable`], also if it is not a regular file.
pub(crate) fn find_file(path: &Path, names: &[&str]) -> Result<PathBuf, SourceError> {
    let shown = || path.display().to_string();
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => SourceError::Missing { path: shown() },
        _ => SourceError::Unreadable {
            path: shown(),
            source,
        },
    };
    let mut real = path.canonicalize().map_err(unreadable)?;
    if real.is_dir() {
        let folder = SourceFolder::open(&real)?;
        let found = names.iter().find_map(|name| folder.file(name));
        let missing = names
            .first()
            .map_or_else(shown, |name| path.join(name).display().to_string());
        let found = found.ok_or(SourceError::Missing { path: missing })?;
        let rejected = |reason: String| SourceError::Unreadable {
            path: path.join(&found.path).display().to_string(),
            source: io::Error::new(io::ErrorKind::InvalidInput, format!("it {reason}")),
        };
        real = found.place.map_err(rejected)?;
    }
    if !real.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        )));
    }
    File::open(&real).map_err(unreadable)?;
    Ok(real)
}

/// Returns the name of the file at `path`.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
