//! Tests of `memory conversations`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Writes an entry of a conversation as a file in the folder.
fn entry(sandbox: &Sandbox, folder: &str, path: &str, role: &str, day: &str, text: &str) {
    let (conversation, below) = path.split_once('/').expect("a conversation and a path");
    let id = format!("{}-{day}", role.chars().next().expect("a role"));
    let front = format!(
        "---\nid: {id}\nconversation_id: {conversation}\nrole: {role}\ncreated_at: '2024-05-{day}T10:00:00Z'\n---\n"
    );
    sandbox.file(
        &format!("{folder}/entries/{conversation}/{below}/{day}__{id}.md"),
        &format!("{front}{text}\n"),
    );
}

fn sandbox_with_conversations(folder: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    entry(
        &sandbox,
        folder,
        "work/facts",
        "memory",
        "01",
        "The deadline is Friday.",
    );
    entry(
        &sandbox,
        folder,
        "default/facts",
        "memory",
        "02",
        "The user's dog is Rex.",
    );
    entry(
        &sandbox,
        folder,
        "default/turns/user",
        "user",
        "03",
        "My dog is\nRex.",
    );
    entry(
        &sandbox,
        folder,
        "default/turns/assistant",
        "assistant",
        "04",
        "Nice.",
    );
    entry(
        &sandbox,
        folder,
        "default/summaries",
        "summary",
        "05",
        "The user talked about a dog.",
    );
    sandbox
}

#[test]
fn conversations_of_the_home_are_listed_and_one_is_shown() {
    let sandbox = sandbox_with_conversations(".memory");
    assert_snapshot!(sandbox.run(&["conversations"]), @"
    default	2	1	2024-05-05T10:00:00Z	~/.memory
    work	0	1	2024-05-01T10:00:00Z	~/.memory
    ");
    assert_snapshot!(sandbox.run(&["conversations", "show", "default"]), @"
    summary	2024-05-05T10:00:00Z	-	The user talked about a dog.
    fact	2024-05-02T10:00:00Z	m-02	The user's dog is Rex.
    user	2024-05-03T10:00:00Z	u-03	My dog is Rex.
    assistant	2024-05-04T10:00:00Z	a-04	Nice.
    ");
    let listed = sandbox.run_json(&["conversations", "--limit", "1"]);
    assert_eq!(
        (
            listed["conversations"].as_array().map(Vec::len),
            &listed["total"]
        ),
        (Some(1), &Value::from(2))
    );
    assert_eq!(
        listed["conversations"][0]["last_used"],
        "2024-05-05T10:00:00Z"
    );
    let shown = sandbox.run_json(&["conversations", "show", "default"]);
    assert_eq!(shown["summary"]["content"], "The user talked about a dog.");
    assert_eq!(
        (&shown["facts"][0]["role"], &shown["turns"][0]["content"]),
        (&"memory".into(), &"My dog is\nRex.".into())
    );
    assert_eq!(
        (&shown["total_facts"], &shown["total_turns"]),
        (&1.into(), &2.into())
    );
}

#[test]
fn the_newest_of_a_long_conversation_are_shown_and_the_rest_is_counted() {
    let sandbox = Sandbox::new();
    for day in 10..15 {
        entry(
            &sandbox,
            ".memory",
            "default/turns/user",
            "user",
            &day.to_string(),
            &format!("turn {day}"),
        );
    }
    assert_snapshot!(sandbox.run(&["conversations", "show", "default", "--limit", "2"]), @"
    user	2024-05-13T10:00:00Z	u-13	turn 13
    user	2024-05-14T10:00:00Z	u-14	turn 14
    --- stderr
    the newest 2 of 5 turns shown; use --limit 0 for all
    ");
    assert_eq!(
        sandbox.run_json(&["conversations", "show", "default", "--limit", "0"])["turns"]
            .as_array()
            .map(Vec::len),
        Some(5)
    );
}

#[test]
fn conversations_of_another_folder_and_of_the_proxy_are_listed() {
    let sandbox = sandbox_with_conversations("chats");
    assert_snapshot!(sandbox.run(&["conversations", "--memory-path", "chats", "show", "work"]), @"
    fact	2024-05-01T10:00:00Z	m-01	The deadline is Friday.
    ");
    sandbox.run(&["conversations", "add", "The user likes tea."]);
    let chats = sandbox.path("chats").display().to_string();
    let listed = sandbox.run_with("MEMORY_PROXY_MEMORY_PATH", &chats, &["conversations"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let shown = sandbox.run_with(
        "MEMORY_PROXY_MEMORY_PATH",
        &chats,
        &["conversations", "show", "work"],
    );
    assert!(shown.contains("The deadline is Friday."), "{shown}");
}

#[test]
fn an_unknown_conversation_or_folder_is_an_error_with_the_next_step() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["conversations"]), @"
    --- stderr
    no conversations in ~/.memory; use --memory-path for another folder
    ");
    assert_snapshot!(sandbox.run(&["conversations", "show", "play"]), @"
    --- stderr
    error[conversation_not_found]: there is no conversation play in ~/.memory
    hint: `memory conversations` lists the conversations; --memory-path selects another folder
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["conversations", "--memory-path", "nowhere"]), @"
    --- stderr
    error[path_not_found]: cannot read the conversations in ~/nowhere
      because: folder not found
    hint: specify the folder that `memory proxy` or `memory conversations add` used as --memory-path
    --- exit 3
    ");
}

#[test]
fn an_empty_list_of_memories_points_to_the_conversations() {
    let sandbox = Sandbox::new();
    let hint = "list conversations with `memory conversations`";
    assert!(!sandbox.run(&["list"]).contains(hint));
    sandbox.run(&["conversations", "add", "User likes green tea"]);
    let listed = sandbox.run(&["list"]);
    assert!(listed.contains(hint), "{listed}");
    sandbox.write("Buy milk.", &[]);
    assert!(!sandbox.run(&["list"]).contains(hint));
}

#[test]
fn a_file_that_cannot_be_read_is_reported() {
    let sandbox = sandbox_with_conversations(".memory");
    sandbox.file(
        ".memory/entries/work/facts/02__x.md",
        "---\nid: [broken\n---\ntext\n",
    );
    let listed = sandbox.run(&["conversations"]);
    assert!(
        listed.contains("entries/work/facts/02__x.md") && listed.contains("default\t2"),
        "{listed}"
    );
}

#[test]
fn a_repository_gets_no_commit_where_the_settings_keep_no_versions() {
    let sandbox = sandbox_with_conversations("mem");
    sandbox.run_shell("git init --quiet mem && git init --quiet .memory");
    let commits =
        |folder: &str| sandbox.run_shell(&format!("git -C {folder} rev-list --all --count"));
    sandbox.run(&["config", "set", "proxy.enable_git_versioning", "false"]);
    for (folder, flags) in [("mem", &["--memory-path", "mem"][..]), (".memory", &[])] {
        let added = sandbox.run_json(&[&["conversations", "add", "likes tea"], flags].concat());
        let id = added["memories"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let facts = format!("{folder}/entries/default");
        sandbox.run_shell(&format!(
            "mkdir -p {facts}/deleted && mv {facts}/facts {facts}/deleted/facts"
        ));
        let restored = sandbox.run(&[&["restore", &id], flags].concat());
        assert!(restored.contains("entries/default/facts/"), "{restored}");
        assert_eq!(commits(folder), "0\n", "{folder}");
    }
    sandbox.run(&["config", "set", "proxy.enable_git_versioning", "true"]);
    let add = [
        "conversations",
        "add",
        "likes coffee",
        "--memory-path",
        "mem",
    ];
    assert!(sandbox.run(&add).contains("this program did not create it"));
    assert_eq!(commits("mem"), "0\n");
    let folder = sandbox.path("mem").display().to_string();
    sandbox.run_with("MEMORY_TRUSTED_FOLDERS", &folder, &add);
    assert_eq!(commits("mem"), "1\n");
}
