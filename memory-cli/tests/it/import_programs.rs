//! Tests of `memory import` and `memory import` with the files of other programs.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// An export of ChatGPT with one conversation of two messages.
pub(crate) const CONVERSATIONS: &str = r#"[{"id": "c-1", "title": "Tea", "create_time": 1700000000.0, "current_node": "b", "mapping": {
    "a": {"id": "a", "parent": null, "children": ["b"], "message": {"id": "a", "author": {"role": "user"},
        "create_time": 1700000000.0, "content": {"content_type": "text", "parts": ["How hot for sencha?"]}}},
    "b": {"id": "b", "parent": "a", "children": [], "message": {"id": "b", "author": {"role": "assistant"},
        "create_time": 1700000001.0, "content": {"content_type": "text", "parts": ["70 °C."]}}}}}]"#;

/// The conversations in an export of Claude.ai: one with one message.
const CONVERSATIONS_OF_CLAUDE: &str = r#"[{"uuid": "u-1", "name": "Tea", "chat_messages": [{"uuid": "m-1", "sender": "human", "text": "How hot?"}]}]"#;

#[test]
fn conversations_become_sessions_and_one_undo_removes_them() {
    let sandbox = Sandbox::new();
    sandbox.run(&["write", "before"]);
    let before = sandbox.home_content();
    sandbox.file("export/conversations.json", CONVERSATIONS);
    assert_snapshot!(sandbox.run(&["import", "export", "--dry-run"]), @"
    chatgpt	1	0	0	2	0
    --- stderr
    dry run: nothing was written
    ");
    assert_eq!(sandbox.home_content(), before);
    sandbox.run(&["import", "export"]);
    assert_snapshot!(sandbox.run(&["instance", "run", "history", "read", "-p", "session=chatgpt Tea (c-1)"]), @r#"[{"ts":"2023-11-14T22:13:20Z","role":"user","content":"How hot for sencha?","meta":{"source":"chatgpt","conversation":"c-1","title":"Tea","conversation_updated_at":"2023-11-14T22:13:21Z","message_id":"a","conversation_created_at":"2023-11-14T22:13:20Z"}},{"ts":"2023-11-14T22:13:21Z","role":"assistant","content":"70 °C.","meta":{"source":"chatgpt","conversation":"c-1","message_id":"b"}}]"#);
    assert_snapshot!(sandbox.run(&["import", "export"]), @"chatgpt	0	0	1	0	0");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op1]	ingest	chatgpt Tea (c-1) in history/default
    --- stderr
    undid ingest of chatgpt Tea (c-1) in history/default; `memory undo [op2]` redoes it
    ");
    assert_eq!(sandbox.home_content(), before);
}

#[test]
fn notes_and_sessions_of_a_run_are_undone_together() {
    let sandbox = Sandbox::new();
    sandbox.run(&["write", "before"]);
    let before = sandbox.home_content();
    sandbox.file("export/conversations.json", CONVERSATIONS_OF_CLAUDE);
    sandbox.file(
        "export/memories.json",
        r#"[{"conversations_memory": "The user drinks tea.", "account_uuid": "a-1"}]"#,
    );
    sandbox.run(&["ingest", "--source", "claude-ai", "--path", "export"]);
    let after = sandbox.home_content();
    assert_eq!(after.len(), before.len() + 2, "{:?}", after.keys());
    let undone = sandbox.run_json(&["undo"]);
    assert_eq!(sandbox.home_content(), before);
    sandbox.run(&["undo", undone["operation"].as_str().expect("an id")]);
    assert_eq!(sandbox.home_content(), after);
}

#[test]
fn an_undo_reverts_the_part_that_is_not_undone() {
    let sandbox = Sandbox::new();
    sandbox.run(&["write", "before"]);
    let before = sandbox.home_content();
    sandbox.file("export/conversations.json", CONVERSATIONS_OF_CLAUDE);
    sandbox.file(
        "export/memories.json",
        r#"[{"conversations_memory": "The user drinks tea.", "account_uuid": "a-1"}]"#,
    );
    sandbox.run(&["ingest", "--source", "claude-ai", "--path", "export"]);
    sandbox.run(&["instance", "run", "history", "undo"]);
    assert!(
        sandbox.home_content() != before,
        "the notes are still there"
    );
    let undone = sandbox.run_json(&["undo"]);
    assert_eq!(undone["undone"]["verb"], "ingest");
    assert_eq!(sandbox.home_content(), before);
}

#[test]
fn options_without_effect_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("export.jsonl", "{\"content\": \"tea\"}\n");
    assert_snapshot!(sandbox.run(&["import", "export.jsonl", "--delete-missing"]), @"
    --- stderr
    error[usage]: --delete-missing, --extract and --map require files of another program
    hint: import an export of this program without them
    --- exit 2
    ");
    sandbox.file("notes.csv", "text,when\ntea,2026-01-02\n");
    assert_snapshot!(sandbox.run(&["import", "notes.csv", "--map", "content=text", "--map", "created=when"]), @"csv	1	0	0	0	0	0	0");
    sandbox.file("export/conversations.json", CONVERSATIONS);
    assert_snapshot!(sandbox.run(&["import", "export", "--allow-secret"]), @"
    --- stderr
    error[usage]: --allow-secret requires an export of this program
    hint: credentials in files of other programs are always redacted
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "chatgpt", "--path", "export", "--watch"]), @"
    --- stderr
    error[usage]: chatgpt cannot be watched: its files are exports
    hint: import the next export with the same command
    --- exit 2
    ");
    assert!(
        sandbox
            .run(&["instance", "run", "history", "sessions"])
            .trim()
            == "[]",
        "nothing was imported"
    );
}

#[test]
fn exported_sessions_are_equal_in_an_empty_home() {
    let sandbox = Sandbox::new();
    sandbox.file("export/conversations.json", CONVERSATIONS);
    sandbox.run(&["import", "export"]);
    sandbox.file(
        ".memory/history/own.jsonl",
        "{\"role\":\"user\",\"content\":\"1e1000 茶\",\"n\": 1.50}\n",
    );
    assert_snapshot!(sandbox.run(&["export", "--sessions", "--output", "sessions.jsonl"]), @"sessions.jsonl	2");
    assert_snapshot!(sandbox.run(&["import", "sessions.jsonl", "--root", "other"]), @"
    new sessions	2
    unchanged sessions	0
    records	3
    ");
    assert_eq!(
        sandbox.run(&["export", "--sessions", "--root", "other"]),
        sandbox.read_file("sessions.jsonl")
    );
    assert_snapshot!(sandbox.run(&["import", "sessions.jsonl", "--root", "other", "--json"]), @r#"{"new":0,"unchanged":2,"records":0,"skipped":[]}"#);
    sandbox.run(&[
        "instance",
        "run",
        "history",
        "append",
        "-p",
        "session=own",
        "-p",
        "role=user",
        "-p",
        "content=hi",
    ]);
    assert_snapshot!(sandbox.run(&["import", "sessions.jsonl"]), @"
    new sessions	0
    unchanged sessions	1
    records	0
    --- stderr
    warning: line 4 was not imported: the session own exists with other records; it remains unchanged
    error[file_damaged]: 1 line was not imported
    hint: all other lines were imported; correct these lines and import them again
    --- exit 5
    ");
    assert_snapshot!(sandbox.run(&["import", "sessions.jsonl", "--extract"]), @"
    --- stderr
    error[usage]: --delete-missing, --extract and --map require files of another program
    hint: import an export of this program without them
    --- exit 2
    ");
    assert!(
        sandbox
            .run(&["export", "--sessions", "--format", "okf"])
            .contains("--sessions requires the format jsonl")
    );
}

#[test]
fn the_data_on_this_machine_is_listed_with_counts() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["ingest"]), @"
    --- stderr
    no data of a known program was found; `memory import PATH` imports a file or folder
    ");
    sandbox.file("my-vault/Tea.md", "Leaves and water.\n");
    sandbox.file(
        "basic-memory/Milk.md",
        "---\ntitle: Milk\n---\n- [fact] white #drink\n",
    );
    assert_snapshot!(sandbox.run(&["ingest"]), @"
    obsidian	1	0	1	~/my-vault
    basic-memory	1	0	1	~/basic-memory
    --- stderr
    `memory import --source NAME` ingests one of them, `memory import --source all` all
    ");
    assert!(
        sandbox.run_json(&["list"])["memories"]
            .as_array()
            .is_none_or(Vec::is_empty),
        "nothing was ingested"
    );
}

#[test]
fn a_note_that_the_source_no_longer_contains_is_offered_for_deletion() {
    let sandbox = Sandbox::new();
    sandbox.file("my-vault/Tea.md", "Leaves and water.\n");
    sandbox.file("my-vault/Milk.md", "White.\n");
    sandbox.run(&["ingest", "--source", "obsidian"]);
    std::fs::remove_file(sandbox.path("my-vault/Milk.md")).expect("it is there");
    let milk = sandbox.run_json(&["search", "white"])["hits"][0]["memory"]["id"]
        .as_str()
        .expect("an id")[..8]
        .to_owned();
    let ingest = |flags: &[&str]| {
        sandbox
            .run(&[&["ingest", "--source", "obsidian"], flags].concat())
            .replace(&milk, "[milk]")
    };
    assert_snapshot!(ingest(&[]), @"
    obsidian	0	0	1	0	0	0	0
    --- stderr
    no longer in the source: [milk] Milk
    their memories are retained; `memory import --source obsidian --delete-missing` moves them to the trash
    ");
    assert_snapshot!(ingest(&["--delete-missing"]), @"
    obsidian	0	0	1	0	0	0	0
    --- stderr
    deleted, since it is no longer in the source: [milk] Milk
    ");
    assert_snapshot!(sandbox.run(&["search", "white"]), @"
    --- stderr
    no matches found
    ");
}

#[test]
fn the_daemon_ingests_the_changes_of_a_watched_source() {
    let sandbox = Sandbox::new();
    sandbox.file("my-vault/Tea.md", "Leaves and water.\n");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "obsidian", "--watch"]), @"
    obsidian	1	0	0	0	0	0	0
    --- stderr
    the daemon ingests later changes from its next start on; `memory config set ingestion.obsidian.watch false` stops it
    ");
    sandbox.file("my-vault/Milk.md", "White.\n");
    let chores = sandbox.run(&["serve", "--once", "--json"]);
    assert!(
        chores.contains(r#""name":"ingest","ending":"done","said":"1 change from obsidian""#),
        "{chores}"
    );
    assert!(sandbox.run(&["search", "white"]).contains("Milk"));
}

#[test]
fn a_format_that_is_not_recognized_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.file("data.bin", "\u{1}\u{2}");
    assert_snapshot!(sandbox.run(&["import", "data.bin"]), @"
    --- stderr
    error[usage]: the format of ~/data.bin is not recognized
    hint: convert it to Markdown, text, JSON or CSV, and import the result
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["import", "missing.zip"]), @"
    --- stderr
    error[path_not_found]: ~/missing.zip does not exist
    hint: check the path; `memory import` takes it with --path
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "chatgpt"]), @"
    --- stderr
    error[usage]: chatgpt has no default folder
    hint: specify the files: --source chatgpt --path PATH
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "chatgpt", "--path", "data.bin"]), @"
    chatgpt	0	0	0	1	0	0	0
    --- stderr
    skipped: data.bin, conversation 1: is not a JSON list
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "obsidian", "--extract"]), @"
    --- stderr
    error[usage]: no language model is configured, which --extract requires
    hint: name one with `memory config set llm.model NAME`; `memory config init` creates a file that explains it
    --- exit 2
    ");
}
