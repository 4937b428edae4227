//! Doing what is still to be made of what was said.

use std::collections::HashSet;

use memory_core::conversation::{
    ConversationId, ConversationVerb, Conversations, EntryChange, EntryVector, Job, JobQueue, JobState, PendingJob, change,
    evicted, summary_entry,
};
use memory_core::{ChatError, ChatModel, ContentHash, StoreError};

use super::extract::{Extracted, Waiting};
use super::{Backoff, Prompts, ask};

/// Who reconciles facts, and who deletes the oldest entries, as the log of operations names them.
const MODEL: &str = "model";
const PROXY: &str = "proxy";

/// How jobs are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRules {
    /// How many facts and turns of a conversation are kept; the oldest go.
    pub max_entries: usize,
    /// Whether facts are drawn and summed up.
    pub summarise: bool,
    /// What a model is told to do.
    pub prompts: Prompts,
}

impl Default for ProcessRules {
    fn default() -> Self {
        Self { max_entries: 500, summarise: true, prompts: Prompts::default() }
    }
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processed {
    /// How many jobs were done.
    pub done: usize,
    /// How many wait for a model that did not answer or may not be asked now, or for more of them.
    pub waiting: usize,
    /// The conversations in which something changed, each once.
    pub changed: Vec<ConversationId>,
    /// What went wrong, each thing once. Nothing is lost by it.
    pub troubles: Vec<String>,
}

/// How many texts an embedding model is shown at once.
const BATCH: usize = 32;

/// Does the jobs that wait, as [`process_with_backoff()`] does with a model that never failed.
///
/// # Errors
/// As [`process_with_backoff()`].
pub fn process(
    conversations: &Conversations,
    queue: &dyn JobQueue,
    rules: &ProcessRules,
    goes_on: &dyn Fn() -> bool,
) -> Result<Processed, StoreError> {
    process_with_backoff(conversations, queue, rules, &mut Backoff::default(), goes_on)
}

/// Does the jobs that wait, each of them once, unless another process does. `goes_on` is asked before each request whether to go on.
///
/// While the model is to be left alone because of `backoff`, jobs that need it wait, and it is not asked.
///
/// # Errors
/// When something cannot be read or kept; what was not done by then waits.
pub fn process_with_backoff(
    conversations: &Conversations,
    queue: &dyn JobQueue,
    rules: &ProcessRules,
    backoff: &mut Backoff,
    goes_on: &dyn Fn() -> bool,
) -> Result<Processed, StoreError> {
    let mut run = Run { conversations, queue, rules, backoff, goes_on, processed: Processed::default() };
    let mut tried = HashSet::new();
    let mut latest = run.backoff.tended_until;
    'claims: loop {
        let Some(claim) = queue.claim()? else { break };
        loop {
            let mut pending = queue.pending()?;
            pending.retain(|pending| tried.insert(pending.job.id.clone()));
            if pending.is_empty() {
                break;
            }
            latest = pending.iter().map(|pending| Some(pending.job.at)).fold(latest, Option::max);
            for (conversation, jobs) in by_conversation(pending) {
                if !run.work_off(&conversation, jobs)? {
                    break 'claims;
                }
            }
        }
        drop(claim);
        // Whoever added one a moment ago may have found the claim taken.
        if !goes_on() || queue.pending()?.iter().all(|pending| tried.contains(&pending.job.id)) {
            break;
        }
    }
    run.backoff.tended_until = latest;
    Ok(run.processed)
}

/// Puts the jobs of each conversation together, the conversation of the oldest job first.
fn by_conversation(pending: Vec<PendingJob>) -> Vec<(ConversationId, Vec<PendingJob>)> {
    let mut groups: Vec<(ConversationId, Vec<PendingJob>)> = Vec::new();
    for pending in pending {
        match groups.iter_mut().find(|(conversation, _)| *conversation == pending.job.conversation) {
            Some((_, jobs)) => jobs.push(pending),
            None => groups.push((pending.job.conversation.clone(), vec![pending])),
        }
    }
    groups
}

/// One run over the jobs.
pub(super) struct Run<'r> {
    pub(super) conversations: &'r Conversations,
    pub(super) queue: &'r dyn JobQueue,
    pub(super) rules: &'r ProcessRules,
    pub(super) backoff: &'r mut Backoff,
    pub(super) goes_on: &'r dyn Fn() -> bool,
    pub(super) processed: Processed,
}

/// A job for which it was decided what to change.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) job: Job,
    pub(super) changes: Vec<EntryChange>,
    pub(super) facts: Vec<String>,
}

impl Decided {
    /// Returns that nothing follows from a turn.
    pub(super) fn nothing(job: Job) -> Self {
        Self { job, changes: Vec::new(), facts: Vec::new() }
    }
}

impl<'r> Run<'r> {
    /// Returns the model to ask, if facts are to be extracted.
    pub(super) fn chat(&self) -> Option<&'r dyn ChatModel> {
        self.conversations.chat.as_deref().filter(|_| self.rules.summarise)
    }

    /// Does the jobs of one conversation as far as possible. Returns whether to go on.
    fn work_off(&mut self, conversation: &ConversationId, jobs: Vec<PendingJob>) -> Result<bool, StoreError> {
        let (mut waiting, mut extracted, mut decided) = (Vec::new(), Vec::new(), Vec::new());
        for PendingJob { job, state } in jobs {
            match state {
                JobState::Done => {}
                JobState::Waiting { attempts } => waiting.push(Waiting { job, attempts }),
                JobState::Extracted { facts, attempts } => extracted.push(Extracted { job, facts, attempts }),
                JobState::Decided { changes, facts } => decided.push(Decided { job, changes, facts }),
            }
        }
        let Some(chat) = self.chat() else {
            let rest = waiting.into_iter().map(|own| own.job).chain(extracted.into_iter().map(|own| own.job));
            decided.extend(rest.map(Decided::nothing));
            for decided in decided {
                if !(self.goes_on)() {
                    return Ok(false);
                }
                self.carry_out(conversation, &[decided])?;
            }
            return Ok(true);
        };
        if !self.may_ask(chat) {
            let before = decided.len();
            decided.retain(|own| !self.backoff.committed.contains(&own.job.id));
            self.processed.waiting += before - decided.len();
        }
        if !decided.is_empty() {
            if !(self.goes_on)() {
                return Ok(false);
            }
            self.carry_out(conversation, &decided)?;
        }
        let latest = waiting.iter().map(|own| own.job.at).max();
        let before = self.processed.waiting;
        let goes_on = self.extract_all(conversation, waiting, extracted)?;
        let is_untended = self.backoff.tended_until < latest;
        if before < self.processed.waiting && is_untended {
            // Jobs may wait for days; the conversation is looked after all the same.
            self.tend(conversation)?;
        }
        Ok(goes_on)
    }

    /// Makes the changes that were decided, and brings the summary up to date by one request for all of them.
    pub(super) fn carry_out(&mut self, conversation: &ConversationId, decided: &[Decided]) -> Result<(), StoreError> {
        let changes: Vec<EntryChange> = decided.iter().flat_map(|own| own.changes.iter().cloned()).collect();
        change(self.conversations, conversation, &changes, ConversationVerb::Reconcile, MODEL)?;
        let facts: Vec<&str> = decided.iter().flat_map(|own| own.facts.iter().map(String::as_str)).collect();
        let is_summed_up = facts.is_empty() || self.sum_up(conversation, &facts)?;
        self.tend(conversation)?;
        let (done, waiting): (Vec<_>, Vec<_>) = decided.iter().partition(|own| is_summed_up || own.facts.is_empty());
        let states: Vec<_> = done.iter().map(|own| (own.job.id.clone(), JobState::Done)).collect();
        self.queue.note(&states)?;
        for own in &done {
            self.backoff.committed.remove(&own.job.id);
        }
        // The changes are made; they must not be made again once somebody reverted them.
        let summary_only = |own: &&&Decided| JobState::Decided { changes: Vec::new(), facts: own.facts.clone() };
        let made = waiting.iter().filter(|own| !own.changes.is_empty());
        let states: Vec<_> = made.map(|own| (own.job.id.clone(), summary_only(&own))).collect();
        self.queue.note(&states)?;
        self.backoff.committed.extend(waiting.iter().map(|own| own.job.id.clone()));
        self.processed.done += done.len();
        self.processed.waiting += waiting.len();
        if !changes.is_empty() && !self.processed.changed.contains(conversation) {
            self.processed.changed.push(conversation.clone());
        }
        Ok(())
    }

    /// Brings the summary up to date; where a model does not answer, it stays as it is. Returns `false` if that has to wait because the
    /// budget of the day is used up.
    fn sum_up(&mut self, conversation: &ConversationId, facts: &[&str]) -> Result<bool, StoreError> {
        let Some(chat) = self.chat() else { return Ok(true) };
        if !self.may_ask(chat) {
            return Ok(false);
        }
        let known = self.conversations.store.read(conversation)?;
        let former = known.summary().map(|summary| summary.content.as_str());
        match ask::summary(chat, &self.rules.prompts, former, facts) {
            Ok(Ok(text)) if former == Some(text.as_str()) => {}
            Ok(Ok(text)) => {
                let summary = summary_entry(conversation, &text, self.conversations.clock.now());
                self.conversations.store.commit(conversation, &[EntryChange::Add(summary)])?;
            }
            Ok(Err(why)) => self.report(&format!("the language model's answer is no summary: {why}")),
            Err(error) if is_not_asked(&error) => {
                self.was_not_asked(chat, &error);
                return Ok(false);
            }
            Err(error) => self.report(&format!("{error}; so the summary stays as it was")),
        }
        Ok(true)
    }

    /// Returns whether the model may be asked now.
    pub(super) fn may_ask(&mut self, chat: &dyn ChatModel) -> bool {
        // A budget that cannot be read is reported when the model is asked.
        let allowance = chat.allowance().unwrap_or_default();
        self.backoff.may_ask(self.conversations.clock.now(), &allowance)
    }

    /// Notes that the model was not asked because of what that costs.
    pub(super) fn was_not_asked(&mut self, chat: &dyn ChatModel, error: &ChatError) {
        let why = match error {
            ChatError::Exhausted(shortage) => {
                if let Ok(allowance) = chat.allowance() {
                    self.backoff.exhausted(allowance.left);
                }
                let (a_day, limit) = (shortage.a_day, shortage.limit);
                format!(
                    "the language model was not asked: the day's {a_day} {limit} are used up; so what was said waits for the next day"
                )
            }
            other => format!("{other}; so what was said waits"),
        };
        self.report(&why);
    }

    /// Lets go of the oldest entries of a conversation, and has the embedding model read what it has not read yet.
    fn tend(&mut self, conversation: &ConversationId) -> Result<(), StoreError> {
        let known = self.conversations.store.read(conversation)?;
        if self.rules.max_entries < known.len() {
            let oldest = evicted(&known.entries(), self.rules.max_entries);
            change(self.conversations, conversation, &oldest, ConversationVerb::Evict, PROXY)?;
        }
        self.embed(conversation)
    }

    fn embed(&mut self, conversation: &ConversationId) -> Result<(), StoreError> {
        let Some(embedder) = &self.conversations.embedder else { return Ok(()) };
        let lacking = self.conversations.store.read(conversation)?.lacking(embedder.identity());
        for batch in lacking.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|entry| entry.content.as_str()).collect();
            let vectors = match embedder.embed(&texts) {
                Ok(vectors) if vectors.len() == texts.len() => vectors,
                Ok(_) => {
                    self.report("the embedding model gave other vectors than it was asked for");
                    return Ok(());
                }
                Err(error) => {
                    self.report(&format!("{error}; so the words alone are looked for"));
                    return Ok(());
                }
            };
            let vectors = texts.iter().zip(vectors);
            let vectors: Vec<EntryVector> =
                vectors.map(|(text, vector)| EntryVector { text: ContentHash::of(text), vector }).collect();
            self.conversations.store.keep_vectors(conversation, embedder.identity(), &vectors)?;
        }
        Ok(())
    }

    /// Adds to what went wrong, unless it is there already.
    pub(super) fn report(&mut self, trouble: &str) {
        if self.processed.troubles.iter().all(|own| own != trouble) {
            self.processed.troubles.push(trouble.to_owned());
        }
    }
}

/// Returns whether the model was not even asked, because of what that costs.
pub(super) fn is_not_asked(error: &ChatError) -> bool {
    matches!(error, ChatError::Exhausted(_) | ChatError::Meter(_))
}
