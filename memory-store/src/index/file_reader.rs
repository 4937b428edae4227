//! Reads files for the index.

use std::sync::mpsc::sync_channel;
use std::thread;

use memory_core::StoreError;

use super::error::IndexError;
use super::row::DocumentRow;
use crate::disk::{Disk, FileStat, now_ns};
use crate::memory_file::load;

/// Minimum number of files for a second thread; with fewer it costs more than it saves.
const MIN_FILES_FOR_THREAD: usize = 32;

/// Number of files per message: a wakeup of the receiver for each file would dominate the cost.
const FILES_PER_MESSAGE: usize = 16;

/// Maximum number of messages in a channel.
const MAX_QUEUED_MESSAGES: usize = 16;

/// The result of reading a file.
#[derive(Debug)]
pub(super) enum FileReadResult {
    /// The row of a readable document.
    Row(Box<DocumentRow>),
    /// The path and signature of a file that cannot be read.
    Refused(String, FileStat),
    /// The path of a file that does not exist.
    Gone(String),
}

/// Reads the file at `path`.
pub(super) fn read_file(disk: &dyn Disk, path: &str) -> FileReadResult {
    // The time is read first: any later change makes the file newer.
    let now = now_ns();
    match load(disk, path) {
        Ok(Some(loaded)) => FileReadResult::Row(Box::new(DocumentRow::of(&loaded, now))),
        Ok(None) => FileReadResult::Gone(path.to_owned()),
        Err(error) => {
            // A backend error may be temporary although the file stays the same, so a signature that never matches forces another attempt.
            let may_pass = matches!(error, StoreError::Backend { .. });
            let unknown = FileStat {
                size: 0,
                modified_ns: 0,
                changed_ns: 0,
                inode: 0,
                is_folder: false,
            };
            let signature = if may_pass {
                None
            } else {
                disk.stat(path).ok().flatten()
            }
            .unwrap_or(unknown);
            FileReadResult::Refused(path.to_owned(), signature)
        }
    }
}

/// Reads files on two threads, and passes the results to `take` on the current thread, in order.
pub(super) fn read_files(
    disk: &dyn Disk,
    paths: &[String],
    take: &mut dyn FnMut(FileReadResult) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    if paths.len() < MIN_FILES_FOR_THREAD {
        return paths
            .iter()
            .try_for_each(|path| take(read_file(disk, path)));
    }
    thread::scope(|scope| {
        // Each thread reads every other portion, and the portions are received in turn.
        let lanes = [0, 1].map(|lane| {
            let (sender, receiver) = sync_channel(MAX_QUEUED_MESSAGES);
            scope.spawn(move || {
                for portion in paths.chunks(FILES_PER_MESSAGE).skip(lane).step_by(2) {
                    let readings: Vec<FileReadResult> =
                        portion.iter().map(|path| read_file(disk, path)).collect();
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
