//! The answer.

use memory_core::Category;

use super::model::{Model, place, shipped};
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

/// Probability of the category that a cue names, at least.
const CUE_PROBABILITY: f32 = 0.95;

/// Returns where in [`LABELS`] the category stands that a cue of the note names, and how much the cue adds to its score.
pub(super) fn cue_boost(model: &Model, features: &Features, scores: &[f32; LABELS.len()]) -> Option<(usize, f32)> {
    let place = place(features.cue.as_ref()?.category)?;
    let best = scores.iter().copied().fold(f32::MIN, f32::max);
    let share = |score: f32| ((score - best) / model.temperature).exp();
    let others = scores.iter().copied().map(share).sum::<f32>() - share(scores[place]);
    let needed = best + model.temperature * (others * CUE_PROBABILITY / (1.0 - CUE_PROBABILITY)).max(f32::MIN_POSITIVE).ln();
    Some((place, (needed - scores[place]).max(0.0)))
}

/// Tells which category a note of these features belongs to, by these weights.
pub fn classify_by(model: &Model, features: &Features) -> Classification {
    let mut scores = model.scores(features);
    if let Some((place, boost)) = cue_boost(model, features, &scores) {
        scores[place] += boost;
    }
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
