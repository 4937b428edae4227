//! The effects of age on memories.
//!
//! [`lifecycle_action()`] decides on the index data alone, and [`find_exemption()`] returns an exemption that the file shows. Both are pure functions.

use chrono::{DateTime, Utc};
use memory_core::{Memory, MemorySummary, Phase, Scope};

use crate::{DreamRules, DreamTask};

/// The effect of age on a memory, before exemptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifecycleAction {
    /// The end date that the memory itself sets has passed.
    Over,
    /// It was in the inbox too long, unchanged since that time.
    Expired(DateTime<Utc>),
    /// It was never read and is unchanged since that time.
    Decayed(DateTime<Utc>),
    /// It is filed because it was read this number of times.
    Filed(u64),
}

/// Returns the effect of age on a memory when `tasks` run at `now`, if there is one.
///
/// A memory that is read often is filed rather than expired. Ages count from the last change of the file, so that a newly ingested memory
/// has its full time, however old its content is. Memories of conversations and files that must not be changed have no fate.
pub fn lifecycle_action(
    outline: &MemorySummary,
    rules: &DreamRules,
    tasks: &[DreamTask],
    now: DateTime<Utc>,
) -> Option<LifecycleAction> {
    if outline.is_damaged || outline.is_foreign || matches!(outline.scope, Scope::Conversation(_)) {
        return None;
    }
    let does = |task: DreamTask| tasks.contains(&task);
    let is_older_than = |age| {
        outline
            .updated_at
            .checked_add_signed(age)
            .is_some_and(|end| end <= now)
    };
    let since = outline.updated_at;
    match outline.phase {
        _ if does(DreamTask::Expire) && outline.ends_at.is_some_and(|end| end <= now) => {
            Some(LifecycleAction::Over)
        }
        Phase::Inbox
            if does(DreamTask::Upgrade) && rules.filing_accesses <= outline.access_count =>
        {
            Some(LifecycleAction::Filed(outline.access_count))
        }
        Phase::Inbox
            if does(DreamTask::Expire)
                && rules
                    .inbox_ttl
                    .deadline(outline)
                    .is_some_and(|end| end <= now) =>
        {
            Some(LifecycleAction::Expired(since))
        }
        Phase::Organized
            if does(DreamTask::Decay)
                && outline.access_count == 0
                && is_older_than(rules.decay_after) =>
        {
            Some(LifecycleAction::Decayed(since))
        }
        Phase::Inbox | Phase::Organized => None,
    }
}

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
    /// An agent received it recently.
    Received,
    /// A person put its file into the home, and this program never wrote it.
    Unwritten,
    /// Its content is no longer valid, but the memory itself has not expired and remains as history.
    History,
}

/// Returns why `memory` is exempt from `fate`, if it is.
///
/// `is_linked` is whether a filed memory links to it.
///
/// A memory that has reached its own expiry date is not exempt because of links or its origin.
pub fn find_exemption(
    memory: &Memory,
    fate: LifecycleAction,
    is_linked: bool,
    now: DateTime<Utc>,
) -> Option<Exemption> {
    let reasons = [
        (memory.pinned, Exemption::Pinned),
        (
            memory
                .reminder
                .as_ref()
                .is_some_and(memory_core::Reminder::is_open),
            Exemption::Reminder,
        ),
        (
            fate == LifecycleAction::Over && memory.expires_at.is_none_or(|end| now < end),
            Exemption::History,
        ),
        (
            fate != LifecycleAction::Over && memory.origin.is_some(),
            Exemption::TakenIn,
        ),
        (
            fate != LifecycleAction::Over && is_linked,
            Exemption::Linked,
        ),
    ];
    match fate {
        LifecycleAction::Filed(_) => None,
        LifecycleAction::Over | LifecycleAction::Expired(_) | LifecycleAction::Decayed(_) => {
            reasons
                .into_iter()
                .find(|(is_so, _)| *is_so)
                .map(|(_, why)| why)
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memory_core::testing::any_memory;
    use memory_core::{
        Category, ContentHash, Draft, FileVersion, HomeSection, InboxTtl, MemoryId, MemorySummary,
        Reminder, StoredMemory,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::{DreamRules, DreamTask};

    const ALL: [DreamTask; 3] = [DreamTask::Expire, DreamTask::Decay, DreamTask::Upgrade];

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn outline(phase: Phase, days: i64, access_count: u64) -> MemorySummary {
        let changed = now() - TimeDelta::days(days);
        MemorySummary {
            id: MemoryId::for_path("a"),
            phase,
            category: Category::Inbox,
            scope: Scope::Global,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: changed,
            is_superseded: false,
            ends_at: None,
            access_count,
            is_reminder: false,
            place: HomeSection::Notes,
            is_damaged: false,
            is_foreign: false,
            text: ContentHash::of(""),
            impression: None,
        }
    }

    #[test]
    fn age_and_accesses_decide() {
        let rules = DreamRules::default();
        let of = |outline: &MemorySummary| lifecycle_action(outline, &rules, &ALL, now());
        let since = |days: i64| now() - TimeDelta::days(days);
        for (phase, days, accesses, expected) in [
            (Phase::Inbox, 6, 0, None),
            (Phase::Inbox, 7, 0, Some(LifecycleAction::Expired(since(7)))),
            (Phase::Inbox, 7, 2, Some(LifecycleAction::Expired(since(7)))),
            (Phase::Inbox, 7, 3, Some(LifecycleAction::Filed(3))),
            (Phase::Inbox, 0, 9, Some(LifecycleAction::Filed(9))),
            (Phase::Organized, 29, 0, None),
            (
                Phase::Organized,
                30,
                0,
                Some(LifecycleAction::Decayed(since(30))),
            ),
            (Phase::Organized, 900, 1, None),
        ] {
            assert_eq!(
                of(&outline(phase, days, accesses)),
                expected,
                "{phase} for {days} days, read {accesses} times"
            );
        }
    }

    #[test]
    fn what_is_damaged_or_said_in_a_conversation_has_no_fate() {
        let old = outline(Phase::Inbox, 900, 0);
        let damaged = MemorySummary {
            is_damaged: true,
            ..old.clone()
        };
        let said = MemorySummary {
            scope: Scope::Conversation("c".into()),
            ..old.clone()
        };
        assert_eq!(
            [&damaged, &said].map(|outline| lifecycle_action(
                outline,
                &DreamRules::default(),
                &ALL,
                now()
            )),
            [None, None]
        );
        let over = MemorySummary {
            ends_at: Some(now()),
            ..outline(Phase::Organized, 0, 9)
        };
        assert_eq!(
            lifecycle_action(&over, &DreamRules::default(), &ALL, now()),
            Some(LifecycleAction::Over)
        );
        assert_eq!(
            lifecycle_action(
                &over,
                &DreamRules::default(),
                &[DreamTask::Decay, DreamTask::Upgrade],
                now()
            ),
            None
        );
        assert_eq!(
            lifecycle_action(&old, &DreamRules::default(), &[DreamTask::Classify], now()),
            None
        );
    }

    #[test]
    fn each_reason_is_named() {
        let now = DateTime::UNIX_EPOCH;
        let plain = Draft::new("green tea").into_memory(MemoryId::for_path("a"), now);
        let aged = LifecycleAction::Expired(now);
        let pinned = Memory {
            pinned: true,
            ..plain.clone()
        };
        let reminder = Memory {
            reminder: Some(Reminder::new(now)),
            ..plain.clone()
        };
        let held = Memory {
            valid_until: Some(now),
            ..plain.clone()
        };
        assert_eq!(find_exemption(&plain, aged, false, now), None);
        assert_eq!(
            find_exemption(&plain, aged, true, now),
            Some(Exemption::Linked)
        );
        assert_eq!(
            find_exemption(&pinned, aged, false, now),
            Some(Exemption::Pinned)
        );
        assert_eq!(
            find_exemption(&reminder, aged, false, now),
            Some(Exemption::Reminder)
        );
        assert_eq!(
            find_exemption(&held, LifecycleAction::Over, false, now),
            Some(Exemption::History)
        );
        let over = Memory {
            expires_at: Some(now),
            ..plain
        };
        assert_eq!(
            find_exemption(&over, LifecycleAction::Over, true, now),
            None
        );
        assert_eq!(
            find_exemption(&over, LifecycleAction::Filed(3), true, now),
            None
        );
    }

    fn outline_of(memory: &Memory) -> MemorySummary {
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
            is_reminder: memory.reminder.is_some(),
            place: HomeSection::Notes,
            is_damaged: false,
            is_foreign: false,
            text: ContentHash::of(""),
            impression: None,
        }
    }

    proptest! {
        #[test]
        fn a_memory_expires_at_the_moment_that_is_shown(memory in any_memory(), days in 0_i64..100) {
            let memory = Memory { expires_at: None, ..memory };
            let rules = DreamRules { inbox_ttl: InboxTtl(TimeDelta::days(days)), ..DreamRules::default() };
            let stored = StoredMemory { memory, path: "a.md".into(), stamp: FileVersion(ContentHash::of("")), problem: None, other_fields: Vec::new() };
            let goes = |now| {
                let fate = lifecycle_action(&outline_of(&stored.memory), &rules, &[DreamTask::Expire], now);
                fate.is_some_and(|fate| find_exemption(&stored.memory, fate, false, now).is_none())
            };
            match rules.inbox_ttl.expires_at(&stored) {
                Some(end) => prop_assert!(goes(end) && !goes(end - TimeDelta::nanoseconds(1)), "{end}"),
                None => prop_assert!(!goes(DateTime::<Utc>::MAX_UTC)),
            }
        }
    }
}
