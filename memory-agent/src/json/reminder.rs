//! Reminders, in JSON.

use memory_core::{InboxTtl, Notified, Reminded, WrittenReminder};
use serde::Serialize;
use serde_json::Value;

use super::memory::MemoryShape;
use super::write::MergedShape;
use super::{time, value};

#[derive(Serialize)]
struct RemindedShape<'a> {
    id: String,
    path: &'a str,
    created: bool,
    due: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedShape<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ignored: &'a [&'static str],
}

#[derive(Serialize)]
struct NotifiedShape<'a> {
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

/// Writes what became of the wish to be reminded: `{id, path, created, due, assumed?, merged?, ignored?}`; `created` is false if there was
/// such a reminder already, and `assumed` says what was taken for granted where the words leave the time open. `merged` and `ignored` are
/// as in [`super::written`].
pub fn reminded(reminded: &Reminded) -> Value {
    let memory = &reminded.stored.memory;
    value(&RemindedShape {
        id: memory.id.to_string(),
        path: &reminded.stored.path,
        created: reminded.created,
        due: memory.reminder.map(|reminder| time::text(reminder.due)),
        assumed: reminded.assumed.as_deref(),
        merged: MergedShape::of(&reminded.merged),
        ignored: &reminded.ignored,
    })
}

/// Writes what became of a text of the category of reminders: as [`reminded`], or as what was written with a `warning` that there is no
/// reminder, and the `hint` what to do about it.
pub fn written_reminder(written: &WrittenReminder, hint: &str) -> Value {
    match written {
        WrittenReminder::Reminder(reminder) => reminded(reminder),
        WrittenReminder::Memory { written, warning } => {
            let mut shape = super::written(written);
            shape["warning"] = format!("{warning}; {hint}").into();
            shape
        }
    }
}

/// Writes whom somebody was told of: `{shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}`; `method` is the way
/// that was taken, `instead` why it is not the one that was wished for, and `pending` whether there is a page of what is due.
pub fn notified(notified: &Notified, method: &str, instead: Option<&str>, pending: bool) -> Value {
    // An open reminder does not expire by age.
    let shown = notified.shown.iter().map(|stored| MemoryShape::of(stored, InboxTtl::UNLIMITED)).collect();
    value(&NotifiedShape {
        shown,
        waiting: notified.waiting,
        method,
        instead,
        failed: notified.failed.as_ref().map(|error| error.why.as_str()),
        pending,
        degraded: notified.degraded.as_deref(),
    })
}
