//! The rules of access: every request that no signed-in person made is refused.

use std::io::{BufRead, BufReader};

use memory_core::Draft;

use super::server::{WebTestServer, encode_form};

#[test]
fn no_page_is_shown_without_a_session() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The safe is behind the picture"));
    for path in [
        "/",
        "/memories",
        "/memories/deleted",
        "/inbox",
        "/nothing",
        &format!("/memories/{id}"),
        &format!("/memories/{id}/edit"),
    ] {
        for cookie in [&[][..], &[("Cookie", "memory_session_80=x; other=y")][..]] {
            let response = server.send("GET", path, cookie, "");
            assert_eq!(response.status, 303, "{path}");
            assert!(
                response.headers["location"].starts_with("/sign-in?next="),
                "{path}"
            );
            assert!(!response.body.contains("picture"));
        }
    }
    assert_eq!(server.send("GET", "/events", &[], "").status, 303);
    let refused = server.send("POST", &format!("/memories/{id}/delete"), &[], "");
    assert_eq!(refused.status, 401);
    assert!(server.services.store.get(&id.parse().unwrap()).is_ok());
}

#[test]
fn a_code_is_valid_once_and_appears_in_no_address() {
    let server = WebTestServer::start();
    let code = server.code();
    let send = |code: &str| {
        server.send(
            "POST",
            "/sign-in",
            &[],
            &encode_form(&[("code", code), ("next", "//evil.example")]),
        )
    };
    let wrong = send("AAAA-AAAA");
    assert_eq!(
        (wrong.status, wrong.headers.contains_key("set-cookie")),
        (403, false)
    );
    let right = send(&code);
    assert_eq!(
        (right.status, right.headers["location"].as_str()),
        (303, "/"),
        "the target is a path of this server"
    );
    let cookie = &right.headers["set-cookie"];
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict") && !cookie.contains(&code),
        "{cookie}"
    );
    assert_eq!(send(&code).status, 403, "it was used");
    assert_eq!(
        server
            .send("GET", &format!("/sign-in?code={}", server.code()), &[], "")
            .status,
        200,
        "a code in a URL has no effect"
    );
}

#[test]
fn the_token_of_a_principal_opens_no_page_and_the_error_names_the_next_step() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The safe is behind the picture"));
    let token = ("Authorization", "Bearer mem_0123456789");
    let form = encode_form(&[("code", "mem_0123456789")]);
    for response in [
        server.send(
            "GET",
            &format!("/memories/{id}"),
            &[token, ("Cookie", server.cookie())],
            "",
        ),
        server.send("GET", "/sign-in", &[token], ""),
        server.send("POST", "/sign-in", &[], &form),
    ] {
        assert_eq!(
            (response.status, response.headers.contains_key("set-cookie")),
            (403, false)
        );
        assert!(
            response
                .body
                .contains("does not accept the token of a principal"),
            "{}",
            response.body
        );
        assert!(
            response
                .body
                .contains("memory shared init --store @ADDRESS --token @TOKEN")
                && !response.body.contains("picture")
        );
    }
}

#[test]
fn codes_cannot_be_guessed() {
    let server = WebTestServer::start();
    let code = server.code();
    for _ in 0..5 {
        assert_eq!(
            server.send("POST", "/sign-in", &[], "code=AAAAAAAA").status,
            403
        );
    }
    assert_eq!(
        server
            .send("POST", "/sign-in", &[], &encode_form(&[("code", &code)]))
            .status,
        403
    );
}

#[test]
fn a_session_ends_when_the_person_signs_out() {
    let server = WebTestServer::start();
    let response = server.post("/sign-out", &[]);
    assert_eq!(response.status, 303);
    assert!(response.headers["set-cookie"].contains("Max-Age=0"));
    assert_eq!(server.get("/memories").status, 303);
}

#[test]
fn a_change_needs_the_token_of_its_session() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The user prefers tea"));
    let path = format!("/memories/{id}/delete");
    let other = server.sign_in();
    for form in [
        String::new(),
        "csrf=".into(),
        "csrf=x".into(),
        encode_form(&[("csrf", &other.1)]),
    ] {
        let refused = server.send("POST", &path, &[("Cookie", server.cookie())], &form);
        assert_eq!(refused.status, 403, "{form}");
    }
    let form = encode_form(&[("csrf", server.csrf())]);
    for kind in [
        "text/plain",
        "application/json",
        "multipart/form-data; boundary=x",
    ] {
        let refused = server.send(
            "POST",
            &path,
            &[("Cookie", server.cookie()), ("Content-Type", kind)],
            &form,
        );
        assert_eq!(refused.status, 400, "{kind}");
    }
    for method in ["PUT", "DELETE", "PATCH"] {
        assert!(
            400 <= server
                .send(method, &path, &[("Cookie", server.cookie())], &form)
                .status
        );
    }
    assert!(server.services.store.get(&id.parse().unwrap()).is_ok());
    assert_eq!(server.get(&path).status, 405, "a link changes nothing");
    assert_eq!(server.post(&path, &[]).status, 303);
    assert!(server.services.store.get(&id.parse().unwrap()).is_err());
}

#[test]
fn requests_of_other_pages_and_hosts_are_refused() {
    let server = WebTestServer::start();
    let own = format!("http://{}", server.place);
    let port = server.place.port();
    let foreign_hosts = [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1.evil.example",
        "localhost@evil.example",
    ];
    let form = encode_form(&[("csrf", server.csrf()), ("next", "/")]);
    let send = |method: &str, path: &str, header: (&str, &str)| {
        server.send(
            method,
            path,
            &[("Cookie", server.cookie()), header],
            if method == "POST" { &form } else { "" },
        )
    };
    for (method, path) in [
        ("GET", "/memories"),
        ("GET", "/events"),
        ("POST", "/undo"),
        ("POST", "/sign-in"),
        ("GET", "/sign-in"),
    ] {
        for host in foreign_hosts {
            assert_eq!(
                send(method, path, ("Host", host)).status,
                403,
                "{method} {path} {host}"
            );
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost:1",
            "http://127.0.0.1",
            "file://",
        ] {
            assert_eq!(
                send(method, path, ("Origin", origin)).status,
                403,
                "{method} {path} {origin}"
            );
        }
        for site in ["cross-site", "same-site", "anything"] {
            assert_eq!(
                send(method, path, ("Sec-Fetch-Site", site)).status,
                403,
                "{method} {path} {site}"
            );
        }
    }
    assert_eq!(
        send("GET", "/memories", ("Sec-Fetch-Site", "none")).status,
        200
    );
    assert_eq!(
        send("POST", "/memories/searches", ("Origin", &own)).status,
        400,
        "the origin is allowed, and the name is missing"
    );
    let preflight = server.send(
        "OPTIONS",
        "/memories",
        &[
            ("Origin", "https://evil.example"),
            ("Access-Control-Request-Method", "POST"),
        ],
        "",
    );
    assert_eq!(preflight.status, 403);
    assert!(
        !preflight
            .headers
            .keys()
            .any(|name| name.starts_with("access-control-"))
    );
}

#[test]
fn every_response_has_the_headers_of_the_security_policy() {
    let server = WebTestServer::start();
    let page = server.get("/memories");
    let style = page
        .body
        .split("rel=\"stylesheet\" href=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap()
        .to_owned();
    let responses = [
        page,
        server.get("/nothing"),
        server.get(&style),
        server.send("GET", "/sign-in", &[], ""),
        server.send("GET", "/memories", &[("Host", "evil.example")], ""),
        server.post("/undo", &[]),
    ];
    for response in &responses {
        assert_eq!(
            response.headers["content-security-policy"],
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             form-action 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'"
        );
        assert_eq!(response.headers["x-content-type-options"], "nosniff");
        assert!(
            !response
                .headers
                .keys()
                .any(|name| name.starts_with("access-control-"))
        );
        let has_code =
            ["same-origin", "no-referrer"].contains(&response.headers["referrer-policy"].as_str());
        assert!(has_code, "the address of a page goes to no other server");
    }
    assert_eq!(responses[0].headers["cache-control"], "no-store");
    assert_eq!(
        responses[2].headers["cache-control"],
        "public, max-age=31536000, immutable"
    );
    assert_eq!(responses[1].status, 404);
    let pages = [&responses[0], &responses[1], &responses[3]];
    assert!(
        pages
            .iter()
            .all(|page| !page.body.contains("style=\"") && !page.body.contains(" onclick")),
        "the policy forbids them"
    );
}

#[test]
fn a_form_has_a_maximum_size() {
    let server = WebTestServer::start();
    let long = "x".repeat((8 << 20) + 1);
    let refused = server.post("/undo", &[("next", &long)]);
    assert_eq!(refused.status, 413);
}

#[test]
fn a_change_of_another_process_is_an_event() {
    let server = WebTestServer::start();
    let stream = server.begin("GET", "/events?since=0", &[("Cookie", server.cookie())], "");
    server.write(Draft::new("An agent writes this"));
    let mut lines = BufReader::new(stream)
        .lines()
        .map(|line| line.expect("a line"));
    assert!(
        lines.any(|line| line == "event: change"),
        "the stream ended without an event"
    );
    assert_eq!(lines.next().as_deref(), Some("data: 1 0"));
}
