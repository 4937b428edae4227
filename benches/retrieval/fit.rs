//! Fitting the weights.

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::{CollectionKind, PARTS, RankFeature};

use crate::Outcome;
use crate::conversation_home::ConversationHome;
use crate::data_set::DataSet;
use crate::descent::{FitProblem, minimise_loss};
use crate::metrics::{NAMES, print_header, print_row};
use crate::sample::{FeatureRow, QuestionSample, dot};

/// The conversations of a set are left out in so many groups.
const FOLD_COUNT: usize = 5;

/// The weight of all samples of a set together, except in sets of [`CollectionKind::Assisted`]: they are alike, and their questions have a
/// weight of 1 each.
const SET_WEIGHT: f64 = 500.0;

/// The share of the loss over sessions, by shape.
///
/// In conversations with an assistant, the messages of a session repeat each other, so finding the session matters most.
const SESSION_LOSS_SHARE: [(CollectionKind, f64); 3] = [
    (CollectionKind::Notes, 0.0),
    (CollectionKind::Talk, 0.5),
    (CollectionKind::Assisted, 0.9),
];

/// Parts without a case in any set, or with too few.
const UNFITTED_PARTS: [RankFeature; 3] = [
    RankFeature::Links,
    RankFeature::Characters,
    RankFeature::AssistantAsked,
];

/// Parts that are fitted for one shape only.
const SHAPE_SPECIFIC_PARTS: [(RankFeature, CollectionKind); 3] = [
    (RankFeature::Assistant, CollectionKind::Assisted),
    (RankFeature::AssistantAsked, CollectionKind::Assisted),
    (RankFeature::Reply, CollectionKind::Assisted),
];

/// The samples of one set.
struct SampledSet<'d> {
    data: &'d DataSet,
    home: ConversationHome,
    samples: Vec<QuestionSample>,
    hard: Vec<QuestionSample>,
    /// The group of each conversation.
    folds: HashMap<String, usize>,
}

impl<'d> SampledSet<'d> {
    fn new(data: &'d DataSet, model: Option<&Arc<dyn Embedder>>) -> Outcome<Self> {
        let home = ConversationHome::of(data, model)?;
        let asked = data.questions.iter().enumerate();
        let samples: Vec<QuestionSample> = asked
            .map(|(number, asked)| QuestionSample::of(&home, data, number, asked))
            .collect::<Outcome<_>>()?;
        let folds = data
            .conversations()
            .into_iter()
            .enumerate()
            .map(|(number, name)| (name.to_owned(), number % FOLD_COUNT))
            .collect();
        let hard = samples.iter().map(QuestionSample::hard_subset).collect();
        eprintln!("{}: {} questions", data.name, samples.len());
        Ok(Self {
            data,
            home,
            samples,
            hard,
            folds,
        })
    }

    /// Returns the samples to fit without the conversations of a group, each with its weight.
    fn training_samples(&self, fold: Option<usize>) -> Vec<(&QuestionSample, f64)> {
        let seen = |sample: &&QuestionSample| fold != Some(self.folds[&sample.conversation]);
        let samples: Vec<&QuestionSample> = self.hard.iter().filter(seen).collect();
        let weight = match self.data.shape() {
            CollectionKind::Notes | CollectionKind::Talk => {
                SET_WEIGHT / to_float(samples.len().max(1))
            }
            CollectionKind::Assisted => 1.0,
        };
        samples.into_iter().map(|sample| (sample, weight)).collect()
    }

    /// Adds the figures of the questions in a group of conversations, or of all.
    fn add_metrics(&self, fold: Option<usize>, weights: &FeatureRow, sums: &mut [f64]) {
        let samples = self
            .samples
            .iter()
            .filter(|sample| fold.is_none_or(|fold| fold == self.folds[&sample.conversation]));
        for sample in samples {
            let figures = self.home.question_metrics(
                &self.data.questions[sample.question],
                &sample.ranked_turns(weights),
            );
            sums.iter_mut()
                .zip(figures)
                .for_each(|(sum, figure)| *sum += figure);
        }
    }
}

/// Fits the weights of each shape and prints them, and their figures on sets and conversations they were not fitted on.
pub(crate) fn fit_weights(sets: &[DataSet], model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    for (shape, of_sessions) in SESSION_LOSS_SHARE {
        let of_shape: Vec<SampledSet<'_>> = sets
            .iter()
            .filter(|data| data.shape() == shape)
            .map(|data| SampledSet::new(data, model))
            .collect::<Outcome<_>>()?;
        let is_fitted = |part: &RankFeature| {
            !UNFITTED_PARTS.contains(part)
                && (shape != CollectionKind::Notes || *part != RankFeature::Length)
                && SHAPE_SPECIFIC_PARTS
                    .iter()
                    .all(|(other, only)| other != part || *only == shape)
        };
        let fitted = PARTS.each_ref().map(is_fitted);
        let fit = |samples: Vec<(&QuestionSample, f64)>| {
            minimise_loss(&FitProblem {
                samples,
                fitted,
                of_sessions,
            })
        };
        println!("\n{shape:?}\n");
        print_header("fitted without");
        for (number, set) in of_shape.iter().enumerate() {
            let others = || {
                of_shape
                    .iter()
                    .enumerate()
                    .filter(move |(other, _)| *other != number)
                    .flat_map(|(_, other)| other.training_samples(None))
            };
            if 1 < of_shape.len() {
                let mut sums = vec![0.0; NAMES.len()];
                set.add_metrics(None, &fit(others().collect()), &mut sums);
                print_row(&format!("{}: the set", set.data.name), &set.data.mean(sums));
            }
            let mut sums = vec![0.0; NAMES.len()];
            for fold in 0..FOLD_COUNT.min(set.folds.len()) {
                let weights = fit(others().chain(set.training_samples(Some(fold))).collect());
                set.add_metrics(Some(fold), &weights, &mut sums);
            }
            print_row(
                &format!("{}: the conversation", set.data.name),
                &set.data.mean(sums),
            );
        }
        let weights = fit(of_shape
            .iter()
            .flat_map(|set| set.training_samples(None))
            .collect());
        let mut asked = Vec::new();
        for set in &of_shape {
            asked.extend(set.samples.iter().cloned());
            for question in &set.data.unanswerable {
                asked.push(QuestionSample {
                    gold: Vec::new(),
                    ..QuestionSample::of(&set.home, set.data, usize::MAX, question)?
                });
            }
        }
        let (offset, slope) = fit_relevance_curve(&asked, &weights);
        println!("\nrelevance = sigmoid({offset:.2} + {slope:.3} * score)\n");
        for (part, weight) in PARTS.iter().zip(weights) {
            println!("{weight:>8.4}  {}", part.as_str());
        }
    }
    Ok(())
}

/// Returns the offset and the slope of the logistic curve that tells from a score how likely an answer is: fitted to the ten
/// best of every question, also of those that have no answer.
fn fit_relevance_curve(samples: &[QuestionSample], weights: &FeatureRow) -> (f64, f64) {
    const ROUNDS: usize = 50;
    let mut best: Vec<(f64, f64)> = Vec::new();
    for sample in samples {
        let is_gold = |number: usize| {
            if sample.gold.contains(&number) {
                1.0
            } else {
                0.0
            }
        };
        let mut scores: Vec<(f64, f64)> = sample
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| (dot(row, weights), is_gold(number)))
            .collect();
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

#[expect(
    clippy::cast_precision_loss,
    reason = "there are hundreds of questions"
)]
fn to_float(count: usize) -> f64 {
    count as f64
}
