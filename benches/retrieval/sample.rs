//! What the ranking sees of a question.

use std::collections::{HashMap, HashSet};

use memory_core::rank::{PARTS, Part, Weights};
use serde_json::Value;

use crate::Outcome;
use crate::data::{Data, text, texts};
use crate::home::Home;

/// How many candidates of each question are weighed against each other.
const CANDIDATES: usize = 2_000;

/// One number a part.
pub(crate) type Row = [f64; PARTS.len()];

/// The candidates of one question, and which of them are answers.
pub(crate) struct Sample {
    pub(crate) conversation: String,
    pub(crate) question: usize,
    pub(crate) rows: Vec<Row>,
    pub(crate) turns: Vec<usize>,
    pub(crate) gold: Vec<usize>,
    /// The rows of each session, and whether the session is an answer.
    pub(crate) sessions: Vec<(bool, Vec<usize>)>,
}

impl Sample {
    /// Asks the question with this number.
    pub(crate) fn of(home: &Home, data: &Data, number: usize, question: &Value) -> Outcome<Self> {
        // With every weight 1, every part is told.
        let found = home.ask(question, &Weights([1.0; PARTS.len()]), CANDIDATES)?;
        let gold: HashSet<&str> = texts(question, "gold").into_iter().collect();
        let mut sample = Self {
            conversation: text(question, "conversation").into(),
            question: number,
            rows: Vec::new(),
            turns: Vec::new(),
            gold: Vec::new(),
            sessions: Vec::new(),
        };
        let gold_sessions = texts(question, "gold_sessions");
        let mut places = HashMap::<&str, usize>::new();
        for hit in &found.hits {
            let Some(turn) = home.turn_of.get(&hit.stored.memory.id) else { continue };
            let mut row = [0.0; PARTS.len()];
            for part in &hit.explanation.parts {
                row[part.part as usize] = f64::from(part.value);
            }
            if gold.contains(text(&data.turns[*turn], "id")) {
                sample.gold.push(sample.rows.len());
            }
            let session = home.sessions[*turn].as_str();
            let place = *places.entry(session).or_insert_with(|| {
                sample.sessions.push((gold_sessions.contains(&session), Vec::new()));
                sample.sessions.len() - 1
            });
            sample.sessions[place].1.push(sample.rows.len());
            sample.rows.push(row);
            sample.turns.push(*turn);
        }
        Ok(sample)
    }
}

/// Gives every turn of a shuffled copy the nearness to the date that it has in truth: only the neighbours are to be strangers.
pub(crate) fn keep_dates(samples: &mut [Vec<Sample>]) {
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

/// Returns the score of a candidate.
pub(crate) fn dot(row: &Row, weights: &Row) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}
