//! Time and random ids as injected dependencies, and their defaults from the system.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use uuid::Uuid;

use crate::{LocalZone, MAX_TIME, MemoryId, OperationId, add_time};

/// A source of the current time and of the time zone of its days.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time, from the year 0 to the year 9999.
    fn now(&self) -> DateTime<Utc>;

    /// Returns the time zone of days.
    fn zone(&self) -> LocalZone;
}

/// A source of unique ids.
pub trait IdSource: Debug + Send + Sync {
    /// Returns an id that no memory has.
    fn memory_id(&self) -> MemoryId;

    /// Returns an id that no operation has.
    fn operation_id(&self) -> OperationId;
}

/// The system clock in UTC, truncated to milliseconds.
///
/// It shows the start of 1970 or the end of 9999 if the clock of the machine is outside these years; [`Self::is_wrong`] then
/// returns true, and the stores refuse changes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    /// Returns whether the clock of the machine is before 1970 or after 9999.
    pub fn is_wrong() -> bool {
        let now = Self::system_time();
        now < UNIX_EPOCH || MAX_TIME <= Self::time_of(now)
    }

    /// Describes a clock for which [`Self::is_wrong`] returns true.
    pub const WRONG: &str = "the clock of this machine is before 1970 or after 9999";

    /// Returns a time of the system; a time before 1970 or after 9999 becomes the nearest one in these years.
    pub fn time_of(time: SystemTime) -> DateTime<Utc> {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = TimeDelta::from_std(since).unwrap_or(TimeDelta::MAX);
        add_time(DateTime::UNIX_EPOCH, since)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one clock that all others stand in for"
    )]
    fn system_time() -> SystemTime {
        SystemTime::now()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        // A finer resolution would only make the files harder to read.
        Self::time_of(Self::system_time()).trunc_subsecs(3)
    }

    fn zone(&self) -> LocalZone {
        LocalZone::utc()
    }
}

/// Random ids from the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl RandomIds {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one source of chance that all others stand in for"
    )]
    fn uuid() -> Uuid {
        Uuid::new_v4()
    }
}

impl IdSource for RandomIds {
    fn memory_id(&self) -> MemoryId {
        MemoryId::from(Self::uuid())
    }

    fn operation_id(&self) -> OperationId {
        let (bits, _) = Self::uuid().as_u64_pair();
        OperationId::from_random(bits)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_time_of_the_system_is_from_1970_to_9999() {
        for seconds in [0, 1, 253_402_300_799, 253_402_300_800, i64::MAX as u64] {
            let span = Duration::from_secs(seconds);
            for time in [UNIX_EPOCH.checked_add(span), UNIX_EPOCH.checked_sub(span)] {
                let shown = SystemClock::time_of(time.expect("the system has 64 bits of seconds"));
                assert!(
                    (DateTime::UNIX_EPOCH..=MAX_TIME).contains(&shown),
                    "{shown}"
                );
            }
        }
        assert!(!SystemClock::is_wrong());
    }
}
