//! The local socket with real clients.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
#[cfg(not(portable_system))]
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_agent::Agent;
use memory_agent::rpc::LONGEST_LINE;
#[cfg(not(portable_system))]
use memory_agent::socket::SocketError;
use memory_agent::socket::{LocalStream, NAME, Socket, SocketLimits, connect, serve};
use memory_core::testing::wait_until;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::agents::{CallGate, agent, agent_behind};

/// Longer than any operation takes on a slow machine.
const DEADLINE: Duration = Duration::from_mins(2);

/// A socket server that runs until it is shut down.
struct SocketTestServer {
    home: TempDir,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SocketTestServer {
    fn start(agent: Arc<Agent>, limits: SocketLimits) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let socket = Socket::bind(home.path()).expect("a socket");
        let (end, ended) = oneshot::channel();
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            let shutdown = async { drop(ended.await) };
            runtime
                .block_on(serve(socket, agent, limits, shutdown))
                .expect("it is served");
        };
        Self {
            home,
            end: Some(end),
            thread: Some(thread::spawn(work)),
        }
    }

    fn with_defaults() -> Self {
        Self::start(agent(), SocketLimits::default())
    }

    fn client(&self) -> SocketTestClient {
        let stream = connect(&self.home.path().join(NAME)).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        stream
            .set_write_timeout(Some(DEADLINE))
            .expect("a deadline");
        SocketTestClient(BufReader::new(stream))
    }

    /// Requests the shutdown.
    fn request_shutdown(&mut self) {
        drop(self.end.take());
    }

    /// Shuts the server down and waits for it.
    fn stop(&mut self) {
        self.request_shutdown();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends well");
        }
    }
}

impl Drop for SocketTestServer {
    fn drop(&mut self) {
        self.request_shutdown();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(
            thread::panicking() || ended.is_none_or(|ended| ended.is_ok()),
            "it does not end well"
        );
    }
}

/// A client of the server.
struct SocketTestClient(BufReader<LocalStream>);

impl SocketTestClient {
    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("somebody reads");
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no answer: {error}"),
        }
    }

    fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().expect("an answer")).expect("JSON")
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.send(format!("{request}\n").as_bytes());
        self.answer()
    }

    /// Sends a line and returns the code of the error response.
    fn error(&mut self, line: &[u8]) -> Value {
        self.send(line);
        self.send(b"\n");
        self.answer()["error"]["code"].take()
    }

    /// Pings the server; returns the received line on failure.
    fn try_ping(&mut self) -> Result<(), Option<String>> {
        let _ = self
            .0
            .get_mut()
            .write_all(b"{\"id\":1,\"method\":\"ping\"}\n");
        match self.line() {
            Some(line) if line.contains("result") => Ok(()),
            other => Err(other),
        }
    }

    fn is_well(&mut self) -> bool {
        self.ask(&json!({ "id": "well?", "method": "ping" }))
            == json!({ "jsonrpc": "2.0", "id": "well?", "result": {} })
    }
}

#[test]
fn many_requests_over_one_connection() {
    let server = SocketTestServer::with_defaults();
    let mut client = server.client();
    let written = client
        .ask(&json!({ "id": 1, "method": "memory_write", "params": { "content": "I like tea" } }));
    assert_eq!(written["result"]["created"], true);
    let found = client.ask(&json!({ "id": 2, "method": "tools/call",
        "params": { "name": "memory_search", "params": { "query": "tea" } } }));
    assert_eq!(
        (&found["id"], &found["result"]["total"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        client.ask(&json!({ "id": 3, "method": "tools/list" }))["result"]["tools"]
            .as_array()
            .map(Vec::len),
        Some(7)
    );
    // Another connection sees the same memories.
    assert_eq!(
        server
            .client()
            .ask(&json!({ "id": 1, "method": "memory_list" }))["result"]["total"],
        1
    );
}

#[test]
fn bad_lines_are_errors_and_the_next_one_is_answered() {
    let server = SocketTestServer::with_defaults();
    let mut client = server.client();
    let batch = format!(
        "[{}]",
        vec![r#"{"id":1,"method":"ping"}"#; 10_000].join(",")
    );
    let long = format!(
        r#"{{"id":1,"method":"memory_write","params":{{"content":"{}"}}}}"#,
        "a".repeat(LONGEST_LINE)
    );
    for (line, number) in [
        (b"{\"id\":1,".as_slice(), -32_700),
        (b"{\"id\":1,\"method\":\"\xff\xfe\"}", -32_700),
        ("[".repeat(1_000).as_bytes(), -32_700),
        (br#"{"id":1,"method":[]}"#, -32_600),
        (batch.as_bytes(), -32_600),
        (long.as_bytes(), -32_600),
        (br#"{"id":1,"method":"memory_forget"}"#, -32_601),
        (
            br#"{"id":1,"method":"memory_list","params":{"limit":"ten"}}"#,
            -32_602,
        ),
        (
            br#"{"id":1,"method":"memory_list","params":{"limits":10}}"#,
            -32_602,
        ),
        (
            br#"{"id":1,"method":"memory_read","params":{"id":"550e8400"}}"#,
            -32_000,
        ),
    ] {
        assert_eq!(
            client.error(line),
            number,
            "{}",
            String::from_utf8_lossy(&line[..line.len().min(80)])
        );
        assert!(client.is_well());
    }
}

#[test]
fn the_longest_line_is_read_and_a_longer_one_is_not() {
    let server = SocketTestServer::with_defaults();
    let mut client = server.client();
    let line = |bytes: usize| {
        let (begin, end) = (r#"{"id":1,"method":""#, r#""}"#);
        format!(
            "{begin}{}{end}",
            "a".repeat(bytes - begin.len() - end.len())
        )
    };
    assert_eq!(client.error(line(LONGEST_LINE).as_bytes()), -32_601);
    assert_eq!(client.error(line(LONGEST_LINE + 1).as_bytes()), -32_600);
    assert!(client.is_well());
}

#[test]
fn a_last_line_needs_no_end() {
    let server = SocketTestServer::with_defaults();
    let mut client = server.client();
    client.send(br#"{"id":1,"method":"ping"}"#);
    client
        .0
        .get_ref()
        .shutdown(std::net::Shutdown::Write)
        .expect("it ends");
    assert_eq!(client.answer()["id"], 1);
    assert_eq!(client.line(), None);
}

#[test]
fn answers_come_when_they_are_there_each_with_its_id() {
    let gate = Arc::new(CallGate::default());
    let server = SocketTestServer::start(
        agent_behind(&gate),
        SocketLimits {
            workers: 2,
            ..SocketLimits::default()
        },
    );
    let mut client = server.client();
    client.send(b"{\"id\":\"slow\",\"method\":\"memory_search\",\"params\":{\"query\":\"tea\"}}\n");
    gate.wait_for_caller();
    assert_eq!(
        client.ask(&json!({ "id": "fast", "method": "memory_list" }))["id"],
        "fast"
    );
    gate.open();
    assert_eq!(client.answer()["id"], "slow");
}

#[test]
fn who_speaks_is_known_to_the_requests_behind_it() {
    let server = SocketTestServer::with_defaults();
    let mut client = server.client();
    client.send(
        b"{\"id\":1,\"method\":\"session/open\",\"params\":{\"agent\":\"claude\"}}\n\
          {\"id\":2,\"method\":\"memory_write\",\"params\":{\"content\":\"mine\",\"scope\":\"agent:claude\"}}\n",
    );
    let mut answers = [client.answer(), client.answer()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(
        answers[0]["result"],
        json!({ "agent": "claude", "project": null, "scopes": ["global", "agent:claude"] })
    );
    assert_eq!(answers[1]["result"]["created"], true);
    assert_eq!(
        client.ask(&json!({ "id": 3, "method": "memory_list" }))["result"]["total"],
        1
    );
    assert_eq!(
        server
            .client()
            .ask(&json!({ "id": 3, "method": "memory_list" }))["result"]["total"],
        0
    );
}

#[test]
fn five_hundred_at_once_are_served_and_one_more_is_told() {
    let all = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: all.maximum,
            ..all
        },
    )
    .expect("it is allowed");
    if all.maximum.is_some_and(|most| most < 1_200) {
        return memory_core::testing::leave_out("this process may not open enough files");
    }
    let limits = SocketLimits {
        patience: Duration::from_millis(10),
        ..SocketLimits::default()
    };
    let server = SocketTestServer::start(agent(), limits);
    let mut clients: Vec<SocketTestClient> = (0..500).map(|_| server.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("{{\"id\":{number},\"method\":\"memory_list\"}}\n").as_bytes());
    }
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.answer()["id"], number);
    }
    let mut late = server.client();
    assert_eq!(late.answer()["error"]["code"], -32_000);
    assert_eq!(late.line(), None);
    assert!(clients[0].is_well());
    // A closed connection frees its place once the server notices.
    clients.clear();
    wait_until("a place is free", || server.client().try_ping().is_ok());
}

#[test]
fn who_never_reads_is_dropped_and_the_others_are_served() {
    let limits = SocketLimits {
        read_time: Duration::from_millis(100),
        ..SocketLimits::default()
    };
    let server = SocketTestServer::start(agent(), limits);
    let mut deaf = server.client();
    let asked = b"{\"id\":1,\"method\":\"tools/list\",\"params\":{\"all\":true}}\n".repeat(64);
    // The server stops reading when responses are not read, and closes the connection in the end.
    while deaf.0.get_mut().write_all(&asked).is_ok() {}
    let mut rest = Vec::new();
    let _ = deaf.0.read_to_end(&mut rest);
    assert!(rest.len() < 16 << 20, "{}", rest.len());
    assert!(server.client().is_well());
}

#[test]
fn who_stops_in_the_middle_of_a_line_is_dropped_and_who_rests_between_lines_is_not() {
    let limits = SocketLimits {
        line_time: Duration::from_millis(100),
        ..SocketLimits::default()
    };
    let server = SocketTestServer::start(agent(), limits);
    let (mut resting, mut broken, mut endless) =
        (server.client(), server.client(), server.client());
    assert!(resting.is_well());
    broken.send(b"{\"id\":1,");
    assert_eq!(broken.line(), None);
    let nonsense = vec![b'a'; 1 << 16];
    while endless.0.get_mut().write_all(&nonsense).is_ok() {}
    assert!(resting.is_well());
}

#[test]
fn the_end_finishes_what_runs() {
    let gate = Arc::new(CallGate::default());
    let mut server = SocketTestServer::start(
        agent_behind(&gate),
        SocketLimits {
            last_words: DEADLINE,
            ..SocketLimits::default()
        },
    );
    let (mut client, mut idle) = (server.client(), server.client());
    assert!(idle.is_well());
    client
        .send(b"{\"id\":1,\"method\":\"memory_write\",\"params\":{\"content\":\"I like tea\"}}\n");
    gate.wait_for_caller();
    server.request_shutdown();
    assert_eq!(idle.line(), None);
    gate.open();
    assert_eq!(client.answer()["result"]["created"], true);
    assert_eq!(client.line(), None);
    server.stop();
    assert!(!server.home.path().join(NAME).exists());
}

#[test]
fn the_end_does_not_wait_for_ever() {
    let gate = Arc::new(CallGate::default());
    let mut server = SocketTestServer::start(
        agent_behind(&gate),
        SocketLimits {
            last_words: Duration::from_millis(50),
            ..SocketLimits::default()
        },
    );
    let mut client = server.client();
    client.send(b"{\"id\":1,\"method\":\"memory_list\"}\n");
    gate.wait_for_caller();
    server.request_shutdown();
    assert_eq!(client.line(), None);
    gate.open();
    server.stop();
}

#[test]
fn a_socket_is_for_nobody_else_and_goes_with_who_made_it() {
    let home = tempfile::tempdir().expect("a folder");
    let socket = Socket::bind(home.path()).expect("a socket");
    let mode = fs::metadata(socket.path())
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(names(home.path()), [NAME]);
    drop(socket);
    assert_eq!(names(home.path()), Vec::<String>::new());
}

// The portable socket is a file with an address: see `loopback_socket.rs`.
#[cfg(not(portable_system))]
#[test]
fn what_a_dead_process_left_is_replaced_and_what_lives_is_not() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join(NAME);
    drop(UnixListener::bind(&path).expect("a socket"));
    let socket = Socket::bind(home.path()).expect("nobody listens there");
    assert!(matches!(
        Socket::bind(home.path()),
        Err(SocketError::Taken { .. })
    ));
    // A socket file that replaced the own one is not removed.
    fs::remove_file(&path).expect("it is there");
    let other = UnixListener::bind(&path).expect("a socket");
    drop(socket);
    assert!(path.exists());
    drop(other);
    fs::remove_file(&path).expect("it is there");
    fs::write(&path, "mine").expect("a file");
    assert!(matches!(
        Socket::bind(home.path()),
        Err(SocketError::Foreign { .. })
    ));
    assert_eq!(names(home.path()), [NAME]);
}

// Only Unix sockets have a limit.
#[cfg(not(portable_system))]
#[test]
fn a_path_that_is_too_long_is_an_error_that_says_so() {
    let home = tempfile::tempdir().expect("a folder");
    let deep = home.path().join("a".repeat(100));
    fs::create_dir(&deep).expect("a folder");
    let error = Socket::bind(&deep).expect_err("it is too long").to_string();
    assert!(error.contains("is longer than the 10"), "{error}");
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder");
    files
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}
