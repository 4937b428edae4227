//! Classifies memories into categories.
//!
//! A note is converted to [`extract_features()`]: its words and short runs of words, their classes (a relative, a trait, a ban, a reason), the
//! starts and ends of sentences, its shape and the times in it. A linear model computes scores from them. Its weights are fitted by
//! `examples/classify.rs` on the notes in `examples/classify/`. The model supports English and Chinese; for text in other languages it
//! reports a low confidence.
//!
//! The name that the author gave a note precedes the model: a tag, the folder, the title or the label of the first line, such as
//! `Lesson learned: …` (`names.json`). All commands choose the category of a memory by [`choose_category()`].
//!
//! [`classify()`] returns the probability of each category.

mod classification;
mod extraction;
mod feature;
mod lexicon;
mod model;
mod name;
#[cfg(test)]
mod tests;

pub use classification::{
    CategoryChoice, Classification, SURE, Score, choose_category, choose_for, classify,
    classify_with,
};
pub use extraction::extract_features;
pub use feature::{ClassifierInput, Feature, FeatureKind, Features};
pub use model::{CategoryModel, shipped_model};

use memory_core::Category;

/// The categories that notes are classified into. A note that belongs to none of the others stays in the inbox: a template, a list of
/// links, a part of a sentence.
pub const LABELS: [Category; 14] = [
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
    Category::Inbox,
];
