//! Reading files for the index.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::now::now_ns;
use super::row::Row;
use super::trouble::Trouble;
use crate::disk::{Disk, Signature};
use crate::file::load;

/// With fewer files a second thread costs more than it gives.
const WORTH_A_THREAD: usize = 32;

/// How many files may have been read and not yet been taken.
const AHEAD: usize = 256;

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Reading {
    /// A document.
    Row(Box<Row>),
    /// It is there but cannot be read.
    Refused(String, Signature),
    /// It is not there.
    Gone(String),
}

/// Reads the file at `path`.
pub(super) fn read(disk: &dyn Disk, path: &str) -> Reading {
    // The time is taken first: whatever happens from here on makes the file newer than that.
    let now = now_ns();
    match load(disk, path) {
        Ok(Some(loaded)) => Reading::Row(Box::new(Row::of(&loaded, now))),
        Ok(None) => Reading::Gone(path.to_owned()),
        Err(_) => {
            let unknown = Signature { size: 0, modified_ns: 0, changed_ns: 0, inode: 0, is_folder: false };
            let signature = disk.signature(path).ok().flatten().unwrap_or(unknown);
            Reading::Refused(path.to_owned(), signature)
        }
    }
}

/// Reads many files, on two threads, and hands each to `take` on this one, in no order.
pub(super) fn read_each(
    disk: &dyn Disk,
    paths: &[String],
    take: &mut dyn FnMut(Reading) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    if paths.len() < WORTH_A_THREAD {
        return paths.iter().try_for_each(|path| take(read(disk, path)));
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        for _ in 0..2 {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Nobody listens any longer once something went wrong.
                    if sender.send(read(disk, path)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(take)
    })
}
