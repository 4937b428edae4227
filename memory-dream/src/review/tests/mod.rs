//! Tests of reviews.

mod clusters;
mod contradictions;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Draft, Memory, MemoryId, Phase};
use proptest::prelude::*;

use super::{Review, ReviewRules, review_memories};

/// Returns a filed memory created on the given day.
fn memory(name: &str, day: i64, text: &str) -> Memory {
    let mut memory = Draft::new(text).into_memory(
        MemoryId::for_path(name),
        DateTime::UNIX_EPOCH + TimeDelta::days(day),
    );
    memory.phase = Phase::Organized;
    memory
}

fn review_on_day_30(memories: &[Memory]) -> Review {
    review_memories(
        memories.iter().map(|memory| (memory, None)),
        &ReviewRules::default(),
        DateTime::UNIX_EPOCH + TimeDelta::days(30),
    )
}

fn any_memories() -> impl Strategy<Value = Vec<Memory>> {
    let claim = prop::sample::select(vec![
        "Anna lives in Berlin.",
        "Anna no longer lives in Berlin.",
        "Anna moved from Berlin to Munich.",
        "The port is 80.",
        "The port is now 8080.",
        "We use MySQL.",
        "We switched from MySQL to Postgres.",
        "安娜住在柏林。",
        "安娜现在住在慕尼黑。",
        "zebra quagga lion",
        "zebra quagga okapi",
        "The API supports gzip",
        "The API does not support gzip",
    ]);
    let one = (
        memory_core::testing::any_memory(),
        prop::option::of(claim),
        0..9_u8,
    );
    prop::collection::vec(one, 0..16).prop_map(|all| {
        let mut memories: Vec<_> = all
            .into_iter()
            .map(|(mut memory, claim, kind)| {
                if let Some(claim) = claim {
                    memory.content = claim.to_owned();
                    memory.superseded_by = None;
                }
                if 0 < kind {
                    (
                        memory.scope,
                        memory.valid_from,
                        memory.valid_until,
                        memory.expires_at,
                    ) = (memory_core::Scope::Global, None, None, None);
                }
                memory
            })
            .collect();
        let ids: Vec<_> = memories.iter().map(|memory| memory.id).collect();
        if let [first, .., last] = memories.as_mut_slice() {
            first.links.push(ids[ids.len() - 1]);
            last.links.push(ids[0]);
        }
        memories
    })
}

proptest! {
    #[test]
    fn a_review_does_not_depend_on_the_order_in_which_memories_came(memories in any_memories(), turn in 0..16_usize, seconds in 0_i64..4_000_000_000) {
        let now = DateTime::<Utc>::from_timestamp(seconds, 0).expect("a moment");
        let reviewed = |memories: &[Memory]| review_memories(memories.iter().map(|memory| (memory, None)), &ReviewRules::default(), now);
        let straight = reviewed(&memories);
        let mut turned = memories.clone();
        turned.rotate_left(turn % memories.len().max(1));
        prop_assert_eq!(&reviewed(&turned), &straight);
        turned.reverse();
        prop_assert_eq!(reviewed(&turned), straight);
    }

    #[test]
    fn lists_are_bounded_and_name_only_what_was_shown(memories in any_memories(), most in 0..5_usize) {
        let now = DateTime::UNIX_EPOCH;
        let rules = ReviewRules { most, ..ReviewRules::default() };
        let reviewed = |rules: &ReviewRules| review_memories(memories.iter().map(|memory| (memory, None)), rules, now);
        let (short, whole) = (reviewed(&rules), reviewed(&ReviewRules { most: usize::MAX, ..rules }));
        prop_assert!(short.contradictions.first.len() <= most && short.clusters.first.len() <= most && short.orphans.first.len() <= most);
        prop_assert_eq!(short.contradictions.first.len() + short.contradictions.left_out, whole.contradictions.first.len());
        let is_known = |id: &MemoryId| memories.iter().any(|memory| memory.id == *id);
        let mut superseded = std::collections::HashSet::new();
        for own in &whole.contradictions.first {
            prop_assert!(is_known(&own.older.id) && is_known(&own.newer.id) && own.older.id != own.newer.id);
            if let Some(found) = own.supersession() {
                prop_assert!(superseded.insert(found.of), "a memory is superseded once");
                prop_assert!(own.older.said_at < own.newer.said_at && own.older.created_at < found.valid_until);
            }
        }
        let mut members = std::collections::HashSet::new();
        for cluster in &whole.clusters.first {
            prop_assert!((3..=40).contains(&cluster.members.len()));
            prop_assert!(cluster.members.iter().all(|member| is_known(member) && members.insert(*member)));
        }
    }
}
