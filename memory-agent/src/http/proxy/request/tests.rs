use std::sync::Arc;

use memory_core::conversation::{ConversationEntry, EntryRole, RecalledMemory};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn parse_request(text: &str) -> CompletionRequest {
    CompletionRequest::parse(text.into(), &RecallRules::default())
        .expect("we know all of it")
        .expect("an object")
}

fn recalled(text: &str) -> RecallResult {
    let entry = ConversationEntry::new(
        "1".parse().unwrap(),
        &ConversationId::default_conversation(),
        EntryRole::Memory,
        text,
        chrono::DateTime::UNIX_EPOCH,
    );
    let remembered = RecalledMemory {
        text: entry.content.clone(),
        entry: Arc::new(entry),
        relevance: 1.0,
        score: 1.0,
        is_superseded: false,
    };
    RecallResult {
        memories: vec![remembered],
        ..RecallResult::default()
    }
}

#[test]
fn what_is_said_to_us_is_taken_out_and_nothing_else_is_touched() {
    let asked = parse_request(
        "{\"memory_id\": \"work/项目\", \"model\":\"m\", \"seed\": 100000000000000000001,\n \"memory_top_k\":2, \"t\": 0.10, \
         \"memory_recency_weight\":0.5, \"memory_score_threshold\": 0}",
    );
    assert_eq!(
        asked.with_memories(&recalled("x"), &LocalZone::utc()),
        "{\"model\":\"m\", \"seed\": 100000000000000000001, \"t\": 0.10}"
    );
    assert_eq!(
        (asked.conversation.as_str(), asked.model.as_deref()),
        ("work/项目", Some("m"))
    );
    let expected = RecallRules {
        top_k: 2,
        recency_weight: 0.5,
        score_threshold: 0.0,
        ..RecallRules::default()
    };
    assert_eq!(asked.rules, expected);
    for (sent, forwarded) in [
        ("{\"memory_id\":null}", "{}"),
        ("{\"memory_id\":\"\",\"a\":1}", "{\"a\":1}"),
        ("{ \"a\":1 , \"memory_top_k\":0 }", "{ \"a\":1 }"),
        ("{}", "{}"),
    ] {
        assert_eq!(
            parse_request(sent).with_memories(&RecallResult::default(), &LocalZone::utc()),
            forwarded
        );
    }
}

#[test]
fn memories_come_before_what_the_person_said_last() {
    let asked = parse_request(
        r#"{"messages": [{"role":"user","content":"old"}, {"role":"user","content":"n\u00e9w \ud83d\ude00", "name":"a"}, {"role":"tool","content":"x"}]}"#,
    );
    let latest = asked.latest.clone().expect("there is one");
    assert_eq!((latest.text.as_str(), latest.is_new), ("néw 😀", true));
    let forwarded: Value =
        serde_json::from_str(&asked.with_memories(&recalled("likes tea"), &LocalZone::utc()))
            .unwrap();
    let content = forwarded["messages"][1]["content"].as_str().unwrap();
    assert!(
        content.starts_with("<memory-context>") && content.contains("[memory] likes tea"),
        "{content}"
    );
    assert!(
        content.ends_with("</memory-context>\n\nCurrent message:\nnéw 😀"),
        "{content}"
    );
    assert_eq!(forwarded["messages"][0]["content"], "old");
    assert!(
        asked.contains_text("old") && asked.contains_text("x") && !asked.contains_text("likes tea")
    );
}

#[test]
fn parts_of_a_message_stay_what_they_are() {
    let image =
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":1.50}}"#;
    let asked = parse_request(&format!(
        r#"{{"messages":[{{"role":"user","content":[{image},{{"type":"text","text":"what is it"}}]}}]}}"#
    ));
    assert_eq!(asked.latest.as_ref().unwrap().text, "what is it");
    let forwarded = asked.with_memories(&recalled("likes tea"), &LocalZone::utc());
    assert!(
        forwarded.contains(&format!(
            r#"Current message:"}},{image},{{"type":"text","text":"what is it"}}]"#
        )),
        "{forwarded}"
    );
    assert!(serde_json::from_str::<Value>(&forwarded).is_ok());
}

#[test]
fn what_the_model_works_on_already_is_not_new() {
    let turn = |more: &str| {
        parse_request(&format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}{more}]}}"#
        ))
        .latest
        .unwrap()
    };
    assert!(turn("").is_new);
    let called = r#",{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"1","content":"3"}"#;
    assert!(!turn(called).is_new);
}

#[test]
fn the_beginning_of_an_answer_is_no_answer() {
    let is_new = |more: &str| {
        let asked = parse_request(&format!(
            r#"{{"messages":[{{"role":"user","content":"a"}},{more}]}}"#
        ));
        asked.latest.expect("there is one").is_new
    };
    assert!(is_new(r#"{"role":"assistant","content":"{"}"#));
    assert!(is_new(
        r#"{"role":"assistant","content":"{","tool_calls":[],"function_call":null}"#
    ));
    assert!(!is_new(
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}"#
    ));
    assert!(!is_new(
        r#"{"role":"assistant","content":"I shall look."},{"role":"tool","content":"3"},{"role":"assistant","content":"So"}"#
    ));
}

#[test]
fn half_a_character_is_kept_as_none_and_sent_as_it_is() {
    let asked = parse_request(r#"{"messages":[{"role":"user","content":"lone \ud83d \u00e9"}]}"#);
    assert_eq!(
        asked.latest.as_ref().map(|latest| latest.text.as_str()),
        Some("lone \u{fffd} é")
    );
    let forwarded = asked.with_memories(&recalled("likes tea"), &LocalZone::utc());
    assert!(
        forwarded.ends_with(r#"Current message:\nlone \ud83d \u00e9"}]}"#),
        "{forwarded}"
    );
    let parts = parse_request(
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"\ude00"}]}]}"#,
    );
    assert_eq!(
        parts.latest.map(|latest| latest.text),
        Some("\u{fffd}".into())
    );
}

#[test]
fn whatever_is_sent_is_forwarded() {
    for odd in ["", "[]", "3", "{\"a\":", "<html>", "{\"a\":1}}"] {
        assert_eq!(
            CompletionRequest::parse(odd.into(), &RecallRules::default())
                .unwrap()
                .unwrap_err(),
            odd
        );
    }
    for odd in [
        r#"{"messages": 3}"#,
        r#"{"messages": [3, null, {"role": "user"}, {"role": 4, "content": {}}, []]}"#,
        r#"{"messages": [{"role":"alien","content":"x"}, {"role":"user","content":[]}, {"role":"user","content":"  "}]}"#,
    ] {
        let asked = parse_request(odd);
        assert_eq!(
            (
                asked.latest.as_ref(),
                asked
                    .with_memories(&recalled("x"), &LocalZone::utc())
                    .as_str()
            ),
            (None, odd)
        );
    }
}

#[test]
fn what_is_said_to_us_and_means_nothing_is_refused() {
    for odd in [
        json!({"memory_id": 3}),
        json!({"memory_id": "a\nb"}),
        json!({"memory_id": "x".repeat(600)}),
        json!({"memory_top_k": -1}),
        json!({"memory_top_k": "5"}),
        json!({"memory_recency_weight": "high"}),
        json!({"memory_score_threshold": true}),
    ] {
        assert!(
            CompletionRequest::parse(odd.to_string(), &RecallRules::default()).is_err(),
            "{odd}"
        );
    }
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let refused = CompletionRequest::parse(
        json!({"memory_id": secret}).to_string(),
        &RecallRules::default(),
    )
    .expect_err("a credential");
    assert_eq!(refused.code, Code::SecretFound);
    assert_eq!(
        refused.message,
        "memory_id cannot be used: the text seems to contain a credential (GitHub token)"
    );
}

proptest! {
    #[test]
    fn all_but_our_members_and_the_message_is_as_it_was(
        words in "\\PC{0,20}",
        others in proptest::collection::vec(("[a-z]{1,6}", "\\PC{0,8}"), 0..4),
        id in "\\PC{1,10}",
    ) {
        let mut sent = serde_json::Map::new();
        for (number, (key, value)) in others.iter().enumerate() {
            sent.insert(key.clone(), json!({"v": value, "n": number}));
            if number == 1 {
                sent.insert("memory_id".into(), json!(id.trim()));
            }
        }
        sent.insert("messages".into(), json!([{"role": "user", "content": words}]));
        let mut expected = sent.clone();
        expected.shift_remove("memory_id");
        if let Ok(Ok(asked)) = CompletionRequest::parse(Value::Object(sent).to_string(), &RecallRules::default()) {
            let plain: Value = serde_json::from_str(&asked.with_memories(&RecallResult::default(), &LocalZone::utc())).unwrap();
            prop_assert_eq!(&plain, &Value::Object(expected.clone()));
            let mut with: Value = serde_json::from_str(&asked.with_memories(&recalled("likes tea"), &LocalZone::utc())).unwrap();
            prop_assert!(with["messages"][0]["content"].as_str().unwrap().ends_with(words.as_str()));
            with["messages"][0]["content"] = json!(words);
            prop_assert_eq!(with, Value::Object(expected));
        }
    }
}
