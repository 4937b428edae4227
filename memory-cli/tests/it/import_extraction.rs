//! Tests of `memory import --extract` with a server that speaks the protocol of chat completions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::proxy::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

/// Answers with one fact for each message.
fn answer(request: &UpstreamRequest) -> UpstreamReply {
    let messages: Vec<Value> = serde_json::from_str(&request.last()).expect("a list of messages");
    let fact = |message: &Value| {
        format!(
            "The user said: {}",
            message["text"].as_str().expect("a text")
        )
    };
    let facts: Map<_, _> = messages
        .iter()
        .map(|message| (message["id"].to_string(), json!([fact(message)])))
        .collect();
    UpstreamReply::completion(&Value::Object(facts).to_string())
}

/// Writes an export of Claude.ai with conversations of one message each.
fn write_export(sandbox: &Sandbox, count: usize) {
    let conversation = |number: usize| {
        let message = json!({ "uuid": format!("m-{number}"), "sender": "human", "text": format!("I like tea number {number}") });
        json!({ "uuid": format!("u-{number}"), "name": "Tea", "chat_messages": [message] })
    };
    sandbox.file(
        "export/conversations.json",
        &json!((0..count).map(conversation).collect::<Vec<_>>()).to_string(),
    );
}

fn configure(sandbox: &Sandbox, server: &FakeUpstream, calls_a_day: u64) {
    let settings = format!(
        "llm:\n  base_url: {}\n  model: m\n  calls_a_day: {calls_a_day}\n",
        server.base_url()
    );
    sandbox.file(".memory/config.yaml", &settings);
}

/// Returns the texts of all memories.
fn texts(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.run_json(&["list"]);
    let mut texts: Vec<_> = listed["memories"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|memory| memory["content"].as_str().map(str::to_owned))
        .collect();
    texts.sort();
    texts
}

#[test]
fn a_run_without_budget_left_imports_the_rest_and_the_next_run_continues() {
    let sandbox = Sandbox::new();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let server = FakeUpstream::start(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        answer(request)
    });
    write_export(&sandbox, 4);
    configure(&sandbox, &server, 2);
    assert_snapshot!(sandbox.run(&["import", "export", "--extract"]), @"
    claude-ai	4	0	0	4	2
    --- stderr
    ingested with a warning: claude-ai u-2: no facts were drawn from message 1 of the user on: daily budget of 2 calls exhausted: the call needs up to 1, 0 are left; a further run with --extract draws the facts of the rest and of later conversations
    ");
    assert_eq!(
        texts(&sandbox),
        [
            "The user said: I like tea number 0",
            "The user said: I like tea number 1"
        ]
    );
    configure(&sandbox, &server, 9);
    assert_snapshot!(sandbox.run(&["import", "export", "--extract"]), @"claude-ai	0	0	4	0	2");
    assert_eq!(texts(&sandbox).len(), 4);
    assert_snapshot!(sandbox.run(&["import", "export", "--extract"]), @"claude-ai	0	0	4	0	0");
    assert_eq!(
        requests.load(Ordering::Relaxed),
        4,
        "no message is sent twice"
    );
}

#[test]
fn a_fact_that_was_deleted_does_not_return() {
    let sandbox = Sandbox::new();
    let server = FakeUpstream::start(answer);
    write_export(&sandbox, 1);
    configure(&sandbox, &server, 9);
    sandbox.run(&["import", "export", "--extract"]);
    let id = sandbox.run_json(&["list"])["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    sandbox.run(&["delete", &id]);
    assert_snapshot!(sandbox.run(&["import", "export", "--extract"]), @"claude-ai	0	0	1	0	0");
    assert_eq!(texts(&sandbox), Vec::<String>::new());
}

#[test]
fn a_fact_is_in_the_project_of_its_conversation() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("git init --quiet work/acme");
    let server = FakeUpstream::start(answer);
    configure(&sandbox, &server, 9);
    let cwd = sandbox.path("work/acme").display().to_string();
    for (folder, session, text) in [
        (".claude", "s1", "the vault is green"),
        ("theirs/.claude", "s2", "push to main"),
    ] {
        let message = json!({ "type": "user", "uuid": "u", "timestamp": "2026-01-02T03:04:05Z", "cwd": cwd,
            "sessionId": session, "message": { "role": "user", "content": text } });
        sandbox.file(
            &format!("{folder}/projects/p/{session}.jsonl"),
            &format!("{message}\n"),
        );
        let path = sandbox.path(folder).display().to_string();
        let said = sandbox.run(&[
            "ingest",
            "--source",
            "claude-sessions",
            "--path",
            &path,
            "--extract",
        ]);
        assert!(said.contains("\t1"), "{said}");
    }
    let listed = sandbox.run_json(&["list"]);
    let scope_of = |text: &str| -> String {
        let memories = listed["memories"].as_array().into_iter().flatten();
        let own = memories.filter(|memory| memory["content"].to_string().contains(text));
        own.map(|memory| memory["scope"].to_string()).collect()
    };
    let own = scope_of("the vault is green");
    assert!(own.starts_with("\"project:acme"), "{listed}");
    // A folder that came from somebody else may state any folder.
    let theirs = scope_of("push to main");
    assert!(theirs.starts_with("\"project:acme-"), "{listed}");
    assert_ne!(own, theirs);
}
