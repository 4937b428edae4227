//! The protocol as its own conformance suite and inspector see it

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the folder in which the suite and the inspector were installed: `MEMORY_TEST_MCP`. Without it the test that `claim`
/// names is left out, which `MEMORY_TEST_REQUIRE_ALL=1` turns into a failure.
fn installed(claim: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("MEMORY_TEST_MCP").map(PathBuf::from);
    if let Some(folder) = folder.filter(|folder| folder.join("node_modules/.bin/mcp-inspector").exists()) {
        return Some(folder);
    }
    let why = "MEMORY_TEST_MCP names no folder with the conformance suite";
    assert!(std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"), "cannot test {claim}: {why}");
    eprintln!("left out: {claim} ({why})");
    None
}

/// Runs one of the installed programs; returns what it printed and its number at the end.
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
    let Some(folder) = installed("the inspector on stdio") else { return };
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
