//! The schedule of the daemon's background chores.
//!
//! A [`Schedule`] is pure data: it receives completed chores and writes, and returns the chore that is due next. The caller measures time
//! since the start by a monotonic clock, so that a clock that is set back or forward causes neither a burst nor a stall. Wall-clock time is
//! used only at the start, to determine how long ago events were ([`ScheduleHistory`]). The caller runs the chores.
//!
//! A chore that runs long pauses long while there are no writes.

mod chore;
mod debounce;
mod plan;
#[cfg(test)]
mod tests;

pub use chore::{CancellationToken, Chore, ChoreStatus};
pub use debounce::EventDebouncer;
pub use plan::{Schedule, ScheduleHistory, ScheduleRules};
