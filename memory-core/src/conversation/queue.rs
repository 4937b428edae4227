//! What is still to be made of what was said.

use std::collections::HashSet;
use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{ConversationId, Entry, EntryChange, EntryId};
use crate::{ContentHash, OperationId, StoreError};

/// A turn of which facts are to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What it is called.
    pub id: OperationId,
    /// The conversation.
    pub conversation: ConversationId,
    /// What the person said.
    pub turn: EntryId,
    /// When that was said.
    pub at: DateTime<Utc>,
}

impl Job {
    /// Returns the job of a turn. It follows from the turn what it is called, so that there is one for each.
    pub fn of(turn: &Entry) -> Self {
        let hash = ContentHash::of(&format!("{}\n{}", turn.conversation, turn.id));
        let bits = hash.as_bytes().iter().take(6).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let id = OperationId::from_random(bits);
        Self { id, conversation: turn.conversation.clone(), turn: turn.id.clone(), at: turn.created_at }
    }
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Nothing was decided. A model was asked so often and did not answer.
    Waiting {
        /// How often.
        attempts: u32,
    },
    /// Facts were extracted. It is not decided what becomes of them, because the budget of the day was used up or the model failed.
    Extracted {
        /// The facts.
        facts: Vec<String>,
        /// How many times the model was asked in vain what becomes of them.
        attempts: u32,
    },
    /// It was decided what to change, and perhaps some or all of it was done.
    Decided {
        /// The changes, facts only; none once they were made and only the summary is to be brought up to date.
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

/// Which turns have a job, or had one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenUp {
    /// Of turns from then on it is known.
    pub since: DateTime<Utc>,
    /// Which of those have one, or had one.
    pub turns: HashSet<(ConversationId, EntryId)>,
}

/// Keeps jobs until they are done, so that no turn is forgotten by a crash or a power cut. Every implementation passes
/// `testing::job_queue_suite`.
///
/// All methods may be called from any thread and from many processes at once. A job whose end was not written down is taken up again, so
/// whatever is done for it is done so that twice is as good as once.
pub trait JobQueue: Debug + Send + Sync {
    /// Adds jobs in their order, except those that were added before. Once this returns, neither a crash nor a power cut loses any.
    ///
    /// # Errors
    /// Whatever the disk refuses. Then some may have been added.
    fn push(&self, jobs: &[Job]) -> Result<(), StoreError>;

    /// Records the states of jobs, as durably. A job that is done or not known stays so.
    ///
    /// # Errors
    /// Whatever the disk refuses. Then some may have been recorded.
    fn note(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError>;

    /// Returns the jobs that are not done, in the order in which they were added.
    ///
    /// # Errors
    /// When they cannot be read.
    fn pending(&self) -> Result<Vec<PendingJob>, StoreError>;

    /// Returns which turns have a job or had one, as far back as that is known, at least of those later than the last one of which there
    /// was a job. A queue that nobody has used knows it from `now` on.
    ///
    /// # Errors
    /// When that cannot be read, or from when on it is known cannot be written down.
    fn taken_up(&self, now: DateTime<Utc>) -> Result<TakenUp, StoreError>;

    /// Returns the right to do the jobs, which one process at a time has, as long as it keeps what is returned; nothing if another has it.
    ///
    /// # Errors
    /// When that cannot be told.
    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError>;
}
