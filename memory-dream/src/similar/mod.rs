//! Which memories say the same.
//!
//! [`Sketch`]es are kept beside the texts and [`candidates()`] finds those worth a look among a hundred thousand; a
//! [`Reading`] of each then tells by its [`likeness()`] to another whether it says the same, and in what it differs;
//! [`groups()`] parts those that do into what becomes one. All of it is pure.

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
