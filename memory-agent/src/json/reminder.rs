//! The JSON of reminders and notifications.

use memory_core::{InboxTtl, NotifyReport, RemindReport, WrittenReminder};
use serde::Serialize;
use serde_json::Value;

use super::memory::MemoryShape;
use super::write::MergedShape;
use super::{time, value};

#[derive(Serialize)]
struct ReminderShape<'a> {
    id: String,
    path: &'a str,
    created: bool,
    due: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedShape<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ignored: &'a [&'static str],
}

#[derive(Serialize)]
struct NotificationShape<'a> {
    shown: Vec<MemoryShape<'a>>,
    waiting: u64,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
    pending: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<&'a str>,
}

/// Returns the JSON of a new reminder: `{id, path, created, due, repeats?, assumed?, merged?, ignored?}`.
///
/// `repeats` has the words of a recurring time; `due` is then its next occurrence.
/// `created` is false if the reminder existed already, and `assumed` lists assumptions about an ambiguous time.
/// `merged` and `ignored` are as in [`super::write_result`].
pub fn reminder(reminded: &RemindReport) -> Value {
    let memory = &reminded.stored.memory;
    let own = memory.reminder.as_ref();
    value(&ReminderShape {
        id: memory.id.to_string(),
        path: &reminded.stored.path,
        created: reminded.created,
        due: own.map(|reminder| time::rfc3339(reminder.due)),
        repeats: memory
            .recurrence()
            .map(|repeats| repeats.expression.as_str()),
        assumed: reminded.assumed.as_deref(),
        merged: MergedShape::of(&reminded.merged),
        ignored: &reminded.ignored,
    })
}

/// Returns the JSON of writing a text with the category of reminders.
///
/// Like [`reminder`]; or like a written memory, with a `warning` that it is not a reminder, followed by `hint`.
pub fn reminder_or_memory(written: &WrittenReminder, hint: &str) -> Value {
    match written {
        WrittenReminder::Reminder(report) => reminder(report),
        WrittenReminder::Memory { written, warning } => {
            let mut shape = super::write_result(written, &[]);
            shape["warning"] = format!("{warning}; {hint}").into();
            shape
        }
    }
}

/// Returns the JSON of a notification.
///
/// `{shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}`; `method` is the method that was used,
/// `instead` the reason why it is not the requested one, and `pending` whether there is a page of due reminders.
pub fn notification(
    notified: &NotifyReport,
    method: &str,
    instead: Option<&str>,
    pending: bool,
) -> Value {
    // An open reminder does not expire by age.
    let shown = notified
        .shown
        .iter()
        .map(|stored| MemoryShape::of(stored, InboxTtl::UNLIMITED))
        .collect();
    value(&NotificationShape {
        shown,
        waiting: notified.waiting,
        method,
        instead,
        failed: notified.failed.as_ref().map(|error| error.why.as_str()),
        pending,
        degraded: notified.degraded.as_deref(),
    })
}
