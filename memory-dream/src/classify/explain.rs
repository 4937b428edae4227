//! Why.

use memory_core::Category;

use super::classification::cue_boost;
use super::feature::Kind;
use super::model::{place, shipped};
use super::note::Note;
use super::read::features_in_words;

/// One thing that speaks for a category, or against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What in the note it is, for people to read: `word “remind”`.
    pub what: String,
    /// How much it adds to the score of the category, against what it adds to an average one.
    pub weight: f32,
}

/// Returns all that speaks for and against a category, the strongest first. The weights add up to its score.
///
/// Of the inbox there is nothing to say.
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
    let mut evidence = vec![Evidence { what: "how common such notes are".to_owned(), weight: model.bias[place] }];
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
