//! Appends lines to files.

use std::io;

use super::Disk;

/// Appends a line to a file, durably.
///
/// If a crash left an incomplete line at the end, the new line starts after a line break.
pub(crate) fn append_line(disk: &dyn Disk, path: &str, line: &[u8]) -> io::Result<()> {
    let size = disk.stat(path)?.map(|found| found.size);
    let last = size.and_then(|size| size.checked_sub(1)).map(|at| disk.read_part(path, at, 1)).transpose()?;
    let is_torn = last.is_some_and(|last| last != b"\n");
    let bytes = [if is_torn { b"\n".as_slice() } else { b"" }, line, b"\n"].concat();
    disk.append(path, &bytes)?;
    match (size, path.rsplit_once('/')) {
        (None, folder) => disk.sync_folder(folder.map_or("", |(folder, _)| folder)),
        _ => Ok(()),
    }
}
