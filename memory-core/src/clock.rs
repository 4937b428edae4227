//! Time and random ids as injected dependencies, and their defaults from the system.

use std::fmt::Debug;

use chrono::{DateTime, SubsecRound, Utc};
use uuid::Uuid;

use crate::{MemoryId, OperationId};

/// A source of the current time.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> DateTime<Utc>;
}

/// A source of unique ids.
pub trait IdSource: Debug + Send + Sync {
    /// Returns an id that no memory has.
    fn memory_id(&self) -> MemoryId;

    /// Returns an id that no operation has.
    fn operation_id(&self) -> OperationId;
}

/// The system clock, truncated to milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one clock that all others stand in for"
    )]
    fn now(&self) -> DateTime<Utc> {
        // A finer resolution would only make the files harder to read.
        Utc::now().trunc_subsecs(3)
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
