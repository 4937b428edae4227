//! The category in which a memory is filed.

use memory_core::{Category, Memory};

use super::classification::{Classification, SURE, classify};
use super::input::ClassifierInput;

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
    let of = |category: Category| classification.scores.iter().find(|score| score.category == category);
    let probability = |category: Category| of(category).map_or(0.0, |score| score.probability);
    let dates = probability(Category::Date) + probability(Category::Reminders);
    let others = classification.scores.iter().filter(|score| ![Category::Date, Category::Reminders].contains(&score.category));
    let (category, confidence) = others
        .map(|score| (score.category, score.probability))
        .fold((Category::Date, dates), |best, other| if best.1 < other.1 { other } else { best });
    CategoryChoice { category: (SURE <= confidence).then_some(category), confidence: confidence.min(1.0) }
}
