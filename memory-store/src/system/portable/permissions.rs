//! Owners and permissions, which follow from the parent folder.

use std::fs::Metadata;
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

/// Changes nothing: a new folder has the access rules of its parent.
pub(crate) fn restrict_to_owner(_: &mut tempfile::Builder<'_, '_>) {}

/// Returns `None`: users have no numbers.
pub fn user_id_of_owner(_: &Path) -> Option<u32> {
    None
}

/// Returns `None`: the access rules of the parent folder apply, and they are not read.
pub fn access_of_strangers(_: &Path, _: &Metadata) -> Option<String> {
    None
}
