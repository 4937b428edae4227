//! The classification of a note: a probability for each category.

use memory_core::Category;

use super::extraction::extract_features;
use super::input::ClassifierInput;
use super::model::{CategoryModel, label_index, shipped_model};
use super::{LABELS, feature::Features};

/// Minimum confidence for filing a note: its category is more probable than all others together.
pub const SURE: f32 = 0.5;

/// The scores of all categories for a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The score of every category except the inbox, highest first.
    pub scores: [Score; LABELS.len()],
}

/// The score of one category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The category.
    pub category: Category,
    /// The sum of the bias, the weighted features and the cue, before the softmax.
    pub score: f32,
    /// The probability of the category; those of all categories add up to 1.
    pub probability: f32,
}

impl Classification {
    /// Returns the probability of the most probable category.
    pub fn confidence(&self) -> f32 {
        self.scores[0].probability
    }

    /// Returns the category to file the note in; `None` if the confidence is below [`SURE`].
    pub fn category(&self) -> Option<Category> {
        (SURE <= self.confidence()).then_some(self.scores[0].category)
    }
}

/// Classifies a note with the shipped model.
///
/// ```
/// use memory_core::Category;
/// use memory_dream::classify::{ClassifierInput, classify};
///
/// let found = classify(&ClassifierInput::from_text("提醒我明天下午三点给安娜打电话"));
/// assert_eq!(found.category(), Some(Category::Reminders));
/// assert_eq!(classify(&ClassifierInput::from_text("…")).category(), None);
/// ```
pub fn classify(note: &ClassifierInput<'_>) -> Classification {
    classify_with(shipped_model(), &extract_features(note))
}

/// Minimum probability of the category of a decisive cue.
const CUE_PROBABILITY: f32 = 0.95;

/// Returns the index in [`LABELS`] of the decisive cue's category, and the score to add to it.
pub(super) fn cue_boost(model: &CategoryModel, features: &Features, scores: &[f32; LABELS.len()]) -> Option<(usize, f32)> {
    let place = label_index(features.cue.as_ref()?.category)?;
    let best = scores.iter().copied().fold(f32::MIN, f32::max);
    let share = |score: f32| ((score - best) / model.temperature).exp();
    let others = scores.iter().copied().map(share).sum::<f32>() - share(scores[place]);
    let needed = best + model.temperature * (others * CUE_PROBABILITY / (1.0 - CUE_PROBABILITY)).max(f32::MIN_POSITIVE).ln();
    Some((place, (needed - scores[place]).max(0.0)))
}

/// Classifies a note by its features with the given model.
pub fn classify_with(model: &CategoryModel, features: &Features) -> Classification {
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
