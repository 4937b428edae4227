//! Operations on whole files: replacing them durably, and copying them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

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

/// Copies a file with its modification time.
///
/// Other code compares the modification time to detect changes.
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let written = from.metadata()?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(written)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_copy_is_as_old_as_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let written = SystemTime::UNIX_EPOCH + Duration::from_micros(1_800_000_000_123_456);
        fs::write(&one, "text").unwrap();
        File::options()
            .write(true)
            .open(&one)
            .unwrap()
            .set_modified(written)
            .unwrap();
        copy_with_time(&one, &other).unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"text");
        assert_eq!(other.metadata().unwrap().modified().unwrap(), written);
    }
}
