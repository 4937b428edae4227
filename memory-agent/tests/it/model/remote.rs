//! Embeddings of a remote model.

use std::num::NonZeroUsize;
use std::time::Duration;

use memory_agent::model::{RemoteEmbedder, RemoteSettings};
use memory_core::testing::embedder_suite;
use memory_core::{EmbedError, Embedder};
use serde_json::{Value, json};

use super::server::{ModelTestServer, Reply};

const KEY: &str = "sk-0123456789abcdef";

fn settings(base_url: &str) -> RemoteSettings {
    let first_pause = Duration::from_millis(1);
    RemoteSettings {
        api_key: Some(KEY.parse().expect("it is a key")),
        first_pause,
        tries: 3,
        ..RemoteSettings::new(base_url, "some-model")
    }
}

fn ok(data: &Value) -> Reply {
    Reply::Answer(
        200,
        "Content-Type: application/json\r\n",
        json!({"object": "list", "data": data, "model": "some-model"}).to_string(),
    )
}

fn one(vector: &Value) -> Reply {
    ok(&json!([{"object": "embedding", "index": 0, "embedding": vector}]))
}

fn refusal(status: u16, headers: &'static str, message: &str) -> Reply {
    Reply::Answer(
        status,
        headers,
        json!({"error": {"message": message, "type": "any"}}).to_string(),
    )
}

fn embed(server: &ModelTestServer, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
    RemoteEmbedder::new(settings(&server.base_url()))
        .expect("the address is sound")
        .embed(texts)
}

/// Returns the error after these replies, without the address, and the number of requests.
fn error_of(replies: Vec<Reply>) -> (String, usize) {
    let server = ModelTestServer::start(replies);
    let EmbedError { why, hint } =
        embed(&server, &["a red apple"]).expect_err("there is no vector");
    assert!(hint.is_some_and(|hint| !hint.is_empty()), "{why}");
    let what = why
        .strip_prefix(&format!("{}/embeddings ", server.base_url()))
        .expect("it names the endpoint")
        .to_owned();
    assert!(!why.contains(KEY), "{why}");
    (what, server.requests().len())
}

#[test]
fn it_keeps_the_promises_of_an_embedder() {
    let of = |index: usize, vector: &Value| json!({"index": index, "embedding": vector});
    let (red, none, dark) = (json!([2, 0, 0]), json!([0, -1, 0]), json!([0, 1, 1e-3]));
    let server = ModelTestServer::start(vec![ok(&json!([
        of(3, &red),
        of(1, &none),
        of(0, &red),
        of(2, &dark)
    ]))]);
    embedder_suite(
        &RemoteEmbedder::new(settings(&server.base_url())).expect("the address is sound"),
    );
    let asked = server.requests();
    assert_eq!(asked.len(), 1, "nothing is asked about no texts");
    assert_eq!(asked[0].line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!(
        asked[0].body,
        json!({"model": "some-model", "input": ["a red apple", ".", "深色模式", "a red apple"]})
    );
    let header = |name: &str| {
        asked[0]
            .headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    assert_eq!(header("authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(header("content-type"), Some("application/json".into()));
}

#[test]
fn vectors_come_in_the_order_of_the_texts_and_with_length_1() {
    let server = ModelTestServer::start(vec![ok(
        &json!([{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 4]}]),
    )]);
    assert_eq!(
        embed(&server, &["one", "two"]).expect("it answers"),
        [[0.6, 0.8], [0.0, 1.0]]
    );
}

#[test]
fn no_credential_is_sent_to_a_server_of_vectors() {
    let token = "ghp_k3JdQ9xZt7LwP2vBn8RsY5uHf1GmC4aEoT6i";
    let server = ModelTestServer::start(vec![one(&json!([1, 0]))]);
    embed(&server, &[&format!("the token {token}")]).expect("a vector");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("[redacted: GitHub token]"), "{body}");
    assert!(!body.contains(&token[4..]), "{body}");
}

#[test]
fn many_texts_go_out_in_parts_and_long_ones_are_cut() {
    let pair = || ok(&json!([{"embedding": [1, 0]}, {"embedding": [0, 1]}]));
    let server = ModelTestServer::start(vec![pair(), pair(), one(&json!([1, 1]))]);
    let embedder = RemoteEmbedder::new(RemoteSettings {
        texts_at_once: NonZeroUsize::new(2).expect("it is not 0"),
        longest_text: NonZeroUsize::new(3).expect("it is not 0"),
        dimensions: NonZeroUsize::new(2),
        api_key: None,
        ..settings(&server.base_url())
    });
    let embedder = embedder.expect("the address is sound");
    assert!(
        embedder.identity().starts_with("some-model@127.0.0.1:")
            && embedder.identity().ends_with("/v1;2")
    );
    assert_eq!(
        embedder
            .embed(&["a", "bb", "ccc", "深色模式", " \n"])
            .expect("it answers")
            .len(),
        5
    );
    let asked = server.requests();
    let input: Vec<_> = asked
        .iter()
        .map(|asked| asked.body["input"].clone())
        .collect();
    assert_eq!(
        input,
        [json!(["a", "bb"]), json!(["ccc", "深色模"]), json!(["."])]
    );
    assert!(asked.iter().all(|asked| {
        asked.body["dimensions"] == 2
            && asked
                .headers
                .iter()
                .all(|(name, _)| name != "authorization")
    }));
}

#[test]
fn what_is_broken_for_a_moment_is_asked_again() {
    let vector = || one(&json!([1, 0]));
    for replies in [
        vec![refusal(500, "", "oops"), vector()],
        vec![refusal(503, "", "busy"), refusal(502, "", "busy"), vector()],
        vec![refusal(429, "Retry-After: 0\r\n", "slow down"), vector()],
        vec![
            refusal(
                429,
                "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
                "slow down",
            ),
            vector(),
        ],
        vec![Reply::Close, vector()],
        vec![Reply::Break, vector()],
    ] {
        let count = replies.len();
        let server = ModelTestServer::start(replies);
        assert_eq!(
            embed(&server, &["a red apple"]).expect("it answers in the end"),
            [[1.0, 0.0]]
        );
        assert_eq!(server.requests().len(), count);
    }
}

#[test]
fn what_stays_broken_is_given_up() {
    let always = |reply: Reply| error_of(vec![reply; 9]);
    assert_eq!(
        always(refusal(500, "", "oops")),
        ("responded with status 500: oops, 3 times".into(), 3)
    );
    assert_eq!(
        always(refusal(429, "", "slow down")),
        ("responded with status 429: slow down, 3 times".into(), 3)
    );
    let (why, times) = always(Reply::Close);
    assert!(
        why.starts_with("cannot be ") && why.ends_with(", 3 times") && times == 3,
        "{why}"
    );
    let too_long = always(refusal(
        429,
        "Retry-After: 3600\r\n",
        "come back in an hour",
    ));
    assert_eq!(
        too_long,
        ("responded with status 429: come back in an hour".into(), 1),
        "nobody waits for an hour"
    );
}

#[test]
fn what_will_not_change_is_not_asked_again() {
    let once = |reply: Reply| {
        let (why, times) = error_of(vec![reply; 2]);
        assert_eq!(times, 1, "{why}");
        why
    };
    let unauthorised = once(refusal(
        401,
        "",
        &format!("Incorrect API key provided: {KEY}."),
    ));
    assert_eq!(
        unauthorised,
        "responded with status 401: Incorrect API key provided: [key]."
    );
    assert_eq!(
        once(refusal(404, "", "no such model")),
        "responded with status 404: no such model"
    );
    assert_eq!(
        once(refusal(400, "", "too\nlong \u{1b}[31m")),
        "responded with status 400: too long [31m"
    );
    assert_eq!(
        once(Reply::Answer(418, "", "<html>teapot</html>".into())),
        "responded with status 418"
    );
    let elsewhere = "Location: https://elsewhere.example/v1/embeddings?key=secret\r\n";
    for status in [301, 302, 307, 308] {
        let what = once(Reply::Answer(status, elsewhere, String::new()));
        assert_eq!(
            what,
            format!("redirects to https://elsewhere.example/v1/embeddings ({status})")
        );
    }
}

#[test]
fn an_answer_that_is_no_list_of_vectors_is_told() {
    let once = |reply: Reply| {
        let (why, times) = error_of(vec![reply; 2]);
        assert_eq!(times, 1, "{why}");
        why
    };
    let garbage = once(Reply::Answer(200, "", "<html>Welcome!</html>".into()));
    assert_eq!(
        garbage,
        "responded with no list of vectors (expected value at line 1 column 1)"
    );
    assert!(
        once(Reply::Answer(
            200,
            "",
            r#"{"data":[{"embedding":[NaN]}]}"#.into()
        ))
        .starts_with("responded with no list of vectors")
    );
    assert!(
        once(one(&json!([1, null])))
            .starts_with("responded with no list of vectors (invalid type: null, expected f64")
    );
    assert_eq!(
        once(one(&json!([0, 0]))),
        "responded with a zero or non-finite vector"
    );
    assert_eq!(
        once(one(&json!([]))),
        "responded with a zero or non-finite vector"
    );
    assert_eq!(once(ok(&json!([]))), "responded with 0 vectors for 1 texts");
    let two = json!([{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]);
    assert_eq!(once(ok(&two)), "responded with 2 vectors for 1 texts");
    assert_eq!(
        once(ok(&json!([{"index": 1, "embedding": [1]}]))),
        "responded with a vector for no text"
    );
}

#[test]
fn all_vectors_have_as_many_numbers() {
    let server = ModelTestServer::start(vec![ok(
        &json!([{"embedding": [1, 0]}, {"embedding": [1, 0, 0]}]),
    )]);
    let error = embed(&server, &["one", "two"]).expect_err("they differ");
    assert!(
        error
            .why
            .ends_with("/v1/embeddings responded with a vector of 3 instead of 2 dimensions"),
        "{error}"
    );

    let server = ModelTestServer::start(vec![one(&json!([1, 0])), one(&json!([1, 0, 0]))]);
    let embedder = RemoteEmbedder::new(settings(&server.base_url())).expect("the address is sound");
    embedder.embed(&["one"]).expect("it answers");
    embedder
        .embed(&["two"])
        .expect_err("the model is another one by now");

    let server = ModelTestServer::start(vec![one(&json!([1, 0]))]);
    let wanted = RemoteSettings {
        dimensions: NonZeroUsize::new(3),
        ..settings(&server.base_url())
    };
    let error = RemoteEmbedder::new(wanted)
        .expect("the address is sound")
        .embed(&["one"])
        .expect_err("it has not what was asked for");
    assert!(
        error.why.ends_with("a vector of 2 instead of 3 dimensions"),
        "{error}"
    );
}

#[test]
fn a_server_that_says_nothing_is_left() {
    let server = ModelTestServer::start(vec![Reply::Hang, Reply::Hang]);
    let impatient = RemoteSettings {
        timeout: Duration::from_millis(50),
        tries: 2,
        ..settings(&server.base_url())
    };
    let error = RemoteEmbedder::new(impatient)
        .expect("the address is sound")
        .embed(&["one"])
        .expect_err("it says nothing");
    assert!(
        error
            .why
            .ends_with("/v1/embeddings did not respond in time, 2 times"),
        "{error}"
    );
}

#[test]
fn nobody_at_the_address_is_told() {
    let server = ModelTestServer::start(Vec::new());
    let base_url = server.base_url();
    drop(server);
    let error = RemoteEmbedder::new(settings(&base_url))
        .expect("the address is sound")
        .embed(&["one"])
        .expect_err("nobody is there");
    assert!(
        error
            .why
            .starts_with(&format!("{base_url}/embeddings cannot be reached (")),
        "{error}"
    );
    assert!(error.hint.is_some_and(|hint| hint.contains("running")));
}

#[test]
fn an_address_that_cannot_be_used_is_refused_without_being_said() {
    for bad in [
        "localhost:11434/v1",
        "https://me:secret@host/v1",
        "https://host/v1?key=secret",
    ] {
        let EmbedError { why, hint } =
            RemoteEmbedder::new(settings(bad)).expect_err("it is not a URL");
        assert!(
            why.starts_with("invalid URL of the embedding model: ")
                && !why.contains("secret")
                && hint.is_some(),
            "{why}"
        );
    }
    let proxy = RemoteSettings {
        proxy: Some("::secret::".into()),
        ..settings("https://host/v1")
    };
    let error = RemoteEmbedder::new(proxy).expect_err("it is no proxy");
    assert_eq!(error.why, "invalid URL of the proxy");
}

#[test]
fn neither_key_nor_password_is_ever_shown() {
    let proxy = Some("http://me:hunter2@proxy.example:3128".into());
    let settings = RemoteSettings {
        proxy,
        ..settings("https://host/v1")
    };
    let shown = format!(
        "{settings:?} {:#?}",
        RemoteEmbedder::new(settings.clone()).expect("the address is sound")
    );
    assert!(
        !shown.contains(KEY) && shown.contains("ApiKey(…)"),
        "{shown}"
    );
    assert!(!shown.contains("hunter2"), "{shown}");
}
