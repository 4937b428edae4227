//! The index of a home and its open files.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::{FacetCounts, Filter, QueryVector};
use rusqlite::{Connection, TransactionBehavior};
use tempfile::TempDir;

use super::error::IndexError;
use super::file_cache::FileCache;
use super::schema::{self, checkpoint};
use super::text::FullText;
use super::vectors::ModelVectors;
use crate::disk::Disk;
use crate::system::FileIdentity;

/// The search index of a home.
///
/// Its content is derived from the files of the home and may be deleted at any time.
///
/// Changes of the files reach it through [`MemoryIndex::apply`] or [`MemoryIndex::refresh`]. Every query must be preceded by a refresh.
#[derive(Debug)]
pub(crate) struct MemoryIndex {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) root: PathBuf,
    /// The folder of the files of the index.
    pub(super) place: PathBuf,
    pub(super) kept: FileCache,
    pub(super) facets: Mutex<Option<CachedFacets>>,
    /// One set of open files for each concurrent query; a query uses the first free one.
    pub(super) seats: [Mutex<Option<OpenIndex>>; MAX_QUERIES],
    /// Maximum time to wait for a lock of another process.
    pub(super) lock_timeout: Duration,
}

/// The last counts without a question, and the state of the index that they belong to.
#[derive(Debug)]
pub(super) struct CachedFacets {
    pub(super) epoch: i64,
    pub(super) revision: i64,
    pub(super) filter: Filter,
    /// The times at which the same documents pass the filter: the first, inclusive, and the last, exclusive.
    pub(super) valid: (i64, i64),
    pub(super) counts: FacetCounts,
}

/// Maximum number of concurrent queries; further ones wait.
pub(super) const MAX_QUERIES: usize = 4;

/// The open files of the index.
#[derive(Debug)]
pub(super) struct OpenIndex {
    pub(super) connection: Connection,
    /// The folder of the files.
    pub(super) place: PathBuf,
    /// Why the folder is a temporary one, if it is.
    pub(super) degraded: Option<String>,
    pub(super) text: Option<(i64, FullText)>,
    pub(super) vectors: Option<ModelVectors>,
    pub(super) identity: Option<FileIdentity>,
    pub(super) temporary: Option<TempDir>,
    /// Maximum time to wait for a lock of another process.
    pub(super) lock_timeout: Duration,
}

/// Minimum size of a write-ahead log that is checkpointed on close, in bytes.
///
/// A longer log slows down the next process more than the checkpoint costs.
const CHECKPOINT_BYTES: u64 = 512 * 1024;

impl Drop for OpenIndex {
    fn drop(&mut self) {
        let log = self.place.join(format!("{}-wal", schema::FILE));
        if fs::metadata(log).is_ok_and(|log| CHECKPOINT_BYTES < log.len()) {
            // If another process still reads or writes, the checkpoint is left to it.
            let _ = self.connection.busy_timeout(Duration::ZERO);
            checkpoint(&self.connection);
        }
    }
}

impl OpenIndex {
    /// Returns the connection, the full text of `epoch` and the open vectors.
    ///
    /// Opens the full text if it is not open yet. The vectors are `None` if they are not open or empty.
    pub(super) fn text(
        &mut self,
        epoch: i64,
    ) -> Result<(&mut Connection, &FullText, Option<&ModelVectors>), IndexError> {
        if self.text.as_ref().is_none_or(|(own, _)| *own != epoch) {
            self.text = Some((
                epoch,
                FullText::open(&self.place, epoch, self.lock_timeout)?,
            ));
        }
        let (_, text) = self.text.as_ref().expect("it was just opened");
        Ok((
            &mut self.connection,
            text,
            self.vectors.as_ref().filter(|vectors| 0 < vectors.count()),
        ))
    }

    /// Opens the vectors for a query vector, and keeps them open for the next query.
    ///
    /// Returns whether there are vectors that cannot be read.
    pub(super) fn vectors(&mut self, asked: Option<QueryVector<'_>>) -> Result<bool, IndexError> {
        let Some(QueryVector { identity, vector }) = asked else {
            return Ok(false);
        };
        match self
            .vectors
            .as_mut()
            .filter(|vectors| vectors.is_model_with(&self.place, identity, vector.len()))
        {
            Some(vectors) => vectors.refresh()?,
            None => self.vectors = Some(ModelVectors::open(&self.place, identity, vector.len())?),
        }
        Ok(self.vectors.as_ref().is_some_and(ModelVectors::is_damaged))
    }

    /// Waits until no other connection holds the write lock.
    pub(super) fn wait_for_writer(&mut self) -> Result<(), IndexError> {
        self.connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?
            .rollback()?;
        Ok(())
    }
}
