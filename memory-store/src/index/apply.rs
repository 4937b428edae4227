//! Taking in what we ourselves did to the files.

use memory_core::StoreError;

use super::flush::flush_if_due;
use super::open::Index;
use super::reading::{Reading, read_each};
use super::refresh::write;
use super::schema::Meta;
use super::update::Update;

/// What was done to a file.
#[derive(Debug)]
pub(crate) enum Applied {
    /// It was made, replaced or moved.
    Kept {
        /// Where it is; it has its name already.
        path: String,
        /// Where it was, if it was moved.
        former_path: Option<String>,
    },
    /// It is gone.
    Removed {
        /// Where it was.
        path: String,
    },
}

impl Applied {
    /// Returns where the file is, unless it is gone.
    fn kept(&self) -> Option<&str> {
        match self {
            Self::Kept { path, .. } => Some(path),
            Self::Removed { .. } => None,
        }
    }

    /// Returns where the file was, if it is gone.
    fn removed(&self) -> Option<&str> {
        match self {
            Self::Kept { .. } => None,
            Self::Removed { path } => Some(path),
        }
    }
}

impl Index {
    /// Takes in what was done to the files, and remembers up to where the journal is known.
    ///
    /// It costs no sync and does not depend on how many files there are. When it fails nothing is lost: the next
    /// refresh sees the files.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub(crate) fn apply(&self, applied: &[Applied], journal_mark: Option<&str>) -> Result<(), StoreError> {
        let paths: Vec<String> = applied.iter().filter_map(Applied::kept).map(str::to_owned).collect();
        self.tell("write to the index", |index, opened| {
            write(&mut opened.connection, |transaction| {
                let mut update = Update::new(transaction);
                let mut left = applied.iter();
                read_each(index.disk.as_ref(), &paths, &mut |reading| {
                    for one in left.by_ref() {
                        match one {
                            Applied::Removed { path } => update.remove(path)?,
                            Applied::Kept { path, former_path } => {
                                // A file that somebody has changed in the meantime is the next refresh's business.
                                if let Reading::Row(row) = &reading {
                                    update.keep(row, former_path.as_deref())?;
                                }
                                // Its document has gone along, unless another one was at the new place already.
                                let moved = former_path.as_deref().filter(|former| former != path);
                                return moved.map_or(Ok(()), |former| update.remove(former));
                            }
                        }
                    }
                    Ok(())
                })?;
                left.filter_map(Applied::removed).try_for_each(|path| update.remove(path))?;
                update.finish()?;
                if let Some(mark) = journal_mark {
                    transaction.prepare_cached("UPDATE meta SET journal = ?")?.execute([mark])?;
                }
                Ok(())
            })?;
            flush_if_due(opened)
        })
    }

    /// Returns the mark of the last [`Index::apply`] that gave one.
    ///
    /// # Errors
    /// When the index is refused.
    pub(crate) fn journal_mark(&self) -> Result<Option<String>, StoreError> {
        self.ask("read the index", |_, opened| Ok(Meta::read(&opened.connection)?.journal))
    }
}
