//! Tests of `memory reindex`, `memory doctor` and `memory stats`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn a_sound_home_is_called_sound() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["doctor"]), @"
    --- stderr
    checked: 1; no problems found
    ");
    assert_snapshot!(sandbox.run(&["doctor", "--json"]), @r#"{"checked":1,"healthy":true,"findings":[]}"#);
    assert_snapshot!(sandbox.run(&["reindex"]), @"documents	1");
    assert_snapshot!(sandbox.run(&["reindex", "--json"]), @r#"{"documents":1}"#);
}

#[test]
fn a_model_folder_that_does_not_exist_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    sandbox.file(
        ".memory/config.yaml",
        "embedding:\n  model: ~/no-such-model\n",
    );
    let output = Sandbox::finish(sandbox.command(&["doctor", "--json"]), "");
    assert_eq!(output.status.code(), Some(5));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let finding = &report["findings"][0];
    assert_eq!(finding["code"], "MODEL_FAILED");
    let path = finding["path"].as_str().expect("a path");
    assert!(path.ends_with("no-such-model"), "{path}");
}

#[test]
fn a_damaged_file_is_found_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    let text = "---\ntags: [a\n---\nhalf a list\n";
    sandbox.file(".memory/categories/inbox/broken.md", text);
    let output = Sandbox::finish(sandbox.command(&["doctor", "--fix", "--json"]), "");
    assert_eq!(output.status.code(), Some(5));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["healthy"], false);
    assert_eq!(report["findings"][0]["path"], "categories/inbox/broken.md");
    assert_eq!(
        sandbox.read_file(".memory/categories/inbox/broken.md"),
        text
    );
    assert!(
        sandbox
            .run(&["doctor"])
            .contains("hint: run `memory doctor --fix` to repair what can be repaired\n")
    );
    assert!(
        sandbox
            .run(&["doctor", "--fix"])
            .contains("hint: repair the remaining problems by hand\n")
    );
}

#[test]
fn a_journal_that_cannot_be_read_whole_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    let journal = sandbox
        .path(".memory/journal")
        .read_dir()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut lines = std::fs::read(&journal).unwrap();
    lines.extend(b"{\"torn\n");
    std::fs::write(&journal, lines).unwrap();
    assert_snapshot!(sandbox.run(&["reindex"]), @"
    documents	1
    --- stderr
    warning: 1 line of the journal is not valid, so the creation order of memories may be wrong; `memory doctor` reports where
    ");
    assert_snapshot!(sandbox.run(&["reindex", "--json"]), @r#"{"documents":1,"degraded":"1 line of the journal is not valid, so the creation order of memories may be wrong; `memory doctor` reports where"}"#);
}

#[test]
fn statistics_count_what_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &["--tags", "drink", "--source", "claude"]);
    sandbox.write("milk", &["--category", "habits", "--tags", "drink"]);
    assert_snapshot!(sandbox.run(&["stats", "--json"]), @r#"{"memories":2,"inbox":1,"organized":1,"entries":0,"links":0,"pending":[n],"problems":0,"file_bytes":[n],"index_bytes":[n],"trash_files":0,"trash_bytes":[n],"categories":{"habits":1,"inbox":1},"scopes":{"global":2},"sources":{"":1,"claude":1},"tags":{"drink":2},"unused":{}}"#);
}

#[test]
fn the_environment_is_checked_with_a_next_step_for_each_problem() {
    let sandbox = Sandbox::new();
    sandbox.write("The user prefers tea", &[]);
    sandbox.run(&["install", "codex"]);
    sandbox.file(".claude/CLAUDE.md", "");
    let report = sandbox.run_json(&["doctor", "--system"]);
    let check = |report: &Value, name: &str| {
        let checks = report["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .filter(|one| one["name"] == name);
        checks
            .map(|one| format!("{} {} {}", one["state"], one["what"], one["hint"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(report["healthy"], true, "{report}");
    let next = report["next"].as_str().expect("a next step");
    assert!(
        next.starts_with("add ") && next.ends_with(" to the PATH"),
        "{next}"
    );
    let text = sandbox.run_raw(&["doctor", "--system"]);
    assert!(!text.contains("next:"), "it is no check: {text}");
    let command = sandbox.command(&["doctor", "--system"]);
    let messages = Sandbox::finish(command, "").stderr;
    let messages = String::from_utf8(messages).expect("text");
    assert_eq!(messages, format!("next: {next}\n"));
    assert_eq!(
        check(&report, "assistant"),
        [
            "unused Claude Code is not set up run `memory install claude-code`",
            "ok Codex is set up null"
        ]
    );
    assert!(check(&report, "file system")[0].starts_with("ok locks, syncs"));
    let other = sandbox
        .read_file(".codex/config.toml")
        .replace("/bin/memory", "/old/memory");
    sandbox.file(".codex/config.toml", &other);
    fs::set_permissions(sandbox.path(".memory"), fs::Permissions::from_mode(0o755))
        .expect("permissions");
    let output = sandbox
        .command(&["doctor", "--system", "--json"])
        .output()
        .expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(5));
    assert!(
        check(&report, "assistant")[1].starts_with("problem Codex uses another program"),
        "{report}"
    );
    assert!(check(&report, "permissions")[0].contains("chmod 700"));
    assert_eq!(
        sandbox.run_json(&["status"])["outdated_assistants"],
        json!(["codex"])
    );
    let shown = sandbox.run(&["status"]);
    assert!(
        shown.contains("Codex uses another program or version; run `memory install codex`"),
        "{shown}"
    );
}

#[test]
fn an_extension_of_another_version_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.run(&["plugin", "gemini", "--output", "out"]);
    let manifest = sandbox.read_file("out/gemini/gemini-extension.json");
    let installed = ".gemini/extensions/memory/gemini-extension.json";
    sandbox.file(installed, &manifest);
    assert_eq!(
        sandbox.run_json(&["status"])["outdated_plugins"],
        Value::Null
    );
    sandbox.file(
        installed,
        &manifest.replace(env!("CARGO_PKG_VERSION"), "0.0.9"),
    );
    let shown = sandbox.run(&["status"]);
    let plugin = "Gemini CLI has version 0.0.9 of the plugin, and this program is 0.1.0; `memory plugin gemini` writes this version";
    assert!(shown.contains(plugin), "{shown}");
    // An extension of another program with this name.
    sandbox.file(installed, r#"{"name": "memory", "version": "3.0.0"}"#);
    assert_eq!(
        sandbox.run_json(&["status"])["outdated_plugins"],
        Value::Null
    );
}
