//! Tests of storing facts from chats, and of recalling them.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

/// Answers like a model that extracts facts from a fixed list.
fn model(asked: &UpstreamRequest) -> UpstreamReply {
    let last = asked.last();
    UpstreamReply::completion(match asked.purpose() {
        Some("facts") if last.contains("Ghent") => {
            r#"["The user lives in Ghent.", "The user's dog is Rex."]"#
        }
        Some("facts") if last.contains("Lyon") => r#"["The user lives in Lyon."]"#,
        Some("facts") => "[]",
        Some("reconcile") => r#"[{"event": "UPDATE", "id": 0, "text": "The user lives in Lyon."}]"#,
        Some("summary") if last.contains("Lyon") => "Lives in Lyon with Rex.",
        Some("summary") => "Lives in Ghent with Rex.",
        _ => "Fine.",
    })
}

#[test]
fn what_was_said_comes_back_with_what_follows_from_it() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    let base_url = upstream.base_url();
    let begin = || ProxyProcess::start(&sandbox, &base_url, &["--no-git-versioning"]);
    let proxy = begin();
    let first = proxy.send_message("I live in Ghent, where my dog Rex likes it.");
    assert_eq!(
        (first.status, first.json()["memory_hits"].clone()),
        (Some(200), json!([]))
    );
    assert_eq!(first.json()["usage"], json!({ "total_tokens": 7 }));
    assert_eq!(proxy.stop().0, Some(0));
    let facts = ["The user lives in Ghent.", "The user's dog is Rex."];
    let mut found = stored_texts(&sandbox, "default/facts");
    found.sort();
    assert_eq!(found, facts);
    assert_eq!(
        stored_texts(&sandbox, "default/turns/user"),
        ["I live in Ghent, where my dog Rex likes it."]
    );
    assert_eq!(stored_texts(&sandbox, "default/turns/assistant"), ["Fine."]);
    assert_eq!(
        stored_texts(&sandbox, "default/summaries"),
        ["Lives in Ghent with Rex."]
    );

    let proxy = begin();
    proxy.send_message("We moved: I live in Lyon now.");
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(
        stored_texts(&sandbox, "default/summaries"),
        ["Lives in Lyon with Rex."]
    );
    assert_eq!(stored_texts(&sandbox, "default/deleted/facts").len(), 1);

    let proxy = begin();
    let body = json!({
        "model": "m",
        "messages": [{ "role": "system", "content": "Be kind." }, { "role": "user", "content": "Where do I live?" }],
        "memory_top_k": 2,
    });
    let answer = proxy.chat(&body);
    assert_eq!(answer.header("memory-hits"), Some("2"));
    let hits = answer.json()["memory_hits"].clone();
    assert!(
        (0..2).any(|number| hits[number]["content"] == "The user lives in Lyon."),
        "{hits}"
    );
    let sent = upstream
        .client_requests()
        .last()
        .expect("it was asked")
        .clone();
    assert!(
        sent.json().get("memory_top_k").is_none()
            && sent.header("authorization") == Some("Bearer sk-own")
    );
    let last = sent.last();
    assert!(
        last.starts_with("<memory-context>")
            && last.ends_with("</memory-context>\n\nCurrent message:\nWhere do I live?"),
        "{last}"
    );
    assert!(
        last.contains("[memory] The user lives in Lyon.")
            && last.contains("Lives in Lyon with Rex."),
        "{last}"
    );
    assert_eq!(sent.json()["messages"][0], body["messages"][0]);
    // Another conversation has no access to these facts.
    let other =
        proxy.chat(&json!({ "model": "m", "memory_id": "other", "messages": body["messages"] }));
    assert_eq!(other.json()["memory_hits"], json!([]));
}

#[test]
fn what_is_global_is_known_in_every_conversation() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    sandbox.run(&[
        "add",
        "--memory-path",
        "mem",
        "-c",
        "global",
        "The user speaks Dutch.",
    ]);
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-summarization"]);
    let answer = proxy
        .chat(&json!({ "memory_id": "a/b", "messages": [{ "role": "user", "content": "Which language do I speak, Dutch?" }] }));
    assert_eq!(
        answer.json()["memory_hits"][0]["content"],
        "The user speaks Dutch."
    );
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(stored_texts(&sandbox, "a_b/turns/user").len(), 1);
    assert!(
        sandbox.path("mem/.git").exists(),
        "a folder of its own keeps its versions"
    );
}

#[test]
fn without_a_model_for_facts_turns_are_kept_and_found() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-summarization"]);
    proxy.send_message("I live in Ghent.");
    proxy.stop();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-summarization"]);
    assert_eq!(
        proxy.send_message("Who lives in Ghent?").json()["memory_hits"][0]["content"],
        "I live in Ghent."
    );
    proxy.stop();
    assert!(stored_texts(&sandbox, "default/facts").is_empty());
    assert_eq!(stored_texts(&sandbox, "default/turns/user").len(), 2);
}

#[test]
fn what_was_not_drawn_by_the_end_is_drawn_after_the_next_start() {
    let (sandbox, (gone, left)) = (Sandbox::new(), channel());
    let gone = Mutex::new(Some(gone));
    let upstream = FakeUpstream::start(move |asked| {
        let hang = asked
            .purpose()
            .and_then(|_| gone.lock().expect("nobody panics here").take());
        hang.map_or_else(|| model(asked), UpstreamReply::Hang)
    });
    let begin = || {
        let place = sandbox.path("mem").display().to_string();
        let url = upstream.base_url();
        let mut command =
            sandbox.command(&["proxy", "--json", "--port", "0", "--no-git-versioning"]);
        command.envs([
            ("MEMORY_PROXY_OPENAI_BASE_URL", &url),
            ("MEMORY_PROXY_MEMORY_PATH", &place),
            ("MEMORY_LLM_BASE_URL", &url),
        ]);
        ProxyProcess::of({
            command.env("MEMORY_LLM_MODEL", "facts");
            command
        })
    };
    let proxy = begin();
    proxy.send_message("I live in Ghent, where my dog Rex likes it.");
    upstream.wait_for_request();
    upstream.wait_for_request();
    assert_eq!(proxy.stop().0, Some(0), "what hangs is left");
    left.recv().expect("it was let go");
    assert!(stored_texts(&sandbox, "default/facts").is_empty());
    let proxy = begin();
    // One request for the facts, one for the summary.
    upstream.wait_for_request();
    upstream.wait_for_request();
    proxy.stop();
    assert_eq!(stored_texts(&sandbox, "default/facts").len(), 2);
}

#[test]
fn prompts_of_the_home_take_the_place_of_the_usual() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    sandbox.file(
        "mem/prompts/facts.md",
        "You extract facts about Ghent only.",
    );
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-git-versioning"]);
    proxy.send_message("I live in Ghent.");
    upstream.wait_for_request();
    upstream.wait_for_request();
    proxy.stop();
    assert_eq!(stored_texts(&sandbox, "default/facts").len(), 2);
}

#[test]
fn tools_are_part_of_one_turn() {
    let (sandbox, upstream) = (
        Sandbox::new(),
        FakeUpstream::start(|asked: &UpstreamRequest| {
            let is_first = asked.json()["messages"]
                .as_array()
                .is_some_and(|messages| messages.len() == 1);
            let call = json!({ "choices": [{ "index": 0, "message": { "role": "assistant", "content": null,
            "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "f", "arguments": "{}" } }] } }] });
            if is_first {
                UpstreamReply::Whole(200, "Content-Type: application/json\r\n", call.to_string())
            } else {
                UpstreamReply::completion("Three.")
            }
        }),
    );
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-summarization", "--no-git-versioning"],
    );
    let question = json!({ "role": "user", "content": "How many?" });
    let call =
        proxy.chat(&json!({ "messages": [question] })).json()["choices"][0]["message"].clone();
    let tool = json!({ "role": "tool", "tool_call_id": "1", "content": "3" });
    let answer = proxy.chat(&json!({ "messages": [question, call, tool] }));
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Three.");
    proxy.stop();
    assert_eq!(
        (
            stored_texts(&sandbox, "default/turns/user").len(),
            stored_texts(&sandbox, "default/turns/assistant")
        ),
        (1, vec!["Three.".into()])
    );
}

#[test]
fn the_daemon_remembers_for_applications_as_well() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    sandbox.write("tea at nine", &[]);
    let mut command = sandbox.command(&["serve", "--http", "127.0.0.1:0", "--json"]);
    command.env("MEMORY_PROXY_OPENAI_BASE_URL", upstream.base_url());
    let proxy = ProxyProcess::of(command);
    assert_eq!(
        proxy.send_message("I live in Ghent.").json()["memory_hits"],
        json!([])
    );
    assert_eq!(
        proxy.request("GET /v1/models?a=b", "", "").status,
        Some(200)
    );
    assert_eq!(
        upstream
            .client_requests()
            .last()
            .map(|asked| asked.line.clone())
            .as_deref(),
        Some("GET /v1/models?a=b")
    );
    let tools: Value = proxy.request("GET /v1/tools", "", "").json();
    assert!(tools["tools"].is_array());
    assert_eq!(proxy.request("GET /elsewhere", "", "").status, Some(404));
    // An invalid request for the daemon is not forwarded either.
    let asked = upstream.client_requests().len();
    for (line, status) in [
        ("POST /v1/run", 404),
        ("POST /v1/run/kv/default", 404),
        ("GET /v1/run/kv/default/set", 405),
        ("POST /v1/instances", 405),
        ("POST /v1/instances/kv/default", 404),
        ("POST /v1/%72un/kv/default/set/", 404),
    ] {
        assert_eq!(
            proxy
                .request(line, "", r#"{"key":"a","value":"secret"}"#)
                .status,
            Some(status),
            "{line}"
        );
    }
    assert_eq!(upstream.client_requests().len(), asked);
    assert_eq!(proxy.stop().0, Some(0));
    let found = sandbox.run_json(&["search", "Ghent", "--scope", "conversation:default"]);
    assert!(2 <= found["total"].as_u64().unwrap_or_default(), "{found}");
}
