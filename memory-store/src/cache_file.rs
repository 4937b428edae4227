//! Files that may be deleted at any time.

use std::io::{self, Write};
use std::path::Path;

use crate::system::private_folder_builder;

/// Writes a file that may be deleted at any time, atomically.
///
/// Readers see the previous content or the new one; a power cut may lose the file. The file and the folders below `root`, which
/// are created if missing, are accessible only to their owner.
pub(crate) fn write(root: &Path, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let folders: Vec<&Path> = path
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    folders
        .into_iter()
        .rev()
        .try_for_each(|folder| create_folder(&root.join(folder)))?;
    let place = root.join(path);
    let mut file = tempfile::Builder::new()
        .prefix(".derived-")
        .tempfile_in(place.parent().unwrap_or(root))?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}

/// Creates a folder in an existing parent.
///
/// It does not create parents, so that a home that was moved away does not reappear at its old path.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    match private_folder_builder().create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}
