//! Updates the index after changes by this program.

use memory_core::StoreError;

use super::file_reader::{FileReadResult, read_files};
use super::flush::flush_if_due;
use super::memory_index::MemoryIndex;
use super::refresh::write;
use super::schema::IndexMeta;
use super::update::IndexUpdate;

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
    pub(crate) fn apply(&self, applied: &[AppliedChange], journal_mark: Option<&str>) -> Result<(), StoreError> {
        let paths: Vec<String> = applied.iter().filter_map(AppliedChange::written_path).map(str::to_owned).collect();
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
                left.filter_map(AppliedChange::removed_path).try_for_each(|path| update.remove(path))?;
                update.finish()?;
                if let Some(mark) = journal_mark {
                    transaction.prepare_cached("UPDATE meta SET journal = ?")?.execute([mark])?;
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
        self.query("read the index", |_, opened| Ok(IndexMeta::read(&opened.connection)?.journal))
    }
}
