//! Detects near-duplicate texts.
//!
//! [`Sketch`]es are cached for all texts, and [`candidates()`] finds similar pairs among a hundred thousand of them. A [`Reading`] of each
//! candidate is then compared: its [`likeness()`] to another decides whether both are duplicates, and how they differ. [`groups()`]
//! combines duplicates into groups to merge. All functions are pure.

mod alignment;
mod candidates;
mod cased;
mod groups;
mod likeness;
mod literal;
mod mark;
mod reading;
mod shingle;
mod sketch;
#[cfg(test)]
mod tests;

pub use candidates::candidates;
pub use cased::Cased;
pub use groups::groups;
pub use likeness::{Difference, Likeness, likeness};
pub use reading::Reading;
pub use sketch::{SKETCH_BYTES, SKETCH_VERSION, Sketch};
