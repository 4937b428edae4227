//! Owners and permissions, which follow from the parent folder.

use std::fs::{Metadata, Permissions};
use std::io;
use std::path::Path;

/// Returns `false`: the access rules of the parent folder apply, and they are not read.
pub fn is_accessible_to_others(_: &Metadata) -> bool {
    false
}

/// Leaves the file unchanged.
///
/// # Errors
/// Never.
pub fn remove_access_of_others(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns `None`: a new folder has the access rules of its parent.
pub(crate) fn private_folder_permissions() -> Option<Permissions> {
    None
}

/// Returns `None`: users have no numbers.
pub fn user_id_of_owner(_: &Path) -> Option<u32> {
    None
}

/// Returns `None`: the access rules of the parent folder apply, and they are not read.
pub fn access_of_strangers(_: &Path, _: &Metadata) -> Option<String> {
    None
}
