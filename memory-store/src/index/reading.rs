//! Reading files for the index.

use std::sync::mpsc::sync_channel;
use std::thread;

use memory_core::StoreError;

use super::now::now_ns;
use super::row::Row;
use super::trouble::Trouble;
use crate::disk::{Disk, Signature};
use crate::file::load;

/// With fewer files a second thread costs more than it gives.
const WORTH_A_THREAD: usize = 32;

/// How many files are handed over at once: a thread that is woken for each does little else.
const PORTION: usize = 16;

/// How many portions may have been read and not yet been taken.
const AHEAD: usize = 16;

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
        Err(error) => {
            // What the disk refuses now it may not refuse the next time, though the file stays the same.
            let may_pass = matches!(error, StoreError::Backend { .. });
            let unknown = Signature { size: 0, modified_ns: 0, changed_ns: 0, inode: 0, is_folder: false };
            let signature = if may_pass { None } else { disk.signature(path).ok().flatten() }.unwrap_or(unknown);
            Reading::Refused(path.to_owned(), signature)
        }
    }
}

/// Reads many files, on two threads, and hands each to `take` on this one, in their order.
pub(super) fn read_each(
    disk: &dyn Disk,
    paths: &[String],
    take: &mut dyn FnMut(Reading) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    if paths.len() < WORTH_A_THREAD {
        return paths.iter().try_for_each(|path| take(read(disk, path)));
    }
    thread::scope(|scope| {
        // Each thread reads every other portion, and they are taken from the two in turn.
        let lanes = [0, 1].map(|lane| {
            let (sender, receiver) = sync_channel(AHEAD);
            scope.spawn(move || {
                for portion in paths.chunks(PORTION).skip(lane).step_by(2) {
                    let readings: Vec<Reading> = portion.iter().map(|path| read(disk, path)).collect();
                    // Nobody listens any longer once something went wrong.
                    if sender.send(readings).is_err() {
                        return;
                    }
                }
            });
            receiver
        });
        let portions = (0..).map_while(|number: usize| lanes[number % 2].recv().ok());
        portions.flatten().try_for_each(take)
    })
}
