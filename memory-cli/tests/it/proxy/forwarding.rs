//! Tests of how the proxy forwards requests and responses.

use std::io::BufReader;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::process::{HttpResponse, ProxyProcess, read_chunk, read_head};
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest, completion_events};
use crate::sandbox::Sandbox;

const QUIET_FLAGS: &[&str] = &["--no-summarization", "--no-git-versioning"];

#[test]
fn a_stream_passes_byte_for_byte_as_it_comes_and_is_heard() {
    let (tell, go_on) = channel();
    let go_on = Mutex::new(Some(go_on));
    let mut pieces = completion_events(&["Hel", "lo 世", "界"]);
    // One event is split within a character; other lines precede the events.
    let cut = pieces[1].len() - 20;
    let rest = pieces[1].split_off(cut);
    pieces.insert(2, rest);
    pieces.insert(0, b": keep-alive\n\nevent: ping\ndata:\n\n".to_vec());
    let sent = pieces.clone();
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        let go_on = go_on.lock().expect("nobody panics here").take();
        UpstreamReply::Stream {
            pieces: pieces.clone(),
            go_on,
            is_whole: true,
        }
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let body =
        json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "Hi" }] });
    let mut reader = BufReader::new(proxy.send("POST /v1/chat/completions", "", &body.to_string()));
    let mut is_head_read = false;
    for piece in &sent {
        tell.send(()).expect("the server waits for it");
        if !std::mem::replace(&mut is_head_read, true) {
            assert_eq!(read_head(&mut reader).0, Some(200));
        }
        // The model has not sent the next chunk yet.
        assert_eq!(read_chunk(&mut reader).as_ref(), Some(piece));
    }
    assert_eq!(read_chunk(&mut reader), Some(Vec::new()));
    proxy.stop();
    assert_eq!(stored_texts(&sandbox, "default/turns/user"), ["Hi"]);
    assert_eq!(
        stored_texts(&sandbox, "default/turns/assistant"),
        ["Hello 世界"]
    );
}

#[test]
fn whatever_else_is_asked_goes_there_and_back_as_it_is() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| {
        UpstreamReply::Whole(
            418,
            "X-Own: 1\r\nKeep-Alive: timeout=5\r\nContent-Type: text/plain\r\n",
            format!("[{}] {}", asked.line, asked.body),
        )
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let headers =
        "Authorization: Bearer sk-own\r\nX-Between: 1\r\nX-Through: ä\r\nConnection: X-Between\r\n";
    let answer = proxy.request("PUT /v1/files/a%2Fb?x=1&y=%20", headers, "not json\0");
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (Some(418), "[PUT /v1/files/a%2Fb?x=1&y=%20] not json\0")
    );
    assert_eq!(
        (answer.header("x-own"), answer.header("keep-alive")),
        (Some("1"), None)
    );
    let asked = upstream.client_requests().pop().expect("it was asked");
    assert_eq!(
        (asked.header("authorization"), asked.header("x-through")),
        (Some("Bearer sk-own"), Some("ä"))
    );
    assert_eq!(
        (asked.header("x-between"), asked.header("connection")),
        (None, None)
    );
    // Some applications omit `/v1`.
    assert_eq!(
        proxy.request("GET /models", "", "").text(),
        "[GET /v1/models] "
    );
    // An empty body is forwarded with its length, and the allowed methods are up to the upstream.
    proxy.request("POST /v1/files", "", "");
    let asked = upstream.client_requests().pop().expect("it was asked");
    assert_eq!(
        (asked.line.as_str(), asked.header("content-length")),
        ("POST /v1/files", Some("0"))
    );
    let listed = proxy.request("GET /v1/chat/completions?limit=2", "", "");
    assert_eq!(
        (listed.text().as_str(), listed.header("allow")),
        ("[GET /v1/chat/completions?limit=2] ", None)
    );
    // The upstream decides on a body that is no chat.
    for odd in ["", "{\"a\":", "[1]", "\u{feff}"] {
        let answer = proxy.request("POST /v1/chat/completions", "", odd);
        assert_eq!(
            (answer.status, answer.text()),
            (Some(418), format!("[POST /v1/chat/completions] {odd}"))
        );
    }
    let health = proxy.request("GET /health", "", "").json();
    assert_eq!(
        (&health["status"], &health["default_top_k"]),
        (&json!("ok"), &json!(5))
    );
}

#[test]
fn everything_in_a_chat_but_the_message_is_as_it_was_sent() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let body = "{\"model\":\"m\",\"seed\":100000000000000000001, \"temperature\":0.10,\"memory_id\":\"x\",\n \"messages\":[{\"role\":\"user\",\
                \"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,x\"}},{\"type\":\"text\",\"text\":\"\\u0041nd?\"}]}],\"tools\":[],\"zzz\":null}";
    proxy.request("POST /v1/chat/completions", "", body);
    assert_eq!(
        upstream.client_requests()[0].body,
        body.replace("\"memory_id\":\"x\",", "")
    );
}

#[test]
fn what_is_asked_for_in_pieces_passes_as_it_comes_whatever_it_is() {
    let (tell, go_on) = channel();
    let go_on = Mutex::new(Some(go_on));
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        let go_on = go_on.lock().expect("nobody panics here").take();
        UpstreamReply::Plain(
            vec![b"one".to_vec(), b"two".to_vec()],
            go_on.expect("it is asked once"),
        )
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let stream = proxy.send(
        "POST /v1/chat/completions",
        "",
        r#"{"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#,
    );
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .expect("a connection");
    let mut reader = BufReader::new(stream);
    for piece in ["one", "two"] {
        tell.send(()).expect("it waits");
        if piece == "one" {
            assert_eq!(read_head(&mut reader).0, Some(200));
        }
        // The model sends the next chunk only after this one arrived.
        assert_eq!(read_chunk(&mut reader).as_deref(), Some(piece.as_bytes()));
    }
}

#[test]
fn what_goes_wrong_behind_goes_wrong_in_front() {
    let raw = |kind: &str, body: &str| {
        UpstreamReply::Raw(format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}").into())
    };
    let upstream = FakeUpstream::start(move |asked: &UpstreamRequest| match asked.json()["model"]
        .as_str()
    {
        Some("busy") => UpstreamReply::Whole(
            429,
            "Retry-After: 1\r\nContent-Type: application/json\r\n",
            r#"{"error":{"code":"x"}}"#.into(),
        ),
        Some("close") => UpstreamReply::Close,
        Some("break") => UpstreamReply::Break,
        // The end of the connection is the end of these bodies.
        Some("cut json") => raw(
            "application/json",
            r#"{"choices":[{"message":{"content":"He"#,
        ),
        Some("cut stream") => raw("text/event-stream", "data: {\"choices\":[]}\n\n"),
        Some("cut event") => raw("text/event-stream", "data: {\"choices\":"),
        Some("old") => raw("application/json", "{\"error\":{}}"),
        Some("odd") => {
            UpstreamReply::Whole(200, "Content-Type: application/json\r\n", "<html>".into())
        }
        _ => UpstreamReply::Stream {
            pieces: completion_events(&["Hello"])[..1].to_vec(),
            go_on: None,
            is_whole: false,
        },
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let ask = |model: &str| {
        proxy.chat(&json!({ "model": model, "messages": [{ "role": "user", "content": "Hi" }] }))
    };
    let busy = ask("busy");
    assert_eq!(
        (busy.status, busy.header("retry-after")),
        (Some(429), Some("1"))
    );
    assert_eq!(busy.text(), r#"{"error":{"code":"x"}}"#);
    let closed = ask("close");
    assert_eq!(
        (closed.status, &closed.json()["error"]["code"]),
        (Some(502), &json!("MODEL_FAILED"))
    );
    let broken = ask("break");
    assert_eq!(
        (broken.status, broken.text().as_str(), broken.is_whole),
        (Some(200), "{\"data\":[", false)
    );
    // An error event follows the events of a stream that breaks off.
    let stream = ask("stream");
    let begin = String::from_utf8(completion_events(&["Hello"])[0].clone()).expect("text");
    let error = stream.text().strip_prefix(&begin).map(str::to_owned);
    let error: Value = error
        .as_deref()
        .and_then(|event| serde_json::from_str(event.strip_prefix("data: ")?).ok())
        .expect("an event");
    assert_eq!(
        (&error["error"]["code"], stream.is_whole),
        (&json!("MODEL_FAILED"), false)
    );
    for model in ["cut json", "cut stream", "cut event"] {
        let cut = ask(model);
        assert_eq!(
            (cut.status, cut.is_whole),
            (Some(200), false),
            "{model}: {}",
            cut.text()
        );
        assert_eq!(
            cut.text().contains("MODEL_FAILED"),
            model == "cut stream",
            "{model}: {}",
            cut.text()
        );
    }
    assert!(ask("old").is_whole);
    assert_eq!(ask("odd").text(), "<html>");
    proxy.stop();
    // An incomplete answer is not stored; the query is stored once.
    assert_eq!(stored_texts(&sandbox, "default/turns/assistant").len(), 0);
    assert_eq!(stored_texts(&sandbox, "default/turns/user"), ["Hi"]);
    let nobody = ProxyProcess::start(&sandbox, "http://127.0.0.1:1/v1", QUIET_FLAGS);
    let answer = nobody.send_message("Hi");
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (Some(502), &json!("MODEL_FAILED"))
    );
}

#[test]
fn whoever_goes_has_the_model_stop() {
    let (gone, left) = channel();
    let gone = Mutex::new(gone);
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        UpstreamReply::Hang(gone.lock().expect("nobody panics here").clone())
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    for line in ["POST /v1/chat/completions", "GET /v1/models"] {
        let stream = proxy.send(line, "", r#"{"messages":[{"role":"user","content":"Hi"}]}"#);
        upstream.wait_for_request();
        drop(stream);
        left.recv_timeout(Duration::from_mins(1))
            .expect("the model is told");
    }
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(
        stored_texts(&sandbox, "default/turns/user"),
        ["Hi"],
        "it was said all the same"
    );
}

#[test]
fn what_runs_is_answered_before_the_end() {
    let (tell, go_on) = channel();
    let go_on = Mutex::new(Some(go_on));
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        let go_on = go_on.lock().expect("nobody panics here").take();
        UpstreamReply::Stream {
            pieces: completion_events(&["Bye"]),
            go_on,
            is_whole: true,
        }
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let stream = proxy.send(
        "POST /v1/chat/completions",
        "",
        r#"{"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#,
    );
    upstream.wait_for_request();
    let ended = std::thread::spawn(move || proxy.stop());
    tell.send(()).expect("it waits");
    tell.send(()).expect("it waits");
    let answer = HttpResponse::read(stream);
    assert!(answer.is_whole && answer.text().ends_with("data: [DONE]\n\n"));
    assert_eq!(ended.join().expect("it ends").0, Some(0));
    assert_eq!(stored_texts(&sandbox, "default/turns/assistant"), ["Bye"]);
}

#[test]
fn whoever_has_no_business_here_is_refused() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let page = proxy.request(
        "POST /v1/chat/completions",
        "Origin: https://example.org\r\n",
        "{}",
    );
    assert_eq!(page.status, Some(403));
    let open = sandbox.run(&[
        "proxy",
        "--openai-base-url",
        "http://localhost/v1",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
    ]);
    assert!(open.contains("which requires a token"), "{open}");
    let guarded = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--auth-token", "s3cret", "--no-git-versioning"],
    );
    assert_eq!(
        guarded.request("GET /v1/health", "", "").status,
        Some(401),
        "the model's server is not asked without the token"
    );
    assert_eq!(guarded.send_message("Hi").status, Some(401));
    let asked = guarded.request(
        "POST /v1/chat/completions",
        "Authorization: Bearer s3cret\r\n",
        r#"{"messages":[]}"#,
    );
    assert_eq!(asked.status, Some(200));
    assert_eq!(
        upstream
            .client_requests()
            .pop()
            .expect("it was asked")
            .header("authorization"),
        None,
        "our token is for nobody else"
    );
}
