//! A folder that is made when something is first written there.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::{Disk, RealDisk};

/// A folder on a disk, whether it is there or not.
#[derive(Debug)]
pub(crate) struct LateDisk {
    root: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
    /// Whether the folder is one of this machine, which somebody may remove.
    is_real: bool,
}

impl LateDisk {
    /// Returns the folder at `root` of the machine's disk.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, disk: OnceLock::new(), is_real: true }
    }

    /// Returns the folder at `root`, where `disk` is what writes there.
    pub(crate) fn on_disk(root: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { root, disk: OnceLock::from(disk), is_real: false }
    }

    /// Returns where it is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the disk, unless there is no folder.
    pub(crate) fn if_there(&self) -> io::Result<Option<&dyn Disk>> {
        if self.is_real && !self.root.is_dir() {
            return Ok(None);
        }
        self.made().map(Some)
    }

    /// Returns the disk; the folder is made if it is missing.
    pub(crate) fn made(&self) -> io::Result<&dyn Disk> {
        if let Some(disk) = self.disk.get() {
            if self.is_real && !self.root.is_dir() {
                RealDisk::open(&self.root)?;
            }
            return Ok(disk.as_ref());
        }
        let opened = RealDisk::open(&self.root)?;
        Ok(self.disk.get_or_init(|| Arc::new(opened)).as_ref())
    }
}
