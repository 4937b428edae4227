//! Binds the Unix socket in the home folder.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// File name of the socket in the home folder.
pub const NAME: &str = "memory.sock";

/// Maximum length of a socket path, in bytes: 107 on Linux, 103 on macOS and on other systems.
const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A bound socket. Dropping it removes its file, unless a service manager has created it.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The file to remove.
    identity: Option<(u64, u64)>,
}

/// The reasons why the socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The path is too long for the system.
    #[error("{} is longer than the {LONGEST} bytes that the system allows for a socket", path.display())]
    TooLong {
        /// The path of the socket.
        path: PathBuf,
    },
    /// Another process is listening on the path.
    #[error("another process is listening at {}", path.display())]
    Taken {
        /// The path of the socket.
        path: PathBuf,
    },
    /// The path exists and is not a socket.
    #[error("{} is not a socket; it was not changed", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
    },
    /// The system refused to bind.
    #[error("cannot listen at {}", path.display())]
    Refused {
        /// The path of the socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Socket {
    /// Binds the socket in the home at `root`, accessible to its owner only.
    ///
    /// The socket of a dead process is replaced.
    ///
    /// # Errors
    /// See [`SocketError`]; nothing has changed in that case.
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
        // Binds under a temporary name, so that no client can connect before the permissions are set; that name is not
        // longer than the final one.
        let private = root.join(format!(".s{:x}", std::process::id()));
        let bound = bind_at(&private, &path);
        let bound = bound.inspect_err(|_| drop(fs::remove_file(&private)));
        match bound {
            Ok((listener, found)) => Ok(Self { listener, path, identity: Some(identity(&found)) }),
            Err(source) => Err(SocketError::Refused { path, source }),
        }
    }

    /// Returns the socket of a service manager that listens in the home at `root`, or `None` if it listens elsewhere.
    pub fn from_listener(listener: UnixListener, root: &Path) -> Option<Self> {
        let path = root.join(NAME);
        let address = listener.local_addr().ok()?;
        (address.as_pathname()? == path).then_some(Self { listener, path, identity: None })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a non-blocking handle of the listener.
    pub(super) fn listener(&self) -> io::Result<UnixListener> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // If another process replaced the file, it must stay.
        let is_own = |own| fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == own);
        if self.identity.is_some_and(is_own) {
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
