//! TCP sockets on the loopback interface, for clients that can read a file of the user.
//!
//! The file at the path of the socket is a JSON object: `address` is the address of the listener, and `token` is a random number
//! in hexadecimal digits. Each connection begins with the token and a line break. The server closes a connection that begins
//! otherwise, without a response.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
pub(crate) use std::net::TcpListener as ListenerHandle;
pub use std::net::TcpStream as LocalStream;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::io::AsyncReadExt;
pub(crate) use tokio::net::TcpListener as AsyncListener;
pub(crate) use tokio::net::TcpStream as AsyncLocalStream;
pub(crate) use tokio::net::tcp::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};
use tokio::time::timeout;

use crate::places::PlaceHolder;
use crate::socket::InheritedListener;

/// Maximum length of the path; the system has no special limit for this file.
pub(crate) const LONGEST: usize = usize::MAX;

/// Length of the token in bytes, before its hexadecimal form.
const TOKEN_BYTES: usize = 32;

/// Maximum size of the file, in bytes.
const MAX_FILE: u64 = 1024;

/// Maximum time until a client has sent the token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time of a server for its response to a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct SocketFile {
    address: SocketAddr,
    token: String,
}

impl SocketFile {
    fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        fs::File::open(path)?
            .take(MAX_FILE)
            .read_to_end(&mut bytes)?;
        let file: Self = serde_json::from_slice(&bytes)?;
        let is_valid = file.address.ip().is_loopback() && file.token.len() == 2 * TOKEN_BYTES;
        if is_valid {
            Ok(file)
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is not one of a socket",
            ))
        }
    }
}

/// Connects to the socket at `path`.
///
/// # Errors
/// If no process listens there, or the file has another format.
pub fn connect(path: &Path) -> io::Result<LocalStream> {
    let file = SocketFile::read(path)?;
    let stream = LocalStream::connect(file.address)?;
    stream.set_nodelay(true)?;
    (&stream).write_all(format!("{}\n", file.token).as_bytes())?;
    Ok(stream)
}

/// Returns whether the path is too long for a socket.
pub(crate) fn is_too_long(_: &Path) -> bool {
    false
}

/// Returns whether the file at `path` is one of a socket; `None` if it does not exist.
pub(crate) fn is_socket(path: &Path) -> Option<bool> {
    let found = fs::symlink_metadata(path).ok()?;
    Some(found.is_file() && SocketFile::read(path).is_ok())
}

/// Returns whether a process listens at the socket.
///
/// Another program may use the port of a process that has ended, so the response must be JSON.
pub(crate) fn is_listening(path: &Path) -> bool {
    let response = || -> io::Result<[u8; 1]> {
        let stream = connect(path)?;
        stream.set_read_timeout(Some(PING_TIMEOUT))?;
        (&stream).write_all(b"{\"id\":1,\"method\":\"ping\"}\n")?;
        let mut first = [0];
        (&stream).read_exact(&mut first)?;
        Ok(first)
    };
    response().is_ok_and(|first| first == *b"{")
}

/// Binds a listener, and writes its file to `private`, then moves it to `path`. Returns the listener and the token.
pub(crate) fn bind(private: &Path, path: &Path) -> io::Result<(ListenerHandle, String)> {
    let listener = ListenerHandle::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    let token: String = bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(hex_digit)
        .collect();
    let file = SocketFile {
        address: listener.local_addr()?,
        token,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(private)?
        .write_all(&serde_json::to_vec(&file)?)?;
    fs::rename(private, path)?;
    Ok((listener, file.token))
}

fn hex_digit(number: u8) -> char {
    char::from_digit(number.into(), 16).expect("the number is below 16")
}

/// Returns `None`: service managers do not create such listeners.
pub(crate) fn use_inherited(_: InheritedListener, _: &Path) -> Option<ListenerHandle> {
    None
}

/// Returns whether the file at `path` is still the one with this token.
pub(crate) fn is_own(path: &Path, token: &str) -> bool {
    SocketFile::read(path).is_ok_and(|file| file.token == token)
}

/// Returns the holder of the place of a connection: the system does not report its user.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the implementation for Unix may not know the user"
)]
pub(crate) fn place_holder(_: &AsyncLocalStream) -> Option<PlaceHolder> {
    Some(PlaceHolder::of_address(Ipv4Addr::LOCALHOST.into()))
}

/// Returns the connection if the client sends the token.
pub(crate) async fn authenticate(
    mut stream: AsyncLocalStream,
    token: &str,
) -> Option<AsyncLocalStream> {
    stream.set_nodelay(true).ok()?;
    let mut line = vec![0; token.len() + 1];
    timeout(TOKEN_TIMEOUT, stream.read_exact(&mut line))
        .await
        .ok()?
        .ok()?;
    let is_valid = bool::from(line.ct_eq(format!("{token}\n").as_bytes()));
    is_valid.then_some(stream)
}
