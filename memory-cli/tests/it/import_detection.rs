//! Tests of the formats that `memory import` detects, and of its proposals for others.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const PERMALINK: &str = "---\ntitle: Tea\npermalink: notes/tea\n---\n- [fact] green #drink\n";

#[test]
fn of_several_formats_each_is_listed_with_its_command() {
    let sandbox = Sandbox::new();
    sandbox.file("my project/memory-bank/projectbrief.md", "Tea.\n");
    sandbox.file("my project/memory-bank/decisionLog.md", "Green.\n");
    assert_snapshot!(sandbox.run(&["import", "my project"]), @"
    --- stderr
    error[usage]: cannot import ~/my project: it may be of several formats: cline, roo
    hint: choose one:
      `memory ingest --source cline --path '~/my project'`
      `memory ingest --source roo --path '~/my project'`
    --- exit 2
    ");
    let backup = sandbox.path("backup").display().to_string();
    sandbox.file(
        "backup/.codex/memories/MEMORY.md",
        "# Task Group: tea\n\nscope: tea\n\n## User preferences\n\n- green\n",
    );
    sandbox.file("backup/.claude/CLAUDE.md", "Answer briefly.\n");
    assert_snapshot!(sandbox.run(&["import", &backup]), @"
    --- stderr
    error[usage]: cannot import ~/backup: it may be of several formats: claude, codex
    hint: choose one:
      `memory ingest --source claude --path ~/backup/.claude`
      `memory ingest --source codex --path ~/backup/.codex`
    --- exit 2
    ");
    sandbox.file("notes/a.md", PERMALINK);
    assert_snapshot!(sandbox.run(&["import", "notes"]), @"basic-memory	1	0	0	0	1	0	0");
}

#[test]
fn the_transcripts_beside_memories_are_named() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "backup/.claude/projects/-tea/memory/MEMORY.md",
        "Green tea.\n",
    );
    let line = r#"{"type":"user","uuid":"1","sessionId":"2","message":{"role":"user","content":"How hot?"}}"#;
    sandbox.file("backup/.claude/projects/-tea/1.jsonl", &format!("{line}\n"));
    assert_snapshot!(sandbox.run(&["import", "backup"]), @"
    claude	1	0	0	0	0	0	0
    --- stderr
    the transcripts were not imported; `memory ingest --source claude-sessions --path ~/backup/.claude` imports them
    ");
    assert_snapshot!(sandbox.run(&["import", "backup/.claude/projects/-tea/1.jsonl"]), @"claude-sessions	1	0	0	1	0");
}

#[test]
fn a_map_is_suggested_for_tables_and_lists() {
    let sandbox = Sandbox::new();
    sandbox.file("my notes.csv", "When,My remark\n2026-01-02,green tea\n");
    assert_snapshot!(sandbox.run(&["import", "my notes.csv"]), @"
    --- stderr
    error[usage]: cannot import ~/my notes.csv without --map; its columns are: When, My remark
    hint: map them to the fields of memories: `memory import '~/my notes.csv' --map content='My remark'`
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["import", "my notes.csv", "--map", "content=My remark", "--map", "created=When"]), @"csv	1	0	0	0	0	0	0");
    sandbox.file(
        "facts.jsonl",
        "{\"fact\": \"green tea\", \"timestamp\": 1717378714}\n",
    );
    assert_snapshot!(sandbox.run(&["import", "facts.jsonl"]), @"
    --- stderr
    error[usage]: cannot import ~/facts.jsonl without --map; its keys are: fact, timestamp
    hint: map them to the fields of memories: `memory import ~/facts.jsonl --map content=fact --map created=timestamp`
    --- exit 2
    ");
}

#[test]
fn exports_of_this_program_need_no_extension() {
    let sandbox = Sandbox::new();
    sandbox.write("green tea", &["--title", "Tea"]);
    for (format, output) in [
        ("jsonl", "lines"),
        ("okf", "bundle"),
        ("obsidian", "vault"),
        ("basic-memory", "project"),
        ("mem0", "list"),
        ("server-memory", "graph"),
    ] {
        sandbox.run(&["export", "--format", format, "--output", output]);
        let root = format!("other-{format}");
        let report = sandbox.run(&["import", output, "--root", &root]);
        assert!(
            report.starts_with("new\t1\n")
                || report.starts_with(&format!("{format}\t1\t0\t0\t0\t")),
            "{format}: {report}"
        );
        assert_eq!(
            sandbox.run_json(&["list", "--root", &root])["memories"][0]["title"],
            "Tea",
            "{format}"
        );
    }
}
