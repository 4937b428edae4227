//! Files that may be deleted at any time.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Writes a file that may be deleted at any time, in one step: whoever reads it sees what was there before, or this. A power cut
/// may lose it. Only its owner may read it, and the folders below `root`, which are made if they are not there.
pub(crate) fn write(root: &Path, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let folders: Vec<&Path> = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    folders.into_iter().rev().try_for_each(|folder| make_folder(&root.join(folder)))?;
    let place = root.join(path);
    let mut file = tempfile::Builder::new().prefix(".derived-").tempfile_in(place.parent().unwrap_or(root))?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}

/// Makes a folder whose parent is there: a home that was moved away is not begun anew in its former place.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}
