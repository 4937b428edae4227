//! Fitting the weights.

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::{PARTS, Part, Shape};

use crate::Outcome;
use crate::data::Data;
use crate::descent::{Problem, descend};
use crate::figures::{NAMES, print, print_names};
use crate::home::Home;
use crate::sample::{Row, Sample, dot};

/// The conversations of a set are left out in so many groups.
const FOLDS: usize = 5;

/// The weight of all samples of a set of [`Shape::Plain`] together: one set is of conversations, and one is of notes.
///
/// The sets of [`Shape::Assisted`] are alike, and their questions have a weight of 1 each.
const PLAIN_SET: f64 = 500.0;

/// The share of the loss over sessions, by shape.
///
/// In conversations with an assistant, the messages of a session repeat each other, so finding the session matters most.
const OF_SESSIONS: [(Shape, f64); 2] = [(Shape::Plain, 0.5), (Shape::Assisted, 0.9)];

/// Parts without a case in any set, or with too few.
const WITHOUT_CASES: [Part; 3] = [Part::Links, Part::Characters, Part::AssistantAsked];

/// Parts that are fitted for one shape only.
const ONE_SHAPE: [(Part, Shape); 6] = [
    (Part::Asking, Shape::Plain),
    (Part::Time, Shape::Plain),
    (Part::TimeForWhen, Shape::Plain),
    (Part::Assistant, Shape::Assisted),
    (Part::AssistantAsked, Shape::Assisted),
    (Part::Reply, Shape::Assisted),
];

/// The samples of one set.
struct Sampled<'d> {
    data: &'d Data,
    home: Home,
    samples: Vec<Sample>,
    hard: Vec<Sample>,
    /// The group of each conversation.
    folds: HashMap<String, usize>,
}

impl<'d> Sampled<'d> {
    fn new(data: &'d Data, model: Option<&Arc<dyn Embedder>>) -> Outcome<Self> {
        let home = Home::of(data, model)?;
        let asked = data.questions.iter().enumerate();
        let samples: Vec<Sample> = asked.map(|(number, asked)| Sample::of(&home, data, number, asked)).collect::<Outcome<_>>()?;
        let folds =
            data.conversations().into_iter().enumerate().map(|(number, name)| (name.to_owned(), number % FOLDS)).collect();
        let hard = samples.iter().map(Sample::hard).collect();
        eprintln!("{}: {} questions", data.name, samples.len());
        Ok(Self { data, home, samples, hard, folds })
    }

    /// Returns the samples to fit without the conversations of a group, each with its weight.
    fn without(&self, fold: Option<usize>) -> Vec<(&Sample, f64)> {
        let seen = |sample: &&Sample| fold != Some(self.folds[&sample.conversation]);
        let samples: Vec<&Sample> = self.hard.iter().filter(seen).collect();
        let weight = match self.data.shape() {
            Shape::Plain => PLAIN_SET / real(samples.len().max(1)),
            Shape::Assisted => 1.0,
        };
        samples.into_iter().map(|sample| (sample, weight)).collect()
    }

    /// Adds the figures of the questions in a group of conversations, or of all.
    fn add_figures(&self, fold: Option<usize>, weights: &Row, sums: &mut [f64]) {
        let samples = self.samples.iter().filter(|sample| fold.is_none_or(|fold| fold == self.folds[&sample.conversation]));
        for sample in samples {
            let figures = self.home.judge(&self.data.questions[sample.question], &sample.ranked(weights));
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
}

/// Fits the weights of each shape and prints them, and their figures on sets and conversations they were not fitted on.
pub(crate) fn fit(sets: &[Data], model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    for (shape, of_sessions) in OF_SESSIONS {
        let of_shape: Vec<Sampled<'_>> =
            sets.iter().filter(|data| data.shape() == shape).map(|data| Sampled::new(data, model)).collect::<Outcome<_>>()?;
        let is_fitted =
            |part: &Part| !WITHOUT_CASES.contains(part) && ONE_SHAPE.iter().all(|(other, only)| other != part || *only == shape);
        let fitted = PARTS.each_ref().map(is_fitted);
        let fit = |samples: Vec<(&Sample, f64)>| descend(&Problem { samples, fitted, of_sessions });
        println!("\n{shape:?}\n");
        print_names("fitted without");
        for (number, set) in of_shape.iter().enumerate() {
            let others = || {
                of_shape.iter().enumerate().filter(move |(other, _)| *other != number).flat_map(|(_, other)| other.without(None))
            };
            if 1 < of_shape.len() {
                let mut sums = vec![0.0; NAMES.len()];
                set.add_figures(None, &fit(others().collect()), &mut sums);
                print(&format!("{}: the set", set.data.name), &set.data.mean(sums));
            }
            let mut sums = vec![0.0; NAMES.len()];
            for fold in 0..FOLDS.min(set.folds.len()) {
                let weights = fit(others().chain(set.without(Some(fold))).collect());
                set.add_figures(Some(fold), &weights, &mut sums);
            }
            print(&format!("{}: the conversation", set.data.name), &set.data.mean(sums));
        }
        let weights = fit(of_shape.iter().flat_map(|set| set.without(None)).collect());
        let mut asked = Vec::new();
        for set in &of_shape {
            asked.extend(set.samples.iter().cloned());
            for question in &set.data.unanswerable {
                asked.push(Sample { gold: Vec::new(), ..Sample::of(&set.home, set.data, usize::MAX, question)? });
            }
        }
        let (offset, slope) = curve(&asked, &weights);
        println!("\nrelevance = sigmoid({offset:.2} + {slope:.3} * score)\n");
        for (part, weight) in PARTS.iter().zip(weights) {
            println!("{weight:>8.4}  {}", part.as_str());
        }
    }
    Ok(())
}

/// Returns the offset and the slope of the logistic curve that tells from a score how likely an answer is: fitted to the ten
/// best of every question, also of those that have no answer.
fn curve(samples: &[Sample], weights: &Row) -> (f64, f64) {
    const ROUNDS: usize = 50;
    let mut best: Vec<(f64, f64)> = Vec::new();
    for sample in samples {
        let is_gold = |number: usize| if sample.gold.contains(&number) { 1.0 } else { 0.0 };
        let mut scores: Vec<(f64, f64)> =
            sample.rows.iter().enumerate().map(|(number, row)| (dot(row, weights), is_gold(number))).collect();
        scores.sort_by(|left, right| right.0.total_cmp(&left.0));
        best.extend(scores.iter().take(10));
    }
    let (mut offset, mut slope) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        // Newton's method; the penalty only keeps it from a division by nothing.
        let (mut by_offset, mut by_slope) = (0.0, 0.0);
        let (mut both, mut one, mut other) = (0.0, 1e-6, 1e-6);
        for (score, is_gold) in &best {
            let share = 1.0 / (1.0 + (-(offset + slope * score)).exp());
            let (miss, spread) = (share - is_gold, share * (1.0 - share));
            by_offset += miss;
            by_slope += miss * score;
            one += spread;
            both += spread * score;
            other += spread * score * score;
        }
        let determinant = one * other - both * both;
        offset -= (other * by_offset - both * by_slope) / determinant;
        slope -= (one * by_slope - both * by_offset) / determinant;
    }
    (offset, slope)
}

#[expect(clippy::cast_precision_loss, reason = "there are hundreds of questions")]
fn real(count: usize) -> f64 {
    count as f64
}
