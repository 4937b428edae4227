//! Tests of the MCP server with the MCP conformance suite and inspector.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the folder with the suite and the inspector, `MEMORY_TEST_MCP`.
///
/// Without it, the test named `claim` is skipped; `MEMORY_TEST_REQUIRE_ALL=1` makes that a failure.
fn find_program(claim: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("MEMORY_TEST_MCP").map(PathBuf::from);
    if let Some(folder) = folder.filter(|folder| folder.join("node_modules/.bin/mcp-inspector").exists()) {
        return Some(folder);
    }
    let why = "MEMORY_TEST_MCP names no folder with the conformance suite";
    assert!(std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"), "cannot test {claim}: {why}");
    eprintln!("skipped: {claim} ({why})");
    None
}

/// Runs an installed program; returns its output and exit code.
fn run(folder: &std::path::Path, program: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let bin = folder.join("node_modules/.bin");
    let own = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.clone()).chain(std::env::split_paths(&own));
    let path = std::env::join_paths(paths).expect("paths");
    let output = Command::new(bin.join(program)).args(arguments).env("PATH", path).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

#[test]
fn the_inspector_finds_what_the_protocol_promises_on_the_standard_streams() {
    let Some(folder) = find_program("the inspector on stdio") else { return };
    let sandbox = Sandbox::new();
    let home = format!("MEMORY_ROOT={}", sandbox.path("home").display());
    let inspect = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_memory");
        run(&folder, "mcp-inspector", &[&["--cli", "-e", &home, program, "mcp"], arguments].concat())
    };
    let (_, code) = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!(code, Some(0), "the schemas are portable");
    let write =
        ["--method", "tools/call", "--tool-name", "memory_write", "--tool-arg", "content=x", "--tool-arg", r#"tags=["a"]"#];
    let (written, code) = inspect(&write);
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!((code, &written["structuredContent"]["created"]), (Some(0), &Value::Bool(true)));
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(inspect(&["--method", method]).1, Some(0), "{method}");
    }
    assert_eq!(inspect(&["--method", "tools/call", "--tool-name", "memory_fly"]).1, Some(5));
}

/// The scenarios for servers without the fixtures of the suite.
const SCENARIOS: [&str; 8] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "server-sse-multiple-streams",
];

fn assert_conformance(folder: &std::path::Path, sandbox: &Sandbox, url: &str, scenarios: &[&str]) {
    let results = sandbox.path("results").display().to_string();
    for scenario in scenarios {
        let arguments = ["server", "--url", url, "--spec-version", "2025-11-25", "--scenario", scenario, "-o", &results];
        let (said, code) = run(folder, "conformance", &arguments);
        assert!(code == Some(0) && said.contains(", 0 failed, 0 warnings"), "{scenario}: {said}");
    }
}

/// A child process, killed when this is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_conformance_suite_passes_over_http() {
    let Some(folder) = find_program("conformance over HTTP") else { return };
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let mut command = sandbox.command(&["serve", "--http", "127.0.0.1:0", "--json"]);
    let mut server = ChildGuard(command.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut begun = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut begun).expect("a line");
    let begun: Value = serde_json::from_str(&begun).expect("JSON");
    let url = format!("{}/mcp", begun["http"].as_str().expect("an address"));
    assert_conformance(&folder, &sandbox, &url, &[&SCENARIOS[..], &["dns-rebinding-protection"]].concat());
}

#[test]
fn the_conformance_suite_passes_on_the_standard_streams() {
    let Some(folder) = find_program("conformance on stdio") else { return };
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    // The suite supports only HTTP, so a third-party bridge connects them, on a port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port().to_string();
    let program = format!("{} mcp --root {}", env!("CARGO_BIN_EXE_memory"), sandbox.path(".memory").display());
    let bin = folder.join("node_modules/.bin");
    let mut bridge = Command::new(bin.join("node"));
    bridge.arg(bin.join("supergateway").canonicalize().expect("the bridge"));
    bridge.args(["--stdio", &program, "--outputTransport", "streamableHttp", "--stateful", "--port", &port]);
    let mut bridge = ChildGuard(bridge.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts"));
    let mut said = BufReader::new(bridge.0.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    said.find(|line| line.contains("Listening on port")).expect("it listens");
    // The pipe must not fill up.
    std::thread::spawn(move || said.for_each(drop));
    assert_conformance(&folder, &sandbox, &format!("http://127.0.0.1:{port}/mcp"), &SCENARIOS);
}
