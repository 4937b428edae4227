//! Background refinement of memories: classification, linking, merging, expiry and reminders.
//!
//! Each kind of refinement first decides and then acts. A [`plan::DreamPlan`] is data that accounts for every memory. One function applies it
//! through the use cases of [`memory_core`], as one operation that a single `undo` reverts. This crate accesses no disk, database or clock
//! directly.
//!
//! | task | items |
//! |---|---|
//! | refine memories | [`dream()`], [`DreamLevel`], [`DreamTask`], [`DreamRules`] |
//! | preview the changes | [`plan::plan()`] |
//! | determine the effect of age | [`lifecycle::fate()`], [`lifecycle::spared()`] |
//! | choose a category and explain the choice | [`classify::choose_category()`], [`classify::explain()`] |
//! | file one memory | [`upgrade()`] |
//! | find near-duplicates | [`similar::candidates()`], [`similar::likeness()`] |
//! | merge duplicates | [`merge::merged()`], [`merge::conserved()`] |
//! | detect requests for reminders | [`reminders::reminders()`] |
//! | find contradictions and clusters | [`review::review()`] |
//! | query a language model and validate its output | [`model_requests::classify_batches()`], [`model_requests::compressed()`] |
//! | extract facts and a summary from a conversation | [`conversation::process()`], [`conversation::ConversationPrompts`] |
//! | schedule the chores of a daemon | [`schedule::Schedule`], [`schedule::ChoreRunner`] |

#![forbid(unsafe_code)]

mod apply;
mod dream;
mod model_tasks;
mod progress;
mod rules;
mod store_review;
mod text_analysis;
mod upgrade;

pub mod classify;
pub mod conversation;
pub mod lifecycle;
pub mod merge;
pub mod model_requests;
pub mod plan;
pub mod reminders;
pub mod review;
pub mod schedule;
pub mod similar;

pub use dream::{DreamReport, DreamRequest, SkippedChange, dream};
pub use progress::{DreamError, ProgressCallback};
pub use rules::{DreamLevel, DreamRules, DreamTask};
pub use text_analysis::TextAnalysis;
pub use upgrade::upgrade;
