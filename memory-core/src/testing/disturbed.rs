//! Fakes of conversations and jobs with a hook at each step, to inject delays and errors.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{FakeConversations, FakeJobs};
use crate::conversation::{
    ConversationId, ConversationOperation, ConversationStore, Entry, EntryChange, EntryId, EntryVector, Job, JobQueue, JobState,
    PendingJob, Shelf, TakenUp,
};
use crate::{OperationId, StoreError};

/// The point at which the hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before a conversation is read.
    Read,
    /// Before changes are made or a job is pushed.
    Write,
    /// After that, before the call returns.
    Written,
}

type Between = dyn Fn(Step) -> Result<(), StoreError> + Send + Sync;

/// A fake that calls a hook at each step, which may block the caller or return an error.
pub struct Disturbed<T> {
    inner: T,
    between: Box<Between>,
}

impl<T: Default> Disturbed<T> {
    /// Returns an empty fake that calls `between` at each step.
    pub fn new(between: impl Fn(Step) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        Self { inner: T::default(), between: Box::new(between) }
    }
}

impl<T> Disturbed<T> {
    fn write(&self, write: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        (self.between)(Step::Write)?;
        write()?;
        (self.between)(Step::Written)
    }
}

impl<T: Debug> Debug for Disturbed<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Disturbed").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl ConversationStore for Disturbed<FakeConversations> {
    fn place(&self) -> String {
        self.inner.place()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        self.inner.conversations()
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<Shelf>, StoreError> {
        (self.between)(Step::Read)?;
        self.inner.read(conversation)
    }

    fn asked_since(&self, moment: DateTime<Utc>) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.inner.asked_since(moment)
    }

    fn look_again(&self, conversation: &ConversationId, ids: &[EntryId]) -> Result<bool, StoreError> {
        self.inner.look_again(conversation, ids)
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<Entry>, StoreError> {
        self.inner.deleted(conversation)
    }

    fn commit(&self, conversation: &ConversationId, changes: &[EntryChange]) -> Result<(), StoreError> {
        self.write(|| self.inner.commit(conversation, changes))
    }

    fn commit_all(&self, changes: &[(&ConversationId, &[EntryChange])]) -> Result<(), StoreError> {
        self.write(|| self.inner.commit_all(changes))
    }

    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: &[EntryChange],
        operation: &ConversationOperation,
    ) -> Result<(), StoreError> {
        self.write(|| self.inner.commit_operation(conversation, changes, operation))
    }

    fn keep_vectors(&self, conversation: &ConversationId, identity: &str, vectors: &[EntryVector]) -> Result<(), StoreError> {
        self.inner.keep_vectors(conversation, identity, vectors)
    }
}

impl JobQueue for Disturbed<FakeJobs> {
    fn push(&self, jobs: &[Job]) -> Result<(), StoreError> {
        self.write(|| self.inner.push(jobs))
    }

    fn note(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError> {
        self.inner.note(states)
    }

    fn pending(&self) -> Result<Vec<PendingJob>, StoreError> {
        self.inner.pending()
    }

    fn taken_up(&self, now: DateTime<Utc>) -> Result<TakenUp, StoreError> {
        self.inner.taken_up(now)
    }

    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError> {
        self.inner.claim()
    }
}
