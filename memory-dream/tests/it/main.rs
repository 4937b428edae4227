//! Integration tests of dreams and of conversation processing, with in-memory stores.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test that cannot go on is a failed test"
)]

mod classify;
mod conversation;
mod conversation_limits;
mod dream;
mod fixture;
mod properties;
mod reminders;
