//! Tests that facts are still recalled after 50 similar requests, without fact extraction.

use serde_json::json;

use super::process::ProxyProcess;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

/// The statement, the repeated requests, and the answer of the model.
const DIALOGUES: [(&str, &[&str], &str); 10] = [
    (
        "My dog is Rex.",
        &["Write a poem about my dog"],
        "A poem about my dog: write, dog, write!",
    ),
    (
        "My cat is called Misty.",
        &[
            "Tell me a story about my cat",
            "Could you tell another story about my cat, please?",
        ],
        "A cat.",
    ),
    (
        "I live in Ghent.",
        &["Where do I live?", "Find a bakery near where I live"],
        "Where you live.",
    ),
    (
        "My sister Eva turns thirty in May.",
        &["Draft a birthday speech for my sister"],
        "Dear sister, a birthday speech.",
    ),
    (
        "I am allergic to peanuts.",
        &["Suggest a dessert without peanuts"],
        "A dessert without peanuts.",
    ),
    (
        "我的狗叫雷克斯。",
        &["写一首关于我的狗的诗"],
        "关于我的狗的诗。",
    ),
    (
        "我家的猫叫咪咪。",
        &["讲一个关于我的猫的故事", "再讲一个关于猫的故事"],
        "猫的故事。",
    ),
    ("我住在里昂。", &["我住在哪里？"], "你住在里昂附近。"),
    (
        "我妹妹五月满三十岁。",
        &["给我妹妹写一段生日祝福"],
        "妹妹生日快乐。",
    ),
    (
        "我对花生过敏。",
        &["推荐一个没有花生的甜点"],
        "没有花生的甜点。",
    ),
];

#[test]
fn a_fact_is_given_to_the_model_each_time_a_request_is_repeated() {
    for (fact, requests, answer) in DIALOGUES {
        let (sandbox, upstream) = (
            Sandbox::new(),
            FakeUpstream::start(move |_: &UpstreamRequest| UpstreamReply::completion(answer)),
        );
        let begin = || {
            ProxyProcess::start(
                &sandbox,
                &upstream.base_url(),
                &["--no-summarization", "--no-git-versioning"],
            )
        };
        let proxy = begin();
        proxy.send_message(fact);
        // The message is stored when the proxy ends.
        proxy.stop();
        let mut proxy = begin();
        for round in 0..50 {
            if round == 25 {
                proxy.stop();
                proxy = begin();
            }
            let hits =
                proxy.send_message(requests[round % requests.len()]).json()["memory_hits"].clone();
            assert_eq!(hits[0]["content"], fact, "round {round}: {hits}");
        }
    }
}

/// Extracts facts about pizza; a new fact replaces the old one.
fn model(asked: &UpstreamRequest) -> UpstreamReply {
    let last = asked.last();
    UpstreamReply::completion(match asked.purpose() {
        Some("facts") if last.contains("hate") => r#"["The user hates pizza."]"#,
        Some("facts") if last.contains("love") => r#"["The user loves pizza."]"#,
        Some("facts") => "[]",
        Some("reconcile") => r#"[{"event": "UPDATE", "id": 0, "text": "The user hates pizza."}]"#,
        Some("summary") => "Pizza.",
        _ => "Fine.",
    })
}

#[test]
fn a_turn_whose_fact_was_replaced_is_marked_as_earlier() {
    for flags in [
        &["--no-git-versioning"] as &[&str],
        &["--no-git-versioning", "--no-summarization"],
    ] {
        let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
        for text in ["I love pizza", "I hate pizza"] {
            let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), flags);
            proxy.send_message(text);
            assert_eq!(proxy.stop().0, Some(0));
        }
        let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), flags);
        let hits = proxy.send_message("Do I like pizza?").json()["memory_hits"].clone();
        let sent = upstream
            .client_requests()
            .into_iter()
            .rfind(|asked| asked.purpose().is_none())
            .expect("it was asked")
            .last();
        assert!(
            sent.contains("[user, earlier] I love pizza\n") && !sent.contains("earlier] I hate"),
            "{sent}"
        );
        let [current, earlier] = hits.as_array().expect("a list").as_slice() else {
            panic!("{hits}")
        };
        let is_current = current["content"]
            .as_str()
            .is_some_and(|text| text.ends_with("hate pizza") || text.ends_with("hates pizza."));
        assert!(is_current && current.get("earlier").is_none(), "{hits}");
        assert_eq!(
            (&earlier["content"], &earlier["earlier"]),
            (&json!("I love pizza"), &json!(true))
        );
        assert!(
            earlier["score"].as_f64() < current["score"].as_f64(),
            "{hits}"
        );
    }
}
