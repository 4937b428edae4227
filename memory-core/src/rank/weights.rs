//! The parts of the ranking evidence, their fitted weights, and the score of a candidate.

use chrono::TimeDelta;
use strum::{EnumCount, IntoStaticStr, VariantArray};

use super::bm25::B;
use super::logit::sigmoid;
use crate::SpeakerRole;

/// One feature of a candidate that contributes to its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RankFeature {
    /// BM25 over the content words of the question.
    Words,
    /// BM25 over stop words and date words of the question.
    Asides,
    /// Share of the content words that the candidate contains.
    Coverage,
    /// Words similar to content words that the candidate lacks.
    Likeness,
    /// The author is the person or agent that the question names.
    Named,
    /// That author uses the first person.
    FirstPerson,
    /// Nearness of the creation time to the date in the question.
    Date,
    /// The candidate contains a time, and the question is a "when" question.
    TimeForWhen,
    /// The candidate contains a time.
    Time,
    /// Number of capitalised names, up to three, as a share, for questions with "who", "where" or "which".
    CapitalsForWhich,
    /// The candidate ends with a question.
    Asking,
    /// Logarithm of the length in words.
    Length,
    /// BM25 of the question that precedes the candidate.
    Answer,
    /// Matches in neighbouring messages for words that the candidate lacks.
    Neighbours,
    /// Best match of each word within the session, summed.
    SessionWords,
    /// Root of the summed squares of the session's matches.
    SessionSum,
    /// Cosine of the vectors, in standard deviations above the mean.
    Vector,
    /// Best cosine within the session.
    SessionVector,
    /// Amount by which a neighbour's cosine exceeds that of the candidate.
    NeighbourVectors,
    /// Matches in linked memories for words that the candidate lacks.
    Links,
    /// The author is an assistant or a tool, and the question requests neither its statements nor a summary.
    Assistant,
    /// The author is an assistant, and the question requests the assistant's statements.
    AssistantAsked,
    /// BM25 over single characters, for scripts without spaces.
    Characters,
    /// BM25 of the next message.
    Reply,
}

/// Every part, in order.
pub const PARTS: [RankFeature; RankFeature::COUNT] = *RankFeature::VARIANTS
    .first_chunk()
    .expect("the derived list has all variants");

impl RankFeature {
    /// Returns the name in JSON and in terminal output.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The weight of each part, in the order of [`PARTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights(pub [f32; PARTS.len()]);

/// The kinds of collections with separate weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectionKind {
    /// Texts that each stand alone.
    Notes,
    /// Conversations between people.
    Talk,
    /// Conversations with an assistant.
    Assisted,
}

impl CollectionKind {
    /// Returns the kind of the collection of a text, derived from the role of its author, and from whether it is a turn of a
    /// conversation.
    pub fn of(role: Option<SpeakerRole>, is_turn: bool) -> Self {
        match role {
            _ if !is_turn => Self::Notes,
            Some(SpeakerRole::Person | SpeakerRole::Assistant | SpeakerRole::Tool) => {
                Self::Assisted
            }
            None | Some(SpeakerRole::Author) => Self::Talk,
        }
    }

    /// Returns how much the length of a text reduces its matches (`b` of BM25).
    ///
    /// A note says one thing once, so a long note matches many questions by chance. A long message of a conversation says more.
    pub const fn length_normalisation(self) -> f32 {
        match self {
            Self::Notes => 0.8,
            Self::Talk | Self::Assisted => B,
        }
    }

    /// Returns the longest time between two messages of one session.
    ///
    /// People answer each other after hours. An assistant answers at once, so a shorter pause ends the session.
    pub const fn session_pause(self) -> TimeDelta {
        match self {
            Self::Notes | Self::Talk => TimeDelta::hours(6),
            Self::Assisted => TimeDelta::hours(2),
        }
    }
}

/// Weights and the logistic curve that maps scores to relevances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranker {
    /// The weights of the parts.
    pub weights: RankWeights,
    /// The offset and the slope of the curve.
    pub curve: (f32, f32),
}

impl Ranker {
    /// Returns the ranker fitted to collections of a shape, with or without vectors.
    pub const fn fitted(shape: CollectionKind, has_vectors: bool) -> &'static Self {
        match (shape, has_vectors) {
            (CollectionKind::Notes, false) => &NOTES,
            (CollectionKind::Notes, true) => &NOTES_WITH_VECTORS,
            (CollectionKind::Talk, false) => &TALK,
            (CollectionKind::Talk, true) => &TALK_WITH_VECTORS,
            (CollectionKind::Assisted, false) => &ASSISTED,
            (CollectionKind::Assisted, true) => &ASSISTED_WITH_VECTORS,
        }
    }

    /// Returns the contribution of one part to the score.
    pub fn contribution(&self, evidence: &RankFeatures, part: RankFeature) -> f32 {
        evidence[part as usize] * self.weights.0[part as usize]
    }

    /// Returns the likelihood, from 0 to 1, that a text with this score is an answer.
    pub fn relevance(&self, score: f32) -> f32 {
        let (offset, slope) = self.curve;
        sigmoid(offset + slope * score)
    }
}

// Fitted by `benches/retrieval --fit`, except weights without cases there: links weigh a quarter and single characters half as much as
// whole words, requested messages of an assistant precede those of the person, and a similar word never lowers a score. Without vectors,
// `asides` of conversations with an assistant weigh half of the fitted value, which finds more of the gold messages (`any@10`).
// Of notes, `asides` and `coverage` without vectors have about the weights with vectors, for the same reason, and the parts that need an
// author, a "who" or a "when" have those of conversations, because the sets of notes have few cases.
const NOTES: Ranker = Ranker {
    weights: RankWeights([
        5.8921, 0.9, 1.9, 4.8826, 1.5671, 0.9355, 4.7035, 1.0157, 0.2821, 0.5542, -0.6067, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.47, 0.0, 0.0, 2.95, 0.0,
    ]),
    curve: (-4.15, 0.264),
};
const NOTES_WITH_VECTORS: Ranker = Ranker {
    weights: RankWeights([
        4.3122, 1.0952, 1.892, 3.5069, 1.8441, 1.0129, 5.6081, 1.1607, 0.2415, 0.3451, -0.4649,
        0.0, 0.0, 0.0, 0.0, 0.0, 0.9359, 0.0, 0.0, 1.08, 0.0, 0.0, 2.16, 0.0,
    ]),
    curve: (-4.31, 0.335),
};
const TALK: Ranker = Ranker {
    weights: RankWeights([
        6.3669, 0.3594, -0.8504, 2.6939, 1.5671, 0.9355, 5.2217, 1.0157, 0.2821, 0.5542, -0.6067,
        0.2237, 1.6755, 3.2638, 0.2295, 0.2173, 0.0, 0.0, 0.0, 1.59, 0.0, 0.0, 3.18, 0.0,
    ]),
    curve: (-3.27, 0.134),
};
const TALK_WITH_VECTORS: Ranker = Ranker {
    weights: RankWeights([
        2.513, 0.5698, 1.5867, 2.0684, 1.8293, 0.8834, 5.0705, 1.7517, 0.2682, 1.4139, -0.8302,
        0.5182, 1.3774, 2.1586, 0.8397, 0.3316, 0.5949, 0.0008, 0.2677, 0.63, 0.0, 0.0, 1.26, 0.0,
    ]),
    curve: (-6.11, 0.335),
};
const ASSISTED: Ranker = Ranker {
    weights: RankWeights([
        1.2314, 0.5, 3.9179, 0.3957, 0.0, 0.0, 0.9255, 0.0, 0.0, 0.8402, 0.0, -0.627, -0.4113,
        0.9788, 0.3784, 0.2508, 0.0, 0.0, 0.0, 0.31, -1.0095, 0.5, 0.62, 1.0518,
    ]),
    curve: (-3.70, 0.387),
};
const ASSISTED_WITH_VECTORS: Ranker = Ranker {
    weights: RankWeights([
        0.945, 0.3595, 2.7032, 0.0, 0.0, 0.0, 1.0359, 0.0, 0.0, 0.9834, -0.4074, -0.4699, -0.3609,
        0.9491, 0.2443, 0.1952, 0.4662, 0.1705, 0.2689, 0.24, -0.5884, 0.5, 0.47, 0.7208,
    ]),
    curve: (-2.69, 0.202),
};

/// A candidate with its score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
            let score = PARTS
                .iter()
                .map(|part| ranker.contribution(evidence, *part))
                .sum();
            CandidateScore {
                number,
                score,
                relevance: ranker.relevance(score),
            }
        })
        .collect()
}

/// The evidence of one candidate: one number per part, in the order of [`PARTS`].
pub type RankFeatures = [f32; PARTS.len()];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{CollectionKind, RankFeature};

    #[test]
    fn each_part_stands_in_its_place() {
        assert!(
            PARTS
                .iter()
                .enumerate()
                .all(|(place, part)| *part as usize == place)
        );
    }

    #[test]
    fn more_evidence_is_a_higher_score_and_a_higher_relevance() {
        let with = |words: f32| {
            let mut evidence = RankFeatures::default();
            evidence[RankFeature::Words as usize] = words;
            evidence
        };
        for shape in [
            CollectionKind::Notes,
            CollectionKind::Talk,
            CollectionKind::Assisted,
        ] {
            let scored = score_candidates(
                &[with(2.0), with(0.5), with(0.0)],
                &[Ranker::fitted(shape, false); 3],
            );
            assert!(scored.is_sorted_by(
                |left, right| right.relevance < left.relevance && right.score < left.score
            ));
            assert!(
                scored
                    .iter()
                    .all(|scored| (0.0..=1.0).contains(&scored.relevance))
            );
        }
    }
}
