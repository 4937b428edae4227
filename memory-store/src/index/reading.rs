//! Reads files for the index.

use std::sync::mpsc::sync_channel;
use std::thread;

use memory_core::StoreError;

use super::now::now_ns;
use super::row::Row;
use super::trouble::Trouble;
use crate::disk::{Disk, Signature};
use crate::file::load;

/// Minimum number of files for a second thread; with fewer it costs more than it saves.
const WORTH_A_THREAD: usize = 32;

/// Number of files per message: a wakeup of the receiver for each file would dominate the cost.
const PORTION: usize = 16;

/// Maximum number of messages in a channel.
const AHEAD: usize = 16;

/// The result of reading a file.
#[derive(Debug)]
pub(super) enum Reading {
    /// The row of a readable document.
    Row(Box<Row>),
    /// The path and signature of a file that cannot be read.
    Refused(String, Signature),
    /// The path of a file that does not exist.
    Gone(String),
}

/// Reads the file at `path`.
pub(super) fn read(disk: &dyn Disk, path: &str) -> Reading {
    // The time is read first: any later change makes the file newer.
    let now = now_ns();
    match load(disk, path) {
        Ok(Some(loaded)) => Reading::Row(Box::new(Row::of(&loaded, now))),
        Ok(None) => Reading::Gone(path.to_owned()),
        Err(error) => {
            // A backend error may be temporary although the file stays the same, so a signature that never matches forces another attempt.
            let may_pass = matches!(error, StoreError::Backend { .. });
            let unknown = Signature { size: 0, modified_ns: 0, changed_ns: 0, inode: 0, is_folder: false };
            let signature = if may_pass { None } else { disk.signature(path).ok().flatten() }.unwrap_or(unknown);
            Reading::Refused(path.to_owned(), signature)
        }
    }
}

/// Reads files on two threads, and passes the results to `take` on the current thread, in order.
pub(super) fn read_each(
    disk: &dyn Disk,
    paths: &[String],
    take: &mut dyn FnMut(Reading) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    if paths.len() < WORTH_A_THREAD {
        return paths.iter().try_for_each(|path| take(read(disk, path)));
    }
    thread::scope(|scope| {
        // Each thread reads every other portion, and the portions are received in turn.
        let lanes = [0, 1].map(|lane| {
            let (sender, receiver) = sync_channel(AHEAD);
            scope.spawn(move || {
                for portion in paths.chunks(PORTION).skip(lane).step_by(2) {
                    let readings: Vec<Reading> = portion.iter().map(|path| read(disk, path)).collect();
                    // The receiver is dropped after an error.
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
