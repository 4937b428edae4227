//! The operations that implement the chores, and their cancellation.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::StoreError;

use super::Chore;
use crate::DreamLevel;

/// The result of a chore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoreStatus {
    /// There was no work.
    Nothing,
    /// A summary of the work, which contains counts and no content of memories.
    This(String),
    /// The chore was skipped, for this reason.
    LeftOut(String),
    /// Cancellation was requested before the work was complete.
    Stopped,
}

/// The implementations of the daemon's chores.
///
/// Each chore works in slices. It checks `stop` about once a second and returns [`ChoreStatus::Stopped`] if set. Completed slices persist, and the
/// next call continues after them. All methods are called from one thread, one after another.
pub trait ChoreRunner: Debug + Send + Sync {
    /// Detects files that other programs created, changed or deleted.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn refresh(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Ingests the changes of watched sources.
    ///
    /// # Errors
    /// Any error of the store.
    fn ingest(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Displays due reminders.
    ///
    /// # Errors
    /// If the reminders cannot be read, or their display cannot be recorded.
    fn notify(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Removes expired and decayed memories, and files those that are read often.
    ///
    /// # Errors
    /// Any error of the store.
    fn lifecycle(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Computes missing embeddings.
    ///
    /// # Errors
    /// If the model fails, or its vectors cannot be saved.
    fn embed(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Deletes old entries of the trash.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    fn purge(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Writes pending changes to the full-text index.
    ///
    /// # Errors
    /// If the index cannot be written.
    fn flush(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError>;

    /// Runs a dream of this level.
    ///
    /// # Errors
    /// Any error of the store.
    fn dream(&self, level: DreamLevel, stop: &CancellationToken)
    -> Result<ChoreStatus, StoreError>;
}

/// Runs one chore.
///
/// # Errors
/// The errors of the chore.
pub fn run_chore(
    chores: &dyn ChoreRunner,
    chore: Chore,
    stop: &CancellationToken,
) -> Result<ChoreStatus, StoreError> {
    match chore {
        Chore::Refresh => chores.refresh(stop),
        Chore::Ingest => chores.ingest(stop),
        Chore::Notify => chores.notify(stop),
        Chore::Lifecycle => chores.lifecycle(stop),
        Chore::Embed => chores.embed(stop),
        Chore::Purge => chores.purge(stop),
        Chore::Flush => chores.flush(stop),
        Chore::Dream(level) => chores.dream(level, stop),
    }
}

/// A shared flag that cancels long operations. An operation checks it between slices of about a second.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Requests cancellation through all clones of this flag. A request cannot be withdrawn.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
