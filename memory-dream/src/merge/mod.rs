//! Merges memories without losing a sentence.
//!
//! [`merged()`] computes the result of a merge, [`may_merge()`] checks whether two memories may be merged at all, and [`conserved()`]
//! verifies that every sentence of every source is in the result. All functions are pure.

mod addition;
mod conservation;
mod content;
mod line;
mod merged_memory;
mod obstacle;
mod passage;
mod sentence;
mod sentence_set;
#[cfg(test)]
mod tests;
mod topics;

pub use conservation::{LostSentence, conserved};
pub use merged_memory::{MergePrecedence, MergedMemory, merged, precedence, standing};
pub use obstacle::{MergeObstacle, may_merge};

pub(crate) use line::{is_heading, is_item};
pub(crate) use passage::passages;
pub(crate) use sentence::sentences;
pub(crate) use sentence_set::topic;
