//! Classifies memories into categories.
//!
//! A note is converted to [`features()`]: its words and short runs of words, their classes (a relative, a trait, a ban, a reason), the
//! starts and ends of sentences, its shape and the times in it. A linear model computes scores from them. Its weights are fitted by
//! `examples/classify.rs` on the notes in `examples/classify/`. The model supports English and Chinese; for text in other languages it
//! reports a low confidence.
//!
//! A cue, such as `Lesson learned: …` or `we decided`, takes precedence over the model (`cues.txt`, `cue.rs`). All commands choose the
//! category of a memory by [`choose_category()`].
//!
//! [`classify()`] returns the probability of each category, and [`explain()`] the contributions to the score of one category.

mod choice;
mod classification;
mod cue;
mod explain;
mod feature;
mod lexicon;
mod model;
mod note;
mod read;
mod shape;
#[cfg(test)]
mod tests;
mod time;

pub use choice::{Choice, choose_category};
pub use classification::{Classification, SURE, Score, classify, classify_by};
pub use explain::{Evidence, explain};
pub use feature::{Feature, Features, Kind};
pub use model::{Model, shipped};
pub use note::Note;
pub use read::features;

pub(crate) use cue::cue_version;

use memory_core::Category;

/// The categories that notes are classified into: all except the inbox.
pub const LABELS: [Category; 13] = [
    Category::Soul,
    Category::Character,
    Category::People,
    Category::Project,
    Category::Date,
    Category::Knowledge,
    Category::Feedback,
    Category::Preferences,
    Category::Decisions,
    Category::Lessons,
    Category::Habits,
    Category::Skills,
    Category::Reminders,
];
