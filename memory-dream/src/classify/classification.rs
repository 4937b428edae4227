//! The answer.

use memory_core::Category;

use super::model::{Model, shipped};
use super::note::Note;
use super::read::features;
use super::{LABELS, feature::Features};

/// From this confidence on, a note is filed: its category is more probable than all others together.
pub const SURE: f32 = 0.5;

/// How much speaks for each category.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// Every category but the inbox, the most probable first.
    pub scores: [Score; LABELS.len()],
}

/// How much speaks for one category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The category.
    pub category: Category,
    /// The sum of what speaks for and against it.
    pub score: f32,
    /// How probable that makes it; those of all categories are 1 together.
    pub probability: f32,
}

impl Classification {
    /// Returns how probable the most probable category is.
    pub fn confidence(&self) -> f32 {
        self.scores[0].probability
    }

    /// Returns the category to file the note in, or nothing where none is [`SURE`]: then it stays in the inbox.
    pub fn category(&self) -> Option<Category> {
        (SURE <= self.confidence()).then_some(self.scores[0].category)
    }
}

/// Tells which category a note belongs to.
///
/// ```
/// use memory_core::Category;
/// use memory_dream::classify::{Note, classify};
///
/// let found = classify(&Note::of_text("提醒我明天下午三点给安娜打电话"));
/// assert_eq!(found.category(), Some(Category::Reminders));
/// assert_eq!(classify(&Note::of_text("…")).category(), None);
/// ```
pub fn classify(note: &Note<'_>) -> Classification {
    classify_by(shipped(), &features(note))
}

/// Tells which category a note of these features belongs to, by these weights.
pub fn classify_by(model: &Model, features: &Features) -> Classification {
    let scores = model.scores(features);
    let best = scores.iter().copied().fold(f32::MIN, f32::max);
    let share = |score: f32| ((score - best) / model.temperature).exp();
    let all: f32 = scores.iter().copied().map(share).sum();
    let mut scores: [Score; LABELS.len()] = std::array::from_fn(|place| Score {
        category: LABELS[place],
        score: scores[place],
        probability: share(scores[place]) / all,
    });
    scores.sort_by(|one, other| other.score.total_cmp(&one.score));
    Classification { scores }
}
