//! The JSON of search results and contexts.

use chrono::{DateTime, Utc};
use memory_core::text::token_count;
use memory_core::{
    Category, Context, Hit, HomeSection, InboxTtl, MemoryId, RankFeatureScore, RerankScore, Scope,
    ScoreExplanation, SearchResults, SmartSearchResults, SpeakerRole, TermScore,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::memory::MemoryShape;
use super::{add_field, time, value};

#[derive(Serialize)]
struct SearchShape<'a> {
    hits: Vec<HitShape<'a>>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Value>,
}

#[derive(Serialize)]
struct HitShape<'a> {
    memory: MemoryShape<'a>,
    score: f64,
    snippet: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<ExplanationShape<'a>>,
}

#[derive(Serialize)]
struct ChatHitShape<'a> {
    chat: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<String>,
    role: &'a str,
    score: f64,
    snippet: &'a str,
}

#[derive(Serialize)]
struct ExplanationShape<'a> {
    relevance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank: Option<RerankShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cosine: Option<f64>,
    recency: f64,
    parts: Vec<PartShape>,
    terms: Vec<TermShape<'a>>,
    length: u32,
    average_length: f64,
    documents: u64,
}

#[derive(Serialize)]
struct RerankShape {
    score: f64,
    before: f64,
}

#[derive(Serialize)]
struct PartShape {
    part: &'static str,
    value: f64,
    score: f64,
}

#[derive(Serialize)]
struct TermShape<'a> {
    term: &'a str,
    frequency: u32,
    documents: u64,
    idf: f64,
    score: f64,
}

/// Returns the JSON of search results, best first.
///
/// `{hits: [{memory, score, snippet, replaced_by?, explain?}], total, degraded?, corrected?}`. `replaced_by` is the id of a newer hit that says that what
/// the memory states has changed. `degraded` gives the reason why the result may be
/// incomplete. `corrected` is the query with its misspelled words replaced, as `{query, words: {WORD: REPLACEMENT}, searched}`: it was
/// searched, or nothing was found and it may be meant. With `explain`, each hit explains its score: `{relevance, rerank?: {score, before}, cosine?, recency, parts:
/// [{part, value, score}], terms: [{term, frequency, documents, idf, score}], length, average_length, documents}`.
///
/// The relevance is computed from the sum of the scores of the parts. If a reranking model replaced it, `rerank` has
/// the raw `score` of the model and the relevance `before`.
pub fn search_results(found: &SearchResults, explain: bool, inbox_ttl: InboxTtl) -> Value {
    value(&SearchShape {
        hits: found
            .hits
            .iter()
            .map(|hit| HitShape::of(hit, explain, inbox_ttl))
            .collect(),
        total: found.total,
        degraded: found.degraded.as_deref(),
        corrected: corrected(found),
    })
}

/// Returns the JSON of the correction of a query: `{query, words: {WORD: REPLACEMENT}, searched}`.
///
/// If it was not searched, it is a suggestion.
pub(crate) fn corrected(found: &SearchResults) -> Option<Value> {
    let corrected = found.corrected.as_ref()?;
    let words = corrected.words.iter();
    let words: serde_json::Map<String, Value> = words
        .map(|own| (own.word.clone(), own.replacement.as_str().into()))
        .collect();
    Some(json!({ "query": corrected.text, "words": words, "searched": corrected.is_searched }))
}

/// A message of a chat among search results.
#[derive(Debug)]
pub struct ChatHit<'h> {
    /// `conversation` or `session`.
    pub kind: &'static str,
    /// The id of the conversation, or the name of the session.
    pub name: &'h str,
    /// The id of an entry of a conversation; a message of a session has none.
    pub id: Option<MemoryId>,
    /// The role of the speaker, or `fact`.
    pub role: &'h str,
    /// The time of the message, if it has one.
    pub at: Option<DateTime<Utc>>,
}

impl<'h> ChatHit<'h> {
    /// Returns the message of a hit in the scope of a conversation or a session.
    pub fn of(hit: &'h Hit) -> Self {
        let memory = &hit.stored.memory;
        let name = match &memory.scope {
            Scope::Conversation(name) => name,
            _ => "",
        };
        // The store gives a record without a time this one.
        let at = Some(memory.created_at).filter(|at| *at != DateTime::UNIX_EPOCH);
        if HomeSection::of(&hit.stored.path) == HomeSection::Conversations {
            let role = match memory.role {
                Some(SpeakerRole::Person) => "user",
                Some(role) => role.as_str(),
                None => "fact",
            };
            Self {
                kind: "conversation",
                name,
                id: Some(memory.id),
                role,
                at,
            }
        } else {
            Self {
                kind: "session",
                name,
                id: None,
                role: &memory.source,
                at,
            }
        }
    }
}

/// Returns the JSON of messages of chats: `{hits: [{chat, id?, ts?, role, score, snippet}], total, degraded?}`.
///
/// `chat` is `conversation:ID` or `session:NAME`. The entries of a conversation have an `id`.
pub fn chat_search_results(found: &SearchResults) -> Value {
    let hits = found.hits.iter().map(|hit| {
        let chat = ChatHit::of(hit);
        value(&ChatHitShape {
            chat: format!("{}:{}", chat.kind, chat.name),
            id: chat.id.map(|id| id.to_string()),
            ts: chat.at.map(time::rfc3339),
            role: chat.role,
            score: shortest_decimal(hit.score),
            snippet: &hit.snippet,
        })
    });
    let mut results = json!({ "hits": hits.collect::<Vec<_>>(), "total": found.total });
    add_field(&mut results, "degraded", found.degraded.as_deref());
    results
}

/// Returns the number of tokens that a hit takes in [`search_results`] without `explain`.
pub fn hit_tokens(hit: &Hit, inbox_ttl: InboxTtl) -> usize {
    token_count(&value(&HitShape::of(hit, false, inbox_ttl)).to_string())
}

impl<'a> HitShape<'a> {
    fn of(hit: &'a Hit, explain: bool, inbox_ttl: InboxTtl) -> Self {
        Self {
            memory: MemoryShape::of(&hit.stored, inbox_ttl),
            score: shortest_decimal(hit.score),
            snippet: &hit.snippet,
            replaced_by: hit.explanation.replaced_by.map(|id| id.to_string()),
            explain: explain.then(|| ExplanationShape::of(&hit.explanation)),
        }
    }
}

impl<'a> ExplanationShape<'a> {
    fn of(explanation: &'a ScoreExplanation) -> Self {
        let ScoreExplanation {
            parts,
            relevance,
            rerank,
            cosine,
            recency,
            terms,
            length,
            average_length,
            documents,
            is_part: _,
            is_turn: _,
            replaced_by: _,
        } = explanation;
        Self {
            relevance: shortest_decimal(*relevance),
            rerank: rerank.map(|RerankScore { score, before }| RerankShape {
                score: shortest_decimal(score),
                before: shortest_decimal(before),
            }),
            cosine: cosine.map(shortest_decimal),
            recency: shortest_decimal(*recency),
            parts: parts.iter().map(PartShape::of).collect(),
            terms: terms.iter().map(TermShape::of).collect(),
            length: *length,
            average_length: shortest_decimal(*average_length),
            documents: *documents,
        }
    }
}

impl PartShape {
    fn of(part: &RankFeatureScore) -> Self {
        let RankFeatureScore { part, value, score } = part;
        Self {
            part: part.as_str(),
            value: shortest_decimal(*value),
            score: shortest_decimal(*score),
        }
    }
}

impl<'a> TermShape<'a> {
    fn of(term: &'a TermScore) -> Self {
        let TermScore {
            term,
            frequency,
            documents,
            idf,
            score,
        } = term;
        Self {
            term,
            frequency: *frequency,
            documents: *documents,
            idf: shortest_decimal(*idf),
            score: shortest_decimal(*score),
        }
    }
}

/// Returns the shortest decimal that rounds to `number`: 0.1 instead of 0.10000000149011612.
pub(super) fn shortest_decimal(number: f32) -> f64 {
    number
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(number))
}

/// Returns the JSON of the context for a prompt.
///
/// `{context, memories, tokens, left_out, standing?, degraded?, warning?}`; `context` is the text to insert before the
/// prompt, `memories` the ids of its memories, `standing` those of standing instructions and preferences, and `warning`
/// reports that the budget is too small for any memory.
pub fn context(context: &Context) -> Value {
    let ids: Vec<String> = context
        .memories
        .iter()
        .map(|stored| stored.memory.id.to_string())
        .collect();
    let Context {
        text,
        tokens,
        left_out,
        ..
    } = context;
    let mut shape =
        json!({ "context": text, "memories": ids, "tokens": tokens, "left_out": left_out });
    if 0 < context.standing {
        shape["standing"] = shape["memories"]
            .as_array()
            .into_iter()
            .flatten()
            .take(context.standing)
            .cloned()
            .collect();
    }
    add_field(&mut shape, "degraded", context.degraded.as_deref());
    add_field(&mut shape, "warning", context.shortage.as_deref());
    shape
}

/// Returns the JSON of a smart search: like [`search_results`], with the interpretation of the query.
///
/// The interpretation is `understood: {query, category?, from?, until?}`.
pub fn smart_search_results(answer: &SmartSearchResults, inbox_ttl: InboxTtl) -> Value {
    let mut shape = search_results(&answer.found, false, inbox_ttl);
    shape["understood"] = understood(answer);
    shape
}

/// Returns the JSON of the interpretation of a query: `{query, category?, from?, until?}`.
pub fn understood(answer: &SmartSearchResults) -> Value {
    let mut understood = json!({ "query": answer.text });
    add_field(
        &mut understood,
        "category",
        answer.filter.category.map(Category::as_str),
    );
    for (name, moment) in [("from", answer.filter.from), ("until", answer.filter.until)] {
        if let Some(moment) = moment {
            understood[name] = time::rfc3339(moment).into();
        }
    }
    understood
}
