//! The schedule of the daemon's background chores.
//!
//! A [`Schedule`] is pure data: it receives completed chores and writes, and returns the chore that is due next. The caller measures time
//! since the start by a monotonic clock, so that a clock that is set back or forward causes neither a burst nor a stall. Wall-clock time is
//! used only at the start, to determine how long ago events were ([`Past`]). [`Chores`] are the operations to run.

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
