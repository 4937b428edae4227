//! Requests to a language model for dreams, and the validation of its responses.
//!
//! Both are pure functions: a request is a [`memory_core::ChatRequest`], and a response is untrusted text. [`classify_batches()`] requests
//! the categories of uncertain memories; a response can only choose a category for a memory in the request. [`build_summary_request()`] requests
//! a summary; [`validate_summary()`] rejects one that loses or invents a number, a date, an address or a link. Texts of memories are sent as JSON
//! strings, and as data, never as instruction.

mod classify;
mod compress;
mod facts;
#[cfg(test)]
mod tests;

pub use classify::{ClassifyAnswer, ClassifyBatch, classify_batches};
pub use compress::{SummaryRejection, ValidatedSummary, build_summary_request, validate_summary};
