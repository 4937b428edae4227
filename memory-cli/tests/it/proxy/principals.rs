//! Tests of the chat proxy in a server that principals of a shared database call with their tokens.

use serde_json::{Value, json};

use super::clients::{find_program, model, python_client};
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::principal_http::PrincipalHomes;
use crate::serve_http::HttpServerProcess;

/// Answers like the model of the clients, and extracts where the user lives.
fn model_with_facts(asked: &UpstreamRequest) -> UpstreamReply {
    let last = asked.last();
    match asked.purpose() {
        Some("facts") if last.contains("Ghent") => {
            UpstreamReply::completion(r#"["The user lives in Ghent."]"#)
        }
        Some("facts") if last.contains("Lyon") => {
            UpstreamReply::completion(r#"["The user lives in Lyon."]"#)
        }
        Some("summary") => UpstreamReply::completion("Lives somewhere."),
        Some(_) => UpstreamReply::completion("[]"),
        None => model(asked),
    }
}

/// Sends a message in the conversation `talk`, and returns the memories that the model received with it.
fn chat(server: &HttpServerProcess, token: &str, text: &str) -> Vec<String> {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": text }], "memory_id": "talk" });
    let (status, answer) = server.post("/v1/chat/completions", token, &body.to_string());
    assert!(status.starts_with("HTTP/1.1 200 "), "{status}: {answer}");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let hits = answer["memory_hits"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    hits.iter()
        .map(|hit| hit["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn principals_chat_on_the_server_of_the_owner_and_each_recalls_only_its_own_conversations() {
    let Some(folder) = find_program() else {
        return;
    };
    let Some(homes) = PrincipalHomes::new("principals in the chat proxy") else {
        return;
    };
    let upstream = FakeUpstream::start(model_with_facts);
    let [ada, bob] = ["ada", "bob"].map(|name| homes.token(name));
    let run = |command: &str| homes.sandbox.run_shell(command);
    run(&format!(
        "memory --root owner config set proxy.openai_base_url {}",
        upstream.base_url()
    ));
    run("memory --root owner config set proxy.openai_api_key sk-node");
    run("memory --root owner config set proxy.memory_timeout 60s");
    let server = homes.serve("owner");
    for what in ["say", "ask"] {
        let mut client = python_client(&folder);
        client
            .env("MEMORY_TEST_CLIENT_KEY", &ada)
            .args([&format!("{}/v1", server.url()), what]);
        let output = client.output().expect("it runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{what}: {said}");
    }
    assert_eq!(chat(&server, &bob, "What is my dog called?"), [""; 0]);
    chat(&server, &ada, "I live in Ghent.");
    chat(&server, &bob, "I live in Lyon.");
    assert_eq!(server.stop(), Some(0));
    for scope in [
        "private:ada",
        "team:web",
        "conversation:talk",
        "agent:claude",
    ] {
        run(&format!(
            "memory --root owner write 'Always answer as in {scope}.' --role person --scope {scope}"
        ));
    }

    let server = homes.serve("owner");
    let of_ada = chat(&server, &ada, "Where do I live?");
    let of_bob = chat(&server, &bob, "Where do I live?");
    let has = |hits: &[String], text: &str| hits.iter().any(|hit| hit.contains(text));
    assert!(
        has(&of_ada, "The user lives in Ghent.") && !has(&of_ada, "Lyon"),
        "{of_ada:?}"
    );
    assert!(
        has(&of_bob, "The user lives in Lyon.") && !has(&of_bob, "Rex") && !has(&of_bob, "Ghent"),
        "{of_bob:?}"
    );
    for (hits, expected) in [
        (&of_ada, ["private:ada", "team:web"].as_slice()),
        (&of_bob, &["team:web"]),
    ] {
        let mut standing: Vec<_> = hits
            .iter()
            .filter_map(|hit| hit.strip_prefix("Always answer as in "))
            .collect();
        standing.sort_unstable();
        assert_eq!(
            standing,
            expected
                .iter()
                .map(|scope| format!("{scope}."))
                .collect::<Vec<_>>()
        );
    }
    assert_eq!(
        chat(&server, "s3cret", "Where do I live?"),
        ["Always answer as in conversation:talk."]
    );
    for (method, path) in [
        ("GET", "/v1/files"),
        ("GET", "/v1/chat/completions"),
        ("GET", "/v1/models/../files"),
    ] {
        let answer = if method == "GET" {
            server.get(path, &ada)
        } else {
            server.post(path, &ada, "{}")
        };
        assert_eq!(answer.0, "HTTP/1.1 403 Forbidden", "{path}: {}", answer.1);
    }
    let asked = upstream.client_requests();
    assert!(
        asked
            .iter()
            .all(|request| request.header("authorization") == Some("Bearer sk-node"))
    );

    // The machine of a principal has its conversations, and that of the owner has none of them.
    homes.init("ada");
    let turns = |home: &str| {
        homes
            .sandbox
            .run_json(&["--root", home, "conversations", "show", "talk"])
    };
    assert!(turns("ada").to_string().contains("Rex"));
    assert!(
        !turns("owner").to_string().contains("Rex") && !turns("owner").to_string().contains("Lyon")
    );
    run("memory --root owner principal revoke ada");
    let refused = server.post(
        "/v1/chat/completions",
        &ada,
        r#"{"model":"m","messages":[]}"#,
    );
    assert_eq!(refused.0, "HTTP/1.1 401 Unauthorized");
    assert_eq!(upstream.client_requests().len(), asked.len());
    assert!(has(&chat(&server, &bob, "Where do I live?"), "Lyon"));
}
