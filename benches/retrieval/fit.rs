//! Fitting the weights.

use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::PARTS;

use crate::Outcome;
use crate::data::Data;
use crate::descent::descend;
use crate::figures::{NAMES, print, print_names};
use crate::home::{Home, Order};
use crate::sample::{Row, Sample, dot, keep_dates};

/// Fits the weights and prints them, and what they give on conversations they were not fitted on.
pub(crate) fn fit(data: &Data, model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    let homes = [Order::AsIs, Order::WithinSessions, Order::Anywhere].map(|order| Home::of(data, order, model));
    let mut samples = Vec::new();
    for (number, home) in homes.iter().enumerate() {
        let home = home.as_ref().map_err(ToString::to_string)?;
        let of: Vec<Sample> = data
            .questions
            .iter()
            .enumerate()
            .map(|(question, asked)| Sample::of(home, data, question, asked))
            .collect::<Outcome<_>>()?;
        eprintln!("copy {number}: {} questions", of.len());
        samples.push(of);
    }
    keep_dates(&mut samples);
    let home = homes[0].as_ref().map_err(ToString::to_string)?;
    print_names("fitted on the others, asked of");
    let mut sums = vec![vec![0.0; NAMES.len()]; samples.len()];
    for conversation in data.conversations() {
        let others: Vec<&Sample> = samples.iter().flatten().filter(|sample| sample.conversation != conversation).collect();
        let weights = descend(&others);
        for (copy, sums) in samples.iter().zip(&mut sums) {
            for sample in copy.iter().filter(|sample| sample.conversation == conversation) {
                let mut ranked: Vec<(f64, usize)> =
                    sample.rows.iter().zip(&sample.turns).map(|(row, turn)| (dot(row, &weights), *turn)).collect();
                ranked.sort_by(|left, right| right.0.total_cmp(&left.0));
                let ranked: Vec<usize> = ranked.into_iter().map(|(_, turn)| turn).collect();
                sums.iter_mut()
                    .zip(home.judge(&data.questions[sample.question], &ranked))
                    .for_each(|(sum, figure)| *sum += figure);
            }
        }
    }
    for (name, sums) in ["as they are", "shuffled within sessions", "shuffled"].iter().zip(sums) {
        #[expect(clippy::cast_precision_loss, reason = "there are hundreds of questions")]
        let count = data.questions.len() as f64;
        print(name, &sums.into_iter().map(|sum| sum / count).collect::<Vec<_>>());
    }
    let weights = descend(&samples.iter().flatten().collect::<Vec<_>>());
    let home = homes[0].as_ref().map_err(ToString::to_string)?;
    let mut asked: Vec<Sample> = samples.into_iter().next().unwrap_or_default();
    for question in &data.unanswerable {
        asked.push(Sample { gold: Vec::new(), ..Sample::of(home, data, usize::MAX, question)? });
    }
    let (offset, slope) = curve(&asked, &weights);
    println!("\nrelevance = sigmoid({offset:.2} + {slope:.3} * score)\n");
    for (part, weight) in PARTS.iter().zip(weights) {
        println!("{weight:>8.4}  {}", part.as_str());
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
