//! A folder that is created on the first write.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::dir_handle::{DirHandle, DirState};
use super::{Disk, RealDisk};

/// A folder that may not exist yet.
#[derive(Debug)]
pub(crate) struct LazyDisk {
    root: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
    /// Detects that the folder was moved. `None` if the disk was given by the caller.
    anchor: Option<Mutex<Option<DirHandle>>>,
}

impl LazyDisk {
    /// Returns the folder at `root` of the machine's disk.
    pub(crate) fn new(root: PathBuf) -> Self {
        let anchor = Some(Mutex::new(DirHandle::of(&root)));
        Self {
            root,
            disk: OnceLock::new(),
            anchor,
        }
    }

    /// Returns the folder at `root`, accessed through `disk`.
    pub(crate) fn on_disk(root: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self {
            root,
            disk: OnceLock::from(disk),
            anchor: None,
        }
    }

    /// Returns the path of the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the disk, or `None` if the folder does not exist.
    ///
    /// # Errors
    /// If the folder was moved, so that its absence does not mean that it is empty; or on an I/O error.
    pub(crate) fn get(&self) -> io::Result<Option<&dyn Disk>> {
        if self.exists()? {
            self.open().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the disk, and creates the folder if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be created, or was moved: it is not created again at its old path.
    pub(crate) fn get_or_create(&self) -> io::Result<&dyn Disk> {
        if !self.exists()? {
            RealDisk::open(&self.root)?;
            self.exists()?;
        }
        self.open()
    }

    fn open(&self) -> io::Result<&dyn Disk> {
        if let Some(disk) = self.disk.get() {
            return Ok(disk.as_ref());
        }
        let opened = RealDisk::open(&self.root)?;
        Ok(self.disk.get_or_init(|| Arc::new(opened)).as_ref())
    }

    fn exists(&self) -> io::Result<bool> {
        let Some(anchor) = &self.anchor else {
            return Ok(true);
        };
        let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = anchor
            .as_ref()
            .filter(|held| held.state() == DirState::Moved)
        {
            return Err(held.moved_error("it is not created again at its former path"));
        }
        let is_there = self.root.is_dir();
        let holds = |held: &DirHandle| {
            held.is_at(&self.root) == is_there && held.state() == DirState::Stayed
        };
        if !anchor.as_ref().is_some_and(holds) {
            *anchor = DirHandle::of(&self.root);
        }
        Ok(is_there)
    }
}
