//! Tests of the output of a proxy in the foreground: its address, the request log, and startup errors.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::process::{HttpResponse, ProxyProcess};
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

const MINIMAL_FLAGS: [&str; 2] = ["--no-summarization", "--no-git-versioning"];

/// Returns the log lines of requests, without the parts that vary between runs.
fn normalised_lines(told: &str) -> Vec<String> {
    let milliseconds = regex::Regex::new(r" ms=\d+").expect("a pattern");
    let requests = told
        .lines()
        .filter_map(|line| line.split_once(" info    "))
        .map(|(_, line)| line);
    requests
        .map(|line| milliseconds.replace(line, " ms=N").into_owned())
        .collect()
}

#[test]
fn each_request_is_one_line_without_a_word_of_it() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| match asked.line.as_str() {
        "GET /v1/models" => UpstreamReply::Whole(200, "", "{}".into()),
        _ if asked.last().contains("stream") => UpstreamReply::completion_stream(&["Fi", "ne."]),
        _ if asked.last().contains("fail") => UpstreamReply::Whole(500, "", "{}".into()),
        _ => UpstreamReply::completion("Fine."),
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &MINIMAL_FLAGS);
    let chat = |id: &str, text: &str| {
        proxy.chat(
            &json!({ "memory_id": id, "stream": text.contains("stream"), "messages": [{ "role": "user", "content": text }] }),
        )
    };
    chat("work", "My secret dog is Rex.");
    chat("a b", "Please stream secretly.");
    chat("other", "This shall fail secretly.");
    proxy.request("GET /v1/models?key=secret", "", "");
    proxy.request("GET /v1/models", "Origin: http://evil.example\r\n", "");
    let (code, told) = proxy.stop();
    assert_eq!(
        (code, told.contains("secret") || told.contains("sk-own")),
        (Some(0), false),
        "{told}"
    );
    // A chat is logged once its turns are stored, which may be after a later request.
    let mut lines = normalised_lines(&told);
    lines.sort();
    assert_eq!(
        lines,
        [
            "id=\"a b\" hits=0 ms=N stored=2 status=200",
            "id=other hits=0 ms=N stored=1 status=500",
            "id=work hits=0 ms=N stored=2 status=200",
            "method=GET path=/v1/models ms=N status=200",
            "method=GET path=/v1/models ms=N status=403",
        ],
        "{told}"
    );
}

#[test]
fn the_level_says_what_is_logged() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.file("mem/elsewhere", "");
    std::os::unix::fs::symlink("elsewhere", sandbox.path("mem/entries")).expect("a link");
    for (level, requests, warnings) in [
        ("debug", true, true),
        ("INFO", true, true),
        ("warning", false, true),
        ("error", false, false),
    ] {
        let proxy = ProxyProcess::start(
            &sandbox,
            &upstream.base_url(),
            &[&MINIMAL_FLAGS[..], &["--log-level", level]].concat(),
        );
        proxy.send_message("Hi");
        let told = proxy.stop().1;
        assert_eq!(
            told.contains(" id=default hits=0 "),
            requests,
            "{level}: {told}"
        );
        assert_eq!(
            told.contains(" recall_us="),
            level == "debug",
            "{level}: {told}"
        );
        assert_eq!(told.contains(" warning "), warnings, "{level}: {told}");
    }
    let wrong = [
        "proxy",
        "--openai-base-url",
        "http://localhost:1/v1",
        "--log-level",
        "loud",
    ];
    assert_snapshot!(sandbox.run(&wrong), @r#"
    --- stderr
    error[usage]: invalid value 'loud' for '--log-level <LEVEL>': "loud" is not a log level (debug, info, warning or error)

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[test]
fn a_log_that_nobody_reads_holds_up_no_chat() {
    let upstream =
        FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::Whole(200, "", "{}".into()));
    let sandbox = Sandbox::new();
    let url = upstream.base_url();
    let mut command = sandbox.command(&[
        "proxy",
        "--json",
        "--port",
        "0",
        "--openai-base-url",
        &url,
        MINIMAL_FLAGS[0],
        MINIMAL_FLAGS[1],
    ]);
    let (unread, errors) = std::io::pipe().expect("a pipe");
    command.stderr(errors).stdout(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    drop(command);
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
    let begun: Value = serde_json::from_str(&line).expect("JSON");
    let place = begun["http"]
        .as_str()
        .expect("an address")
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    let mut stream = TcpStream::connect(&place).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .expect("a connection");
    let path = format!("/v1/{}", "x".repeat(1000));
    // A pipe to a terminal or launcher holds 64 KiB.
    for _ in 0..1000 {
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it takes it");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n{}") {
            let mut piece = [0; 512];
            let length = stream.read(&mut piece).expect("it answers");
            assert!(0 < length, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..length]);
        }
    }
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    drop(unread);
}

#[test]
fn an_address_without_a_path_is_completed_and_that_is_said() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let bare = upstream.base_url().trim_end_matches("/v1").to_owned();
    for url in [
        bare.clone(),
        format!("{bare}/"),
        format!("{bare}/v1/"),
        format!("{bare}/v1/chat/completions"),
    ] {
        let proxy = ProxyProcess::start(&sandbox, &url, &MINIMAL_FLAGS);
        assert_eq!(
            proxy.begun["openai_base_url"],
            json!(format!("{bare}/v1")),
            "{url}"
        );
        assert_eq!(proxy.send_message("Hi").status, Some(200));
        assert_eq!(
            upstream.client_requests().pop().expect("it was asked").line,
            "POST /v1/chat/completions",
            "{url}"
        );
        let told = proxy.stop().1;
        assert_eq!(
            told.contains(&format!("{bare}/v1")),
            !url.ends_with("/v1/"),
            "{url}: {told}"
        );
    }
}

#[test]
fn whoever_cannot_listen_is_told_which_flag_helps() {
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let port = taken.local_addr().expect("an address").port().to_string();
    let url = "http://localhost:1/v1";
    for (arguments, flag) in [
        (
            vec!["proxy", "--openai-base-url", url, "--port", &port],
            "--port",
        ),
        (vec!["instance", "serve", "--addr", &address], "--addr"),
        (vec!["serve", "--http", &address], "--http"),
    ] {
        let said = sandbox.run(&arguments);
        let hint = said
            .lines()
            .find(|line| line.contains("hint"))
            .unwrap_or_default();
        assert!(
            said.contains(&format!("cannot listen on {address}")) && hint.contains(flag),
            "{arguments:?}: {said}"
        );
    }
    // An address of a documentation network, which no machine has.
    let said = sandbox.run(&[
        "proxy",
        "--openai-base-url",
        url,
        "--host",
        "192.0.2.1",
        "--auth-token",
        "t",
    ]);
    assert!(
        said.contains("--host") && said.contains("cannot listen"),
        "{said}"
    );
    let said = sandbox.run(&["proxy", "--openai-base-url", url, "--host", "0.0.0.0"]);
    assert!(said.contains("--auth-token TOKEN"), "{said}");
}

#[test]
fn a_page_of_a_listed_origin_may_chat_and_any_other_is_told_how() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.run(&[
        "config",
        "set",
        "http.allowed_origins",
        "http://localhost:3000, app://obsidian.md",
    ]);
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &MINIMAL_FLAGS);
    let chat = json!({ "messages": [{ "role": "user", "content": "Hi" }] }).to_string();
    let ask = |origin: &str| {
        proxy.request(
            "POST /v1/chat/completions",
            &format!("Origin: {origin}\r\n"),
            &chat,
        )
    };
    for page in ["http://localhost:3000", "app://obsidian.md"] {
        let preflight = format!("Origin: {page}\r\nAccess-Control-Request-Method: POST\r\n");
        let answer = proxy.request("OPTIONS /v1/chat/completions", &preflight, "");
        assert_eq!(
            (answer.status, answer.header("access-control-allow-origin")),
            (Some(204), Some(page))
        );
        let answer = ask(page);
        assert_eq!(
            (answer.status, answer.header("access-control-allow-origin")),
            (Some(200), Some(page))
        );
    }
    let refused = ask("http://localhost:3001");
    assert_eq!(
        (
            refused.status,
            refused.header("access-control-allow-origin")
        ),
        (Some(403), None)
    );
    assert!(
        refused.text().contains("http.allowed_origins"),
        "{}",
        refused.text()
    );
    let mut stream = TcpStream::connect(proxy.address()).expect("a connection");
    let from_docker =
        "GET /v1/models HTTP/1.1\r\nHost: host.docker.internal:8100\r\nConnection: close\r\n\r\n";
    stream
        .write_all(from_docker.as_bytes())
        .expect("it takes it");
    let refused = HttpResponse::read(stream);
    assert_eq!(refused.status, Some(403));
    assert!(
        refused.text().contains("--host 0.0.0.0 --auth-token TOKEN"),
        "{}",
        refused.text()
    );
    let asked = upstream.client_requests().len();
    assert_eq!(asked, 2, "nothing else came through");
    assert!(
        sandbox
            .run(&["config", "set", "http.allowed_origins", "none"])
            .contains("has its default again")
    );
    assert!(!sandbox.run(&["config", "show"]).contains("localhost:3000"));
    for wrong in ["*", "null", "localhost:3000", "http://localhost:3000/page"] {
        let said = sandbox.run(&["config", "set", "http.allowed_origins", wrong]);
        assert!(
            said.contains("http.allowed_origins") && said.contains("--- exit"),
            "{wrong}: {said}"
        );
    }
}
