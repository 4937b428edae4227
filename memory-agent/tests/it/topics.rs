//! The topic tools as agents see them.

use std::sync::Arc;

use memory_agent::{Agent, Session};
use memory_core::testing::services;
use memory_core::{Code, MemStore, View};
use serde_json::{Value, json};

fn session(offer: &str) -> Session {
    let services = services(Arc::new(MemStore::default()));
    let agent = Agent::builder(services)
        .selection(offer.parse().expect("an offer"))
        .build()
        .expect("no name is taken twice");
    Session::begin(
        &agent,
        &View {
            agent: "claude".parse().ok(),
            project: None,
            ..View::default()
        },
    )
}

fn call(session: &Session, tool: &str, parameters: Value) -> Value {
    session
        .call(tool, parameters)
        .unwrap_or_else(|error| panic!("{tool}: {error}"))
}

fn prefs(content: &str) -> Value {
    json!({
        "filename": "user_prefs.md", "name": "User Preferences", "description": "Languages and editors", "memory_type": "user",
        "content": content
    })
}

#[test]
fn an_agent_keeps_reads_changes_and_forgets_topics_under_the_names_that_it_knows() {
    let session = session("topic=memory_");
    assert_eq!(
        call(&session, "memory_view", json!({})),
        json!({ "index": "# Memory\n\n(empty)\n" })
    );
    let written = call(&session, "memory_write", prefs("- TypeScript, strict mode"));
    assert_eq!(written, json!({ "file": "user_prefs.md", "created": true }));
    assert_eq!(
        call(
            &session,
            "memory_write",
            prefs("- TypeScript, always strict")
        )["created"],
        false
    );
    let read = call(
        &session,
        "memory_read",
        json!({ "filename": "user_prefs.md" }),
    );
    assert_eq!(
        (&read["name"], &read["type"]),
        (&json!("User Preferences"), &json!("user"))
    );
    assert!(
        read["text"]
            .as_str()
            .expect("a text")
            .ends_with("---\n\n- TypeScript, always strict\n")
    );
    let update = json!({ "filename": "user_prefs", "old_text": "always strict", "new_text": "always strict\n- Dark theme" });
    assert_eq!(
        call(&session, "memory_update", update),
        json!({ "file": "user_prefs.md", "created": false })
    );
    let index =
        "# Memory\n\n## User\n- [User Preferences](user_prefs.md) - Languages and editors\n";
    assert_eq!(
        call(&session, "memory_view", json!({ "target": "index" }))["index"],
        index
    );
    let files = call(&session, "memory_view", json!({ "target": "files" }))["files"].clone();
    assert_eq!(
        (files[0]["file"].as_str(), files.as_array().map(Vec::len)),
        (Some("user_prefs.md"), Some(1))
    );
    let deleted = call(
        &session,
        "memory_delete",
        json!({ "filename": "User Preferences" }),
    );
    assert_eq!(deleted, json!({ "file": "user_prefs.md", "deleted": true }));
    let refused =
        |tool: &str, parameters: Value| session.call(tool, parameters).expect_err(tool).code;
    assert_eq!(
        refused("memory_read", json!({ "filename": "user_prefs.md" })),
        Code::PathNotFound
    );
    assert_eq!(
        refused("memory_read", json!({ "filename": "../../etc/passwd" })),
        Code::PathRefused
    );
    assert_eq!(
        refused("memory_delete", json!({ "filename": "MEMORY.md" })),
        Code::PathRefused
    );
    let wrong = json!({ "filename": "a", "name": "a", "description": "a", "memory_type": "secret", "content": "" });
    assert_eq!(refused("memory_write", wrong), Code::InvalidInput);
    let key = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    assert_eq!(refused("memory_write", prefs(key)), Code::SecretFound);
}

fn run_command(session: &Session, command: Value) -> String {
    match session.call("memory", command) {
        Ok(answer) => answer.as_str().expect("a text").to_owned(),
        Err(error) => error.message,
    }
}

#[test]
fn the_tool_of_the_messages_api_answers_word_for_word() {
    let session = session("memory_20250818");
    let say = |command: Value| run_command(&session, command);
    let view = |path: &str| run_command(&session, json!({ "command": "view", "path": path }));
    let empty = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    assert_eq!(view("/memories"), format!("{empty}\n0B\t/memories"));
    let create = |path: &str, text: &str| {
        run_command(
            &session,
            json!({ "command": "create", "path": path, "file_text": text }),
        )
    };
    assert_eq!(
        create("/memories/prefs.txt", "one\ntwo\nthree\nfour\nfive\nsix\n"),
        "File created successfully at: /memories/prefs.txt"
    );
    assert_eq!(
        create("/memories/prefs.txt", ""),
        "Error: File /memories/prefs.txt already exists"
    );
    create("/memories/notes/deep/er/a.md", "a");
    create("/memories/notes/node_modules/b.md", "b");
    assert_eq!(
        view("/memories/"),
        format!("{empty}\n75B\t/memories\n45B\t/memories/MEMORY.md\n2B\t/memories/notes\n1B\t/memories/notes/deep\n28B\t/memories/prefs.txt")
            .replace("75B", "48B").replace("45B\t/memories/MEMORY.md", "18B\t/memories/MEMORY.md")
    );
    assert_eq!(
        view("/memories/prefs.txt").lines().nth(1),
        Some("     1\tone")
    );
    assert_eq!(
        say(json!({ "command": "view", "path": "/memories/prefs.txt", "view_range": [2, 3] })),
        "Here's the content of /memories/prefs.txt with line numbers:\n     2\ttwo\n     3\tthree"
    );
    assert_eq!(
        view("/memories/none"),
        "The path /memories/none does not exist. Please provide a valid path."
    );
    let replace = |path: &str, old: &str, new: &str| {
        run_command(
            &session,
            json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new }),
        )
    };
    assert_eq!(
        replace("/memories/prefs.txt", "four", "4"),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     2\ttwo\n     3\tthree\n     4\t4\n     5\tfive\n     6\tsix"
    );
    assert_eq!(
        replace("/memories/prefs.txt", "seven", "7"),
        "No replacement was performed, old_str `seven` did not appear verbatim in /memories/prefs.txt."
    );
    assert_eq!(
        replace("/memories/prefs.txt", "e\n", "7"),
        "No replacement was performed. Multiple occurrences of old_str `e\n` in lines: 1, 3, 5. Please ensure it is unique"
    );
    for path in ["/memories/none", "/memories/notes"] {
        assert_eq!(
            replace(path, "a", "b"),
            format!("Error: The path {path} does not exist. Please provide a valid path.")
        );
    }
    let insert = |path: &str, line: i64| {
        run_command(
            &session,
            json!({ "command": "insert", "path": path, "insert_line": line, "insert_text": "zero\n" }),
        )
    };
    assert_eq!(
        insert("/memories/prefs.txt", 0),
        "The file /memories/prefs.txt has been edited."
    );
    assert_eq!(
        insert("/memories/prefs.txt", 9),
        "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 7]"
    );
    assert_eq!(
        insert("/memories/prefs.txt", -1),
        "Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 7]"
    );
    assert_eq!(
        insert("/memories/none", 0),
        "Error: The path /memories/none does not exist"
    );
    let rename = |from: &str, to: &str| {
        run_command(
            &session,
            json!({ "command": "rename", "old_path": from, "new_path": to }),
        )
    };
    assert_eq!(
        rename("/memories/notes", "/memories/old"),
        "Successfully renamed /memories/notes to /memories/old"
    );
    assert_eq!(
        rename("/memories/notes", "/memories/x"),
        "Error: The path /memories/notes does not exist"
    );
    assert_eq!(
        rename("/memories/old", "/memories/prefs.txt"),
        "Error: The destination /memories/prefs.txt already exists"
    );
    let delete = |path: &str| run_command(&session, json!({ "command": "delete", "path": path }));
    assert_eq!(
        delete("/memories/old"),
        "Successfully deleted /memories/old"
    );
    assert_eq!(
        delete("/memories/old"),
        "Error: The path /memories/old does not exist"
    );
}

#[test]
fn no_command_reaches_beyond_its_folder() {
    let session = session("memory_20250818");
    for path in [
        "/etc/passwd",
        "memories/a",
        "/memories/../a",
        "/memories/..",
        "/memories2/a",
        "/memories//a",
        "/memories/a/../../b",
        "/memories/%2e%2e/a\\..\\b",
        "/memories/.trash/a",
    ] {
        for command in ["view", "create", "delete"] {
            let error = session
                .call(
                    "memory",
                    json!({ "command": command, "path": path, "file_text": "x" }),
                )
                .expect_err(path);
            assert!(
                matches!(error.code, Code::PathRefused | Code::InvalidInput),
                "{command} {path}: {error}"
            );
        }
    }
    for command in [
        json!({ "command": "create", "path": "/memories/memory.md", "file_text": "x" }),
        json!({ "command": "delete", "path": "/memories" }),
        json!({ "command": "delete", "path": "/memories/MEMORY.md" }),
    ] {
        assert_eq!(
            session
                .call("memory", command.clone())
                .expect_err("it is refused")
                .code,
            Code::PathRefused,
            "{command}"
        );
    }
    let error = session
        .call(
            "memory",
            json!({ "command": "create", "path": "/memories/a" }),
        )
        .expect_err("the field text is missing");
    assert_eq!(
        error.message,
        "the command create needs the field file_text"
    );
}
