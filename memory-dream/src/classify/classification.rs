//! The classification of a note: a probability for each category, and the choice of one.

use memory_core::{Category, Memory};

use super::LABELS;
use super::extraction::extract_features;
use super::feature::{ClassifierInput, Features};
use super::model::{CategoryModel, label_index, shipped_model};

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
fn cue_boost(
    model: &CategoryModel,
    features: &Features,
    scores: &[f32; LABELS.len()],
) -> Option<(usize, f32)> {
    let place = label_index(features.cue?)?;
    let best = scores.iter().copied().fold(f32::MIN, f32::max);
    let share = |score: f32| ((score - best) / model.temperature).exp();
    let others = scores.iter().copied().map(share).sum::<f32>() - share(scores[place]);
    let needed = best
        + model.temperature
            * (others * CUE_PROBABILITY / (1.0 - CUE_PROBABILITY))
                .max(f32::MIN_POSITIVE)
                .ln();
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

/// The category chosen for a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CategoryChoice {
    /// The category, if one is at least [`SURE`].
    pub category: Option<Category>,
    /// Probability of the most probable category, from 0 to 1.
    pub confidence: f32,
}

/// Chooses the category of a memory by its title, text and tags.
///
/// Every command that files a memory by its text calls this function: `dream`, `consolidate`, `upgrade` and the daemon. A text that
/// requests a reminder is filed under `date`. The reminder itself is created separately, if the text names a time.
///
/// ```
/// use memory_core::{Category, Draft, MemoryId};
/// use memory_dream::classify::choose_category;
///
/// let memory = Draft::new("Lesson learned: backups must be tested").into_memory(MemoryId::for_path("a"), Default::default());
/// assert_eq!(choose_category(&memory).category, Some(Category::Lessons));
/// ```
pub fn choose_category(memory: &Memory) -> CategoryChoice {
    choose_from_scores(&classify(&ClassifierInput::from(memory)))
}

fn choose_from_scores(classification: &Classification) -> CategoryChoice {
    let of = |category: Category| {
        classification
            .scores
            .iter()
            .find(|score| score.category == category)
    };
    let probability = |category: Category| of(category).map_or(0.0, |score| score.probability);
    let dates = probability(Category::Date) + probability(Category::Reminders);
    let others = classification
        .scores
        .iter()
        .filter(|score| ![Category::Date, Category::Reminders].contains(&score.category));
    let (category, confidence) = others
        .map(|score| (score.category, score.probability))
        .fold((Category::Date, dates), |best, other| {
            if best.1 < other.1 { other } else { best }
        });
    CategoryChoice {
        category: (SURE <= confidence).then_some(category),
        confidence: confidence.min(1.0),
    }
}
