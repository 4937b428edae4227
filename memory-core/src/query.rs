//! Questions to the memories, and their answers.

use std::ops::Range;

use crate::{Filter, Stored};

/// A question: words, and which memories may answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The words.
    pub text: String,
    /// Which memories may answer.
    pub filter: Filter,
    /// How many answers at most.
    pub limit: usize,
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
    /// How well it answers; only the order means something.
    pub score: f32,
    /// An excerpt of one line.
    pub snippet: String,
    /// The byte ranges of `snippet` that match the question.
    pub marks: Vec<Range<usize>>,
    /// How the score came about.
    pub explanation: Explanation,
}

/// How a score came about: the sum of what each term gave, by BM25 (see [`crate::rank`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// What each term of the question gave; those that gave nothing are left out.
    pub terms: Vec<TermScore>,
    /// The memory's length in weighed words.
    pub length: u32,
    /// The average length of all memories.
    pub average_length: f32,
    /// How many memories there are.
    pub documents: u64,
}

/// What one term gave to a score.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The term as it is indexed.
    pub term: String,
    /// How often it stands in the memory, weighed: a word of the title counts for more.
    pub frequency: u32,
    /// How many memories have it.
    pub documents: u64,
    /// How much a rare term is worth.
    pub idf: f32,
    /// What it gave.
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
