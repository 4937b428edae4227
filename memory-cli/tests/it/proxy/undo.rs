//! Tests that changes by a model are logged and can be undone.

use memory_core::conversation::{
    ConversationEntry, ConversationStore, EntryChange, EntryId, EntryRole,
};
use memory_core::secret::Checked;
use memory_core::{Clock, IdSource, Operation, Verb};
use memory_store::conversation::ConversationFolder;
use memory_store::{RandomIds, SystemClock};
use serde_json::Value;

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

fn model(asked: &UpstreamRequest) -> UpstreamReply {
    let last = asked.last();
    UpstreamReply::completion(match asked.purpose() {
        Some("facts") if last.contains("Ghent") => r#"["The user lives in Ghent."]"#,
        Some("facts") if last.contains("Lyon") => r#"["The user lives in Lyon."]"#,
        Some("facts") => "[]",
        Some("reconcile") => r#"[{"event": "UPDATE", "id": 0, "text": "The user lives in Lyon."}]"#,
        Some("summary") => "Lives somewhere.",
        _ => "Fine.",
    })
}

#[test]
fn a_fact_that_a_model_replaced_is_logged_undone_and_restored() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    for said in ["I live in Ghent.", "We moved: I live in Lyon now."] {
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &[]);
        proxy.send_message(said);
        assert_eq!(proxy.stop().0, Some(0));
    }
    assert_eq!(
        stored_texts(&sandbox, "default/facts"),
        ["The user lives in Lyon."]
    );
    let path = ["--memory-path", "mem"];
    let json = |arguments: &[&str]| sandbox.run_json(&[arguments, &path].concat());
    let logged = json(&["log"])["operations"][0].clone();
    let operation = logged["operation"]
        .as_str()
        .expect("an operation")
        .to_owned();
    assert_eq!(
        (&logged["verb"], &logged["by"], &logged["conversation"]),
        (&"reconcile".into(), &"model".into(), &"default".into())
    );
    let log = sandbox.run(&["log", "--memory-path", "mem"]);
    assert!(
        log.contains("reconcile conversation default\tmodel\t2\t"),
        "{log}"
    );
    let entries = json(&["log", &operation])["entries"].clone();
    assert_eq!(
        (&entries[0]["change"], &entries[0]["content"]),
        (&"added".into(), &"The user lives in Lyon.".into())
    );
    assert_eq!(
        (&entries[1]["change"], &entries[1]["content"]),
        (&"deleted".into(), &"The user lives in Ghent.".into())
    );
    assert_eq!(entries[1]["replaced_by"], entries[0]["id"]);
    let shown = sandbox.run(&["log", &operation, "--memory-path", "mem"]);
    assert!(
        shown.contains("deleted\t") && shown.contains("The user lives in Ghent."),
        "{shown}"
    );
    let trashed = |id: &Value| {
        let files = json(&["trash", "list"])["files"].clone();
        files
            .as_array()
            .expect("files")
            .iter()
            .any(|file| file["id"] == *id)
    };
    assert!(trashed(&entries[1]["id"]) && !trashed(&entries[0]["id"]));

    let undone = sandbox.run(&["undo", "--memory-path", "mem"]);
    assert!(
        undone.contains(
            "undid reconcile of 2 entries in conversation default by model; `memory undo "
        ),
        "{undone}"
    );
    assert_eq!(
        stored_texts(&sandbox, "default/facts"),
        ["The user lives in Ghent."]
    );
    assert!(json(&["log"])["operations"][1]["undone_by"].is_string());
    // The operation before it added the first fact.
    let undone = sandbox.run(&["undo", "--memory-path", "mem"]);
    assert!(
        undone
            .contains("undid reconcile of 1 entry in conversation default by model; `memory undo "),
        "{undone}"
    );
    assert_eq!(stored_texts(&sandbox, "default/facts"), [""; 0]);
    let nothing = sandbox.run(&["undo", "--memory-path", "mem"]);
    assert!(nothing.contains("error[operation_not_found]"), "{nothing}");
    let undo = json(&["log"])["operations"][0]["operation"].clone();
    sandbox.run(&[
        "undo",
        undo.as_str().expect("an operation"),
        "--memory-path",
        "mem",
    ]);
    assert_eq!(
        stored_texts(&sandbox, "default/facts"),
        ["The user lives in Ghent."]
    );
    // git commits the state after the undo, as after each change of the proxy.
    let status = std::process::Command::new("git")
        .args(["status", "--porcelain", "entries"])
        .current_dir(sandbox.path("mem"))
        .output();
    assert_eq!(String::from_utf8_lossy(&status.expect("git").stdout), "");

    let id = entries[0]["id"].as_str().expect("an id");
    let restored = sandbox.run(&["restore", &id[..8], "--memory-path", "mem"]);
    assert!(restored.contains("entries/default/facts/"), "{restored}");
    let mut facts = stored_texts(&sandbox, "default/facts");
    facts.sort();
    assert_eq!(
        facts,
        ["The user lives in Ghent.", "The user lives in Lyon."]
    );
    sandbox.run(&["undo", "--memory-path", "mem"]);
    assert_eq!(
        stored_texts(&sandbox, "default/facts"),
        ["The user lives in Ghent."]
    );
    assert!(json(&["trash", "purge", "--older-than", "0d", "--yes"])["files"].as_u64() >= Some(1));
    assert!(!trashed(&entries[0]["id"]));
    assert!(
        sandbox
            .run(&["restore", id, "--memory-path", "mem"])
            .contains("error[trash_not_found]")
    );
}

/// Replaces a fact of the conversation in the home, as a model would.
fn replace_fact(sandbox: &Sandbox, old: &EntryId, new: &str) -> EntryId {
    let conversation = "default".parse().expect("an id");
    let id = EntryId::from(RandomIds.memory_id());
    let entry = ConversationEntry::new(
        id.clone(),
        &conversation,
        EntryRole::Memory,
        new,
        SystemClock.now(),
    );
    let changes = [
        EntryChange::Add(entry),
        EntryChange::Delete {
            id: old.clone(),
            replaced_by: Some(id.clone()),
        },
    ];
    let (operation, at) = (RandomIds.operation_id(), SystemClock.now());
    let operation = Operation {
        id: operation,
        at,
        verb: Verb::Reconcile,
        by: "model".into(),
    };
    ConversationFolder::new(sandbox.path(".memory"))
        .commit_operation(&conversation, Checked::allowed(&changes), &operation)
        .expect("it is kept");
    id
}

#[test]
fn undo_takes_back_notes_and_facts_in_the_order_of_time_and_leaves_what_a_person_changed() {
    let sandbox = Sandbox::new();
    let facts = || {
        let shown = sandbox.run_json(&["conversations", "show", "default"]);
        let facts = shown["facts"].as_array().cloned().unwrap_or_default();
        facts
            .iter()
            .filter_map(|fact| fact["content"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let added = sandbox.run_json(&["conversations", "add", "The user loves pizza."]);
    let first: EntryId = added["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .parse()
        .expect("an id");
    let second = replace_fact(&sandbox, &first, "The user hates pizza.");
    sandbox.write("Buy milk.", &[]);
    replace_fact(&sandbox, &second, "The user is indifferent to pizza.");
    sandbox.run(&["undo"]);
    assert_eq!(facts(), ["The user hates pizza."]);
    sandbox.run(&["undo"]);
    assert_eq!(sandbox.run_json(&["list"])["total"], 0);
    sandbox.run(&["undo"]);
    assert_eq!(facts(), ["The user loves pizza."]);
    let verbs: Vec<Value> = sandbox.run_json(&["log"])["operations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["verb"].clone())
        .collect();
    assert_eq!(
        verbs,
        [
            "undo",
            "undo",
            "undo",
            "reconcile",
            "write",
            "reconcile",
            "write"
        ]
    );

    let third = replace_fact(&sandbox, &first, "The user loves pasta.");
    let folder = sandbox.path(".memory/entries/default/facts");
    let mut files = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let file = files
        .find(|file| file.to_string_lossy().contains(third.as_str()))
        .expect("its file");
    let text = std::fs::read_to_string(&file)
        .expect("text")
        .replace("pasta", "risotto");
    std::fs::write(&file, &text).expect("it is written");
    let refused = sandbox.run(&["undo"]);
    assert!(
        refused.contains("error[conflict]") && refused.contains("--- exit 4"),
        "{refused}"
    );
    assert_eq!(facts(), ["The user loves risotto."]);
}
