//! Finding the weights under which the answers stand on top.

use memory_core::rank::PARTS;

use crate::sample::{FeatureRow, QuestionSample, dot};

/// What is fitted, and to what.
pub(crate) struct FitProblem<'s> {
    /// The samples, each with its weight.
    pub(crate) samples: Vec<(&'s QuestionSample, f64)>,
    /// Which parts are fitted; the others get no weight.
    pub(crate) fitted: [bool; PARTS.len()],
    /// The share of the loss over sessions; the rest is the loss over turns.
    pub(crate) of_sessions: f64,
}

/// Minimises the listwise loss by gradient descent with momentum, in standard deviations of each part.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn minimise_loss(problem: &FitProblem<'_>) -> FeatureRow {
    const ROUNDS: usize = 200;
    const PENALTY: f64 = 1.0;
    let samples: Vec<(&QuestionSample, f64)> = problem
        .samples
        .iter()
        .copied()
        .filter(|(sample, _)| !sample.gold.is_empty())
        .collect();
    let rows = || samples.iter().flat_map(|(sample, _)| &sample.rows);
    let count = rows().count().max(1) as f64;
    let mut deviations = [0.0; PARTS.len()];
    for (part, deviation) in deviations.iter_mut().enumerate() {
        let mean = rows().map(|row| row[part]).sum::<f64>() / count;
        *deviation = (rows().map(|row| (row[part] - mean).powi(2)).sum::<f64>() / count)
            .sqrt()
            .max(1e-9);
    }
    let is_fitted = |part: usize| problem.fitted[part] && 1e-8 < deviations[part];
    let (mut weights, mut first, mut second) = (
        [0.0; PARTS.len()],
        [0.0; PARTS.len()],
        [0.0_f64; PARTS.len()],
    );
    for round in 1..=ROUNDS {
        let exponent = i32::try_from(round).unwrap_or(i32::MAX);
        let mut gradient = weights.map(|weight: f64| PENALTY * weight);
        let plain: FeatureRow = std::array::from_fn(|part| weights[part] / deviations[part]);
        for (sample, weight) in &samples {
            let scores: Vec<f64> = sample.rows.iter().map(|row| dot(row, &plain)).collect();
            for (row, pull) in
                sample
                    .rows
                    .iter()
                    .zip(score_gradients(sample, &scores, problem.of_sessions))
            {
                for part in 0..PARTS.len() {
                    gradient[part] += weight * pull * row[part] / deviations[part];
                }
            }
        }
        // Adam, with a step that shrinks.
        let step = 0.05 * (1.0 - round as f64 / (ROUNDS as f64 * 1.05));
        for part in (0..PARTS.len()).filter(|part| is_fitted(*part)) {
            first[part] = 0.9 * first[part] + 0.1 * gradient[part];
            second[part] = 0.999 * second[part] + 0.001 * gradient[part].powi(2);
            let (mean, spread) = (
                first[part] / (1.0 - 0.9_f64.powi(exponent)),
                second[part] / (1.0 - 0.999_f64.powi(exponent)),
            );
            weights[part] -= step * mean / (spread.sqrt() + 1e-9);
        }
    }
    std::array::from_fn(|part| {
        if is_fitted(part) {
            weights[part] / deviations[part]
        } else {
            0.0
        }
    })
}

/// Returns the gradient of the loss by each score: over turns, and over sessions, each of which is as good as its best turn.
fn score_gradients(sample: &QuestionSample, scores: &[f64], of_sessions: f64) -> Vec<f64> {
    let mut pulls = vec![0.0; scores.len()];
    let turns: Vec<usize> = (0..scores.len()).collect();
    let gold: Vec<bool> = turns
        .iter()
        .map(|turn| sample.gold.contains(turn))
        .collect();
    add_softmax_gradient(&mut pulls, scores, &turns, &gold, 1.0 - of_sessions);
    let best = |rows: &Vec<usize>| {
        rows.iter()
            .copied()
            .max_by(|one, other| scores[*one].total_cmp(&scores[*other]))
    };
    let (gold, bests): (Vec<bool>, Vec<usize>) = sample
        .sessions
        .iter()
        .filter_map(|(is_gold, rows)| Some((*is_gold, best(rows)?)))
        .unzip();
    add_softmax_gradient(&mut pulls, scores, &bests, &gold, of_sessions);
    pulls
}

/// Adds `share` of the gradient of the listwise softmax over some of the scores.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn add_softmax_gradient(
    pulls: &mut [f64],
    scores: &[f64],
    listed: &[usize],
    gold: &[bool],
    share: f64,
) {
    let golden = gold.iter().filter(|is_gold| **is_gold).count();
    if golden == 0 {
        return;
    }
    let most = listed
        .iter()
        .map(|number| scores[*number])
        .fold(f64::MIN, f64::max);
    let shares: Vec<f64> = listed
        .iter()
        .map(|number| (scores[*number] - most).exp())
        .collect();
    let all: f64 = shares.iter().sum();
    for ((number, is_gold), own) in listed.iter().zip(gold).zip(shares) {
        let wanted = if *is_gold { 1.0 / golden as f64 } else { 0.0 };
        pulls[*number] += share * (own / all - wanted);
    }
}
