//! A deterministic clock and deterministic ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use uuid::Uuid;

use crate::{Clock, IdSource, LocalZone, MemoryId, OperationId};

/// A clock that starts on 7 May 2026 at 10:00 UTC and advances by one second per call.
#[derive(Debug)]
pub struct FakeClock {
    seconds: AtomicI64,
    zone: LocalZone,
}

/// The start time, 2026-05-07T10:00:00Z, in seconds.
const START: i64 = 1_778_148_000;

impl Default for FakeClock {
    fn default() -> Self {
        Self::in_zone(0)
    }
}

impl FakeClock {
    /// Returns a clock in the zone that is `hours` ahead of UTC.
    ///
    /// # Panics
    /// If a zone cannot be that far ahead.
    pub fn in_zone(hours: i32) -> Self {
        let offset = FixedOffset::east_opt(hours * 3600).expect("a zone has this offset");
        Self {
            seconds: AtomicI64::new(START),
            zone: LocalZone::new(Arc::new(move |time| time.with_timezone(&offset))),
        }
    }

    /// Advances the clock by `by`.
    pub fn advance(&self, by: TimeDelta) {
        self.seconds.fetch_add(by.num_seconds(), Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> DateTime<Utc> {
        let seconds = self.seconds.fetch_add(1, Ordering::Relaxed);
        DateTime::from_timestamp(seconds, 0).expect("tests do not run for thousands of years")
    }

    fn zone(&self) -> LocalZone {
        self.zone.clone()
    }
}

/// A source of deterministic ids that differ in their first 8 digits.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

/// 2^64 divided by the golden ratio: an odd number that makes consecutive counts look unrelated.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl CountingIds {
    fn next(&self) -> u64 {
        self.0
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
            .wrapping_mul(SPREAD)
    }
}

impl IdSource for CountingIds {
    fn memory_id(&self) -> MemoryId {
        let bits = self.next();
        MemoryId::from(Uuid::from_u64_pair(bits, !bits))
    }

    fn operation_id(&self) -> OperationId {
        OperationId::from_random(self.next() >> 8)
    }
}
