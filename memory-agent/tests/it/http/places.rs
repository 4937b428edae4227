//! Connections and bodies of clients that keep places or make the server wait.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use memory_agent::http::{AccessRules, AccessToken, HttpLimits};
use memory_core::testing::command_of_another_user;

use super::server::{HttpTestResponse, HttpTestServer};
use crate::agents::{CallGate, agent, agent_behind};
use crate::web::server::WebTestServer;

/// Longer than any operation takes on a slow machine, and shorter than a connection may be idle.
const DEADLINE: Duration = Duration::from_secs(20);

/// Another user of this machine, who holds idle connections until dropped.
pub(crate) struct IdleUser(Child);

impl IdleUser {
    /// Opens connections to a server, as another user; `None` if the test is left out.
    pub(crate) fn connect(place: SocketAddr, count: usize) -> Option<Self> {
        let script = format!(
            "for one in $(seq {count}); do exec {{fd}}<>/dev/tcp/{}/{}; done; echo open; read -r end",
            place.ip(),
            place.port()
        );
        let mut command = command_of_another_user("bash")?;
        command.args(["-c", &script]).current_dir("/");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("text");
        let user = Self(child);
        assert_eq!(line, "open\n");
        Some(user)
    }
}

impl Drop for IdleUser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn limits() -> HttpLimits {
    HttpLimits {
        connections: 2,
        head_time: Duration::from_hours(1),
        ..HttpLimits::default()
    }
}

/// Sends a request with a deadline, and returns the status of its response.
fn ask(place: SocketAddr, headers: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(place).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    let request = format!(
        "GET /v1/instances HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).expect("it takes it");
    Some(HttpTestResponse::read(stream)?.status)
}

#[test]
fn idle_connections_of_another_user_hold_up_nobody_without_a_token() {
    let server = HttpTestServer::of(agent(), None, limits());
    let Some(_idle) = IdleUser::connect(server.place, 100) else {
        return;
    };
    assert_eq!(ask(server.place, ""), Some(200));
}

#[test]
fn idle_connections_of_another_user_hold_up_nobody_with_a_token() {
    let access = AccessRules {
        token: AccessToken::new("s3cret".into()),
        ..AccessRules::default()
    };
    let server = HttpTestServer::with(agent(), access, limits());
    let Some(_idle) = IdleUser::connect(server.place, 100) else {
        return;
    };
    let token = "Authorization: Bearer s3cret\r\n";
    assert_eq!(ask(server.place, token), Some(200));
}

#[test]
fn idle_connections_of_another_user_hold_up_no_page() {
    let server = WebTestServer::start();
    let Some(_idle) = IdleUser::connect(server.place, 200) else {
        return;
    };
    assert_eq!(ask(server.place, ""), Some(303));
}

/// Begins a request without its body, and waits until the server reads the body.
fn begin_busy(server: &HttpTestServer) -> TcpStream {
    let headers = [("Content-Length", "2"), ("Expect", "100-continue")];
    let mut stream = server.begin_request("POST", "/v1/tools/memory_list", &headers, "");
    let expected = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut line = [0; 25];
    stream.read_exact(&mut line).expect("it is admitted");
    assert_eq!(&line, expected);
    stream
}

/// Sends the body of a request, and returns the status of its response.
fn end_busy(mut stream: TcpStream) -> u16 {
    stream.write_all(b"{}").expect("it takes it");
    HttpTestResponse::read(stream).expect("an answer").status
}

#[test]
fn a_new_connection_takes_the_place_of_an_idle_one_and_of_no_other() {
    let server = HttpTestServer::of(agent(), None, limits());
    let busy = begin_busy(&server);
    let mut idle = TcpStream::connect(server.place).expect("it listens");
    idle.write_all(b"GET /v1/instances HTTP/1.1\r\n")
        .expect("it takes it");
    for _ in 0..10 {
        assert_eq!(ask(server.place, ""), Some(200));
    }
    let connections: Vec<_> = (0..10)
        .map(|_| TcpStream::connect(server.place).expect("it listens"))
        .collect();
    let mut rest = Vec::new();
    assert!(
        matches!(idle.read_to_end(&mut rest), Ok(0) | Err(_)),
        "it is closed"
    );
    drop(connections);
    assert_eq!(end_busy(busy), 200);
}

#[test]
fn who_has_too_many_requests_at_once_is_told() {
    let server = HttpTestServer::of(agent(), None, limits());
    let busy = [begin_busy(&server), begin_busy(&server)];
    let refused = server.get("/v1/instances");
    assert_eq!(refused.code(), (503, "OVERLOADED".into()));
    assert_eq!(busy.map(end_busy), [200, 200]);
    assert_eq!(server.get("/v1/instances").status, 200);
}

/// Sends a byte of a body at a time until the server closes the connection, and returns its response.
pub(crate) fn trickle(place: SocketAddr, head: &str) -> Option<HttpTestResponse> {
    let mut stream = TcpStream::connect(place).expect("it listens");
    let head = format!(
        "{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it takes it");
    let reader = stream.try_clone().expect("a socket");
    reader
        .set_read_timeout(Some(Duration::from_millis(1)))
        .expect("a deadline");
    let mut begun = [0; 1];
    // The pause between two bytes is the wait for a response.
    while reader.peek(&mut begun).is_err() {
        if stream.write_all(b" ").is_err() {
            break;
        }
    }
    reader.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    HttpTestResponse::read(reader)
}

#[test]
fn a_body_that_trickles_ends_at_every_route() {
    let limits = HttpLimits {
        body_time: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let server = HttpTestServer::of(agent(), None, limits);
    for (head, status) in [
        ("POST /v1/tools/memory_list HTTP/1.1", 408),
        ("POST /v1/run/kv/default/list HTTP/1.1", 408),
        (
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream",
            408,
        ),
        // The response is known without the body, of which the rest is read.
        ("GET /v1/instances HTTP/1.1", 200),
        ("POST /nothing HTTP/1.1", 404),
        ("DELETE /mcp HTTP/1.1", 400),
    ] {
        let response = trickle(server.place, head).expect(head);
        assert_eq!(response.status, status, "{head}: {}", response.body);
    }
}

#[test]
fn bodies_that_wait_for_memory_end_as_well() {
    let limits = HttpLimits {
        body: 1 << 20,
        bodies: 1 << 20,
        body_time: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let gate = Arc::new(CallGate::default());
    let server = HttpTestServer::of(agent_behind(&gate), None, limits);
    let long = format!("{}{{}}", " ".repeat(900_000));
    let running = server.begin_request("POST", "/v1/tools/memory_list", &[], &long);
    gate.wait_for_caller();
    let refused = server.post("/v1/tools/memory_list", &long);
    assert_eq!(refused.code(), (503, "OVERLOADED".into()));
    gate.open();
    assert_eq!(
        HttpTestResponse::read(running).expect("an answer").status,
        200
    );
}
