//! Edits a text file that a user maintains, such as the settings.

use std::io;
use std::path::Path;

use memory_core::StoreError;

use crate::disk::{Disk, RealDisk};
use crate::error::io_error;
use crate::lock::{PATIENCE, WriterLock};

/// Replaces the text of a file with the result of `edit`, durably and atomically.
///
/// `edit` gets an empty text if the file does not exist. Concurrent calls for one folder wait for each other, so no edit is lost.
/// The file keeps its owner, group and mode as far as this process may set them; a new file, and folders that are created for it,
/// are accessible only to their owner.
///
/// # Errors
/// An error of `edit`; [`StoreError::Locked`]; or if the file is a symlink, not UTF-8 or read-only, or on an I/O error. In all
/// these cases
/// except a failed sync of the folder at the end the file is unchanged.
pub fn edit_file<E: From<StoreError>>(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<String, E>,
) -> Result<(), E> {
    let refused = |error: io::Error| io_error(format!("edit {}", path.display()), error);
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        refused(io::Error::new(
            io::ErrorKind::InvalidFilename,
            "the file name is not UTF-8",
        ))
    })?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let disk = RealDisk::open(folder).map_err(refused)?;
    let _one_at_a_time = WriterLock::acquire_folder(folder, PATIENCE)?;
    let former = disk.read(name).map_err(refused)?.map(|(bytes, _)| bytes);
    let not_text = |_| {
        refused(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is not UTF-8",
        ))
    };
    let text = String::from_utf8(former.clone().unwrap_or_default()).map_err(not_text)?;
    let edited = edit(&text)?;
    let waiting = format!(".{name}.tmp");
    let placed = || {
        disk.check_writable(name)?;
        disk.write(&waiting, edited.as_bytes())?;
        if former.is_some() {
            disk.copy_permissions(&waiting, name)?;
        }
        disk.sync_file(&waiting)?;
        disk.rename(&waiting, name)
    };
    if let Err(error) = placed() {
        // If this fails too, the next edit overwrites it.
        let _ = disk.remove(&waiting);
        return Err(refused(error).into());
    }
    Ok(disk.sync_folder("").map_err(refused)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn edits_at_the_same_time_are_all_there() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/config.yaml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    edit_file(path, |text| {
                        Ok::<_, StoreError>(format!("{text}{number}\n"))
                    })
                    .unwrap();
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0", "1", "2", "3", "4", "5", "6", "7"]);
        if cfg!(not(portable_system)) {
            // The portable implementation sets no modes, and uses a lock file.
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
            assert_eq!(fs::read_dir(home.path().join("new")).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_may_not_be_edited_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let (own, link) = (
            home.path().join("own.yaml"),
            home.path().join("config.yaml"),
        );
        fs::write(&own, "a").unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&own, &link).unwrap();
        edit_file(&link, |_| Ok::<_, StoreError>("b".into())).unwrap_err();
        assert!(link.is_symlink());
        let refusal = || StoreError::Locked {
            home: "of another".into(),
            seconds: 0,
            holder: None,
        };
        assert_eq!(
            edit_file(&own, |_| Err(refusal())).unwrap_err().to_string(),
            refusal().to_string()
        );
        assert_eq!(fs::read_to_string(&own).unwrap(), "a");
        edit_file(&own, |text| Ok::<_, StoreError>(format!("{text}b"))).unwrap();
        assert_eq!(fs::read_to_string(&own).unwrap(), "ab");
        assert_eq!(
            fs::metadata(&own).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
