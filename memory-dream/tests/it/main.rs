//! What dreams do to memories, and what is made of conversations, over stores in memory.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on is a failed test")]

mod anything;
mod bed;
mod conversation;
mod dream;
mod reminders;
