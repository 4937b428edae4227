//! The job queue for the extraction of facts, and the turns that enter it.

use std::collections::HashSet;
use std::fmt::Debug;

use chrono::{DateTime, TimeDelta, Utc};

use super::{ConversationEntry, ConversationId, Conversations, EntryChange, EntryId};
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
        let bits = hash
            .as_bytes()
            .iter()
            .take(6)
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let id = OperationId::from_random(bits);
        Self {
            id,
            conversation: turn.conversation.clone(),
            turn: turn.id.clone(),
            at: turn.created_at,
        }
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

/// Enqueues `turn` for the extraction of facts; the job survives a crash.
///
/// # Errors
/// An error of the queue.
pub fn enqueue(queue: &dyn JobQueue, turn: &ConversationEntry) -> Result<(), StoreError> {
    queue.push(&[Job::of(turn)])
}

/// The maximum age of a turn that a crashed process may have left without a job.
///
/// Older turns, and turns with a later time, were copied from another machine, which processes them.
const MAX_TURN_AGE: TimeDelta = TimeDelta::days(1);

/// Enqueues stored turns that a crashed process did not enqueue, and returns their number.
///
/// # Errors
/// If the turns cannot be read, or an error of the queue.
pub fn enqueue_missing(
    conversations: &Conversations,
    queue: &dyn JobQueue,
) -> Result<usize, StoreError> {
    let now = conversations.clock.now();
    let known = queue.enqueued_turns(now)?;
    let mut rest = conversations.store.user_turns_since(known.since)?;
    rest.retain(|turn| (TimeDelta::zero()..=MAX_TURN_AGE).contains(&(now - turn.created_at)));
    rest.retain(|turn| {
        !known
            .turns
            .contains(&(turn.conversation.clone(), turn.id.clone()))
    });
    rest.sort_by_key(|turn| turn.created_at);
    let jobs: Vec<Job> = rest.iter().map(|turn| Job::of(turn)).collect();
    queue.push(&jobs)?;
    Ok(rest.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conversation::{ConversationId, EntryChange, EntryRole, JobState, store_turn};
    use crate::secret::Checked;
    use crate::testing::{FakeConversations, FakeJobs, conversations};

    #[test]
    fn a_turn_whose_job_was_never_added_gets_one_and_no_other_does() {
        let (all, queue) = (
            conversations(Arc::new(FakeConversations::default())),
            FakeJobs::default(),
        );
        let keep = |place: &str, role, text: &str| {
            store_turn(&all, &place.parse().unwrap(), role, text)
                .unwrap()
                .expect("it says something")
        };
        keep("default", EntryRole::User, "from before");
        assert_eq!(
            enqueue_missing(&all, &queue).unwrap(),
            0,
            "what another program kept long ago is no work"
        );
        let done = keep("default", EntryRole::User, "done");
        enqueue(&queue, &done).unwrap();
        queue
            .record_states(&[(Job::of(&done).id, JobState::Done)])
            .unwrap();
        enqueue(&queue, &keep("work", EntryRole::User, "waits")).unwrap();
        keep("default", EntryRole::Assistant, "an answer");
        let lost = [
            keep("work", EntryRole::User, "lost"),
            keep("default", EntryRole::User, "lost too"),
        ];
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 2);
        let turns: Vec<_> = queue
            .pending()
            .unwrap()
            .into_iter()
            .map(|pending| pending.job.turn)
            .collect();
        assert_eq!(turns[1..], lost.clone().map(|turn| turn.id));
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 0);
        let [later, _] = lost;
        let created_at = later.created_at + TimeDelta::days(2);
        let brought = ConversationEntry {
            id: "from-elsewhere".parse().unwrap(),
            created_at,
            ..later
        };
        all.store
            .commit(
                &brought.conversation.clone(),
                Checked::allowed(&[EntryChange::Add(brought)]),
            )
            .unwrap();
        assert_eq!(
            enqueue_missing(&all, &queue).unwrap(),
            0,
            "what others said elsewhere is theirs to see to"
        );
    }

    #[test]
    fn a_turn_has_one_job_however_often_it_is_taken_up() {
        let (all, queue) = (
            conversations(Arc::new(FakeConversations::default())),
            FakeJobs::default(),
        );
        let place = ConversationId::default_conversation();
        let turn = store_turn(&all, &place, EntryRole::User, "tea")
            .unwrap()
            .expect("it says something");
        let other = store_turn(&all, &"work".parse().unwrap(), EntryRole::User, "tea")
            .unwrap()
            .expect("it says something");
        for turn in [&turn, &other, &turn] {
            enqueue(&queue, turn).unwrap();
        }
        assert_eq!(queue.pending().unwrap().len(), 2);
    }
}
