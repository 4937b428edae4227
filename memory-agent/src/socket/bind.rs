//! Where the socket is.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// What the socket is called, below the home.
pub const NAME: &str = "memory.sock";

/// The longest path of a socket, in bytes, on any system that we know: macOS has 103, Linux 107.
const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A socket that is bound. Its file goes when this does.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    identity: (u64, u64),
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The system cannot name it.
    #[error("{} is longer than the {LONGEST} bytes that the system allows for a socket", path.display())]
    TooLong {
        /// Where it should be.
        path: PathBuf,
    },
    /// Somebody answers there.
    #[error("another process is listening at {}", path.display())]
    Taken {
        /// Where.
        path: PathBuf,
    },
    /// There is something that we did not make.
    #[error("{} is no socket, and was left alone", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot listen at {}", path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Socket {
    /// Listens in the home at `root`, for nobody but its owner. A socket that a dead process left behind is replaced.
    ///
    /// # Errors
    /// See [`SocketError`]; then nothing has changed.
    pub fn bind(root: &Path) -> Result<Self, SocketError> {
        let path = root.join(NAME);
        if LONGEST < path.as_os_str().as_bytes().len() {
            return Err(SocketError::TooLong { path });
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.file_type().is_socket() => return Err(SocketError::Foreign { path }),
            Ok(_) if UnixStream::connect(&path).is_ok() => return Err(SocketError::Taken { path }),
            _ => {}
        }
        // Under a name that nobody connects to until nobody else may; it is no longer than the other.
        let private = root.join(format!(".s{:x}", std::process::id()));
        let bound = bind_at(&private, &path);
        let bound = bound.inspect_err(|_| drop(fs::remove_file(&private)));
        match bound {
            Ok((listener, found)) => Ok(Self { listener, path, identity: identity(&found) }),
            Err(source) => Err(SocketError::Refused { path, source }),
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns who listens.
    pub(super) fn listener(&self) -> io::Result<UnixListener> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Whoever replaced it keeps theirs.
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn bind_at(private: &Path, path: &Path) -> io::Result<(UnixListener, Metadata)> {
    match fs::remove_file(private) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(private)?;
    fs::set_permissions(private, Permissions::from_mode(0o600))?;
    let found = fs::symlink_metadata(private)?;
    fs::rename(private, path)?;
    Ok((listener, found))
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}
