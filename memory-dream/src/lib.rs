//! Background refinement of memories: classification, linking, merging, expiry and reminders.
//!
//! Each kind of refinement first decides and then acts. A [`plan::DreamPlan`] is data that accounts for every memory. One function applies it
//! through the use cases of [`memory_core`], as one operation that a single `undo` reverts. This crate accesses no disk, database or clock
//! directly.
//!
//! | task | items |
//! |---|---|
//! | refine memories | [`dream()`], [`DreamLevel`], [`DreamTask`], [`DreamRules`] |
//! | preview the changes | [`plan::plan_dream()`] |
//! | let a person accept the changes one by one | [`SelectiveDream`] |
//! | determine the effect of age | [`lifecycle::lifecycle_action()`], [`lifecycle::find_exemption()`] |
//! | choose a category | [`classify::choose_category()`] |
//! | file one memory | [`upgrade()`] |
//! | find near-duplicates | [`similar::candidate_pairs()`], [`similar::compare_texts()`] |
//! | merge duplicates | [`merge::merge_memories()`], [`merge::check_conserved()`] |
//! | detect requests for reminders | [`reminders::find_reminders()`] |
//! | find the memories that relate to a new one | [`TextNeighbours`] |
//! | find contradictions and clusters | [`review::review_memories()`] |
//! | query a language model and validate its output | [`model_requests::classify_batches()`], [`model_requests::validate_summary()`] |
//! | extract facts and a summary from a conversation | [`conversation::process_jobs()`], [`conversation::ConversationPrompts`] |
//! | schedule the chores of a daemon | [`schedule::Schedule`], [`schedule::Chore`] |

#![forbid(unsafe_code)]

mod apply;
mod dream;
mod expiring;
mod language;
mod model_tasks;
mod neighbours;
mod rules;
mod selective;
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

pub use apply::SkippedChange;
pub use dream::{DreamError, DreamReport, ProgressCallback, dream};
pub use neighbours::TextNeighbours;
pub use rules::{DreamLevel, DreamRequest, DreamRules, DreamTask};
pub use selective::{LastPlan, SelectiveDream};
pub use text_analysis::TextAnalysis;
pub use upgrade::upgrade;
