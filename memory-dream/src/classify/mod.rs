//! Which of the categories a memory belongs to.
//!
//! A note is read into [`features()`]: its words and short runs of words, what kinds of words they are (a relative, a trait, a
//! ban, a reason), what it begins and ends with, its shape and the times it names. A linear model weighs them; its weights are
//! fitted by `examples/classify.rs` on the notes in `examples/classify/`. English and Chinese are known to it; of any other
//! text it is unsure, and says so.
//!
//! A cue, such as `Lesson learned: …` or `we decided`, takes precedence over the model (`cues.txt`, `cue.rs`).
//! [`choose_category()`] is the one function by which all commands choose the category of a memory.
//!
//! [`classify()`] tells how probable each category is, [`explain()`] what speaks for one of them, in numbers that add up.

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

/// The categories that notes are classified into: all but the inbox.
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
