//! Tests of the proxy with unusual chats, damaged memories and models that disobey instructions.

use serde_json::{Value, json};

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

#[test]
fn odd_chats_pass_and_what_can_be_kept_is() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-summarization", "--no-git-versioning"],
    );
    let huge = format!("Remember: {}", "tea and biscuits, ".repeat(60_000));
    let message = |role: &str, content: Value| json!([{ "role": role, "content": content }]);
    for (id, messages) in [
        ("none", json!([])),
        ("system", message("system", json!("Be kind."))),
        ("alien", message("alien", json!("Take me there."))),
        ("empty", message("user", json!(""))),
        ("null", message("user", Value::Null)),
        ("huge", message("user", json!(huge))),
        ("../../up", message("user", json!("Where am I?"))),
        ("CON:<>|?*", message("user", json!("Where am I?"))),
    ] {
        let answer = proxy.chat(&json!({ "messages": messages, "memory_id": id }));
        assert_eq!(
            (answer.status, answer.header("memory-error")),
            (Some(200), None),
            "{id}"
        );
        assert_eq!(
            upstream
                .client_requests()
                .pop()
                .expect("it was asked")
                .json()["messages"],
            messages,
            "{id}"
        );
    }
    for (key, value) in [
        ("memory_id", json!(3)),
        ("memory_id", json!("a\u{0}b")),
        ("memory_top_k", json!("many")),
        ("memory_top_k", json!(-1)),
        ("memory_recency_weight", json!(1.5)),
        ("memory_score_threshold", json!(-0.1)),
    ] {
        let answer = proxy.chat(&json!({ key: value }));
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, &error["code"]),
            (Some(400), &json!("INVALID_INPUT")),
            "{key}: {value}"
        );
        // The error has the format of a model's server.
        assert_eq!(
            (&error["type"], &error["param"]),
            (&json!("invalid_request_error"), &json!(key))
        );
    }
    assert_eq!(proxy.stop().0, Some(0));
    for nothing in ["none", "system", "alien", "empty", "null"] {
        assert!(
            stored_texts(&sandbox, &format!("{nothing}/turns/user")).is_empty(),
            "{nothing}"
        );
    }
    assert_eq!(stored_texts(&sandbox, "huge/turns/user"), [huge.trim()]);
    for place in [".._.._up", "CON______"] {
        assert_eq!(
            stored_texts(&sandbox, &format!("{place}/turns/user")).len(),
            1,
            "{place}"
        );
    }
    assert!(!sandbox.path("up").exists() && !sandbox.path("mem/up").exists());
}

#[test]
fn trouble_is_told_to_whom_it_concerns_and_what_is_kept_late_is_kept_once() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.file("mem/entries/elsewhere", "");
    let bad = sandbox.path("mem/entries/bad");
    std::os::unix::fs::symlink("elsewhere", &bad).expect("a link");
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-summarization", "--no-git-versioning"],
    );
    let say = |place: &str, text: &str| {
        proxy
            .chat(&json!({ "memory_id": place, "messages": [{ "role": "user", "content": text }] }))
    };
    for number in 0..3 {
        assert_eq!(
            say("bad", &number.to_string()).header("memory-error"),
            Some("PATH_REFUSED")
        );
        assert_eq!(
            say("good", &number.to_string()).header("memory-error"),
            None
        );
    }
    std::fs::remove_file(&bad).expect("it is removed");
    assert_eq!(proxy.stop().0, Some(0));
    for place in ["bad", "good"] {
        assert_eq!(
            stored_texts(&sandbox, &format!("{place}/turns/user")),
            ["0", "1", "2"],
            "{place}"
        );
    }
}

#[test]
fn what_is_too_long_to_be_read_again_is_not_kept_and_told() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-summarization", "--no-git-versioning"],
    );
    let answer = proxy.send_message(&"x".repeat(16 << 20));
    assert_eq!(
        (answer.status, answer.header("memory-error")),
        (Some(200), Some("INVALID_INPUT"))
    );
    assert_eq!(proxy.stop().0, Some(0));
    assert!(stored_texts(&sandbox, "default/turns/user").is_empty());
}

#[test]
fn a_broken_memory_breaks_no_chat() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.file("mem/elsewhere", "");
    std::os::unix::fs::symlink("elsewhere", sandbox.path("mem/entries")).expect("a link");
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-git-versioning"]);
    for _ in 0..3 {
        let answer = proxy.send_message("Hi");
        assert_eq!(
            (
                answer.status,
                &answer.json()["choices"][0]["message"]["content"]
            ),
            (Some(200), &json!("Fine."))
        );
        assert_eq!(
            answer.header("memory-error"),
            Some("PATH_REFUSED"),
            "{:?}",
            answer.headers
        );
        assert!(answer.header("memory-warning").is_some());
    }
    let (code, complaints) = proxy.stop();
    // The error is logged once, and the exit code reports that it is permanent.
    assert_eq!(
        (
            code,
            complaints.matches("turns could not be stored").count()
        ),
        (Some(1), 1),
        "{complaints}"
    );
}

/// Extracts facts with a model that answers `facts` and `reconcile`; returns the facts and the log.
fn extract_facts(facts: &'static str, reconcile: &'static str) -> (Vec<String>, String) {
    let upstream = FakeUpstream::start(move |asked: &UpstreamRequest| match asked.purpose() {
        Some("facts") if facts == "never" => UpstreamReply::Close,
        Some("facts") => UpstreamReply::completion(facts),
        Some("reconcile") => UpstreamReply::completion(reconcile),
        Some(_) => UpstreamReply::Close,
        None => UpstreamReply::completion("Fine."),
    });
    let sandbox = Sandbox::new();
    sandbox.run(&[
        "add",
        "--memory-path",
        "mem",
        "--no-git-versioning",
        "The user likes tea.",
    ]);
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-git-versioning"]);
    assert_eq!(
        proxy.send_message("I like tea, and biscuits.").status,
        Some(200)
    );
    let (code, complaints) = proxy.stop();
    assert_eq!(code, Some(0));
    assert_eq!(
        stored_texts(&sandbox, "default/turns/user"),
        ["I like tea, and biscuits."],
        "nothing is lost"
    );
    (stored_texts(&sandbox, "default/facts"), complaints)
}

#[test]
fn a_model_that_answers_with_prose_or_wrong_json_or_never_costs_no_turn() {
    for facts in [
        "The user likes tea and biscuits.",
        "[\"The user likes",
        "{\"a\": [1], \"b\": [2]}",
        "never",
    ] {
        let (kept, complaints) = extract_facts(facts, "[]");
        assert_eq!(kept, ["The user likes tea."], "{facts}");
        // The number of retries before the end depends on timing.
        assert_eq!(
            complaints.matches("the turns will be retried").count(),
            1,
            "{facts}: {complaints}"
        );
    }
}

#[test]
fn a_model_that_decides_nonsense_changes_no_known_fact() {
    let fact = r#"["The user likes tea and biscuits."]"#;
    for reconcile in [
        "Let me think about it.",
        r#"[{"event": "DELETE", "id": 7}]"#,
        r#"[{"event": "UPDATE", "id": "x", "text": "no"}]"#,
        r#"[{"event": "FORGET"}]"#,
    ] {
        let (kept, complaints) = extract_facts(fact, reconcile);
        // The new fact is added if there was a second attempt before the end.
        assert!(
            kept.contains(&"The user likes tea.".to_owned()),
            "{reconcile}"
        );
        assert!(
            complaints.contains("the facts cannot be reconciled"),
            "{reconcile}: {complaints}"
        );
    }
    let (mut kept, _) = extract_facts(fact, "[]");
    kept.sort();
    assert_eq!(
        kept,
        ["The user likes tea and biscuits.", "The user likes tea."],
        "what nothing is said of is new"
    );
    let (kept, _) = extract_facts(fact, r#"[{"event": "DELETE", "id": 0}]"#);
    assert_eq!(
        kept,
        ["The user likes tea and biscuits."],
        "what only takes away takes nothing from what is new"
    );
}
