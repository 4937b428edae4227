//! Doing what is still to be made of what was said.

use memory_core::conversation::{
    ConversationId, Conversations, EntryChange, EntryId, EntryVector, Job, JobQueue, JobState, PendingJob, added_facts, evicted,
    neighbours, plan_facts, summary_entry,
};
use memory_core::{ChatError, ContentHash, StoreError};

use super::{Prompts, ask};

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
    /// How many wait for a model that did not answer.
    pub waiting: usize,
    /// The conversations in which something changed, each once.
    pub changed: Vec<ConversationId>,
    /// What went wrong, each thing once. Nothing is lost by it.
    pub troubles: Vec<String>,
}

/// A turn for which no model answers so often is left as it is.
const ATTEMPTS: u32 = 5;

/// How many texts an embedding model is shown at once.
const BATCH: usize = 32;

/// Does the jobs that wait, each of them once, unless another process does. `goes_on` is asked before each whether to go on.
///
/// # Errors
/// When something cannot be read or kept; what was not done by then waits.
pub fn process(
    conversations: &Conversations,
    queue: &dyn JobQueue,
    rules: &ProcessRules,
    goes_on: &dyn Fn() -> bool,
) -> Result<Processed, StoreError> {
    let mut processed = Processed::default();
    let mut tried: Vec<_> = Vec::new();
    loop {
        let Some(claim) = queue.claim()? else { return Ok(processed) };
        loop {
            let next = queue.pending()?.into_iter().find(|pending| !tried.contains(&pending.job.id));
            let Some(next) = next.filter(|_| goes_on()) else { break };
            tried.push(next.job.id.clone());
            one(conversations, queue, rules, next, &mut processed)?;
        }
        drop(claim);
        // Whoever added one a moment ago may have found the claim taken.
        if !goes_on() || queue.pending()?.iter().all(|pending| tried.contains(&pending.job.id)) {
            return Ok(processed);
        }
    }
}

fn one(
    conversations: &Conversations,
    queue: &dyn JobQueue,
    rules: &ProcessRules,
    pending: PendingJob,
    processed: &mut Processed,
) -> Result<(), StoreError> {
    let PendingJob { job, state } = pending;
    let (changes, facts) = match state {
        JobState::Done => return Ok(()),
        JobState::Decided { changes, facts } => (changes, facts),
        JobState::Waiting { attempts } => match decide(conversations, rules, &job, processed)? {
            Ok((changes, facts)) => {
                let decided = JobState::Decided { changes, facts };
                queue.note(&job.id, &decided)?;
                let JobState::Decided { changes, facts } = decided else { return Ok(()) };
                (changes, facts)
            }
            Err(error) if is_not_asked(&error) || attempts + 1 < ATTEMPTS => {
                note(processed, &format!("{error}; so what was said waits"));
                processed.waiting += 1;
                let attempts = if is_not_asked(&error) { attempts } else { attempts + 1 };
                return queue.note(&job.id, &JobState::Waiting { attempts });
            }
            Err(error) => {
                note(processed, &format!("{error}; so no facts were drawn"));
                (Vec::new(), Vec::new())
            }
        },
    };
    let is_changed = !changes.is_empty();
    conversations.store.commit(&job.conversation, &changes)?;
    if !facts.is_empty() && rules.summarise {
        sum_up(conversations, rules, &job, &facts, processed)?;
    }
    let shelf = conversations.store.read(&job.conversation)?;
    if rules.max_entries < shelf.len() {
        conversations.store.commit(&job.conversation, &evicted(&shelf.entries(), rules.max_entries))?;
    }
    embed(conversations, &job.conversation, processed)?;
    queue.note(&job.id, &JobState::Done)?;
    processed.done += 1;
    if is_changed && !processed.changed.contains(&job.conversation) {
        processed.changed.push(job.conversation);
    }
    Ok(())
}

type Plan = (Vec<EntryChange>, Vec<String>);

/// Decides what to change; the inner error is of a model that may answer another time.
fn decide(
    conversations: &Conversations,
    rules: &ProcessRules,
    job: &Job,
    processed: &mut Processed,
) -> Result<Result<Plan, ChatError>, StoreError> {
    let nothing = Ok(Ok((Vec::new(), Vec::new())));
    let Some(chat) = conversations.chat.as_deref().filter(|_| rules.summarise) else { return nothing };
    // It may have been deleted by now.
    let Some(turn) = conversations.store.read(&job.conversation)?.get(&job.turn).cloned() else { return nothing };
    let facts = match ask::facts(chat, &rules.prompts, &turn.content) {
        Ok(read) => {
            if let Some(why) = read.trouble {
                note(processed, &format!("the language model's answer cannot be read as facts: {why}"));
            }
            read.facts
        }
        Err(error) if may_answer_later(&error) => return Ok(Err(error)),
        Err(error) => {
            note(processed, &format!("{error}; so no facts were drawn"));
            Vec::new()
        }
    };
    if facts.is_empty() {
        return nothing;
    }
    let known = neighbours(conversations, &job.conversation, &facts)?;
    let mut next_id = || EntryId::from(conversations.ids.memory_id());
    let now = conversations.clock.now();
    let (place, source) = (&job.conversation, Some(&job.turn));
    let decided = if known.is_empty() { Ok(Vec::new()) } else { ask::decisions(chat, &rules.prompts, &known, &facts) };
    let changes = match decided {
        Ok(decisions) => plan_facts(place, &known, &facts, &decisions, source, now, &mut next_id),
        Err(error) => {
            note(processed, &format!("{error}; so what was learned was added to all that was known"));
            added_facts(place, &known, &facts, source, now, &mut next_id)
        }
    };
    Ok(Ok((changes, facts)))
}

/// Tells whether the model was not even asked, because of what that costs.
fn is_not_asked(error: &ChatError) -> bool {
    matches!(error, ChatError::Exhausted(_) | ChatError::Meter(_))
}

fn may_answer_later(error: &ChatError) -> bool {
    match error {
        ChatError::Unreachable(_)
        | ChatError::Lost(_)
        | ChatError::Timeout(_)
        | ChatError::Exhausted(_)
        | ChatError::Meter(_) => true,
        ChatError::Unusable(_) | ChatError::Refused { .. } | ChatError::Unreadable { .. } => false,
    }
}

/// Brings the summary up to date; where a model does not answer, it stays as it is.
fn sum_up(
    conversations: &Conversations,
    rules: &ProcessRules,
    job: &Job,
    facts: &[String],
    processed: &mut Processed,
) -> Result<(), StoreError> {
    let Some(chat) = conversations.chat.as_deref() else { return Ok(()) };
    let shelf = conversations.store.read(&job.conversation)?;
    let former = shelf.summary().map(|summary| summary.content.as_str());
    match ask::summary(chat, &rules.prompts, former, facts) {
        Ok(Ok(text)) if former == Some(text.as_str()) => Ok(()),
        Ok(Ok(text)) => {
            let summary = summary_entry(&job.conversation, &text, conversations.clock.now());
            conversations.store.commit(&job.conversation, &[EntryChange::Add(summary)])
        }
        Ok(Err(why)) => {
            note(processed, &format!("the language model's answer is no summary: {why}"));
            Ok(())
        }
        Err(error) => {
            note(processed, &format!("{error}; so the summary stays as it was"));
            Ok(())
        }
    }
}

/// Has the embedding model, if there is one, read what it has not read yet.
fn embed(conversations: &Conversations, conversation: &ConversationId, processed: &mut Processed) -> Result<(), StoreError> {
    let Some(embedder) = &conversations.embedder else { return Ok(()) };
    let lacking = conversations.store.read(conversation)?.lacking(embedder.identity());
    for batch in lacking.chunks(BATCH) {
        let texts: Vec<&str> = batch.iter().map(|entry| entry.content.as_str()).collect();
        let vectors = match embedder.embed(&texts) {
            Ok(vectors) if vectors.len() == texts.len() => vectors,
            Ok(_) => {
                note(processed, "the embedding model gave other vectors than it was asked for");
                return Ok(());
            }
            Err(error) => {
                note(processed, &format!("{error}; so the words alone are looked for"));
                return Ok(());
            }
        };
        let vectors = texts.iter().zip(vectors);
        let vectors: Vec<EntryVector> =
            vectors.map(|(text, vector)| EntryVector { text: ContentHash::of(text), vector }).collect();
        conversations.store.keep_vectors(conversation, embedder.identity(), &vectors)?;
    }
    Ok(())
}

fn note(processed: &mut Processed, trouble: &str) {
    if processed.troubles.iter().all(|own| own != trouble) {
        processed.troubles.push(trouble.to_owned());
    }
}
