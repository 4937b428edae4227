//! What becomes of a memory with time.

use chrono::{DateTime, Utc};
use memory_core::{Outline, Phase, Scope};

use crate::{Rules, Task};

/// What becomes of a memory with time, unless it is spared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It says itself that it has expired.
    Over,
    /// It waited in the inbox for too long, since that moment.
    Expired(DateTime<Utc>),
    /// Nobody has read it, since that moment.
    Decayed(DateTime<Utc>),
    /// It was read so often that it is filed.
    Filed(u64),
}

/// Tells what becomes of a memory when `tasks` are done at `now`, if anything.
///
/// What is read often is filed rather than let expire. How long it has been there is counted from the last change of its file,
/// so that what was taken in yesterday, however old it is, has all its time before it. What stands in a conversation is left
/// to that conversation, and a file that must not be changed is left alone.
pub fn fate(outline: &Outline, rules: &Rules, tasks: &[Task], now: DateTime<Utc>) -> Option<Fate> {
    if outline.is_damaged || matches!(outline.scope, Scope::Conversation(_)) {
        return None;
    }
    let does = |task: Task| tasks.contains(&task);
    let is_older_than = |age| outline.updated_at.checked_add_signed(age).is_some_and(|end| end <= now);
    let since = outline.updated_at;
    match outline.phase {
        _ if does(Task::Expire) && outline.ends_at.is_some_and(|end| end <= now) => Some(Fate::Over),
        Phase::Inbox if does(Task::Upgrade) && rules.filing_accesses <= outline.access_count => {
            Some(Fate::Filed(outline.access_count))
        }
        Phase::Inbox if does(Task::Expire) && rules.inbox_ttl.deadline(outline).is_some_and(|end| end <= now) => {
            Some(Fate::Expired(since))
        }
        Phase::Organized if does(Task::Decay) && outline.access_count == 0 && is_older_than(rules.decay_after) => {
            Some(Fate::Decayed(since))
        }
        Phase::Inbox | Phase::Organized => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memory_core::{Category, ContentHash, MemoryId};

    use super::*;

    const ALL: [Task; 3] = [Task::Expire, Task::Decay, Task::Upgrade];

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn outline(phase: Phase, days: i64, access_count: u64) -> Outline {
        let changed = now() - TimeDelta::days(days);
        Outline {
            id: MemoryId::of_path("a"),
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
        let rules = Rules::default();
        let of = |outline: &Outline| fate(outline, &rules, &ALL, now());
        let since = |days: i64| now() - TimeDelta::days(days);
        for (phase, days, accesses, expected) in [
            (Phase::Inbox, 6, 0, None),
            (Phase::Inbox, 7, 0, Some(Fate::Expired(since(7)))),
            (Phase::Inbox, 7, 2, Some(Fate::Expired(since(7)))),
            (Phase::Inbox, 7, 3, Some(Fate::Filed(3))),
            (Phase::Inbox, 0, 9, Some(Fate::Filed(9))),
            (Phase::Organized, 29, 0, None),
            (Phase::Organized, 30, 0, Some(Fate::Decayed(since(30)))),
            (Phase::Organized, 900, 1, None),
        ] {
            assert_eq!(of(&outline(phase, days, accesses)), expected, "{phase} for {days} days, read {accesses} times");
        }
    }

    #[test]
    fn what_is_damaged_or_said_in_a_conversation_has_no_fate() {
        let old = outline(Phase::Inbox, 900, 0);
        let damaged = Outline { is_damaged: true, ..old.clone() };
        let said = Outline { scope: Scope::Conversation("c".into()), ..old.clone() };
        assert_eq!([&damaged, &said].map(|outline| fate(outline, &Rules::default(), &ALL, now())), [None, None]);
        let over = Outline { ends_at: Some(now()), ..outline(Phase::Organized, 0, 9) };
        assert_eq!(fate(&over, &Rules::default(), &ALL, now()), Some(Fate::Over));
        assert_eq!(fate(&over, &Rules::default(), &[Task::Decay, Task::Upgrade], now()), None);
        assert_eq!(fate(&old, &Rules::default(), &[Task::Classify], now()), None);
    }
}
