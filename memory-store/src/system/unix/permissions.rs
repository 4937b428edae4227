//! Owners and permissions.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

/// Lets the builder of a temporary folder give access to its owner only.
pub(crate) fn restrict_to_owner(folder: &mut tempfile::Builder<'_, '_>) {
    folder.permissions(Permissions::from_mode(0o700));
}

/// Returns the id of the user who owns a file or folder, if the system has such ids.
pub fn user_id_of_owner(path: &Path) -> Option<u32> {
    Some(path.metadata().ok()?.uid())
}

/// Returns why users other than this one and root can change the file or folder at `place` with the metadata `found`, if they can.
///
/// A group with the number of the owner is the private group that many systems create for each user. With an access control list, the
/// permissions of the group are those of all users that it lists.
pub fn access_of_strangers(place: &Path, found: &Metadata) -> Option<String> {
    let (owner, own) = (found.uid(), rustix::process::geteuid().as_raw());
    let mode = found.mode() & 0o777;
    let is_group_own = found.gid() == owner && !(mode & 0o020 != 0 && has_access_list(place));
    let writers = if is_group_own { 0o002 } else { 0o022 };
    if owner != own && owner != 0 {
        Some(format!("belongs to another user (uid {owner})"))
    } else if !found.is_symlink() && mode & writers != 0 {
        Some(format!("can be changed by other users (mode {mode:04o})"))
    } else {
        None
    }
}

/// Returns whether a file or folder has an access control list.
#[cfg(target_os = "linux")]
fn has_access_list(place: &Path) -> bool {
    rustix::fs::lgetxattr_query(place, c"system.posix_acl_access").is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_access_list(_: &Path) -> bool {
    false
}
