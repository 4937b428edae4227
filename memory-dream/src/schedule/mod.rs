//! When the daemon does what.
//!
//! A [`Schedule`] is data: told what has run and when somebody wrote, it tells what is due next. Whoever obeys it measures the
//! time since it began by a clock that nobody sets, so that one that is set back or ahead makes neither a burst nor a stall;
//! the clock on the wall only tells, at the beginning, how long ago things were ([`Past`]). [`Chores`] are what is done.

mod chore;
mod chores;
mod debounce;
mod past;
mod plan;
mod stop;
#[cfg(test)]
mod tests;

pub use chore::Chore;
pub use chores::{Chores, Done, perform};
pub use debounce::Debounce;
pub use past::Past;
pub use plan::{Rules, Schedule};
pub use stop::Stop;
