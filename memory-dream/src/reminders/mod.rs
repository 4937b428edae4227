//! Detects requests for reminders in memories.
//!
//! A memory is split into sentences, and [`memory_core::datetime`] finds the times in them. Two sets of rules, for English and for Chinese,
//! decide which sentences request an action at that time: a request, an appointment or a deadline. A recurring request results in a
//! recurring reminder, as in `memory_core::remind`. Past events, habits, durations, reported speech and code request nothing.

mod chinese;
mod english;
mod prose;
mod request;
#[cfg(test)]
mod tests;
mod words;

pub use request::{MOST, ReminderRequest, find_reminders};

pub(crate) use request::named_times;
