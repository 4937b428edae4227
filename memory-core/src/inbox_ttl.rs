//! The maximum time of a memory in the inbox.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{Memory, MemorySummary, Phase, Scope, StoredMemory, valid_time};

/// The maximum time of a memory in the inbox before it expires.
///
/// Both the expiry and all user interfaces use this type, so that the displayed expiry is the actual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxTtl(pub TimeDelta);

impl Default for InboxTtl {
    fn default() -> Self {
        Self(TimeDelta::days(7))
    }
}

impl InboxTtl {
    /// No limit: memories do not expire because of their age.
    pub const UNLIMITED: Self = Self(TimeDelta::MAX);

    /// Returns the time at which a memory exceeds its time in the inbox, if there is one.
    ///
    /// The period starts at the last change of the file. A memory with its own end has no deadline. Neither has a
    /// memory of a conversation, because its lifetime is that of the conversation, or a damaged file, because it is
    /// never changed.
    pub fn deadline(self, outline: &MemorySummary) -> Option<DateTime<Utc>> {
        let MemorySummary {
            phase,
            scope,
            ends_at,
            updated_at,
            is_damaged,
            ..
        } = outline;
        if *is_damaged {
            None
        } else {
            self.inbox_end(*phase, scope, *ends_at, *updated_at)
        }
    }

    /// Returns whether a memory has been in the inbox for longer than this time, so that nobody filed it.
    pub(crate) fn is_overdue(self, memory: &Memory, now: DateTime<Utc>) -> bool {
        memory.phase == Phase::Inbox
            && !memory.outlives_inbox_ttl()
            && memory
                .created_at
                .checked_add_signed(self.0)
                .is_some_and(|end| end < now)
    }

    /// Returns the time at which a memory expires: its own expiry, or the end of its time in the inbox.
    ///
    /// The latter is never written to the file, because it changes with each edit and with the setting. The memory may
    /// be moved to a category before that time, and it stays in the inbox longer while an organized memory links to it.
    pub fn expires_at(self, stored: &StoredMemory) -> Option<DateTime<Utc>> {
        if stored.problem.is_some() {
            stored.memory.expires_at
        } else {
            self.memory_expiry(&stored.memory)
        }
    }

    /// Returns the time at which a memory with an intact file expires.
    pub(crate) fn memory_expiry(self, memory: &Memory) -> Option<DateTime<Utc>> {
        let ends_at = memory.ends_at().filter(|_| memory.superseded_by.is_none());
        let derived = || {
            self.inbox_end(memory.phase, &memory.scope, ends_at, memory.updated_at)
                .filter(|_| !memory.outlives_inbox_ttl())
        };
        memory.expires_at.or_else(derived)
    }

    fn inbox_end(
        self,
        phase: Phase,
        scope: &Scope,
        ends_at: Option<DateTime<Utc>>,
        updated_at: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let is_limited =
            phase == Phase::Inbox && !matches!(scope, Scope::Conversation(_)) && ends_at.is_none();
        // RFC 3339 limits the year to four digits; a later time counts as no expiry.
        updated_at
            .checked_add_signed(self.0)
            .and_then(valid_time)
            .filter(|_| is_limited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, Draft, MemoryId, Origin, Reminder};

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn expiry(change: impl FnOnce(&mut Memory)) -> Option<DateTime<Utc>> {
        let mut memory = Draft::new("green tea").into_memory(MemoryId::for_path("a"), now());
        change(&mut memory);
        InboxTtl::default().memory_expiry(&memory)
    }

    #[test]
    fn an_inbox_note_expires_a_week_after_its_last_change() {
        let later = now() + TimeDelta::days(2);
        assert_eq!(expiry(|_| {}), Some(now() + TimeDelta::days(7)));
        assert_eq!(
            expiry(|memory| memory.updated_at = later),
            Some(later + TimeDelta::days(7))
        );
        assert_eq!(
            expiry(|memory| memory.category = Category::People),
            Some(now() + TimeDelta::days(7)),
            "a suggestion"
        );
    }

    #[test]
    fn memories_that_age_does_not_remove_have_no_derived_expiry() {
        let origin = Origin {
            source: "logseq".into(),
            root: "/v".into(),
            path: "a.md".into(),
            hash: None,
        };
        assert_eq!(expiry(|memory| memory.phase = Phase::Organized), None);
        assert_eq!(expiry(|memory| memory.pinned = true), None);
        assert_eq!(expiry(|memory| memory.origin = Some(origin)), None);
        assert_eq!(
            expiry(|memory| memory.scope = Scope::Conversation("c".into())),
            None
        );
        assert_eq!(
            expiry(|memory| memory.reminder = Some(Reminder::new(now()))),
            None
        );
        assert_eq!(expiry(|memory| memory.valid_until = Some(now())), None);
    }

    #[test]
    fn an_expiry_of_its_own_is_returned_as_it_is() {
        let own = now() + TimeDelta::days(300);
        assert_eq!(expiry(|memory| memory.expires_at = Some(own)), Some(own));
        assert_eq!(
            expiry(|memory| (memory.expires_at, memory.phase) = (Some(own), Phase::Organized)),
            Some(own)
        );
    }

    #[test]
    fn a_time_without_limit_has_no_end() {
        let memory = Draft::new("green tea").into_memory(MemoryId::for_path("a"), now());
        assert_eq!(InboxTtl::UNLIMITED.memory_expiry(&memory), None);
        assert_eq!(
            InboxTtl(TimeDelta::days(3_000_000)).memory_expiry(&memory),
            None,
            "the year 10238"
        );
    }
}
