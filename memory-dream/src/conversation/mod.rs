//! Extracts facts from conversations in the background, reconciles them, and updates summaries.
//!
//! [`process()`] executes the jobs of a [`memory_core::conversation::JobQueue`]. Each decision is saved before it is applied, so that an
//! interrupted job continues at the same point. Without a language model no facts are extracted, but turns remain searchable.

mod ask;
mod backoff;
mod batch;
mod extract;
mod process;
mod prompts;

pub use backoff::Backoff;
pub use process::{ProcessRules, Processed, process, process_with_backoff};
pub use prompts::Prompts;
