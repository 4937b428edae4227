//! Reviews a set of memories as a whole.
//!
//! A [`Reviewer`] processes memories one by one and stores a summary of each: its words, its links and, of a short one, its text. The [`Review`] then
//! lists contradictions, clusters, orphans and stale projects. It does not depend on the order of the memories. All functions are pure, and
//! no step compares every pair of memories.

mod clusters;
mod contradictions;
mod report;
mod reviewed_memory;
mod reviewer;
#[cfg(test)]
mod tests;

pub use clusters::Cluster;
pub use contradictions::{Contradiction, ContradictionSide, Supersession};
pub use report::{Orphan, StaleProject, TruncatedList};
pub use reviewer::{Review, ReviewRules, Reviewer, review_memories};
