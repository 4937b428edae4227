//! Responses of a remote language model.

use std::time::{Duration, Instant};

use memory_agent::model::{ChatSettings, RemoteChat};
use memory_core::testing::chat_suite;
use memory_core::{
    ChatAnswer, ChatError, ChatMessage, ChatModel, ChatRequest, ChatRole, Code, Purpose, TokenUsage,
};
use serde_json::{Value, json};

use super::server::{ModelTestServer, Reply};

const KEY: &str = "sk-0123456789abcdef";
const JSON: &str = "Content-Type: application/json\r\n";

fn settings(base_url: &str) -> ChatSettings {
    ChatSettings {
        api_key: Some(KEY.parse().expect("it is a key")),
        first_pause: Duration::from_millis(1),
        tries: 3,
        ..ChatSettings::new(base_url, "some-model")
    }
}

fn request() -> ChatRequest {
    let message = |role, content: &str| ChatMessage {
        role,
        content: content.into(),
    };
    let messages = vec![
        message(ChatRole::System, "Answer in one word."),
        message(ChatRole::User, "Is it?"),
    ];
    ChatRequest {
        purpose: Purpose::of("test"),
        messages,
        max_tokens: 20,
    }
}

fn choice(message: &Value, reason: &str) -> Reply {
    let usage = json!({"prompt_tokens": 15, "completion_tokens": 3, "total_tokens": 18});
    let choices =
        json!([{"index": 0, "message": message, "finish_reason": reason, "logprobs": null}]);
    Reply::Answer(
        200,
        JSON,
        json!({"object": "chat.completion", "choices": choices, "usage": usage}).to_string(),
    )
}

fn reply_with(content: &str) -> Reply {
    choice(&json!({"role": "assistant", "content": content}), "stop")
}

fn refusal(status: u16, headers: &'static str, message: &str) -> Reply {
    Reply::Answer(
        status,
        headers,
        json!({"error": {"message": message, "type": "any"}}).to_string(),
    )
}

fn answer(server: &ModelTestServer) -> Result<ChatAnswer, ChatError> {
    RemoteChat::new(settings(&server.base_url()))
        .expect("the address is sound")
        .answer(&request())
}

/// Returns the error after these replies: its code and message, and the number of requests.
fn error_of(replies: Vec<Reply>) -> (Code, String, usize) {
    let server = ModelTestServer::start(replies);
    let error = answer(&server).expect_err("no response");
    let why = error.to_string();
    assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{why}");
    assert!(
        !why.contains(KEY) && !format!("{error:?}").contains(KEY),
        "{why}"
    );
    let (_, what) = why
        .split_once(&format!(": {}/chat/completions ", server.base_url()))
        .expect("it names the endpoint");
    (error.code(), what.to_owned(), server.requests().len())
}

fn error_without_retry(reply: Reply) -> (Code, String) {
    let (code, what, times) = error_of(vec![reply; 3]);
    assert_eq!(times, 1, "{what}");
    (code, what)
}

#[test]
fn it_keeps_the_promises_of_a_chat_model() {
    let server = ModelTestServer::start(vec![reply_with("Yes.")]);
    chat_suite(&RemoteChat::new(settings(&server.base_url())).expect("the address is sound"));
}

#[test]
fn a_question_goes_out_as_every_server_knows_it_and_the_answer_tells_its_tokens() {
    let server = ModelTestServer::start(vec![reply_with("Yes.")]);
    let ChatAnswer { text, tokens } = answer(&server).expect("it answers");
    assert_eq!(
        (text.as_str(), tokens),
        (
            "Yes.",
            TokenUsage {
                prompt: 15,
                answer: 3,
                estimated: false
            }
        )
    );
    let asked = server.requests();
    assert_eq!(asked[0].line, "POST /v1/chat/completions HTTP/1.1");
    let messages = json!([{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "Is it?"}]);
    assert_eq!(
        asked[0].body,
        json!({"model": "some-model", "messages": messages, "max_tokens": 20, "stream": false})
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
fn no_credential_is_sent_to_a_model() {
    let token = "ghp_k3JdQ9xZt7LwP2vBn8RsY5uHf1GmC4aEoT6i";
    let mut request = request();
    request.messages[1].content = format!("Use the token {token} for it.");
    let server = ModelTestServer::start(vec![reply_with("Yes.")]);
    RemoteChat::new(settings(&server.base_url()))
        .expect("the address is sound")
        .answer(&request)
        .expect("it answers");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("[redacted: GitHub token]"), "{body}");
    assert!(!body.contains(&token[4..]), "{body}");
}

#[test]
fn without_usage_the_tokens_are_estimated() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": "Yes, it is."}, "finish_reason": "stop"}]});
    // The content type does not matter if the body is valid.
    let server = ModelTestServer::start(vec![Reply::Answer(
        200,
        "Content-Type: text/plain\r\n",
        body.to_string(),
    )]);
    let tokens = answer(&server).expect("it answers").tokens;
    assert_eq!(
        tokens,
        TokenUsage {
            prompt: 7 + 2 + 2 * 8,
            answer: 4,
            estimated: true
        }
    );
}

#[test]
fn an_answer_in_parts_is_put_together_without_what_is_no_part_of_it() {
    let parts = json!([
        {"type": "thinking", "text": "Is it not?"},
        {"type": "text", "text": "Yes, "},
        {"type": "image_url", "image_url": {"url": "https://host/a.png"}},
        {"type": "text", "text": "it is."},
    ]);
    let server = ModelTestServer::start(vec![
        choice(&json!({"content": parts}), "stop"),
        reply_with("<think>Is it?</think>\nYes."),
    ]);
    assert_eq!(answer(&server).expect("it answers").text, "Yes, it is.");
    assert_eq!(answer(&server).expect("it answers").text, "Yes.");
}

#[test]
fn what_is_broken_for_a_moment_is_asked_again() {
    for replies in [
        vec![refusal(500, "", "oops"), reply_with("Yes.")],
        vec![
            refusal(503, "", "busy"),
            refusal(502, "", "busy"),
            reply_with("Yes."),
        ],
        vec![
            refusal(429, "Retry-After: 0\r\n", "slow down"),
            reply_with("Yes."),
        ],
        vec![Reply::Close, reply_with("Yes.")],
        vec![Reply::Break, reply_with("Yes.")],
    ] {
        let count = replies.len();
        let server = ModelTestServer::start(replies);
        assert_eq!(answer(&server).expect("it answers in the end").text, "Yes.");
        assert_eq!(server.requests().len(), count);
    }
}

#[test]
fn nobody_is_asked_before_they_want_to_be() {
    let server = ModelTestServer::start(vec![
        refusal(429, "Retry-After: 1\r\n", "slow down"),
        reply_with("Yes."),
    ]);
    let start = Instant::now();
    assert_eq!(answer(&server).expect("it answers in the end").text, "Yes.");
    assert!(
        Duration::from_secs(1) <= start.elapsed(),
        "it waited {:?}",
        start.elapsed()
    );
    let headers =
        "Date: Wed, 21 Oct 2026 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2026 08:28:00 GMT\r\n";
    for too_long in ["Retry-After: 3600\r\n", headers] {
        let (code, what) = error_without_retry(refusal(429, too_long, "come back in an hour"));
        assert_eq!(
            (code, what.as_str()),
            (
                Code::ModelRefused,
                "responded with status 429: come back in an hour"
            ),
            "nobody waits so long"
        );
    }
}

#[test]
fn what_stays_broken_is_given_up() {
    let always = |reply: Reply| error_of(vec![reply; 9]);
    assert_eq!(
        always(refusal(500, "", "oops")),
        (
            Code::ModelRefused,
            "responded with status 500: oops, 3 times".into(),
            3
        )
    );
    assert_eq!(
        always(refusal(429, "", "slow down")),
        (
            Code::ModelRefused,
            "responded with status 429: slow down, 3 times".into(),
            3
        )
    );
    let (code, what, times) = always(Reply::Break);
    assert!(
        code == Code::ModelFailed && what.starts_with("cannot be ") && times == 3,
        "{what}"
    );
}

#[test]
fn what_will_not_change_is_not_asked_again() {
    let refused = |reply| {
        let (code, what) = error_without_retry(reply);
        assert_eq!(code, Code::ModelRefused, "{what}");
        what
    };
    let unauthorised = refused(refusal(
        401,
        "",
        &format!("Incorrect API key provided: {KEY}."),
    ));
    assert_eq!(
        unauthorised,
        "responded with status 401: Incorrect API key provided: [key]."
    );
    assert_eq!(
        refused(refusal(404, "", "no such model")),
        "responded with status 404: no such model"
    );
    assert_eq!(
        refused(refusal(200, JSON, "no credits")),
        "refused the request: no credits",
        "some refuse with 200"
    );
    let elsewhere = "Location: https://elsewhere.example/v1/chat/completions?key=secret\r\n";
    for status in [301, 302, 307, 308] {
        let what = refused(Reply::Answer(status, elsewhere, String::new()));
        assert_eq!(
            what,
            format!("redirects to https://elsewhere.example/v1/chat/completions ({status})")
        );
    }
}

#[test]
fn a_model_may_refuse_as_well() {
    let refused = |message: Value, reason| error_without_retry(choice(&message, reason));
    let no = json!({"content": null, "refusal": "I cannot help with that."});
    assert_eq!(
        refused(no, "stop"),
        (
            Code::ModelRefused,
            "refused the request: I cannot help with that.".into()
        )
    );
    let part = json!({"content": [{"type": "refusal", "refusal": "No."}]});
    assert_eq!(
        refused(part, "stop"),
        (Code::ModelRefused, "refused the request: No.".into())
    );
    let filtered = json!({"content": "Half an ans"});
    assert_eq!(
        refused(filtered, "content_filter"),
        (
            Code::ModelRefused,
            "refused the request: its content filter blocked the response".into()
        )
    );
}

#[test]
fn an_answer_that_is_no_whole_text_is_told_with_what_it_took() {
    let unreadable = |reply| {
        let (code, what) = error_without_retry(reply);
        assert_eq!(code, Code::ModelUnreadable, "{what}");
        what
    };
    let body = |body: &str| unreadable(Reply::Answer(200, JSON, body.into()));
    let page = unreadable(Reply::Answer(
        200,
        "Content-Type: text/html\r\n",
        "<html>Welcome!</html>".into(),
    ));
    assert_eq!(
        page,
        "responded with invalid JSON (expected value at line 1 column 1)"
    );
    assert!(
        body("{\"choices\":[{\"message\":")
            .starts_with("responded with invalid JSON (EOF while parsing")
    );
    assert!(
        body("data: {\"choices\":[]}\n\ndata: [DONE]\n")
            .starts_with("responded with invalid JSON ("),
        "it was not to be a stream"
    );
    assert_eq!(body("{\"choices\":[]}"), "responded without choices");
    assert_eq!(body("[]"), "responded without choices");
    let message = |message, reason| unreadable(choice(&message, reason));
    let call =
        json!([{"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]);
    let calls = message(json!({"content": null, "tool_calls": call}), "tool_calls");
    assert_eq!(calls, "called a tool although none was offered");
    assert_eq!(
        message(json!({"content": null}), "stop"),
        "responded without text"
    );
    assert_eq!(
        message(json!({"content": " \n"}), "stop"),
        "responded without text"
    );
    assert_eq!(message(json!("Yes."), "stop"), "responded without text");
    assert_eq!(
        message(json!({"content": "Half an ans"}), "length"),
        "truncated its response after 3 tokens"
    );
    let error = answer(&ModelTestServer::start(vec![choice(
        &json!({"content": "Half"}),
        "length",
    )]))
    .expect_err("it breaks off");
    assert!(
        matches!(
            error,
            ChatError::Unreadable {
                tokens: TokenUsage {
                    prompt: 15,
                    answer: 3,
                    ..
                },
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn no_answer_is_read_without_end() {
    let (code, what) = error_without_retry(reply_with(&"long ".repeat(2 << 20)));
    assert_eq!(
        (code, what.as_str()),
        (
            Code::ModelUnreadable,
            "responded with more than 8388608 bytes"
        )
    );
    let (code, what) = error_without_retry(Reply::Answer(200, JSON, "[".repeat(1 << 20)));
    assert!(
        code == Code::ModelUnreadable
            && what.starts_with("responded with invalid JSON (recursion limit exceeded"),
        "{what}"
    );
}

#[test]
fn a_server_that_says_nothing_is_left_and_not_asked_twice() {
    let server = ModelTestServer::start(vec![Reply::Hang, Reply::Hang]);
    let impatient = ChatSettings {
        timeout: Duration::from_millis(50),
        ..settings(&server.base_url())
    };
    let start = Instant::now();
    let error = RemoteChat::new(impatient)
        .expect("the address is sound")
        .answer(&request())
        .expect_err("it says nothing");
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "it is left in time"
    );
    assert_eq!(error.code(), Code::ModelTimeout);
    assert!(
        error
            .to_string()
            .ends_with("/v1/chat/completions did not respond in time"),
        "{error}"
    );
    assert_eq!(
        server.requests().len(),
        1,
        "an answer that nobody waits for may have to be paid as well"
    );
}

#[test]
fn nobody_at_the_address_is_told() {
    let server = ModelTestServer::start(Vec::new());
    let base_url = server.base_url();
    drop(server);
    let model = RemoteChat::new(settings(&base_url)).expect("the address is sound");
    let error = model.answer(&request()).expect_err("nobody is there");
    assert!(
        matches!(error, ChatError::Unreachable(_)) && error.code() == Code::ModelFailed,
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains(&format!("{base_url}/chat/completions cannot be reached (")),
        "{error}"
    );
}

#[test]
fn the_newer_name_of_the_longest_answer_is_used_where_it_is_asked_for() {
    let wants = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let server = ModelTestServer::start(vec![
        refusal(400, JSON, wants),
        reply_with("Yes."),
        reply_with("Yes."),
        refusal(400, JSON, wants),
    ]);
    let model = RemoteChat::new(settings(&server.base_url())).expect("the address is sound");
    assert_eq!(model.answer(&request()).expect("it answers").text, "Yes.");
    assert_eq!(model.answer(&request()).expect("it answers").text, "Yes.");
    model
        .answer(&request())
        .expect_err("it is not asked in turns without end");
    let names = |asked: &Value| {
        (
            asked.get("max_tokens").is_some(),
            asked.get("max_completion_tokens").is_some(),
        )
    };
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|asked| names(&asked.body))
        .collect();
    assert_eq!(
        asked,
        [(true, false), (false, true), (false, true), (false, true)]
    );
}

#[test]
fn an_address_that_cannot_be_used_is_refused_without_being_said() {
    for bad in [
        "localhost:11434/v1",
        "https://me:secret@host/v1",
        "https://host/v1?key=secret",
    ] {
        let error = RemoteChat::new(settings(bad)).expect_err("it is not a URL");
        let why = error.to_string();
        assert!(
            why.starts_with("the language model cannot be used: its URL is invalid: "),
            "{why}"
        );
        assert!(
            !why.contains("secret")
                && error.hint().is_some()
                && error.code() == Code::ConfigInvalid,
            "{why}"
        );
    }
    let proxy = ChatSettings {
        proxy: Some("::secret::".into()),
        ..settings("https://host/v1")
    };
    let error = RemoteChat::new(proxy).expect_err("it is no proxy");
    assert_eq!(
        error.to_string(),
        "the language model cannot be used: invalid URL of the proxy"
    );
}

#[test]
fn neither_key_nor_password_is_ever_shown() {
    let proxy = Some("http://me:hunter2@proxy.example:3128".into());
    let settings = ChatSettings {
        proxy,
        ..settings("https://host/v1")
    };
    let shown = format!(
        "{settings:?} {:#?}",
        RemoteChat::new(settings.clone()).expect("the address is sound")
    );
    assert!(
        !shown.contains(KEY) && shown.contains("ApiKey(…)"),
        "{shown}"
    );
    assert!(!shown.contains("hunter2"), "{shown}");
}
