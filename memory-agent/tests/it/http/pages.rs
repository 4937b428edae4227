//! Requests of web pages with allowed origins.

use std::collections::BTreeMap;

use super::server::{HOW_TO_ADMIT, HttpTestServer};

const PAGE: &str = "http://localhost:3000";

/// Returns the CORS and caching headers of a response.
fn cors_headers(headers: &BTreeMap<String, String>) -> Vec<&str> {
    headers
        .keys()
        .map(String::as_str)
        .filter(|name| name.starts_with("access-control-") || *name == "vary")
        .collect()
}

#[test]
fn a_preflight_is_answered_for_a_listed_origin_alone() {
    for token in [None, Some("s3cret")] {
        let server = HttpTestServer::for_pages(&[PAGE, "https://chat.example"], token);
        let ask = |origin: &str, more: &[(&str, &str)]| {
            let usual = [
                ("Origin", origin),
                ("Access-Control-Request-Method", "POST"),
                ("Sec-Fetch-Site", "same-site"),
            ];
            server.send(
                "OPTIONS",
                "/v1/run/kv/default/set",
                &[&usual, more].concat(),
                "",
            )
        };
        let answer = ask(
            PAGE,
            &[(
                "Access-Control-Request-Headers",
                "authorization,content-type,x-stainless-os",
            )],
        );
        assert_eq!((answer.status, answer.body.as_str()), (204, ""));
        for (name, value) in [
            ("access-control-allow-origin", PAGE),
            ("access-control-allow-credentials", "true"),
            (
                "access-control-allow-methods",
                "GET, HEAD, POST, PUT, PATCH, DELETE",
            ),
            (
                "access-control-allow-headers",
                "authorization,content-type,x-stainless-os",
            ),
            ("access-control-max-age", "600"),
            (
                "vary",
                "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
            ),
        ] {
            assert_eq!(
                answer.headers.get(name).map(String::as_str),
                Some(value),
                "{name}"
            );
        }
        assert!(
            !answer
                .headers
                .contains_key("access-control-allow-private-network")
        );
        let answer = ask(
            "https://chat.example",
            &[("Access-Control-Request-Private-Network", "true")],
        );
        assert_eq!(
            (
                answer.status,
                answer.headers["access-control-allow-private-network"].as_str()
            ),
            (204, "true")
        );
        assert_eq!(
            answer.headers["access-control-allow-headers"],
            "authorization, content-type"
        );
        for other in [
            "http://localhost:3001",
            "http://evil.example",
            "null",
            "http://localhost:3000.evil.example",
        ] {
            let answer = ask(other, &[]);
            assert!([401, 403].contains(&answer.status), "{other}: {answer:?}");
            assert_eq!(cors_headers(&answer.headers), ["vary"], "{other}");
        }
    }
}

#[test]
fn a_page_of_a_listed_origin_reads_answers_and_refusals() {
    let server = HttpTestServer::for_pages(&[PAGE], None);
    let from = |origin: &str, host: &str| {
        let headers = [
            ("Origin", origin),
            ("Host", host),
            ("Sec-Fetch-Site", "cross-site"),
        ];
        server.send("POST", "/v1/run/kv/default/get", &headers, r#"{"key":"k"}"#)
    };
    let answer = from(PAGE, "localhost:8100");
    assert_eq!(answer.code(), (404, "KEY_NOT_FOUND".into()), "it was asked");
    assert_eq!(answer.headers["access-control-allow-origin"], PAGE);
    assert_eq!(answer.headers["access-control-allow-credentials"], "true");
    assert!(answer.headers["access-control-expose-headers"].contains("memory-warning"));
    assert_eq!(answer.headers["vary"], "Origin");
    for other in ["http://localhost:3001", "null", "http://evil.example"] {
        let answer = from(other, "localhost:8100");
        assert_eq!(
            (answer.code(), cors_headers(&answer.headers)),
            ((403, "FORBIDDEN".into()), vec!["vary"]),
            "{other}"
        );
    }
    // No page reaches the server under a host name of its own, regardless of its origin.
    assert_eq!(
        from(PAGE, "rebound.example").code(),
        (403, "FORBIDDEN".into())
    );
    let own = server.get("/v1/health");
    assert_eq!(
        (own.status, cors_headers(&own.headers)),
        (200, vec!["vary"])
    );
    let server = HttpTestServer::for_pages(&[PAGE], Some("s3cret"));
    let answer = server.send("GET", "/v1/tools", &[("Origin", PAGE)], "");
    assert_eq!(
        (
            answer.status,
            answer.headers["access-control-allow-origin"].as_str()
        ),
        (401, PAGE)
    );
    let answer = server.send(
        "GET",
        "/v1/tools",
        &[("Origin", PAGE), ("Authorization", "Bearer s3cret")],
        "",
    );
    assert_eq!(
        (
            answer.status,
            answer.headers["access-control-allow-origin"].as_str()
        ),
        (200, PAGE)
    );
}

#[test]
fn without_listed_origins_no_page_is_answered() {
    let server = HttpTestServer::start();
    let preflight = [("Origin", PAGE), ("Access-Control-Request-Method", "POST")];
    let answer = server.send("OPTIONS", "/v1/run/kv/default/set", &preflight, "");
    assert_eq!(
        (answer.status, cors_headers(&answer.headers)),
        (403, Vec::new())
    );
    let answer = server.get("/v1/health");
    assert_eq!(
        (answer.status, cors_headers(&answer.headers)),
        (200, Vec::new())
    );
}

#[test]
fn a_refusal_names_what_helps() {
    let server = HttpTestServer::start();
    let hint = |name: &str, value: &str| {
        let refused = server.send("GET", "/v1/instances", &[(name, value)], "");
        assert_eq!(refused.status, 403, "{name}: {value}");
        let error = refused.json()["error"].clone();
        (
            error["message"].as_str().expect("a message").to_owned(),
            error["hint"].as_str().expect("a hint").to_owned(),
        )
    };
    let (message, advice) = hint("Host", "host.docker.internal:8100");
    assert!(message.contains("host.docker.internal:8100"), "{message}");
    assert_eq!(advice, HOW_TO_ADMIT);
    let (message, advice) = hint("Origin", "http://localhost:3000");
    assert!(
        message.contains("http://localhost:3000") && advice.contains("http.allowed_origins"),
        "{message} {advice}"
    );
}
