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
    /// The number of components at the end of `root` that must not be symlinks.
    depth: usize,
    access: DiskAccess,
}

#[derive(Debug)]
enum DiskAccess {
    /// A disk of the caller.
    Given(Arc<dyn Disk>),
    /// The machine's disk.
    Real {
        disk: OnceLock<RealDisk>,
        /// Detects that the folder was moved.
        anchor: Mutex<Option<DirHandle>>,
    },
}

impl LazyDisk {
    /// Returns the folder at `root` of the machine's disk.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self::in_project(root, 0)
    }

    /// Returns the folder at `root`, of which the last `depth` components must not be symlinks, because others may have created them.
    pub(crate) fn in_project(root: PathBuf, depth: usize) -> Self {
        let access = DiskAccess::Real {
            disk: OnceLock::new(),
            anchor: Mutex::new(DirHandle::of(&root)),
        };
        Self {
            root,
            depth,
            access,
        }
    }

    /// Returns the folder at `root`, accessed through `disk`.
    pub(crate) fn on_disk(root: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self {
            root,
            depth: 0,
            access: DiskAccess::Given(disk),
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
            self.open_real()?;
            self.exists()?;
        }
        self.open()
    }

    fn open(&self) -> io::Result<&dyn Disk> {
        match &self.access {
            DiskAccess::Given(disk) => Ok(disk.as_ref()),
            DiskAccess::Real { disk, .. } => {
                if let Some(disk) = disk.get() {
                    return Ok(disk);
                }
                let opened = self.open_real()?;
                Ok(disk.get_or_init(|| opened))
            }
        }
    }

    fn open_real(&self) -> io::Result<RealDisk> {
        let base = self
            .root
            .ancestors()
            .nth(self.depth)
            .filter(|_| self.depth != 0);
        let Some((base, path)) =
            base.and_then(|base| Some((base, self.root.strip_prefix(base).ok()?)))
        else {
            return RealDisk::open(&self.root);
        };
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        RealDisk::open_below(base, &parts.join("/"))
    }

    /// Returns whether the folder exists. The disk uses the folder that is at the path now.
    fn exists(&self) -> io::Result<bool> {
        let DiskAccess::Real { disk, anchor } = &self.access else {
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
            if let Some(disk) = disk.get().filter(|_| is_there) {
                disk.replace_folder(&self.open_real()?);
            }
            *anchor = DirHandle::of(&self.root);
        }
        Ok(is_there)
    }
}
