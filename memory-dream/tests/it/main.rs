//! What dreams do to memories, and what is made of conversations, over stores in memory.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on is a failed test")]

mod anything;
mod bed;
mod classify;
mod conversation;
mod conversation_limits;
mod dream;
mod reminders;
