//! A folder that is made when something is first written there.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::anchor::{Anchor, Fate};
use super::{Disk, RealDisk};

/// A folder on a disk, whether it is there or not.
#[derive(Debug)]
pub(crate) struct LateDisk {
    root: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
    /// What holds on to the folder, if it is one of this machine, which somebody may remove or move.
    anchor: Option<Mutex<Option<Anchor>>>,
}

impl LateDisk {
    /// Returns the folder at `root` of the machine's disk.
    pub(crate) fn new(root: PathBuf) -> Self {
        let anchor = Some(Mutex::new(Anchor::of(&root)));
        Self { root, disk: OnceLock::new(), anchor }
    }

    /// Returns the folder at `root`, where `disk` is what writes there.
    pub(crate) fn on_disk(root: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { root, disk: OnceLock::from(disk), anchor: None }
    }

    /// Returns where it is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the disk, unless there is no folder.
    ///
    /// # Errors
    /// When the folder was moved away: it is not for want of anything that nothing is there.
    pub(crate) fn if_there(&self) -> io::Result<Option<&dyn Disk>> {
        if self.is_there()? { self.opened().map(Some) } else { Ok(None) }
    }

    /// Returns the disk; the folder is made if it is missing.
    ///
    /// # Errors
    /// When it cannot be made, or was moved away: it is not begun anew where it was.
    pub(crate) fn made(&self) -> io::Result<&dyn Disk> {
        if !self.is_there()? {
            RealDisk::open(&self.root)?;
            self.is_there()?;
        }
        self.opened()
    }

    fn opened(&self) -> io::Result<&dyn Disk> {
        if let Some(disk) = self.disk.get() {
            return Ok(disk.as_ref());
        }
        let opened = RealDisk::open(&self.root)?;
        Ok(self.disk.get_or_init(|| Arc::new(opened)).as_ref())
    }

    fn is_there(&self) -> io::Result<bool> {
        let Some(anchor) = &self.anchor else { return Ok(true) };
        let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = anchor.as_ref().filter(|held| held.fate() == Fate::Moved) {
            return Err(held.moved("nothing is begun anew where it was"));
        }
        let is_there = self.root.is_dir();
        let holds = |held: &Anchor| held.is_at(&self.root) == is_there && held.fate() == Fate::Stayed;
        if !anchor.as_ref().is_some_and(holds) {
            *anchor = Anchor::of(&self.root);
        }
        Ok(is_there)
    }
}
