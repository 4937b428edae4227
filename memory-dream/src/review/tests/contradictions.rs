//! Pairs of sentences that contradict each other, and pairs that only seem to.

use super::{memory, review_on_day_30};

/// Returns whether the second text, which is newer, contradicts the first with certainty, if it does.
fn first_contradiction(first: &str, second: &str) -> Option<bool> {
    let filed = |name: &str, day: i64, text: &str| memory_core::Memory {
        category: memory_core::Category::Knowledge,
        ..memory(name, day, text)
    };
    let review = review_on_day_30(&[filed("a", 1, first), filed("b", 2, second)]);
    let found = review.contradictions.first.first()?;
    assert_eq!(
        (found.older.text.as_str(), found.newer.text.as_str()),
        (first, second)
    );
    Some(found.is_certain)
}

#[test]
fn a_denial_is_certain() {
    for (first, second) in [
        ("Anna lives in Berlin.", "Anna no longer lives in Berlin."),
        (
            "The search API supports gzip.",
            "The search API no longer supports gzip.",
        ),
        ("I drink coffee.", "I no longer drink coffee."),
        ("我喝咖啡。", "我不再喝咖啡了。"),
    ] {
        assert_eq!(
            first_contradiction(first, second),
            Some(true),
            "{first} / {second}"
        );
    }
}

#[test]
fn what_is_likely_is_listed_and_never_certain() {
    for (first, second) in [
        ("Anna lives in Berlin.", "Anna now lives in Munich."),
        ("Anna lives in Berlin.", "Anna moved from Berlin to Munich."),
        ("Anna works at Acme", "Anna doesn't work at Acme anymore."),
        ("Anna is from Berlin.", "Anna moved from Berlin to Munich."),
        (
            "Anna lives in Berlin.",
            "Ben said: \"Anna no longer lives in Berlin\".",
        ),
        (
            "We use MySQL for the orders.",
            "We now use Postgres instead of MySQL for the orders.",
        ),
        ("The port is 8080.", "The port is 9090."),
        (
            "The port of the demo is 8080.",
            "The port of the demo is now 9090.",
        ),
        ("The API supports gzip.", "The API does not support gzip."),
        (
            "The review meeting is on Tuesday.",
            "The review meeting is on Thursday.",
        ),
        (
            "Anna's phone number is 555 1234.",
            "Anna's phone number is 555 9876.",
        ),
        ("安娜住在柏林。", "安娜现在住在慕尼黑。"),
        ("我们使用 MySQL。", "我们改用 Postgres，不再用 MySQL。"),
        ("接口支持 gzip", "接口不再支持 gzip"),
        ("服务的端口是8080", "服务的端口是9090"),
    ] {
        assert_eq!(
            first_contradiction(first, second),
            Some(false),
            "{first} / {second}"
        );
    }
}

#[test]
fn what_can_hold_together_contradicts_nothing() {
    for (first, second) in [
        ("Anna lives in Berlin.", "Ben now lives in Munich."),
        ("Anna likes tea.", "Anna likes coffee."),
        ("Anna is a doctor.", "Anna is now married."),
        ("We use MySQL.", "We use Redis."),
        (
            "We use MySQL for the orders.",
            "We use Postgres for the logs.",
        ),
        (
            "Anna lives in Berlin.",
            "If Anna no longer lives in Berlin, ask Ben.",
        ),
        (
            "Anna lives in Berlin.",
            "Does Anna no longer live in Berlin?",
        ),
        ("We use MySQL.", "We might switch from MySQL to Postgres."),
        ("Anna lives in Berlin.", "> Anna no longer lives in Berlin."),
        ("The port is 8080.", "The port is 8080!"),
        ("Server 1 is in Berlin.", "Server 2 is in Berlin."),
        ("The ports are 80 and 443.", "The ports are 443 and 80."),
        ("The release is on 3 March.", "The release is on March 3."),
        ("Standups are on Tuesday.", "Standups are also on Thursday."),
        (
            "The port is 8080 in development.",
            "The port is 80 in production.",
        ),
        ("总是3个人", "总是5个人"),
        (
            "Anna lives in Berlin.",
            "Ask Ben if Anna no longer lives in Berlin.",
        ),
        ("安娜喜欢茶", "安娜喜欢咖啡"),
        ("安娜住在柏林", "小李现在住在慕尼黑"),
        ("他住在柏林", "他现在住在慕尼黑"),
        ("我们用 MySQL", "如果我们改用 Postgres，会更快"),
    ] {
        assert_eq!(
            first_contradiction(first, second),
            None,
            "{first} / {second}"
        );
    }
}

#[test]
fn a_memory_that_says_more_is_never_superseded_as_a_whole() {
    assert_eq!(
        first_contradiction(
            "Anna lives in Berlin. She has two cats.",
            "Anna no longer lives in Berlin."
        ),
        Some(false)
    );
}

#[test]
fn only_the_newer_one_supersedes_and_only_in_its_scope() {
    let (old, mut new) = (
        memory("a", 2, "Anna lives in Berlin."),
        memory("b", 1, "Anna no longer lives in Berlin."),
    );
    let certain = |memories: &[memory_core::Memory]| {
        review_on_day_30(memories)
            .contradictions
            .first
            .iter()
            .filter(|own| own.is_certain)
            .count()
    };
    assert_eq!(certain(&[old.clone(), new.clone()]), 0);
    new.created_at = old.created_at;
    assert_eq!(certain(&[old.clone(), new.clone()]), 0);
    new.created_at += chrono::TimeDelta::seconds(1);
    assert_eq!(certain(&[old.clone(), new.clone()]), 1);
    new.scope = memory_core::Scope::Project("x".into());
    assert_eq!(certain(&[old.clone(), new.clone()]), 0);
}

#[test]
fn a_memory_is_superseded_by_the_first_that_says_so() {
    let review = review_on_day_30(&[
        memory("a", 1, "The port of the demo is open."),
        memory("b", 2, "The port of the demo is no longer open."),
        memory("c", 3, "The port of the demo is now no longer open."),
    ]);
    let certain: Vec<_> = review
        .contradictions
        .first
        .iter()
        .filter_map(super::super::Contradiction::supersession)
        .collect();
    let pair = |of: &str, by: &str| (memory(of, 0, "").id, memory(by, 0, "").id);
    let mut found: Vec<_> = certain
        .iter()
        .map(|own| (own.of, own.superseded_by))
        .collect();
    let mut expected = vec![pair("a", "b")];
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
