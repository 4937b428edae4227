//! Tests of the example programs.

#[path = "../../../memory-agent/tests/it/model/server.rs"]
#[expect(
    dead_code,
    reason = "what goes wrong on the way to a model is tested where models are asked"
)]
mod model_server;
mod seven_prompts;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use model_server::ModelTestServer;
use seven_prompts::{PROMPTS, SAID, check_requests, model_replies, text_reply};

#[test]
fn an_agent_remembers_updates_and_forgets_through_seven_prompts() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ModelTestServer::start(model_replies());
    let mut child = Command::new(env!("CARGO_BIN_EXE_agent_loop"))
        .current_dir(folder.path())
        .env_clear()
        .envs([
            ("OPENAI_BASE_URL", server.base_url()),
            (
                "MEMORY_ROOT",
                folder.path().join("home").display().to_string(),
            ),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(PROMPTS.as_bytes())
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), SAID);
    let asked: Vec<_> = server
        .requests()
        .into_iter()
        .map(|asked| asked.body)
        .collect();
    check_requests(&asked, &|name| {
        std::fs::read_to_string(folder.path().join(".memory").join(name)).ok()
    });
}

/// Runs an example, and returns its output.
fn run(program: &str, arguments: &[&Path]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn hello_finds_what_it_wrote() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(env!("CARGO_BIN_EXE_hello"), &[&folder.path().join("home")]),
        "The user prefers dark mode\n"
    );
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
    assert_eq!(
        run(env!("CARGO_BIN_EXE_custom_store"), &[]),
        "2 writes, 1 hit\n"
    );
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
    assert!(
        output.starts_with("first run: 72 new, 0 unchanged, "),
        "{output}"
    );
    assert!(
        output.contains("\nsecond run: 0 new, 72 unchanged, "),
        "{output}"
    );
}

#[test]
fn dream_dry_run_files_and_merges() {
    let output = run(env!("CARGO_BIN_EXE_dream_dry_run"), &[]);
    assert!(
        output.contains("I prefer short answers without emoji would move to preferences\n"),
        "{output}"
    );
    assert!(
        output.ends_with("\n1 would be merged, 0 would stay in the inbox\n"),
        "{output}"
    );
}

#[test]
fn bank_jq_selects_keys_by_their_values() {
    assert_eq!(
        run(env!("CARGO_BIN_EXE_bank_jq"), &[]),
        "\"web\"\n\"metrics\"\n"
    );
}

#[test]
fn daemon_serves_a_custom_tool_over_every_interface() {
    let expected = "found: 1\nHTTP: 1\nsocket: 1\nMCP: 1\n";
    assert_eq!(run(env!("CARGO_BIN_EXE_daemon"), &[]), expected);
}

#[test]
fn proxy_adds_the_preferences_and_what_was_said() {
    let server =
        ModelTestServer::start(vec![text_reply("1.852 kilometres."), text_reply("Aurora.")]);
    let output = run(
        env!("CARGO_BIN_EXE_in_process_proxy"),
        &[Path::new(&server.base_url()), Path::new("some-model")],
    );
    assert_eq!(output, "1.852 kilometres.\nAurora.\n");
    let asked: Vec<String> = server
        .requests()
        .into_iter()
        .map(|asked| asked.body.to_string())
        .collect();
    assert!(
        asked
            .iter()
            .all(|asked| asked.contains("Always answer in metric units")),
        "{asked:?}"
    );
    assert!(
        asked[1].contains("My boat is called Aurora"),
        "{}",
        asked[1]
    );
}

#[test]
fn chat_loop_continues_a_chat_and_tells_the_model_the_topics() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ModelTestServer::start(vec![text_reply("Hello Ada."), text_reply("You are Ada.")]);
    let topic = "---\nname: Boats\ndescription: What floats\ntype: user\n---\n\nAurora\n";
    std::fs::create_dir(folder.path().join(".memory")).expect("a folder");
    std::fs::write(folder.path().join(".memory/boats.md"), topic).expect("a topic");
    for (prompt, said) in [
        ("I am Ada\n", "Hello Ada.\n"),
        ("Who am I?\n", "You are Ada.\n"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chat_loop"))
            .arg(folder.path().join("home"))
            .current_dir(folder.path())
            .env_clear()
            .env("OPENAI_BASE_URL", server.base_url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(prompt.as_bytes())
            .expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (
                output.status.success(),
                String::from_utf8_lossy(&output.stdout).as_ref()
            ),
            (true, said)
        );
    }
    let asked = server.requests();
    let messages = asked[1].body["messages"].as_array().expect("messages");
    assert!(
        messages[0]["content"]
            .as_str()
            .expect("a text")
            .contains("- [Boats](boats.md) - What floats"),
        "{}",
        messages[0]
    );
    let said: Vec<_> = messages[1..]
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(said, ["I am Ada", "Hello Ada.", "Who am I?"]);
}
