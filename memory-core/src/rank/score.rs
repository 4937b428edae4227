//! The score of a candidate.

use super::{PARTS, RankFeatures, Ranker};

/// A candidate with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateScore {
    /// Its index among the candidates.
    pub number: usize,
    /// The sum of its weighted evidence.
    pub score: f32,
    /// The probability that the candidate is relevant, from 0 to 1; comparable between queries and shapes.
    pub relevance: f32,
}

/// Returns the scores of all candidates in input order.
///
/// `rankers` contains the ranker for the shape of each candidate, in the same order.
pub fn score_candidates(evidence: &[RankFeatures], rankers: &[&Ranker]) -> Vec<CandidateScore> {
    let scored = evidence.iter().zip(rankers).enumerate();
    scored
        .map(|(number, (evidence, ranker))| {
            let score = PARTS.iter().map(|part| ranker.contribution(evidence, *part)).sum();
            CandidateScore { number, score, relevance: ranker.relevance(score) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{CollectionKind, RankFeature};
    use super::*;

    #[test]
    fn more_evidence_is_a_higher_score_and_a_higher_relevance() {
        let with = |words: f32| {
            let mut evidence = RankFeatures::default();
            evidence[RankFeature::Words as usize] = words;
            evidence
        };
        for shape in [CollectionKind::Plain, CollectionKind::Assisted] {
            let scored = score_candidates(&[with(2.0), with(0.5), with(0.0)], &[Ranker::fitted(shape, false); 3]);
            assert!(scored.is_sorted_by(|left, right| right.relevance < left.relevance && right.score < left.score));
            assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.relevance)));
        }
    }
}
