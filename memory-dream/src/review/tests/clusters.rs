//! Tests of clusters, orphans and stale projects.

use chrono::{DateTime, TimeDelta};
use memory_core::{Category, Memory, Scope};

use super::super::{ReviewRules, review_memories};
use super::{memory, review_on_day_30};

fn sample_memories() -> Vec<Memory> {
    let other = |number: i64| {
        memory(
            &format!("other {number}"),
            number,
            &format!("note{number} talks of thing{number} and place{number}"),
        )
    };
    let zebra = |number: i64| {
        memory(
            &format!("zebra {number}"),
            number,
            &format!("The zebra enclosure, part {number}: savanna grass{number}"),
        )
    };
    (0..20).map(other).chain((0..4).map(zebra)).collect()
}

#[test]
fn what_shares_rare_words_is_a_cluster_with_their_name() {
    let review = review_on_day_30(&sample_memories());
    let cluster = &review.clusters.first[0];
    assert_eq!((review.clusters.first.len(), cluster.members.len()), (1, 4));
    assert!(
        cluster.label.contains(&"zebra".to_owned()),
        "{:?}",
        cluster.label
    );
}

#[test]
fn chinese_memories_are_clustered_as_well() {
    let mut memories = sample_memories();
    memories.extend((0..3).map(|number| {
        memory(
            &format!("panda {number}"),
            1,
            &format!("熊猫基地第{number}次"),
        )
    }));
    let review = review_on_day_30(&memories);
    assert!(review.clusters.first.iter().any(|cluster| cluster.members.len() == 3 && cluster.label.contains(&"熊猫".to_owned())));
}

#[test]
fn links_hold_a_cluster_together_and_scopes_part_it() {
    let mut memories: Vec<_> = (0..4)
        .map(|number| memory(&format!("{number}"), 1, &format!("word{number}")))
        .collect();
    let ids: Vec<_> = memories.iter().map(|memory| memory.id).collect();
    for memory in &mut memories {
        memory.links = ids.iter().filter(|id| **id != memory.id).copied().collect();
    }
    assert_eq!(
        review_on_day_30(&memories).clusters.first[0].members.len(),
        4
    );
    memories[3].scope = Scope::Project("x".into());
    assert_eq!(
        review_on_day_30(&memories).clusters.first[0].members.len(),
        3
    );
}

#[test]
fn an_orphan_is_organized_unread_and_has_no_link_in_or_out() {
    let (mut linking, linked, mut read, mut inbox, alone) = (
        memory("linking", 1, "a"),
        memory("linked", 1, "b"),
        memory("read", 1, "c"),
        memory("inbox", 1, "d"),
        memory("alone", 1, "e"),
    );
    linking.links = vec![linked.id];
    read.access_count = 1;
    inbox.phase = memory_core::Phase::Inbox;
    let review = review_on_day_30(&[linking, linked, read, inbox, alone.clone()]);
    assert_eq!(
        review
            .orphans
            .first
            .iter()
            .map(|orphan| orphan.id)
            .collect::<Vec<_>>(),
        [alone.id]
    );
}

#[test]
fn a_project_rests_when_nothing_of_it_was_written_or_read_for_long() {
    let day = |day| DateTime::UNIX_EPOCH + TimeDelta::days(day);
    let of = |name: &str, at, project: &str| Memory {
        scope: Scope::Project(project.into()),
        ..memory(name, at, name)
    };
    let filed = |name: &str, at| Memory {
        category: Category::Project,
        ..memory(name, at, name)
    };
    let memories = [
        of("a", 1, "old"),
        of("b", 9, "old"),
        of("c", 1, "fresh"),
        of("d", 80, "fresh"),
        of("e", 1, "read"),
        filed("f", 3),
    ];
    let shown = memories
        .iter()
        .map(|memory| (memory, (memory.content == "e").then(|| day(60))));
    let review = review_memories(shown, &ReviewRules::default(), day(100));
    let stale: Vec<_> = review
        .stale
        .first
        .iter()
        .map(|own| (own.scope.to_string(), own.last_at, own.memories))
        .collect();
    assert_eq!(
        stale,
        [
            ("global".to_owned(), day(3), 1),
            ("project:old".to_owned(), day(9), 2)
        ]
    );
}
