//! Snoozing and completing reminders.

use chrono::{DateTime, Utc};

use crate::commit::{commit, retry_conflicts};
use crate::{Change, MemoryId, MemoryStoreExt, Patch, Reminder, SecretPolicy, Services, StoreError, StoredMemory, Verb};

/// Snoozes the reminder that `reference` names until `until`, and returns its new version.
///
/// A reminder that is done is reopened.
///
/// # Errors
/// [`StoreError::Over`] if `until` is past, [`StoreError::Invalid`] if the memory is not a reminder;
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn snooze(services: &Services, reference: &str, until: DateTime<Utc>) -> Result<StoredMemory, StoreError> {
    if until <= services.clock.now() {
        return Err(StoreError::Over { at: until.fixed_offset() });
    }
    let id = services.store.find(reference)?;
    change_reminder(services, Verb::Snooze, &id, |reminder, _| Some(Reminder { of: reminder.of, ..Reminder::new(until) }))?;
    services.store.get(&id)
}

/// Marks the reminder that `reference` names as done, and returns its new version.
///
/// # Errors
/// [`StoreError::Invalid`] if the memory is not a reminder; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn done(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let id = services.store.find(reference)?;
    change_reminder(services, Verb::Done, &id, |reminder, now| {
        reminder.is_open().then_some(Reminder { done_at: Some(now), ..*reminder })
    })?;
    services.store.get(&id)
}

/// Changes a reminder as `decide` determines from its current state, and returns whether it changed.
///
/// After a conflict, `decide` runs again on the new state. If multiple callers attempt the same change, one of them
/// makes it.
pub(crate) fn change_reminder(
    services: &Services,
    verb: Verb,
    id: &MemoryId,
    decide: impl Fn(&Reminder, DateTime<Utc>) -> Option<Reminder>,
) -> Result<bool, StoreError> {
    retry_conflicts(|| {
        let stored = services.store.get(id)?;
        let not_one = || StoreError::Invalid { why: format!("{} is not a reminder: it has no due time", stored.path) };
        let reminder = stored.memory.reminder.ok_or_else(not_one)?;
        let mut set = services.change_set(verb);
        let patch = Patch { reminder: decide(&reminder, set.operation.at), ..Patch::default() };
        let Some(memory) = patch.apply(&stored.memory, set.operation.at) else { return Ok(false) };
        set.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
        commit(services, &set, SecretPolicy::Keep).map(|_| true)
    })
}
