//! Exemptions of memories from removal.

use chrono::{DateTime, Utc};
use memory_core::Memory;

use super::LifecycleAction;

/// The reason why a memory that is due for removal is exempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exemption {
    /// It is pinned.
    Pinned,
    /// A filed memory links to it.
    Linked,
    /// It is an open reminder.
    Reminder,
    /// It was ingested from a note; the next ingest would create it again.
    TakenIn,
    /// Its content is no longer valid, but the memory itself has not expired and remains as history.
    History,
}

/// Returns why `memory` is exempt from `fate`, if it is.
///
/// `is_linked` is whether a filed memory links to it.
///
/// A memory that has reached its own expiry date is not exempt because of links or its origin.
pub fn find_exemption(memory: &Memory, fate: LifecycleAction, is_linked: bool, now: DateTime<Utc>) -> Option<Exemption> {
    let reasons = [
        (memory.pinned, Exemption::Pinned),
        (memory.reminder.is_some_and(|reminder| reminder.is_open()), Exemption::Reminder),
        (fate == LifecycleAction::Over && memory.expires_at.is_none_or(|end| now < end), Exemption::History),
        (fate != LifecycleAction::Over && memory.origin.is_some(), Exemption::TakenIn),
        (fate != LifecycleAction::Over && is_linked, Exemption::Linked),
    ];
    match fate {
        LifecycleAction::Filed(_) => None,
        LifecycleAction::Over | LifecycleAction::Expired(_) | LifecycleAction::Decayed(_) => {
            reasons.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why)
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memory_core::testing::any_memory;
    use memory_core::{ContentHash, Draft, FileVersion, InboxTtl, MemoryId, MemorySummary, Reminder, StoredMemory};
    use proptest::prelude::*;

    use super::*;
    use crate::lifecycle::lifecycle_action;
    use crate::{DreamRules, DreamTask};

    #[test]
    fn each_reason_is_named() {
        let now = DateTime::UNIX_EPOCH;
        let plain = Draft::new("green tea").into_memory(MemoryId::for_path("a"), now);
        let aged = LifecycleAction::Expired(now);
        let pinned = Memory { pinned: true, ..plain.clone() };
        let reminder = Memory { reminder: Some(Reminder::new(now)), ..plain.clone() };
        let held = Memory { valid_until: Some(now), ..plain.clone() };
        assert_eq!(find_exemption(&plain, aged, false, now), None);
        assert_eq!(find_exemption(&plain, aged, true, now), Some(Exemption::Linked));
        assert_eq!(find_exemption(&pinned, aged, false, now), Some(Exemption::Pinned));
        assert_eq!(find_exemption(&reminder, aged, false, now), Some(Exemption::Reminder));
        assert_eq!(find_exemption(&held, LifecycleAction::Over, false, now), Some(Exemption::History));
        let over = Memory { expires_at: Some(now), ..plain };
        assert_eq!(find_exemption(&over, LifecycleAction::Over, true, now), None);
        assert_eq!(find_exemption(&over, LifecycleAction::Filed(3), true, now), None);
    }

    fn outline(memory: &Memory) -> MemorySummary {
        MemorySummary {
            id: memory.id,
            phase: memory.phase,
            category: memory.category,
            scope: memory.scope.clone(),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            is_superseded: memory.superseded_by.is_some(),
            ends_at: memory.ends_at().filter(|_| memory.superseded_by.is_none()),
            access_count: memory.access_count,
            is_damaged: false,
            text: ContentHash::of(""),
            impression: None,
        }
    }

    proptest! {
        #[test]
        fn a_memory_expires_at_the_moment_that_is_shown(memory in any_memory(), days in 0_i64..100) {
            let memory = Memory { expires_at: None, ..memory };
            let rules = DreamRules { inbox_ttl: InboxTtl(TimeDelta::days(days)), ..DreamRules::default() };
            let stored = StoredMemory { memory, path: "a.md".into(), stamp: FileVersion(ContentHash::of("")), problem: None };
            let goes = |now| {
                let fate = lifecycle_action(&outline(&stored.memory), &rules, &[DreamTask::Expire], now);
                fate.is_some_and(|fate| find_exemption(&stored.memory, fate, false, now).is_none())
            };
            match rules.inbox_ttl.expires_at(&stored) {
                Some(end) => prop_assert!(goes(end) && !goes(end - TimeDelta::nanoseconds(1)), "{end}"),
                None => prop_assert!(!goes(DateTime::<Utc>::MAX_UTC)),
            }
        }
    }
}
