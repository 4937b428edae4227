//! What is still to be made of what was said.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{ConversationId, EntryChange, EntryId};
use crate::{OperationId, StoreError};

/// A turn of which facts are to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What it is called.
    pub id: OperationId,
    /// The conversation.
    pub conversation: ConversationId,
    /// What the person said.
    pub turn: EntryId,
    /// When.
    pub at: DateTime<Utc>,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Nothing was decided. A model was asked so often and did not answer.
    Waiting {
        /// How often.
        attempts: u32,
    },
    /// It was decided what to change, and perhaps some or all of it was done.
    Decided {
        /// The changes, facts only.
        changes: Vec<EntryChange>,
        /// What was drawn from the turn.
        facts: Vec<String>,
    },
    /// All was done, or nothing is to be done.
    Done,
}

/// A job that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingJob {
    /// Which.
    pub job: Job,
    /// How far it is; never [`JobState::Done`].
    pub state: JobState,
}

/// Keeps jobs until they are done, so that no turn is forgotten by a crash or a power cut. Every implementation passes
/// `testing::job_queue_suite`.
///
/// All methods may be called from any thread and from many processes at once. A job whose end was not written down is taken up again, so
/// whatever is done for it is done so that twice is as good as once.
pub trait JobQueue: Debug + Send + Sync {
    /// Adds a job. Once this returns, neither a crash nor a power cut loses it.
    ///
    /// # Errors
    /// Whatever the disk refuses.
    fn push(&self, job: &Job) -> Result<(), StoreError>;

    /// Writes down how far a job is, as durably. A job that is done or not known stays so.
    ///
    /// # Errors
    /// Whatever the disk refuses.
    fn note(&self, job: &OperationId, state: &JobState) -> Result<(), StoreError>;

    /// Returns the jobs that are not done, in the order in which they were added.
    ///
    /// # Errors
    /// When they cannot be read.
    fn pending(&self) -> Result<Vec<PendingJob>, StoreError>;

    /// Returns the right to do the jobs, which one process at a time has, as long as it keeps what is returned; nothing if another has it.
    ///
    /// # Errors
    /// When that cannot be told.
    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError>;
}
