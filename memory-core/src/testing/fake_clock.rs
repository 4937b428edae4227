//! Time and chance that are the same in every run.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::{Clock, IdSource, MemoryId, OperationId};

/// A clock that starts on 7 May 2026 at 10:00 UTC and goes on by one second each time it is asked.
#[derive(Debug)]
pub struct FakeClock(AtomicI64);

/// 2026-05-07T10:00:00Z, in seconds.
const START: i64 = 1_778_148_000;

impl Default for FakeClock {
    fn default() -> Self {
        Self(AtomicI64::new(START))
    }
}

impl FakeClock {
    /// Lets time pass.
    pub fn advance(&self, by: TimeDelta) {
        self.0.fetch_add(by.num_seconds(), Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> DateTime<Utc> {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        DateTime::from_timestamp(seconds, 0).expect("tests do not run for thousands of years")
    }
}

/// Ids that count: the n-th one is the same in every run, and its first 8 digits are its own.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

/// An odd number with many bits set, so that consecutive counts look nothing alike (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl CountingIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(SPREAD)
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
