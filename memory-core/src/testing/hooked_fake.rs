//! Fakes of conversations and jobs with a hook at each step, to inject delays and errors.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{FakeConversations, FakeJobs};
use crate::conversation::{
    ConversationEntry, ConversationId, ConversationIndex, ConversationStore, EnqueuedTurns,
    EntryChange, EntryId, EntryVector, Job, JobQueue, JobState, PendingJob,
};
use crate::secret::Checked;
use crate::{Operation, OperationId, StoreError};

/// The point at which the hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookStep {
    /// Before a conversation is read.
    Read,
    /// Before changes are made or a job is pushed.
    Write,
    /// After that, before the call returns.
    Written,
}

type StepHook = dyn Fn(HookStep) -> Result<(), StoreError> + Send + Sync;

/// A fake that calls a hook at each step, which may block the caller or return an error.
pub struct HookedFake<T> {
    inner: T,
    between: Box<StepHook>,
}

impl<T: Default> HookedFake<T> {
    /// Returns an empty fake that calls `between` at each step.
    pub fn new(
        between: impl Fn(HookStep) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner: T::default(),
            between: Box::new(between),
        }
    }
}

impl<T> HookedFake<T> {
    fn write(&self, write: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        (self.between)(HookStep::Write)?;
        write()?;
        (self.between)(HookStep::Written)
    }
}

impl<T: Debug> Debug for HookedFake<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Disturbed")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl ConversationStore for HookedFake<FakeConversations> {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        self.inner.conversations()
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError> {
        (self.between)(HookStep::Read)?;
        self.inner.read(conversation)
    }

    fn user_turns_since(
        &self,
        moment: DateTime<Utc>,
    ) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
        self.inner.user_turns_since(moment)
    }

    fn recheck_entries(
        &self,
        conversation: &ConversationId,
        ids: &[EntryId],
    ) -> Result<bool, StoreError> {
        self.inner.recheck_entries(conversation, ids)
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError> {
        self.inner.deleted(conversation)
    }

    fn commit(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
    ) -> Result<(), StoreError> {
        self.write(|| self.inner.commit(conversation, changes))
    }

    fn commit_all(
        &self,
        changes: &[(&ConversationId, Checked<&[EntryChange]>)],
    ) -> Result<(), StoreError> {
        self.write(|| self.inner.commit_all(changes))
    }

    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
        operation: &Operation,
    ) -> Result<(), StoreError> {
        self.write(|| {
            self.inner
                .commit_operation(conversation, changes, operation)
        })
    }

    fn store_vectors(
        &self,
        conversation: &ConversationId,
        identity: &str,
        vectors: &[EntryVector],
    ) -> Result<(), StoreError> {
        self.inner.store_vectors(conversation, identity, vectors)
    }
}

impl JobQueue for HookedFake<FakeJobs> {
    fn push(&self, jobs: &[Job]) -> Result<(), StoreError> {
        self.write(|| self.inner.push(jobs))
    }

    fn record_states(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError> {
        self.inner.record_states(states)
    }

    fn pending(&self) -> Result<Vec<PendingJob>, StoreError> {
        self.inner.pending()
    }

    fn enqueued_turns(&self, now: DateTime<Utc>) -> Result<EnqueuedTurns, StoreError> {
        self.inner.enqueued_turns(now)
    }

    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError> {
        self.inner.claim()
    }
}
