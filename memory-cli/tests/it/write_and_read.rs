//! `memory write`, `memory read`

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_text_is_kept_and_read_back() {
    let sandbox = Sandbox::new();
    let flags = ["--category", "preferences", "--tags", "ui,#theme", "--source", "claude"];
    assert_snapshot!(sandbox.run(&[&["write", "user prefers dark mode"], &flags[..]].concat()), @"[id1]	categories/preferences/user-prefers-dark-mode-[id1].md");
    let id = sandbox.json(&["list"])["memories"][0]["id"].as_str().expect("an id").to_owned();
    assert_snapshot!(sandbox.run(&["read", &id]), @"user prefers dark mode");
    assert_snapshot!(sandbox.run(&["read", &id[..4], "--json"]), @r#"{"id":"[id1]","content":"user prefers dark mode","content_hash":"[hash]","phase":"organized","category":"preferences","scope":"global","tags":["ui","theme"],"source":"claude","created_at":"[time]","updated_at":"[time]","expires_at":null,"access_count":1,"links":[],"version":1,"path":"categories/preferences/user-prefers-dark-mode-[id1].md"}"#);
}

#[test]
fn the_receipt_for_programs_has_three_keys() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-at-seven-[id1].md","created":true}"#);
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-at-seven-[id1].md","created":false}"#);
}

#[test]
fn the_same_text_in_the_same_scope_is_kept_once() {
    let sandbox = Sandbox::new();
    sandbox.write("tea at seven", &[]);
    assert_snapshot!(sandbox.run(&["write", "tea at seven"]), @"
    [id1]	categories/inbox/tea-at-seven-[id1].md
    --- stderr
    the same text was kept in the same scope already; nothing was written
    ");
    assert_snapshot!(sandbox.run(&["write", "tea at seven", "--scope", "agent:claude"]), @"[id2]	categories/inbox/tea-at-seven-[id2].md");
}

#[test]
fn a_text_may_be_piped_in() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.pipe("第一行\n\nsecond line\n", &["write"]), @"[id1]	categories/inbox/第一行-[id1].md");
    assert_snapshot!(sandbox.pipe("third\n", &["write", "-", "--title", "Number three"]), @"[id2]	categories/inbox/number-three-[id2].md");
    assert_snapshot!(sandbox.run(&["write", "-"]), @"
    --- stderr
    error[invalid_input]: there is nothing to remember: the text is empty
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
    sandbox.pipe("one\r\ntwo\r\n", &["write"]);
    let id = sandbox.json(&["list"])["memories"][0]["id"].as_str().expect("an id").to_owned();
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
    let id = sandbox.write("red \u{1b}[31m\u{9b}2J\tand\nnext", &["--title", "a\u{1b}]0;b"]);
    assert_snapshot!(sandbox.run(&["read", &id]), @r"
    red \u{1b}[31m\u{9b}2J	and
    next
    ");
    assert_snapshot!(sandbox.run(&["list"]), @r"[id1]	inbox	inbox	global	[time]		a\u{1b}]0;b");
    let json = sandbox.run(&["read", &id, "--json"]);
    assert!(!json.chars().any(|character| character.is_control() && character != '\n'), "{json:?}");
    assert_eq!(sandbox.json(&["read", &id])["content"], "red \u{1b}[31m\u{9b}2J\tand\nnext");
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
    this is a summary; the whole text is in the trash no longer
    ");
    assert_eq!(sandbox.json(&["read", id])["summarised_by"], serde_json::Value::from("0123456789ab"));
}
