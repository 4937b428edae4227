//! Tests of standing instructions and preferences in chats.

use serde_json::json;

use super::process::ProxyProcess;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

const QUESTION: &str = "how far is it to Oslo?";

fn fine(_: &UpstreamRequest) -> UpstreamReply {
    UpstreamReply::completion("Fine.")
}

/// Starts a proxy that stores the conversations in the home.
fn proxy_in_home(sandbox: &Sandbox, upstream: &FakeUpstream) -> ProxyProcess {
    // On a busy machine, the standing sentences may take longer than the default, and would be left out.
    sandbox.file(".memory/config.yaml", "proxy:\n  memory_timeout: 60s\n");
    let flags = ["--no-git-versioning", "--no-summarization"];
    let arguments = [
        "proxy",
        "--json",
        "--port",
        "0",
        "--openai-base-url",
        &upstream.base_url(),
    ];
    ProxyProcess::of(sandbox.command(&[&arguments[..], &flags].concat()))
}

/// Sends a message, and returns the text that the model received.
fn sent(proxy: &ProxyProcess, upstream: &FakeUpstream, text: &str) -> String {
    assert_eq!(proxy.send_message(text).status, Some(200));
    upstream
        .client_requests()
        .last()
        .expect("it was asked")
        .last()
}

#[test]
fn standing_memories_of_the_home_are_given_in_every_chat() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(fine));
    let proxy = proxy_in_home(&sandbox, &upstream);
    assert_eq!(
        sent(&proxy, &upstream, QUESTION),
        QUESTION,
        "there is no home yet"
    );
    let id = sandbox.write("Always answer in metric units.", &["--role", "person"]);
    sandbox.write(
        "Always answer in Dutch.",
        &["--role", "person", "--scope", "conversation:work"],
    );
    sandbox.write(
        "Always quote the manual.",
        &["--role", "person", "--scope", "agent:claude"],
    );
    sandbox.write(
        "Never mention the budget.",
        &["--role", "person", "--scope", "project:ours"],
    );
    let answer = proxy.send_message(QUESTION);
    assert_eq!(answer.header("memory-hits"), Some("1"));
    let hit = answer.json()["memory_hits"][0].clone();
    assert_eq!(
        (&hit["role"], &hit["standing"], &hit["id"]),
        (&json!("memory"), &json!("instruction"), &json!(id))
    );
    assert_eq!(
        (&hit["content"], &hit["score"]),
        (&json!("Always answer in metric units."), &json!(0.0))
    );
    let last = upstream
        .client_requests()
        .last()
        .expect("it was asked")
        .last();
    assert!(
        last.starts_with("<memory-context>\n")
            && last.ends_with(&format!("\n\nCurrent message:\n{QUESTION}")),
        "{last}"
    );
    assert!(
        last.contains(" standing=\"instruction\">\nAlways answer in metric units.\n</memory>\n"),
        "{last}"
    );
    assert!(
        !["Dutch", "manual", "budget"]
            .iter()
            .any(|text| last.contains(text)),
        "{last}"
    );
    let chat = |extra: serde_json::Value| {
        let mut body =
            json!({ "model": "m", "messages": [{ "role": "user", "content": QUESTION }] });
        body.as_object_mut()
            .expect("an object")
            .extend(extra.as_object().expect("an object").clone());
        proxy.chat(&body);
        upstream
            .client_requests()
            .last()
            .expect("it was asked")
            .last()
    };
    let work = chat(json!({ "memory_id": "work" }));
    assert!(
        work.contains("Always answer in metric units.") && work.contains("Always answer in Dutch."),
        "{work}"
    );
    assert_eq!(chat(json!({ "memory_top_k": 0 })), QUESTION);
}

#[test]
fn conversations_elsewhere_receive_the_standing_memories_of_the_home() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(fine));
    sandbox.write("Always answer in metric units.", &["--role", "person"]);
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-git-versioning", "--no-summarization"],
    );
    assert!(sent(&proxy, &upstream, QUESTION).contains("\nAlways answer in metric units.\n"));
}

#[test]
fn a_daemon_with_a_proxy_gives_the_standing_memories_of_its_home() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(fine));
    let mut command = sandbox.command(&["serve", "--json", "--http", "127.0.0.1:0", "--log", "-"]);
    command.env("MEMORY_PROXY_OPENAI_BASE_URL", upstream.base_url());
    let daemon = ProxyProcess::of(command);
    sandbox.write("Always answer in metric units.", &["--role", "person"]);
    assert!(sent(&daemon, &upstream, QUESTION).contains("\nAlways answer in metric units.\n"));
}

#[test]
fn a_preference_comes_back_for_its_subject_and_of_a_pasted_article_only_its_own_end() {
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(fine));
    let proxy = proxy_in_home(&sandbox, &upstream);
    let article = "The ferry crossed the bay and the passengers watched the gulls. ".repeat(2_100);
    proxy.send_message(&format!(
        "{article}Always carry a whistle. {article}Always wear a life jacket."
    ));
    proxy.send_message("I prefer tabs over spaces.");
    assert!(!sent(&proxy, &upstream, QUESTION).contains("tabs"));
    let last = sent(&proxy, &upstream, "Tabs or spaces here?");
    assert!(
        last.contains(" standing=\"instruction\">\nAlways wear a life jacket.\n</memory>\n"),
        "{last}"
    );
    assert!(!last.contains("whistle"), "{last}");
    assert!(
        last.contains(" standing=\"preference\">\nI prefer tabs over spaces.\n</memory>\n"),
        "{last}"
    );
    assert!(last.len() < 1_000, "{} bytes", last.len());
}
