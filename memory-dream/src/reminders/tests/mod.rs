//! Tests of reminders. All notes are written on Wednesday, 11 June 2025, at 10:20 in UTC+2.

mod chinese;
mod claims;
mod english;

use chrono::{DateTime, FixedOffset};
use memory_core::{Draft, Memory, MemoryId};

use super::{ReminderRequest, reminders};

fn written() -> DateTime<FixedOffset> {
    "2025-06-11T10:20:00+02:00".parse().expect("a moment")
}

fn memory(text: &str) -> Memory {
    Draft::new(text).into_memory(MemoryId::of_path("a"), written().to_utc())
}

fn requests(text: &str) -> Vec<ReminderRequest> {
    reminders(&memory(text), &written().timezone(), written().to_utc())
}

/// Returns the times of the reminders that a text requests, separated by commas.
fn due_times(text: &str) -> String {
    let shown = |wanted: &ReminderRequest| wanted.at.with_timezone(&written().timezone()).format("%Y-%m-%d %H:%M").to_string();
    requests(text).iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Returns the number of correct cases and prints the others.
///
/// An expected day without a time means 09:00.
fn scoreboard(cases: &[(&str, &str)]) -> usize {
    let mut right = 0;
    for (text, expected) in cases {
        let expected = if expected.len() == "2025-06-12".len() { format!("{expected} 09:00") } else { (*expected).to_owned() };
        let said = due_times(text);
        right += usize::from(said == expected);
        if said != expected {
            println!("{text}: {said:?} in place of {expected:?}");
        }
    }
    right
}

/// Returns the number of texts that request nothing, and prints the others.
fn silent(cases: &[&str]) -> usize {
    scoreboard(&cases.iter().map(|text| (*text, "")).collect::<Vec<_>>())
}
