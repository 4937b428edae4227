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
      `memory import --source cline --path '~/my project'`
      `memory import --source roo --path '~/my project'`
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
      `memory import --source claude --path ~/backup/.claude`
      `memory import --source codex --path ~/backup/.codex`
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
    the transcripts were not imported; `memory import --source claude-sessions --path ~/backup/.claude` imports them
    ");
    assert_snapshot!(sandbox.run(&["import", "backup/.claude/projects/-tea/1.jsonl"]), @"
    claude-sessions	1	0	0	1	0
    --- stderr
    `memory instance run history sessions` lists the conversations; the same command with --extract draws facts from them, which requires a language model
    ");
}

#[test]
fn a_map_is_suggested_for_tables_and_lists() {
    let sandbox = Sandbox::new();
    sandbox.file("my notes.csv", "When,My remark\n2026-01-02,green tea\n");
    assert_snapshot!(sandbox.run(&["import", "my notes.csv"]), @"
    --- stderr
    error[usage]: cannot import ~/my notes.csv without --map; its columns are: When, My remark
    hint: map them to the fields of memories: `memory import '~/my notes.csv' --map content='My remark' --map created=When`
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["import", "my notes.csv", "--map", "content=My remark", "--map", "created=When"]), @"csv	1	0	0	0	0	0	0");
    sandbox.file(
        "bare.csv",
        "buy milk,2024-01-02,home\ncall Anna,2024-01-03,work\n",
    );
    assert_snapshot!(sandbox.run(&["import", "bare.csv"]), @"
    --- stderr
    error[usage]: cannot import ~/bare.csv: its first line is a record, and not the names of its columns
    hint: insert a line with the name of each column, such as content,created,column3, and import it again
    --- exit 2
    ");
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

#[test]
fn each_export_of_a_folder_is_imported_and_others_are_named() {
    let sandbox = Sandbox::new();
    let note = r#"{"textContent":"green tea","createdTimestampUsec":1717378714000123}"#;
    let enex = "<en-export><note><title>Tea</title><content><![CDATA[<en-note>black</en-note>]]></content></note></en-export>";
    let activity = r#"[{"header":"Gemini Apps","title":"Prompted tea"}]"#;
    sandbox.file("dl/Takeout/Keep/Tea.json", note);
    sandbox.file(
        "dl/Takeout/My Activity/Gemini Apps/MyActivity.json",
        activity,
    );
    sandbox.file("dl/Work.enex", enex);
    sandbox.file("dl/vaults/a/.obsidian/app.json", "{}");
    sandbox.file("dl/vaults/a/Tea.md", "Sencha.\n");
    sandbox.file("dl/notes.md", "Oolong.\n");
    sandbox.file("dl/scan.pdf", "%PDF-1.7");
    sandbox.file("dl/x.bin", "x");
    sandbox.file("dl/empty.zip", "");
    sandbox.file("dl/mine.jsonl", "{\"content\":\"green\"}\n");
    sandbox.file("dl/table.csv", "note\ngreen tea\n");
    assert_snapshot!(sandbox.run(&["import", "dl"]), @"
    keep	1	0	0	0	0	0	0
    evernote	1	0	0	0	0	0	0
    obsidian	1	0	0	0	0	0	0
    --- stderr
    skipped ~/dl/empty.zip: it is empty
    skipped ~/dl/mine.jsonl: it is a single file; `memory import ~/dl/mine.jsonl` imports it
    skipped ~/dl/notes.md: it is a single file; `memory import ~/dl/notes.md` imports it
    skipped ~/dl/scan.pdf: it is a document of a text processor; save it as text or Markdown, and import that file
    skipped ~/dl/table.csv: it has records; `memory import ~/dl/table.csv` shows how to import them
    skipped ~/dl/x.bin: its format is not recognized
    ");
    let again = sandbox.run_json(&["import", "dl"]);
    assert_eq!(again["sources"][2]["unchanged"], 1);
    assert_eq!(again["left_out"][0]["source"], serde_json::Value::Null);
    assert_snapshot!(sandbox.run(&["import", "dl/notes.md"]), @"markdown	1	0	0	0	0	0	0");
    assert_snapshot!(sandbox.run(&["import", "dl/Takeout"]), @"
    keep	0	0	1	0	0	0	0
    --- stderr
    skipped ~/dl/Takeout/My Activity: it is the activity in Gemini of an export of a Google account; `memory import '~/dl/Takeout/My Activity'` shows how to import it
    ");
    assert_snapshot!(sandbox.run(&["import", "dl/Takeout/My Activity"]), @"
    --- stderr
    error[usage]: cannot import ~/dl/Takeout/My Activity/Gemini Apps/MyActivity.json, the activity in Gemini of an export of a Google account, without --map; its keys are: header, title
    hint: map them to the fields of memories: `memory import '~/dl/Takeout/My Activity/Gemini Apps/MyActivity.json' --map content=title`
    --- exit 2
    ");
}

#[test]
fn a_file_of_a_program_leaves_the_others_of_its_folder() {
    let sandbox = Sandbox::new();
    let graph = r#"{"type":"entity","name":"a","entityType":"x","observations":["b"]}"#;
    sandbox.file("dl/memory.jsonl", graph);
    assert_snapshot!(sandbox.run(&["import", "dl"]), @"server-memory	1	0	0	0	1	0	0");
    let chat = r#"[{"id":"1","title":"Tea","mapping":{}}]"#;
    sandbox.file("dl/conversations.json", chat);
    sandbox.file("dl/.cursor/rules/a.mdc", "Be brief.\n");
    sandbox.file("dl/V/.obsidian/app.json", "{}");
    sandbox.file("dl/V/Tea.md", "Sencha.\n");
    sandbox.file("dl/n.md", "Oolong.\n");
    let found = sandbox.run_json(&["import", "dl"]);
    let names = |key: &str| -> Vec<_> {
        let rows = found[key].as_array().into_iter().flatten();
        rows.map(|row| row["source"].as_str().map(str::to_owned))
            .collect()
    };
    let sources = ["chatgpt", "server-memory", "cursor", "obsidian"];
    assert_eq!(names("sources"), sources.map(|name| Some(name.to_owned())));
    std::fs::remove_dir_all(sandbox.path("dl/.cursor")).expect("it exists");
    std::fs::remove_dir_all(sandbox.path("dl/V")).expect("it exists");
    std::fs::remove_file(sandbox.path("dl/conversations.json")).expect("it exists");
    sandbox.file("dl/blank.md", "");
    assert_snapshot!(sandbox.run(&["import", "dl"]), @"
    server-memory	0	0	1	0	1	0	0
    --- stderr
    skipped ~/dl/blank.md: it is empty
    skipped ~/dl/n.md: it is a single file; `memory import ~/dl/n.md` imports it
    ");
}

#[test]
fn a_file_that_cannot_be_imported_is_named_with_the_next_step() {
    let sandbox = Sandbox::new();
    sandbox.file("empty.json", "");
    assert_snapshot!(sandbox.run(&["import", "empty.json"]), @"
    --- stderr
    error[usage]: cannot import ~/empty.json: it is empty
    hint: check the path, or export again
    --- exit 2
    ");
    sandbox.file("my notes/a.md", "Green tea.\n");
    sandbox.file("my notes/main.c", "int main() {}\n");
    assert_snapshot!(sandbox.run(&["import", "my notes"]), @"
    --- stderr
    error[usage]: the format of ~/my notes is not recognized
    hint: `memory import --source markdown --path '~/my notes'` imports its Markdown and text files
    --- exit 2
    ");
    sandbox.file(
        "raw/0123456789abcdef0123456789abcdef.md",
        "Tea\n\ntype_: 1\n",
    );
    assert_snapshot!(sandbox.run(&["import", "raw"]), @r#"
    --- stderr
    error[usage]: cannot import ~/raw: it is an export of Joplin (JEX or RAW)
    hint: export again with File > Export all > "MD - Markdown + Front Matter", and import that folder with --source markdown
    --- exit 2
    "#);
}

#[test]
fn a_folder_of_markdown_files_is_imported() {
    let sandbox = Sandbox::new();
    sandbox.file("my notes/a.md", "Green tea.\n");
    sandbox.file("my notes/more/b.md", "Black tea.\n");
    sandbox.file("my notes/cup.png", "picture");
    assert_snapshot!(sandbox.run(&["import", "my notes"]), @"markdown	2	0	0	0	0	0	0");
}

#[test]
fn an_export_of_this_program_has_a_dry_run() {
    let sandbox = Sandbox::new();
    sandbox.write("green tea", &[]);
    sandbox.run(&["export", "--output", "tea.jsonl"]);
    sandbox.file(
        "bare.jsonl",
        "{\"content\":\"black\"}\n{\"content\":\"black\"}\n{\"content\":\"green tea\"}\n",
    );
    let other = ["--dry-run", "--root", "other"];
    for (arguments, counts) in [
        (vec!["import", "tea.jsonl", "--dry-run"], [0, 0, 1]),
        ([&["import", "tea.jsonl"][..], &other].concat(), [1, 0, 0]),
        (vec!["import", "bare.jsonl", "--dry-run"], [1, 0, 2]),
        (vec!["import", "bare.jsonl"], [1, 0, 2]),
    ] {
        let report = sandbox.run_json(&arguments);
        let found = ["new", "updated", "unchanged"].map(|key| report[key].as_u64());
        assert_eq!(found, counts.map(Some), "{arguments:?}");
    }
    let listed = sandbox.run_json(&["list", "--root", "other"]);
    assert_eq!(listed["memories"].as_array().map(Vec::len), Some(0));
    sandbox.run(&[
        "instance",
        "run",
        "history",
        "append",
        "-p",
        "session=s",
        "-p",
        "role=user",
        "-p",
        "content=tea",
    ]);
    sandbox.run(&["export", "--sessions", "--output", "sessions.jsonl"]);
    assert_snapshot!(sandbox.run(&["import", "sessions.jsonl", "--dry-run", "--root", "other"]), @"
    new sessions	1
    unchanged sessions	0
    records	1
    --- stderr
    dry run: nothing was written
    ");
    assert_snapshot!(sandbox.run(&["instance", "run", "history", "sessions", "--root", "other"]), @"[]");
}
