//! Tests of adding facts to conversations and searching for them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the contents of the hits of a search.
fn search_contents(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let answer = sandbox.run_json(&[&["search"], arguments].concat());
    let hits = answer["hits"].as_array().cloned().unwrap_or_default();
    hits.iter()
        .filter_map(|hit| hit["memory"]["content"].as_str())
        .map(str::to_owned)
        .collect()
}

#[test]
fn facts_are_added_and_found_in_their_conversation() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["conversations", "add", "User likes green tea", "User lives in Lyon"]), @"
    [id1]	default	User likes green tea
    [id2]	default	User lives in Lyon
    --- stderr
    stored as facts of the conversation default, found by `memory search --scope conversation:default`; `memory write` stores a text for all agents
    ");
    assert_snapshot!(sandbox.run_with_input("- Deadline is Friday\n- Tea at five\n", &["add", "-c", "work/项目", "-f", "-"]), @"
    [id3]	work/项目	Deadline is Friday
    [id4]	work/项目	Tea at five
    ");
    assert_eq!(
        search_contents(&sandbox, &["tea", "--scope", "conversation:default"]),
        ["User likes green tea"]
    );
    assert_eq!(
        search_contents(&sandbox, &["tea", "--scope", "conversation:work/项目"]),
        ["Tea at five"]
    );
    assert!(
        !sandbox.path(".memory/.git").exists(),
        "nobody asked for versions"
    );
}

#[test]
fn facts_and_turns_are_no_notes() {
    let sandbox = Sandbox::new();
    sandbox.write("Tea at nine.", &["--source", "conversation"]);
    sandbox.run(&[
        "conversations",
        "add",
        "User likes green tea",
        "User lives in Lyon",
    ]);
    sandbox.file(".memory/entries/default/turns/user/1.md", "I like tea.");
    let listed =
        |arguments: &[&str]| sandbox.run_json(&[&["list"], arguments].concat())["total"].clone();
    assert_eq!(
        (listed(&[]), listed(&["--phase", "inbox"])),
        (1.into(), 1.into())
    );
    assert_eq!(listed(&["--scope", "conversation:default"]), 3);
    let counted = |command: &str| {
        let shape = sandbox.run_json(&[command]);
        ["memories", "inbox", "entries"].map(|name| shape[name].as_u64().unwrap_or_default())
    };
    assert_eq!([counted("status"), counted("stats")], [[1, 1, 3]; 2]);
    assert_eq!(
        search_contents(&sandbox, &["tea", "--limit", "9"]).len(),
        3,
        "a search finds them all the same"
    );
}

#[test]
fn facts_come_from_files_as_well() {
    let sandbox = Sandbox::new();
    let list = sandbox.file(
        "facts.json",
        r#"{"memories": ["likes tea", {"content": "due on Friday", "conversation_id": "work"}]}"#,
    );
    let added = sandbox.run_json(&["add", "-f", &list, "-c", "home", "has a dog"]);
    let told = |memory: &Value| format!("{}: {}", memory["conversation_id"], memory["content"]);
    let memories: Vec<String> = added["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(told)
        .collect();
    assert_eq!(
        memories,
        [
            "\"home\": \"likes tea\"",
            "\"home\": \"has a dog\"",
            "\"work\": \"due on Friday\""
        ]
    );
    assert_eq!(added["added"], 3);
}

#[test]
fn what_cannot_be_added_is_refused_whole() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["conversations", "add"]), @"
    --- stderr
    error[usage]: no facts to add
    hint: pass it as an argument: `memory conversations add \"…\"`, or use -f FILE
    --- exit 2
    ");
    let refused = sandbox.run(&[
        "conversations",
        "add",
        "likes tea",
        "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ]);
    assert!(
        refused.contains("error[secret_found]") && !sandbox.path(".memory/entries").exists(),
        "{refused}"
    );
}

#[test]
fn a_fact_is_changed_linked_deleted_and_undone_like_a_memory_and_stays_in_its_conversation() {
    let sandbox = Sandbox::new();
    let added = sandbox.run_json(&["conversations", "add", "User likes green tea"]);
    let id = added["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let note = sandbox.run_json(&["write", "Leaves are sold in tins"])["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    sandbox.run(&["tag", &id, "--add", "drinks"]);
    sandbox.run(&["link", &note, &id]);
    sandbox.run(&["edit", &id, "--content", "User likes black tea"]);
    let found = sandbox.run_json(&["search", "tag:drinks", "black"]);
    assert_eq!(found["hits"][0]["memory"]["id"], id.as_str(), "{found}");
    let shown = sandbox.run_json(&["read", &id]);
    assert_eq!(shown["links"], serde_json::json!([note]), "{shown}");
    let contents = sandbox.run_json(&["conversations", "show", "default"]);
    assert_eq!(contents["facts"][0]["content"], "User likes black tea");
    let folder = sandbox.path(".memory/entries/default/facts");
    let own = "---\nid: e0000000-0000-4000-8000-000000000001\nrole: memory\ncreated_at: 2026-11-01T10:00:00.123456789Z\nmood: calm # mine\n---\n\nUser walks\n\n";
    std::fs::write(folder.join("own.md"), own).expect("it is written");
    sandbox.run(&[
        "tag",
        "e0000000-0000-4000-8000-000000000001",
        "--add",
        "legs",
    ]);
    let tagged = std::fs::read_to_string(folder.join("own.md")).expect("it is there");
    let (front, body) = tagged.rsplit_once("---\n").expect("front matter");
    assert_eq!(body, "\nUser walks\n\n");
    assert!(
        front.contains("00.123456789Z\nmood: calm # mine\n") && front.contains("legs"),
        "{front}"
    );
    sandbox.run(&["delete", "e0000000-0000-4000-8000-000000000001"]);
    sandbox.run(&["undo"]);
    sandbox.run(&["undo"]);
    let refused = sandbox.run(&["edit", &id, "--scope", "global"]);
    assert!(refused.contains("cannot change its scope"), "{refused}");
    for _ in 0..3 {
        sandbox.run(&["undo"]);
    }
    sandbox.run(&["delete", &id]);
    assert!(search_contents(&sandbox, &["tea"]).is_empty());
    sandbox.run(&["undo"]);
    assert_eq!(
        search_contents(&sandbox, &["tea"]),
        ["User likes green tea"]
    );
    sandbox.run(&["delete", &note]);
    let path = sandbox.path(".memory/entries/default/facts");
    let names = || std::fs::read_dir(&path).expect("a folder").count();
    let before = names();
    sandbox.run(&["conversations", "add", "User likes milk"]);
    sandbox.run(&["undo"]);
    assert_eq!(names(), before);
}
