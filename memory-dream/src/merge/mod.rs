//! Merges memories without losing a sentence.
//!
//! [`merge_memories()`] computes the result of a merge, [`check_mergeable()`] checks whether two memories may be merged at all, and [`check_conserved()`]
//! verifies that every sentence of every source is in the result. All functions are pure.

mod addition;
mod conservation;
mod line;
mod merged_memory;
mod obstacle;
mod passage;
mod sentence;
#[cfg(test)]
mod tests;

pub use conservation::{LostSentence, check_conserved};
pub use merged_memory::{
    MergePrecedence, MergedMemory, compare_precedence, merge_memories, merge_precedence,
};
pub use obstacle::{MergeObstacle, check_mergeable};

pub(crate) use conservation::passage_topic;
pub(crate) use line::{is_heading, is_item};
pub(crate) use passage::parse_passages;
pub(crate) use sentence::sentence_ranges;
