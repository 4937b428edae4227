//! Selects the standing instructions and preferences for a message of a chat.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::claim::{EntryClaims, TextClaim};
use super::indexed_text::content_terms;
use super::recall::{MAX_ATTEMPTS, is_stale, read_indexes};
use super::recall_query::message_ends;
use super::{
    ConversationEntry, ConversationId, ConversationIndex, Conversations, EntryId, EntryRole,
    RecallQuery, RecallResult, RecalledStanding, StandingOrigin,
};
use crate::standing::{
    StandingKind, StandingMemory, StandingText, current, select_standing, standing_sentences,
};
use crate::text::{Term, format_error_chain, token_count};
use crate::{Services, StoreError};

impl RecalledStanding {
    fn entry(&self) -> Option<&Arc<ConversationEntry>> {
        match &self.origin {
            StandingOrigin::Entry(entry) => Some(entry),
            StandingOrigin::Memory { .. } => None,
        }
    }
}

/// A message for which standing instructions and preferences are selected.
#[derive(Clone, Copy)]
pub struct StandingRequest<'r> {
    /// The conversation.
    pub conversation: &'r ConversationId,
    /// The message.
    pub message: &'r str,
    /// The maximum number of recalled memories, which also limits the size of the standing texts.
    pub top_k: usize,
    /// The turns of the conversation that are not stored yet.
    pub unwritten: &'r [ConversationEntry],
    /// Returns whether the model sees an entry anyway.
    ///
    /// Such an entry is not given, but it may replace an older one.
    pub is_known: &'r dyn Fn(&ConversationEntry) -> bool,
}

impl fmt::Debug for StandingRequest<'_> {
    /// Leaves out the function.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shape = formatter.debug_struct("StandingRequest");
        shape
            .field("conversation", &self.conversation)
            .field("message", &self.message)
            .field("top_k", &self.top_k);
        shape
            .field("unwritten", &self.unwritten)
            .finish_non_exhaustive()
    }
}

/// The size of the standing texts for each memory that may be recalled, in tokens.
const TOKENS_PER_MEMORY: usize = 60;

/// The minimum size of all standing texts, in tokens. An instruction of several lines fits in it.
const MIN_TOKENS: usize = 160;

/// The maximum size of all standing texts, in tokens.
const MAX_TOKENS: usize = 400;

/// The approximate size of the fence of one text, in tokens.
const FENCE_TOKENS: usize = 20;

/// The maximum number of newest sentences of each kind that are compared with each other.
///
/// As many sentences of recalled entries, and of entries that the model sees anyway, are compared as well.
const MAX_NEWEST: usize = 24;

/// The maximum number of memories of the home that are compared, most important first.
const MAX_MEMORIES: usize = 2 * MAX_NEWEST;

/// Adds the standing instructions and preferences of the person to the result of a recall.
///
/// They come from the conversation, from the global conversation and from the memories that the chat may see in the home that `open_home`
/// returns, if any. Of an entry, only the standing sentences are given. A sentence that a newer one repeats or contradicts is left out.
/// Instructions are given for every message, preferences only for one that they are about; with the recalled memories, there are at most as
/// many preferences as memories may be recalled. The budget of the texts is 60
/// tokens for each memory that may be recalled, but at least 160 and at most 400.
///
/// A recalled memory is removed if its whole text is given.
///
/// # Errors
/// If the conversations cannot be read. A home that cannot be read only degrades the result, which reports it.
pub fn add_standing(
    conversations: &Conversations,
    open_home: &dyn Fn() -> Result<Option<Services>, StoreError>,
    request: &StandingRequest<'_>,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    if request.top_k == 0 {
        return Ok(());
    }
    let budget = request
        .top_k
        .saturating_mul(TOKENS_PER_MEMORY)
        .clamp(MIN_TOKENS, MAX_TOKENS);
    let memories = read_memories(open_home, request).unwrap_or_else(|error| {
        recalled.degrade(&format!(
            "the standing memories of the home are left out: {}",
            format_error_chain(&error)
        ));
        Vec::new()
    });
    let mut attempt = 1;
    let standing = loop {
        let indexes = read_indexes(conversations, request.conversation, request.unwritten)?;
        let standing = select(&indexes, &memories, request, recalled, budget);
        // Another program may have changed an entry.
        if attempt == MAX_ATTEMPTS
            || !is_stale(
                conversations,
                standing.iter().filter_map(RecalledStanding::entry),
            )?
        {
            break standing;
        }
        attempt += 1;
    };
    recalled
        .memories
        .retain(|memory| !is_given(&memory.entry, &standing));
    let preferences = standing
        .iter()
        .filter(|own| own.kind == StandingKind::Preference);
    let room = request.top_k.saturating_sub(preferences.count());
    recalled.memories.truncate(room);
    recalled.standing = standing;
    Ok(())
}

/// Returns the standing memories of the home that the chat may see.
fn read_memories(
    open_home: &dyn Fn() -> Result<Option<Services>, StoreError>,
    request: &StandingRequest<'_>,
) -> Result<Vec<StandingMemory>, StoreError> {
    let Some(home) = open_home()? else {
        return Ok(Vec::new());
    };
    let home = home.restrict_to_chat(request.conversation);
    home.store.refresh()?;
    Ok(select_standing(&home)?.memories)
}

/// A standing text that may be given.
struct StandingCandidate<'s> {
    kind: StandingKind,
    text: &'s str,
    at: DateTime<Utc>,
    source: CandidateSource<'s>,
    score: f32,
    /// Whether it is about the message.
    is_relevant: bool,
    /// Whether the model sees it anyway.
    is_known: bool,
}

#[derive(Clone, Copy)]
enum CandidateSource<'s> {
    Entry(&'s Arc<ConversationEntry>),
    Memory(&'s StandingMemory),
    Message,
}

/// Returns the standing texts to give, in order.
fn select(
    indexes: &[Arc<ConversationIndex>],
    memories: &[StandingMemory],
    request: &StandingRequest<'_>,
    recalled: &RecallResult,
    budget: usize,
) -> Vec<RecalledStanding> {
    let is_first =
        |own: &StandingCandidate<'_>| own.is_relevant || own.kind == StandingKind::Instruction;
    let (entries, other_entries) = entry_candidates(indexes, request, recalled)
        .into_iter()
        .partition(is_first);
    let (memories, other_memories) = memory_candidates(memories, request.message)
        .into_iter()
        .partition(is_first);
    let mut all = alternate(entries, memories);
    all.extend(alternate(other_entries, other_memories));
    all.extend(message_candidates(request.message));
    let texts = all.iter().map(|own| StandingText {
        at: own.at,
        kind: own.kind,
        text: own.text,
    });
    let in_effect = current(&texts.collect::<Vec<_>>());
    let mut left = budget;
    let mut given = Vec::new();
    let mut preferences = request.top_k;
    for own in in_effect
        .into_iter()
        .map(|number| &all[number])
        .filter(|own| !own.is_known)
    {
        if own.kind == StandingKind::Preference {
            if !own.is_relevant || preferences == 0 {
                continue;
            }
            preferences -= 1;
        }
        let size = token_count(own.text) + FENCE_TOKENS;
        if size <= left {
            left -= size;
            given.extend(own.recalled());
        }
    }
    given
}

impl StandingCandidate<'_> {
    fn recalled(&self) -> Option<RecalledStanding> {
        let origin = match self.source {
            CandidateSource::Entry(entry) => StandingOrigin::Entry(Arc::clone(entry)),
            CandidateSource::Memory(StandingMemory { stored, .. }) => StandingOrigin::Memory {
                id: stored.memory.id,
                source: stored.memory.source.clone(),
            },
            CandidateSource::Message => return None,
        };
        Some(RecalledStanding {
            kind: self.kind,
            text: self.text.to_owned(),
            created_at: self.at,
            origin,
            score: self.score,
        })
    }
}

/// A standing sentence of an entry.
struct EntrySentence<'s> {
    entry: &'s Arc<ConversationEntry>,
    claims: &'s EntryClaims,
    kind: StandingKind,
    text: &'s str,
    /// The position of the entry among the recalled ones.
    rank: Option<usize>,
    is_known: bool,
}

/// Returns the sentences of entries: those of recalled entries first, then the newest.
fn entry_candidates<'s>(
    indexes: &'s [Arc<ConversationIndex>],
    request: &StandingRequest<'_>,
    recalled: &RecallResult,
) -> Vec<StandingCandidate<'s>> {
    let ranks: HashMap<&EntryId, usize> = recalled
        .memories
        .iter()
        .enumerate()
        .map(|(rank, memory)| (&memory.entry.id, rank))
        .collect();
    let mut sentences = Vec::new();
    for (entry, claims) in indexes.iter().flat_map(|index| index.standing_entries()) {
        let (rank, is_known) = (ranks.get(&entry.id).copied(), (request.is_known)(entry));
        sentences.extend(claims.standing(entry).iter().map(|sentence| {
            let text = &entry.content[sentence.span.clone()];
            EntrySentence {
                entry,
                claims,
                kind: sentence.kind,
                text,
                rank,
                is_known,
            }
        }));
    }
    sentences.sort_by_key(|own| {
        (
            own.rank.unwrap_or(usize::MAX),
            Reverse(own.entry.created_at),
            &own.entry.id,
        )
    });
    let mut counts = HashMap::new();
    sentences.retain(|own| {
        let count = counts
            .entry((own.kind, own.is_known, own.rank.is_some()))
            .or_insert(0);
        *count += 1;
        *count <= MAX_NEWEST
    });
    remove_sentences_with_facts(&mut sentences);
    let candidate = |own: EntrySentence<'s>| StandingCandidate {
        kind: own.kind,
        text: own.text,
        at: own.entry.created_at,
        source: CandidateSource::Entry(own.entry),
        score: own.rank.map_or(0.0, |rank| recalled.memories[rank].score),
        is_relevant: own.rank.is_some(),
        is_known: own.is_known,
    };
    sentences.into_iter().map(candidate).collect()
}

/// Removes the sentences of turns that facts extracted from the same turn cover.
fn remove_sentences_with_facts(sentences: &mut Vec<EntrySentence<'_>>) {
    let mut facts = HashMap::<&EntryId, Vec<Arc<TextClaim>>>::new();
    for own in sentences
        .iter()
        .filter(|own| own.entry.role == EntryRole::Memory)
    {
        if let Some(turn) = &own.entry.source_id {
            facts
                .entry(turn)
                .or_default()
                .push(own.claims.full_claim(own.entry));
        }
    }
    sentences.retain(|own| {
        facts.get(&own.entry.id).is_none_or(|facts| {
            let facts: Vec<&TextClaim> = facts.iter().map(Arc::as_ref).collect();
            !TextClaim::new(own.text).is_covered_by(&facts)
        })
    });
}

/// Returns the memories of the home, in their order.
fn memory_candidates<'s>(
    memories: &'s [StandingMemory],
    message: &str,
) -> Vec<StandingCandidate<'s>> {
    let query = RecallQuery::of(message);
    let words: HashSet<&Term> = query
        .terms
        .iter()
        .filter(|own| !own.is_framing && !own.is_optional)
        .map(|own| &own.term)
        .collect();
    let is_relevant = |text: &str| {
        let mut is_relevant = false;
        content_terms(text, &mut |term, _| is_relevant |= words.contains(&term));
        is_relevant
    };
    let candidate = |own: &'s StandingMemory| StandingCandidate {
        kind: own.kind,
        text: &own.text,
        at: own.stored.memory.last_stated_at(),
        source: CandidateSource::Memory(own),
        score: 0.0,
        is_relevant: is_relevant(&own.text),
        is_known: false,
    };
    memories.iter().take(MAX_MEMORIES).map(candidate).collect()
}

/// Returns the standing sentences of the message, which may replace earlier ones.
fn message_candidates(message: &str) -> impl Iterator<Item = StandingCandidate<'_>> {
    let sentences = message_ends(message).into_iter().flat_map(|part| {
        standing_sentences(part)
            .into_iter()
            .map(move |sentence| (sentence.kind, &part[sentence.span]))
    });
    sentences
        .take(MAX_NEWEST)
        .map(|(kind, text)| StandingCandidate {
            kind,
            text,
            at: DateTime::<Utc>::MAX_UTC,
            source: CandidateSource::Message,
            score: 0.0,
            is_relevant: true,
            is_known: true,
        })
}

/// Returns the elements of two lists in turns.
fn alternate<T>(one: Vec<T>, other: Vec<T>) -> Vec<T> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    loop {
        let pair = [one.next(), other.next()];
        if pair.iter().all(Option::is_none) {
            return all;
        }
        all.extend(pair.into_iter().flatten());
    }
}

/// Returns whether the standing texts contain the whole text of an entry.
fn is_given(entry: &ConversationEntry, standing: &[RecalledStanding]) -> bool {
    let is_own = |own: &&RecalledStanding| {
        own.text == entry.content || own.entry().is_some_and(|other| other.id == entry.id)
    };
    let mut own = standing.iter().filter(is_own).peekable();
    own.peek().is_some() && {
        let rest = own.fold(entry.content.clone(), |rest, own| {
            rest.replacen(&own.text, "", 1)
        });
        !rest.contains(char::is_alphanumeric)
    }
}

#[cfg(test)]
mod tests;
