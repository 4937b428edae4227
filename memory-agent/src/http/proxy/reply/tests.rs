use super::*;

fn parse_chunks(stream: &str) -> (Vec<ReplyOutcome>, ReplyParser) {
    let mut heard = ReplyParser::default();
    let told = stream
        .as_bytes()
        .chunks(7)
        .filter_map(|piece| heard.push_chunk(piece))
        .collect();
    (told, heard)
}

fn parse_stream(stream: &str) -> ReplyOutcome {
    let (mut told, mut heard) = parse_chunks(stream);
    told.extend(heard.finish());
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

fn delta_event(content: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{content}}}}}]}}\r\n\r\n")
}

const FINISH: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n";

fn text_outcome(text: &str) -> ReplyOutcome {
    ReplyOutcome::Said(text.into())
}

#[test]
fn an_answer_is_heard_when_it_is_whole() {
    let words = [
        r#""Hel""#,
        "null",
        r#""l\u006f 世""#,
        r#"[{"type":"text","text":"界"},{"type":"image"}]"#,
    ]
    .map(delta_event)
    .concat();
    let second = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n";
    for end in [
        "data: [DONE]\n\n",
        "data: [DONE]",
        FINISH,
        &format!(": keep-alive\n\n{second}{FINISH}data: [DONE]\n\n"),
    ] {
        assert_eq!(
            parse_stream(&format!("{words}{end}")),
            text_outcome("Hello 世界"),
            "{end}"
        );
    }
    let call = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n";
    assert_eq!(parse_stream(&format!("{call}{FINISH}")), text_outcome(""));
}

#[test]
fn what_cannot_be_kept_of_a_stream_says_why() {
    let words = delta_event("\"Hello\"");
    let long = delta_event(&format!("\"{}\"", "x".repeat(MAX_REPLY)));
    for (odd, why) in [
        ("", UNFINISHED),
        ("data: {\"id\": not\n\ndata: [DONE]\n\n", UNREADABLE),
        (&format!("{long}{FINISH}"), TOO_LONG),
        (&format!("data: {}\n\n", "x".repeat(9 << 20)), UNREADABLE),
    ] {
        assert_eq!(
            parse_stream(&format!("{words}{odd}")),
            ReplyOutcome::Unheard(why),
            "{}",
            odd.len()
        );
    }
    let error = "data: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n";
    assert_eq!(
        parse_stream(&format!("{words}{error}")),
        ReplyOutcome::Failed
    );
}

#[test]
fn whoever_stops_listening_has_an_answer_if_that_was_all() {
    let cut_off = |stream: String| parse_chunks(&stream).1.cancel();
    assert_eq!(
        cut_off(delta_event("\"Hello\"")),
        Some(ReplyOutcome::Failed)
    );
    assert_eq!(
        cut_off(delta_event("\"Hello\"") + FINISH),
        Some(text_outcome("Hello"))
    );
    assert_eq!(
        cut_off(delta_event("\"Hello\"") + "data: [DONE]\n\n"),
        None,
        "it was told"
    );
}

#[test]
fn a_whole_answer_is_read_and_added_to() {
    let answer = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi \u4e16"}}],"n":1.50}"#;
    assert_eq!(parse_reply(answer), text_outcome("Hi 世"));
    assert_eq!(
        with_hits(answer, &RecallResult::default()),
        Some(format!(
            "{},\"memory_hits\":[]}}",
            answer.trim_end_matches('}')
        ))
    );
    assert_eq!(
        with_hits("{ }\n", &RecallResult::default()).as_deref(),
        Some("{ \"memory_hits\":[]}\n")
    );
    assert_eq!(
        with_hits("{\"memory_hits\":3}", &RecallResult::default()).as_deref(),
        Some("{\"memory_hits\":3}")
    );
    for none in ["", "<html>", "[]", "{\"a\":"] {
        assert_eq!(with_hits(none, &RecallResult::default()), None);
    }
}

#[test]
fn what_a_whole_answer_says_is_known_and_why_it_cannot_be_kept() {
    let message =
        |content: &str| format!(r#"{{"choices":[{{"message":{{"content":{content}}}}}]}}"#);
    for (answer, outcome) in [
        (
            message(
                r#"[{"type":"text","text":"Hi "},{"type":"x"},{"type":"text","text":"there"}]"#,
            ),
            text_outcome("Hi there"),
        ),
        (message("null"), text_outcome("")),
        (message("3"), text_outcome("")),
        ("{}".into(), text_outcome("")),
        (r#"{"choices":[]}"#.into(), text_outcome("")),
        (
            message(&format!("\"{}\"", "x".repeat(MAX_REPLY + 1))),
            ReplyOutcome::Unheard(TOO_LONG),
        ),
        (
            "[]".into(),
            ReplyOutcome::Unheard("it is not a JSON object"),
        ),
        (r#"{"error":{"message":"no"}}"#.into(), ReplyOutcome::Failed),
    ] {
        assert_eq!(parse_reply(&answer), outcome);
    }
}
