//! In-memory conversations and jobs.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};

use super::fake_models::lock;
use crate::conversation::{
    ConversationEntry, ConversationId, ConversationIndex, ConversationStore, EnqueuedTurns,
    EntryChange, EntryId, EntryRole, EntryVector, Job, JobQueue, JobState, PendingJob,
};
use crate::secret::Checked;
use crate::{Operation, OperationId, StoreError};

/// The point at which the hook of a fake is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookStep {
    /// Before a conversation is read.
    Read,
    /// Before changes are made or a job is pushed.
    Write,
    /// After that, before the call returns.
    Written,
}

/// A function that is called at each step, and may block the caller or return an error.
struct FakeHook(Box<dyn Fn(HookStep) -> Result<(), StoreError> + Send + Sync>);

impl Default for FakeHook {
    fn default() -> Self {
        Self(Box::new(|_| Ok(())))
    }
}

impl Debug for FakeHook {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("FakeHook")
    }
}

impl FakeHook {
    fn around_write(&self, write: impl FnOnce()) -> Result<(), StoreError> {
        (self.0)(HookStep::Write)?;
        write();
        (self.0)(HookStep::Written)
    }
}

/// An in-memory [`ConversationStore`].
#[derive(Debug, Default)]
pub struct FakeConversations {
    conversations: Mutex<BTreeMap<ConversationId, FakeConversation>>,
    hook: FakeHook,
}

#[derive(Debug, Default)]
struct FakeConversation {
    shelf: Arc<ConversationIndex>,
    deleted: Vec<ConversationEntry>,
    is_unreadable: bool,
}

impl FakeConversations {
    /// Returns an empty store that calls `hook` at each step.
    pub fn with_hook(
        hook: impl Fn(HookStep) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            hook: FakeHook(Box::new(hook)),
            ..Self::default()
        }
    }

    /// Lets each further read of a conversation fail.
    pub fn make_unreadable(&self, conversation: &ConversationId) {
        let mut all = lock(&self.conversations);
        all.entry(conversation.clone()).or_default().is_unreadable = true;
    }
}

impl FakeConversation {
    fn delete(&mut self, id: &EntryId, replaced_by: Option<&EntryId>) {
        if let Some(entry) = Arc::make_mut(&mut self.shelf).remove(id) {
            let tombstone = ConversationEntry {
                replaced_by: replaced_by.cloned(),
                ..(*entry).clone()
            };
            Arc::make_mut(&mut self.shelf).add_tombstone(&tombstone);
            self.deleted.push(tombstone);
        } else if let Some(tombstone) = self
            .deleted
            .iter_mut()
            .find(|entry| entry.id == *id && entry.replaced_by.is_none())
        {
            tombstone.replaced_by = replaced_by.cloned();
            Arc::make_mut(&mut self.shelf).add_tombstone(tombstone);
        }
    }

    fn add(&mut self, entry: &ConversationEntry) {
        if entry.role == EntryRole::Summary {
            let is_same = |former: &&Arc<ConversationEntry>| ***former == *entry;
            let former = self
                .shelf
                .summary()
                .filter(|former| !is_same(former))
                .map(|former| (**former).clone());
            self.deleted
                .extend(former.filter(|former| !self.deleted.contains(former)));
            Arc::make_mut(&mut self.shelf).put(entry.clone());
        } else if self.shelf.get(&entry.id).is_none()
            && !self
                .deleted
                .iter()
                .any(|tombstone| tombstone.id == entry.id)
        {
            Arc::make_mut(&mut self.shelf).put(entry.clone());
        }
    }
}

impl ConversationStore for FakeConversations {
    fn location(&self) -> String {
        "memory".into()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        let kept = lock(&self.conversations);
        let has_some = |held: &ConversationIndex| !held.is_empty() || held.summary().is_some();
        Ok(kept
            .iter()
            .filter(|(_, kept)| has_some(&kept.shelf))
            .map(|(id, _)| id.clone())
            .collect())
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError> {
        (self.hook.0)(HookStep::Read)?;
        let all = lock(&self.conversations);
        match all.get(conversation) {
            Some(kept) if kept.is_unreadable => Err(StoreError::Conflict {
                what: conversation.to_string(),
            }),
            Some(kept) => Ok(Arc::clone(&kept.shelf)),
            None => Ok(Arc::default()),
        }
    }

    fn user_turns_since(
        &self,
        moment: DateTime<Utc>,
    ) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
        let mut found: Vec<_> = lock(&self.conversations)
            .values()
            .flat_map(|kept| kept.shelf.entries())
            .collect();
        found.retain(|entry| entry.role == EntryRole::User && moment < entry.created_at);
        Ok(found)
    }

    fn recheck_entries(&self, _: &ConversationId, _: &[EntryId]) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError> {
        let mut deleted = lock(&self.conversations)
            .get(conversation)
            .map(|kept| kept.deleted.clone())
            .unwrap_or_default();
        deleted.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(deleted)
    }

    fn commit(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
    ) -> Result<(), StoreError> {
        self.commit_all(&[(conversation, changes)])
    }

    fn commit_all(
        &self,
        changes: &[(&ConversationId, Checked<&[EntryChange]>)],
    ) -> Result<(), StoreError> {
        for (_, changes) in changes {
            changes.iter().try_for_each(EntryChange::check)?;
        }
        self.hook.around_write(|| {
            let mut all = lock(&self.conversations);
            for (conversation, changes) in changes {
                let kept = all.entry((*conversation).clone()).or_default();
                for change in **changes {
                    if let EntryChange::Add(entry) = change {
                        kept.add(entry);
                    }
                }
                for change in **changes {
                    if let EntryChange::Delete { id, replaced_by } = change {
                        kept.delete(id, replaced_by.as_ref());
                    }
                }
            }
        })
    }

    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
        _: &Operation,
    ) -> Result<(), StoreError> {
        self.commit(conversation, changes)
    }

    fn store_vectors(
        &self,
        conversation: &ConversationId,
        identity: &str,
        vectors: &[EntryVector],
    ) -> Result<(), StoreError> {
        let mut all = lock(&self.conversations);
        Arc::make_mut(&mut all.entry(conversation.clone()).or_default().shelf)
            .add_vectors(identity, vectors);
        Ok(())
    }
}

/// An in-memory [`JobQueue`].
#[derive(Debug, Default)]
pub struct FakeJobs {
    jobs: Mutex<Vec<PendingJob>>,
    since: Mutex<Option<DateTime<Utc>>>,
    is_claimed: Arc<AtomicBool>,
    hook: FakeHook,
}

impl FakeJobs {
    /// Returns an empty queue that calls `hook` before and after jobs are pushed.
    pub fn with_hook(
        hook: impl Fn(HookStep) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            hook: FakeHook(Box::new(hook)),
            ..Self::default()
        }
    }
}

#[derive(Debug)]
struct FakeJobClaim(Arc<AtomicBool>);

impl Drop for FakeJobClaim {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl JobQueue for FakeJobs {
    fn push(&self, new: &[Job]) -> Result<(), StoreError> {
        self.hook.around_write(|| {
            let mut jobs = lock(&self.jobs);
            for job in new {
                if jobs.iter().all(|other| other.job.id != job.id) {
                    jobs.push(PendingJob {
                        job: job.clone(),
                        state: JobState::Waiting { attempts: 0 },
                    });
                }
            }
        })
    }

    fn record_states(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError> {
        let mut jobs = lock(&self.jobs);
        for (job, state) in states {
            if let Some(own) = jobs
                .iter_mut()
                .find(|own| own.job.id == *job && own.state != JobState::Done)
            {
                own.state = state.clone();
            }
        }
        Ok(())
    }

    fn pending(&self) -> Result<Vec<PendingJob>, StoreError> {
        Ok(lock(&self.jobs)
            .iter()
            .filter(|job| job.state != JobState::Done)
            .cloned()
            .collect())
    }

    fn enqueued_turns(&self, now: DateTime<Utc>) -> Result<EnqueuedTurns, StoreError> {
        let jobs = lock(&self.jobs);
        let since =
            *lock(&self.since).get_or_insert_with(|| jobs.first().map_or(now, |own| own.job.at));
        let turns = jobs
            .iter()
            .map(|own| (own.job.conversation.clone(), own.job.turn.clone()))
            .collect();
        Ok(EnqueuedTurns { since, turns })
    }

    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError> {
        let is_free = !self.is_claimed.swap(true, Ordering::AcqRel);
        Ok(is_free
            .then(|| Box::new(FakeJobClaim(Arc::clone(&self.is_claimed))) as Box<dyn Debug + Send>))
    }
}
