//! The file of the index.

use memory_core::topic::{INDEX_FILE, TopicError, Uses, index_text};

use super::error::{damaged, not_written};
use super::files::bytes;
use super::list::topics;
use crate::disk::Disk;
use crate::markdown::as_text;

/// Where an index waits until it may take its place.
const WAITING: &str = ".index.tmp";

/// How often an index is made anew because somebody who takes no lock changed it in between.
const TRIES: usize = 3;

/// Returns the text of the index, or `None` if there is none.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<String>, TopicError> {
    let Some(bytes) = bytes(disk, INDEX_FILE)? else { return Ok(None) };
    match as_text(&bytes) {
        (_, Some(fault)) => Err(damaged(INDEX_FILE, fault)),
        (text, None) => Ok(Some(text.into_owned())),
    }
}

/// Makes the index anew, and tells whether that changed it. The caller holds the lock.
pub(super) fn rebuild(disk: &dyn Disk, uses: &Uses) -> Result<bool, TopicError> {
    let told = not_written(INDEX_FILE);
    for _ in 0..TRIES {
        let former = read(disk)?;
        let next = index_text(&topics(disk)?.topics, uses, former.as_deref());
        if former.as_deref() == Some(&next) {
            return Ok(false);
        }
        disk.write(WAITING, next.as_bytes()).and_then(|()| disk.sync_file(WAITING)).map_err(&told)?;
        if read(disk)? == former {
            disk.rename(WAITING, INDEX_FILE).map_err(&told)?;
            return Ok(true);
        }
    }
    Err(TopicError::Conflict { name: INDEX_FILE.to_owned() })
}
