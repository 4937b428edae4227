//! Telling somebody of what is due.

use chrono::{DateTime, TimeZone};

use crate::snooze::alter;
use crate::text::one_line;
use crate::{Memory, Notification, Notifier, NotifyError, Problem, Reminder, Reminders, Services, StoreError, Stored, Verb};

/// Whom somebody was told of.
#[derive(Debug, Default)]
pub struct Notified {
    /// The reminders that were shown, as they are now.
    pub shown: Vec<Stored>,
    /// Why one was not, if it was not; it and those that come after it will be shown the next time.
    pub failed: Option<NotifyError>,
    /// How many are still to be shown.
    pub waiting: u64,
    /// Why there may be others of which nobody was told, if there may.
    pub degraded: Option<String>,
    /// What is wrong with the files of those that are not shown because it could not be written down that they were.
    pub problems: Vec<Problem>,
}

/// The longest text that is shown, in characters.
const LONGEST: usize = 240;

/// Shows every reminder that is due and was not shown before, what is due first before all others.
///
/// That it was shown is written down first, and only whoever writes it down shows it, so that each is shown once however many
/// do this at the same time. If it cannot be shown, that is taken back. Whoever dies in between leaves a reminder that nobody
/// was told of; it stays due until it is done, in lists and in [`crate::pending()`].
///
/// # Errors
/// Whatever the store says; a notifier that fails is told of in the report instead.
pub fn notify<Tz: TimeZone>(services: &Services, notifier: &dyn Notifier, zone: &Tz) -> Result<Notified, StoreError> {
    services.store.refresh()?;
    let now = services.clock.now();
    let page = services.store.reminders(Reminders::ToBeShown(now), None, None)?;
    let mut report = Notified { degraded: page.degraded, ..Notified::default() };
    let mut waiting = page.memories.into_iter();
    for stored in waiting.by_ref() {
        let id = stored.memory.id;
        let claim =
            |reminder: &Reminder, _| reminder.is_to_be_shown(now).then_some(Reminder { notified_at: Some(now), ..*reminder });
        match alter(services, Verb::Notify, &id, claim) {
            Ok(true) => {}
            // Somebody else was faster.
            Ok(false) | Err(StoreError::NotFound { .. } | StoreError::Invalid { .. }) => continue,
            Err(StoreError::Damaged(problem)) => {
                report.problems.push(problem);
                continue;
            }
            Err(error) => return Err(error),
        }
        if let Err(error) = notifier.notify(&notification(&stored.memory, zone)) {
            report.failed = Some(error);
            let give_back = |reminder: &Reminder, _| Some(Reminder { notified_at: None, ..*reminder });
            alter(services, Verb::Notify, &id, give_back)?;
            report.waiting = 1;
            break;
        }
        report.shown.push(services.store.get(&id).unwrap_or(stored));
    }
    report.waiting += waiting.len() as u64;
    Ok(report)
}

/// Returns what is shown of a reminder: one line each, without characters that a terminal or a desktop would obey.
pub(crate) fn notification<Tz: TimeZone>(memory: &Memory, zone: &Tz) -> Notification {
    let due = memory.reminder.map_or(memory.created_at, |reminder| reminder.due);
    let due: DateTime<_> = due.with_timezone(zone).fixed_offset();
    Notification { title: format!("Reminder of {}", due.format("%Y-%m-%d %H:%M")), body: one_line(memory.headline(), LONGEST) }
}
