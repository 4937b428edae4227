//! Pairs of sentences that contradict each other, and pairs that only seem to.

use super::super::ContradictionKind;
use super::{memory, review_on_day_30};

/// Returns how the second sentence, which is newer, contradicts the first.
fn first_contradiction(first: &str, second: &str) -> Option<(ContradictionKind, bool)> {
    let review = review_on_day_30(&[memory("a", 1, first), memory("b", 2, second)]);
    let found = review.contradictions.first.first()?;
    assert_eq!(
        (found.older.sentence.trim_end(), found.newer.text.as_str()),
        (found.older.sentence.as_str(), second)
    );
    Some((found.difference, found.is_certain))
}

#[test]
fn what_says_itself_that_something_else_held_before_is_certain() {
    for (first, second) in [
        ("Anna lives in Berlin.", "Anna no longer lives in Berlin."),
        ("Anna lives in Berlin.", "Anna now lives in Munich."),
        ("Anna lives in Berlin.", "Anna moved from Berlin to Munich."),
        ("Anna works at Acme", "Anna doesn't work at Acme anymore."),
        ("We use MySQL.", "We switched from MySQL to Postgres."),
        (
            "We use MySQL for the orders.",
            "We now use Postgres instead of MySQL for the orders.",
        ),
        (
            "The port of the demo is 8080.",
            "The port of the demo is now 9090.",
        ),
        (
            "The search API supports gzip.",
            "The search API no longer supports gzip.",
        ),
        (
            "The deploy server is hosted on Linode.",
            "As of May, the deploy server is hosted on Hetzner.",
        ),
        ("I drink coffee.", "I no longer drink coffee."),
        ("安娜住在柏林。", "安娜现在住在慕尼黑。"),
        ("安娜住在柏林", "安娜搬到慕尼黑了"),
        ("我们用 MySQL", "我们从 MySQL 换到 Postgres"),
        ("我们使用 MySQL。", "我们改用 Postgres，不再用 MySQL。"),
        ("我喝咖啡。", "我不再喝咖啡了。"),
        ("服务的端口是8080", "服务的端口改为9090"),
        ("搜索接口支持 gzip", "搜索接口不再支持 gzip"),
    ] {
        assert_eq!(
            first_contradiction(first, second).map(|(_, is_certain)| is_certain),
            Some(true),
            "{first} / {second}"
        );
    }
}

#[test]
fn what_only_differs_is_listed_and_never_certain() {
    for (first, second, difference) in [
        (
            "Anna lives in Berlin.",
            "Anna lives in Munich.",
            ContradictionKind::Other,
        ),
        (
            "The port is 8080.",
            "The port is 9090.",
            ContradictionKind::Other,
        ),
        (
            "Anna works in Berlin.",
            "Anna now works in marketing.",
            ContradictionKind::Other,
        ),
        (
            "The port is 8080.",
            "The port is now 9090.",
            ContradictionKind::Other,
        ),
        (
            "接口支持 gzip",
            "接口不再支持 gzip",
            ContradictionKind::Denied,
        ),
        (
            "The API supports gzip.",
            "The API does not support gzip.",
            ContradictionKind::Denied,
        ),
        (
            "Anna prefers dark mode.",
            "Anna prefers light mode.",
            ContradictionKind::Other,
        ),
        (
            "The review meeting is on Tuesday.",
            "The review meeting is on Thursday.",
            ContradictionKind::Other,
        ),
        (
            "Anna's phone number is 555 1234.",
            "Anna's phone number is 555 9876.",
            ContradictionKind::Other,
        ),
        (
            "安娜住在柏林。",
            "安娜住在慕尼黑。",
            ContradictionKind::Other,
        ),
        (
            "接口支持 gzip",
            "接口不支持 gzip",
            ContradictionKind::Denied,
        ),
        (
            "服务的端口是8080",
            "服务的端口是9090",
            ContradictionKind::Other,
        ),
    ] {
        assert_eq!(
            first_contradiction(first, second),
            Some((difference, false)),
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
        ("Anna is from Berlin.", "Anna moved from Berlin to Munich."),
        ("He lives in Berlin.", "He no longer lives in Berlin."),
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
        ("Anna lived in Berlin.", "Anna now lives in Munich."),
        ("The port is 8080.", "The port is 8080!"),
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
        Some((ContradictionKind::Denied, false))
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
        memory("a", 1, "Anna lives in Berlin."),
        memory("b", 2, "Anna now lives in Munich."),
        memory("c", 3, "Anna now lives in Rome."),
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
    let mut expected = vec![pair("a", "b"), pair("b", "c")];
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
