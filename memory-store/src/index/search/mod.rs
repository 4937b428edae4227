//! Search in the committed full-text segments and the rows that are pending.
//!
//! A search gathers candidates and their features; `memory_core::rank` scores them. If more than 3,000 documents
//! match, only a fixed number of the best by words is ranked at first, committed or pending alike, and a wider
//! selection continues behind them if more are requested. So the first hits depend neither on the limit nor on
//! how the index was built. In a scope, word statistics are those of that scope.
//!
//! Matches inside words are added if whole words give at most 500 matches, or fewer than requested. They rank
//! behind all other matches. Of a query of keywords, texts with all of them rank first, in whole words before
//! those inside words. A file with all words of a segment makes this fast (`vocabulary`); without the file the
//! dictionary is read, which is slower and finds the same.

mod best_matches;
mod candidate;
mod corrections;
mod coverage;
mod document_set;
mod gather;
mod pending_rows;
mod preselection;
mod query_names;
mod query_term;
mod query_terms;
mod ranking;
mod segments;
mod substrings;
mod tie_breaker;
mod top_k;
mod turns;
mod vector_matches;

pub(super) use best_matches::BestMatches;
