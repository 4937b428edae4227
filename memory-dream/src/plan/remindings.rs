//! What somebody is to be reminded of.

use chrono::{DateTime, TimeZone, Utc};
use memory_core::{Services, StoreError, reminder_of};

use super::look::{Looked, texts};
use super::{Plan, Reminding};
use crate::reminders::reminders;

/// Adds to `plan` the reminders that the memories at `places` ask for, as far as nobody has listened to them before.
pub(super) fn remind<Tz: TimeZone>(
    services: &Services,
    looked: &Looked,
    places: &[usize],
    zone: &Tz,
    now: DateTime<Utc>,
    plan: &mut Plan,
) -> Result<(), StoreError> {
    let is_new = |place: &&usize| looked.glances[**place].as_ref().is_some_and(|glance| !glance.is_heard);
    let new = places.iter().filter(is_new).map(|place| looked.outlines[*place].id).collect();
    for memory in texts(services, new, looked.outlines.len()) {
        let memory = memory?;
        let Some(place) = looked.place(&memory.id) else { continue };
        plan.heard.push(memory.id);
        for wanted in reminders(&memory, zone, now) {
            let id = reminder_of(&memory, &wanted.text, wanted.at, now).id;
            match services.store.get(&id) {
                Err(StoreError::NotFound { .. }) => {}
                // It was made before, and stays as it is, done or not.
                Ok(_) | Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            }
            let text = looked.outlines[place].text;
            plan.reminders.push(Reminding { of: memory.id, text, at: wanted.at, said: wanted.text });
        }
    }
    Ok(())
}
