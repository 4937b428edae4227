//! What a language model is asked, and what is believed of its answers.
//!
//! Both sides are pure: a request goes out as a [`memory_core::ChatRequest`], and an answer is a text that may be wrong or meant to
//! harm. [`classify_batches()`] asks for the categories of uncertain memories; an answer can only choose among those asked about.
//! [`compress_request()`] asks for a summary; [`compressed()`] refuses one that loses a number, a date, an address or a link, or
//! makes one up. What is remembered goes to the model as strings of JSON, and as data, never as instruction.

mod classify;
mod compress;
mod facts;
mod leftover;
mod script;
#[cfg(test)]
mod tests;

pub use classify::{Batch, Filed, classify_batches};
pub use compress::{Compressed, Rejected, compress_request, compressed};
