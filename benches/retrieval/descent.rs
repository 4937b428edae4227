//! Finding the weights under which the answers stand on top.

use memory_core::rank::PARTS;

use crate::sample::{Row, Sample};

/// Minimises the listwise loss by gradient descent with momentum, in standard deviations of each part.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn descend(samples: &[&Sample]) -> Row {
    const ROUNDS: usize = 400;
    const PENALTY: f64 = 1.0;
    let samples: Vec<&&Sample> = samples.iter().filter(|sample| !sample.gold.is_empty()).collect();
    let rows = || samples.iter().flat_map(|sample| &sample.rows);
    let count = rows().count().max(1) as f64;
    let mut deviations = [0.0; PARTS.len()];
    for (part, deviation) in deviations.iter_mut().enumerate() {
        let mean = rows().map(|row| row[part]).sum::<f64>() / count;
        *deviation = (rows().map(|row| (row[part] - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-9);
    }
    let (mut weights, mut first, mut second) = ([0.0; PARTS.len()], [0.0; PARTS.len()], [0.0_f64; PARTS.len()]);
    for round in 1..=ROUNDS {
        let exponent = i32::try_from(round).unwrap_or(i32::MAX);
        let mut gradient = weights.map(|weight: f64| PENALTY * weight);
        for sample in &samples {
            let scores: Vec<f64> = sample
                .rows
                .iter()
                .map(|row| (0..PARTS.len()).map(|part| row[part] / deviations[part] * weights[part]).sum())
                .collect();
            for (row, pull) in sample.rows.iter().zip(pulls(sample, &scores)) {
                for part in 0..PARTS.len() {
                    gradient[part] += pull * row[part] / deviations[part];
                }
            }
        }
        // Adam, with a step that shrinks.
        let step = 0.05 * (1.0 - round as f64 / (ROUNDS as f64 * 1.05));
        for part in 0..PARTS.len() {
            first[part] = 0.9 * first[part] + 0.1 * gradient[part];
            second[part] = 0.999 * second[part] + 0.001 * gradient[part].powi(2);
            let (mean, spread) = (first[part] / (1.0 - 0.9_f64.powi(exponent)), second[part] / (1.0 - 0.999_f64.powi(exponent)));
            weights[part] -= step * mean / (spread.sqrt() + 1e-9);
        }
    }
    let mut plain = [0.0; PARTS.len()];
    for part in 0..PARTS.len() {
        plain[part] = weights[part] / deviations[part];
        if deviations[part] <= 1e-9 {
            plain[part] = 0.0;
        }
    }
    plain
}

/// Returns how far each score is from what it should be: half of it among the turns, and half among the sessions, each of
/// which is as good as its best turn.
fn pulls(sample: &Sample, scores: &[f64]) -> Vec<f64> {
    let mut pulls = vec![0.0; scores.len()];
    let turns: Vec<usize> = (0..scores.len()).collect();
    let gold: Vec<bool> = turns.iter().map(|turn| sample.gold.contains(turn)).collect();
    pull(&mut pulls, scores, &turns, &gold);
    let best = |rows: &Vec<usize>| rows.iter().copied().max_by(|one, other| scores[*one].total_cmp(&scores[*other]));
    let (gold, bests): (Vec<bool>, Vec<usize>) =
        sample.sessions.iter().filter_map(|(is_gold, rows)| Some((*is_gold, best(rows)?))).unzip();
    pull(&mut pulls, scores, &bests, &gold);
    pulls
}

/// Adds half of the gradient of the listwise softmax over some of the scores.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn pull(pulls: &mut [f64], scores: &[f64], listed: &[usize], gold: &[bool]) {
    let golden = gold.iter().filter(|is_gold| **is_gold).count();
    if golden == 0 {
        return;
    }
    let most = listed.iter().map(|number| scores[*number]).fold(f64::MIN, f64::max);
    let shares: Vec<f64> = listed.iter().map(|number| (scores[*number] - most).exp()).collect();
    let all: f64 = shares.iter().sum();
    for ((number, is_gold), share) in listed.iter().zip(gold).zip(shares) {
        let wanted = if *is_gold { 1.0 / golden as f64 } else { 0.0 };
        pulls[*number] += 0.5 * (share / all - wanted);
    }
}
