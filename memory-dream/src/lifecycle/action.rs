//! The effect of age on a memory.

use chrono::{DateTime, Utc};
use memory_core::{MemorySummary, Phase, Scope};

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
    if outline.is_damaged || matches!(outline.scope, Scope::Conversation(_)) {
        return None;
    }
    let does = |task: DreamTask| tasks.contains(&task);
    let is_older_than = |age| outline.updated_at.checked_add_signed(age).is_some_and(|end| end <= now);
    let since = outline.updated_at;
    match outline.phase {
        _ if does(DreamTask::Expire) && outline.ends_at.is_some_and(|end| end <= now) => Some(LifecycleAction::Over),
        Phase::Inbox if does(DreamTask::Upgrade) && rules.filing_accesses <= outline.access_count => {
            Some(LifecycleAction::Filed(outline.access_count))
        }
        Phase::Inbox if does(DreamTask::Expire) && rules.inbox_ttl.deadline(outline).is_some_and(|end| end <= now) => {
            Some(LifecycleAction::Expired(since))
        }
        Phase::Organized if does(DreamTask::Decay) && outline.access_count == 0 && is_older_than(rules.decay_after) => {
            Some(LifecycleAction::Decayed(since))
        }
        Phase::Inbox | Phase::Organized => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memory_core::{Category, ContentHash, MemoryId};

    use super::*;

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
            is_damaged: false,
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
            (Phase::Organized, 30, 0, Some(LifecycleAction::Decayed(since(30)))),
            (Phase::Organized, 900, 1, None),
        ] {
            assert_eq!(of(&outline(phase, days, accesses)), expected, "{phase} for {days} days, read {accesses} times");
        }
    }

    #[test]
    fn what_is_damaged_or_said_in_a_conversation_has_no_fate() {
        let old = outline(Phase::Inbox, 900, 0);
        let damaged = MemorySummary { is_damaged: true, ..old.clone() };
        let said = MemorySummary { scope: Scope::Conversation("c".into()), ..old.clone() };
        assert_eq!([&damaged, &said].map(|outline| lifecycle_action(outline, &DreamRules::default(), &ALL, now())), [None, None]);
        let over = MemorySummary { ends_at: Some(now()), ..outline(Phase::Organized, 0, 9) };
        assert_eq!(lifecycle_action(&over, &DreamRules::default(), &ALL, now()), Some(LifecycleAction::Over));
        assert_eq!(lifecycle_action(&over, &DreamRules::default(), &[DreamTask::Decay, DreamTask::Upgrade], now()), None);
        assert_eq!(lifecycle_action(&old, &DreamRules::default(), &[DreamTask::Classify], now()), None);
    }
}
