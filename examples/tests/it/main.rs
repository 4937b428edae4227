//! Tests of the example programs.

#[path = "../../../memory-agent/tests/it/model/server.rs"]
#[expect(dead_code, reason = "what goes wrong on the way to a model is tested where models are asked")]
mod model_server;
mod seven_prompts;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use model_server::ModelTestServer;
use seven_prompts::{PROMPTS, SAID, check_requests, model_replies};

#[test]
fn an_agent_remembers_updates_and_forgets_through_seven_prompts() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ModelTestServer::start(model_replies());
    let mut child = Command::new(env!("CARGO_BIN_EXE_agent_loop"))
        .current_dir(folder.path())
        .env_clear()
        .envs([("OPENAI_BASE_URL", server.base_url()), ("MEMORY_ROOT", folder.path().join("home").display().to_string())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("a pipe").write_all(PROMPTS.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), SAID);
    let asked: Vec<_> = server.requests().into_iter().map(|asked| asked.body).collect();
    check_requests(&asked, &|name| std::fs::read_to_string(folder.path().join(".memory").join(name)).ok());
}

/// Runs an example, and returns its output.
fn run(program: &str, arguments: &[&Path]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn hello_finds_what_it_wrote() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(env!("CARGO_BIN_EXE_hello"), &[&folder.path().join("home")]), "The user prefers dark mode\n");
}

#[test]
fn custom_tool_counts_what_each_agent_sees_and_refuses_an_unknown_field() {
    let expected = "ada: {\"count\":2}\nbob: {\"count\":1}\nINVALID_INPUT: ";
    let output = run(env!("CARGO_BIN_EXE_custom_tool"), &[]);
    assert!(output.starts_with(expected), "{output}");
    assert!(output.ends_with("; count needs tag\n"), "{output}");
}

#[test]
fn custom_store_counts_writes() {
    assert_eq!(run(env!("CARGO_BIN_EXE_custom_store"), &[]), "2 writes, 1 hit\n");
}

#[test]
fn reminders_are_snoozed_and_done() {
    let expected = "open: call Anna tomorrow at 3pm, water the plants\nopen: water the plants, call Anna tomorrow at 3pm\n\
                    open: water the plants\nerror: the text contains no time\n";
    assert_eq!(run(env!("CARGO_BIN_EXE_reminders"), &[]), expected);
}

#[test]
fn vault_ingest_finds_no_changes_in_the_second_run() {
    let output = run(env!("CARGO_BIN_EXE_vault_ingest"), &[]);
    assert!(output.starts_with("first run: 72 new, 0 unchanged, "), "{output}");
    assert!(output.contains("\nsecond run: 0 new, 72 unchanged, "), "{output}");
}

#[test]
fn dream_dry_run_files_and_merges() {
    let output = run(env!("CARGO_BIN_EXE_dream_dry_run"), &[]);
    assert!(output.contains("I prefer short answers without emoji would move to preferences\n"), "{output}");
    assert!(output.ends_with("\n1 would be merged, 0 would stay in the inbox\n"), "{output}");
}

#[test]
fn bank_jq_selects_keys_by_their_values() {
    assert_eq!(run(env!("CARGO_BIN_EXE_bank_jq"), &[]), "\"web\"\n\"metrics\"\n");
}
