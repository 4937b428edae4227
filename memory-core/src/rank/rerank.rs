//! What a reranking model makes of the order.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::logit::{min_max, sigmoid};
use crate::ParseError;

/// How a reranking model's raw scores become relevance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Normalise {
    /// Each by itself, by [`sigmoid()`], so that nothing need be relevant.
    #[default]
    Sigmoid,
    /// Each among the others, by [`min_max()`]: the best is always wholly relevant, and the worst not at all.
    MinMax,
}

/// How the best hits of a search are read again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RerankRules {
    /// How raw scores become relevance.
    pub normalise: Normalise,
    /// What is less relevant is left out, if the question does not say otherwise; from 0, which leaves nothing out, to 1.
    pub threshold: f32,
    /// How many hits the model is shown at most.
    pub candidates: usize,
    /// How many characters of each it is shown at most, from the beginning.
    pub characters: usize,
}

impl Default for RerankRules {
    /// What a small cross-encoder reads within a second or so.
    fn default() -> Self {
        Self { normalise: Normalise::Sigmoid, threshold: 0.35, candidates: 50, characters: 2_000 }
    }
}

/// A candidate as a reranking model sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reread {
    /// Its number among the candidates.
    pub number: usize,
    /// How well it answers, from 0 to 1.
    pub relevance: f32,
    /// That together with its newness.
    pub worth: f32,
}

/// Returns the candidates that are as relevant as `threshold` or more, by what they are worth, best first. That is their
/// relevance and, as far as `weight` says, their newness. Equals go by their raw scores, and then as they came.
///
/// # Errors
/// Says what is wrong if `scores` are not one finite number for each candidate, of which `recency` tells how many there are.
pub fn rerank(scores: &[f32], normalise: Normalise, threshold: f32, recency: &[f32], weight: f32) -> Result<Vec<Reread>, String> {
    if scores.len() != recency.len() {
        return Err(format!("it answered with {} scores for {} texts", scores.len(), recency.len()));
    }
    if !scores.iter().all(|score| score.is_finite()) {
        return Err("it answered with what is not a number".into());
    }
    let relevance = match normalise {
        Normalise::Sigmoid => scores.iter().copied().map(sigmoid).collect(),
        Normalise::MinMax => min_max(scores),
    };
    let all = relevance.into_iter().zip(recency).enumerate();
    let mut passing: Vec<Reread> = all
        .map(|(number, (relevance, recency))| Reread { number, relevance, worth: (1.0 - weight) * relevance + weight * recency })
        .filter(|reread| threshold <= reread.relevance)
        .collect();
    let better = |one: &Reread, other: &Reread| -> Ordering {
        // Far from 0 the sigmoid is flat, where the scores themselves still tell.
        other.worth.total_cmp(&one.worth).then_with(|| scores[other.number].total_cmp(&scores[one.number]))
    };
    passing.sort_by(better);
    Ok(passing)
}

impl Normalise {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::MinMax => "min-max",
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Normalise {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = [Self::Sigmoid, Self::MinMax].into_iter().find(|normalise| normalise.as_str() == text.trim());
        known.ok_or_else(|| ParseError::new(text, "a way to normalise scores (sigmoid or min-max)"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(reread: &[Reread]) -> Vec<usize> {
        reread.iter().map(|reread| reread.number).collect()
    }

    #[test]
    fn the_order_is_the_models_and_what_is_not_relevant_enough_is_left_out() {
        let scores = [-1.0, 3.0, 0.0, -0.7];
        let order = |normalise, threshold| numbers(&rerank(&scores, normalise, threshold, &[0.0; 4], 0.0).expect("scores"));
        assert_eq!(order(Normalise::Sigmoid, 0.0), [1, 2, 3, 0]);
        assert_eq!(order(Normalise::Sigmoid, 0.35), [1, 2]);
        assert_eq!(order(Normalise::Sigmoid, 0.99), Vec::<usize>::new());
        assert_eq!(order(Normalise::MinMax, 0.25), [1, 2]);
        assert_eq!(order(Normalise::MinMax, 1.0), [1]);
    }

    #[test]
    fn newness_counts_as_much_as_is_wished() {
        let order = |weight| numbers(&rerank(&[1.0, 0.9], Normalise::Sigmoid, 0.0, &[0.0, 1.0], weight).expect("scores"));
        assert_eq!((order(0.0), order(0.2)), (vec![0, 1], vec![1, 0]));
    }

    #[test]
    fn where_the_curve_is_flat_the_scores_decide_and_equals_stay_in_order() {
        let order = |scores: &[f32]| numbers(&rerank(scores, Normalise::Sigmoid, 0.0, &[0.0; 3], 0.0).expect("scores"));
        assert_eq!(order(&[40.0, 60.0, 50.0]), [1, 2, 0]);
        assert_eq!(order(&[1.0, 1.0, 1.0]), [0, 1, 2]);
    }

    #[test]
    fn what_is_no_score_for_each_is_refused() {
        let wrong = |scores: &[f32]| rerank(scores, Normalise::MinMax, 0.0, &[0.0; 2], 0.0).expect_err("no scores");
        assert_eq!(wrong(&[1.0]), "it answered with 1 scores for 2 texts");
        assert_eq!(wrong(&[1.0, f32::NAN]), "it answered with what is not a number");
        assert_eq!(wrong(&[1.0, f32::INFINITY]), "it answered with what is not a number");
    }

    #[test]
    fn the_words_for_the_ways_are_read_back() {
        for normalise in [Normalise::Sigmoid, Normalise::MinMax] {
            assert_eq!(normalise.to_string().parse(), Ok(normalise));
        }
        assert!("softmax".parse::<Normalise>().is_err());
    }

    proptest! {
        #[test]
        fn each_candidate_comes_at_most_once_and_never_below_the_threshold(
            scores in proptest::collection::vec(-20_f32..20.0, 0..30), threshold in 0_f32..1.0, weight in 0_f32..1.0,
        ) {
            let recency = vec![0.5; scores.len()];
            let reread = rerank(&scores, Normalise::Sigmoid, threshold, &recency, weight).expect("scores");
            let mut seen = numbers(&reread);
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), reread.len());
            prop_assert!(reread.iter().all(|own| threshold <= own.relevance));
            prop_assert!(reread.is_sorted_by(|one, other| other.worth <= one.worth));
            prop_assert_eq!(reread.len(), scores.iter().filter(|score| threshold <= sigmoid(**score)).count());
        }
    }
}
