//! Tests of `memory export --format`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn sandbox_with_tea() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Green tea at seven, in the [[Cup]]",
        &[
            "--tags",
            "drink,deep work",
            "--title",
            "Tea",
            "--expires",
            "30d",
        ],
    );
    sandbox.write(
        "The cup is blue",
        &["--category", "knowledge", "--title", "Cup"],
    );
    sandbox.run(&["link", "Tea", "Cup"]);
    sandbox
}

/// Returns the fields of all memories that an export must preserve, sorted by id.
fn memories(sandbox: &Sandbox, flags: &[&str]) -> Vec<Value> {
    let export = Sandbox::finish(sandbox.command(&[&["export"], flags].concat()), "").stdout;
    let export = String::from_utf8(export).expect("text");
    let mut all: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).expect("a memory"))
        .collect();
    for memory in &mut all {
        for key in ["origin", "other_origins", "path", "file"] {
            memory.as_object_mut().expect("an object").remove(key);
        }
    }
    all.sort_by_key(|memory| memory["id"].to_string());
    all
}

#[test]
fn an_export_in_a_format_of_another_program_returns_the_memories() {
    let sandbox = sandbox_with_tea();
    let expected = memories(&sandbox, &[]);
    for (format, output) in [
        ("okf", "bundle"),
        ("obsidian", "vault"),
        ("basic-memory", "project"),
        ("mem0", "mem0.json"),
        ("server-memory", "memory.jsonl"),
    ] {
        assert_eq!(
            sandbox.run(&["export", "--format", format, "--output", output]),
            format!("{output}\t2\n")
        );
        if !sandbox.run(&["ingest", "--help"]).contains(format) {
            continue;
        }
        let root = format!("other-{format}");
        sandbox.run(&[
            "ingest", "--source", format, "--path", output, "--trust", "--root", &root,
        ]);
        assert_eq!(memories(&sandbox, &["--root", &root]), expected, "{format}");
    }
}

/// For each source, its files with properties of their own, the path to ingest and the options.
type SourceFiles = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static [&'static str],
);

const SOURCES: [SourceFiles; 6] = [
    (
        "mem0",
        &[(
            "in.json",
            r#"{"results": [
                {"id": "b", "memory": "likes tea", "user_id": "anna", "agent_id": "bot", "created_at": "2024-01-01T00:00:00Z",
                 "updated_at": "2024-02-01T00:00:00.123456Z", "hash": "h", "categories": ["drinks"],
                 "metadata": {"mood": "calm", "n": 1.5, "deep": {"a": [1, null, "x: y"]}, "category": "hobby", "tags": ["hot"]}},
                {"id": "c", "memory": "likes tea", "user_id": "bo", "metadata": {"mood": "wild"}},
                {"id": "d", "memory": "lives in Oslo", "user_id": "anna"}]}"#,
        )],
        "in.json",
        &[],
    ),
    (
        "server-memory",
        &[(
            "memory.jsonl",
            r#"{"type":"entity","name":"Ada: L","entityType":"person","observations":["likes tea","is 36"],"mood":"calm","metadata":{"n":1}}
               {"type":"entity","name":"Bo","entityType":"person","observations":[]}
               {"type":"entity","name":"Cy","entityType":"ship","observations":[],"mood":"x"}
               {"type":"relation","from":"Ada: L","to":"Bo","relationType":"knows"}"#,
        )],
        "memory.jsonl",
        &[],
    ),
    (
        "basic-memory",
        &[
            (
                "in/a.md",
                "---\ntitle: Tea\npermalink: tea\nmood: calm # always\n---\n- [fact] hot #drink\n- likes [[Empty]]\n",
            ),
            ("in/e.md", "---\ntitle: Empty\ntype: person\nmood: x\n---\n"),
        ],
        "in",
        &[],
    ),
    (
        "okf",
        &[
            (
                "in/index.md",
                "---\nokf_version: \"0.2\"\n---\n* [Tea](a.md)\n",
            ),
            (
                "in/a.md",
                "---\ntype: habits\ntitle: Tea\nstale_after: 2040-01-01\nmood: calm\n---\nhot, see [e](e.md)\n",
            ),
            ("in/e.md", "---\ntype: person\ntitle: Empty\nmood: x\n---\n"),
        ],
        "in",
        &[],
    ),
    (
        "obsidian",
        &[
            (
                "in/Tea.md",
                "---\naliases: [brew]\ntags: [a/b]\nmood: calm\n---\nhot #drink, see [[Empty|it]]\n",
            ),
            ("in/Empty.md", "---\nmood: x\n---\n"),
            ("in/Blank.md", ""),
        ],
        "in",
        &[],
    ),
    (
        "jsonl",
        &[(
            "in.jsonl",
            "{\"t\": \"hot\", \"n\": \"Tea\", \"mood\": \"calm\"}\n{\"t\": \"cold\", \"mood\": {\"a\": 1}}\n",
        )],
        "in.jsonl",
        &["--map", "content=t", "--map", "title=n"],
    ),
];

/// Returns the property lines of the files of all memories, sorted.
fn property_lines(sandbox: &Sandbox, flags: &[&str]) -> Vec<String> {
    let export = Sandbox::finish(sandbox.command(&[&["export"], flags].concat()), "").stdout;
    let export = String::from_utf8(export).expect("text");
    let memories = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a memory"));
    let files = memories.filter_map(|memory| memory["file"].as_str().map(str::to_owned));
    let is_property = |line: &&str| {
        ["mem0_", "server_memory_", "jsonl_", "mood"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let mut lines: Vec<_> = files
        .flat_map(|file| {
            file.lines()
                .filter(is_property)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_home_is_unchanged_by_its_own_export_and_an_empty_home_receives_its_properties() {
    for (source, files, path, flags) in SOURCES {
        let sandbox = Sandbox::new();
        for (name, text) in files.iter().chain(&[
            ("vault/None.md", ""),
            ("vault/Mood.md", "---\nmood: x\n---\n"),
        ]) {
            sandbox.file(name, text);
        }
        for (source, path, flags) in [(source, path, flags), ("obsidian", "vault", &[][..])] {
            let report = sandbox
                .run_json(&[&["ingest", "--source", source, "--path", path], flags].concat());
            assert!(
                0 < report["new"].as_u64().expect("a number"),
                "{source}: {report}"
            );
        }
        sandbox.write("my own tea", &["--title", "Mine"]);
        let first = sandbox.run_json(&["list"])["memories"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        sandbox.run(&["tag", &first, "edited"]);
        let (before, properties) = (sandbox.home_content(), property_lines(&sandbox, &[]));
        assert!(1 < properties.len(), "{source}: {properties:?}");
        let output = format!("out-{path}");
        sandbox.run(&["export", "--format", source, "--output", &output]);
        for arguments in [
            vec!["import", &output, "--trust"],
            vec!["ingest", "--source", source, "--path", &output, "--trust"],
        ] {
            if arguments[0] == "ingest" && source == "jsonl" {
                continue;
            }
            let report = sandbox.run_json(&arguments);
            assert_eq!(
                (&report["new"], &report["updated"], &report["skipped"]),
                (&json!(0), &json!(0), &json!([])),
                "{report}"
            );
            assert_eq!(sandbox.home_content(), before, "{source}");
        }
        sandbox.run(&["import", &output, "--trust", "--root", "other"]);
        assert_eq!(
            memories(&sandbox, &["--root", "other"]),
            memories(&sandbox, &[]),
            "{source}"
        );
        assert_eq!(
            property_lines(&sandbox, &["--root", "other"]),
            properties,
            "{source}"
        );
    }
}

#[test]
fn a_folder_is_replaced_unless_its_files_are_of_others_or_were_changed() {
    let sandbox = sandbox_with_tea();
    let export =
        |flags: &[&str]| sandbox.run(&[&["export", "--format", "obsidian"], flags].concat());
    sandbox.file("notes/mine.md", "mine");
    assert_snapshot!(export(&["--output", "notes"]), @"
    --- stderr
    error[usage]: notes contains files that are not an export
    hint: choose a new or an empty folder
    --- exit 2
    ");
    assert_snapshot!(export(&[]), @"
    --- stderr
    error[usage]: a folder is required
    hint: specify the folder: memory export --format obsidian --output …
    --- exit 2
    ");
    export(&["--output", "vault"]);
    assert!(
        sandbox.path("vault/.obsidian/app.json").is_file()
            && sandbox.path("vault/inbox/Tea.md").is_file()
    );
    sandbox.file("vault/.obsidian/app.json", "{\"own\":1}");
    sandbox.file("vault/own/note.md", "mine");
    let tea = memories(&sandbox, &[])
        .into_iter()
        .find(|memory| memory["title"] == "Tea")
        .expect("a memory");
    sandbox.run(&["delete", tea["id"].as_str().expect("an id")]);
    assert_snapshot!(export(&["--output", "vault"]), @"vault	1");
    assert!(
        !sandbox.path("vault/inbox").exists(),
        "the file of a deleted memory is deleted"
    );
    assert_eq!(sandbox.read_file("vault/.obsidian/app.json"), "{\"own\":1}");
    assert_eq!(sandbox.read_file("vault/own/note.md"), "mine");
    let hidden = std::fs::read_dir(sandbox.path("vault"))
        .expect("a folder")
        .filter_map(Result::ok);
    assert!(!hidden.into_iter().any(|item| {
        item.file_name()
            .to_string_lossy()
            .starts_with(".memory-export-")
    }));
    sandbox.file("vault/knowledge/Cup.md", "edited");
    assert_snapshot!(export(&["--output", "vault"]), @"
    --- stderr
    error[usage]: knowledge/Cup.md in vault was changed since the export
    hint: to import the changes, run `memory import --source obsidian --path vault`; or choose another folder
    --- exit 2
    ");
    assert_eq!(sandbox.read_file("vault/knowledge/Cup.md"), "edited");
    assert!(
        sandbox
            .run(&["export", "--format", "okf", "--output", "vault"])
            .contains("contains an export in the format obsidian")
    );
}

#[test]
fn an_export_contains_former_versions_on_request() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("green tea", &[]);
    sandbox.run_with_input("black tea", &["edit", &id, "--content", "-"]);
    let [memory] = <[Value; 1]>::try_from(memories(&sandbox, &["--history"])).expect("one memory");
    assert_eq!(
        (&memory["content"], &memory["version"]),
        (&json!("black tea"), &json!(2)),
        "{memory}"
    );
    let former = &memory["history"][0];
    assert_eq!(
        (
            &former["content"],
            &former["version"],
            &former["replaced_by"]
        ),
        (&json!("green tea"), &json!(1), &json!("update"))
    );
    assert!(
        former["replaced_at"].is_string()
            && memory["history"]
                .as_array()
                .is_some_and(|versions| versions.len() == 1)
    );
    assert_eq!(memories(&sandbox, &[])[0]["history"], Value::Null);
    assert!(
        sandbox
            .run(&["export", "--history", "--format", "mem0"])
            .contains("--history requires the format jsonl")
    );
}

#[test]
fn a_page_goes_to_the_standard_output() {
    let sandbox = sandbox_with_tea();
    let page = sandbox.run(&["export", "--format", "html"]);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(
        page.find("id=\"c-knowledge\"") < page.find("id=\"c-inbox\""),
        "the memories are in groups"
    );
}

#[test]
fn the_undo_of_an_imported_edit_restores_the_home_and_the_edit_survives_the_original_vault() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "vault/Tea.md",
        "---\ntags: [hot]\nmood: calm\n---\ngreen [[Cup]]\n",
    );
    sandbox.file("vault/Cup.md", "blue\n");
    let ingest = |path: &str| {
        sandbox.run_json(&["ingest", "--source", "obsidian", "--path", path, "--trust"])
    };
    ingest("vault");
    sandbox.run(&["export", "--format", "obsidian", "--output", "export"]);
    let before = sandbox.home_content();
    let text = std::fs::read_to_string(sandbox.path("export/inbox/Tea.md")).expect("the note");
    sandbox.file("export/inbox/Tea.md", &text.replace("\ngreen", "\nblack"));
    assert_eq!(ingest("export")["updated"], json!(1));
    let operation = sandbox.run_json(&["log"])["operations"][0]["operation"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(
        sandbox
            .run(&["log", &operation])
            .contains("edited in an export: obsidian")
    );
    sandbox.run(&["undo"]);
    assert_eq!(sandbox.home_content(), before);
    assert_eq!(ingest("export")["updated"], json!(1));
    sandbox.file(
        "vault/Tea.md",
        "---\ntags: [cold]\nmood: calm\n---\nred [[Cup]]\n",
    );
    let report = ingest("vault");
    assert_eq!(report["updated"], json!(1));
    assert!(
        report["warnings"][0]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("both")),
        "{report}"
    );
    let tea = memories(&sandbox, &[])
        .into_iter()
        .find(|memory| memory["title"] == "Tea")
        .expect("a memory");
    assert_eq!(
        (&tea["content"], &tea["tags"]),
        (&json!("black [[Cup]]"), &json!(["cold"]))
    );
}
