//! Trains the weights of the category classifier: `classify [FILE] [--wrong] [--write]`.
//!
//! The training data are the notes in `examples/classify/`, JSON lines of `{text, lang, category}`. The program prints the
//! results of a five-fold cross-validation: how many notes are filed, and how many of them wrongly, how often each confidence is right,
//! the macro-F1 of each language, and the confusion matrix. FILE contains more
//! such lines, each with an `origin`. They are classified with the weights of the notes alone, and then, in a
//! cross-validation, with the weights of the notes and the other folds of FILE.
//!
//! `--wrong` lists the misclassified notes. `--write` writes the weights to the file that `memory_dream` includes. The same
//! notes always give the same weights.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use memory_core::Category;
use memory_dream::classify::{
    CategoryModel, Classification, ClassifierInput, Feature, Features, LABELS, classify_with,
    extract_features,
};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;
type WeightRow = [f64; LABELS.len()];

const NOTES_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/classify");
const WEIGHTS_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../memory-dream/src/classify/weights.bin"
);

/// Number of folds of the cross-validation.
const FOLD_COUNT: usize = 5;

/// Number of training epochs.
const EPOCHS: usize = 150;

/// Initial learning rate.
const LEARNING_RATE: f64 = 0.1;

/// L2 regularization strength.
const L2_STRENGTH: f64 = 6e-5;

/// Exponent of the class weights: 0 for equal notes, 1 for equal categories.
const CLASS_BALANCE: f64 = 0.5;

/// Minimum number of notes that contain a feature; rarer features are ignored.
const MIN_FEATURE_COUNT: usize = 2;

/// Minimum size of a weight, as a fraction of the largest; smaller weights are dropped.
const MIN_WEIGHT_SHARE: f64 = 0.03;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (notes, sum) = read_training_notes(Path::new(NOTES_FOLDER))?;
    let all: Vec<&LabelledNote> = notes.iter().collect();
    let began = Instant::now();
    let temperature = fit_temperature(&cross_validate(&[], &all, 1.0));
    println!(
        "# {} training notes, {FOLD_COUNT}-fold cross-validation\n",
        notes.len()
    );
    print_metrics(&cross_validate(&[], &all, temperature), |note| {
        note.lang.clone()
    });
    let model = fit_weights(&all, sum).quantize(temperature);
    println!(
        "temperature {temperature:.2}, {} bytes, trained in {:.0?}",
        model.to_bytes().len(),
        began.elapsed()
    );
    print_speed(&model, &notes);
    if let Some(file) = arguments
        .iter()
        .find(|argument| !argument.starts_with("--"))
    {
        let others = parse_notes(&fs::read_to_string(file)?)?;
        println!("# {file}, with weights of the training notes alone\n");
        print_metrics(
            &classify_notes(&model, others.iter().collect()),
            LabelledNote::group,
        );
        println!(
            "# {file}, {FOLD_COUNT}-fold cross-validation, with the training notes in each fold\n"
        );
        print_metrics(
            &cross_validate(&all, &others.iter().collect::<Vec<_>>(), temperature),
            LabelledNote::group,
        );
    }
    if arguments.iter().any(|argument| argument == "--write") {
        fs::write(WEIGHTS_FILE, model.to_bytes())?;
    }
    Ok(())
}

/// A labelled note with its features.
struct LabelledNote {
    text: String,
    lang: String,
    origin: String,
    label: usize,
    features: Features,
}

impl LabelledNote {
    fn group(&self) -> String {
        format!("{} {}", self.lang, self.origin)
    }
}

/// Reads all notes of a folder; returns them with a hash of their text.
fn read_training_notes(folder: &Path) -> Outcome<(Vec<LabelledNote>, u64)> {
    let entries: Result<Vec<_>, _> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut paths = entries?;
    paths.sort();
    let texts: Vec<String> = paths
        .iter()
        .map(fs::read_to_string)
        .collect::<Result<_, _>>()?;
    let text = texts.concat();
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok((parse_notes(&text)?, sum))
}

fn parse_notes(lines: &str) -> Outcome<Vec<LabelledNote>> {
    lines.lines().map(parse_note).collect()
}

fn parse_note(line: &str) -> Outcome<LabelledNote> {
    let value: Value = serde_json::from_str(line)?;
    let field = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let category: Category = field("category").parse()?;
    let label = LABELS
        .iter()
        .position(|label| *label == category)
        .expect("every category is a label");
    let text = field("text");
    let features = extract_features(&ClassifierInput::from_text(&text));
    let origin = field("origin")
        .split(':')
        .next()
        .unwrap_or_default()
        .to_owned();
    Ok(LabelledNote {
        text,
        lang: field("lang"),
        origin,
        label,
        features,
    })
}

/// The trained weights before quantization.
struct FittedWeights {
    sum: u64,
    bias: WeightRow,
    rows: BTreeMap<u32, WeightRow>,
}

/// Trains a multinomial logistic regression with L2 regularization.
///
/// The optimizer is Adam over the full batch. Notes of rare categories have larger weights.
fn fit_weights(notes: &[&LabelledNote], sum: u64) -> FittedWeights {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for feature in notes.iter().flat_map(|note| note.features.iter()) {
        *seen.entry(feature.key).or_default() += 1;
    }
    let keys: Vec<u32> = seen
        .into_iter()
        .filter(|(_, count)| MIN_FEATURE_COUNT <= *count)
        .map(|(key, _)| key)
        .collect();
    let places: HashMap<u32, usize> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| (*key, place))
        .collect();
    let known = |feature: Feature| Some((*places.get(&feature.key)?, f64::from(feature.value)));
    let sparse: Vec<Vec<(usize, f64)>> = notes
        .iter()
        .map(|note| note.features.iter().filter_map(known).collect())
        .collect();
    let mut weights = vec![[0.0; LABELS.len()]; keys.len() + 1];
    let (mut mean, mut spread) = (weights.clone(), weights.clone());
    let bias = keys.len();
    let share = 1.0 / to_float(notes.len());
    let mut counts = [0_usize; LABELS.len()];
    for note in notes {
        counts[note.label] += 1;
    }
    let weight_of = |label: usize| {
        (to_float(notes.len()) / to_float(LABELS.len() * counts[label].max(1))).powf(CLASS_BALANCE)
    };
    for round in 1..=EPOCHS {
        let mut slopes: Vec<WeightRow> = weights
            .iter()
            .map(|row| row.map(|weight| L2_STRENGTH * weight))
            .collect();
        slopes[bias] = [0.0; LABELS.len()];
        for (note, sparse) in notes.iter().zip(&sparse) {
            let mut error = probabilities(&raw_scores(&weights, bias, sparse), 1.0);
            error[note.label] -= 1.0;
            let error = error.map(|error| error * weight_of(note.label));
            for &(place, value) in sparse.iter().chain([&(bias, 1.0)]) {
                slopes[place]
                    .iter_mut()
                    .zip(error)
                    .for_each(|(slope, error)| *slope += share * value * error);
            }
        }
        let step = LEARNING_RATE * (1.0 - to_float(round - 1) / to_float(EPOCHS));
        let (mean_due, spread_due) = (
            1.0 - 0.9_f64.powf(to_float(round)),
            1.0 - 0.999_f64.powf(to_float(round)),
        );
        let numbers = weights
            .as_flattened_mut()
            .iter_mut()
            .zip(slopes.as_flattened());
        for ((weight, slope), (mean, spread)) in numbers.zip(
            mean.as_flattened_mut()
                .iter_mut()
                .zip(spread.as_flattened_mut().iter_mut()),
        ) {
            *mean = 0.9 * *mean + 0.1 * slope;
            *spread = 0.999 * *spread + 0.001 * slope * slope;
            *weight -= step * (*mean / mean_due) / ((*spread / spread_due).sqrt() + 1e-8);
        }
    }
    // A weight common to all categories has no effect on the result.
    let centred = |row: WeightRow| {
        row.map(|weight| weight - row.iter().sum::<f64>() / to_float(LABELS.len()))
    };
    let bias = centred(weights.pop().expect("the last row is the bias"));
    FittedWeights {
        sum,
        bias,
        rows: keys
            .into_iter()
            .zip(weights.into_iter().map(centred))
            .collect(),
    }
}

fn raw_scores(weights: &[WeightRow], bias: usize, sparse: &[(usize, f64)]) -> WeightRow {
    let mut scores = weights[bias];
    for &(place, value) in sparse {
        scores
            .iter_mut()
            .zip(weights[place])
            .for_each(|(score, weight)| *score += value * weight);
    }
    scores
}

fn probabilities(scores: &WeightRow, temperature: f64) -> WeightRow {
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    let shares = scores.map(|score| ((score - best) / temperature).exp());
    let all: f64 = shares.iter().sum();
    shares.map(|share| share / all)
}

impl FittedWeights {
    /// Quantizes the weights to one byte each.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a weight is at most 127 steps, and rounded anyhow"
    )]
    fn quantize(mut self, temperature: f64) -> CategoryModel {
        let reach = |row: &WeightRow| {
            row.iter()
                .fold(0.0, |most: f64, weight| most.max(weight.abs()))
        };
        let most = self.rows.values().map(reach).fold(0.0, f64::max);
        self.rows
            .retain(|_, row| MIN_WEIGHT_SHARE * most < reach(row));
        let step = most / f64::from(i8::MAX);
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(key, row)| (*key, row.map(|weight| (weight / step).round() as i8)))
            .collect();
        CategoryModel::new(
            self.sum,
            temperature as f32,
            step as f32,
            self.bias.map(|bias| bias as f32),
            &rows,
        )
    }
}

/// A note and its classification by weights that were trained without it.
type ClassifiedNote<'a> = (&'a LabelledNote, Classification);

fn classify_notes<'a>(
    model: &CategoryModel,
    notes: Vec<&'a LabelledNote>,
) -> Vec<ClassifiedNote<'a>> {
    notes
        .into_iter()
        .map(|note| (note, classify_with(model, &note.features)))
        .collect()
}

/// Classifies each fold of `notes` with weights trained on the other folds and on `always`.
fn cross_validate<'a>(
    always: &[&LabelledNote],
    notes: &[&'a LabelledNote],
    temperature: f64,
) -> Vec<ClassifiedNote<'a>> {
    let fold = |fold: usize| {
        let is_in = |place: usize| place % FOLD_COUNT == fold;
        let others = notes
            .iter()
            .enumerate()
            .filter(|(place, _)| !is_in(*place))
            .map(|(_, note)| *note);
        let model = fit_weights(&always.iter().copied().chain(others).collect::<Vec<_>>(), 0)
            .quantize(temperature);
        classify_notes(
            &model,
            notes
                .iter()
                .enumerate()
                .filter(|(place, _)| is_in(*place))
                .map(|(_, note)| *note)
                .collect(),
        )
    };
    (0..FOLD_COUNT).flat_map(fold).collect()
}

/// Returns the temperature with the lowest cross-entropy on the notes.
fn fit_temperature(judged: &[ClassifiedNote<'_>]) -> f64 {
    let surprise = |temperature: f64| -> f64 {
        let of = |(note, found): &ClassifiedNote<'_>| {
            let mut scores = [0.0; LABELS.len()];
            for score in &found.scores {
                scores[label_index(score.category)] = f64::from(score.score);
            }
            -probabilities(&scores, temperature)[note.label].ln()
        };
        judged.iter().map(of).sum()
    };
    let all = (10..=400).map(|hundredths| f64::from(hundredths) / 100.0);
    all.min_by(|one, other| surprise(*one).total_cmp(&surprise(*other)))
        .expect("there are some")
}

fn label_index(category: Category) -> usize {
    LABELS
        .iter()
        .position(|label| *label == category)
        .expect("only labels are found")
}

/// Prints the metrics of each group, and the confusion matrix of all notes.
fn print_metrics(judged: &[ClassifiedNote<'_>], group: impl Fn(&LabelledNote) -> String) {
    let mut groups: BTreeMap<String, Vec<&ClassifiedNote<'_>>> = BTreeMap::new();
    for one in judged {
        groups.entry(one.0.lang.clone()).or_default().push(one);
        if group(one.0) != one.0.lang {
            groups.entry(group(one.0)).or_default().push(one);
        }
    }
    println!(
        "| notes | count | macro-F1 | accuracy | filed | wrong of those |\n|---|---:|---:|---:|---:|---:|"
    );
    for (name, judged) in groups {
        let filed: Vec<_> = judged
            .iter()
            .copied()
            .filter(|(_, found)| found.choice().category().is_some())
            .collect();
        let share = 100.0 * to_float(filed.len()) / to_float(judged.len());
        let right = 100.0 * accuracy(&judged);
        let wrong = 100.0 * to_float(filed.iter().filter(|one| !is_right(one)).count())
            / to_float(filed.len().max(1));
        println!(
            "| {name} | {} | {:.3} | {right:.1} | {share:.1} | {wrong:.1} |",
            judged.len(),
            macro_f1(&judged)
        );
    }
    println!("\n| confidence | notes | right |\n|---|---:|---:|");
    for lower in [0.5_f32, 0.6, 0.7, 0.8, 0.9] {
        let is_in = |one: &&ClassifiedNote<'_>| {
            let choice = one.1.choice();
            let upper = if 0.85 < lower {
                f32::INFINITY
            } else {
                lower + 0.1
            };
            choice.suggestion.is_some() && (lower..upper).contains(&choice.confidence)
        };
        let suggested: Vec<_> = judged.iter().filter(is_in).collect();
        let right = suggested.iter().filter(|one| is_right(one)).count();
        let share = 100.0 * to_float(right) / to_float(suggested.len().max(1));
        println!("| {lower:.1} | {} | {share:.1} |", suggested.len());
    }
    println!("\nRows: true category. Columns: predicted category.\n");
    println!(
        "| | {} |\n|---|{}",
        LABELS
            .map(|label| label.as_str()[..4].to_owned())
            .join(" | "),
        "---:|".repeat(LABELS.len())
    );
    for (label, category) in LABELS.iter().enumerate() {
        let found = |other: &Category| {
            judged
                .iter()
                .filter(|one| one.0.label == label && one.1.scores[0].category == *other)
                .count()
        };
        let row: Vec<String> = LABELS
            .iter()
            .map(|other| {
                Some(found(other))
                    .filter(|count| 0 < *count)
                    .map_or("·".to_owned(), |count| count.to_string())
            })
            .collect();
        println!("| {category} | {} |", row.join(" | "));
    }
    println!();
    let wrong = judged
        .iter()
        .filter(|(note, found)| label_index(found.scores[0].category) != note.label);
    for (note, found) in wrong.filter(|_| env::args().any(|argument| argument == "--wrong")) {
        let (is, best) = (LABELS[note.label], found.scores[0]);
        println!(
            "{}: {is}, classified as {} ({:.2}): {:?}",
            note.group(),
            best.category,
            best.probability,
            note.text
        );
    }
}

/// Prints the time to classify a note.
fn print_speed(model: &CategoryModel, notes: &[LabelledNote]) {
    let (mut sixty, mut words) = (String::new(), 0);
    let mut texts = Vec::new();
    for note in notes.iter().filter(|note| note.lang == "en") {
        words += note.text.split_whitespace().count();
        sixty += &note.text;
        sixty.push('\n');
        if 60 <= words {
            texts.push(std::mem::take(&mut sixty));
            words = 0;
        }
    }
    let pass = |_| {
        let began = Instant::now();
        let sure = texts
            .iter()
            .filter(|text| {
                let features = extract_features(&ClassifierInput::from_text(text));
                0.0 < classify_with(model, &features).choice().confidence
            })
            .count();
        assert!(0 < sure);
        began.elapsed().as_secs_f64() * 1e6 / to_float(texts.len())
    };
    let fastest = (0..50).map(pass).fold(f64::MAX, f64::min);
    println!("{} texts of 60 words: {fastest:.1} µs each\n", texts.len());
}

/// Returns whether the suggestion is the category of the note; dates and reminders are filed together.
fn is_right((note, found): &ClassifiedNote<'_>) -> bool {
    let own = match LABELS[note.label] {
        Category::Reminders => Category::Date,
        other => other,
    };
    found.choice().suggestion == Some(own)
}

fn accuracy(judged: &[&ClassifiedNote<'_>]) -> f64 {
    let right = judged
        .iter()
        .filter(|(note, found)| label_index(found.scores[0].category) == note.label)
        .count();
    to_float(right) / to_float(judged.len().max(1))
}

/// Returns the mean F1 of all categories that occur.
fn macro_f1(judged: &[&ClassifiedNote<'_>]) -> f64 {
    let f1 = |label: usize| {
        let (mut hits, mut is, mut taken) = (0, 0, 0);
        for (note, found) in judged {
            let (own, other) = (
                note.label == label,
                label_index(found.scores[0].category) == label,
            );
            hits += usize::from(own && other);
            is += usize::from(own);
            taken += usize::from(other);
        }
        (0 < is).then(|| 2.0 * to_float(hits) / to_float(is + taken))
    };
    let all: Vec<f64> = (0..LABELS.len()).filter_map(f1).collect();
    all.iter().sum::<f64>() / to_float(all.len().max(1))
}

#[expect(clippy::cast_precision_loss, reason = "there are not that many notes")]
fn to_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use memory_dream::classify::shipped_model;

    use super::*;

    #[test]
    fn the_weights_were_fitted_on_the_notes_that_are_here() {
        let (notes, sum) =
            read_training_notes(Path::new(NOTES_FOLDER)).expect("the notes can be read");
        let advice = "run `cargo run --release -p examples --bin classify -- --write`";
        assert_eq!(shipped_model().fitted_on, sum, "{advice}");
        let judged = classify_notes(shipped_model(), notes.iter().collect());
        let right = accuracy(&judged.iter().collect::<Vec<_>>());
        assert!(
            0.9 < right,
            "accuracy {right}: the features changed since the weights were trained; {advice}"
        );
    }

    #[test]
    fn every_category_has_enough_notes_in_either_language() {
        let (notes, _) =
            read_training_notes(Path::new(NOTES_FOLDER)).expect("the notes can be read");
        for (label, category) in LABELS.iter().enumerate() {
            for lang in ["en", "zh"] {
                let count = notes
                    .iter()
                    .filter(|note| note.label == label && note.lang == lang)
                    .count();
                assert!(60 <= count, "{category} {lang}: {count}");
            }
        }
    }
}
