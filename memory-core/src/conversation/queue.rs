//! The job queue for the extraction of facts.

use std::collections::HashSet;
use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{ConversationEntry, ConversationId, EntryChange, EntryId};
use crate::{ContentHash, OperationId, StoreError};

/// A job: a turn from which facts are to be extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The id.
    pub id: OperationId,
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn of the user.
    pub turn: EntryId,
    /// The time of the turn.
    pub at: DateTime<Utc>,
}

impl Job {
    /// Returns the job of a turn. The id is derived from the turn, so that each turn has one job.
    pub fn of(turn: &ConversationEntry) -> Self {
        let hash = ContentHash::of(&format!("{}\n{}", turn.conversation, turn.id));
        let bits = hash.as_bytes().iter().take(6).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let id = OperationId::from_random(bits);
        Self { id, conversation: turn.conversation.clone(), turn: turn.id.clone(), at: turn.created_at }
    }
}

/// The progress of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// No decision yet, after failed requests to a model.
    Waiting {
        /// The number of failed requests.
        attempts: u32,
    },
    /// Facts were extracted, and their reconciliation is pending.
    ///
    /// The daily budget was used up or the model failed.
    Extracted {
        /// The facts.
        facts: Vec<String>,
        /// The number of failed requests for the reconciliation.
        attempts: u32,
    },
    /// The changes were decided, and some or all of them may be done.
    Decided {
        /// The changes of facts; empty if they are done and only the summary must be updated.
        changes: Vec<EntryChange>,
        /// The facts extracted from the turn.
        facts: Vec<String>,
    },
    /// The job is complete.
    Done,
}

/// A job that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingJob {
    /// The job.
    pub job: Job,
    /// The progress; never [`JobState::Done`].
    pub state: JobState,
}

/// The turns that have or had a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnqueuedTurns {
    /// The start of the period for which the turns are recorded.
    pub since: DateTime<Utc>,
    /// The turns in this period that have or had a job.
    pub turns: HashSet<(ConversationId, EntryId)>,
}

/// A durable job queue, so that no turn is lost in a crash or a power loss.
///
/// Every implementation passes `testing::job_queue_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. A job without a recorded end is processed again, so
/// its processing must be idempotent.
pub trait JobQueue: Debug + Send + Sync {
    /// Adds jobs in order, except those that were added before. Once this returns, they survive a crash.
    ///
    /// # Errors
    /// A disk error; some jobs may have been added.
    fn push(&self, jobs: &[Job]) -> Result<(), StoreError>;

    /// Records the states of jobs, with the same durability. Done and unknown jobs remain unchanged.
    ///
    /// # Errors
    /// A disk error; some states may have been recorded.
    fn record_states(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError>;

    /// Returns the jobs that are not done, in the order in which they were added.
    ///
    /// # Errors
    /// If the jobs cannot be read.
    fn pending(&self) -> Result<Vec<PendingJob>, StoreError>;

    /// Returns the turns that have or had a job, as far back as they are recorded.
    ///
    /// The period includes at least all turns after the last one with a job. For a queue that was never used it starts at `now`.
    ///
    /// # Errors
    /// If the jobs cannot be read, or the start of the period cannot be recorded.
    fn enqueued_turns(&self, now: DateTime<Utc>) -> Result<EnqueuedTurns, StoreError>;

    /// Acquires the lock to process the jobs, held until the returned value is dropped.
    ///
    /// Returns `None` if another process holds the lock.
    ///
    /// # Errors
    /// If the state of the lock cannot be determined.
    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError>;
}
