//! Calls that differ between operating systems.
//!
//! `unix` uses the calls of Linux, macOS and other Unix systems. `portable` uses the standard library only and runs on
//! Windows. `--cfg portable_system` selects `portable` on Unix as well, so that tests on Linux run with it.
//!
//! | concern | `unix` | `portable` |
//! |---|---|---|
//! | access below a folder without following a symlink | by descriptors, with `O_NOFOLLOW` | by paths, with a check just before; a symlink that is created in between is followed |
//! | access of other users | modes 0600 and 0700; folders of others are refused | the access rules of the parent folder, such as the profile of the user |
//! | identity of a file | device and inode | Windows: volume and file number for open files; else the creation time |
//! | change time of a file | the time of the last change of content, names or permissions | the modification time |
//! | sync of a folder | `fsync` | none on Windows |
//! | process that holds a lock | Linux: `/proc/locks` | not known |
//! | lock of a folder | a lock of the folder itself | a lock of a hidden file in it |
//! | limits of a process on memory and CPU time, core dumps | resource limits | none |
//! | end of a child process with its parent | Linux: a signal | none |
//! | replacement of the running program | `exec` | a child process; the parent waits for it and exits with its exit code |
//!
//! Nothing else in the workspace depends on the operating system, except the file watcher of the daemon, the allocator of the
//! program, and the sockets and processes in the module `system` of `memory-agent`.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use tempfile::TempDir;

mod open_folder;
/// The functions with the standard library only, for Windows and other systems.
#[cfg(any(not(unix), portable_system))]
mod portable {
    pub(super) mod file;
    pub(super) mod folder;
    pub(super) mod process;
}
/// The calls of Linux, macOS and other Unix systems.
#[cfg(all(unix, not(portable_system)))]
mod unix {
    pub(super) mod file;
    pub(super) mod folder;
    pub(super) mod process;
}

#[cfg(any(not(unix), portable_system))]
use self::portable as current;
#[cfg(all(unix, not(portable_system)))]
use self::unix as current;

pub use current::file::{
    access_of_strangers, entry_inode, file_stat, identity_of_file, identity_of_path,
    is_accessible_to_others, is_deleted, is_lock_violation, is_symlink_error, is_unsupported,
    lock_holder, open_folder, open_folder_lock, open_no_follow, open_no_follow_nonblocking,
    owner_only, private_folder_builder, read_exact_at, remove_access_of_others, symlink_error,
    sync_file, sync_file_system, sync_folder, user_id_of_owner, write_all_at,
};
pub use current::process::{
    disable_core_dumps, end_with_parent, exceeded_cpu_time, free_space, limit_resources,
    raise_open_files_limit, replace_process,
};
pub use open_folder::{EntryType, FileAccess, FileIdentity, OpenFolder};

/// Creates a temporary folder in `parent` that only its owner can access, whatever the process grants to new files.
///
/// # Errors
/// If the folder cannot be created.
pub fn private_temp_folder(parent: &Path, prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    current::file::restrict_to_owner(&mut builder);
    builder.tempdir_in(parent)
}

/// Reads a file of at most `max` bytes, wherever symlinks lead, without waiting for a pipe.
///
/// The size of a file of the system may be unknown, and it may be endless.
///
/// # Errors
/// If the path is no regular file, or the file is larger, or cannot be read.
pub fn read_small_file(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open_no_follow_nonblocking(OpenOptions::new().read(true), &fs::canonicalize(path)?)?;
    let mut bytes = Vec::new();
    let is_file = file.metadata()?.is_file();
    if is_file {
        file.take(max + 1).read_to_end(&mut bytes)?;
    }
    if !is_file || max < bytes.len() as u64 {
        let reason = if is_file {
            "too large"
        } else {
            "no regular file"
        };
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} is {reason}", path.display()),
        ));
    }
    Ok(bytes)
}

#[cfg(all(test, unix, not(portable_system)))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_temporary_folder_is_for_nobody_else() {
        let parent = tempfile::tempdir().unwrap();
        let folder = private_temp_folder(parent.path(), "x-").unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
