//! What is made of what was said, in the background: facts, what becomes of those that were known, and a rolling summary.
//!
//! [`process()`] does the jobs of a [`memory_core::conversation::JobQueue`]. Each is decided first, written down, and done then, so that one
//! that was cut off goes on where it was. Without a language model nothing is drawn from what was said, and it is found all the same.

mod ask;
mod backoff;
mod batch;
mod extract;
mod process;
mod prompts;

pub use backoff::Backoff;
pub use process::{ProcessRules, Processed, process, process_with_backoff};
pub use prompts::Prompts;
