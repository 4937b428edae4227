//! Operations on whole files: replacing them durably, copying, listing and syncing them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::{DirEntryKind, Disk, parent_folder};

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

/// Returns the paths of the files below `folder`, in the folders that `is_wanted` selects, sorted.
pub(crate) fn list_files(
    disk: &dyn Disk,
    folder: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in disk.list_folder(&folder)? {
            let path = if folder.is_empty() {
                entry.name
            } else {
                format!("{folder}/{}", entry.name)
            };
            match entry.kind {
                DirEntryKind::Folder if is_wanted(&path) => folders.push(path),
                DirEntryKind::File => files.push(path),
                DirEntryKind::Folder | DirEntryKind::Other => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Syncs those files that exist, and their folders; everything on the disk if the system does that in one call.
pub(crate) fn sync_files(disk: &dyn Disk, paths: &[String]) -> io::Result<()> {
    if paths.is_empty() || disk.sync_everything()? {
        return Ok(());
    }
    let mut folders = BTreeSet::new();
    for path in paths {
        if disk.stat(path)?.is_some() {
            disk.sync_file(path)?;
            folders.insert(parent_folder(path));
        }
    }
    folders
        .into_iter()
        .try_for_each(|folder| disk.sync_folder(folder))
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
