//! Which folders count as this user's own.
//!
//! A folder that another user owns or can change may contain settings, topics and values of that user. It is refused unless this
//! user trusts it.

use std::error::Error;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use memory_core::StoreError;

use crate::system::access_of_strangers;

/// The trusted folders of this process, without symlinks.
static TRUSTED: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// A file or folder that another user owns or can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFolder {
    place: PathBuf,
    why: String,
}

impl fmt::Display for ForeignFolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.place.display(), self.why)
    }
}

impl Error for ForeignFolder {}

impl From<ForeignFolder> for io::Error {
    fn from(found: ForeignFolder) -> Self {
        Self::other(found)
    }
}

impl From<&ForeignFolder> for StoreError {
    fn from(found: &ForeignFolder) -> Self {
        Self::Foreign {
            folder: found.place.display().to_string(),
            why: found.why.clone(),
        }
    }
}

/// Trusts these folders and all that is in them, for this process.
pub fn trust_folders(folders: impl IntoIterator<Item = PathBuf>) {
    let mut trusted = TRUSTED.write().unwrap_or_else(PoisonError::into_inner);
    for folder in folders {
        let folder = folder.canonicalize().unwrap_or(folder);
        if !trusted.contains(&folder) {
            trusted.push(folder);
        }
    }
}

/// Checks that only this user and root can change the file or folder at `place`, or that this user trusts it. A missing one passes.
///
/// # Errors
/// [`ForeignFolder`].
pub fn check_owner(place: &Path) -> Result<(), ForeignFolder> {
    let link = place.symlink_metadata().ok();
    let target = link
        .as_ref()
        .filter(|found| found.is_symlink())
        .and_then(|_| place.metadata().ok());
    link.iter()
        .chain(&target)
        .try_for_each(|found| check_metadata(place, found))
}

/// Checks the file or folder at `place`, as [`check_owner`] does, by its metadata.
pub(crate) fn check_metadata(place: &Path, found: &Metadata) -> Result<(), ForeignFolder> {
    match access_of_strangers(place, found) {
        Some(why) if !is_trusted(place) => Err(ForeignFolder {
            place: place.to_owned(),
            why,
        }),
        _ => Ok(()),
    }
}

/// Returns whether this user trusts the file or folder at `place`.
pub fn is_trusted(place: &Path) -> bool {
    let trusted = TRUSTED.read().unwrap_or_else(PoisonError::into_inner);
    let whole = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    trusted.iter().any(|folder| whole.starts_with(folder))
}

#[cfg(all(test, unix, not(portable_system)))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use memory_core::testing::leave_out;

    use super::*;

    #[test]
    fn a_folder_that_others_can_change_is_foreign_until_it_is_trusted() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let check = |mode: u32| {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            check_owner(&folder).map_err(|found| found.to_string())
        };
        for mode in [0o700, 0o755, 0o500] {
            assert_eq!(check(mode), Ok(()));
        }
        for mode in [0o777, 0o703, 0o1777] {
            let shown = format!(
                "{} can be changed by other users (mode {:04o})",
                folder.display(),
                mode & 0o777
            );
            assert_eq!(check(mode), Err(shown));
        }
        assert_eq!(check_owner(&folder.join("missing")), Ok(()));
        symlink(&folder, base.path().join("link")).unwrap();
        check_owner(&base.path().join("link")).unwrap_err();
        trust_folders([base.path().to_owned()]);
        assert_eq!(check_owner(&folder), Ok(()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_with_an_access_list_of_others_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = 2_u32.to_le_bytes().to_vec();
        let anybody = u32::MAX;
        for (tag, id) in [
            (0x01_u16, anybody),
            (0x02, 1001),
            (0x04, anybody),
            (0x10, anybody),
            (0x20, anybody),
        ] {
            let permissions = if tag == 0x20 { 0_u16 } else { 7 };
            list.extend_from_slice(&tag.to_le_bytes());
            list.extend_from_slice(&permissions.to_le_bytes());
            list.extend_from_slice(&id.to_le_bytes());
        }
        let name = c"system.posix_acl_access";
        let flags = rustix::fs::XattrFlags::empty();
        if rustix::fs::lsetxattr(folder.path(), name, &list, flags).is_err() {
            leave_out("the file system has no access control lists");
            return;
        }
        let found = check_owner(folder.path()).unwrap_err().to_string();
        assert!(found.contains("can be changed by other users"), "{found}");
    }

    #[test]
    fn a_folder_of_another_user_or_group_is_foreign() {
        let base = tempfile::tempdir().unwrap();
        let given = |owner: u32, group: u32, mode: u32| {
            let folder = base.path().join(format!("{owner}-{group}-{mode:o}"));
            fs::create_dir(&folder).unwrap();
            // Only root can give a folder away.
            chown(&folder, Some(owner), Some(group)).ok()?;
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            Some(check_owner(&folder).is_ok())
        };
        let own = rustix::process::geteuid().as_raw();
        if given(own + 1001, own + 1001, 0o755).is_none() {
            eprintln!(
                "left out: trust::tests::a_folder_of_another_user_or_group_is_foreign: it needs root"
            );
            return;
        }
        assert_eq!(given(own + 1001, own, 0o700), Some(false));
        assert_eq!(given(own, own + 1001, 0o775), Some(false));
        assert_eq!(given(own, own + 1001, 0o755), Some(true));
        assert_eq!(given(own, own, 0o775), Some(true), "a private group");
    }
}
