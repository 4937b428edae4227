//! Classifies memories into categories.
//!
//! A note is converted to [`extract_features()`]: its words and short runs of words, their classes (a relative, a trait, a ban, a reason), the
//! starts and ends of sentences, its shape and the times in it. A linear model computes scores from them. Its weights are fitted by
//! `examples/classify.rs` on the notes in `examples/classify/`. The model supports English and Chinese; for text in other languages it
//! reports a low confidence.
//!
//! A cue, such as `Lesson learned: …` or `we decided`, takes precedence over the model (`cues.txt`, `cue.rs`). All commands choose the
//! category of a memory by [`choose_category()`].
//!
//! [`classify()`] returns the probability of each category.

mod classification;
mod cue;
mod extraction;
mod feature;
mod lexicon;
mod model;
#[cfg(test)]
mod tests;

pub use classification::{
    CategoryChoice, Classification, SURE, Score, choose_category, classify, classify_with,
};
pub use extraction::extract_features;
pub use feature::{ClassifierInput, Feature, FeatureKind, Features};
pub use model::{CategoryModel, shipped_model};

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
