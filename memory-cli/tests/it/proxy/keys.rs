//! Tests of the API keys that the proxy sends to servers, and of their redaction.

use memory_core::testing::wait_until;
use serde_json::json;

use super::process::ProxyProcess;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

/// Starts a model that answers chats and embedding requests.
fn model() -> FakeUpstream {
    FakeUpstream::start(|asked: &UpstreamRequest| {
        if !asked.line.ends_with("/embeddings") {
            return UpstreamReply::completion("Fine.");
        }
        let texts = asked.json()["input"].as_array().map_or(1, Vec::len);
        let data: Vec<_> = (0..texts)
            .map(|index| json!({ "index": index, "embedding": [1.0, 0.5] }))
            .collect();
        UpstreamReply::Whole(
            200,
            "Content-Type: application/json\r\n",
            json!({ "data": data }).to_string(),
        )
    })
}

/// Returns the `Authorization` headers of the embedding requests for a text.
fn embedding_keys(upstream: &FakeUpstream, text: &str) -> Vec<Option<String>> {
    let all = upstream
        .client_requests()
        .into_iter()
        .filter(|asked| asked.line.ends_with("/embeddings") && asked.body.contains(text));
    all.map(|asked| asked.header("authorization").map(str::to_owned))
        .collect()
}

const FLAGS: [&str; 4] = [
    "--no-summarization",
    "--no-git-versioning",
    "--embedding-model",
    "m",
];

fn send_with_key(proxy: &ProxyProcess, key: &str, text: &str) {
    let chat =
        json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }).to_string();
    let answer = proxy.request(
        "POST /v1/chat/completions",
        &format!("Authorization: Bearer {key}\r\n"),
        &chat,
    );
    assert_eq!(answer.status, Some(200), "{text}");
}

/// Chats until a message is embedded before its answer; vectors are computed in the background.
fn chat_until_embedded(
    proxy: &ProxyProcess,
    upstream: &FakeUpstream,
    key: &str,
    text: &str,
) -> Vec<Option<String>> {
    wait_until("a message is embedded", || {
        send_with_key(proxy, key, text);
        !embedding_keys(upstream, text).is_empty()
    });
    embedding_keys(upstream, text)
}

#[test]
fn embeddings_at_the_models_server_are_asked_for_with_the_key_of_each_client() {
    let upstream = model();
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &FLAGS);
    assert_eq!(
        chat_until_embedded(&proxy, &upstream, "sk-anna", "Anna likes tea")[0].as_deref(),
        Some("Bearer sk-anna")
    );
    // Stored vectors exist now, so each message is embedded before its answer.
    for (key, text) in [
        ("sk-ben", "Ben asks about tea"),
        ("sk-carl", "Carl asks about tea"),
    ] {
        let found = chat_until_embedded(&proxy, &upstream, key, text);
        assert_eq!(
            found[0].as_deref(),
            Some(format!("Bearer {key}").as_str()),
            "{found:?}"
        );
    }
}

#[test]
fn a_clients_key_goes_to_no_other_server() {
    let (upstream, elsewhere) = (model(), model());
    let sandbox = Sandbox::new();
    let elsewhere_url = elsewhere.base_url();
    let flags = [&FLAGS[..], &["--embedding-base-url", &elsewhere_url]].concat();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &flags);
    assert_eq!(
        chat_until_embedded(&proxy, &elsewhere, "sk-anna", "Anna likes tea")[0],
        None
    );
}

#[test]
fn a_token_of_the_proxy_goes_to_no_server() {
    let upstream = model();
    let sandbox = Sandbox::new();
    let flags = [
        &FLAGS[..],
        &["--auth-token", "t0ken", "--openai-api-key", "sk-own"],
    ]
    .concat();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &flags);
    let found = chat_until_embedded(&proxy, &upstream, "t0ken", "Anna likes tea");
    assert_eq!(found[0].as_deref(), Some("Bearer sk-own"), "{found:?}");
    assert!(
        upstream
            .client_requests()
            .iter()
            .all(|asked| asked.header("authorization") == Some("Bearer sk-own"))
    );
}

#[test]
fn a_key_may_be_given_in_several_ways_and_is_never_shown() {
    let upstream = model();
    let sandbox = Sandbox::new();
    let asked_with = |variables: &[(&str, &str)], flags: &[&str]| {
        let (place, url) = (
            sandbox.path("mem").display().to_string(),
            upstream.base_url(),
        );
        let usual = [
            "proxy",
            "--json",
            "--port",
            "0",
            "--openai-base-url",
            &url,
            "--memory-path",
            &place,
        ];
        let mut command = sandbox.command(
            &[
                &usual[..],
                &["--no-summarization", "--no-git-versioning"],
                flags,
            ]
            .concat(),
        );
        command.envs(variables.iter().copied());
        let proxy = ProxyProcess::of(command);
        let began = proxy.begun.to_string();
        proxy.request("GET /v1/models", "", "");
        let (_, told) = proxy.stop();
        assert!(
            !began.contains("sk-") && !told.contains("sk-"),
            "{began} {told}"
        );
        upstream
            .client_requests()
            .pop()
            .expect("it was asked")
            .header("authorization")
            .map(str::to_owned)
    };
    let usual = ("OPENAI_API_KEY", "sk-usual");
    assert_eq!(asked_with(&[], &[]), None);
    assert_eq!(
        asked_with(&[usual], &[]).as_deref(),
        Some("Bearer sk-usual")
    );
    assert_eq!(
        asked_with(&[("OPENAI_API_KEY", " sk-usual\n")], &[]).as_deref(),
        Some("Bearer sk-usual")
    );
    assert_eq!(
        asked_with(&[usual], &["--openai-api-key", "sk-flag"]).as_deref(),
        Some("Bearer sk-flag")
    );
    let own = [usual, ("MEMORY_PROXY_OPENAI_API_KEY", "sk-own")];
    assert_eq!(asked_with(&own, &[]).as_deref(), Some("Bearer sk-own"));
    let named = [
        usual,
        ("OTHER", "sk-other"),
        ("MEMORY_PROXY_OPENAI_API_KEY", "sk-own"),
    ];
    assert_eq!(
        asked_with(&named, &["--openai-api-key-env", "OTHER"]).as_deref(),
        Some("Bearer sk-other")
    );
    sandbox.run(&["config", "set", "proxy.openai_api_key", "sk-file"]);
    assert_eq!(asked_with(&[usual], &[]).as_deref(), Some("Bearer sk-file"));
    assert!(!sandbox.run(&["config", "show"]).contains("sk-"));
    assert!(
        !sandbox
            .run(&["config", "set", "proxy.openai_api_key", "sk-file"])
            .contains("sk-")
    );
    let wrong = |variables: &[(&str, &str)], flags: &[&str]| {
        let usual = [
            "proxy",
            "--port",
            "0",
            "--openai-base-url",
            "http://localhost:1/v1",
        ];
        let said = sandbox.run_with_all(variables, &[&usual[..], flags].concat());
        assert!(
            said.contains("--- exit 2") && !said.contains("sk-"),
            "{said}"
        );
        said
    };
    assert!(wrong(&[], &["--openai-api-key", "sk-a b"]).contains("--openai-api-key"));
    assert!(
        wrong(&[("MEMORY_PROXY_OPENAI_API_KEY", "sk-a b")], &[])
            .contains("MEMORY_PROXY_OPENAI_API_KEY")
    );
    sandbox.run(&["config", "set", "proxy.openai_api_key", "sk-file"]);
    assert!(wrong(&[("OTHER", "sk-a b")], &["--openai-api-key-env", "OTHER"]).contains("OTHER"));
}
