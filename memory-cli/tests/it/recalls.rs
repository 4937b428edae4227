//! Tests of `memory why` and `memory why`, and of what the hook and the agent commands record.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn ask_hook(sandbox: &Sandbox, moment: &str, event: &Value) -> String {
    sandbox.run_with_input(
        &event.to_string(),
        &["hook", moment, "--agent", "claude-code"],
    )
}

/// Writes a line of the ledger for each month, memory and query.
fn write_ledger(sandbox: &Sandbox, recalls: &[(&str, &str, &str)]) {
    for (at, id, query) in recalls {
        let line = json!({
            "at": at, "agent": "codex", "session": "s1", "interface": "mcp", "tool": "memory_search", "query": query,
            "memories": [{ "id": id, "score": 1.5, "parts": { "words": 1.0, "coverage": 0.5 } }], "tokens": 40,
        });
        let name = format!(".memory/recalls/{}.jsonl", &at[..7]);
        let before = std::fs::read_to_string(sandbox.path(&name)).unwrap_or_default();
        sandbox.file(&name, &format!("{before}{line}\n"));
    }
}

#[test]
fn the_recalls_of_a_memory_are_shown_also_after_its_deletion() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("The user drinks green tea", &["--category", "habits"]);
    assert_snapshot!(sandbox.run(&["why", &id]), @"
    --- stderr
    no recalls are recorded yet; they start with the next session of an assistant that `memory install` connected
    ");
    ask_hook(
        &sandbox,
        "prompt",
        &json!({ "session_id": "s7", "cwd": "/", "prompt": "which tea does the user drink?" }),
    );
    sandbox.run_with_input(
        r#"{"name": "memory_read", "params": {"id": "ID"}}"#
            .replace("ID", &id)
            .as_str(),
        &["agent", "--agent", "codex"],
    );
    sandbox.run(&["search", "tea"]);
    assert_snapshot!(sandbox.run(&["why", &id]), @"
    [time]	codex	[op1]	-	agent memory_read	1/1	-	-	-
    [time]	claude-code	s7	-	hook prompt	1/1	[n]	useful 1.00 (at least 0.20), words 7.47, means the same 4.40 (cosine 0.66), coverage 1.89, asides 0.63	which tea does the user drink?
    ");
    sandbox.run(&["delete", &id]);
    assert_snapshot!(sandbox.run(&["why", &id[..8], "--limit", "1"]), @"
    [time]	codex	[op1]	-	agent memory_read	1/1	-	-	-
    --- stderr
    1 of 2 recalls shown; use --limit 0 for all
    ");
    let shape = sandbox.run_json(&["why", &id]);
    assert_eq!(
        (
            &shape["id"],
            &shape["deleted"],
            &shape["total"],
            &shape["enabled"]
        ),
        (&json!(id), &json!(true), &json!(2), &json!(true))
    );
    let hook = &shape["recalls"][1];
    assert_eq!(
        (&hook["interface"], &hook["tool"], &hook["session"]),
        (&json!("hook"), &json!("prompt"), &json!("s7"))
    );
    assert_eq!(
        (&hook["rank"], &hook["of"], &hook["query"]),
        (
            &json!(1),
            &json!(1),
            &json!("which tea does the user drink?")
        )
    );
    assert!(
        hook["score"].is_f64() && hook["parts"]["words"].is_f64(),
        "{hook}"
    );
    assert_snapshot!(sandbox.run(&["why", "ffffffff"]), @"
    --- stderr
    error[memory_not_found]: no memory matches ffffffff
    hint: `memory list` lists the memories; an id may be shortened to 4 digits
    --- exit 3
    ");
}

#[test]
fn recalls_are_listed_and_a_session_shows_its_memories() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("# Tea\n\nThe user drinks green tea", &[]);
    assert_snapshot!(sandbox.run(&["recalls"]), @"
    --- stderr
    no recalls are recorded yet; they start with the next session of an assistant that `memory install` connected
    ");
    let gone = "11111111-1111-4111-8111-111111111111";
    write_ledger(
        &sandbox,
        &[
            ("2024-04-30T10:00:00Z", &id, "tea\u{1b}[31m\nred"),
            ("2024-05-01T10:00:00Z", gone, "gone"),
            ("2024-05-02T10:00:00Z", &id, "tea"),
        ],
    );
    assert_snapshot!(sandbox.run(&["recalls"]), @r#"
    2024-05-02T10:00:00Z	codex	s1	mcp memory_search	1	40	tea
    2024-05-01T10:00:00Z	codex	s1	mcp memory_search	1	40	gone
    2024-04-30T10:00:00Z	codex	s1	mcp memory_search	1	40	tea\u{1b}[31m red
    "#);
    assert_snapshot!(sandbox.run(&["recalls", "--session", "s", "--limit", "2"]), @"
    2024-05-02T10:00:00Z	codex	mcp memory_search	tea	[id1]	[n]	Tea
    2024-05-01T10:00:00Z	codex	mcp memory_search	gone	[id2]	[n]	(not found)
    --- stderr
    2 of 3 recalls shown; use --limit 0 for all
    ");
    assert_snapshot!(sandbox.run(&["recalls", "--agent", "claude"]), @"
    --- stderr
    no matching recalls since 2024-04-30 10:00, when the record begins
    ");
    assert_snapshot!(sandbox.run(&["recalls", "--from", "2024-05-01", "--to", "2024-05-01", "--json"]), @r#"{"recalls":[{"at":"2024-05-01T10:00:00Z","agent":"codex","session":"s1","interface":"mcp","tool":"memory_search","query":"gone","tokens":40,"memories":[{"id":"[id2]","score":[n],"parts":{"words":1.0,"coverage":0.5}}]}],"total":1,"since":"2024-04-30T10:00:00Z","enabled":true}"#);
    assert_snapshot!(sandbox.run(&["recalls", "--session", "s1", "--from", "2024-05-02", "--json"]), @r#"{"recalls":[{"at":"2024-05-02T10:00:00Z","agent":"codex","session":"s1","interface":"mcp","tool":"memory_search","query":"tea","tokens":40,"memories":[{"id":"[id1]","score":[n],"parts":{"words":1.0,"coverage":0.5},"title":"Tea"}]}],"total":1,"since":"2024-04-30T10:00:00Z","enabled":true}"#);
}

#[test]
fn nothing_is_recorded_if_the_settings_disable_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("The user drinks green tea", &[]);
    sandbox.file(".memory/config.yaml", "recalls:\n  enabled: false\n");
    ask_hook(
        &sandbox,
        "prompt",
        &json!({ "session_id": "s7", "prompt": "which tea does the user drink?" }),
    );
    sandbox.run_with_input(r#"{"name": "memory_list"}"#, &["agent"]);
    assert!(!sandbox.path(".memory/recalls").exists());
    assert_snapshot!(sandbox.run(&["why", &id]), @"
    --- stderr
    no recalls are recorded yet; they start with the next session of an assistant that `memory install` connected
    recalls are not recorded: recalls.enabled is false
    ");
    assert_snapshot!(sandbox.run(&["recalls"]), @"
    --- stderr
    no recalls are recorded yet; they start with the next session of an assistant that `memory install` connected
    recalls are not recorded: recalls.enabled is false
    ");
    assert!(
        sandbox
            .run(&["stats"])
            .ends_with("unused memories are not counted: recalls.enabled is false\n")
    );
    assert_eq!(sandbox.run_json(&["stats"])["unused"], Value::Null);
}

#[test]
fn a_hook_records_its_session_and_no_credential() {
    let sandbox = Sandbox::new();
    sandbox.write("The user prefers dark mode", &["--category", "preferences"]);
    ask_hook(
        &sandbox,
        "session-start",
        &json!({ "session_id": "s7", "cwd": sandbox.path("harbour") }),
    );
    let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
    sandbox.write("The deployment needs a token", &[]);
    ask_hook(
        &sandbox,
        "prompt",
        &json!({ "session_id": "s7", "prompt": format!("is the token {token} right for the deployment?") }),
    );
    let recalls = sandbox.run_json(&["recalls"])["recalls"].clone();
    assert_eq!(
        (&recalls[1]["tool"], &recalls[1]["memories"][0]["parts"]),
        (&json!("session-start"), &json!({ "standing": 1.0 }))
    );
    assert_eq!(
        recalls[0]["query"],
        "is the token [redacted: GitHub token] right for the deployment?"
    );
    assert_eq!(
        (&recalls[0]["session"], &recalls[1]["session"]),
        (&json!("s7"), &json!("s7"))
    );
    let month = std::fs::read_dir(sandbox.path(".memory/recalls"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    assert!(month.filter(|path| path.is_file()).all(|path| {
        !std::fs::read_to_string(path)
            .expect("text")
            .contains(&token)
    }));
}

#[test]
fn a_ledger_that_cannot_be_written_changes_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("The user drinks green tea", &[]);
    // A file in place of the folder.
    sandbox.file(".memory/recalls", "");
    let answer = ask_hook(
        &sandbox,
        "prompt",
        &json!({ "session_id": "s7", "prompt": "which tea does the user drink?" }),
    );
    assert!(answer.contains("green tea"), "{answer}");
    let answer = sandbox.run_with_input(r#"{"name": "memory_list"}"#, &["agent"]);
    assert!(
        answer.contains("\"total\":1") && !answer.contains("error"),
        "{answer}"
    );
}

#[test]
fn old_recalls_are_purged_and_unused_memories_are_counted() {
    let sandbox = Sandbox::new();
    let (used, read) = (sandbox.write("used", &[]), sandbox.write("read", &[]));
    sandbox.write("unused", &[]);
    sandbox.run(&["read", &read]);
    // Memories of today are not unused.
    write_ledger(
        &sandbox,
        &[
            ("2024-04-30T10:00:00Z", &used, "a"),
            ("2024-05-01T10:00:00Z", &used, "b"),
        ],
    );
    assert_eq!(
        sandbox.run_json(&["stats"])["unused"],
        json!({ "count": 0, "oldest": [] })
    );
    assert!(sandbox.run(&["stats"]).contains("\nunused\t0\n"));
    let old = "---\nid: 6a053f60-2222-4222-8222-222222222222\ncreated_at: 2024-01-01T10:00:00Z\nupdated_at: 2024-01-01T10:00:00Z\n---\nNobody reads this\n";
    sandbox.file(".memory/categories/knowledge/old.md", old);
    assert_snapshot!(sandbox.run_json(&["stats"])["unused"], @r#"{"count":1,"oldest":[{"id":"6a053f60-2222-4222-8222-222222222222","title":"Nobody reads this","created_at":"2024-01-01T10:00:00Z"}]}"#);
    sandbox.run(&["serve", "--once"]);
    assert_eq!(sandbox.run_json(&["recalls"])["total"], 0);
    let left = std::fs::read_dir(sandbox.path(".memory/recalls"))
        .expect("a folder")
        .count();
    assert_eq!(
        left, 2,
        "the time since which nothing was purged, and the lock"
    );
}
