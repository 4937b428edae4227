//! The socket of systems without Unix sockets: a listener on 127.0.0.1 with a token.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use memory_agent::socket::{NAME, Socket, SocketError, SocketLimits, connect, serve};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::agents::agent;

/// Longer than any operation takes on a slow machine.
const DEADLINE: Duration = Duration::from_mins(2);

const PING: &[u8] = b"{\"id\":1,\"method\":\"ping\"}\n";

/// Runs `test` while a server listens in `home`.
fn while_serving(home: &Path, test: impl FnOnce()) {
    let socket = Socket::bind(home).expect("a socket");
    let (end, ended) = oneshot::channel::<()>();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime
            .block_on(serve(socket, agent(), SocketLimits::default(), async {
                drop(ended.await);
            }))
            .expect("it is served");
    };
    thread::scope(|scope| {
        let server = scope.spawn(work);
        test();
        drop(end);
        server.join().expect("it ends");
    });
}

fn read_file(home: &Path) -> (SocketAddr, String) {
    let file: Value =
        serde_json::from_slice(&fs::read(home.join(NAME)).expect("a file")).expect("JSON");
    let text = |key: &str| file[key].as_str().expect("a text").to_owned();
    (text("address").parse().expect("an address"), text("token"))
}

/// Sends `bytes` to the listener, and returns its response; an empty one if it closes the connection.
fn response(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    // The server may already have closed the connection.
    let _ = stream
        .write_all(bytes)
        .and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    let mut text = Vec::new();
    match stream.read_to_end(&mut text) {
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Vec::new(),
        read => read.map(|_| text).expect("a response"),
    }
}

#[test]
fn only_a_client_with_the_token_gets_a_response() {
    let home = tempfile::tempdir().expect("a folder");
    while_serving(home.path(), || {
        let (address, token) = read_file(home.path());
        assert!(address.ip().is_loopback());
        assert_eq!(token.len(), 64);
        let own = response(address, &[token.as_bytes(), b"\n", PING].concat());
        assert!(own.starts_with(b"{"), "{}", String::from_utf8_lossy(&own));
        let wrong = "0".repeat(64);
        for first in [
            "",
            "\n",
            &wrong[..10],
            &token[..63],
            &format!("{wrong}\n"),
            &token,
            &format!(" {token}\n"),
        ] {
            assert_eq!(
                response(address, &[first.as_bytes(), PING].concat()),
                b"",
                "{first:?}"
            );
        }
        // The server still accepts clients.
        assert!(connect(&home.path().join(NAME)).is_ok());
    });
}

#[test]
fn only_the_owner_can_read_the_token_and_each_server_has_its_own() {
    let home = tempfile::tempdir().expect("a folder");
    let first = Socket::bind(home.path()).expect("a socket");
    let mode = fs::metadata(first.path())
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let (_, token) = read_file(home.path());
    drop(first);
    assert!(!home.path().join(NAME).exists());
    let _second = Socket::bind(home.path()).expect("a socket");
    assert_ne!(read_file(home.path()).1, token);
}

#[test]
fn the_file_of_a_dead_server_is_replaced_and_others_are_not() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join(NAME);
    // Another program uses the port of the dead server.
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address");
    let hang_up = thread::spawn(move || drop(other.accept()));
    fs::write(
        &path,
        json!({ "address": address, "token": "0".repeat(64) }).to_string(),
    )
    .expect("a file");
    let socket = Socket::bind(home.path()).expect("no server of this program listens there");
    hang_up.join().expect("it ends");
    assert_ne!(read_file(home.path()).0, address);
    // A file that replaced the own one is not removed.
    fs::write(
        &path,
        json!({ "address": address, "token": "1".repeat(64) }).to_string(),
    )
    .expect("a file");
    drop(socket);
    assert!(path.exists());
    for foreign in ["mine", "{}", r#"{"address":"192.0.2.1:80","token":""}"#] {
        fs::write(&path, foreign).expect("a file");
        assert!(
            matches!(Socket::bind(home.path()), Err(SocketError::Foreign { .. })),
            "{foreign}"
        );
        assert_eq!(fs::read_to_string(&path).expect("a file"), foreign);
        assert!(connect(&path).is_err());
    }
}

#[test]
fn a_second_server_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    while_serving(home.path(), || {
        assert!(matches!(
            Socket::bind(home.path()),
            Err(SocketError::Taken { .. })
        ));
    });
}
