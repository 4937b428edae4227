//! Owners and permissions.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::Path;

/// Returns whether users other than the owner have access to a file or folder.
pub fn is_accessible_to_others(found: &Metadata) -> bool {
    found.permissions().mode() & 0o077 != 0
}

/// Removes all permissions of group and others from a file, of which `found` is the metadata.
///
/// # Errors
/// If the permissions cannot be changed.
pub fn remove_access_of_others(path: &Path, found: &Metadata) -> io::Result<()> {
    if !is_accessible_to_others(found) {
        return Ok(());
    }
    fs::set_permissions(
        path,
        Permissions::from_mode(found.permissions().mode() & 0o700),
    )
}

/// Returns the permissions of a new folder that only its owner can access; `None` if they cannot be set.
pub fn private_folder_permissions() -> Option<Permissions> {
    Some(Permissions::from_mode(0o700))
}

/// Gives a file, of which `own` is the metadata, the mode of another, and its owner and group as far as this process may.
///
/// # Errors
/// If the permissions cannot be changed.
pub fn copy_owner_and_permissions(path: &Path, own: &Metadata, other: &Metadata) -> io::Result<()> {
    let (owner, group) = (Some(other.uid()), Some(other.gid()));
    // Only a privileged process may change the owner; the others set the group and mode as far as they may.
    if own.uid() != other.uid() && lchown(path, owner, group).is_ok() {
        return fs::set_permissions(path, Permissions::from_mode(other.mode() & 0o777));
    }
    if own.gid() != other.gid() {
        let _ = lchown(path, None, group);
    }
    fs::set_permissions(path, Permissions::from_mode(other.mode() & 0o777))
}

/// Returns the id of the user who owns a file or folder, if the system has such ids.
pub fn user_id_of_owner(path: &Path) -> Option<u32> {
    Some(path.metadata().ok()?.uid())
}
