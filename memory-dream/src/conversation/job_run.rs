//! One run over the jobs of conversations: its state, and the changes that it makes.

use memory_core::conversation::{
    ConversationId, Conversations, EntryChange, EntryVector, Job, JobQueue, JobState, change,
    plan_eviction, summary_entry,
};
use memory_core::secret::Checked;
use memory_core::{ChatError, ChatModel, ContentHash, StoreError, Verb};

use super::{Backoff, ConversationPrompts, requests};

/// The actors in the log of operations: `MODEL_ACTOR` reconciles facts, `PROXY_ACTOR` deletes the oldest entries.
const MODEL_ACTOR: &str = "model";
const PROXY_ACTOR: &str = "proxy";

/// The settings for processing jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRules {
    /// Maximum number of facts and turns of a conversation; the oldest are deleted.
    pub max_entries: usize,
    /// Whether to extract facts and update summaries.
    pub summarise: bool,
    /// The prompts.
    pub prompts: ConversationPrompts,
}

impl Default for ProcessRules {
    fn default() -> Self {
        Self {
            max_entries: 500,
            summarise: true,
            prompts: ConversationPrompts::default(),
        }
    }
}

/// The result of processing jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessReport {
    /// Number of completed jobs.
    pub done: usize,
    /// Number of jobs that wait for a model, for budget, or for more turns.
    pub waiting: usize,
    /// The conversations that changed, without duplicates.
    pub changed: Vec<ConversationId>,
    /// The errors, without duplicates. No error loses data.
    pub troubles: Vec<String>,
}

/// Number of texts in one request to an embedding model.
const EMBED_BATCH: usize = 32;

/// One run over the jobs.
pub(super) struct JobRun<'r> {
    pub(super) conversations: &'r Conversations,
    pub(super) queue: &'r dyn JobQueue,
    pub(super) rules: &'r ProcessRules,
    pub(super) backoff: &'r mut Backoff,
    pub(super) goes_on: &'r dyn Fn() -> bool,
    pub(super) processed: ProcessReport,
}

/// A job with its planned changes.
#[derive(Debug)]
pub(super) struct DecidedJob {
    pub(super) job: Job,
    pub(super) changes: Vec<EntryChange>,
    pub(super) facts: Vec<String>,
}

impl DecidedJob {
    /// Creates a decision without changes.
    pub(super) fn without_changes(job: Job) -> Self {
        Self {
            job,
            changes: Vec::new(),
            facts: Vec::new(),
        }
    }
}

impl<'r> JobRun<'r> {
    /// Returns the model, if facts are to be extracted.
    pub(super) fn chat_model(&self) -> Option<&'r dyn ChatModel> {
        self.conversations
            .chat
            .as_deref()
            .filter(|_| self.rules.summarise)
    }

    /// Applies planned changes, and updates the summary with one request for all of them.
    pub(super) fn apply_decisions(
        &mut self,
        conversation: &ConversationId,
        decided: &[DecidedJob],
    ) -> Result<(), StoreError> {
        let changes: Vec<EntryChange> = decided
            .iter()
            .flat_map(|own| own.changes.iter().cloned())
            .collect();
        change(
            self.conversations,
            conversation,
            &changes,
            Verb::Reconcile,
            MODEL_ACTOR,
        )?;
        let facts: Vec<&str> = decided
            .iter()
            .flat_map(|own| own.facts.iter().map(String::as_str))
            .collect();
        let is_summed_up = facts.is_empty() || self.update_summary(conversation, &facts)?;
        self.evict_and_embed(conversation)?;
        let (done, waiting): (Vec<_>, Vec<_>) = decided
            .iter()
            .partition(|own| is_summed_up || own.facts.is_empty());
        let states: Vec<_> = done
            .iter()
            .map(|own| (own.job.id.clone(), JobState::Done))
            .collect();
        self.queue.record_states(&states)?;
        for own in &done {
            self.backoff.committed.remove(&own.job.id);
        }
        // The changes are applied; they must not be applied again after a user reverted them.
        let summary_only = |own: &&&DecidedJob| JobState::Decided {
            changes: Vec::new(),
            facts: own.facts.clone(),
        };
        let made = waiting.iter().filter(|own| !own.changes.is_empty());
        let states: Vec<_> = made
            .map(|own| (own.job.id.clone(), summary_only(&own)))
            .collect();
        self.queue.record_states(&states)?;
        self.backoff
            .committed
            .extend(waiting.iter().map(|own| own.job.id.clone()));
        self.processed.done += done.len();
        self.processed.waiting += waiting.len();
        if !changes.is_empty() && !self.processed.changed.contains(conversation) {
            self.processed.changed.push(conversation.clone());
        }
        Ok(())
    }

    /// Updates the summary; returns `false` if that must wait because the budget is exhausted.
    ///
    /// If the model fails, the summary remains unchanged.
    fn update_summary(
        &mut self,
        conversation: &ConversationId,
        facts: &[&str],
    ) -> Result<bool, StoreError> {
        let Some(chat) = self.chat_model() else {
            return Ok(true);
        };
        if !self.may_request(conversation, chat) {
            return Ok(false);
        }
        let known = self.conversations.store.read(conversation)?;
        let former = known.summary().map(|summary| summary.content.as_str());
        match requests::request_summary(chat, &self.rules.prompts, former, facts) {
            Ok(Ok(text)) if former == Some(text.as_str()) => {}
            Ok(Ok(text)) => {
                let summary = summary_entry(conversation, &text, self.conversations.clock.now());
                self.conversations
                    .store
                    .commit(conversation, Checked::allowed(&[EntryChange::Add(summary)]))?;
            }
            Ok(Err(why)) => self.add_error(&format!(
                "the language model's response is not a summary: {why}"
            )),
            Err(error) if is_budget_error(&error) => {
                self.report_budget(chat, &error);
                return Ok(false);
            }
            Err(error) => self.add_error(&format!("{error}; the summary was not updated")),
        }
        Ok(true)
    }

    /// Returns whether a request about the conversation may be made now.
    pub(super) fn may_request(
        &mut self,
        conversation: &ConversationId,
        chat: &dyn ChatModel,
    ) -> bool {
        // An unreadable budget is reported by the request itself.
        let allowance = chat.allowance().unwrap_or_default();
        self.backoff
            .may_request(conversation, self.conversations.clock.now(), &allowance)
    }

    /// Records that no request was made because of its cost.
    pub(super) fn report_budget(&mut self, chat: &dyn ChatModel, error: &ChatError) {
        let why = match error {
            ChatError::Exhausted(shortage) => {
                if let Ok(allowance) = chat.allowance() {
                    self.backoff.record_exhausted(allowance.left);
                }
                let (a_day, limit) = (shortage.a_day, shortage.limit);
                format!(
                    "no request to the language model: the daily budget of {a_day} {limit} is exhausted; the turns wait for the next day"
                )
            }
            other => format!("{other}; the turns will be retried"),
        };
        self.add_error(&why);
    }

    /// Deletes the oldest entries of a conversation beyond the limit, and computes missing embeddings.
    pub(super) fn evict_and_embed(
        &mut self,
        conversation: &ConversationId,
    ) -> Result<(), StoreError> {
        let known = self.conversations.store.read(conversation)?;
        if self.rules.max_entries < known.len() {
            let oldest = plan_eviction(&known.entries(), self.rules.max_entries);
            change(
                self.conversations,
                conversation,
                &oldest,
                Verb::Evict,
                PROXY_ACTOR,
            )?;
        }
        self.embed_missing(conversation)
    }

    fn embed_missing(&mut self, conversation: &ConversationId) -> Result<(), StoreError> {
        let Some(embedder) = &self.conversations.embedder else {
            return Ok(());
        };
        let lacking = self
            .conversations
            .store
            .read(conversation)?
            .entries_without_vector(embedder.identity());
        for batch in lacking.chunks(EMBED_BATCH) {
            let texts: Vec<&str> = batch.iter().map(|entry| entry.content.as_str()).collect();
            let vectors = match embedder.embed(&texts) {
                Ok(vectors) if vectors.len() == texts.len() => vectors,
                Ok(_) => {
                    self.add_error("the embedding model returned the wrong number of vectors");
                    return Ok(());
                }
                Err(error) => {
                    self.add_error(&format!("{error}; recall uses words only"));
                    return Ok(());
                }
            };
            let vectors = texts.iter().zip(vectors);
            let vectors: Vec<EntryVector> = vectors
                .map(|(text, vector)| EntryVector {
                    text: ContentHash::of(text),
                    vector,
                })
                .collect();
            self.conversations
                .store
                .store_vectors(conversation, embedder.identity(), &vectors)?;
        }
        Ok(())
    }

    /// Adds an error to the result, unless it is already there.
    pub(super) fn add_error(&mut self, trouble: &str) {
        if self.processed.troubles.iter().all(|own| own != trouble) {
            self.processed.troubles.push(trouble.to_owned());
        }
    }
}

/// Returns whether no request was made because of its cost.
pub(super) fn is_budget_error(error: &ChatError) -> bool {
    matches!(error, ChatError::Exhausted(_) | ChatError::Meter(_))
}

/// A turn that waits for extraction.
#[derive(Debug)]
pub(super) struct WaitingJob {
    pub(super) job: Job,
    /// Number of failed attempts.
    pub(super) attempts: u32,
}

/// A turn with extracted facts that wait for reconciliation.
#[derive(Debug)]
pub(super) struct ExtractedJob {
    pub(super) job: Job,
    pub(super) facts: Vec<String>,
    /// Number of failed attempts to reconcile them.
    pub(super) attempts: u32,
}
