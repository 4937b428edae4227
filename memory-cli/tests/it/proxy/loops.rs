//! Tests of a proxy that has itself as its upstream.

use serde_json::json;

use super::process::ProxyProcess;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

const QUIET_FLAGS: &[&str] = &["--no-summarization", "--no-git-versioning"];

/// Returns a port outside of the range that the system assigns automatically.
fn unassigned_port() -> String {
    (20_000 + std::process::id() % 10_000).to_string()
}

#[test]
fn a_proxy_is_not_begun_before_itself() {
    let (sandbox, port) = (Sandbox::new(), unassigned_port());
    let own = format!("http://localhost:{port}/v1");
    for command in [
        ["proxy", "--port", &port].as_slice(),
        &["serve", "--http", &format!("127.0.0.1:{port}")],
    ] {
        sandbox.write("tea at nine", &[]);
        let mut command = sandbox.command(command);
        let output = command
            .env("MEMORY_PROXY_OPENAI_BASE_URL", &own)
            .output()
            .expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains("is the address of this proxy"),
            "{told}"
        );
    }
}

#[test]
fn a_request_that_comes_back_is_refused() {
    let (sandbox, upstream) = (
        Sandbox::new(),
        FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine.")),
    );
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    for line in ["POST /v1/chat/completions", "GET /v1/models"] {
        let body = r#"{"messages":[{"role":"user","content":"Hi"}]}"#;
        let headers = "Memory-Hops: another\r\n";
        assert_eq!(proxy.request(line, headers, body).status, Some(200));
        let sent = upstream.client_requests().pop().expect("it was asked");
        let hops = sent
            .headers
            .iter()
            .filter(|(name, _)| name == "memory-hops");
        let hops = hops
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect::<Vec<_>>()
            .concat();
        assert!(hops.starts_with("memory-hops: another\r\n"), "{hops}");
        let answer = proxy.request(line, &hops, body);
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (Some(502), &json!("MODEL_FAILED")),
            "{line}"
        );
        assert!(
            answer.text().contains("loop back to this proxy"),
            "{}",
            answer.text()
        );
    }
}

#[test]
fn one_proxy_may_stand_before_another() {
    let (sandbox, upstream) = (
        Sandbox::new(),
        FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine.")),
    );
    let behind = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let front = ProxyProcess::start(&sandbox, &behind.url, QUIET_FLAGS);
    assert_eq!(front.send_message("Hi").status, Some(200));
}
