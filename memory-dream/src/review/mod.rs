//! What is seen only when many memories are looked at together.
//!
//! A [`Reviewer`] is shown memories one after the other and keeps little of each: what it claims, its rarest words, its links.
//! The [`Review`] then lists what contradicts what, what is about one thing, what nobody needs and which projects rest. It is
//! the same in whatever order the memories came. All of it is pure, and nothing is compared with everything.

mod claim;
mod clusters;
mod contradictions;
mod orphans;
mod report;
mod reviewer;
mod seen;
mod stale;
#[cfg(test)]
mod tests;

pub use clusters::Cluster;
pub use contradictions::{Contradiction, Difference, Side, Supersession};
pub use orphans::Orphan;
pub use report::{Listed, Review, Rules};
pub use reviewer::{Reviewer, review};
pub use stale::StaleProject;
