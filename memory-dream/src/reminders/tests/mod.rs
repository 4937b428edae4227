//! Tests of reminders. All notes are written on Wednesday, 11 June 2025, at 10:20 in UTC+2.

mod chinese;
mod claims;
mod english;

use chrono::{DateTime, FixedOffset};
use memory_core::{Draft, Memory, MemoryId};

use super::{ReminderRequest, find_reminders};

fn written_at() -> DateTime<FixedOffset> {
    "2025-06-11T10:20:00+02:00".parse().expect("a moment")
}

fn note(text: &str) -> Memory {
    Draft::new(text).into_memory(MemoryId::for_path("a"), written_at().to_utc())
}

fn requests(text: &str) -> Vec<ReminderRequest> {
    find_reminders(&note(text), &written_at().timezone(), written_at().to_utc())
}

/// Returns the times of the reminders that a text requests, separated by commas.
fn due_times(text: &str) -> String {
    let shown = |wanted: &ReminderRequest| {
        wanted
            .at
            .with_timezone(&written_at().timezone())
            .format("%Y-%m-%d %H:%M")
            .to_string()
    };
    requests(text)
        .iter()
        .map(shown)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the number of correct cases and prints the others.
///
/// An expected day without a time means 09:00.
fn count_correct(cases: &[(&str, &str)]) -> usize {
    let mut right = 0;
    for (text, expected) in cases {
        let expected = if expected.len() == "2025-06-12".len() {
            format!("{expected} 09:00")
        } else {
            (*expected).to_owned()
        };
        let said = due_times(text);
        right += usize::from(said == expected);
        if said != expected {
            println!("{text}: {said:?} in place of {expected:?}");
        }
    }
    right
}

/// Returns the number of texts that request nothing, and prints the others.
fn count_silent(cases: &[&str]) -> usize {
    count_correct(&cases.iter().map(|text| (*text, "")).collect::<Vec<_>>())
}
