//! Making one memory of several without losing a sentence.
//!
//! [`merged()`] tells what becomes of memories that say the same, [`may_merge()`] which may not become one whatever they say,
//! and [`conserved()`] checks that every sentence of every source is still there. All of it is pure.

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
