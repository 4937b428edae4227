//! What somebody asks in passing to be reminded of.
//!
//! A memory is cut into sentences, [`memory_core::when`] tells which times they name, and two small sets of rules, one for
//! English and one for Chinese, tell which of them ask for something to happen then: a request, an appointment, a deadline.
//! What is over, what happens again and again, what lasts, what somebody else said and what stands in code asks for nothing.

mod chinese;
mod english;
mod morning;
mod prose;
mod strength;
#[cfg(test)]
mod tests;
mod wanted;
mod words;

pub use wanted::{MOST, Wanted, reminders};
