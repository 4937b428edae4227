//! Notifying the user of due reminders through a channel for short messages.

use std::fmt::Debug;

use chrono::{DateTime, TimeZone};

use crate::reminders::change_reminder;
use crate::text::to_one_line;
use crate::{Memory, Problem, Reminder, ReminderQuery, Services, StoreError, StoredMemory, Verb};

/// The result of [`notify()`].
#[derive(Debug, Default)]
pub struct NotifyReport {
    /// The reminders that were shown, in their current state.
    pub shown: Vec<StoredMemory>,
    /// The error that stopped the notifications, if any.
    ///
    /// The failed reminder and the later ones are shown next time.
    pub failed: Option<NotifyError>,
    /// Number of due reminders that were not shown.
    pub waiting: u64,
    /// The reason why the list of due reminders may be incomplete, if any.
    pub degraded: Option<String>,
    /// The defects of files that prevented marking due reminders as shown. These reminders were not shown.
    pub problems: Vec<Problem>,
}

/// Maximum length of the displayed text in characters.
const LONGEST: usize = 240;

/// Shows every due reminder that was not shown before, ordered by due time.
///
/// Each reminder is marked as shown first, and only the process that sets the mark shows it. Concurrent calls therefore
/// show each reminder once. If the notification fails, the mark is removed. If the process crashes in between, the
/// reminder is never shown, but it remains due in lists and in [`crate::pending()`].
///
/// # Errors
/// Those of the store. An error of the notifier is part of the report instead.
pub fn notify<Tz: TimeZone>(
    services: &Services,
    notifier: &dyn Notifier,
    zone: &Tz,
) -> Result<NotifyReport, StoreError> {
    services.store.refresh()?;
    let now = services.clock.now();
    let page = services
        .store
        .reminders(ReminderQuery::ToBeShown(now), None, None)?;
    let mut report = NotifyReport {
        degraded: page.degraded,
        ..NotifyReport::default()
    };
    let mut waiting = page.memories.into_iter();
    for stored in waiting.by_ref() {
        let id = stored.memory.id;
        let claim = |reminder: &Reminder, _| {
            reminder.needs_notification(now).then(|| Reminder {
                notified_at: Some(now),
                ..reminder.clone()
            })
        };
        match change_reminder(services, Verb::Notify, &id, claim) {
            Ok(true) => {}
            // Another process has marked or changed the reminder.
            Ok(false) | Err(StoreError::NotFound { .. } | StoreError::Invalid { .. }) => continue,
            Err(StoreError::Damaged(problem)) => {
                report.problems.push(problem);
                continue;
            }
            Err(error) => return Err(error),
        }
        if let Err(error) = notifier.notify(&notification(&stored.memory, zone)) {
            report.failed = Some(error);
            let give_back = |reminder: &Reminder, _| {
                Some(Reminder {
                    notified_at: None,
                    ..reminder.clone()
                })
            };
            change_reminder(services, Verb::Notify, &id, give_back)?;
            report.waiting = 1;
            break;
        }
        report.shown.push(services.store.get(&id).unwrap_or(stored));
    }
    report.waiting += waiting.len() as u64;
    Ok(report)
}

/// Returns the notification of a reminder: a title and a line of text, without control characters.
pub(crate) fn notification<Tz: TimeZone>(memory: &Memory, zone: &Tz) -> Notification {
    let due = memory
        .reminder
        .as_ref()
        .map_or(memory.created_at, |reminder| reminder.due);
    let due: DateTime<_> = due.with_timezone(zone).fixed_offset();
    Notification {
        title: format!("Reminder of {}", due.format("%Y-%m-%d %H:%M")),
        body: to_one_line(memory.headline(), LONGEST),
    }
}

/// A channel that shows short messages to the user.
pub trait Notifier: Debug + Send + Sync {
    /// Shows one message.
    ///
    /// # Errors
    /// If the message cannot be shown.
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError>;
}

/// A short message to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The title line.
    pub title: String,
    /// The text below the title.
    pub body: String,
}

/// The error that a message was not shown.
#[derive(Debug, thiserror::Error)]
#[error("the notification was not shown: {why}")]
pub struct NotifyError {
    /// The reason.
    pub why: String,
}
