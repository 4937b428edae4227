//! Extracts facts from conversations in the background, reconciles them, and updates summaries.
//!
//! [`process_jobs()`] executes the jobs of a [`memory_core::conversation::JobQueue`]. Each decision is saved before it is applied, so that an
//! interrupted job continues at the same point. Without a language model no facts are extracted, but turns remain searchable.
//!
//! The pause after a failure of the model grows, and each turn ends after some attempts. The less of the daily
//! budget is left, the more turns share a request. Once the budget is used up, turns wait for the next day. So do
//! facts that could not be reconciled, since they may contradict known ones; after some attempts they are added.

mod backoff;
mod extract;
mod job_run;
mod process;
mod requests;

pub use backoff::Backoff;
pub use job_run::{ProcessReport, ProcessRules};
pub use process::process_jobs;
pub use requests::{ConversationPrompts, ModelFactExtractor};
