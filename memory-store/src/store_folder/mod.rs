//! The folder of a store, alone or as a replica of files in a database.

mod copy;
mod replica;
mod replica_state;

pub(crate) use self::replica::FolderReplica;
pub(crate) use self::replica::is_visible;
#[cfg(feature = "postgres")]
pub(crate) use self::replica::{ReplicaLayout, is_in_log_folder};

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::StoreError;

use crate::disk::{Disk, LazyDisk};
use crate::lock::WriterLock;

/// The folder of a store, which may not exist yet.
#[derive(Debug)]
pub(crate) struct StoreFolder {
    place: LazyDisk,
    replica: Option<FolderReplica>,
}

impl StoreFolder {
    /// Returns a folder that is no replica.
    pub(crate) fn new(place: LazyDisk) -> Self {
        Self {
            place,
            replica: None,
        }
    }

    /// Returns a replica.
    #[cfg(feature = "postgres")]
    pub(crate) fn shared(place: LazyDisk, replica: FolderReplica) -> Self {
        Self {
            place,
            replica: Some(replica),
        }
    }

    /// Returns the path of the folder.
    pub(crate) fn root(&self) -> &Path {
        self.place.root()
    }

    /// Applies the changes of other nodes, if the folder is a replica and this is due.
    ///
    /// # Errors
    /// If the database cannot be reached and the replica was never complete, or if another process holds the lock for `patience`.
    pub(crate) fn catch_up(&self, patience: Duration) -> Result<(), StoreError> {
        match &self.replica {
            Some(replica) if replica.connection.is_due() => self.catch_up_now(patience),
            _ => Ok(()),
        }
    }

    /// Applies the changes of other nodes, if the folder is a replica, as [`StoreFolder::catch_up`] does when this is due.
    pub(crate) fn catch_up_now(&self, patience: Duration) -> Result<(), StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(());
        };
        if replica.catch_up(&self.place, patience)? {
            // Readers with a cache detect the changes by the generation. An active writer writes another one at its end.
            let disk = self.place.get_or_create();
            let lock = disk.map(|disk| WriterLock::acquire(disk, self.root(), Duration::ZERO));
            let _ = lock.map(|lock| lock.map(|lock| lock.write_generation()));
        }
        Ok(())
    }

    /// Returns a number that increases when changes of other nodes are applied through this value.
    pub(crate) fn applied_changes(&self) -> u64 {
        let replica = self.replica.as_ref();
        replica.map_or(0, |replica| replica.applied.load(Ordering::Relaxed))
    }

    /// Returns whether the folder is a replica.
    pub(crate) fn is_shared(&self) -> bool {
        self.replica.is_some()
    }

    /// Returns the disk, or `None` if the folder does not exist.
    ///
    /// # Errors
    /// If the folder was moved, so that its absence does not mean that it is empty; or on an I/O error.
    pub(crate) fn get(&self) -> io::Result<Option<&dyn Disk>> {
        self.place.get()
    }

    /// Returns the disk, and creates the folder if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be created, or was moved: it is not created again at its old path.
    pub(crate) fn get_or_create(&self) -> io::Result<&dyn Disk> {
        self.place.get_or_create()
    }

    /// Copies the files of the folder at `source` into the database, and returns their number.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the folder is not a replica, or if the database contains other files of it; or if the database cannot be
    /// reached.
    pub(crate) fn copy_files(&self, source: &Path) -> Result<usize, StoreError> {
        let missing = || StoreError::Invalid {
            why: format!("{} is not a replica", self.root().display()),
        };
        self.replica
            .as_ref()
            .ok_or_else(missing)?
            .copy_files(source)
    }

    /// Runs `work`, which changes files of `disk`.
    ///
    /// In a replica, `work` runs on a copy in memory, again after a change of another node, and its changes are made in the database first.
    ///
    /// # Errors
    /// The error of `work`, or one of the database. Then nothing was changed, unless the connection was lost during the commit.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        disk: &dyn Disk,
        patience: Duration,
        mut work: impl FnMut(&dyn Disk) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.replica {
            Some(replica) => replica.write(self.root(), disk, patience, work),
            None => work(disk),
        }
    }
}
