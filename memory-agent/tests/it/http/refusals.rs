//! Rejected requests and their errors.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use memory_agent::http::{AccessRules, HttpLimits, HttpServerConfig, serve_http};
use serde_json::json;

use super::server::{HttpTestResponse, HttpTestServer};
use crate::agents::agent;

#[test]
fn what_is_wrong_is_refused_with_its_code_and_status() {
    let limits = HttpLimits {
        body: 3000,
        ..HttpLimits::default()
    };
    let server = HttpTestServer::of(agent(), None, limits);
    let long = format!(r#"{{"key":"k","value":"{}"}}"#, "x".repeat(3000));
    for (path, body, status, code) in [
        (
            "/v1/run/nothing/default/get",
            "{}",
            404,
            "BACKEND_NOT_FOUND",
        ),
        (
            "/v1/run/kv/nothing/get",
            r#"{"key":"k"}"#,
            404,
            "INSTANCE_NOT_FOUND",
        ),
        (
            "/v1/run/kv/..%2f/get",
            r#"{"key":"k"}"#,
            400,
            "INVALID_INPUT",
        ),
        ("/v1/run/kv/default/nothing", "{}", 404, "ACTION_NOT_FOUND"),
        (
            "/v1/run/kv/default/get",
            r#"{"key":"k"}"#,
            404,
            "KEY_NOT_FOUND",
        ),
        (
            "/v1/run/kv/default/get",
            r#"{"key":"k","kee":1}"#,
            400,
            "INVALID_INPUT",
        ),
        ("/v1/run/kv/default/get", "{}", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "[1]", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "\"k\"", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "{", 400, "INVALID_JSON"),
        (
            "/v1/run/kv/default/get",
            r#"{"key":"a\u0000b"}"#,
            400,
            "INVALID_KEY",
        ),
        (
            "/v1/run/kv/default/get",
            r#"{"key":"../b"}"#,
            400,
            "INVALID_KEY",
        ),
        (
            "/v1/run/kv/default/set",
            long.as_str(),
            413,
            "LIMIT_EXCEEDED",
        ),
        (
            "/v1/run/history/default/purge",
            r#"{"session":"s"}"#,
            400,
            "INVALID_INPUT",
        ),
        (
            "/v1/run/history/default/delete",
            r#"{"session":"s"}"#,
            404,
            "SESSION_NOT_FOUND",
        ),
        ("/v1/tools/nothing", "{}", 404, "TOOL_NOT_FOUND"),
        (
            "/v1/tools/memory_read",
            r#"{"id":"nothing"}"#,
            404,
            "MEMORY_NOT_FOUND",
        ),
        (
            "/v1/run/notes/default/read",
            r#"{"ids":"nothing"}"#,
            400,
            "INVALID_INPUT",
        ),
        ("/v1/run/kv/default", "{}", 404, "ROUTE_NOT_FOUND"),
        ("/v1/run/kv/%ff/get", "{}", 404, "ROUTE_NOT_FOUND"),
        ("/v1/health", "{}", 405, "METHOD_REFUSED"),
    ] {
        assert_eq!(
            server.post(path, body).code(),
            (status, code.to_owned()),
            "{path} {body}"
        );
    }
    assert_eq!(
        server.get("/v1/run/kv/default/get").code(),
        (405, "METHOD_REFUSED".into())
    );
    assert_eq!(server.get("/").code(), (404, "ROUTE_NOT_FOUND".into()));
    assert_eq!(
        server.get("/v1/backends/nothing").code(),
        (404, "BACKEND_NOT_FOUND".into())
    );
    let listed = server.post("/v1/run/kv/default/list", "{}");
    assert_eq!(listed.json(), json!([]), "nothing of it was kept");
}

#[test]
fn hints_name_what_a_client_of_http_can_ask_for() {
    let server = HttpTestServer::start();
    for (path, hint) in [
        (
            "/v1/run/history/default/append",
            "GET /v1/backends/history shows the fields",
        ),
        (
            "/v1/run/kv/nope/list",
            "GET /v1/instances lists the instances",
        ),
        (
            "/v1/run/nope/default/list",
            "GET /v1/backends lists the backends",
        ),
        (
            "/v1/run/kv/default/nope",
            "GET /v1/backends/kv lists the actions",
        ),
        (
            "/v1/run/notes/default/read",
            "the action list lists the memories; the action search finds them by words",
        ),
    ] {
        let refused = server.post(path, r#"{"id":"00000000"}"#).json();
        let told = refused["error"]["hint"].as_str().unwrap_or_default();
        assert!(
            told.starts_with(hint) && !told.contains('`'),
            "{path}: {refused}"
        );
    }
    assert_eq!(
        server.get("/v1/backends/nope").json()["error"]["hint"],
        "GET /v1/backends lists the backends"
    );
    assert_eq!(
        server.get("/v1/tools/nope").json()["error"]["hint"],
        "GET /v1/tools lists them"
    );
}

#[test]
fn a_body_that_says_no_length_has_the_same_limit() {
    let server = HttpTestServer::of(
        agent(),
        None,
        HttpLimits {
            body: 3000,
            ..HttpLimits::default()
        },
    );
    let ask = |bytes: usize| {
        let value = "x".repeat(bytes);
        let body = format!(r#"{{"key":"k","value":"{value}"}}"#);
        let mut stream = TcpStream::connect(server.place).expect("a connection");
        let head = "POST /v1/run/kv/default/set HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked";
        stream
            .write_all(format!("{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).as_bytes())
            .expect("it takes it");
        HttpTestResponse::read(stream).expect("an answer")
    };
    assert_eq!(ask(10).status, 200);
    assert_eq!(ask(3000).code(), (413, "LIMIT_EXCEEDED".into()));
}

#[test]
fn with_a_token_nobody_is_served_without_it_but_for_the_health() {
    let server = HttpTestServer::of(agent(), Some("s3cret"), HttpLimits::default());
    for path in ["/v1/health", "/healthz", "/readyz"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for path in [
        "/v1/backends",
        "/v1/instances",
        "/v1/tools",
        "/openapi.json",
        "/metrics",
        "/mcp",
        "/nothing",
    ] {
        let refused = server.get(path);
        assert_eq!(
            (refused.code(), refused.headers["www-authenticate"].as_str()),
            ((401, "UNAUTHORIZED".into()), "Bearer"),
            "{path}"
        );
        let wrong = server.send("GET", path, &[("Authorization", "Bearer s3cre")], "");
        assert_eq!(wrong.status, 401, "{path}");
        let right = server.send(
            "GET",
            path,
            &[
                ("Authorization", "Bearer s3cret"),
                ("Host", "memory.example"),
            ],
            "",
        );
        assert_ne!(right.status, 401, "{path}");
    }
    let run = "/v1/run/kv/default/list";
    assert_eq!(server.post(run, "{}").status, 401);
    assert_eq!(
        server
            .send("POST", run, &[("Authorization", "Bearer s3cret")], "{}")
            .status,
        200
    );
}

#[test]
fn without_a_token_no_web_page_is_served_and_no_other_machine() {
    let server = HttpTestServer::start();
    for (name, value, status) in [
        ("Host", "localhost:1", 200),
        ("Host", "127.0.0.1", 200),
        ("Host", "[::1]:80", 200),
        ("Host", "evil.example", 403),
        ("Host", "localhost.evil.example", 403),
        ("Host", "localhost@evil.example", 403),
        ("Host", "", 403),
        ("Host", "user@127.0.0.1", 403),
        ("Host", "localhost:1:1", 403),
        ("Sec-Fetch-Site", "none", 200),
        ("Sec-Fetch-Site", "same-origin", 200),
        ("Sec-Fetch-Site", "same-site", 403),
        ("Sec-Fetch-Site", "cross-site", 403),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost.evil.example", 403),
    ] {
        for path in ["/v1/health", "/v1/instances"] {
            assert_eq!(
                server.send("GET", path, &[(name, value)], "").status,
                status,
                "{name}: {value}"
            );
        }
    }
    for (host, origin, status) in [
        ("127.0.0.1:8100", "http://127.0.0.1:8100", 200),
        ("[::1]:8100", "http://[::1]:8100", 200),
        ("127.0.0.1", "http://127.0.0.1:80", 200),
        // A page of another user may have been at the other address of this name.
        ("localhost:8100", "http://localhost:8100", 403),
        ("127.0.0.1:8100", "http://localhost:8100", 403),
        ("127.0.0.1", "https://127.0.0.1", 403),
        // Another server on this machine, which may belong to another user.
        ("127.0.0.1:8100", "http://127.0.0.1:3000", 403),
        ("127.0.0.1:8100", "http://127.0.0.1", 403),
        ("127.0.0.1:8100", "ftp://127.0.0.1:8100", 403),
        ("127.0.0.1:8100", "127.0.0.1:8100", 403),
        ("127.0.0.1:8100", "http://me@127.0.0.1:8100", 403),
        ("127.0.0.1:8100", "http://127.0.0.1:8100/page", 403),
        ("127.0.0.1:8100", "http://evil.example:8100", 403),
    ] {
        let asked = server.send(
            "GET",
            "/v1/health",
            &[("Host", host), ("Origin", origin)],
            "",
        );
        assert_eq!(asked.status, status, "{host} {origin}");
    }
    let twice = [
        ("Host", "127.0.0.1:8100"),
        ("Origin", "http://127.0.0.1:8100"),
        ("Origin", "http://127.0.0.1:8100"),
    ];
    assert_eq!(server.send("GET", "/v1/health", &twice, "").status, 403);
    assert_eq!(
        server
            .send("GET", "http://evil.example/v1/health", &[], "")
            .status,
        403
    );
    for header in ["Sec-Fetch-Site", "Referer", "Cookie"] {
        let of_browser = [("Host", "localhost"), (header, "none")];
        let refused = server.send("GET", "/v1/health", &of_browser, "");
        assert_eq!(refused.status, 403, "{header}");
    }
    let both = [("Host", "localhost"), ("Host", "evil.example")];
    assert_ne!(server.send("GET", "/v1/health", &both, "").status, 200);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let everywhere = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await?;
        let instances = Arc::clone(&server.instances);
        let front = HttpServerConfig {
            agent: agent(),
            instances,
            access: AccessRules::default(),
            limits: HttpLimits::default(),
            chat: None,
            health: None,
        };
        serve_http(listener, front, std::future::pending()).await
    });
    assert!(everywhere.is_err());
}

#[test]
fn whoever_is_slow_to_ask_is_dropped() {
    let limits = HttpLimits {
        head_time: Duration::from_millis(50),
        body_time: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let server = HttpTestServer::of(agent(), None, limits);
    let mut head = TcpStream::connect(server.place).expect("a connection");
    head.write_all(b"GET /v1/health HTTP/1.1\r\nHost: loc")
        .expect("it takes it");
    let mut rest = Vec::new();
    let _ = head.read_to_end(&mut rest);
    assert!(!rest.starts_with(b"HTTP/1.1 200"), "it is closed");
    let mut body = TcpStream::connect(server.place).expect("a connection");
    let request = "POST /v1/run/kv/default/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{";
    body.write_all(request.as_bytes()).expect("it takes it");
    assert_eq!(
        HttpTestResponse::read(body).expect("an answer").code(),
        (408, "REQUEST_TIMEOUT".into())
    );
}

#[test]
fn whoever_reads_nothing_before_all_is_sent_hears_why_it_was_refused() {
    let limits = HttpLimits {
        body: 3000,
        ..HttpLimits::default()
    };
    let server = HttpTestServer::of(agent(), Some("s3cret"), limits);
    let long = "x".repeat(8 << 20);
    for (path, token, status) in [
        ("/v1/run/kv/default/set", "Bearer s3cret", 413),
        ("/v1/run/kv/default/set", "Bearer", 401),
        ("/nothing", "Bearer s3cret", 404),
    ] {
        assert_eq!(
            server
                .send("POST", path, &[("Authorization", token)], &long)
                .status,
            status,
            "{path}"
        );
    }
}

#[test]
fn what_was_refused_is_not_read_without_end() {
    let server = HttpTestServer::of(agent(), Some("s3cret"), HttpLimits::default());
    let mut stream = TcpStream::connect(server.place).expect("a connection");
    let head = "POST /v1/run/kv/default/set HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("it takes it");
    let portion = vec![b'x'; 1 << 20];
    let taken = (0..100)
        .take_while(|_| stream.write_all(&portion).is_ok())
        .count();
    // The socket buffers of the system hold some data that the server has not read.
    assert!(taken < 50, "{taken} MiB");
}

#[test]
fn many_small_bodies_without_a_length_hold_up_nobody() {
    let limits = HttpLimits {
        body: 1 << 20,
        bodies: 1 << 20,
        ..HttpLimits::default()
    };
    let server = HttpTestServer::of(agent(), None, limits);
    let head = "POST /v1/run/kv/default/set HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = TcpStream::connect(server.place).expect("a connection");
            stream
                .write_all(format!("{head}1\r\n{{\r\n").as_bytes())
                .expect("it takes it");
            stream
        })
        .collect();
    let value = "x".repeat(100_000);
    assert_eq!(
        server
            .post(
                "/v1/run/kv/default/set",
                &format!(r#"{{"key":"k","value":"{value}"}}"#)
            )
            .status,
        200
    );
    drop(waiting);
}
