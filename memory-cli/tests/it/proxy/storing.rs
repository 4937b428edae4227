//! Tests of when the proxy stores messages, and how often.

use std::io::BufReader;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::process::{HttpResponse, ProxyProcess, read_chunk, read_head};
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest, completion_events};
use crate::sandbox::Sandbox;

const QUIET_FLAGS: &[&str] = &["--no-summarization", "--no-git-versioning"];

/// Returns the stored messages of the user and of the model.
fn stored_turns(sandbox: &Sandbox) -> [Vec<String>; 2] {
    ["default/turns/user", "default/turns/assistant"].map(|place| stored_texts(sandbox, place))
}

fn chat_body(text: &str, is_stream: bool) -> Value {
    json!({ "model": "m", "stream": is_stream, "messages": [{ "role": "user", "content": text }] })
}

#[test]
fn what_was_answered_is_kept_once_the_proxy_has_ended() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| {
        if asked.json()["stream"] == true {
            UpstreamReply::completion_stream(&["Fi", "ne."])
        } else {
            UpstreamReply::completion("Fine.")
        }
    });
    for is_stream in [false, true] {
        let sandbox = Sandbox::new();
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
        assert!(proxy.chat(&chat_body("Hi", is_stream)).is_whole);
        assert_eq!(proxy.stop().0, Some(0));
        assert_eq!(stored_turns(&sandbox), [["Hi"], ["Fine."]]);
    }
}

#[test]
fn a_stream_that_comes_in_one_piece_is_kept() {
    let whole = completion_events(&["Hel", "lo"]).concat();
    let length = whole.len();
    let head_of = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    let sent = [head_of.into_bytes(), whole.clone()].concat();
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| UpstreamReply::Raw(sent.clone()));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let answer = proxy.chat(&chat_body("Hi", true));
    assert_eq!((answer.body, answer.is_whole), (whole, true));
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(stored_turns(&sandbox), [["Hi"], ["Hello"]]);
}

#[test]
fn a_stream_that_ends_without_saying_so_is_kept_however_it_is_framed() {
    let finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let whole = format!(
        "{}{finish}",
        String::from_utf8_lossy(&completion_events(&["Fine."])[0])
    );
    let body = whole.clone();
    let upstream = FakeUpstream::start(move |asked: &UpstreamRequest| {
        let (head, body) = match asked.last().as_str() {
            "chunks" => (
                "Transfer-Encoding: chunked".to_owned(),
                format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
            ),
            "length" => (format!("Content-Length: {}", body.len()), body.clone()),
            _ => ("Connection: close".to_owned(), body.clone()),
        };
        UpstreamReply::Raw(
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{head}\r\n\r\n{body}")
                .into_bytes(),
        )
    });
    for framing in ["chunks", "length", "close"] {
        let sandbox = Sandbox::new();
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
        assert_eq!(
            proxy.chat(&chat_body(framing, true)).text(),
            whole,
            "{framing}"
        );
        assert_eq!(proxy.stop().0, Some(0));
        assert_eq!(stored_turns(&sandbox), [[framing], ["Fine."]], "{framing}");
    }
}

#[test]
fn whoever_goes_once_the_model_has_said_all_has_heard_all() {
    let mut pieces = completion_events(&["Fine."]);
    pieces[1] =
        b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".to_vec();
    let (gone, waits) = channel();
    let waits = Mutex::new(Some(waits));
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        // The third chunk is never sent.
        let pieces = [pieces.clone(), vec![b": still here\n\n".to_vec()]].concat();
        UpstreamReply::Stream {
            pieces,
            go_on: waits.lock().expect("nobody panics here").take(),
            is_whole: true,
        }
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let mut reader = BufReader::new(proxy.send(
        "POST /v1/chat/completions",
        "",
        &chat_body("Hi", true).to_string(),
    ));
    gone.send(()).expect("it waits");
    gone.send(()).expect("it waits");
    assert_eq!(read_head(&mut reader).0, Some(200));
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("stop") {
        heard.extend(read_chunk(&mut reader).expect("a piece"));
    }
    drop(reader);
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(stored_turns(&sandbox), [["Hi"], ["Fine."]]);
}

#[test]
fn an_answer_that_comes_in_chunks_is_kept_and_tells_what_was_remembered() {
    let UpstreamReply::Whole(_, _, body) = UpstreamReply::completion("Fine.") else {
        panic!("it says something")
    };
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let sent = format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        UpstreamReply::Raw(sent.clone().into_bytes())
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    assert_eq!(proxy.send_message("Hi").json()["memory_hits"], json!([]));
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(stored_turns(&sandbox), [["Hi"], ["Fine."]]);
}

#[test]
fn a_question_that_is_sent_again_because_nobody_answered_is_kept_once() {
    let is_first = AtomicBool::new(true);
    let upstream = FakeUpstream::start(move |_: &UpstreamRequest| {
        if is_first.swap(false, Ordering::SeqCst) {
            UpstreamReply::Whole(
                503,
                "Content-Type: application/json\r\n",
                r#"{"error":{"message":"busy"}}"#.into(),
            )
        } else {
            UpstreamReply::completion("Fine.")
        }
    });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    assert_eq!(
        ["Hi", "Hi", "Hi"].map(|text| proxy.send_message(text).status),
        [Some(503), Some(200), Some(200)]
    );
    proxy.stop();
    assert_eq!(stored_turns(&sandbox), [["Hi", "Hi"], ["Fine.", "Fine."]]);
}

#[test]
fn a_question_that_is_first_seen_among_tools_is_kept_once() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Three."));
    let sandbox = Sandbox::new();
    let call = json!({ "role": "assistant", "content": null,
        "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "f", "arguments": "{}" } }] });
    let tool = json!({ "role": "tool", "tool_call_id": "1", "content": "3" });
    let messages = json!([{ "role": "user", "content": "How many?" }, call, tool]);
    // The same holds if another process stored it.
    for _ in 0..2 {
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
        for _ in 0..2 {
            assert_eq!(
                proxy.chat(&json!({ "messages": messages })).status,
                Some(200)
            );
        }
        proxy.stop();
    }
    assert_eq!(stored_turns(&sandbox)[0], ["How many?"]);
}

#[test]
fn whatever_the_model_answers_is_an_answer() {
    let call = r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]}}]}"#;
    let odd = [
        b"data: {\"id\": not\n\n".to_vec(),
        completion_events(&["Fine."]).concat(),
    ]
    .concat();
    let long = "x".repeat(2 << 20);
    let upstream =
        FakeUpstream::start(move |asked: &UpstreamRequest| match asked.last().as_str() {
            "call" => UpstreamReply::Whole(200, "Content-Type: application/json\r\n", call.into()),
            "long" => UpstreamReply::completion(&long),
            "text" => UpstreamReply::Whole(200, "Content-Type: text/plain\r\n", "Fine.".into()),
            _ => UpstreamReply::Stream {
                pieces: vec![odd.clone()],
                go_on: None,
                is_whole: true,
            },
        });
    for (question, is_stream, is_told) in [
        ("call", false, false),
        ("long", false, true),
        ("text", true, false),
        ("odd", true, false),
    ] {
        let sandbox = Sandbox::new();
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
        for number in 0..3 {
            let answer = proxy.chat(&chat_body(question, is_stream));
            assert_eq!(
                (answer.status, answer.header("memory-error").is_some()),
                (Some(200), is_told),
                "{question}"
            );
            // A problem found at the end of a stream is reported with the next answer.
            let is_warned = answer
                .header("memory-warning")
                .is_some_and(|why| why.contains("is not stored"));
            assert_eq!(
                is_warned,
                is_told || is_stream && 0 < number,
                "{question}: {:?}",
                answer.headers
            );
        }
        let (code, complaints) = proxy.stop();
        assert_eq!(
            (code, complaints.matches("is not stored").count()),
            (Some(0), usize::from(is_stream)),
            "{complaints}"
        );
        assert_eq!(
            stored_turns(&sandbox),
            [vec![question; 3], Vec::new()],
            "{question}"
        );
    }
}

#[test]
fn a_question_is_the_same_whoever_asks_meanwhile_and_across_a_start() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| {
        if asked.last().ends_with('A') {
            UpstreamReply::Whole(500, "", "no".into())
        } else {
            UpstreamReply::completion("Fine.")
        }
    });
    let sandbox = Sandbox::new();
    let begin = || ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let proxy = begin();
    for text in ["A", "B", "A", "B"] {
        proxy.send_message(text);
    }
    assert_eq!(proxy.stop().0, Some(0));
    let proxy = begin();
    // The message itself has no answer, but a later message has one.
    proxy.send_message("A");
    assert_eq!(proxy.stop().0, Some(0));
    let proxy = begin();
    proxy.send_message("A");
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(
        stored_turns(&sandbox),
        [vec!["A", "B", "B", "A"], vec!["Fine."; 2]]
    );
}

#[test]
fn half_a_character_is_kept_as_what_is_none() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    let body = r#"{"messages":[{"role":"user","content":"lone \ud83d surrogate"}]}"#;
    assert_eq!(
        proxy.request("POST /v1/chat/completions", "", body).status,
        Some(200)
    );
    assert_eq!(upstream.client_requests()[0].body, body);
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(stored_turns(&sandbox)[0], ["lone \u{fffd} surrogate"]);
}

#[test]
fn what_cannot_be_heard_is_told() {
    let gzip = [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n".as_slice(),
        &[0x1f, 0x8b, 8],
    ]
    .concat();
    let upstream =
        FakeUpstream::start(move |asked: &UpstreamRequest| match asked.last().as_str() {
            "gzip" => UpstreamReply::Raw(gzip.clone()),
            "page" => UpstreamReply::Whole(200, "Content-Type: text/html\r\n", "<html>".into()),
            _ => UpstreamReply::completion("Fine."),
        });
    let sandbox = Sandbox::new();
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), QUIET_FLAGS);
    for (text, why) in [
        ("gzip", "it is compressed"),
        ("page", "it is not a JSON object"),
    ] {
        let answer = proxy.send_message(text);
        assert_eq!(
            (answer.status, answer.header("memory-error")),
            (Some(200), Some("MODEL_UNREADABLE")),
            "{text}"
        );
        assert!(
            answer
                .header("memory-warning")
                .is_some_and(|told| told.contains(why)),
            "{:?}",
            answer.headers
        );
    }
    assert_eq!(
        upstream.client_requests()[0].header("accept-encoding"),
        Some("identity")
    );
    for (headers, body, why) in [
        (
            "Content-Encoding: gzip\r\n",
            b"\x1f\x8b\x08".as_slice(),
            "compressed",
        ),
        ("", b"{\"a\": \"\xff\"}", "not UTF-8"),
        ("", b"[1]", "not a JSON object"),
    ] {
        let answer =
            HttpResponse::read(proxy.send_bytes("POST /v1/chat/completions", headers, body));
        assert_eq!(
            (answer.status, answer.header("memory-error")),
            (Some(200), Some("INVALID_INPUT")),
            "{why}"
        );
        assert!(
            answer
                .header("memory-warning")
                .is_some_and(|told| told.contains(why)),
            "{:?}",
            answer.headers
        );
    }
    proxy.stop();
    assert_eq!(stored_turns(&sandbox), [vec!["gzip", "page"], Vec::new()]);
}
