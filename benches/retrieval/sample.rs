//! The evidence for the candidates of a question.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::rank::{PARTS, Part, Weights};
use serde_json::Value;

use crate::Outcome;
use crate::data::{Data, text, texts};
use crate::home::Home;

/// How many candidates of each question are ranked.
const CANDIDATES: usize = 2_000;

/// So many candidates of each question are weighed against each other, besides the answers: those that look most like one.
const HARD: usize = 250;

/// One number a part.
pub(crate) type Row = [f64; PARTS.len()];

/// The candidates of one question, and which of them are answers.
#[derive(Clone)]
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
        // Only parts with a weight are explained.
        let found = home.ask(question, Some(&Weights([1.0; PARTS.len()])), CANDIDATES)?;
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
        let hidden = data.hidden(question);
        for hit in &found.hits {
            let Some(turn) = home.turn_of.get(&hit.stored.memory.id).filter(|turn| !hidden.contains(turn)) else { continue };
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

    /// Returns it with the answers and the candidates that are hard to tell from them.
    pub(crate) fn hard(&self) -> Self {
        let worth = |row: &Row| row[Part::Words as usize] + row[Part::Coverage as usize] - 0.5 * row[Part::Assistant as usize];
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|one, other| worth(&self.rows[*other]).total_cmp(&worth(&self.rows[*one])).then(one.cmp(other)));
        let chosen: BTreeSet<usize> = order.into_iter().take(HARD).chain(self.gold.iter().copied()).collect();
        let places: HashMap<usize, usize> = chosen.iter().enumerate().map(|(place, number)| (*number, place)).collect();
        let sessions = self
            .sessions
            .iter()
            .map(|(is_gold, rows)| (*is_gold, rows.iter().filter_map(|row| places.get(row).copied()).collect::<Vec<_>>()));
        Self {
            conversation: self.conversation.clone(),
            question: self.question,
            rows: chosen.iter().map(|number| self.rows[*number]).collect(),
            turns: chosen.iter().map(|number| self.turns[*number]).collect(),
            gold: self.gold.iter().map(|number| places[number]).collect(),
            sessions: sessions.filter(|(_, rows)| !rows.is_empty()).collect(),
        }
    }

    /// Returns its turns, best first.
    pub(crate) fn ranked(&self, weights: &Row) -> Vec<usize> {
        let mut scored: Vec<(f64, usize)> =
            self.rows.iter().zip(&self.turns).map(|(row, turn)| (dot(row, weights), *turn)).collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0));
        scored.into_iter().map(|(_, turn)| turn).collect()
    }
}

/// Returns the score of a candidate.
pub(crate) fn dot(row: &Row, weights: &Row) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}
