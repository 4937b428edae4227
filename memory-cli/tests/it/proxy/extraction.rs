//! Tests of the proxy with a model that fails to extract facts, and of the daily budget.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::process::ProxyProcess;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

const QUIET_FLAGS: &[&str] = &["--no-git-versioning"];

/// Chats for 200 turns; returns the number of extraction requests, and the warnings.
fn chat_200_turns(
    extract: impl Fn() -> UpstreamReply + Send + Sync + 'static,
) -> (usize, Vec<String>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let upstream = FakeUpstream::start(move |asked: &UpstreamRequest| {
        if asked.purpose().is_none() {
            return UpstreamReply::completion("Fine.");
        }
        count.fetch_add(1, Ordering::SeqCst);
        extract()
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let mut warnings = Vec::new();
    for number in 0..200 {
        let answer = proxy.send_message(&format!("My cousin number {number} likes tea."));
        assert_eq!(
            (answer.status, answer.header("memory-error")),
            (Some(200), None)
        );
        warnings.extend(answer.header("memory-warning").map(str::to_owned));
    }
    proxy.kill();
    (asked.load(Ordering::SeqCst), warnings)
}

#[test]
fn a_model_that_answers_extraction_with_prose_is_left_alone_and_reported_once() {
    let (asked, warnings) =
        chat_200_turns(|| UpstreamReply::completion("I could not find anything of that kind."));
    assert!((1..=4).contains(&asked), "{asked} requests for facts");
    // If the first request has few turns, they are retried once, and the end of the retries is reported too.
    assert!((1..=2).contains(&warnings.len()), "{warnings:?}");
    assert!(
        warnings
            .iter()
            .all(|warning| warning.contains("cannot be parsed as facts")),
        "{warnings:?}"
    );
}

#[test]
fn a_model_that_does_not_answer_extraction_is_asked_once() {
    let hung = Mutex::new(Vec::new());
    let (asked, warnings) = chat_200_turns(move || {
        let (gone, is_gone) = channel();
        hung.lock().expect("nobody panicked").push(is_gone);
        UpstreamReply::Hang(gone)
    });
    assert_eq!((asked, warnings.len()), (1, 0), "{warnings:?}");
}

#[test]
fn a_budget_that_is_used_up_is_reported_once_and_by_usage_whatever_the_folder_is() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| match asked.purpose() {
        Some("facts") => {
            let fact = |text: &Value| {
                json!([format!(
                    "The user said: {}",
                    text.as_str().unwrap_or_default()
                )])
            };
            UpstreamReply::completion(
                &match serde_json::from_str(&asked.last()).unwrap_or_default() {
                    // One request covers several messages.
                    Value::Array(list) => {
                        let each = list
                            .iter()
                            .map(|item| (item["id"].to_string(), fact(&item["text"])));
                        Value::Object(each.collect()).to_string()
                    }
                    text => fact(&text).to_string(),
                },
            )
        }
        Some("reconcile") => {
            let new =
                serde_json::from_str::<Value>(&asked.last()).unwrap_or_default()["new"].clone();
            let texts = new.as_array().cloned().unwrap_or_default();
            let add = |text: Value| json!({ "event": "ADD", "text": text });
            UpstreamReply::completion(
                &Value::Array(texts.into_iter().map(add).collect()).to_string(),
            )
        }
        _ => UpstreamReply::completion("Fine."),
    });
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "llm:\n  calls_a_day: 2\n");
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let mut warnings = Vec::new();
    // Extraction runs in the background: the budget is exhausted after some turns.
    for number in 0..1000 {
        let answer = proxy.send_message(&format!("I like tea number {number}."));
        warnings.extend(answer.header("memory-warning").map(str::to_owned));
        if !warnings.is_empty() && 20 < number {
            break;
        }
    }
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("the daily budget of 2 calls is exhausted"),
        "{warnings:?}"
    );
    proxy.stop();
    let usage = sandbox.run_json(&["usage"]);
    assert_eq!(
        (
            usage["today"]["calls"].clone(),
            usage["left"]["calls"].clone()
        ),
        (json!(2), json!(0))
    );
}
