//! Unix sockets.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
pub(crate) use std::os::unix::net::UnixListener as ListenerHandle;
pub use std::os::unix::net::UnixStream as LocalStream;
use std::path::Path;

use rustix::process::geteuid;
pub(crate) use tokio::net::UnixListener as AsyncListener;
pub(crate) use tokio::net::UnixStream as AsyncLocalStream;
pub(crate) use tokio::net::unix::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};

use crate::places::PlaceHolder;
use crate::socket::InheritedListener;

/// Maximum length of a socket path, in bytes: 107 on Linux, 103 on macOS and on other systems.
pub(crate) const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Connects to the socket at `path`.
///
/// # Errors
/// If no process listens there.
pub fn connect(path: &Path) -> io::Result<LocalStream> {
    LocalStream::connect(path)
}

/// Returns whether the path is too long for a socket.
pub(crate) fn is_too_long(path: &Path) -> bool {
    LONGEST < path.as_os_str().as_bytes().len()
}

/// Returns whether the file at `path` is a socket; `None` if it does not exist.
pub(crate) fn is_socket(path: &Path) -> Option<bool> {
    fs::symlink_metadata(path)
        .ok()
        .map(|found| found.file_type().is_socket())
}

/// Returns whether a process listens at the socket.
pub(crate) fn is_listening(path: &Path) -> bool {
    connect(path).is_ok()
}

/// Binds a private socket at `private`, and moves it to `path`. Returns the listener and the identity of its file.
pub(crate) fn bind(private: &Path, path: &Path) -> io::Result<(ListenerHandle, String)> {
    let listener = ListenerHandle::bind(private)?;
    fs::set_permissions(private, Permissions::from_mode(0o600))?;
    let found = fs::symlink_metadata(private)?;
    fs::rename(private, path)?;
    Ok((listener, identity(&found)))
}

/// Returns the listener if it listens at `path`.
pub(crate) fn use_inherited(listener: InheritedListener, path: &Path) -> Option<ListenerHandle> {
    let address = listener.local_addr().ok()?;
    (address.as_pathname()? == path).then_some(listener)
}

/// Returns whether the file at `path` is still the one with this identity.
pub(crate) fn is_own(path: &Path, own: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| identity(&found) == own)
}

fn identity(found: &Metadata) -> String {
    format!("{}:{}", found.dev(), found.ino())
}

/// Returns the holder of the place of a connection; `None` if the client runs neither as the same user nor as root.
pub(crate) fn place_holder(stream: &AsyncLocalStream) -> Option<PlaceHolder> {
    let owner = stream.peer_cred().ok()?.uid();
    (owner == 0 || owner == geteuid().as_raw()).then_some(PlaceHolder::User(owner))
}

/// Returns the connection: its client is known by its user.
pub(crate) async fn authenticate(stream: AsyncLocalStream, _: &str) -> Option<AsyncLocalStream> {
    Some(stream)
}
