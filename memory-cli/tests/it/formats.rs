//! Tests that files of released versions can still be read.
//!
//! Each folder of `tests/formats` is named after the version that wrote it, and is a home folder: memories of every kind
//! with their journal and trash, banks plain and compressed, sessions, values, a sealed credential with its key, topics and
//! conversations. The folders never change; a version with a new file format adds one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use memory_core::conversation::{ConversationId, ConversationStore, EntryRole};
use memory_store::conversation::ConversationFolder;
use memory_store::sealed::{FieldValue, InstanceFolder};
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Copies a folder with private permissions, which git does not store.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("a mode");
    for entry in fs::read_dir(from)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("a mode");
        }
    }
}

/// Checks `claim` in a copy of the home of each version.
fn in_every_home(claim: fn(&Sandbox)) {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let versions = fs::read_dir(formats)
        .expect("the formats")
        .map(|entry| entry.expect("an entry").path());
    let versions: Vec<_> = versions.filter(|path| path.is_dir()).collect();
    assert!(!versions.is_empty());
    for version in versions {
        let sandbox = Sandbox::new();
        copy(&version, &sandbox.path(""));
        claim(&sandbox);
        let doctor = sandbox.run_json(&["doctor"]);
        assert_eq!(doctor["healthy"], true, "{}: {doctor}", version.display());
    }
}

/// Undoes the last operation that `is_wanted` accepts, in `folder`.
fn undo(sandbox: &Sandbox, folder: &str, is_wanted: fn(&Value) -> bool) {
    let run = |arguments: &[&str]| -> Value {
        let mut command = sandbox.command(&[arguments, &["--json"]].concat());
        command.current_dir(sandbox.path(folder));
        serde_json::from_slice(&Sandbox::finish(command, "").stdout).expect("JSON")
    };
    let log = run(&["log", "--limit", "0"]);
    let operations = log["operations"].as_array().expect("a list");
    let id = operations
        .iter()
        .find(|operation| is_wanted(operation))
        .map(|operation| &operation["operation"]);
    let id = id
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("it was not done: {log}"));
    let undone = run(&["undo", id]);
    assert_eq!(undone["undone"]["operation"], id, "{undone}");
}

/// Returns the output of a line of a shell script.
fn run_script(sandbox: &Sandbox, line: &str) -> String {
    sandbox.run_shell(line).trim_end().to_owned()
}

fn count(answer: &Value, list: &str) -> usize {
    answer[list].as_array().expect("a list").len()
}

#[test]
fn notes_are_read_changed_and_brought_back() {
    in_every_home(|sandbox| {
        let listed = sandbox.run_json(&["list", "--scope", "global"]);
        assert_eq!(count(&listed, "memories"), 11);
        for memory in listed["memories"].as_array().expect("a list") {
            let id = memory["id"].as_str().expect("an id");
            assert_eq!(
                sandbox.run_json(&["read", id])["content"],
                memory["content"]
            );
        }
        assert_eq!(
            count(
                &sandbox.run_json(&["list", "--scope", "agent:claude"]),
                "memories"
            ),
            1
        );
        assert_eq!(
            count(
                &sandbox.run_json(&["list", "--scope", "project:harbour"]),
                "memories"
            ),
            1
        );
        assert_eq!(
            count(
                &sandbox.run_json(&["search", "--words", "简短", "--scope", "global"]),
                "hits"
            ),
            1
        );
        assert_eq!(
            count(
                &sandbox.run_json(&["search", "--words", "thermometer"]),
                "hits"
            ),
            1
        );
        let pinned =
            &sandbox.run_json(&["search", "--words", "简短", "--scope", "global"])["hits"][0];
        assert!(pinned.to_string().contains("\"pinned\":true"), "{pinned}");
        assert_eq!(
            count(&sandbox.run_json(&["reminders", "--all"]), "memories"),
            3
        );
        assert!(run_script(sandbox, "memory trash list").contains("to-be-deleted"));
        // The last operation deleted this memory. Two other memories had been merged into one.
        undo(sandbox, "", |operation| {
            operation["verb"] == "delete"
                && operation["by"] == "cli"
                && operation.get("bank").is_none()
        });
        assert_eq!(
            count(&sandbox.run_json(&["search", "--words", "deleted"]), "hits"),
            1
        );
        assert_eq!(
            count(
                &sandbox.run_json(&["search", "--words", "PostgreSQL"]),
                "hits"
            ),
            1
        );
        let restored = sandbox.run_json(&[
            "restore",
            "the-staging-server-runs-postgresql-16-on-port-5433-e7262059",
        ]);
        assert!(restored["id"].is_string(), "{restored}");
        let id = sandbox.write("written by a later version", &[]);
        assert_eq!(
            sandbox.run_json(&["read", &id])["content"],
            "written by a later version"
        );
        // A file of a person remains unchanged except for the new tag.
        sandbox.run_json(&["tag", "mine", "--add", "later"]);
        let theirs = fs::read_to_string(sandbox.path(".memory/categories/character/mine.md"))
            .expect("a file");
        assert!(
            theirs.starts_with("---\n# by a person\ntitle:   By a person\nmood: good\n"),
            "{theirs}"
        );
        assert!(
            theirs.ends_with("---\nA file that no program wrote.\n"),
            "{theirs}"
        );
    });
}

#[test]
fn banks_are_read_changed_and_brought_back() {
    in_every_home(|sandbox| {
        let value = |bank: &str, key: &str| {
            let answer: Value = serde_json::from_str(&run_script(
                sandbox,
                &format!("memory-cli read {bank} {key}"),
            ))
            .expect("JSON");
            answer["value"].to_string()
        };
        assert_eq!(
            (value("session", "a"), value("session", "深色")),
            ("2".into(), r#"{"n":1.5,"of":"深色"}"#.into())
        );
        assert!(
            run_script(sandbox, "memory-cli read session 深色").contains("1.50"),
            "every digit stays"
        );
        assert!(
            value("large", "k17").ends_with("x17\"")
                && sandbox.path(".memory/banks/large.json.gz").is_file()
        );
        undo(sandbox, "", |operation| {
            operation["verb"] == "delete" && operation["bank"] == "session"
        });
        assert_eq!(value("session", "'b c'"), r#"{"n":1.5,"of":"b c"}"#);
        run_script(sandbox, "memory-cli write large new 1");
        assert_eq!(
            (value("large", "new"), value("large", "k1").len()),
            ("1".into(), 63)
        );
    });
}

#[test]
fn instances_are_read_changed_and_brought_back() {
    in_every_home(|sandbox| {
        let run = |line: &str| run_script(sandbox, &format!("memo run {line}"));
        assert_eq!(
            run("history read -p session=s1")
                .matches("\"content\"")
                .count(),
            2
        );
        assert!(run("kv get -p key=a/b").contains(r#""value":"2""#));
        assert!(run("kv/scratch get -p key=x").contains(r#""value":"y""#));
        undo(sandbox, "", |operation| {
            operation["verb"] == "delete" && operation["session"] == "gone"
        });
        assert_eq!(
            run("history read -p session=gone")
                .matches("\"content\"")
                .count(),
            1
        );
        undo(sandbox, "", |operation| operation["verb"] == "purge");
        assert!(run("history read -p session=s1").contains("hello 深"));
        undo(sandbox, "", |operation| {
            operation["verb"] == "delete" && operation["key"] == "c"
        });
        assert!(run("kv get -p key=c").contains(r#""value":"gone""#));
        run("history append -p session=s1 -p role=user -p content=later");
        assert_eq!(
            run("history read -p session=s1")
                .matches("\"content\"")
                .count(),
            4
        );

        let folder = sandbox.path(".config/memo");
        let instances = InstanceFolder::new(folder.join("instances"), &folder, None);
        let names = ["history", "team"].map(|name| name.parse().expect("a name"));
        let definition = instances
            .read(&names[0], &names[1])
            .expect("it is read")
            .expect("it is there");
        let Some(FieldValue::Sealed(sealed)) = definition.field("dsn") else {
            panic!("{definition:?}")
        };
        let opened = instances
            .open(&definition, "dsn", sealed)
            .expect("the key is there");
        assert!(
            opened.contains(":only-for-this-test@"),
            "it opens as what was sealed"
        );
    });
}

#[test]
fn topics_are_read_changed_and_brought_back() {
    in_every_home(|sandbox| {
        fs::create_dir(sandbox.path("project/.git")).expect("a folder");
        let run = |line: &str| run_script(sandbox, &format!("cd project && memory topic {line}"));
        let index = run("view");
        assert!(
            index.contains("- [tea](tea.md) - how we like it")
                && index.contains("- [house](house.md)"),
            "{index}"
        );
        assert!(run("read tea").ends_with("Hojicha.") && run("read house").contains("by the door"));
        undo(sandbox, "project", |operation| {
            operation["verb"] == "delete" && operation["topics"][0] == "gone.md"
        });
        assert!(run("read gone").ends_with('x'));
        run("write later 'of a later version' --description later --type user");
        assert!(run("view").contains("- [later](later.md) - later"));
    });
}

#[test]
fn conversations_are_read_and_go_on() {
    in_every_home(|sandbox| {
        let folder = ConversationFolder::new(sandbox.path(".memory"));
        let id = |name: &str| name.parse::<ConversationId>().expect("a name");
        let names: Vec<_> = folder.conversations().expect("they are read");
        assert_eq!(names, [id("default"), id("work/plans")]);
        let read = |name: &str| {
            let shelf = folder.read(&id(name)).expect("it is read");
            assert_eq!(shelf.problems().count(), 0);
            let facts = shelf
                .entries()
                .iter()
                .filter(|entry| entry.role == EntryRole::Memory)
                .count();
            (
                facts,
                shelf.entries().len() - facts,
                shelf.summary().is_some(),
            )
        };
        assert_eq!(
            (read("default"), read("work/plans")),
            ((4, 4, true), (2, 2, true))
        );
        assert_eq!(folder.deleted(&id("default")).expect("it is read").len(), 1);
        assert_eq!(
            count(
                &sandbox.run_json(&["search", "nuts", "--scope", "conversation:default"]),
                "hits"
            ),
            1
        );
        sandbox.run_json(&["conversations", "add", "A fact of a later version."]);
        assert_eq!(read("default"), (5, 4, true));
    });
}

#[test]
fn a_home_of_a_newer_format_is_read_and_not_changed() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("The user prefers tea", &[]);
    sandbox.run(&["bank", "write", "b", "k", "1"]);
    sandbox.run(&[
        "instance",
        "run",
        "kv/default",
        "set",
        "-p",
        "key=k",
        "-p",
        "value=v",
    ]);
    sandbox.file(
        ".memory/format.json",
        r#"{"version": 2, "program": "memory 9.0.0"}"#,
    );
    assert!(sandbox.run(&["search", "tea"]).contains("prefers tea"));
    assert!(sandbox.run(&["read", &id]).contains("prefers tea"));
    assert!(
        sandbox
            .run(&["bank", "read", "b", "k"])
            .starts_with(r#"{"value":1,"#)
    );
    let set = [
        "instance",
        "run",
        "kv/default",
        "set",
        "-p",
        "key=k",
        "-p",
        "value=w",
    ];
    let append = [
        "instance",
        "run",
        "history/default",
        "append",
        "-p",
        "session=s",
        "-p",
        "role=user",
        "-p",
        "content=hi",
    ];
    let bank = ["bank", "write", "b", "k", "2"];
    for change in [
        &["write", "coffee"][..],
        &["delete", &id],
        &["undo"],
        &bank,
        &set,
        &append,
    ] {
        let output = sandbox.run(change);
        assert!(
            output.to_lowercase().contains("newer_format"),
            "{change:?}: {output}"
        );
    }
    assert!(
        sandbox
            .run(&["config", "init"])
            .contains("error[newer_format]")
    );
    assert!(!sandbox.path(".memory/config.yaml").exists());
    assert_eq!(
        sandbox.run_json(&["status"])["newer_format"],
        serde_json::json!({"version": 2, "program": "memory 9.0.0"})
    );
    let doctor = sandbox.run(&["doctor"]);
    assert!(
        doctor.contains("newer_format")
            && doctor.contains("update this program")
            && doctor.ends_with("--- exit 5\n"),
        "{doctor}"
    );
    assert!(
        sandbox
            .run(&["doctor", "--fix"])
            .contains("error[newer_format]")
    );
    assert!(
        sandbox
            .run(&["doctor", "--system"])
            .contains("has format 2 of memory 9.0.0")
    );
    // A hook still shows memories, and records nothing.
    let prompt = r#"{"session_id": "s", "prompt": "which tea does the user prefer"}"#;
    assert!(
        sandbox
            .run_with_input(prompt, &["hook", "prompt"])
            .contains("prefers tea")
    );
    assert!(!sandbox.path(".memory/recalls").exists());
}
