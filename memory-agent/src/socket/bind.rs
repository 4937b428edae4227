//! Binds the local socket in the home folder.

use std::fs;
use std::io;
#[cfg(not(unix))]
pub use std::net::TcpListener as InheritedListener;
#[cfg(unix)]
pub use std::os::unix::net::UnixListener as InheritedListener;
use std::path::{Path, PathBuf};

use crate::system::local_socket::{self, LONGEST, ListenerHandle};

/// File name of the socket in the home folder.
pub const NAME: &str = "memory.sock";

/// A bound socket. Dropping it removes its file, unless a service manager has created it.
#[derive(Debug)]
pub struct Socket {
    listener: ListenerHandle,
    path: PathBuf,
    /// The identity of the file to remove, or the token in it.
    identity: Option<String>,
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
        if local_socket::is_too_long(&path) {
            return Err(SocketError::TooLong { path });
        }
        match local_socket::is_socket(&path) {
            Some(false) => return Err(SocketError::Foreign { path }),
            Some(true) if local_socket::is_listening(&path) => {
                return Err(SocketError::Taken { path });
            }
            _ => {}
        }
        // Binds under a temporary name, so that no client can connect before the permissions are set; that name is not
        // longer than the final one.
        let private = root.join(format!(".s{:x}", std::process::id()));
        let bound = remove_if_present(&private).and_then(|()| local_socket::bind(&private, &path));
        let bound = bound.inspect_err(|_| drop(fs::remove_file(&private)));
        match bound {
            Ok((listener, identity)) => Ok(Self {
                listener,
                path,
                identity: Some(identity),
            }),
            Err(source) => Err(SocketError::Refused { path, source }),
        }
    }

    /// Returns the socket of a service manager that listens in the home at `root`, or `None` if it listens elsewhere.
    pub fn from_listener(listener: InheritedListener, root: &Path) -> Option<Self> {
        let path = root.join(NAME);
        let listener = local_socket::use_inherited(listener, &path)?;
        Some(Self {
            listener,
            path,
            identity: None,
        })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a non-blocking handle of the listener.
    pub(super) fn listener(&self) -> io::Result<ListenerHandle> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Returns the identity of the file of the socket, or the token that clients send; empty for an inherited socket.
    pub(super) fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_default()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // If another process replaced the file, it must stay.
        if self
            .identity
            .as_ref()
            .is_some_and(|own| local_socket::is_own(&self.path, own))
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
