//! The classification of a note: a probability for each category, and the choice of one.

use memory_core::{Category, Memory};

use super::LABELS;
use super::extraction::extract_features;
use super::feature::{ClassifierInput, Features};
use super::model::{CategoryModel, shipped_model};
use super::name::named_category;

/// Minimum confidence for filing a note. `examples/classify.rs` measures how many notes are filed, and how many of them wrongly.
pub const SURE: f32 = 0.94;

/// Minimum confidence for a suggestion: the category is more probable than all others together.
const LIKELY: f32 = 0.5;

/// The confidence in a category that the author of the note named.
const NAMED: f32 = 0.97;

/// The scores of all categories for a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The score of every category, highest first.
    pub scores: [Score; LABELS.len()],
}

/// The score of one category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The category.
    pub category: Category,
    /// The sum of the bias and the weighted features, before the softmax.
    pub score: f32,
    /// The probability of the category; those of all categories add up to 1.
    pub probability: f32,
}

/// Classifies a note with the shipped model.
///
/// ```
/// use memory_core::Category;
/// use memory_dream::classify::{ClassifierInput, classify};
///
/// let found = classify(&ClassifierInput::from_text("提醒我明天下午三点给安娜打电话"));
/// assert_eq!(found.scores[0].category, Category::Reminders);
/// ```
pub fn classify(note: &ClassifierInput<'_>) -> Classification {
    classify_with(shipped_model(), &extract_features(note))
}

/// Classifies a note by its features with the given model.
pub fn classify_with(model: &CategoryModel, features: &Features) -> Classification {
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

/// The category chosen for a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CategoryChoice {
    /// The most probable category, if it is probable enough to suggest it.
    pub suggestion: Option<Category>,
    /// The probability of the most probable category, from 0 to 1.
    pub confidence: f32,
}

impl CategoryChoice {
    /// Returns the category to file the memory in; `None` if the confidence is below [`SURE`].
    pub fn category(&self) -> Option<Category> {
        self.suggestion.filter(|_| SURE <= self.confidence)
    }
}

/// Chooses the category of a memory by its tags, its folder, its title and its text.
///
/// Every command that files a memory by its text calls this function: `dream`, `consolidate`, `upgrade` and the daemon. A text that
/// requests a reminder is filed under `date`. The reminder itself is created separately, if the text names a time.
///
/// ```
/// use memory_core::{Category, Draft, MemoryId};
/// use memory_dream::classify::choose_category;
///
/// let memory = Draft::new("Lesson learned: backups must be tested").into_memory(MemoryId::for_path("a"), Default::default());
/// assert_eq!(choose_category(&memory).category(), Some(Category::Lessons));
/// ```
pub fn choose_category(memory: &Memory) -> CategoryChoice {
    choose_for(&ClassifierInput::from(memory))
}

/// Chooses the category of a note as [`choose_category()`] does.
pub fn choose_for(note: &ClassifierInput<'_>) -> CategoryChoice {
    let has_text = !note.content.trim().is_empty();
    match named_category(note).filter(|_| has_text) {
        Some(named) => CategoryChoice {
            suggestion: Some(without_reminders(named)),
            confidence: NAMED,
        },
        None if has_text && is_statement(note) => classify(note).choice(),
        None => CategoryChoice {
            suggestion: None,
            confidence: 0.0,
        },
    }
}

impl Classification {
    /// Returns the most probable category; dates and reminders count as one.
    pub fn choice(&self) -> CategoryChoice {
        let probability = |category: Category| {
            let own = |score: &&Score| without_reminders(score.category) == category;
            let own = self.scores.iter().filter(own);
            own.map(|score| score.probability).sum::<f32>()
        };
        let categories = LABELS.into_iter().filter(|own| *own != Category::Inbox);
        let (category, confidence) = categories
            .map(|category| (category, probability(category)))
            .max_by(|one, other| one.1.total_cmp(&other.1))
            .unwrap_or((Category::Knowledge, 0.0));
        CategoryChoice {
            suggestion: (LIKELY <= confidence).then_some(category),
            confidence: confidence.min(1.0),
        }
    }
}

fn without_reminders(category: Category) -> Category {
    match category {
        Category::Reminders => Category::Date,
        other => other,
    }
}

/// Returns whether a note is a short text without a title, like those that the model was fitted on.
///
/// A note with a title and a long one are pages about a subject. Their words do not show a category: of 82 pages of real vaults that the model
/// was sure of, it filed more than half wrongly.
fn is_statement(note: &ClassifierInput<'_>) -> bool {
    let text = note.content.trim();
    note.title.is_none()
        && text.len() <= MAX_STATEMENT_BYTES
        && text.lines().count() <= MAX_STATEMENT_LINES
}

const MAX_STATEMENT_BYTES: usize = 600;

const MAX_STATEMENT_LINES: usize = 4;
