//! Fitting the weights.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::{PARTS, Part, Weights};
use serde_json::Value;

use crate::Outcome;
use crate::data::{Data, text, texts};
use crate::figures::{NAMES, print, print_names};
use crate::home::{Home, Order};

type Row = [f64; PARTS.len()];

/// How many candidates of each question are weighed against each other.
const CANDIDATES: usize = 2_000;

/// The candidates of one question, and which of them are answers.
struct Sample {
    conversation: String,
    question: usize,
    rows: Vec<Row>,
    turns: Vec<usize>,
    gold: Vec<usize>,
}

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
            .map(|(question, asked)| sample(home, data, question, asked))
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
    println!();
    for (part, weight) in PARTS.iter().zip(weights) {
        println!("{weight:>8.4}  {}", part.as_str());
    }
    Ok(())
}

/// Gives every turn of a shuffled copy the nearness to the date that it has in truth: only the neighbours are to be strangers.
fn keep_dates(samples: &mut [Vec<Sample>]) {
    let Some((truth, copies)) = samples.split_first_mut() else { return };
    for copy in copies {
        for (sample, truth) in copy.iter_mut().zip(&*truth) {
            let dates: HashMap<usize, f64> =
                truth.turns.iter().copied().zip(truth.rows.iter().map(|row| row[Part::Date as usize])).collect();
            for (row, turn) in sample.rows.iter_mut().zip(&sample.turns) {
                row[Part::Date as usize] = dates.get(turn).copied().unwrap_or_default();
            }
        }
    }
}

fn sample(home: &Home, data: &Data, number: usize, question: &Value) -> Outcome<Sample> {
    // With every weight 1, every part is told.
    let found = home.ask(question, &Weights([1.0; PARTS.len()]), CANDIDATES)?;
    let gold: HashSet<&str> = texts(question, "gold").into_iter().collect();
    let mut sample = Sample {
        conversation: text(question, "conversation").into(),
        question: number,
        rows: Vec::new(),
        turns: Vec::new(),
        gold: Vec::new(),
    };
    for hit in &found.hits {
        let Some(turn) = home.turn_of.get(&hit.stored.memory.id) else { continue };
        let mut row = [0.0; PARTS.len()];
        for part in &hit.explanation.parts {
            row[part.part as usize] = f64::from(part.value);
        }
        if gold.contains(text(&data.turns[*turn], "id")) {
            sample.gold.push(sample.rows.len());
        }
        sample.rows.push(row);
        sample.turns.push(*turn);
    }
    Ok(sample)
}

fn dot(row: &Row, weights: &Row) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// Minimises the listwise loss by gradient descent with momentum, in standard deviations of each part.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn descend(samples: &[&Sample]) -> Row {
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
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let all: f64 = shares.iter().sum();
            let goal = 1.0 / sample.gold.len() as f64;
            for (number, row) in sample.rows.iter().enumerate() {
                let wanted = if sample.gold.contains(&number) { goal } else { 0.0 };
                let pull = shares[number] / all - wanted;
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
