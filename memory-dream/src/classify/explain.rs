//! Explains a classification.

use memory_core::Category;

use super::classification::cue_boost;
use super::feature::Kind;
use super::model::{place, shipped};
use super::note::Note;
use super::read::features_in_words;

/// A feature that raises or lowers the score of a category.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The feature in human-readable form: `word “remind”`.
    pub what: String,
    /// Its contribution to the score of the category.
    ///
    /// The weights of the model are centred, so the contribution of a feature is relative to the average category.
    pub weight: f32,
}

/// Returns the contributions to the score of a category, largest magnitude first.
///
/// They add up to the score. The result is empty for the inbox, which has no score.
///
/// ```
/// use memory_core::Category;
/// use memory_dream::classify::{Note, explain};
///
/// let evidence = explain(&Note::of_text("Remind me to call Anna"), Category::Reminders);
/// assert!(evidence[..5].iter().any(|evidence| evidence.what == "has asking to be told"));
/// ```
pub fn explain(note: &Note<'_>, category: Category) -> Vec<Evidence> {
    let Some(place) = place(category) else { return Vec::new() };
    let model = shipped();
    let mut evidence = vec![Evidence { what: "base rate of the category".to_owned(), weight: model.bias[place] }];
    let features = features_in_words(note);
    let boost = cue_boost(model, &features, &model.scores(&features)).filter(|(own, _)| *own == place);
    if let (Some(cue), Some((_, weight))) = (&features.cue, boost) {
        evidence.push(Evidence { what: format!("cue “{}”", cue.words), weight });
    }
    for feature in features.iter() {
        let Some(weights) = model.weights(feature.key) else { continue };
        let weight = feature.value * model.step * f32::from(weights[place]);
        evidence.push(Evidence { what: in_words(feature.kind, feature.text), weight });
    }
    evidence.sort_by(|one, other| other.weight.abs().total_cmp(&one.weight.abs()));
    evidence
}

fn in_words(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Cue => format!("{} {text}", kind.as_str()),
        Kind::Word | Kind::Form | Kind::Pair | Kind::Triple | Kind::Start | Kind::End | Kind::Order | Kind::Tag => {
            format!("{} “{text}”", kind.as_str())
        }
    }
}
