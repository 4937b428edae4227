//! Plans which reminders are created and which are removed.

use std::collections::HashMap;

use chrono::{DateTime, TimeZone, Utc};
use memory_core::{Memory, MemoryId, ReminderQuery, Services, StoreError, StoredMemory, reminder_id, reminder_memory};

use super::analysis::{AnalysedMemories, read_memories};
use super::{CancelledReminder, DreamPlan, NewReminder};
use crate::reminders::{find_reminders, named_times};

/// Adds to `plan` the reminders to create for the memories at `places`, and those to remove.
///
/// Memories that an earlier dream processed are skipped until their text changes.
pub(super) fn plan_reminders<Tz: TimeZone>(
    services: &Services,
    looked: &AnalysedMemories,
    places: &[usize],
    zone: &Tz,
    now: DateTime<Utc>,
    plan: &mut DreamPlan,
) -> Result<(), StoreError> {
    let is_new = |place: &&usize| looked.glances[**place].as_ref().is_some_and(|glance| !glance.is_heard);
    let new: Vec<MemoryId> = places.iter().filter(is_new).map(|place| looked.outlines[*place].id).collect();
    let mut made = if new.is_empty() { HashMap::new() } else { open_reminders_by_source(services)? };
    for memory in read_memories(services, new, looked.outlines.len()) {
        let memory = memory?;
        let Some(place) = looked.position(&memory.id) else { continue };
        let text = looked.outlines[place].text;
        plan.heard.push(memory.id);
        for reminder in made.remove(&memory.id).unwrap_or_default() {
            let gone = reminder.memory.reminder.filter(|_| is_obsolete(&memory, &reminder.memory, zone));
            plan.withdrawn.extend(gone.map(|gone| CancelledReminder {
                id: reminder.memory.id,
                stamp: reminder.stamp,
                of: memory.id,
                text,
                at: gone.due,
                said: reminder.memory.headline().to_owned(),
            }));
        }
        for wanted in find_reminders(&memory, zone, now) {
            let id = reminder_memory(&memory, &wanted.text, wanted.at, now).id;
            match services.store.get(&id) {
                Err(StoreError::NotFound { .. }) => {}
                // The reminder was created before and remains as it is, open or done.
                Ok(_) | Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            }
            plan.reminders.push(NewReminder { of: memory.id, text, at: wanted.at, said: wanted.text });
        }
    }
    Ok(())
}

/// Returns the open reminders, by the memories that they were created from.
fn open_reminders_by_source(services: &Services) -> Result<HashMap<MemoryId, Vec<StoredMemory>>, StoreError> {
    let mut made: HashMap<MemoryId, Vec<StoredMemory>> = HashMap::new();
    for stored in services.store.reminders(ReminderQuery::Open, None, None)?.memories {
        if let Some(of) = stored.memory.reminder.and_then(|reminder| reminder.of)
            && stored.problem.is_none()
        {
            made.entry(of).or_default().push(stored);
        }
    }
    Ok(made)
}

/// Returns whether a reminder was created from words that are no longer in `source`.
///
/// A reminder remains if its own words do not name the time that it was created for, as when a person chose the time.
fn is_obsolete<Tz: TimeZone>(source: &Memory, reminder: &Memory, zone: &Tz) -> bool {
    let written = source.created_at.with_timezone(zone);
    // The id is derived from the source and the original time, so it does not depend on snoozing.
    let sources = || std::iter::once(&source.id).chain(&source.supersedes);
    let is_made_for = |at: &DateTime<Utc>| sources().any(|of| reminder_id(of, *at) == reminder.id);
    let made_for = named_times(&reminder.content, &written).into_iter().find(is_made_for);
    made_for.is_some_and(|at| named_times(&source.content, &written).binary_search(&at).is_err())
}
