//! Tests of `memory inbox`, and of agents whose changes need a review.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::terminal::run_with_typed_input;

/// Returns a home in which the changes of `codex` to global memories are proposals.
fn reviewed_home() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "review:\n  rules: codex global propose\n",
    );
    sandbox
}

/// Calls a tool as an agent, and returns its answer without normalisation.
fn call(sandbox: &Sandbox, agent: &str, tool: &str, parameters: &Value) -> Value {
    let call = json!([{ "name": tool, "params": parameters }]).to_string();
    let command = sandbox.command(&["agent", "--agent", agent]);
    let output = Sandbox::finish(command, &call);
    let text = String::from_utf8(output.stdout).expect("text");
    let answers: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    answers[0].clone()
}

/// Proposes a memory as `codex`, and returns the id of the proposal.
fn propose(sandbox: &Sandbox, content: &str) -> String {
    let answer = call(
        sandbox,
        "codex",
        "memory_write",
        &json!({ "content": content, "category": "decisions" }),
    );
    answer["result"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

/// Returns the words of a text that a terminal may have wrapped.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_proposed_memory_waits_until_a_person_accepts_it() {
    let sandbox = reviewed_home();
    let answer = call(
        &sandbox,
        "codex",
        "memory_write",
        &json!({ "content": "The ferry leaves at seven" }),
    );
    let result = &answer["result"];
    assert_eq!(
        result["note"],
        "stored as a proposal; it is not used until the user accepts it with `memory ui` or `memory inbox`"
    );
    assert_eq!(
        (&result["waits_for_review"], &result["created"]),
        (&json!(true), &Value::Null),
        "nothing is confirmed"
    );
    assert_eq!(
        (
            &result["proposals"][0]["id"],
            &result["proposals"][0]["action"]
        ),
        (&result["id"], &json!("write"))
    );
    assert_eq!(
        result["expires_at"],
        Value::Null,
        "a proposal does not expire"
    );
    let id = result["id"].as_str().expect("an id");
    let again = call(
        &sandbox,
        "codex",
        "memory_write",
        &json!({ "content": "The  ferry leaves at seven" }),
    );
    assert_eq!(
        again["result"]["proposals"][0]["id"], id,
        "the same proposal is stored once"
    );
    for arguments in [
        &["search", "ferry"][..],
        &["search", "ferry", "--all"],
        &["list", "--all"],
        &["export"],
    ] {
        assert!(!sandbox.run(arguments).contains("ferry"), "{arguments:?}");
    }
    assert!(!sandbox.read_file(".memory/memory.md").contains("ferry"));
    assert_eq!(
        call(
            &sandbox,
            "codex",
            "memory_search",
            &json!({ "query": "ferry" })
        )["result"]["total"],
        0
    );
    assert_eq!(
        call(&sandbox, "claude", "memory_read", &json!({ "id": id }))["error"]["code"],
        "MEMORY_NOT_FOUND"
    );
    assert_eq!(
        call(&sandbox, "codex", "memory_read", &json!({ "id": id }))["result"]["proposed_by"],
        "codex"
    );
    assert_eq!(
        sandbox.run_json(&["consolidate"])["filed"],
        json!([]),
        "no chore touches it"
    );
    assert_snapshot!(sandbox.run(&["inbox"]), @"
    proposal	[id1]	write	codex	[time]			The ferry leaves at seven
    --- stderr
    1 proposal, 0 unfiled notes
    ");
    assert_snapshot!(sandbox.run(&["inbox", "accept", id, "--category", "decisions"]), @"
    [id1]	categories/decisions/the-ferry-leaves-at-seven-[id1].md
    --- stderr
    accepted
    ");
    let read = sandbox.run_json(&["read", id]);
    assert_eq!(
        (&read["source"], &read["category"], &read["proposed_by"]),
        (&json!("codex"), &json!("decisions"), &Value::Null)
    );
    assert_eq!(sandbox.run_json(&["search", "ferry"])["total"], 1);
    sandbox.run(&["undo"]);
    assert_eq!(sandbox.run_json(&["search", "ferry"])["total"], 0);
    assert_eq!(
        sandbox.run_json(&["inbox"])["proposals"][0]["memory"]["id"],
        id
    );
    assert_eq!(sandbox.run_json(&["doctor"])["healthy"], true);
}

#[test]
fn the_policy_depends_on_the_agent_and_the_scope() {
    let sandbox = reviewed_home();
    let write = |agent: &str, scope: &str| {
        let parameters = json!({ "content": format!("{agent} in {scope}"), "scope": scope });
        call(&sandbox, agent, "memory_write", &parameters)["result"]["note"].is_string()
    };
    assert!(
        write("codex", "global") && !write("codex", "agent:codex") && !write("claude", "global")
    );
    assert_snapshot!(sandbox.run(&["config", "set", "review.rules", "codex everywhere propose"]), @r#"
    --- stderr
    error[config_invalid]: cannot set review.rules
      because: "codex everywhere propose" is not a rule AGENT SCOPE POLICY such as "codex global propose" (AGENT: a name or *; SCOPE: *, global, agent, project or project:NAME; POLICY: direct or propose)
    hint: nothing was changed; `memory config set review.rules ""` restores the default
    --- exit 2
    "#);
    sandbox.run(&[
        "config",
        "set",
        "review.rules",
        "claude * propose, * project propose",
    ]);
    sandbox.run(&["config", "set", "review.policy", "direct"]);
    assert!(!write("codex", "global") && write("claude", "agent:claude"));
    sandbox.write("The person is never asked", &[]);
    assert_eq!(sandbox.run_json(&["search", "person"])["total"], 1);
}

#[test]
fn a_proposed_change_shows_the_change_and_is_refused_if_it_is_stale() {
    let sandbox = reviewed_home();
    let id = sandbox.write("The ferry leaves at seven", &["--category", "decisions"]);
    let parameters = json!({ "id": id, "old": "seven", "new": "eight" });
    let answer = call(&sandbox, "codex", "memory_update", &parameters);
    let proposed = answer["result"]["proposals"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(answer["result"]["proposals"][0]["of"], id);
    assert_eq!(sandbox.run(&["read", &id]), "The ferry leaves at seven\n");
    let shown = sandbox.run_json(&["inbox"])["proposals"][0].clone();
    assert_eq!(
        (&shown["action"], &shown["stale"], &shown["of"]),
        (&json!("update"), &json!(false), &json!(id))
    );
    assert_eq!(shown["current"]["content"], "The ferry leaves at seven");
    sandbox.run(&["edit", &id, "--content", "The ferry leaves at nine"]);
    assert_eq!(sandbox.run_json(&["inbox"])["proposals"][0]["stale"], true);
    for id in [&id, &proposed] {
        sandbox.normalise(id);
    }
    assert_snapshot!(sandbox.run(&["inbox", "accept", &proposed]), @"
    --- stderr
    error[conflict]: categories/decisions/the-ferry-leaves-at-seven-[id1].md has changed since it was proposed to change it
    hint: `memory inbox edit [id2]` adapts it to the current text; `memory inbox accept [id2] --overwrite` replaces that text
    --- exit 4
    ");
    sandbox.run(&[
        "inbox",
        "edit",
        &proposed,
        "--content",
        "The ferry leaves at ten",
    ]);
    sandbox.run(&["inbox", "accept", &proposed]);
    assert_eq!(sandbox.run(&["read", &id]), "The ferry leaves at ten\n");
    sandbox.run(&["undo"]);
    assert_eq!(sandbox.run(&["read", &id]), "The ferry leaves at nine\n");
    let deletion = call(&sandbox, "codex", "memory_delete", &json!({ "id": id }));
    assert_eq!(
        (
            &deletion["result"]["waits_for_review"],
            &deletion["result"]["deleted"]
        ),
        (&json!(true), &Value::Null)
    );
    let deletion = deletion["result"]["proposals"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(
        sandbox.run_json(&["inbox", "accept", &deletion])["accepted"],
        "deleted"
    );
    assert_eq!(sandbox.run_json(&["list"])["total"], 0);
}

#[test]
fn rejected_content_cannot_be_proposed_again() {
    let sandbox = reviewed_home();
    let id = propose(&sandbox, "The user likes soup");
    assert_snapshot!(sandbox.run(&["inbox", "reject", &id]), @"
    [id1]	categories/inbox/the-user-likes-soup-[id1].md
    --- stderr
    rejected; agents cannot propose it again
    ");
    sandbox.run(&["trash", "purge", "--older-than", "0d", "--yes"]);
    let refused = call(
        &sandbox,
        "codex",
        "memory_write",
        &json!({ "content": "The user likes soup" }),
    );
    assert_eq!(
        refused["error"],
        json!({
            "code": "PROPOSAL_REJECTED",
            "message": "the user rejected this proposal before",
            "hint": "nothing was stored; do not propose it again unless the user asks for it",
        })
    );
    assert_eq!(sandbox.run_json(&["inbox"])["proposals"], json!([]));
    sandbox.write("The user likes soup", &[]);
    assert_eq!(
        sandbox.run_json(&["search", "soup"])["total"],
        1,
        "the user may write it"
    );
}

#[test]
fn similar_and_contradicting_memories_are_beside_a_proposal() {
    let sandbox = reviewed_home();
    let old = sandbox.write("The port of the proxy is 8080.", &["--category", "project"]);
    let note = sandbox.write(
        "The port of the proxy is 8080, as configured in the proxy settings",
        &[],
    );
    let id = propose(&sandbox, "The port of the proxy is 9090.");
    let inbox = sandbox.run_json(&["inbox"]);
    let similar = inbox["proposals"][0]["similar"].as_array().expect("a list");
    assert!(
        similar
            .iter()
            .any(|own| own["id"] == old && own["relation"] == "contradicts"),
        "{inbox}"
    );
    assert_eq!(
        (&inbox["notes"][0]["memory"]["id"], &inbox["notes_total"]),
        (&json!(note), &json!(1))
    );
    assert_snapshot!(sandbox.run(&["inbox", "merge", &id, &old]), @"
    [id1]	categories/project/the-port-of-the-proxy-is-8080-[id1].md
    --- stderr
    merged into version 2
    ");
    assert_eq!(
        sandbox.run(&["read", &old]),
        "The port of the proxy is 8080.\n\nThe port of the proxy is 9090.\n"
    );
    assert_eq!(
        sandbox.run_json(&["inbox", "accept", &note])["accepted"],
        "filed"
    );
    assert_snapshot!(sandbox.run(&["inbox"]), @"
    --- stderr
    the inbox is empty
    ");
    assert_snapshot!(sandbox.run(&["inbox", "reject", &old]), @"
    --- stderr
    error[invalid_input]: categories/project/the-port-of-the-proxy-is-8080-[id1].md is neither a proposal nor in the inbox
    --- exit 2
    ");
}

#[test]
fn all_proposals_are_accepted_after_a_confirmation() {
    let sandbox = reviewed_home();
    propose(&sandbox, "The ferry leaves at seven");
    propose(&sandbox, "The harbour has two piers");
    assert_snapshot!(sandbox.run(&["inbox", "accept", "--all"]), @"
    --- stderr
    error[usage]: cannot ask for confirmation without a terminal
    hint: use --yes to accept all proposals without confirmation
    --- exit 2
    ");
    let accepted = sandbox.run_json(&["inbox", "accept", "--all", "--yes"]);
    assert_eq!(accepted.as_array().map(Vec::len), Some(2), "{accepted}");
    sandbox.run(&["undo"]);
    assert_eq!(
        sandbox.run_json(&["inbox"])["proposals"]
            .as_array()
            .map(Vec::len),
        Some(1),
        "one undo each"
    );
}

#[test]
fn waiting_proposals_are_announced() {
    let sandbox = reviewed_home();
    let id = propose(&sandbox, "The ferry leaves at seven");
    let path = sandbox.run_json(&["inbox"])["proposals"][0]["memory"]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let start =
        |agent: &str| sandbox.run_with_input("{}", &["hook", "session-start", "--agent", agent]);
    assert_eq!(
        start("claude"),
        "1 proposal of agents waits for a review by the user in `memory inbox`.\n"
    );
    let status = sandbox.run_json(&["status"]);
    assert_eq!(
        (&status["proposals"], &status["overdue"], &status["inbox"]),
        (&json!(1), &json!([]), &json!(0))
    );
    let file = format!(".memory/{path}");
    let text = std::fs::read_to_string(sandbox.path(&file)).expect("the file");
    let created = text
        .lines()
        .find(|line| line.starts_with("created_at:"))
        .expect("a time");
    sandbox.file(
        &file,
        &text.replace(created, "created_at: 2024-05-03T10:00:00Z"),
    );
    let start = start("claude");
    assert!(
        start.contains("; for more than a week: ") && !start.contains("ferry"),
        "{start}"
    );
    assert_eq!(sandbox.run_json(&["status"])["overdue"], json!([id]));
    sandbox.normalise(&id);
    assert_snapshot!(
        sandbox.run(&["status"]).lines().find(|line| line.starts_with("proposals")).expect("a line"),
        @"proposals	1 to review with `memory inbox`; waiting for more than a week: [id1] The ferry leaves at seven"
    );
}

#[test]
fn a_user_who_moves_the_file_of_a_proposal_to_a_category_accepts_it() {
    let sandbox = reviewed_home();
    let id = propose(&sandbox, "The ferry leaves at seven");
    let path = sandbox.run_json(&["inbox"])["proposals"][0]["memory"]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let text = std::fs::read_to_string(sandbox.path(&format!(".memory/{path}"))).expect("the file");
    std::fs::remove_file(sandbox.path(&format!(".memory/{path}"))).expect("removed");
    sandbox.file(".memory/categories/decisions/ferry.md", &text);
    assert_eq!(
        sandbox.run_json(&["search", "ferry"])["hits"][0]["memory"]["id"],
        id
    );
    // The key of a user's own file is left alone.
    sandbox.run(&["tag", &id, "--add", "tide"]);
    assert!(
        sandbox
            .read_file(".memory/categories/decisions/ferry.md")
            .contains("proposed_by: codex")
    );
}

#[test]
fn single_keys_decide_at_a_terminal() {
    let sandbox = reviewed_home();
    sandbox.write("The port of the proxy is 8080.", &["--category", "project"]);
    let ferry = propose(&sandbox, "The ferry\u{200b} leaves at seven \u{e0041}");
    let soup = propose(&sandbox, "The user likes soup");
    let port = propose(&sandbox, "The port of the proxy is 9090.");
    let harbour = propose(&sandbox, "The harbour has two piers");
    // Help and an unknown key first; the second proposal is skipped.
    let Some(shown) = run_with_typed_input(&sandbox, "inbox --color never", "?xasrs") else {
        return;
    };
    for part in [
        "1/4  ",
        "codex proposes a memory",
        r"  The ferry\u{200b} leaves at seven \u{e0041}",
        "a accept, r reject, e edit, m merge, v view all, s skip, q quit, ? help > ",
        "k  go back to the previous proposal",
        "  1. contradicts ",
        "accepted: categories/decisions/",
        "rejected; agents cannot propose it again",
        "decided 2; 2 proposals are waiting",
    ] {
        assert!(
            one_line(&shown).contains(&one_line(part)),
            "{part}: {shown}"
        );
    }
    let waiting = || {
        let inbox = sandbox.run_json(&["inbox"]);
        let ids = inbox["proposals"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|own| own["memory"]["id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(waiting(), [json!(soup), json!(harbour)], "{shown}");
    assert_eq!(sandbox.run_json(&["read", &ferry])["phase"], "organized");
    assert_eq!(
        sandbox.run_json(&["read", &port])["error"]["code"],
        "MEMORY_NOT_FOUND",
        "it was rejected"
    );
    // The first proposal has no previous one; nothing is similar to the second one.
    let shown = run_with_typed_input(&sandbox, "inbox --color never", "kjmkq").expect("a terminal");
    assert!(
        shown.contains("no similar memory is known")
            && shown.contains("decided 0; 2 proposals are waiting"),
        "{shown}"
    );
    let other = propose(&sandbox, "The port of the proxy is 7070.");
    let shown = run_with_typed_input(&sandbox, "inbox --color never", "jjm").expect("a terminal");
    assert!(
        one_line(&shown).contains("merged into categories/project/")
            && !waiting().contains(&json!(other)),
        "{shown}"
    );
    sandbox.run(&["undo"]);
    assert!(waiting().contains(&json!(other)), "one undo reverts it");
    let listed =
        run_with_typed_input(&sandbox, "inbox --list --color never", "").expect("a terminal");
    assert!(
        listed.contains("3 proposals, 0 unfiled notes") && !listed.contains("a accept"),
        "{listed}"
    );
}

#[test]
fn a_text_that_is_cut_is_shown_before_it_is_accepted() {
    let sandbox = reviewed_home();
    let lines = |word: &str| {
        (1..=60)
            .map(|number| format!("{word} {number}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let id = sandbox.write(&lines("pier"), &["--category", "decisions"]);
    call(
        &sandbox,
        "codex",
        "memory_update",
        &json!({ "id": id, "old": lines("pier"), "new": lines("ferry") }),
    );
    let Some(shown) = run_with_typed_input(&sandbox, "inbox --color never", "aq") else {
        return;
    };
    let (start, whole) = shown
        .split_once("… 80 more lines")
        .unwrap_or_else(|| panic!("{shown}"));
    assert!(
        !start.contains("ferry 60") && whole.contains("+ ferry 60"),
        "{shown}"
    );
    assert!(
        one_line(&shown).contains("press the key again to decide")
            && shown.contains("decided 0; 1 proposal is waiting"),
        "{shown}"
    );
    let shown = run_with_typed_input(&sandbox, "inbox --color never", "va").expect("a terminal");
    assert!(
        shown.contains("+ ferry 60") && shown.contains("decided 1; 0 proposals are waiting"),
        "{shown}"
    );
    propose(&sandbox, &lines("harbour"));
    let shown = run_with_typed_input(&sandbox, "inbox --color never", "aa").expect("a terminal");
    assert!(
        shown.contains("… 20 more lines")
            && shown.contains("harbour 60")
            && shown.contains("decided 1"),
        "{shown}"
    );
}

#[test]
fn a_failure_does_not_hide_the_other_decisions() {
    let sandbox = reviewed_home();
    let [ferry, pier] = ["The ferry leaves at seven", "The harbour has two piers"]
        .map(|text| propose(&sandbox, text));
    for id in [&ferry, &pier] {
        sandbox.normalise(id);
    }
    assert_snapshot!(sandbox.run(&["inbox", "accept", &ferry, "missing", "absent", &pier]), @"
    [id1]	categories/decisions/the-ferry-leaves-at-seven-[id1].md
    [id2]	categories/decisions/the-harbour-has-two-piers-[id2].md
    --- stderr
    error[memory_not_found]: no memory matches absent
    accepted 2 items
    error[memory_not_found]: no memory matches missing
    hint: `memory list` lists the memories; an id may be shortened to 4 digits
    --- exit 3
    ");
    let (soup, note) = (
        propose(&sandbox, "The user likes soup"),
        sandbox.write("a plain note", &[]),
    );
    let printed = sandbox.run(&["inbox", "reject", "missing", &note, &soup]);
    let effect =
        "rejected 1 proposal, which agents cannot propose again; moved 1 note to the trash";
    assert!(
        printed.contains(effect) && printed.contains("no memory matches missing"),
        "{printed}"
    );
    let rice = propose(&sandbox, "The user likes rice");
    let printed = sandbox.run(&["inbox", "accept", "missing", &rice, "--json"]);
    assert!(
        printed.starts_with(r#"[{"id":"#) && printed.contains("MEMORY_NOT_FOUND"),
        "{printed}"
    );
}

#[test]
fn a_list_of_the_inbox_is_limited() {
    let sandbox = reviewed_home();
    let long = format!(
        "The port of the proxy is 8080.{}",
        " It is open.".repeat(60)
    );
    sandbox.write(&long, &["--category", "project"]);
    for port in [9090, 9091, 9092] {
        propose(&sandbox, &format!("The port of the proxy is {port}."));
    }
    let inbox = sandbox.run_json(&["inbox", "--limit", "2"]);
    assert_eq!(
        (
            inbox["proposals"].as_array().map(Vec::len),
            &inbox["proposals_total"]
        ),
        (Some(2), &json!(3))
    );
    for similar in inbox["proposals"][0]["similar"].as_array().expect("a list") {
        assert!(
            similar["text"].as_str().expect("a text").chars().count() <= 301,
            "{similar}"
        );
    }
    let printed = sandbox.run(&["inbox", "--limit", "1"]);
    assert!(
        printed.contains("3 proposals, 0 unfiled notes (2 more; use --limit 0 for all)"),
        "{printed}"
    );
}

#[test]
fn a_merge_refuses_a_credential() {
    let sandbox = reviewed_home();
    let key = "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let note = sandbox.write(key, &["--allow-secret"]);
    let into = sandbox.write("The user likes tea", &[]);
    assert_eq!(
        sandbox.run_json(&["inbox", "merge", &note, &into])["error"]["code"],
        "SECRET_FOUND"
    );
    sandbox.run_json(&["inbox", "merge", &note, &into, "--allow-secret"]);
    assert!(sandbox.run(&["read", &into]).contains(key));
}

#[test]
fn similar_memories_are_merged_by_one_key_at_a_terminal() {
    let sandbox = Sandbox::new();
    for start in ["Deploys", "The deploys"] {
        let text = format!("{start} of the shop run on Tuesday at nine from the main branch");
        sandbox.write(&text, &["--category", "knowledge"]);
    }
    let Some(shown) = run_with_typed_input(&sandbox, "inbox", "m") else {
        return;
    };
    assert!(shown.contains("merge 1/1"), "{shown}");
    assert!(shown.contains("merged 1 of 1"), "{shown}");
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
    sandbox.run(&["undo"]);
    assert_eq!(sandbox.run_json(&["list"])["total"], 2);
    run_with_typed_input(&sandbox, "inbox", "s").expect("a terminal");
    assert_eq!(sandbox.run_json(&["list"])["total"], 2);
}
