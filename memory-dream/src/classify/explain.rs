//! Explains a classification.

use memory_core::Category;

use super::classification::cue_boost;
use super::extraction::extract_with_texts;
use super::feature::FeatureKind;
use super::input::ClassifierInput;
use super::model::{label_index, shipped_model};

/// A feature that raises or lowers the score of a category.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureContribution {
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
/// use memory_dream::classify::{ClassifierInput, explain_category};
///
/// let evidence = explain_category(&ClassifierInput::from_text("Remind me to call Anna"), Category::Reminders);
/// assert!(evidence[..5].iter().any(|evidence| evidence.what == "has asking to be told"));
/// ```
pub fn explain_category(note: &ClassifierInput<'_>, category: Category) -> Vec<FeatureContribution> {
    let Some(place) = label_index(category) else { return Vec::new() };
    let model = shipped_model();
    let mut evidence = vec![FeatureContribution { what: "base rate of the category".to_owned(), weight: model.bias[place] }];
    let features = extract_with_texts(note);
    let boost = cue_boost(model, &features, &model.scores(&features)).filter(|(own, _)| *own == place);
    if let (Some(cue), Some((_, weight))) = (&features.cue, boost) {
        evidence.push(FeatureContribution { what: format!("cue “{}”", cue.words), weight });
    }
    for feature in features.iter() {
        let Some(weights) = model.weights(feature.key) else { continue };
        let weight = feature.value * model.step * f32::from(weights[place]);
        evidence.push(FeatureContribution { what: describe_feature(feature.kind, feature.text), weight });
    }
    evidence.sort_by(|one, other| other.weight.abs().total_cmp(&one.weight.abs()));
    evidence
}

fn describe_feature(kind: FeatureKind, text: &str) -> String {
    match kind {
        FeatureKind::Cue => format!("{} {text}", kind.as_str()),
        FeatureKind::Word
        | FeatureKind::Form
        | FeatureKind::Pair
        | FeatureKind::Triple
        | FeatureKind::Start
        | FeatureKind::End
        | FeatureKind::Order
        | FeatureKind::Tag => {
            format!("{} “{text}”", kind.as_str())
        }
    }
}
