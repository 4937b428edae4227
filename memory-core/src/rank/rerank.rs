//! Ordering of candidates by the scores of a reranking model.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::logit::{min_max, sigmoid};
use crate::ParseError;

/// The normalization of raw model scores to relevance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScoreNormalization {
    /// Each score is mapped by [`sigmoid()`], independently of the others; all may be irrelevant.
    #[default]
    Sigmoid,
    /// All scores are mapped by [`min_max()`]: the best has relevance 1 and the worst 0.
    MinMax,
}

/// Settings for reranking the best hits of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RerankRules {
    /// The normalization of raw scores.
    pub normalise: ScoreNormalization,
    /// Default minimum relevance of a hit, from 0 (no minimum) to 1; a query can override it.
    pub threshold: f32,
    /// Maximum number of hits that the model scores.
    pub candidates: usize,
    /// Maximum number of characters of each hit that the model reads, from its start.
    pub characters: usize,
}

impl Default for RerankRules {
    /// Returns limits that a small cross-encoder processes within about one second.
    fn default() -> Self {
        Self {
            normalise: ScoreNormalization::Sigmoid,
            threshold: 0.35,
            candidates: 50,
            characters: 2_000,
        }
    }
}

/// A candidate scored by a reranking model.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RerankedCandidate {
    /// Its index among the candidates.
    pub number: usize,
    /// Its relevance, from 0 to 1.
    pub relevance: f32,
    /// The weighted sum of relevance and recency.
    pub worth: f32,
}

/// Returns the candidates with a relevance of at least `threshold`, best first.
///
/// They are sorted by `(1 - weight) * relevance + weight * recency`. Ties are ordered by raw score, then by input order.
///
/// # Errors
/// Returns a message if `scores` does not contain exactly one finite number for each element of `recency`.
pub fn rerank(
    scores: &[f32],
    normalise: ScoreNormalization,
    threshold: f32,
    recency: &[f32],
    weight: f32,
) -> Result<Vec<RerankedCandidate>, String> {
    if scores.len() != recency.len() {
        return Err(format!(
            "it returned {} scores for {} texts",
            scores.len(),
            recency.len()
        ));
    }
    if !scores.iter().all(|score| score.is_finite()) {
        return Err("it returned a score that is not a finite number".into());
    }
    let relevance = match normalise {
        ScoreNormalization::Sigmoid => scores.iter().copied().map(sigmoid).collect(),
        ScoreNormalization::MinMax => min_max(scores),
    };
    let all = relevance.into_iter().zip(recency).enumerate();
    let mut passing: Vec<RerankedCandidate> = all
        .map(|(number, (relevance, recency))| RerankedCandidate {
            number,
            relevance,
            worth: (1.0 - weight) * relevance + weight * recency,
        })
        .filter(|reread| threshold <= reread.relevance)
        .collect();
    let better = |one: &RerankedCandidate, other: &RerankedCandidate| -> Ordering {
        // Far from 0 the sigmoid is flat in f32, but the raw scores still differ.
        other
            .worth
            .total_cmp(&one.worth)
            .then_with(|| scores[other.number].total_cmp(&scores[one.number]))
    };
    passing.sort_by(better);
    Ok(passing)
}

impl ScoreNormalization {
    /// Returns the name of the variant.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::MinMax => "min-max",
        }
    }
}

impl fmt::Display for ScoreNormalization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for ScoreNormalization {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = [Self::Sigmoid, Self::MinMax]
            .into_iter()
            .find(|normalise| normalise.as_str() == text.trim());
        known.ok_or_else(|| ParseError::new(text, "a score normalization (sigmoid or min-max)"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(reread: &[RerankedCandidate]) -> Vec<usize> {
        reread.iter().map(|reread| reread.number).collect()
    }

    #[test]
    fn the_order_is_the_models_and_what_is_not_relevant_enough_is_left_out() {
        let scores = [-1.0, 3.0, 0.0, -0.7];
        let order = |normalise, threshold| {
            numbers(&rerank(&scores, normalise, threshold, &[0.0; 4], 0.0).expect("scores"))
        };
        assert_eq!(order(ScoreNormalization::Sigmoid, 0.0), [1, 2, 3, 0]);
        assert_eq!(order(ScoreNormalization::Sigmoid, 0.35), [1, 2]);
        assert_eq!(
            order(ScoreNormalization::Sigmoid, 0.99),
            Vec::<usize>::new()
        );
        assert_eq!(order(ScoreNormalization::MinMax, 0.25), [1, 2]);
        assert_eq!(order(ScoreNormalization::MinMax, 1.0), [1]);
    }

    #[test]
    fn newness_counts_as_much_as_is_wished() {
        let order = |weight| {
            numbers(
                &rerank(
                    &[1.0, 0.9],
                    ScoreNormalization::Sigmoid,
                    0.0,
                    &[0.0, 1.0],
                    weight,
                )
                .expect("scores"),
            )
        };
        assert_eq!((order(0.0), order(0.2)), (vec![0, 1], vec![1, 0]));
    }

    #[test]
    fn where_the_curve_is_flat_the_scores_decide_and_equals_stay_in_order() {
        let order = |scores: &[f32]| {
            numbers(
                &rerank(scores, ScoreNormalization::Sigmoid, 0.0, &[0.0; 3], 0.0).expect("scores"),
            )
        };
        assert_eq!(order(&[40.0, 60.0, 50.0]), [1, 2, 0]);
        assert_eq!(order(&[1.0, 1.0, 1.0]), [0, 1, 2]);
    }

    #[test]
    fn what_is_no_score_for_each_is_refused() {
        let wrong = |scores: &[f32]| {
            rerank(scores, ScoreNormalization::MinMax, 0.0, &[0.0; 2], 0.0).expect_err("no scores")
        };
        assert_eq!(wrong(&[1.0]), "it returned 1 scores for 2 texts");
        assert_eq!(
            wrong(&[1.0, f32::NAN]),
            "it returned a score that is not a finite number"
        );
        assert_eq!(
            wrong(&[1.0, f32::INFINITY]),
            "it returned a score that is not a finite number"
        );
    }

    #[test]
    fn the_words_for_the_ways_are_read_back() {
        for normalise in [ScoreNormalization::Sigmoid, ScoreNormalization::MinMax] {
            assert_eq!(normalise.to_string().parse(), Ok(normalise));
        }
        assert!("softmax".parse::<ScoreNormalization>().is_err());
    }

    proptest! {
        #[test]
        fn each_candidate_comes_at_most_once_and_never_below_the_threshold(
            scores in proptest::collection::vec(-20_f32..20.0, 0..30), threshold in 0_f32..1.0, weight in 0_f32..1.0,
        ) {
            let recency = vec![0.5; scores.len()];
            let reread = rerank(&scores, ScoreNormalization::Sigmoid, threshold, &recency, weight).expect("scores");
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
