//! Tests of `memory write` and `memory read`.

use chrono::{DateTime, TimeDelta, Utc};
use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn a_text_is_kept_and_read_back() {
    let sandbox = Sandbox::new();
    let flags = [
        "--category",
        "preferences",
        "--tags",
        "ui,#theme",
        "--source",
        "claude",
    ];
    assert_snapshot!(sandbox.run(&[&["write", "user prefers dark mode"], &flags[..]].concat()), @"[id1]	categories/preferences/user-prefers-dark-mode-[id1].md");
    let id = sandbox.run_json(&["list"])["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_snapshot!(sandbox.run(&["read", &id]), @"user prefers dark mode");
    assert_snapshot!(sandbox.run(&["read", &id[..4], "--json"]), @r#"{"id":"[id1]","content":"user prefers dark mode","content_hash":"[hash]","phase":"organized","category":"preferences","scope":"global","tags":["ui","theme"],"source":"claude","created_at":"[time]","updated_at":"[time]","expires_at":null,"access_count":1,"links":[],"version":1,"path":"categories/preferences/user-prefers-dark-mode-[id1].md"}"#);
}

#[test]
fn the_receipt_for_programs_names_the_memory_and_its_expiry() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-at-seven-[id1].md","created":true,"expires_at":"[time]"}"#);
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-at-seven-[id1].md","created":false,"expires_at":"[time]"}"#);
}

/// Returns the time between the last change of a memory and its expiry, from its JSON.
fn time_left(memory: &Value) -> Option<TimeDelta> {
    let moment = |key: &str| {
        memory[key]
            .as_str()
            .map(|text| text.parse::<DateTime<Utc>>().expect("a moment"))
    };
    Some(moment("expires_at")? - moment("updated_at")?)
}

#[test]
fn a_note_of_the_inbox_expires_when_its_time_there_ends() {
    let sandbox = Sandbox::new();
    for (settings, expected) in [
        ("", TimeDelta::days(7)),
        ("storage: {short_term_ttl: 36h}\n", TimeDelta::hours(36)),
    ] {
        sandbox.file(".memory/config.yaml", settings);
        let written = sandbox.run_json(&["write", &format!("the text for {expected}")]);
        let id = written["id"].as_str().expect("an id");
        let read = sandbox.run_json(&["read", id]);
        assert_eq!(time_left(&read), Some(expected));
        assert_eq!(written["expires_at"], read["expires_at"]);
        assert_eq!(
            time_left(&sandbox.run_json(&["list"])["memories"][0]),
            Some(expected)
        );
        assert_eq!(
            time_left(&sandbox.run_json(&["search", "text"])["hits"][0]["memory"]),
            Some(expected)
        );
        assert_eq!(
            time_left(&sandbox.run_json(&["tag", id, "--add", "x"])),
            Some(expected),
            "counted from the change"
        );
        let call = format!(r#"{{"name":"memory_read","params":{{"id":"{id}"}}}}"#);
        let output = Sandbox::finish(sandbox.command(&["agent"]), &call);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("one answer");
        assert_eq!(
            time_left(&answer["result"]),
            Some(expected),
            "the tool shows the same"
        );
    }
}

#[test]
fn the_end_of_the_time_in_the_inbox_is_neither_stored_nor_exported() {
    let sandbox = Sandbox::new();
    let written = sandbox.run_json(&["write", "tea at seven"]);
    let file = sandbox.read_file(&format!(
        ".memory/{}",
        written["path"].as_str().expect("a path")
    ));
    assert!(file.contains("expires_at: null"), "{file}");
    let export = sandbox.run(&["export"]);
    assert!(export.contains(r#""expires_at":null"#), "{export}");
}

#[test]
fn memories_that_age_does_not_remove_show_no_expiry() {
    let sandbox = Sandbox::new();
    let organized = sandbox.run_json(&["write", "organized", "--category", "knowledge"]);
    let pinned = sandbox.run_json(&["write", "pinned", "--pinned"]);
    assert_eq!(
        [&organized, &pinned].map(|written| written.get("expires_at")),
        [None, None]
    );
    let all = sandbox.run_json(&["list"]);
    assert_eq!(
        [0, 1].map(|place| time_left(&all["memories"][place])),
        [None, None]
    );
    let own = sandbox.run_json(&["write", "own", "--expires", "2999-01-01T00:00:00Z"]);
    assert_eq!(own["expires_at"], "2999-01-01T00:00:00Z");
}

#[test]
fn the_same_text_in_the_same_scope_is_kept_once() {
    let sandbox = Sandbox::new();
    sandbox.write("tea at seven", &[]);
    assert_snapshot!(sandbox.run(&["write", "tea at seven"]), @"
    [id1]	categories/inbox/tea-at-seven-[id1].md
    --- stderr
    the same text already exists in this scope; nothing was written
    ");
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--scope", "agent:claude"]), @"[id2]	categories/inbox/tea-at-seven-[id2].md");
}

#[test]
fn a_text_that_is_written_again_gets_what_is_new() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea at seven", &["--tags", "drink"]);
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--tags", "drink,ui", "--category", "habits"]), @"
    [id1]	categories/habits/tea-at-seven-[id1].md
    --- stderr
    the same text already exists in this scope; added to it: tags ui; category habits
    ");
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--tags", "x", "--category", "skills", "--json"]), @r#"{"id":"[id1]","path":"categories/habits/tea-at-seven-[id1].md","created":false,"merged":{"tags":["x"]},"ignored":["category"]}"#);
    // The tool returns the same result.
    let call = r#"[{"name":"memory_write","params":{"content":"tea at seven","tags":["y"],"category":"skills"}}]"#;
    let answer = sandbox.run_with_input(call, &["agent"]);
    assert!(
        answer.contains(r#""created":false,"merged":{"tags":["y"]},"ignored":["category"]"#),
        "{answer}"
    );
    assert_eq!(
        sandbox.run_json(&["read", &id])["tags"],
        serde_json::json!(["drink", "ui", "x", "y"])
    );
    sandbox.run(&["undo"]);
    assert_eq!(
        sandbox.run_json(&["read", &id])["tags"],
        serde_json::json!(["drink", "ui", "x"])
    );
}

#[test]
fn a_text_may_be_piped_in() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run_with_input("第一行\n\nsecond line\n", &["write"]), @"[id1]	categories/inbox/第一行-[id1].md");
    assert_snapshot!(sandbox.run_with_input("third\n", &["write", "-", "--title", "Number three"]), @"[id2]	categories/inbox/number-three-[id2].md");
    assert_snapshot!(sandbox.run(&["write", "-"]), @"
    --- stderr
    error[invalid_input]: the text of the memory is empty
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["list"]), @"
    [id2]	inbox	inbox	global	[time]		Number three
    [id1]	inbox	inbox	global	[time]		第一行
    ");
}

#[test]
fn line_breaks_of_windows_are_read_back_as_they_are() {
    let sandbox = Sandbox::new();
    sandbox.run_with_input("one\r\ntwo\r\n", &["write"]);
    let id = sandbox.run_json(&["list"])["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let output = Sandbox::finish(sandbox.command(&["read", &id]), "");
    assert_eq!(output.stdout, b"one\r\ntwo\n");
}

#[test]
fn a_file_stem_is_a_name_too() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea at seven", &[]);
    assert_snapshot!(sandbox.run(&["read", &format!("tea-at-seven-{}", &id[..8])]), @"tea at seven");
}

#[test]
fn remembered_text_never_commands_a_terminal() {
    let sandbox = Sandbox::new();
    let id = sandbox.write(
        "red \u{1b}[31m\u{9b}2J\tand\nnext",
        &["--title", "a\u{1b}]0;b"],
    );
    assert_snapshot!(sandbox.run(&["read", &id]), @r"
    red \u{1b}[31m\u{9b}2J	and
    next
    ");
    assert_snapshot!(sandbox.run(&["list"]), @r"[id1]	inbox	inbox	global	[time]		a\u{1b}]0;b");
    let json = sandbox.run(&["read", &id, "--json"]);
    assert!(
        !json
            .chars()
            .any(|character| character.is_control() && character != '\n'),
        "{json:?}"
    );
    assert_eq!(
        sandbox.run_json(&["read", &id])["content"],
        "red \u{1b}[31m\u{9b}2J\tand\nnext"
    );
}

#[test]
fn a_color_is_used_when_it_is_asked_for_and_not_otherwise() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["read", "550e8400", "--color", "always"]);
    assert!(shown.contains("\u{1b}["), "{shown:?}");
    let shown = sandbox.run_with("TERM", "xterm", &["read", "550e8400"]);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_summary_says_that_it_is_one() {
    let sandbox = Sandbox::new();
    let id = "7a1c9a52-5b0e-4d9f-8f5e-0a3f2b1c4d5e";
    sandbox.file(
        ".memory/categories/knowledge/tea.md",
        &format!("---\nid: {id}\nsummarised_by: 0123456789ab\n---\ntea is made of leaves\n"),
    );
    assert_snapshot!(sandbox.run(&["read", id]), @"
    tea is made of leaves
    --- stderr
    this is a summary; the full text is no longer in the trash
    ");
    assert_eq!(
        sandbox.run_json(&["read", id])["summarised_by"],
        serde_json::Value::from("0123456789ab")
    );
}

#[test]
fn words_without_quotes_and_texts_that_begin_with_a_dash_are_texts() {
    let sandbox = Sandbox::new();
    let content = |arguments: &[&str]| {
        let id = sandbox.run_json(arguments)["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        sandbox.run_json(&["read", &id])["content"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert_eq!(
        content(&["write", "hello", "world", "--tags", "x"]),
        "hello world"
    );
    assert_eq!(content(&["write", "- buy milk"]), "- buy milk");
    assert_eq!(
        content(&["write", "- [ ] buy tea", "--tags", "x"]),
        "- [ ] buy tea"
    );
    assert_eq!(
        content(&["remind", "- call Anna", "--at", "2099-01-01"]),
        "- call Anna"
    );
    assert_eq!(
        content(&["remind", "call", "Bob", "--at", "2099-01-01"]),
        "call Bob"
    );
    assert_eq!(
        content(&["write", "a", "- b", "--tags", "x", "c"]),
        "a - b c"
    );
    let id = sandbox.write("buy milk", &["--title", "- groceries"]);
    let read = sandbox.run_json(&["read", &id]);
    assert_eq!(
        (&read["title"], &read["content"]),
        (&Value::from("- groceries"), &Value::from("buy milk"))
    );
    assert!(
        sandbox
            .run(&["write", "tea", "--tgas", "x"])
            .contains("unexpected argument '--tgas' found")
    );
    assert!(
        sandbox
            .run(&["write", "--tags x", "tea", "--nothing"])
            .contains("unexpected argument")
    );
}

#[test]
fn help_and_version_are_words_as_well() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["help"]), sandbox.run(&["--help"]));
    assert_eq!(
        sandbox.run(&["help", "write"]),
        sandbox.run(&["write", "--help"])
    );
    assert_eq!(
        sandbox.run(&["write", "--help"]),
        sandbox.run(&["--quiet", "help", "write"])
    );
    assert_eq!(
        sandbox.run(&["topic", "help", "view"]),
        sandbox.run(&["topic", "view", "--help"])
    );
    assert_eq!(
        sandbox.run(&["--color", "never", "help", "write"]),
        sandbox.run(&["write", "--help"])
    );
    let version = sandbox.run(&["--version"]);
    assert_eq!(version, concat!("memory ", env!("CARGO_PKG_VERSION"), "\n"));
    for line in [
        &["version"][..],
        &["--root", "dir", "version"],
        &["bank", "version"],
        &["topic", "--json", "version"],
    ] {
        assert_eq!(sandbox.run(line), version);
    }
    for (program, line) in [
        ("memo", "memo version"),
        ("memo", "memo --root dir version"),
        ("memory-cli", "memory-cli -V"),
    ] {
        assert_eq!(
            sandbox.run_shell(line),
            format!("{program} {}\n", env!("CARGO_PKG_VERSION"))
        );
    }
    sandbox.write("help", &[]);
    assert!(sandbox.run(&["search", "help"]).contains("help"));
    assert!(
        sandbox
            .run(&["help", "nothing"])
            .contains("unrecognized subcommand 'nothing'")
    );
}

#[test]
fn a_text_of_the_category_of_reminders_becomes_a_reminder() {
    let sandbox = Sandbox::new();
    for (text, is_reminder) in [
        ("call Anna on 2099-03-04 at 3pm", true),
        ("2099年3月4日下午三点给安娜打电话", true),
        ("water the plants every Monday at 8am", true),
        ("每周一早上八点浇花", true),
        ("call Anna some day", false),
        ("call Anna on 2001-03-04", false),
    ] {
        let answer = sandbox.run_json(&["write", text, "--category", "reminders"]);
        assert_eq!(
            (answer["due"].is_string(), answer["warning"].is_string()),
            (is_reminder, !is_reminder),
            "{text}: {answer}"
        );
        let id = answer["id"].as_str().expect("an id");
        assert_eq!(
            sandbox.run_json(&["read", id])["category"],
            "reminders",
            "{text}"
        );
        let listed = sandbox.run_json(&["reminders"])["memories"].to_string();
        assert_eq!(listed.contains(id), is_reminder, "{text}");
    }
    assert_snapshot!(sandbox.run(&["write", "call Bob some day", "--category", "reminders"]), @"
    [id1]	categories/reminders/call-bob-some-day-[id1].md
    --- stderr
    warning: the text contains no time, so this is not a reminder; create one with `memory remind --of [id1] --at WHEN`
    ");
}
