//! Background refinement of memories: classification, linking, merging, expiry and reminders.
//!
//! Each kind of refinement first decides and then acts. A [`plan::Plan`] is data that accounts for every memory. One function applies it
//! through the use cases of [`memory_core`], as one operation that a single `undo` reverts. This crate accesses no disk, database or clock
//! directly.
//!
//! | task | items |
//! |---|---|
//! | refine memories | [`dream()`], [`Level`], [`Task`], [`Rules`] |
//! | preview the changes | [`plan::plan()`] |
//! | determine the effect of age | [`lifecycle::fate()`], [`lifecycle::spared()`] |
//! | choose a category and explain the choice | [`classify::choose_category()`], [`classify::explain()`] |
//! | file one memory | [`upgrade()`] |
//! | find near-duplicates | [`similar::candidates()`], [`similar::likeness()`] |
//! | merge duplicates | [`merge::merged()`], [`merge::conserved()`] |
//! | detect requests for reminders | [`reminders::reminders()`] |
//! | find contradictions and clusters | [`review::review()`] |
//! | query a language model and validate its output | [`ask::classify_batches()`], [`ask::compressed()`] |
//! | extract facts and a summary from a conversation | [`conversation::process()`], [`conversation::Prompts`] |
//! | schedule the chores of a daemon | [`schedule::Schedule`], [`schedule::Chores`] |

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
