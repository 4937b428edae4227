//! `memory ingest`, `memory export`, `memory import`

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

fn vault() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("my-vault/Tea.md", "---\ntags: [drink]\naliases: [茶]\n---\nLeaves and water, see [[Milk]].\n");
    sandbox.file("my-vault/Milk.md", "White. #drink/cold Goes with [[茶]] and [[Sugar]].\n");
    sandbox
}

#[test]
fn notes_are_taken_in_once() {
    let sandbox = vault();
    assert_snapshot!(sandbox.run(&["ingest", "--source", "obsidian", "--dry-run"]), @"
    obsidian	2	0	0	0	2	1	2
    --- stderr
    dead links that an alias or a title answers to: 1; here they lead somewhere
    this was a dry run; nothing was written
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "obsidian", "--path", "~/my-vault", "--json"]), @r#"{"source":"obsidian","new":2,"updated":0,"unchanged":0,"skipped":[],"warnings":[],"tags":2,"links":{"resolved":1,"unresolved":2,"only_by_alias":1,"only_by_title":0}}"#);
    assert_snapshot!(sandbox.run(&["ingest", "--source", "obsidian"]), @"
    obsidian	0	0	2	0	2	1	2
    --- stderr
    dead links that an alias or a title answers to: 1; here they lead somewhere
    ");
}

#[test]
fn all_takes_what_is_there_and_says_what_is_not() {
    let sandbox = vault();
    sandbox.file("claude/CLAUDE.md", "Answer in short sentences.\n");
    assert_snapshot!(sandbox.run_with("CLAUDE_CONFIG_DIR", &sandbox.path("claude").display().to_string(), &["ingest", "--source", "all"]), @"
    claude	1	0	0	0	0	0	0
    obsidian	2	0	0	0	2	1	2
    --- stderr
    dead links that an alias or a title answers to: 1; here they lead somewhere
    left out car-agent (~/.car-agent): it is not there
    left out fingersaver (~/.fingersaver): it is not there
    left out logseq (~/logseq): it is not there
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "all", "--json"]), @r#"{"sources":[{"source":"obsidian","new":0,"updated":0,"unchanged":2,"skipped":[],"warnings":[],"tags":2,"links":{"resolved":1,"unresolved":2,"only_by_alias":1,"only_by_title":0}}],"left_out":[{"source":"claude","path":"~/.claude","reason":"it is not there"},{"source":"car-agent","path":"~/.car-agent","reason":"it is not there"},{"source":"fingersaver","path":"~/.fingersaver","reason":"it is not there"},{"source":"logseq","path":"~/logseq","reason":"it is not there"}]}"#);
}

#[test]
fn a_source_that_is_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["ingest", "--source", "logseq"]), @"
    --- stderr
    error[path_not_found]: ~/logseq is not there
    hint: name the folder with --path
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["ingest", "--source", "all", "--path", "x"]), @"
    --- stderr
    error[usage]: --path goes with one source, not with all
    hint: name the source: --source obsidian --path …
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["ingest"]), @"
    --- stderr
    error[usage]: the following required arguments were not provided:
      --source <NAME>

    Usage: memory ingest --source <NAME>

    For more information, try '--help'.
    --- exit 2
    ");
}

#[test]
fn an_export_is_imported_without_loss() {
    let sandbox = Sandbox::new();
    sandbox.write("tea at seven\n\n茶", &["--tags", "a,b", "--title", "Tea", "--expires", "30d", "--scope", "agent:claude"]);
    sandbox.write("milk", &["--category", "habits"]);
    let exported = Sandbox::finish(sandbox.command(&["export"]), "").stdout;
    assert_snapshot!(sandbox.run(&["export", "--output", "all.jsonl"]), @"all.jsonl	2");
    assert_eq!(std::fs::read(sandbox.path("all.jsonl")).expect("a file"), exported);

    let other = Sandbox::new();
    let export = String::from_utf8(exported).expect("text");
    assert_snapshot!(other.pipe(&export, &["import"]), @"
    new	2
    updated	0
    unchanged	0
    ");
    assert_eq!(String::from_utf8(Sandbox::finish(other.command(&["export"]), "").stdout).expect("text"), export);
    assert_snapshot!(other.pipe(&export, &["import", "--json"]), @r#"{"new":0,"updated":0,"unchanged":2,"skipped":[]}"#);
}

#[test]
fn a_hyphen_stands_for_the_standard_streams() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.pipe("{\"content\":\"tea\"}", &["import", "--input", "-", "--json"]), @r#"{"new":1,"updated":0,"unchanged":0,"skipped":[]}"#);
    assert_eq!(sandbox.run(&["export", "--output", "-"]), sandbox.run(&["export"]));
    assert!(!sandbox.path("-").exists());
}

#[test]
fn an_export_may_be_narrowed() {
    let sandbox = Sandbox::new();
    sandbox.write("milk", &["--category", "habits"]);
    assert_snapshot!(sandbox.run(&["export", "--category", "soul"]), @"");
    assert_snapshot!(sandbox.run(&["export", "--category", "habits"]), @r#"{"id":"[id1]","content":"milk","content_hash":"[hash]","phase":"organized","category":"habits","scope":"global","tags":[],"source":"","created_at":"[time]","updated_at":"[time]","expires_at":null,"access_count":0,"links":[],"version":1,"path":"categories/habits/milk-[id1].md"}"#);
}

#[test]
fn lines_that_are_no_memories_are_named() {
    let sandbox = Sandbox::new();
    let lines =
        "{\"content\":\"tea\"}\n\nnonsense\n{\"Content\":\"milk\",\"CreatedAt\":\"2020-01-01T00:00:00Z\"}\n{\"id\":\"x\"}\n";
    let file = sandbox.file("some.jsonl", lines);
    assert_snapshot!(sandbox.run(&["import", "--input", &file]), @"
    new	2
    updated	0
    unchanged	0
    --- stderr
    warning: line 3 was not taken: it is no JSON: expected ident at line 1 column 2
    warning: line 5 was not taken: it has no content
    error[file_damaged]: 2 lines were not taken
    hint: all others were kept; mend these lines and import them again
    --- exit 5
    ");
    assert_snapshot!(sandbox.run(&["import", "--input", &file, "--json"]), @r#"
    {"new":0,"updated":0,"unchanged":2,"skipped":[{"path":"line 3","reason":"it is no JSON: expected ident at line 1 column 2"},{"path":"line 5","reason":"it has no content"}]}
    --- exit 5
    "#);
    assert_snapshot!(sandbox.run(&["import", "--input", "not-there.jsonl"]), @"
    --- stderr
    error[path_not_found]: cannot read not-there.jsonl
      because: No such file or directory (os error 2)
    --- exit 3
    ");
}
