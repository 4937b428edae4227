//! Attacks on the web page: by other hosts, origins, users and pages, and by the text of memories.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_core::testing::command_of_another_user;

use super::browser::Browser;
use super::home::{DESKTOP, FERRY, WebHome};
use super::http_client::{PlainResponse, PlainSession, exchange, post_request};

/// The forms that change something, each with its path and fields.
fn changes() -> Vec<(String, &'static str)> {
    vec![
        (format!("/memories/{FERRY}/edit"), "content=attacked"),
        (format!("/memories/{FERRY}/tags"), "add=attacked"),
        (format!("/memories/{FERRY}/category"), "category=people"),
        (format!("/memories/{FERRY}/pin"), "pinned=yes"),
        (format!("/memories/{FERRY}/delete"), ""),
        (
            "/memories/searches".into(),
            "name=attacked&query=q%3Dattacked",
        ),
        ("/undo".into(), "operation=000000000000"),
        ("/sign-out".into(), ""),
        ("/inbox/decide".into(), "action=reject"),
        ("/import".into(), "path=%2F"),
        ("/settings".into(), "key=git.enabled&git.enabled=true"),
        ("/settings/back".into(), ""),
        ("/inbox/plan".into(), "action=accept"),
        ("/reminders".into(), "text=attacked+tomorrow"),
        ("/banks/user/preferences/entry".into(), "key=theme&value=1"),
        (
            "/topics".into(),
            "name=attacked&description=attacked&content=attacked",
        ),
    ]
}

/// Asserts that `attack` changes neither the memories nor the operation log.
fn assert_unchanged(home: &WebHome, attack: impl FnOnce()) {
    let state = || {
        [
            home.sandbox.run(&["log", "--json"]),
            home.sandbox.run(&["bank", "export"]),
            home.read(FERRY),
        ]
    };
    let before = state();
    attack();
    assert_eq!(state(), before);
}

/// Asserts that a response refuses the request, and reveals no memory.
fn assert_refused(response: &PlainResponse, attack: &str) {
    assert!(
        [400, 401, 403, 404, 405, 415, 421, 431].contains(&response.status),
        "{attack}: {}",
        response.head
    );
    assert!(
        !response.body.contains("ferry"),
        "{attack}: {}",
        response.body
    );
    assert!(
        response.header("access-control-allow-origin").is_none(),
        "{attack}: {}",
        response.head
    );
}

#[test]
fn a_request_for_another_host_is_refused() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let (own, port) = (
        home.authority(),
        home.authority().rsplit(':').next().expect("a port"),
    );
    assert_eq!(session.get("/memories").status, 200);
    let hosts = [
        format!("Host: attacker.test:{port}\r\n"),
        format!("Host: attacker.test\r\nX-Forwarded-Host: {own}\r\n"),
        format!("Host: 127.0.0.1.attacker.test:{port}\r\n"),
        format!("Host: localhost.attacker.test:{port}\r\n"),
        format!("Host: {own}@attacker.test\r\n"),
        format!("Host: attacker@{own}\r\n"),
        format!("Host: {own}\r\nHost: attacker.test\r\n"),
        format!("Host: attacker.test\r\nHost: {own}\r\n"),
        format!("Host: {own}, attacker.test\r\n"),
        "Host: 192.168.0.1\r\n".into(),
        "Host: 0.0.0.0\r\n".into(),
        "Host: \r\n".into(),
        String::new(),
    ];
    for headers in hosts {
        assert_refused(&session.get_with("/memories", &headers), &headers);
        assert_refused(&session.get_with("/sign-in", &headers), &headers);
    }
    // The authority of an absolute target has precedence over the header.
    let response = session.get_with("http://attacker.test/memories", &format!("Host: {own}\r\n"));
    assert_refused(&response, "an absolute target");
}

#[test]
fn a_change_that_another_page_sends_is_refused() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let own = home.authority();
    let headers = [
        "Origin: http://attacker.test\r\n".to_owned(),
        "Origin: null\r\n".into(),
        "Origin: \r\n".into(),
        // Another server on this machine is another origin, although it is the same site.
        "Origin: http://127.0.0.1:1\r\n".into(),
        format!("Origin: http://{own}.attacker.test\r\n"),
        format!("Origin: http://{own}\r\nOrigin: http://attacker.test\r\n"),
        "Sec-Fetch-Site: cross-site\r\n".into(),
        "Sec-Fetch-Site: same-site\r\n".into(),
        format!("Origin: http://{own}\r\nSec-Fetch-Site: cross-site\r\n"),
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n".into(),
    ];
    assert_unchanged(&home, || {
        for headers in headers {
            let headers = format!("Host: {own}\r\n{headers}");
            for (path, form) in changes() {
                // Even the token of the session does not help.
                let form = format!("{form}&csrf={}", session.csrf);
                assert_refused(
                    &session.post_with(&path, &headers, &form),
                    &format!("{path} {headers}"),
                );
            }
            assert_refused(
                &session.post_with("/sign-in", &headers, "code=AAAA-AAAA"),
                &headers,
            );
        }
    });
    let preflight = format!(
        "OPTIONS /memories HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nCookie: {}\r\n",
        session.cookie
    );
    let preflight = format!(
        "{preflight}Origin: http://attacker.test\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    );
    assert_refused(&exchange(own, &preflight), "a preflight");
    assert_eq!(
        session.get("/memories").status,
        200,
        "the session was not ended"
    );
}

#[test]
fn a_change_needs_the_token_of_its_session_in_a_form() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let headers = format!(
        "Host: {0}\r\nOrigin: http://{0}\r\nSec-Fetch-Site: same-origin\r\n",
        home.authority()
    );
    let cookie = session
        .cookie
        .split('=')
        .nth(1)
        .expect("a value")
        .to_owned();
    assert_unchanged(&home, || {
        for (path, form) in changes() {
            for token in [
                "",
                "csrf=",
                "csrf=0",
                &format!("csrf={cookie}"),
                &format!("csrf=0&csrf={}", session.csrf),
            ] {
                assert_refused(
                    &session.post_with(&path, &headers, &format!("{form}&{token}")),
                    &format!("{path} {token}"),
                );
            }
            // A GET request never changes anything, and other media types are no forms.
            session.get(&format!("{path}?{form}&csrf={}", session.csrf));
            let json = format!("{{\"csrf\":\"{}\"}}", session.csrf);
            let request = post_request(
                &path,
                &format!("Cookie: {}\r\n{headers}", session.cookie),
                &json,
            );
            for kind in [
                "text/plain",
                "application/json",
                "multipart/form-data; boundary=x",
            ] {
                let request = request.replace("application/x-www-form-urlencoded", kind);
                assert_refused(&exchange(home.authority(), &request), kind);
            }
            for method in ["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"] {
                let request = request.replacen("POST", method, 1);
                assert_refused(&exchange(home.authority(), &request), method);
            }
        }
    });
    let end = session.post("/sign-out", "");
    assert_eq!(end.status, 303, "{}", end.head);
    assert_eq!(
        session.get("/memories").status,
        303,
        "the cookie is not valid after the end of its session"
    );
    assert_refused(
        &session.post(&format!("/memories/{FERRY}/delete"), ""),
        "after the end of the session",
    );
}

#[test]
fn a_code_signs_in_once_and_appears_in_no_address_and_no_log() {
    let home = WebHome::start();
    let own = home.authority();
    let headers = format!("Host: {own}\r\nOrigin: http://{own}\r\n");
    for path in [
        "/",
        "/memories",
        "/inbox",
        "/graph",
        "/events",
        "/health",
        "/banks",
        "/unknown",
    ] {
        let response = exchange(
            own,
            &format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        );
        assert!(
            response.status == 303
                && response
                    .header("location")
                    .is_some_and(|to| to.starts_with("/sign-in")),
            "{path}"
        );
        assert!(
            !response.body.contains("ferry") && !response.body.contains("csrf"),
            "{path}: {}",
            response.body
        );
    }
    let by_address = format!(
        "GET /sign-in?code={} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n",
        home.code()
    );
    assert!(
        exchange(own, &by_address).header("set-cookie").is_none(),
        "an address signs nobody in"
    );
    for code in ["", "AAAA-AAAA", "%00", "x%0d%0aSet-Cookie: a=b"] {
        let response = exchange(
            own,
            &post_request("/sign-in", &headers, &format!("code={code}")),
        );
        assert!(
            response.status == 403 && response.header("set-cookie").is_none(),
            "{code}: {}",
            response.head
        );
    }
    let sign_in = post_request(
        "/sign-in",
        &headers,
        &format!("code={}&next=//attacker.test/", home.code()),
    );
    let response = exchange(own, &sign_in);
    assert_eq!(
        (response.status, response.header("location")),
        (303, Some("/")),
        "{}",
        response.head
    );
    let cookie = response.header("set-cookie").expect("a cookie");
    assert!(
        cookie.contains("; HttpOnly")
            && cookie.contains("; SameSite=Strict")
            && cookie.contains("; Path=/"),
        "{cookie}"
    );
    assert!(
        !cookie.contains(home.code()) && !cookie.contains("Domain"),
        "{cookie}"
    );
    assert_eq!(exchange(own, &sign_in).status, 403, "a code signs in once");
    for file in ["daemon.log", "memory.md"] {
        let text = std::fs::read_to_string(home.sandbox.path(&format!(".memory/{file}")))
            .unwrap_or_default();
        assert!(
            !text.contains(home.code()) && !text.contains(&home.code().replace('-', "")),
            "{file}"
        );
    }
}

#[test]
fn codes_cannot_be_guessed() {
    let home = WebHome::start();
    let own = home.authority();
    let headers = format!("Host: {own}\r\nOrigin: http://{own}\r\n");
    for number in 0..20 {
        let response = exchange(
            own,
            &post_request("/sign-in", &headers, &format!("code=AAAA-AA{number:02}")),
        );
        assert_eq!(response.status, 403);
    }
    let response = exchange(
        own,
        &post_request("/sign-in", &headers, &format!("code={}", home.code())),
    );
    assert_eq!(
        response.status, 403,
        "after many wrong codes the right one is invalid as well"
    );
}

#[test]
fn programs_of_other_users_are_refused() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let request = format!(
        "GET /memories HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {}\r\n\r\n",
        home.authority(),
        session.cookie
    );
    let (host, port) = home.authority().split_once(':').expect("a port");
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; cat >&3; cat <&3");
    let ask = |mut command: Command| {
        command
            .args(["-c", &script])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("bash starts");
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(request.as_bytes())
            .expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let Some(other) = command_of_another_user("bash") else {
        return;
    };
    let response = ask(other);
    assert!(
        response.starts_with("HTTP/1.1 403") && !response.contains("ferry"),
        "{response}"
    );
    assert!(ask(Command::new("bash")).starts_with("HTTP/1.1 200"));
}

#[test]
fn every_response_has_the_security_headers() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let own = home.authority();
    let style = session.get("/memories").body;
    let style = style
        .split("href=\"")
        .find(|part| part.starts_with("/assets/"))
        .and_then(|part| part.split('"').next())
        .expect("a style");
    let signed_out = |path: &str| {
        exchange(
            own,
            &format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        )
    };
    let responses = [
        ("page", session.get("/memories")),
        ("memory", session.get(&format!("/memories/{FERRY}"))),
        ("missing memory", session.get("/memories/ffffffff")),
        ("missing page", session.get("/unknown")),
        ("asset", session.get(style)),
        ("missing asset", session.get("/assets/0/../../Cargo.toml")),
        ("redirect", signed_out("/memories")),
        ("sign-in", signed_out("/sign-in")),
        (
            "foreign host",
            session.get_with("/memories", "Host: attacker.test\r\n"),
        ),
        (
            "no token",
            session.post_with("/undo", &format!("Host: {own}\r\n"), ""),
        ),
        (
            "wrong method",
            exchange(
                own,
                &format!("DELETE /memories HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
            ),
        ),
    ];
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'";
    for (name, response) in responses {
        assert_eq!(
            response.header("content-security-policy"),
            Some(policy),
            "{name}: {}",
            response.head
        );
        assert_eq!(
            response.header("x-content-type-options"),
            Some("nosniff"),
            "{name}: {}",
            response.head
        );
        assert!(
            response.header("referrer-policy").is_some(),
            "{name}: {}",
            response.head
        );
        let caching = response.header("cache-control").unwrap_or_default();
        assert_eq!(
            caching.contains("no-store"),
            name != "asset",
            "{name}: {caching}"
        );
        for header in [
            "access-control-allow-origin",
            "access-control-allow-credentials",
            "server",
        ] {
            assert!(
                response.header(header).is_none(),
                "{name}: {}",
                response.head
            );
        }
    }
}

#[test]
fn texts_in_addresses_and_fields_are_displayed_only() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let attack = "%22%3E%3Cscript%3Ewindow.attacked%3D1%3C/script%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E";
    let paths = [
        "/memories?q=",
        "/memories?tag=",
        "/memories?done=",
        "/memories?page=",
        "/memories?category=",
        "/graph?memory=",
        "/graph?tag=",
        "/sessions/",
        "/banks/",
        "/topics/",
        "/conversations/",
        "/instances/",
        "/activity?day=",
        "/reminders?month=",
        "/memories/",
        "/",
        "/sign-in?next=",
    ];
    for path in paths {
        let body = session.get(&format!("{path}{attack}")).body;
        assert!(
            !body.contains("<script>window") && !body.contains("<img src=x"),
            "{path}: {body}"
        );
    }
    for target in [
        "//attacker.test/",
        "https://attacker.test/",
        "/%5Cattacker.test/",
        "javascript:alert(1)",
        "/%0d%0aSet-Cookie:%20a=b",
        "%09//attacker.test",
    ] {
        let response = session.post(
            &format!("/memories/{FERRY}/pin"),
            &format!("pinned=yes&next={target}"),
        );
        let location = response.header("location").unwrap_or("/");
        let is_local = location.starts_with('/')
            && !location.starts_with("//")
            && !location.contains(['\\', '\t']);
        assert!(
            is_local && response.header("set-cookie").is_none(),
            "{target}: {}",
            response.head
        );
    }
}

/// A page of an attacker on another port of this machine. It counts its requests.
struct AttackerPage {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl AttackerPage {
    fn serve(html: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        // The thread ends with the test process.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close",
                    html.len()
                );
                let _ = write!(stream, "{head}\r\n\r\n{html}");
            }
        });
        Self { port, requests }
    }
}

#[test]
fn a_page_of_an_attacker_in_the_same_browser_reads_and_changes_nothing() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, DESKTOP);
    let target = &home.address;
    let fields = "<input name=content value=attacked><input name=csrf value=0>";
    let frame = |name: &str, path: &str| {
        let html = format!(
            "<iframe name={name}></iframe><form target={name} method=post action='{target}{path}'>{fields}</form>"
        );
        format!("{html}<script>document.querySelector('form[target={name}]').submit()</script>")
    };
    let forms: String = changes()
        .iter()
        .enumerate()
        .map(|(number, (path, _))| frame(&format!("frame{number}"), path))
        .collect();
    let html = format!(
        "<!doctype html><title>attack</title><iframe id=shown src='{target}/memories'></iframe>{forms}
        <img src='{target}/memories/{FERRY}/delete'><script>
        window.results = []; window.pending = 3;
        const done = result => {{ results.push(String(result)); pending--; }};
        fetch('{target}/memories', {{ credentials: 'include' }}).then(r => r.text()).then(done, done);
        fetch('{target}/memories/{FERRY}/delete', {{ method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams('a=1') }})
            .then(() => done('sent'), done);
        const events = new EventSource('{target}/events', {{ withCredentials: true }}); events.onerror = () => done('no events');
        const opened = window.open('{target}/memories'); </script>"
    );
    let attacker = AttackerPage::serve(html);
    assert_unchanged(&home, || {
        // Another site, and another server on this machine: the same site, so the browser sends the cookie.
        for host in ["attacker.test", "127.0.0.1"] {
            page.goto(&format!("http://{host}:{}/", attacker.port));
            page.wait_for_true("window.pending <= 0");
            let results = page.evaluate("JSON.stringify(window.results)").to_string();
            assert!(!results.contains("ferry"), "{host}: {results}");
            let shown = page.evaluate("(() => { try { return document.getElementById('shown').contentDocument !== null } catch (e) { return false } })()");
            assert_eq!(shown, false, "{host}: the page is shown in a frame");
        }
    });
    assert!(0 < attacker.requests.load(Ordering::SeqCst));
    // The name of the attacker resolves to this machine (DNS rebinding).
    let port = home.authority().rsplit(':').next().expect("a port");
    page.goto(&format!("http://attacker.test:{port}/memories"));
    assert!(
        !page.text("body").contains("ferry"),
        "{}",
        page.text("body")
    );
    home.open(&page, "/memories");
    page.wait_for("main");
    assert!(
        page.address().starts_with("/memories"),
        "the session goes on: {}",
        page.address()
    );
}
