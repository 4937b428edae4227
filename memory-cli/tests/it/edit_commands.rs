//! Tests of the commands that change memories: `tag`, `edit`, `link`, `resolve-links`, `upgrade`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn tags_are_added_and_taken_away() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &["--tags", r#"["a", "b"]"#]);
    assert_snapshot!(sandbox.run(&["tag", &id, "--add", "c,#d", "--remove", "a"]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    tags: b,c,d
    ");
    assert_snapshot!(sandbox.run(&["tag", &id, "--remove", "b,c", "--json"]), @r#"{"id":"[id1]","content":"tea","content_hash":"[hash]","phase":"inbox","category":"inbox","scope":"global","tags":["d"],"source":"","created_at":"[time]","updated_at":"[time]","expires_at":"[time]","access_count":0,"links":[],"version":3,"path":"categories/inbox/tea-[id1].md"}"#);
    assert_snapshot!(sandbox.run(&["tag", &id]), @"
    --- stderr
    error[usage]: the following required arguments were not provided:
      <--add <TAGS>|--remove <TAGS>>

    Usage: memory tag <--add <TAGS>|--remove <TAGS>> <ID>

    For more information, try '--help'.
    --- exit 2
    ");
}

#[test]
fn fields_are_changed_one_by_one() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["edit", &id, "--title", "Tea", "--category", "habits", "--aliases", "tee,茶"]), @"
    [id1]	categories/habits/tea-[id1].md
    --- stderr
    updated to version 2
    ");
    assert_snapshot!(sandbox.run(&["edit", &id, "--title", "Tea"]), @"
    [id1]	categories/habits/tea-[id1].md
    --- stderr
    unchanged; version 2
    ");
    assert_snapshot!(sandbox.run_with_input("green tea\n", &["edit", &id, "--content", "-", "--title", "", "--json"]), @r#"{"id":"[id1]","content":"green tea","content_hash":"[hash]","phase":"organized","category":"habits","scope":"global","tags":[],"source":"","created_at":"[time]","updated_at":"[time]","expires_at":null,"access_count":0,"links":[],"version":3,"aliases":["tee","茶"],"stated_at":"[time]","path":"categories/habits/tea-[id1].md"}"#);
}

#[test]
fn a_change_to_another_version_is_refused() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["edit", &id, "--content", "coffee", "--if-version", "2"]), @"
    --- stderr
    error[conflict]: categories/inbox/tea-[id1].md was changed in the meantime
    hint: read it again and repeat the change; `memory log ID` lists the later changes, which are undone first
    --- exit 4
    ");
    assert_snapshot!(sandbox.run(&["edit", &id, "--content", "coffee", "--if-version", "1"]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    updated to version 2
    ");
}

#[cfg(unix)]
#[test]
fn an_editor_changes_the_text() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    let editor = sandbox.file("editor.sh", "printf 'green tea\\n\\nwith milk\\n' > \"$1\"");
    assert_snapshot!(sandbox.run_with("EDITOR", &format!("sh {editor}"), &["edit", &id]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    updated to version 2
    ");
    assert_snapshot!(sandbox.run(&["read", &id]), @"
    green tea

    with milk
    ");
    assert_snapshot!(sandbox.run_with("VISUAL", "true", &["edit", &id]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    unchanged; version 2
    ");
    assert_snapshot!(sandbox.run(&["edit", &id]), @"
    --- stderr
    error[usage]: no editor configured
    hint: set EDITOR, or pass the text with --content TEXT or --content -
    --- exit 2
    ");
}

#[cfg(unix)]
#[test]
fn what_an_editor_left_is_kept_when_it_cannot_be_taken() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    let drafts = sandbox.path("drafts");
    std::fs::create_dir(&drafts).expect("a folder");
    let edit = |script: &str| {
        let editor = sandbox.file("editor.sh", script);
        let mut command = sandbox.command(&["edit", &id, "--json"]);
        command
            .env("EDITOR", format!("sh {editor}"))
            .env("TMPDIR", &drafts);
        let output = Sandbox::finish(command, "");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let message = answer["error"]["message"]
            .as_str()
            .expect("a message")
            .rsplit("\" ")
            .next()
            .map(str::to_owned);
        (
            output.status.code().expect("an end"),
            message.expect("a reason"),
        )
    };
    let mut kept = std::fs::read_dir(&drafts).expect("a folder").count();
    let mut keeps_one_more = || {
        let before = std::mem::replace(
            &mut kept,
            std::fs::read_dir(&drafts).expect("a folder").count(),
        );
        kept == before + 1
    };
    assert_eq!(
        edit("printf 'caf\\351' > \"$1\""),
        (1, "wrote a file that is not valid UTF-8".into())
    );
    assert!(keeps_one_more());
    assert_eq!(
        edit("printf 'caf\\351' > \"$1\"; exit 3"),
        (1, "failed (exit status: 3)".into())
    );
    assert!(keeps_one_more());
    assert_eq!(edit("exit 3"), (1, "failed (exit status: 3)".into()));
    assert!(!keeps_one_more());
    assert_eq!(edit("rm \"$1\""), (1, "deleted its file".into()));
    assert!(!keeps_one_more());
    assert_eq!(sandbox.run_json(&["read", &id])["content"], "tea");
}

#[cfg(unix)]
#[test]
fn a_text_edited_too_late_is_kept_beside() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    let memory = env!("CARGO_BIN_EXE_memory");
    let meanwhile =
        format!("{memory} edit {id} --content coffee --quiet > /dev/null; printf mine > \"$1\"");
    let editor = sandbox.file("editor.sh", &meanwhile);
    let mut command = sandbox.command(&["edit", &id, "--json"]);
    let drafts = sandbox.path("drafts");
    std::fs::create_dir(&drafts).expect("a folder");
    command
        .env("EDITOR", format!("sh {editor}"))
        .env("TMPDIR", &drafts);
    let output = Sandbox::finish(command, "");
    assert_eq!(output.status.code(), Some(4));
    let draft = std::fs::read_dir(&drafts)
        .expect("a folder")
        .next()
        .expect("a draft")
        .expect("a draft")
        .path();
    assert_eq!(std::fs::read_to_string(&draft).expect("a text"), "mine");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["error"]["code"], "CONFLICT");
    assert!(
        answer["error"]["hint"]
            .as_str()
            .expect("a hint")
            .contains(&draft.display().to_string())
    );
    assert_eq!(sandbox.run_json(&["read", &id])["content"], "coffee");
}

#[test]
fn links_go_both_ways() {
    let sandbox = Sandbox::new();
    let (tea, milk) = (sandbox.write("tea", &[]), sandbox.write("milk", &[]));
    sandbox.run(&["link", &tea, &milk]);
    assert_eq!(sandbox.run_json(&["read", &milk])["links"][0], tea);
    let parted = sandbox.run_json(&["unlink", &milk, &tea]);
    assert_eq!(parted["memories"].as_array().map(Vec::len), Some(2));
    assert_eq!(parted["changed"], true);
    assert_eq!(
        sandbox.run_json(&["read", &tea])["links"]
            .as_array()
            .map(Vec::len),
        Some(0)
    );
    assert_snapshot!(sandbox.run(&["unlink", &milk, &tea]), @"
    [id2]	inbox	inbox	global	[time]		milk
    [id1]	inbox	inbox	global	[time]		tea
    --- stderr
    they were not linked; nothing changed
    ");
    assert_eq!(sandbox.run_json(&["unlink", &milk, &tea])["changed"], false);
    assert_snapshot!(sandbox.run(&["link", &tea, &tea]), @"
    --- stderr
    error[invalid_input]: a memory cannot be linked to itself
    --- exit 2
    ");
}

#[test]
fn wikilinks_become_links() {
    let sandbox = Sandbox::new();
    sandbox.write("Leaves and water.", &["--title", "Tea"]);
    sandbox.write(
        "Goes with [[tea]], not with [[coffee]].",
        &["--title", "Milk"],
    );
    assert_snapshot!(sandbox.run(&["resolve-links"]), @"
    resolved	1
    unresolved	1
    updated	2
    [id2]	[[coffee]]
    ");
    assert_snapshot!(sandbox.run(&["resolve-links", "--json"]), @r#"{"resolved":1,"unresolved":1,"updated":0,"unresolved_links":[{"id":"[id2]","link":"coffee"}]}"#);
}

#[test]
fn a_memory_is_meant_by_its_title_and_a_wikilink_that_stays_is_named() {
    let sandbox = Sandbox::new();
    let tea = sandbox.write("Leaves and water.", &["--title", "Green Tea"]);
    let milk = sandbox.write("Goes with [[green tea|it]].", &["--title", "Milk"]);
    for name in ["Green Tea", "green tea", "[[Green Tea]]", &tea] {
        assert_eq!(
            sandbox.run_json(&["backlinks", name])["memories"][0]["id"],
            milk,
            "{name}"
        );
    }
    sandbox.run(&["link", "milk", "green tea"]);
    assert_snapshot!(sandbox.run(&["unlink", "Milk", "Green Tea"]), @"
    [id2]	inbox	inbox	global	[time]		Milk
    [id1]	inbox	inbox	global	[time]		Green Tea
    --- stderr
    link removed
    warning: the text of [id2] still contains [[green tea]], which will link them again; remove it with `memory edit [id2]`
    ");
    sandbox.run(&["link", "milk", "green tea"]);
    let answer = sandbox.run_json(&["unlink", &milk, &tea]);
    assert_eq!(
        answer["wikilinks"],
        serde_json::json!([{ "id": milk, "link": "green tea" }])
    );
    sandbox.write("Another one.", &["--title", "Milk"]);
    assert!(
        sandbox
            .run(&["backlinks", "Milk"])
            .contains("error[memory_ambiguous]")
    );
    assert!(
        sandbox
            .run(&["backlinks", "Coffee"])
            .contains("error[memory_not_found]")
    );
}

#[test]
fn a_memory_of_the_inbox_is_filed() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["upgrade", &id, "--category", "habits"]), @"
    [id1]	categories/habits/tea-[id1].md
    --- stderr
    filed under habits
    ");
    assert_snapshot!(sandbox.run(&["upgrade", &id, "--category", "inbox"]), @"
    --- stderr
    error[invalid_input]: the inbox is not a category to move a memory to
    --- exit 2
    ");
    assert_eq!(sandbox.run_json(&["upgrade", &id])["phase"], "organized");
}

#[test]
fn the_role_of_a_person_replaces_others_and_edit_changes_any() {
    let sandbox = Sandbox::new();
    let text = "Always answer in French.";
    let id = sandbox.write(text, &["--role", "assistant"]);
    let role = || {
        sandbox.run_json(&["read", &id])["role"]
            .as_str()
            .map(str::to_owned)
    };
    let again = sandbox.run_json(&["write", text, "--role", "person"]);
    assert_eq!(
        (again["created"].as_bool(), again["merged"]["role"].as_str()),
        (Some(false), Some("person"))
    );
    assert_eq!(role().as_deref(), Some("person"));
    let ignored = sandbox.run_json(&["write", text, "--role", "assistant"]);
    assert_eq!(
        (&ignored["ignored"][0], role().as_deref()),
        (&"role".into(), Some("person"))
    );
    sandbox.run(&["edit", &id, "--role", "tool"]);
    assert_eq!(role().as_deref(), Some("tool"));
    sandbox.run(&["edit", &id, "--role", "none"]);
    assert_eq!(role(), None);
    assert!(
        sandbox
            .run(&["edit", &id, "--role", "engineer"])
            .contains("a role (person, assistant, tool or author)")
    );
}
