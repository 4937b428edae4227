//! What somebody asks in passing to be reminded of.
//!
//! A memory is cut into sentences, [`memory_core::when`] tells which times they name, and two small sets of rules, one for
//! English and one for Chinese, tell which of them ask for something to happen then: a request, an appointment, a deadline.
//! Who asks to be reminded again and again is reminded of the next time, as `memory_core::remind` does it.
//! What is over, what happens by habit, what lasts, what somebody else said and what stands in code asks for nothing.

mod chinese;
mod english;
mod morning;
mod named;
mod prose;
mod strength;
#[cfg(test)]
mod tests;
mod wanted;
mod words;

pub use wanted::{MOST, Wanted, reminders};

pub(crate) use named::named;
