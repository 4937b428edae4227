//! Refinement while nobody looks: classifying, linking, merging, expiring, reminding.
//!
//! Each kind of refinement is decided first and done then: a [`plan::Plan`] is data, every memory in it is accounted for, and one
//! function carries it out through the use cases of [`memory_core`], as one operation that one `undo` takes back. Nothing here
//! touches a disk, a database or a clock.
//!
//! | you want to | look at |
//! |---|---|
//! | tidy memories | [`dream()`], [`Level`], [`Task`], [`Rules`] |
//! | know what would become of them | [`plan::plan()`] |
//! | know what age does to them | [`lifecycle::fate()`], [`lifecycle::spared()`] |
//! | know where a memory belongs, and why | [`classify::choose_category()`], [`classify::explain()`] |
//! | file one memory | [`upgrade()`] |
//! | find what says the same | [`similar::candidates()`], [`similar::likeness()`] |
//! | make one of several | [`merge::merged()`], [`merge::conserved()`] |
//! | know what somebody asks to be reminded of | [`reminders::reminders()`] |
//! | see what contradicts what, and what belongs together | [`review::review()`] |
//! | ask a language model, and believe it no more than one may | [`ask::classify_batches()`], [`ask::compressed()`] |
//! | draw facts and a summary from what was said | [`conversation::process()`], [`conversation::Prompts`] |
//! | know what a daemon does when | [`schedule::Schedule`], [`schedule::Chores`] |

#![forbid(unsafe_code)]

mod apply;
mod asking;
mod dream;
mod glance;
mod pace;
mod reviewing;
mod rules;
mod upgrade;

pub mod ask;
pub mod classify;
pub mod conversation;
pub mod lifecycle;
pub mod merge;
pub mod plan;
pub mod reminders;
pub mod review;
pub mod schedule;
pub mod similar;

pub use dream::{Dream, Dreamt, Skipped, dream};
pub use glance::Glance;
pub use pace::{Halt, Pace};
pub use rules::{Level, Rules, Task};
pub use upgrade::upgrade;
