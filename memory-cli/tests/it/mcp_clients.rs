//! Tests of the MCP server with the MCP conformance suites, the inspector, and the SDKs for Python and TypeScript.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the folder with the suites, the inspector and the SDKs, `MEMORY_TEST_MCP`.
fn find_program() -> Option<PathBuf> {
    let folder = std::env::var_os("MEMORY_TEST_MCP").map(PathBuf::from);
    let parts = [
        "node_modules/.bin/mcp-inspector",
        NEXT_SUITE,
        "venv/bin/python",
    ];
    if let Some(folder) =
        folder.filter(|folder| parts.iter().all(|part| folder.join(part).exists()))
    {
        return Some(folder);
    }
    memory_core::testing::leave_out("MEMORY_TEST_MCP names no folder with the conformance suites");
    None
}

/// The conformance suite that has scenarios for the revision 2026-07-28. The former suite is the latest one for 2025-11-25.
const NEXT_SUITE: &str = "node_modules/conformance-next/dist/index.js";

/// Runs an installed program; returns its output and exit code.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let bin = folder.join("node_modules/.bin");
    let own = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.clone()).chain(std::env::split_paths(&own));
    let path = std::env::join_paths(paths).expect("paths");
    let output = Command::new(bin.join(program))
        .args(arguments)
        .env("PATH", path)
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (
        String::from_utf8_lossy(&text).into_owned(),
        output.status.code(),
    )
}

#[test]
fn the_inspector_finds_what_the_protocol_promises_on_the_standard_streams() {
    let Some(folder) = find_program() else {
        return;
    };
    let sandbox = Sandbox::new();
    let home = format!("MEMORY_ROOT={}", sandbox.path("home").display());
    let inspect = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_memory");
        run(
            &folder,
            "mcp-inspector",
            &[&["--cli", "-e", &home, program, "mcp"], arguments].concat(),
        )
    };
    let (_, code) = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!(code, Some(0), "the schemas are portable");
    let write = [
        "--method",
        "tools/call",
        "--tool-name",
        "memory_write",
        "--tool-arg",
        "content=x",
        "--tool-arg",
        r#"tags=["a"]"#,
    ];
    let (written, code) = inspect(&write);
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(
        (code, &written["structuredContent"]["created"]),
        (Some(0), &Value::Bool(true))
    );
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(inspect(&["--method", method]).1, Some(0), "{method}");
    }
    assert_eq!(
        inspect(&["--method", "tools/call", "--tool-name", "memory_fly"]).1,
        Some(5)
    );
}

/// The scenarios of 2025-11-25 for servers without the fixtures of the suite.
///
/// `resources-subscribe` and `resources-unsubscribe` need the resource `test://watched-resource`.
const SCENARIOS: [&str; 6] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
];

/// The scenarios of 2026-07-28 for servers without the fixtures of the suite.
const NEXT_SCENARIOS: [&str; 9] = [
    "server-stateless",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
];

/// The checks of these scenarios that need a tool of the suite: `test_missing_capability`, `test_streaming_elicitation` or
/// `test_logging_tool`.
const CHECKS_WITH_FIXTURES: [&str; 4] = [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
];

fn assert_conformance(folder: &Path, sandbox: &Sandbox, url: &str, scenarios: &[&str]) {
    let results = sandbox.path("results").display().to_string();
    for scenario in scenarios {
        let arguments = [
            "server",
            "--url",
            url,
            "--spec-version",
            "2025-11-25",
            "--scenario",
            scenario,
            "-o",
            &results,
        ];
        let (said, code) = run(folder, "conformance", &arguments);
        assert!(
            code == Some(0) && said.contains(", 0 failed, 0 warnings"),
            "{scenario}: {said}"
        );
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

/// Starts an HTTP server; returns it and its address.
fn start_server(sandbox: &Sandbox) -> (ChildGuard, String) {
    let mut command = sandbox.command(&["serve", "--http", "127.0.0.1:0", "--json"]);
    let mut server = ChildGuard(command.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut begun = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe"))
        .read_line(&mut begun)
        .expect("a line");
    let begun: Value = serde_json::from_str(&begun).expect("JSON");
    (
        server,
        format!("{}/mcp", begun["http"].as_str().expect("an address")),
    )
}

#[test]
fn the_conformance_suite_passes_over_http() {
    let Some(folder) = find_program() else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let (_server, url) = start_server(&sandbox);
    assert_conformance(
        &folder,
        &sandbox,
        &url,
        &[&SCENARIOS[..], &["dns-rebinding-protection"]].concat(),
    );
}

/// Returns the failed checks and the warnings of a scenario.
fn failed_checks(results: &Path, scenario: &str) -> Vec<String> {
    // The name of the folder ends with the time of the run.
    let folder = fs::read_dir(results)
        .expect("results")
        .map(|entry| entry.expect("an entry"));
    let prefix = format!("server-{scenario}-20");
    let folder = folder
        .into_iter()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let path = folder
        .unwrap_or_else(|| panic!("no results of {scenario}"))
        .path()
        .join("checks.json");
    let checks: Value = serde_json::from_slice(&fs::read(path).expect("checks")).expect("JSON");
    let checks = checks.as_array().expect("a list");
    assert!(
        checks.iter().any(|check| check["status"] == "SUCCESS"),
        "{scenario}: {checks:?}"
    );
    let failed = checks
        .iter()
        .filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
    failed
        .map(|check| check["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn the_conformance_suite_of_2026_07_28_passes_over_http() {
    let Some(folder) = find_program() else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let (_server, url) = start_server(&sandbox);
    let (suite, results) = (
        folder.join(NEXT_SUITE).display().to_string(),
        sandbox.path("results"),
    );
    let (suite, output) = (suite.as_str(), results.display().to_string());
    let (said, _) = run(
        &folder,
        "node",
        &[
            suite,
            "server",
            "--url",
            &url,
            "--requirements",
            "2026-07-28",
            "-o",
            &output,
        ],
    );
    for scenario in NEXT_SCENARIOS {
        let failed = failed_checks(&results, scenario);
        let expected: &[&str] = if scenario == "server-stateless" {
            &CHECKS_WITH_FIXTURES
        } else {
            &[]
        };
        assert_eq!(failed, expected, "{scenario}: {said}");
    }
    // This scenario of the former revision exists only in the next suite.
    let former = [
        "--spec-version",
        "2025-11-25",
        "--scenario",
        "server-session-lifecycle",
        "-o",
        &output,
    ];
    let (said, code) = run(
        &folder,
        "node",
        &[&[suite, "server", "--url", &url][..], &former].concat(),
    );
    assert_eq!(
        (code, failed_checks(&results, "server-session-lifecycle")),
        (Some(0), Vec::new()),
        "{said}"
    );
}

const PYTHON: &str = include_str!("mcp_clients/subscribe.py");
const NODE: &str = include_str!("mcp_clients/subscribe.mjs");

/// Runs a client in each mode. It prints errors, and exits with 0 if there were no errors.
fn run_client(client: &dyn Fn() -> Command, sandbox: &Sandbox, url: Option<&str>) {
    let home = sandbox.path(".memory");
    for mode in ["auto", "legacy"] {
        let mut command = client();
        command
            .arg(env!("CARGO_BIN_EXE_memory"))
            .arg(&home)
            .arg(mode)
            .args(url);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{mode}: {said}");
    }
}

#[test]
fn the_sdk_for_python_subscribes_with_both_revisions() {
    let Some(folder) = find_program() else {
        return;
    };
    let python = || {
        let mut command = Command::new(folder.join("venv/bin/python"));
        command.args(["-c", PYTHON]);
        command
    };
    run_client(&python, &Sandbox::new(), None);
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let (_server, url) = start_server(&sandbox);
    run_client(&python, &sandbox, Some(&url));
}

#[test]
fn the_sdk_for_typescript_subscribes_with_both_revisions() {
    let Some(folder) = find_program() else {
        return;
    };
    let node = || {
        let mut command = Command::new(folder.join("node_modules/.bin/node"));
        command
            .current_dir(&folder)
            .args(["--input-type=module", "-e", NODE, "--"]);
        command
    };
    run_client(&node, &Sandbox::new(), None);
}

#[test]
fn the_conformance_suite_passes_on_the_standard_streams() {
    let Some(folder) = find_program() else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    // The suite supports only HTTP, so a third-party bridge connects them, on a port that is free now.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port()
        .to_string();
    let program = format!(
        "{} mcp --root {}",
        env!("CARGO_BIN_EXE_memory"),
        sandbox.path(".memory").display()
    );
    let bin = folder.join("node_modules/.bin");
    let mut bridge = Command::new(bin.join("node"));
    bridge.arg(bin.join("supergateway").canonicalize().expect("the bridge"));
    bridge.args([
        "--stdio",
        &program,
        "--outputTransport",
        "streamableHttp",
        "--stateful",
        "--port",
        &port,
    ]);
    let mut bridge = ChildGuard(
        bridge
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts"),
    );
    let mut said = BufReader::new(bridge.0.stdout.take().expect("a pipe"))
        .lines()
        .map_while(Result::ok);
    said.find(|line| line.contains("Listening on port"))
        .expect("it listens");
    // The pipe must not fill up.
    std::thread::spawn(move || said.for_each(drop));
    assert_conformance(
        &folder,
        &sandbox,
        &format!("http://127.0.0.1:{port}/mcp"),
        &SCENARIOS,
    );
}
