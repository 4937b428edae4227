//! Recalls memories that are relevant to a message, without those that another one supersedes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::claim::{EntryClaims, TextClaims};
use super::indexed_text::has_subject;
use super::recall_query::message_ends;
use super::{
    ConversationEntry, ConversationId, ConversationIndex, Conversations, EntryId, EntryRole,
    RecallCandidate, RecallMatchKind, RecallQuery, RecallRules, RecalledMemory, select_memories,
};
use crate::rank::sigmoid;
use crate::standing::{StandingKind, asks_for_play, own_sentences};
use crate::text::token_count;
use crate::{MemoryId, PassageSelector, Problem, StoreError, is_nonzero};

/// The result of a recall.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallResult {
    /// The summary of the conversation so far, if there is one.
    pub summary: Option<Arc<ConversationEntry>>,
    /// The standing instructions and preferences, which [`add_standing()`](super::add_standing()) adds.
    pub standing: Vec<RecalledStanding>,
    /// The memories: by relevance, with repetitions moved back.
    pub memories: Vec<RecalledMemory>,
    /// The reason why the result may be incomplete, if it may.
    pub degraded: Option<String>,
}

impl RecallResult {
    /// Returns the number of standing texts and memories.
    pub fn hits(&self) -> usize {
        self.standing.len() + self.memories.len()
    }

    /// Adds a reason why the result may be incomplete.
    pub fn degrade(&mut self, why: &str) {
        let reasons = self.degraded.take().into_iter().chain([why.to_owned()]);
        self.degraded = Some(reasons.collect::<Vec<_>>().join("; "));
    }
}

/// The number of candidates per requested memory.
const POOL_FACTOR: usize = 3;

/// The maximum size of a text for the cross-encoder, in bytes.
const MAX_RERANK_BYTES: usize = 2000;

/// The maximum number of attempts if entries change during a recall.
pub(super) const MAX_ATTEMPTS: usize = 3;

/// The number of existing facts that are compared with each new one.
const MAX_SIMILAR_FACTS: usize = 5;

/// Returns the memories for `message` from a conversation and from the global one.
///
/// With a `top_k` of 0 the result is empty.
///
/// # Errors
/// If the memories cannot be read. A failure of a model only degrades the result, which reports it.
pub fn recall(
    conversations: &Conversations,
    conversation: &ConversationId,
    message: &str,
    rules: &RecallRules,
) -> Result<RecallResult, StoreError> {
    recall_with_unwritten(conversations, conversation, message, rules, &[], &|_| false)
}

/// Returns the memories for `message`, without the entries for which `is_known` returns true.
///
/// Such entries are, for example, the latest turns, which the model sees anyway. The `unwritten` turns of the conversation are recalled as
/// if they were stored.
///
/// # Errors
/// Those of [`recall()`].
pub fn recall_with_unwritten(
    conversations: &Conversations,
    conversation: &ConversationId,
    message: &str,
    rules: &RecallRules,
    unwritten: &[ConversationEntry],
    is_known: &dyn Fn(&ConversationEntry) -> bool,
) -> Result<RecallResult, StoreError> {
    if rules.top_k == 0 {
        return Ok(RecallResult::default());
    }
    for _ in 1..MAX_ATTEMPTS {
        let recalled = recall_once(
            conversations,
            conversation,
            message,
            rules,
            unwritten,
            is_known,
        )?;
        let entries = recalled
            .memories
            .iter()
            .map(|remembered| &remembered.entry)
            .chain(&recalled.summary);
        if !is_stale(conversations, entries)? {
            return Ok(recalled);
        }
    }
    recall_once(
        conversations,
        conversation,
        message,
        rules,
        unwritten,
        is_known,
    )
}

fn recall_once(
    conversations: &Conversations,
    conversation: &ConversationId,
    message: &str,
    rules: &RecallRules,
    unwritten: &[ConversationEntry],
    is_known: &dyn Fn(&ConversationEntry) -> bool,
) -> Result<RecallResult, StoreError> {
    let shelves = read_indexes(conversations, conversation, unwritten)?;
    let mut troubles: Vec<String> = describe_problems(&shelves).into_iter().collect();
    let vector = embed_message(conversations, &shelves, message).unwrap_or_else(|why| {
        troubles.push(format!("{why}; so only words were searched"));
        None
    });
    let wanted = RecallQuery {
        vector: vector.as_deref(),
        ..RecallQuery::of(message)
    };
    let most = rules.top_k.saturating_mul(POOL_FACTOR);
    let known = RefCell::new(Vec::new());
    let of = |entry: &ConversationEntry| {
        let is_known = is_known(entry);
        if is_known {
            known.borrow_mut().push(entry.id.clone());
        }
        !is_known
    };
    let mut candidates: Vec<RecallCandidate> = shelves
        .iter()
        .flat_map(|shelf| shelf.candidates(&wanted, most, &of))
        .collect();
    add_successors(&mut candidates, &shelves, rules.score_threshold, is_known);
    let known = known.into_inner();
    let with_claims = |shelf: &Arc<ConversationIndex>, id: &EntryId| {
        Some((Arc::clone(shelf.get(id)?), shelf.claims(id)?.clone()))
    };
    let known: Vec<_> = known
        .iter()
        .filter_map(|id| shelves.iter().find_map(|shelf| with_claims(shelf, id)))
        .collect();
    mark_superseded(&mut candidates, &known, message);
    if let Err(why) = rerank_candidates(conversations, message, &mut candidates) {
        troubles.push(format!("{why}; the result is not reranked"));
    }
    let degraded = Some(troubles.join("; ")).filter(|troubles| !troubles.is_empty());
    let mut memories = select_memories(candidates, rules, conversations.clock.now());
    limit_size(&mut memories, message);
    let summary = shelves.first().and_then(|own| own.summary()).cloned();
    Ok(RecallResult {
        summary,
        standing: Vec::new(),
        memories,
        degraded,
    })
}

/// Maximum size of the memories for a message, in tokens.
const MAX_RECALLED_TOKENS: usize = 2000;

/// The size of a message up to which all of it is recalled, in bytes.
const MAX_SHORT_BYTES: usize = 340;

/// Returns the text of an entry; of a long message of the user, only the sentences of the user, without pasted text. `None` for a message
/// that asks for play, in which nothing is said by the user.
fn own_text(entry: &ConversationEntry) -> Option<Cow<'_, str>> {
    let text = entry.content.as_str();
    if entry.role != EntryRole::User {
        return Some(text.into());
    }
    if asks_for_play(text) {
        return None;
    }
    if text.len() <= MAX_SHORT_BYTES {
        return Some(text.into());
    }
    let own: Vec<&str> = own_sentences(text)
        .into_iter()
        .map(|sentence| text[sentence].trim())
        .collect();
    Some(if own.is_empty() {
        text[..text.floor_char_boundary(MAX_SHORT_BYTES)].into()
    } else {
        own.join(" ").into()
    })
}

/// Replaces long texts by the passage about the message, and leaves out memories that exceed the size for all.
fn limit_size(memories: &mut Vec<RecalledMemory>, message: &str) {
    let selector = PassageSelector::new(&message_ends(message).join("\n"));
    let mut left = MAX_RECALLED_TOKENS;
    memories.retain_mut(|memory| {
        let Some(own) = own_text(&memory.entry) else {
            return false;
        };
        memory.text = selector.select(&own).text;
        let tokens = token_count(&memory.text);
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    });
}

/// Returns the indexes of a conversation, with its `unwritten` turns, and of the global one.
pub(super) fn read_indexes(
    conversations: &Conversations,
    conversation: &ConversationId,
    unwritten: &[ConversationEntry],
) -> Result<Vec<Arc<ConversationIndex>>, StoreError> {
    let mut own = conversations.store.read(conversation)?;
    if !unwritten.is_empty() {
        let index = Arc::make_mut(&mut own);
        for turn in unwritten {
            index.put(turn.clone());
        }
    }
    let mut indexes = vec![own];
    let global = ConversationId::global();
    if *conversation != global {
        indexes.push(conversations.store.read(&global)?);
    }
    Ok(indexes)
}

/// Returns a message about files of the conversations that could not be read, if any.
fn describe_problems(shelves: &[Arc<ConversationIndex>]) -> Option<String> {
    let mut problems: Vec<&Problem> = shelves.iter().flat_map(|shelf| shelf.problems()).collect();
    problems.sort_by(|one, other| one.path.cmp(&other.path));
    problems.dedup_by(|one, other| one.path == other.path);
    let first = problems.first()?;
    let others = match problems.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Some(format!(
        "{} was skipped{others}: {}",
        first.path, first.what
    ))
}

/// Returns the vector of a message, if there is an embedding model and vectors to compare with.
fn embed_message(
    conversations: &Conversations,
    shelves: &[Arc<ConversationIndex>],
    message: &str,
) -> Result<Option<Vec<f32>>, String> {
    let Some(embedder) = &conversations.embedder else {
        return Ok(None);
    };
    // Reading the identity may load the model.
    if shelves.iter().all(|shelf| shelf.identity().is_empty()) {
        return Ok(None);
    }
    let identity = embedder.identity();
    if shelves.iter().all(|shelf| shelf.identity() != identity) {
        return Ok(None);
    }
    let shown = message_ends(message).join("\n");
    let vectors = embedder
        .embed(&[&shown])
        .map_err(|error| error.to_string())?;
    let is_sound =
        |vector: &Vec<f32>| !vector.is_empty() && vector.iter().all(|part| part.is_finite());
    let vector = vectors.into_iter().next().filter(is_sound);
    let vector = vector.ok_or("the embedding model returned an invalid vector")?;
    Ok(Some(vector).filter(|vector| is_nonzero(vector)))
}

/// Replaces the relevance of the candidates by the scores of the cross-encoder, if there is one.
fn rerank_candidates(
    conversations: &Conversations,
    message: &str,
    candidates: &mut [RecallCandidate],
) -> Result<(), String> {
    let Some(reranker) = conversations
        .reranker
        .as_ref()
        .filter(|_| !candidates.is_empty())
    else {
        return Ok(());
    };
    let shown = |text: &str| text[..text.floor_char_boundary(MAX_RERANK_BYTES)].to_owned();
    let texts: Vec<String> = candidates
        .iter()
        .map(|candidate| shown(&candidate.entry.content))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = reranker
        .score(&shown(message), &texts)
        .map_err(|error| error.to_string())?;
    if scores.len() != texts.len() || scores.iter().any(|score| !score.is_finite()) {
        return Err("the reranking model returned invalid scores".into());
    }
    candidates
        .iter_mut()
        .zip(scores)
        .for_each(|(candidate, score)| candidate.relevance = sigmoid(score));
    Ok(())
}

/// Returns whether another program changed one of the entries.
pub(super) fn is_stale<'e>(
    conversations: &Conversations,
    entries: impl Iterator<Item = &'e Arc<ConversationEntry>>,
) -> Result<bool, StoreError> {
    let mut by_place: Vec<(&ConversationId, Vec<EntryId>)> = Vec::new();
    for entry in entries {
        match by_place
            .iter_mut()
            .find(|(place, _)| **place == entry.conversation)
        {
            Some((_, ids)) => ids.push(entry.id.clone()),
            None => by_place.push((&entry.conversation, vec![entry.id.clone()])),
        }
    }
    let mut is_stale = false;
    for (place, ids) in by_place {
        is_stale |= conversations.store.recheck_entries(place, &ids)?;
    }
    Ok(is_stale)
}

/// The number of tokens within which all facts of a conversation are compared with new ones.
const MAX_FACT_TOKENS: usize = 1500;

/// Returns the distinct facts of a conversation that new ones may repeat or contradict: all of them within 1,500 tokens.
///
/// Otherwise the facts most similar to each new one come first.
///
/// # Errors
/// If the facts cannot be read.
pub fn similar_facts(
    conversations: &Conversations,
    conversation: &ConversationId,
    facts: &[String],
) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
    let shelf = conversations.store.read(conversation)?;
    let is_fact = |entry: &ConversationEntry| entry.role == EntryRole::Memory;
    let mut found = shelf.entries();
    found.retain(|entry| is_fact(entry));
    let tokens = found.iter().map(|entry| token_count(&entry.content));
    if tokens.sum::<usize>() <= MAX_FACT_TOKENS {
        return Ok(found);
    }
    found.clear();
    for fact in facts {
        // Without a vector only words are compared, which may miss a contradiction but loses no fact.
        let vector =
            embed_message(conversations, std::slice::from_ref(&shelf), fact).unwrap_or_default();
        let wanted = RecallQuery {
            vector: vector.as_deref(),
            ..RecallQuery::of(fact)
        };
        let alike = shelf
            .candidates(&wanted, MAX_SIMILAR_FACTS, &is_fact)
            .into_iter()
            .map(|candidate| candidate.entry);
        let mut alike: Vec<Arc<ConversationEntry>> = alike.collect();
        if alike.len() < MAX_SIMILAR_FACTS && has_subject(fact) {
            // Facts about the user may contradict each other without a common word.
            let latest = shelf
                .entries()
                .into_iter()
                .rev()
                .filter(|entry| is_fact(entry) && has_subject(&entry.content));
            let others: Vec<_> = latest
                .filter(|entry| alike.iter().all(|own| own.id != entry.id))
                .collect();
            let lacking = MAX_SIMILAR_FACTS - alike.len();
            alike.extend(others.into_iter().take(lacking));
        }
        for entry in alike {
            if found.iter().all(|other| other.id != entry.id) {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

/// The maximum number of candidates that are compared with each other, most relevant first.
const MAX_COMPARED: usize = 64;

/// The maximum number of candidates that are compared with all entries, most relevant first.
const MAX_CONTESTED: usize = 16;

/// The maximum number of newest entries of a conversation that are compared with each of them.
const MAX_NEWEST: usize = 500;

/// Adds newer entries that contradict relevant candidates, except for `known` ones.
///
/// An earlier statement is therefore never returned without the one that superseded it. Each added entry has the relevance of the best
/// candidate that it contradicts.
fn add_successors(
    candidates: &mut Vec<RecallCandidate>,
    shelves: &[Arc<ConversationIndex>],
    threshold: f32,
    is_known: &dyn Fn(&ConversationEntry) -> bool,
) {
    let contested: Vec<(f32, DateTime<Utc>, Arc<TextClaims>)> = candidates
        .iter()
        .filter(|candidate| {
            candidate.kind == RecallMatchKind::Statement && threshold <= candidate.relevance
        })
        .take(MAX_CONTESTED)
        .map(|candidate| {
            (
                candidate.relevance,
                candidate.entry.created_at,
                candidate.claims.clause_claims(&candidate.entry),
            )
        })
        .filter(|(.., claims)| !claims.is_empty())
        .collect();
    let Some(oldest) = contested.iter().map(|(_, at, _)| *at).min() else {
        return;
    };
    for shelf in shelves {
        for (entry, claims) in shelf
            .newest_claims(MAX_NEWEST)
            .filter(|(entry, _)| oldest < entry.created_at)
        {
            let later = claims.clause_claims(entry);
            let relevance = contested
                .iter()
                .filter(|(_, at, earlier)| *at < entry.created_at && later.supersedes(earlier))
                .map(|(relevance, ..)| *relevance)
                .max_by(f32::total_cmp);
            let Some(relevance) = relevance else { continue };
            match candidates
                .iter_mut()
                .find(|candidate| candidate.entry.id == entry.id)
            {
                Some(own) => own.relevance = own.relevance.max(relevance),
                None if is_known(entry) => {}
                None => candidates.extend(shelf.statement_candidate(&entry.id, relevance)),
            }
        }
    }
}

/// Marks the facts and statements that a later text contradicts.
///
/// The later text is another candidate, one of the `known` entries, or the message itself.
fn mark_superseded(
    candidates: &mut [RecallCandidate],
    known: &[(Arc<ConversationEntry>, EntryClaims)],
    message: &str,
) {
    let statements = |candidate: &&RecallCandidate| candidate.kind == RecallMatchKind::Statement;
    let compared: Vec<(Arc<ConversationEntry>, EntryClaims)> = candidates
        .iter()
        .filter(statements)
        .take(MAX_COMPARED)
        .map(|candidate| (Arc::clone(&candidate.entry), candidate.claims.clone()))
        .collect();
    if compared.is_empty() {
        return;
    }
    let entries = compared.iter().chain(known.iter().take(MAX_COMPARED));
    let mut all: Vec<(DateTime<Utc>, Arc<TextClaims>)> = entries
        .map(|(entry, claims)| (entry.created_at, claims.clause_claims(entry)))
        .collect();
    all.push((
        DateTime::<Utc>::MAX_UTC,
        Arc::new(TextClaims::new(EntryRole::User, message)),
    ));
    for (number, (entry, _)) in compared.iter().enumerate() {
        let (at, claims) = &all[number];
        let is_superseded = all
            .iter()
            .any(|(later, other)| at < later && other.supersedes(claims));
        if is_superseded
            && let Some(own) = candidates
                .iter_mut()
                .find(|candidate| candidate.entry.id == entry.id)
        {
            own.is_superseded = true;
        }
    }
}

/// A standing instruction or preference that the model receives regardless of the message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecalledStanding {
    /// The kind.
    pub kind: StandingKind,
    /// The standing sentence of an entry, or the text of a memory.
    pub text: String,
    /// The time at which it was written.
    pub created_at: DateTime<Utc>,
    /// The origin.
    pub origin: StandingOrigin,
    /// The score of the entry if it was recalled for the message, otherwise 0.
    pub score: f32,
}

/// The origin of a standing instruction or preference.
#[derive(Debug, Clone, PartialEq)]
pub enum StandingOrigin {
    /// An entry of the conversation, or of the global one.
    Entry(Arc<ConversationEntry>),
    /// A memory of the home.
    Memory {
        /// The id.
        id: MemoryId,
        /// The source; empty if unknown.
        source: String,
    },
}

#[cfg(test)]
mod tests;
