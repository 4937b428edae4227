//! Replacing files durably.

use std::io;

use super::{Disk, parent_folder};

/// Writes the new content of a file to a temporary path, durably, with the mode and the owner of the file `like`.
pub(crate) fn stage_file(
    disk: &dyn Disk,
    waiting: &str,
    bytes: &[u8],
    like: Option<&str>,
) -> io::Result<()> {
    let staged = disk.write(waiting, bytes).and_then(|()| {
        // On failure, or if the other file was deleted, only the owner of the new file can read it.
        let _ = like.map(|like| disk.copy_permissions(waiting, like));
        disk.sync_file(waiting)
    });
    // A partial file is useless. If its deletion fails too, the next writer deletes or overwrites it.
    staged.inspect_err(|_| drop(disk.remove(waiting)))
}

/// Writes or replaces a file, durably and atomically; the new content is first written to the path `waiting`.
pub(crate) fn replace_file(
    disk: &dyn Disk,
    waiting: &str,
    path: &str,
    bytes: &[u8],
) -> io::Result<()> {
    stage_file(disk, waiting, bytes, None)?;
    disk.rename(waiting, path)
        .inspect_err(|_| drop(disk.remove(waiting)))?;
    disk.sync_folder(parent_folder(path))
}
