//! Doing what is due.

use std::fmt::Debug;

use memory_core::StoreError;

use super::{Chore, Stop};
use crate::Level;

/// What a chore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// There was nothing to do.
    Nothing,
    /// This was done. It counts, and holds nothing of what is remembered.
    This(String),
    /// There was no need, or no way, and why.
    LeftOut(String),
    /// Somebody asked to stop before all was done.
    Stopped,
}

/// The chores of a daemon, each in slices: it looks at `stop` every second or so and ends with [`Done::Stopped`].
///
/// What a slice did stays done, and the next call goes on from there. All are called from one thread, one after another.
pub trait Chores: Debug + Send + Sync {
    /// Looks for files that other programs made, changed or deleted.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn refresh(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Shows reminders that are due.
    ///
    /// # Errors
    /// When they cannot be read, or it cannot be written down that they were shown.
    fn notify(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Lets go of what is over, and files what has proved itself.
    ///
    /// # Errors
    /// Whatever the store says.
    fn lifecycle(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Has the embedding model read what it has not read yet.
    ///
    /// # Errors
    /// When the model fails, or what it gives cannot be kept.
    fn embed(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Removes from the trash what has been there long enough.
    ///
    /// # Errors
    /// When a file cannot be removed.
    fn purge(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Moves changes into the full text.
    ///
    /// # Errors
    /// When it cannot be written.
    fn flush(&self, stop: &Stop) -> Result<Done, StoreError>;

    /// Dreams as deeply as `level` says.
    ///
    /// # Errors
    /// Whatever the store says.
    fn dream(&self, level: Level, stop: &Stop) -> Result<Done, StoreError>;
}

/// Does one chore.
///
/// # Errors
/// Those of the chore.
pub fn perform(chores: &dyn Chores, chore: Chore, stop: &Stop) -> Result<Done, StoreError> {
    match chore {
        Chore::Refresh => chores.refresh(stop),
        Chore::Notify => chores.notify(stop),
        Chore::Lifecycle => chores.lifecycle(stop),
        Chore::Embed => chores.embed(stop),
        Chore::Purge => chores.purge(stop),
        Chore::Flush => chores.flush(stop),
        Chore::Dream(level) => chores.dream(level, stop),
    }
}
