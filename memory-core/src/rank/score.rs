//! From evidence to a score.

use super::logit::sigmoid;
use super::{Evidence, PARTS, Part, Weights};

/// A candidate with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Its number among the candidates.
    pub number: usize,
    /// The sum of what its evidence is worth.
    pub score: f32,
    /// How likely it is to be an answer, from 0 to 1; comparable between questions.
    pub relevance: f32,
}

/// What a score tells of the relevance: the logistic curve that fits the answers of the benchmark and the questions that have
/// none there. It lies between the two that `benches/retrieval` finds, without vectors and with them.
const CURVE: (f32, f32) = (-5.5, 0.29);

/// Returns every candidate with its score, in the order of the candidates.
pub fn score(evidence: &[Evidence], weights: &Weights) -> Vec<Scored> {
    let sum = |evidence: &Evidence| PARTS.iter().map(|part| worth(evidence, weights, *part)).sum();
    let scored = evidence.iter().map(sum).enumerate();
    scored.map(|(number, score): (usize, f32)| Scored { number, score, relevance: relevance(score) }).collect()
}

/// Returns how likely it is that what has this score is an answer, from 0 to 1.
pub fn relevance(score: f32) -> f32 {
    let (offset, slope) = CURVE;
    sigmoid(offset + slope * score)
}

/// Returns what one part gives.
pub fn worth(evidence: &Evidence, weights: &Weights, part: Part) -> f32 {
    evidence[part as usize] * weights.0[part as usize]
}

#[cfg(test)]
mod tests {
    use super::super::WITHOUT_VECTORS;
    use super::*;

    #[test]
    fn more_evidence_is_a_higher_score_and_a_higher_relevance() {
        let with = |words: f32| {
            let mut evidence = Evidence::default();
            evidence[Part::Words as usize] = words;
            evidence
        };
        let scored = score(&[with(2.0), with(0.5), with(0.0)], &WITHOUT_VECTORS);
        assert!(scored.is_sorted_by(|left, right| right.relevance < left.relevance && right.score < left.score));
        assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.relevance)));
    }
}
