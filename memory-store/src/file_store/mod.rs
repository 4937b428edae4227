//! The driver that keeps memories as files.

mod beside;
mod doctor;
mod history;
mod index_page;
mod pending;
mod plan;
mod purge;
mod rehearsal;
mod statistics;
mod store;
mod upkeep;

pub use doctor::{Finding, Report};
pub use rehearsal::Rehearsal;
pub use statistics::Statistics;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::{ContentHash, MemoryId, Operation, OperationId, Problem, Progress, Stamp, StoreError, Stored};

use crate::commit::{Step, carry_out, recover};
use crate::disk::{Disk, RealDisk};
use crate::error::io_error;
use crate::file::moment;
use crate::index::{Applied, Depth, Index};
use crate::journal::{Journal, Mark};
use crate::lock::{PATIENCE, WriterLock};
use crate::markdown::{decode, encode};

/// Memories as Markdown files below a home folder.
///
/// Many of these may work on one home, in one process or in many.
///
/// # Examples
/// ```
/// use memory_core::MemoryStoreExt;
/// use memory_store::{FileStore, Options};
///
/// let home = tempfile::tempdir()?;
/// let store = FileStore::open(home.path(), Options::default())?;
/// assert!(store.find("550e8400").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    journal: Journal,
    index: Index,
    options: Options,
    /// Whether something was written since this last made the page of the home.
    has_written: AtomicBool,
}

/// How a [`FileStore`] works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How closely the files are looked at before each answer.
    pub freshness: Freshness,
    /// How long a writer waits for another one.
    pub patience: Duration,
    /// Files that were read are kept for the next answer, as long as they take no more than about so many bytes.
    pub kept: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { freshness: Freshness::Usual, patience: PATIENCE, kept: 0 }
    }
}

/// How closely the files are looked at before each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Files that came, went or moved are seen at once; edits in place at once in a store of up to 10,000 memories, and
    /// within 60 s in a larger one.
    Usual,
    /// Edits in place are seen at once in any store.
    Fresh,
    /// Files that came, went or moved are seen at once; of edits in place somebody hears, and tells [`FileStore::reread`].
    Heard,
}

impl FileStore {
    /// Opens the home at `root`, and makes the folder if it is missing.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn open(root: &Path, options: Options) -> Result<Self, StoreError> {
        let disk = RealDisk::open(root).map_err(|error| io_error(format!("open the home {}", root.display()), error))?;
        let root = disk.root().to_owned();
        Ok(Self::on(Arc::new(disk), &root, options))
    }

    /// Returns the home that lies on `disk`, whose index is kept at `root`.
    pub fn on(disk: Arc<dyn Disk>, root: &Path, options: Options) -> Self {
        let index = Index::open(Arc::clone(&disk), root, options.kept);
        Self {
            root: root.to_owned(),
            journal: Journal::new(Arc::clone(&disk)),
            disk,
            index,
            options,
            has_written: AtomicBool::new(false),
        }
    }

    /// Returns the home folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what is wrong with files that cannot be read, which no list of memories can tell of.
    ///
    /// # Errors
    /// When the index is refused.
    pub fn unreadable(&self) -> Result<Vec<Problem>, StoreError> {
        self.index.unreadable()
    }

    /// Returns the text of a memory's file if it says more than the memory does: other keys, comments, line ends of its own. Nothing if
    /// it was changed since the memory was read, or is no text.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn file_beyond(&self, stored: &Stored) -> Result<Option<String>, StoreError> {
        let read = self.disk.read(&stored.path).map_err(|error| io_error(format!("read {}", stored.path), error))?;
        let Some((bytes, signature)) = read else { return Ok(None) };
        let is_ours = || {
            let memory = decode(&stored.path, &bytes, moment(signature.modified_ns)).memory;
            encode(&memory, "").as_bytes() == bytes
        };
        if stored.stamp != Stamp(ContentHash::of_bytes(&bytes)) || is_ours() {
            return Ok(None);
        }
        Ok(String::from_utf8(bytes).ok())
    }

    /// Throws the index away and builds it anew from the files; returns how many memories there are.
    ///
    /// # Errors
    /// When the files cannot be read or the index cannot be written.
    pub fn rebuild(&self, progress: &mut dyn FnMut(Progress)) -> Result<u64, StoreError> {
        self.index.rebuild(&mut |done, total| progress(Progress { done, total: Some(total) }))?;
        Ok(self.index.statistics()?.documents)
    }

    /// Tells what of the journal cannot be read, if anything: the order in which memories were made stands nowhere else, so
    /// an index that is built anew puts those that it does not know last, by their paths.
    pub fn disorder(&self) -> Option<String> {
        let unknown = "so memories may have lost their place in the order in which they were made";
        match self.journal.unreadable() {
            Ok(lines) if lines.is_empty() => None,
            Ok(lines) => {
                let what = match lines.len() {
                    1 => "1 line of the journal is no record".to_owned(),
                    several => format!("{several} lines of the journal are no records"),
                };
                Some(format!("{what}, {unknown}; `memory doctor` says where"))
            }
            Err(error) => Some(format!("the journal cannot be read ({error}), {unknown}")),
        }
    }

    fn depth(&self) -> Depth {
        match self.options.freshness {
            Freshness::Usual => Depth::Usual,
            Freshness::Fresh => Depth::Fresh,
            Freshness::Heard => Depth::Names,
        }
    }

    /// Waits for the right to write, and takes back what another writer left half done.
    fn begin(&self) -> Result<WriterLock, StoreError> {
        let lock = WriterLock::acquire(&self.root, self.options.patience)?;
        let known = self.index.journal_mark().ok().flatten().and_then(|mark| Mark::from_text(&mark));
        if known.is_none() || known.as_ref() != Some(&self.journal.end()?) {
            recover(self.disk.as_ref(), &self.journal, known.as_ref())?;
        }
        Ok(lock)
    }

    /// Carries out `steps` and tells the index. The caller holds the lock that [`FileStore::begin`] returned.
    fn finish(&self, operation: &Operation, undoes: Option<&OperationId>, steps: &[Step]) -> Result<(), StoreError> {
        carry_out(self.disk.as_ref(), &self.journal, operation, undoes, steps)?;
        // The files are durable now, and that is what was asked for. An index that cannot follow finds out by itself.
        let _ = self.tell_index(steps);
        let gone: Vec<MemoryId> = steps.iter().filter(|step| step.after.is_none()).map(|step| step.id).collect();
        self.forget_on_index_page(&gone);
        self.has_written.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn tell_index(&self, steps: &[Step]) -> Result<(), StoreError> {
        let mut applied = Vec::with_capacity(steps.len());
        for step in steps {
            let former_path = step.before.as_ref().map(|former| former.path.clone());
            match &step.after {
                None => applied.extend(former_path.map(|path| Applied::Removed { path })),
                Some(next) => applied.push(Applied::Kept { path: next.path.clone(), former_path }),
            }
        }
        self.index.apply(&applied, Some(&self.journal.end()?.to_text()))
    }
}
