//! Computes the ranking evidence of each candidate.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::TextProperties;
use super::bm25::{idf_share, saturation};
use super::weights::{CollectionKind, RankFeature, RankFeatures};
use crate::SpeakerRole;
use crate::query_parser::{TextQuery, WordRole};
use crate::text::TokenKind;

/// A memory that may match the question, with its features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankCandidate {
    /// Weighted number of occurrences of each question word; occurrences in the title weigh more.
    pub frequencies: Vec<u32>,
    /// For each missing question word, the similarity of the most similar word, from 0 to 1.
    pub likeness: Vec<f32>,
    /// Length in weighted words, and in weighted single characters.
    pub lengths: [u32; 2],
    /// Properties of the text.
    pub facts: TextProperties,
    /// The role of the author, recorded or derived from the conversation.
    pub role: Option<SpeakerRole>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Whether the author is the person or agent that the question names.
    pub is_named: bool,
    /// Position in a conversation, if it is part of one.
    pub seat: Option<TurnPosition>,
    /// Indices of the linked candidates.
    pub linked: Vec<usize>,
    /// Cosine with the question's vector in standard deviations above the mean, if there is a vector.
    pub cosine: Option<f32>,
}

impl RankCandidate {
    /// Returns the kind of its collection.
    pub fn kind(&self) -> CollectionKind {
        CollectionKind::of(self.role, self.seat.is_some())
    }
}

/// The position of a message in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnPosition {
    /// Index of the conversation.
    pub conversation: usize,
    /// Number of earlier messages.
    pub ordinal: usize,
    /// Number of earlier pauses that are longer than [`CollectionKind::session_pause`].
    pub session: usize,
}

/// Statistics of the searched collection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CorpusStatistics {
    /// Number of memories.
    pub documents: u64,
    /// Number of memories with each question word.
    pub with_word: Vec<u64>,
    /// Average length in weighted words, and in weighted single characters.
    pub average_lengths: [f32; 2],
    /// Number of messages of each conversation, if all matches are among the candidates.
    pub turns: Vec<Option<u64>>,
}

/// Number of best matches that decide whether neighbours count.
const GATE_SAMPLES: usize = 15;

/// Distances of the neighbours that decide whether neighbours count, and that contribute vectors.
const NEIGHBOUR_DISTANCES: [i64; 4] = [-2, -1, 1, 2];

/// Factor on the weight of a word for each message of a dialogue that follows it.
const MESSAGE_DECAY: f32 = 0.85;

/// Largest distance of a neighbour.
const MAX_NEIGHBOUR_DISTANCE: usize = 3;

/// Returns the evidence of each candidate, from its own text and from its neighbours.
///
/// Neighbours count only in conversations where the neighbours of the best matches match more of the question than an average
/// message does. Coherent conversations gain, and collections of unrelated texts lose nothing. Sessions count under the same
/// condition, except in conversations with an assistant, where a session usually has one subject.
pub fn compute_features(
    question: &TextQuery,
    statistics: &CorpusStatistics,
    candidates: &[RankCandidate],
) -> Vec<RankFeatures> {
    let scale = QueryWeights::new(question, statistics);
    let own: Vec<CandidateMatch> = candidates
        .iter()
        .map(|candidate| scale.match_candidate(candidate))
        .collect();
    let mut evidence: Vec<RankFeatures> = candidates
        .iter()
        .zip(&own)
        .map(|(candidate, own)| scale.own_features(candidate, own))
        .collect();
    for talk in ConversationContext::group_candidates(candidates, &own, &scale) {
        talk.add_features(&mut evidence);
    }
    for (number, candidate) in candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| !candidate.linked.is_empty())
    {
        let linked = candidate.linked.iter().filter_map(|other| own.get(*other));
        evidence[number][RankFeature::Links as usize] = scale.added_match(&own[number], linked);
    }
    evidence
}

/// Returns the weight of a match of each question word.
///
/// It is the inverse document frequency, aged in earlier messages of a dialogue, divided by the root of the sum over the content
/// words. The division puts the scores of long and short questions on one scale.
pub fn word_weights(question: &TextQuery, statistics: &CorpusStatistics) -> Vec<f32> {
    let with_word = |index: usize| statistics.with_word.get(index).copied().unwrap_or_default();
    let worth = question.words.iter().enumerate().map(|(index, word)| {
        idf_share(statistics.documents, with_word(index)) * MESSAGE_DECAY.powi(i32::from(word.age))
    });
    let mut worths: Vec<f32> = worth.collect();
    let contents = worths
        .iter()
        .zip(&question.words)
        .filter(|(_, word)| is_content_role(word.role))
        .map(|(worth, _)| worth);
    let scale = contents.sum::<f32>().max(1.0).sqrt();
    for worth in &mut worths {
        *worth /= scale;
    }
    worths
}

fn is_content_role(role: WordRole) -> bool {
    role == WordRole::Content
}

/// The weights of the question words.
struct QueryWeights<'q> {
    question: &'q TextQuery,
    statistics: &'q CorpusStatistics,
    worth: Vec<f32>,
    contents: f32,
}

/// The matches in the text of a candidate.
struct CandidateMatch {
    /// Match strength of each question word: 1 is one occurrence in a text of average length.
    matched: Vec<f32>,
    /// Weighted sum of the matches over the content words.
    words: f32,
}

impl<'q> QueryWeights<'q> {
    fn new(question: &'q TextQuery, statistics: &'q CorpusStatistics) -> Self {
        let worth = word_weights(question, statistics);
        let contents = question
            .words
            .iter()
            .filter(|word| word.role == WordRole::Content)
            .count();
        Self {
            question,
            statistics,
            worth,
            contents: real(contents).max(1.0),
        }
    }

    fn match_candidate(&self, candidate: &RankCandidate) -> CandidateMatch {
        let normalisation = candidate.kind().length_normalisation();
        let matched: Vec<f32> = self
            .question
            .words
            .iter()
            .zip(&candidate.frequencies)
            .map(|(word, frequency)| {
                let part = usize::from(word.term.kind == TokenKind::Character);
                saturation(
                    *frequency,
                    candidate.lengths[part],
                    self.statistics.average_lengths[part],
                    normalisation,
                )
            })
            .collect();
        let words = self.weighted_sum(|role| role == WordRole::Content, &matched);
        CandidateMatch { matched, words }
    }

    /// Returns the weighted sum of `values` over the words with some roles.
    fn weighted_sum(&self, counts: impl Fn(WordRole) -> bool, values: &[f32]) -> f32 {
        let words = self.question.words.iter().zip(&self.worth).zip(values);
        words
            .filter(|((word, _), _)| counts(word.role))
            .map(|((_, worth), value)| worth * value)
            .sum()
    }

    /// Returns the gain of `others` over `own` in matches of content words.
    fn added_match<'o>(
        &self,
        own: &CandidateMatch,
        others: impl Iterator<Item = &'o CandidateMatch>,
    ) -> f32 {
        let mut best = own.matched.clone();
        for other in others {
            best.iter_mut()
                .zip(&other.matched)
                .for_each(|(best, other)| *best = best.max(*other));
        }
        best.iter_mut()
            .zip(&own.matched)
            .for_each(|(best, own)| *best -= own);
        self.weighted_sum(is_content_role, &best)
    }

    /// Returns the evidence from the text of a candidate alone.
    fn own_features(&self, candidate: &RankCandidate, own: &CandidateMatch) -> RankFeatures {
        let RankCandidate { facts, .. } = candidate;
        let contents = self
            .question
            .words
            .iter()
            .zip(&own.matched)
            .filter(|(word, _)| word.role == WordRole::Content);
        let matched = contents.filter(|(_, matched)| 0.0 < **matched).count();
        let if_so = |is: bool, value: f32| if is { value } else { 0.0 };
        let capitals = f32::from(facts.capitals) / 3.0;
        let time = if_so(facts.tells_time, 1.0);
        let is_assistant = matches!(
            candidate.role,
            Some(SpeakerRole::Assistant | SpeakerRole::Tool)
        );
        let is_asked =
            self.question.asks_assistant && candidate.role == Some(SpeakerRole::Assistant);
        let mut evidence = RankFeatures::default();
        for (part, value) in [
            (RankFeature::Words, own.words),
            (
                RankFeature::Asides,
                self.weighted_sum(
                    |role| matches!(role, WordRole::Aside | WordRole::Date),
                    &own.matched,
                ),
            ),
            (
                RankFeature::Characters,
                self.weighted_sum(|role| role == WordRole::Character, &own.matched),
            ),
            (RankFeature::Coverage, real(matched) / self.contents),
            (
                RankFeature::Likeness,
                self.weighted_sum(is_content_role, &candidate.likeness),
            ),
            (RankFeature::Named, if_so(candidate.is_named, 1.0)),
            (
                RankFeature::FirstPerson,
                if_so(candidate.is_named && facts.first_person, 1.0),
            ),
            (
                RankFeature::Date,
                self.question
                    .date
                    .as_ref()
                    .map_or(0.0, |date| date.nearness(candidate.created_at)),
            ),
            (
                RankFeature::TimeForWhen,
                if_so(self.question.asks_when, time),
            ),
            (RankFeature::Time, time),
            (
                RankFeature::CapitalsForWhich,
                if_so(self.question.asks_which, capitals),
            ),
            (RankFeature::Asking, if_so(facts.ends_asking, 1.0)),
            (
                RankFeature::Length,
                (1.0 + real_u32(candidate.lengths[0])).ln(),
            ),
            (RankFeature::Vector, candidate.cosine.unwrap_or_default()),
            (
                RankFeature::Assistant,
                if_so(
                    is_assistant && !is_asked && !self.question.asks_summary,
                    1.0,
                ),
            ),
            (RankFeature::AssistantAsked, if_so(is_asked, 1.0)),
        ] {
            evidence[part as usize] = value;
        }
        evidence
    }

    /// Returns the expected match of a memory drawn at random.
    fn expected_match(&self) -> f32 {
        let share = |with: u64| real_u64(with) / real_u64(self.statistics.documents.max(1));
        let shares: Vec<f32> = self
            .statistics
            .with_word
            .iter()
            .map(|with| share(*with))
            .collect();
        self.weighted_sum(is_content_role, &shares)
    }
}

/// The candidates of one conversation.
struct ConversationContext<'c> {
    candidates: &'c [RankCandidate],
    own: &'c [CandidateMatch],
    scale: &'c QueryWeights<'c>,
    /// Indices of the candidates, also by position and by session.
    members: Vec<usize>,
    places: HashMap<usize, usize>,
    sessions: HashMap<usize, Vec<usize>>,
    /// Average match of a message of the conversation.
    usual: f32,
}

impl<'c> ConversationContext<'c> {
    fn group_candidates(
        candidates: &'c [RankCandidate],
        own: &'c [CandidateMatch],
        scale: &'c QueryWeights<'c>,
    ) -> Vec<Self> {
        let mut members = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for (number, candidate) in candidates.iter().enumerate() {
            if let Some(seat) = candidate.seat {
                members.entry(seat.conversation).or_default().push(number);
            }
        }
        members
            .into_iter()
            .map(|(conversation, members)| Self::of(conversation, members, candidates, own, scale))
            .collect()
    }

    fn of(
        conversation: usize,
        members: Vec<usize>,
        candidates: &'c [RankCandidate],
        own: &'c [CandidateMatch],
        scale: &'c QueryWeights<'c>,
    ) -> Self {
        let (mut places, mut sessions) = (HashMap::new(), HashMap::<usize, Vec<usize>>::new());
        for member in &members {
            if let Some(seat) = candidates[*member].seat {
                places.insert(seat.ordinal, *member);
                sessions.entry(seat.session).or_default().push(*member);
            }
        }
        let turns = scale.statistics.turns.get(conversation).copied().flatten();
        let matched = members.iter().map(|member| own[*member].words).sum::<f32>();
        let usual = turns.map_or_else(
            || scale.expected_match(),
            |turns| matched / real_u64(turns.max(1)),
        );
        Self {
            candidates,
            own,
            scale,
            members,
            places,
            sessions,
            usual,
        }
    }

    /// Returns the candidate at `distance` from another one, within the same session.
    fn neighbour(&self, member: usize, distance: i64) -> Option<usize> {
        let seat = self.candidates[member].seat?;
        let ordinal = usize::try_from(i64::try_from(seat.ordinal).ok()? + distance).ok()?;
        let other = *self.places.get(&ordinal)?;
        self.candidates[other]
            .seat
            .is_some_and(|other| other.session == seat.session)
            .then_some(other)
    }

    fn session_members(&self, member: usize) -> &[usize] {
        let seat = self.candidates[member].seat;
        seat.and_then(|seat| self.sessions.get(&seat.session))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the gates for neighbours and for sessions: how far both match above chance, from 0 to 1.
    fn gate_values(&self) -> [f32; 2] {
        if self.usual <= 0.0 {
            return [0.0, 0.0];
        }
        let mut best: Vec<usize> = self
            .members
            .iter()
            .copied()
            .filter(|member| 0.0 < self.own[*member].words)
            .collect();
        best.sort_by(|left, right| {
            self.own[*right]
                .words
                .total_cmp(&self.own[*left].words)
                .then(left.cmp(right))
        });
        best.truncate(GATE_SAMPLES);
        // Few samples are shrunk towards chance: 5 and 20 are the pseudo-counts.
        let gain = |sum: f32, count: usize, doubt: f32| {
            (sum + doubt * self.usual) / ((real(count) + doubt) * self.usual) - 1.0
        };
        let (mut sum, mut count) = (0.0, 0);
        for distance in NEIGHBOUR_DISTANCES {
            for neighbour in best
                .iter()
                .filter_map(|member| self.neighbour(*member, distance))
            {
                sum += self.own[neighbour].words;
                count += 1;
            }
        }
        let near = gain(sum, count, 5.0).clamp(0.0, 1.0);
        let (mut sum, mut count) = (0.0, 0);
        for member in &best {
            let session = self.session_members(*member);
            sum += session
                .iter()
                .map(|other| self.own[*other].words)
                .sum::<f32>()
                - self.own[*member].words;
            count += session.len() - 1;
        }
        [near, (gain(sum, count, 20.0) / 0.5).clamp(0.0, 1.0)]
    }

    fn add_features(&self, evidence: &mut [RankFeatures]) {
        let [near, together] = self.gate_values();
        let sessions: HashMap<usize, SessionMatch> = self
            .sessions
            .iter()
            .map(|(number, members)| (*number, self.aggregate_session(members)))
            .collect();
        for member in &self.members {
            let own = &self.own[*member];
            let asked = self
                .neighbour(*member, -1)
                .filter(|before| self.candidates[*before].facts.ends_asking);
            let around = (1..=MAX_NEIGHBOUR_DISTANCE)
                .filter_map(|distance| i64::try_from(distance).ok())
                .flat_map(|distance| [-distance, distance]);
            let around: Vec<usize> = around
                .filter_map(|distance| self.neighbour(*member, distance))
                .collect();
            let beside = NEIGHBOUR_DISTANCES
                .iter()
                .filter_map(|distance| self.neighbour(*member, *distance));
            let nearest = beside
                .filter_map(|other| self.candidates[other].cosine)
                .fold(0.0, f32::max);
            let reply = self
                .neighbour(*member, 1)
                .map_or(0.0, |other| self.own[other].words);
            let added = nearest - self.candidates[*member].cosine.unwrap_or_default();
            let evidence = &mut evidence[*member];
            evidence[RankFeature::Reply as usize] = reply;
            evidence[RankFeature::NeighbourVectors as usize] = near * added.max(0.0);
            evidence[RankFeature::Answer as usize] =
                near * asked.map_or(0.0, |before| self.own[before].words);
            evidence[RankFeature::Neighbours as usize] = near
                * self
                    .scale
                    .added_match(own, around.iter().map(|other| &self.own[*other]));
            let candidate = &self.candidates[*member];
            let together = match candidate.kind() {
                CollectionKind::Notes | CollectionKind::Talk => together,
                CollectionKind::Assisted => 1.0,
            };
            if let Some(session) = candidate.seat.and_then(|seat| sessions.get(&seat.session)) {
                evidence[RankFeature::SessionWords as usize] = together * session.words;
                evidence[RankFeature::SessionSum as usize] = together * session.sum;
                evidence[RankFeature::SessionVector as usize] = together * session.vector;
            }
        }
    }

    fn aggregate_session(&self, members: &[usize]) -> SessionMatch {
        let mut best = vec![0.0_f32; self.scale.worth.len()];
        for member in members {
            best.iter_mut()
                .zip(&self.own[*member].matched)
                .for_each(|(best, own)| *best = best.max(*own));
        }
        SessionMatch {
            words: self.scale.weighted_sum(is_content_role, &best),
            sum: members
                .iter()
                .map(|member| self.own[*member].words.powi(2))
                .sum::<f32>()
                .sqrt(),
            vector: members
                .iter()
                .filter_map(|member| self.candidates[*member].cosine)
                .fold(0.0, f32::max),
        }
    }
}

/// The combined matches of a session.
struct SessionMatch {
    /// Best match of each word, summed.
    words: f32,
    /// Root of the summed squares of the matches.
    sum: f32,
    /// The best cosine.
    vector: f32,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than seven digits"
)]
fn real_u64(count: u64) -> f32 {
    count as f32
}

#[expect(clippy::cast_precision_loss, reason = "lengths are stored in one byte")]
fn real_u32(count: u32) -> f32 {
    count as f32
}

#[expect(clippy::cast_precision_loss, reason = "there are hundreds of them")]
fn real(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use crate::query_parser::parse;

    /// Three turns in a row, of which the first two match, in a conversation of so many; returns what the neighbours' vectors
    /// give to each.
    fn neighbour_vectors(turns: u64) -> Vec<f32> {
        let turn = |ordinal: usize, frequency: u32, cosine: Option<f32>| RankCandidate {
            frequencies: vec![frequency; 2],
            likeness: vec![0.0; 2],
            lengths: [10, 0],
            seat: Some(TurnPosition {
                conversation: 0,
                ordinal,
                session: 0,
            }),
            cosine,
            ..RankCandidate::default()
        };
        let statistics = CorpusStatistics {
            documents: 1_000,
            with_word: vec![20; 2],
            average_lengths: [10.0, 0.0],
            turns: vec![Some(turns)],
        };
        let question = parse("green tea", &Filter::default()).question;
        let candidates = [
            turn(0, 1, Some(3.0)),
            turn(1, 1, Some(1.0)),
            turn(2, 0, None),
        ];
        let evidence = compute_features(&question, &statistics, &candidates);
        evidence
            .iter()
            .map(|evidence| evidence[RankFeature::NeighbourVectors as usize])
            .collect()
    }

    #[test]
    fn the_role_of_the_assistant_counts_unless_a_summary_is_requested() {
        let assistant = RankCandidate {
            frequencies: vec![1; 3],
            likeness: vec![0.0; 3],
            lengths: [10, 0],
            role: Some(SpeakerRole::Assistant),
            ..RankCandidate::default()
        };
        let part = |query: &str| {
            let question = parse(query, &Filter::default()).question;
            let statistics = CorpusStatistics {
                documents: 1_000,
                with_word: vec![20; question.words.len()],
                average_lengths: [10.0, 0.0],
                turns: Vec::new(),
            };
            compute_features(&question, &statistics, std::slice::from_ref(&assistant))[0]
                [RankFeature::Assistant as usize]
        };
        assert_eq!((part("green tea"), part("summary green tea")), (1.0, 0.0));
    }

    #[test]
    fn a_nearer_neighbour_adds_what_is_lacking_where_neighbours_tell_something() {
        assert_eq!(neighbour_vectors(100), [0.0, 2.0, 3.0]);
        assert_eq!(
            neighbour_vectors(2),
            [0.0, 0.0, 0.0],
            "every turn matches: neighbours are no sign"
        );
    }
}
