//! Merges memories without losing a sentence.
//!
//! [`merged()`] computes the result of a merge, [`may_merge()`] checks whether two memories may be merged at all, and [`conserved()`]
//! verifies that every sentence of every source is in the result. All functions are pure.

mod addition;
mod conserved;
mod content;
mod known;
mod line;
mod may_merge;
mod merged;
mod passage;
mod sentence;
#[cfg(test)]
mod tests;
mod topics;

pub use conserved::{Lost, conserved};
pub use may_merge::{Obstacle, may_merge};
pub use merged::{Merged, Standing, merged, precedence, standing};

pub(crate) use known::topic;
pub(crate) use line::{is_heading, is_item};
pub(crate) use passage::passages;
pub(crate) use sentence::sentences;
