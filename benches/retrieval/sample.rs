//! Ranking features of the candidates of a question, as training samples.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::rank::{PARTS, RankFeature, RankWeights};
use serde_json::Value;

use crate::Outcome;
use crate::conversation_home::ConversationHome;
use crate::data_set::{DataSet, text_field, text_list};

/// Maximum number of candidates per question.
const MAX_CANDIDATES: usize = 2_000;

/// Number of hard candidates per question that are used for training, in addition to the gold turns.
const HARD_CANDIDATES: usize = 250;

/// The features of one candidate, one number per part.
pub(crate) type FeatureRow = [f64; PARTS.len()];

/// The candidates of one question with their labels.
#[derive(Clone)]
pub(crate) struct QuestionSample {
    pub(crate) conversation: String,
    pub(crate) question: usize,
    pub(crate) rows: Vec<FeatureRow>,
    pub(crate) turns: Vec<usize>,
    pub(crate) gold: Vec<usize>,
    /// Whether each session is a gold session, and the rows of its candidates.
    pub(crate) sessions: Vec<(bool, Vec<usize>)>,
}

impl QuestionSample {
    /// Runs question `number` and collects the features of its candidates.
    pub(crate) fn of(
        home: &ConversationHome,
        data: &DataSet,
        number: usize,
        question: &Value,
    ) -> Outcome<Self> {
        // The explanation contains only parts with a nonzero weight.
        let found = home.search(
            question,
            Some(&RankWeights([1.0; PARTS.len()])),
            MAX_CANDIDATES,
        )?;
        let gold: HashSet<&str> = text_list(question, "gold").into_iter().collect();
        let mut sample = Self {
            conversation: text_field(question, "conversation").into(),
            question: number,
            rows: Vec::new(),
            turns: Vec::new(),
            gold: Vec::new(),
            sessions: Vec::new(),
        };
        let gold_sessions = text_list(question, "gold_sessions");
        let mut places = HashMap::<&str, usize>::new();
        let hidden = data.hidden_turns(question);
        for hit in &found.hits {
            let Some(turn) = home
                .turn_of
                .get(&hit.stored.memory.id)
                .filter(|turn| !hidden.contains(turn))
            else {
                continue;
            };
            let mut row = [0.0; PARTS.len()];
            for part in &hit.explanation.parts {
                row[part.part as usize] = f64::from(part.value);
            }
            if gold.contains(text_field(&data.turns[*turn], "id")) {
                sample.gold.push(sample.rows.len());
            }
            let session = home.sessions[*turn].as_str();
            let place = *places.entry(session).or_insert_with(|| {
                sample
                    .sessions
                    .push((gold_sessions.contains(&session), Vec::new()));
                sample.sessions.len() - 1
            });
            sample.sessions[place].1.push(sample.rows.len());
            sample.rows.push(row);
            sample.turns.push(*turn);
        }
        Ok(sample)
    }

    /// Returns the sample restricted to the gold candidates and the [`HARD_CANDIDATES`] hardest candidates.
    ///
    /// A candidate is hard if it matches the question well by its words; messages of an assistant count less.
    pub(crate) fn hard_subset(&self) -> Self {
        let worth = |row: &FeatureRow| {
            row[RankFeature::Words as usize] + row[RankFeature::Coverage as usize]
                - 0.5 * row[RankFeature::Assistant as usize]
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|one, other| {
            worth(&self.rows[*other])
                .total_cmp(&worth(&self.rows[*one]))
                .then(one.cmp(other))
        });
        let chosen: BTreeSet<usize> = order
            .into_iter()
            .take(HARD_CANDIDATES)
            .chain(self.gold.iter().copied())
            .collect();
        let places: HashMap<usize, usize> = chosen
            .iter()
            .enumerate()
            .map(|(place, number)| (*number, place))
            .collect();
        let sessions = self.sessions.iter().map(|(is_gold, rows)| {
            (
                *is_gold,
                rows.iter()
                    .filter_map(|row| places.get(row).copied())
                    .collect::<Vec<_>>(),
            )
        });
        Self {
            conversation: self.conversation.clone(),
            question: self.question,
            rows: chosen.iter().map(|number| self.rows[*number]).collect(),
            turns: chosen.iter().map(|number| self.turns[*number]).collect(),
            gold: self.gold.iter().map(|number| places[number]).collect(),
            sessions: sessions.filter(|(_, rows)| !rows.is_empty()).collect(),
        }
    }

    /// Returns the turns, best first.
    pub(crate) fn ranked_turns(&self, weights: &FeatureRow) -> Vec<usize> {
        let mut scored: Vec<(f64, usize)> = self
            .rows
            .iter()
            .zip(&self.turns)
            .map(|(row, turn)| (dot(row, weights), *turn))
            .collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0));
        scored.into_iter().map(|(_, turn)| turn).collect()
    }
}

/// Returns the score of a candidate: the sum of its weighted features.
pub(crate) fn dot(row: &FeatureRow, weights: &FeatureRow) -> f64 {
    row.iter()
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum()
}
