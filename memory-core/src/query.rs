//! Search requests and their results.

use std::ops::{Deref, Range};

use crate::query_parser::TextQuery;
use crate::rank::{RankFeature, RankWeights};
use crate::spelling::CorrectedQuery;
use crate::{Category, Filter, MemoryId, Scope, StoredMemory};

/// A search query: text and a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The text as a person types it, see [`crate::query_parser::parse`].
    pub text: String,
    /// The filter for results.
    pub filter: Filter,
    /// Maximum number of results.
    pub limit: usize,
    /// The parameters that affect the order of results.
    pub ranking: Ranking,
}

/// The number of results of a query without another limit.
const DEFAULT_LIMIT: usize = 10;

impl Query {
    /// Creates a query for the best ten results of all memories.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            filter: Filter::default(),
            limit: DEFAULT_LIMIT,
            ranking: Ranking::default(),
        }
    }

    /// Sets the maximum number of results.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the filter for results.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the parameters that affect the order of results.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }

    /// Restricts the results to a category.
    #[must_use]
    pub fn category(mut self, category: Category) -> Self {
        self.filter.category = Some(category);
        self
    }

    /// Restricts the results to memories with a tag, or with one below it.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.filter.tags = self.filter.tags.with(&std::iter::once(tag).collect());
        self
    }

    /// Restricts the results to a scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.filter.scope = Some(scope);
        self
    }
}

impl From<&str> for Query {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Query {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

/// Parameters that affect the order of results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// The weight `w` of recency, from 0 to 1.
    ///
    /// The worth of a hit is `(1 − w) · relevance + w · exp(−age / 30 days)`.
    pub recency: f32,
    /// The weight of a hit's worth in the order, from 0 to 1.
    ///
    /// The rest is the weight of its dissimilarity to the hits above it.
    pub diversity: f32,
    /// The relevance below which hits are omitted, from 0, which omits no hit, to 1.
    ///
    /// If it is `None`, it is 0 without a reranking model, and the threshold of its rules with one.
    pub threshold: Option<f32>,
    /// Which matches are results, by the number of words that they contain.
    pub coverage: MatchCoverage,
    /// The weight of each part of the evidence, or `None` for the default weights.
    pub weights: Option<RankWeights>,
}

impl Default for Ranking {
    /// Returns the parameters for searching notes: recency only breaks ties, and no hit is omitted.
    fn default() -> Self {
        Self {
            recency: 0.002,
            diversity: 1.0,
            threshold: None,
            coverage: MatchCoverage::Any,
            weights: None,
        }
    }
}

/// Which matches are results, by the number of content words of the query that they contain.
///
/// The best matches contain as many content words as the match that contains most. A memory that matches by its author or date
/// counts as having all words. All other matches are the rest: those with fewer words, with parts of words, or with a similar
/// meaning alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MatchCoverage {
    /// All matches.
    #[default]
    Any,
    /// The best matches.
    Best,
    /// All but the best matches.
    Rest,
}

/// A parsed search request, as a store receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest<'q> {
    /// The parsed query.
    pub question: &'q TextQuery,
    /// The filter for results.
    pub filter: &'q Filter,
    /// Maximum number of results.
    pub limit: usize,
    /// The parameters that affect the order. A store ignores the diversity.
    pub ranking: Ranking,
    /// The embedding of the query, if a model is available.
    pub vector: Option<QueryVector<'q>>,
}

/// The embedding of a query, with the model that computed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryVector<'q> {
    /// The identifier of the model.
    pub identity: &'q str,
    /// The vector, of length 1.
    pub vector: &'q [f32],
}

/// The results of a search.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct SearchResults {
    /// The best hits, best first. Ties are broken by the newer `created_at`, then by id.
    pub hits: Vec<Hit>,
    /// Total number of matching memories.
    pub total: u64,
    /// The reason why the results may be incomplete, if any.
    pub degraded: Option<String>,
    /// The query with its misspelled words replaced, if it was searched in place of the query, or if nothing was found.
    pub corrected: Option<CorrectedQuery>,
}

/// A search hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The memory in its current state.
    pub stored: StoredMemory,
    /// The score, which is meaningful only as an order.
    ///
    /// Hits that a reranking model has read precede the others.
    pub score: f32,
    /// An excerpt of one line.
    pub snippet: String,
    /// The byte ranges of `snippet` that match the query.
    pub marks: Vec<Range<usize>>,
    /// The composition of the score.
    pub explanation: ScoreExplanation,
}

impl Deref for Hit {
    type Target = StoredMemory;

    /// Returns the memory that was found.
    fn deref(&self) -> &StoredMemory {
        &self.stored
    }
}

/// The composition of a score: the sum of the scores of all parts (see [`crate::rank`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreExplanation {
    /// The score of each part, without parts that contribute nothing.
    pub parts: Vec<RankFeatureScore>,
    /// The probability that the hit is relevant, from 0 to 1; comparable between queries.
    pub relevance: f32,
    /// Whether only parts of words match. Such a hit ranks behind all others.
    pub is_part: bool,
    /// Whether the memory is a message of a conversation.
    pub is_turn: bool,
    /// The newer hit that replaces the memory, if any, see [`crate::replaces_note()`]. It ranks before this one.
    pub replaced_by: Option<MemoryId>,
    /// The score of the reranking model, if one has read the hit. It then determines the relevance.
    pub rerank: Option<RerankScore>,
    /// The cosine of the vectors of the query and the memory, if both have one.
    pub cosine: Option<f32>,
    /// The recency of the memory, from 0 to 1.
    pub recency: f32,
    /// The match of each query term, without terms that do not match.
    pub terms: Vec<TermScore>,
    /// The length of the memory in weighted words.
    pub length: u32,
    /// The average length of all memories.
    pub average_length: f32,
    /// The total number of memories.
    pub documents: u64,
}

/// The contribution of one part to a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankFeatureScore {
    /// The part.
    pub part: RankFeature,
    /// The value of the part.
    pub value: f32,
    /// The contribution: the value times the weight of the part.
    pub score: f32,
}

/// The score of a hit by a reranking model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RerankScore {
    /// The raw score.
    pub score: f32,
    /// The relevance before reranking, computed from the parts.
    pub before: f32,
}

/// The match of one query term.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The term as it is indexed.
    pub term: String,
    /// The weighted number of occurrences in the memory: occurrences in the title have a higher weight.
    pub frequency: u32,
    /// The number of memories that contain the term.
    pub documents: u64,
    /// The inverse document frequency, from 0 to 1; higher for rare terms.
    pub idf: f32,
    /// The strength of the match, multiplied by the inverse document frequency.
    pub score: f32,
}

/// A request for a part of a list in a given order; the default is everything, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The order.
    pub order: ListOrder,
    /// Number of items to skip.
    pub offset: usize,
    /// Maximum number of items; `None` means all.
    pub limit: Option<usize>,
}

/// The order of a list. Ties are broken by id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// By creation time, newest first.
    #[default]
    Created,
    /// By creation time, oldest first; the reverse of [`ListOrder::Created`], also for ties.
    Oldest,
    /// By time of the last change, newest first.
    Updated,
    /// By number of reads, highest first.
    Accessed,
    /// By title or first line, A to Z.
    Title,
    /// Pinned first, then by number of reads, then by time of the last change.
    Useful,
}

/// One slice of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPage {
    /// The memories of the slice.
    pub memories: Vec<StoredMemory>,
    /// Total number of items in the list.
    pub total: u64,
    /// The reason why the list may be incomplete, if any.
    pub degraded: Option<String>,
}
