//! Questions to the memories, and their answers.

use std::ops::Range;

use crate::question::Question;
use crate::rank::{Part, Weights};
use crate::{Filter, Stored};

/// A question: words, and which memories may answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The words, as a person types them; see [`crate::question::parse`].
    pub text: String,
    /// Which memories may answer.
    pub filter: Filter,
    /// How many answers at most.
    pub limit: usize,
    /// What counts beside the words.
    pub ranking: Ranking,
}

/// What counts for the order of answers beside the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// How much newness counts, from 0 to 1: a hit is worth `(1 − w) · relevance + w · exp(−age / 30 days)`.
    pub recency: f32,
    /// How much of the order is the worth of a hit, from 0 to 1; the rest is how little it repeats what stands above it.
    pub diversity: f32,
    /// What is less relevant is left out; from 0, which leaves nothing out, to 1. If nothing is said, it is 0 without a
    /// reranking model, and what its rules say with one.
    pub threshold: Option<f32>,
    /// How much each part of the evidence counts, if not as usual.
    pub weights: Option<Weights>,
}

impl Default for Ranking {
    /// As a person searches notes: newness decides between equals, nothing is left out.
    fn default() -> Self {
        Self { recency: 0.002, diversity: 1.0, threshold: None, weights: None }
    }
}

/// A question as a store is asked it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<'q> {
    /// What is asked for.
    pub question: &'q Question,
    /// Which memories may answer.
    pub filter: &'q Filter,
    /// How many answers at most.
    pub limit: usize,
    /// What counts beside the words; the diversity is not the store's business.
    pub ranking: Ranking,
    /// The question's vector, if there is a model.
    pub vector: Option<QuestionVector<'q>>,
}

/// The vector of a question, and of which model it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuestionVector<'q> {
    /// What tells the model from every other.
    pub identity: &'q str,
    /// The vector, of length 1.
    pub vector: &'q [f32],
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best, best first; ties are broken by the newer `created_at`, then by id.
    pub hits: Vec<Hit>,
    /// How many memories match in all.
    pub total: u64,
    /// Why the answer may be less than it should be, if it may.
    pub degraded: Option<String>,
}

/// One memory that answers a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The memory as it stands now.
    pub stored: Stored,
    /// How well it answers; only the order means something. What a reranking model has not read stands below what it has.
    pub score: f32,
    /// An excerpt of one line.
    pub snippet: String,
    /// The byte ranges of `snippet` that match the question.
    pub marks: Vec<Range<usize>>,
    /// How the score came about.
    pub explanation: Explanation,
}

/// How a score came about: the sum of what each part gave (see [`crate::rank`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// What each part gave; those that gave nothing are left out.
    pub parts: Vec<PartScore>,
    /// How likely it is to be an answer, from 0 to 1; comparable between questions.
    pub relevance: f32,
    /// Whether only parts of its words match: it comes behind all that match otherwise.
    pub is_part: bool,
    /// What a reranking model said, if one has read it: then the relevance is its own.
    pub rerank: Option<RerankScore>,
    /// How new it is, from 0 to 1.
    pub recency: f32,
    /// How each word of the question is matched; those that are not are left out.
    pub terms: Vec<TermScore>,
    /// The memory's length in weighed words.
    pub length: u32,
    /// The average length of all memories.
    pub average_length: f32,
    /// How many memories there are.
    pub documents: u64,
}

/// What one part gave to a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartScore {
    /// Which one.
    pub part: Part,
    /// How much of it there is.
    pub value: f32,
    /// What that gave: the value times the part's weight.
    pub score: f32,
}

/// What a reranking model said of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RerankScore {
    /// The raw score.
    pub score: f32,
    /// The relevance by the parts, whose place its own has taken.
    pub before: f32,
}

/// How one word of the question is matched.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The word as it is indexed.
    pub term: String,
    /// How often it stands in the memory, weighed: a word of the title counts for more.
    pub frequency: u32,
    /// How many memories have it.
    pub documents: u64,
    /// How much a rare word is worth, from 0 to 1.
    pub idf: f32,
    /// How strongly it is matched, times that.
    pub score: f32,
}

/// Which part of a list is wanted, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The order.
    pub order: Order,
    /// How many to leave out at the start.
    pub offset: usize,
    /// How many to return at most; `None` means all.
    pub limit: Option<usize>,
}

/// The order of a list. Ties are broken by id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest first.
    #[default]
    Created,
    /// Last changed first.
    Updated,
    /// Most often read first.
    Accessed,
    /// By title or first line, A to Z.
    Title,
    /// Pinned first, then most often read, then last changed.
    Useful,
}

/// One slice of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The memories of the slice.
    pub memories: Vec<Stored>,
    /// How many there are in all.
    pub total: u64,
    /// Why the list may be less than it should be, if it may.
    pub degraded: Option<String>,
}
