//! Answering a question.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{DateTime, Utc};
use memory_core::passages;
use memory_core::query_parser::{Phrase, QueryWord, TextQuery, WordRole};
use memory_core::rank::{
    self, CollectionKind, CorpusStatistics, PARTS, RankCandidate, Ranker, compute_features,
};
use memory_core::text::{Term, TokenKind, snippet};
use memory_core::{
    Hit, Memory, RankFeatureScore, ScoreExplanation, SearchRequest, SearchResults as FieldAnswers,
    StoreError, StoredMemory, TermScore,
};

use super::candidate::WordCoverage;
use super::gather::{CandidatePool, gather_candidates};
use super::query_term::{QueryTerm, TermField};
use super::substrings::expandable_words;
use crate::index::documents::{IndexedDocument, LoadedDocuments};
use crate::index::error::{IndexError, IndexErrorKind};
use crate::index::memory_index::{MemoryIndex, OpenIndex};
use crate::index::schema::IndexMeta;
use crate::index::text::FullText;
use crate::index::vectors::ModelVectors;

/// Width of an excerpt in characters.
const SNIPPET: usize = 160;

/// Number of attempts when files change during a search.
const MAX_ATTEMPTS: usize = 3;

/// Number of the best matches by words that are ranked first, if there are too many to rank all.
const FIRST_POOL: usize = 100;

/// Factor by which that number grows while fewer results than requested are found.
const POOL_GROWTH: usize = 20;

/// Number of the best matches that are read to check for a phrase.
const READ_FOR_PHRASES: usize = 2_000;

/// The reason for a search by words alone.
const VECTORS_UNREADABLE: &str = "the vectors in the index cannot be read, so only words were searched; run `memory embed` to rebuild them";

/// The results of the index, before the files are checked.
#[derive(Debug)]
struct RankedResults {
    hits: Vec<(IndexedDocument, RankedHit)>,
    total: u64,
    /// Whether the full-text index is newer than the rows.
    torn: bool,
    /// Whether some vectors cannot be read.
    lacks_vectors: bool,
}

/// A ranked document.
#[derive(Debug)]
struct RankedHit {
    key: i64,
    /// Hits of a lower tier come first, whatever their scores are.
    tier: u8,
    score: f32,
    /// Breaks ties between equal scores: the sum of the evidence.
    sum: f32,
    explanation: ScoreExplanation,
    /// Similar words that matched in place of question words.
    found_by: Vec<String>,
    /// The number of the passage with the most similar vector.
    passage: Option<usize>,
}

impl MemoryIndex {
    /// Returns the memories that match the request, best first.
    ///
    /// # Errors
    /// When the index cannot be used.
    pub(crate) fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<FieldAnswers, StoreError> {
        let TextQuery {
            phrases,
            without_phrases,
            ..
        } = asked.question;
        let reads = !phrases.is_empty() || !without_phrases.is_empty();
        let limit = if reads {
            asked.limit.max(READ_FOR_PHRASES)
        } else {
            asked.limit
        };
        let mut round = 1;
        loop {
            let answer = self.query("search", |_, opened| {
                rank_results(
                    opened,
                    &SearchRequest {
                        limit,
                        ..asked.clone()
                    },
                    now,
                )
            })?;
            let is_cut = (answer.hits.len() as u64) < answer.total;
            let LoadedDocuments { mut fresh, stale } =
                self.load_documents(answer.hits, |(document, _)| document);
            let is_last = MAX_ATTEMPTS <= round;
            if (stale.is_empty() && !answer.torn) || is_last {
                let mut total = answer.total.saturating_sub(stale.len() as u64);
                let mut reasons: Vec<String> = self.degraded()?.into_iter().collect();
                reasons.extend(answer.lacks_vectors.then(|| VECTORS_UNREADABLE.to_owned()));
                if reads {
                    fresh.retain(|(stored, _)| {
                        phrases
                            .iter()
                            .all(|phrase| has_phrase(&stored.memory, phrase))
                    });
                    fresh.retain(|(stored, _)| {
                        !without_phrases
                            .iter()
                            .any(|phrase| has_phrase(&stored.memory, phrase))
                    });
                    total = fresh.len() as u64;
                    fresh.truncate(asked.limit);
                    let most = "only the best 2000 memories that contain the words were checked for the phrase; there are more";
                    reasons.extend(is_cut.then(|| most.to_owned()));
                }
                let hits = fresh
                    .into_iter()
                    .map(|(stored, (_, ranked))| build_hit(stored, ranked, asked.question))
                    .collect();
                let degraded = Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty());
                return Ok(FieldAnswers {
                    hits,
                    total,
                    degraded,
                    corrected: None,
                });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }
}

fn has_phrase(memory: &Memory, phrase: &Phrase) -> bool {
    let mut texts = [Some(&memory.content), memory.title.as_ref()]
        .into_iter()
        .flatten()
        .chain(&memory.tags)
        .chain(&memory.aliases);
    texts.any(|text| phrase.occurs_in(text))
}

fn build_hit(stored: StoredMemory, ranked: RankedHit, question: &TextQuery) -> Hit {
    let mut shown: Vec<Term> = question
        .words
        .iter()
        .map(|word| word.term.clone())
        .collect();
    shown.extend(ranked.found_by.into_iter().map(|text| Term {
        text,
        kind: TokenKind::Word,
    }));
    let parts = if ranked.explanation.is_part {
        expandable_words(&question.words)
    } else {
        Vec::new()
    };
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    let content = &stored.memory.content;
    let mut excerpt = snippet(content, &shown, &parts, SNIPPET);
    if excerpt.marks.is_empty()
        && let Some(number) = ranked.passage.filter(|number| 0 < *number)
        && let Some(passage) = passages(content).get(number)
    {
        excerpt.text = format!("…{}", snippet(passage, &[], &[], SNIPPET - 1).text);
    }
    Hit {
        stored,
        score: ranked.score,
        snippet: excerpt.text,
        marks: excerpt.marks,
        explanation: ranked.explanation,
    }
}

fn rank_results(
    opened: &mut OpenIndex,
    asked: &SearchRequest<'_>,
    now: DateTime<Utc>,
) -> Result<RankedResults, IndexError> {
    let mut attempt = 1;
    loop {
        let epoch = IndexMeta::read(&opened.connection)?.epoch;
        let is_damaged = opened.vectors(asked.vector)?;
        let answered = opened.text(epoch).and_then(|(connection, text, vectors)| {
            let vectors = vectors.filter(|_| asked.vector.is_some());
            // One snapshot of the rows, taken before that of the full text: documents flushed in between are in both.
            let transaction = connection.transaction()?;
            let mut pools = pool_sizes(asked);
            let (mut answer, mut is_whole) = rank_pool(
                &transaction,
                text,
                vectors,
                epoch,
                asked,
                pools.next().unwrap_or(FIRST_POOL),
                now,
            )?;
            while !is_whole
                && answer.hits.len() < asked.limit
                && let Some(size) = pools.next()
            {
                let (wider, is_all) =
                    rank_pool(&transaction, text, vectors, epoch, asked, size, now)?;
                answer.append_wider(wider, asked.limit);
                is_whole = is_all;
            }
            answer.lacks_vectors = is_damaged;
            Ok(answer)
        });
        match answered {
            // Another process may have rebuilt the index, which removes the full text.
            Err(trouble) if trouble.kind() == IndexErrorKind::TextDamaged && attempt == 1 => {
                opened.wait_for_writer()?;
                if IndexMeta::read(&opened.connection)?.epoch == epoch {
                    return Err(trouble);
                }
            }
            Ok(answer) if answer.torn && attempt == 1 => opened.wait_for_writer()?,
            answered => return answered,
        }
        attempt += 1;
    }
}

/// Returns the pool sizes to try if there are too many matches to rank all: each is larger than the one before, and is tried only
/// if the results are fewer than requested. The sizes do not depend on the limit, so the first hits are the same for every
/// limit.
fn pool_sizes(asked: &SearchRequest<'_>) -> impl Iterator<Item = usize> {
    let TextQuery {
        phrases,
        without_phrases,
        ..
    } = asked.question;
    let is_read = !phrases.is_empty() || !without_phrases.is_empty();
    let first = if is_read {
        2 * READ_FOR_PHRASES
    } else {
        FIRST_POOL
    };
    std::iter::successors(Some(first), |size| size.checked_mul(POOL_GROWTH))
}

/// Ranks the best `size` matches by words, or all matches; the flag is `true` if all were ranked.
fn rank_pool(
    rows: &rusqlite::Connection,
    text: &FullText,
    vectors: Option<&ModelVectors>,
    epoch: i64,
    asked: &SearchRequest<'_>,
    size: usize,
    now: DateTime<Utc>,
) -> Result<(RankedResults, bool), IndexError> {
    let gathered = gather_candidates(rows, text, vectors, epoch, asked, size, now)?;
    let is_whole = gathered.is_whole;
    Ok((rank_candidates(rows, gathered, asked, now)?, is_whole))
}

impl RankedResults {
    /// Appends the results of a larger pool after the existing ones, regardless of score.
    fn append_wider(&mut self, wider: Self, limit: usize) {
        let known: HashSet<i64> = self.hits.iter().map(|(_, ranked)| ranked.key).collect();
        let least = self
            .hits
            .last()
            .map_or(f32::MAX, |(_, ranked)| ranked.score);
        let more = wider
            .hits
            .into_iter()
            .filter(|(_, ranked)| !known.contains(&ranked.key));
        self.hits.extend(more.map(|(document, ranked)| {
            (
                document,
                RankedHit {
                    score: ranked.score.min(least),
                    ..ranked
                },
            )
        }));
        self.hits.truncate(limit);
        self.total = wider.total;
        self.torn |= wider.torn;
    }
}

fn rank_candidates(
    connection: &rusqlite::Connection,
    gathered: CandidatePool,
    asked: &SearchRequest<'_>,
    now: DateTime<Utc>,
) -> Result<RankedResults, IndexError> {
    let CandidatePool {
        question,
        found,
        candidates,
        passages,
        wanted,
        statistics,
        total,
        cosines,
        ..
    } = gathered;
    let of_kind = |kind: CollectionKind| {
        let fitted = Ranker::fitted(kind, cosines.is_some());
        asked
            .ranking
            .weights
            .map_or(*fitted, |weights| Ranker { weights, ..*fitted })
    };
    let [notes, talk, assisted] = [
        CollectionKind::Notes,
        CollectionKind::Talk,
        CollectionKind::Assisted,
    ]
    .map(of_kind);
    let for_kind = |candidate: &RankCandidate| match candidate.kind() {
        CollectionKind::Notes => &notes,
        CollectionKind::Talk => &talk,
        CollectionKind::Assisted => &assisted,
    };
    let rankers: Vec<&Ranker> = candidates.iter().map(for_kind).collect();
    let evidence = compute_features(&question, &statistics, &candidates);
    let scored = rank::score_candidates(&evidence, &rankers);
    let (recency, threshold) = (
        asked.ranking.recency,
        asked.ranking.threshold.unwrap_or_default(),
    );
    let worth = |number: usize| {
        let recent = rank::recency(candidates[number].created_at, now);
        (1.0 - recency) * scored[number].relevance + recency * recent
    };
    // A document without a match is a result only if its neighbours match.
    let supported = |number: usize| {
        [rank::RankFeature::Answer, rank::RankFeature::Neighbours]
            .iter()
            .any(|part| 0.0 < evidence[number][*part as usize])
    };
    let mut best: Vec<(usize, f32)> = (0..found.len())
        .filter(|number| found[*number].passes && (found[*number].matches || supported(*number)))
        .map(|number| (number, worth(number)))
        .filter(|(number, _)| threshold <= scored[*number].relevance)
        .collect();
    let besides = best
        .iter()
        .filter(|(number, _)| !found[*number].matches)
        .count() as u64;
    let total = if 0.0 < threshold {
        best.len() as u64
    } else {
        total + besides
    };
    // Matches inside words come after all others, regardless of other evidence. If the query consists of keywords, the texts that contain
    // all of them come first instead, those with whole words before the others.
    let is_part = |number: usize| found[number].is_part && !supported(number);
    let is_keywords = question.is_keywords();
    let tier = |number: usize| match found[number].coverage(&question.words) {
        _ if !is_keywords => u8::from(is_part(number)),
        WordCoverage::Whole => 0,
        WordCoverage::Inside => 1,
        WordCoverage::Some => 2,
    };
    let mut least = f32::MAX;
    for level in 0..=2 {
        let of_level = |(number, _): &&mut (usize, f32)| tier(*number) == level;
        let mut lowest = least;
        for (_, worth) in best.iter_mut().filter(of_level) {
            *worth = worth.min(least);
            lowest = lowest.min(*worth);
        }
        least = lowest;
    }
    let order = |one: &(usize, f32), other: &(usize, f32)| {
        tier(one.0)
            .cmp(&tier(other.0))
            .then(other.1.total_cmp(&one.1))
            .then_with(|| scored[other.0].score.total_cmp(&scored[one.0].score))
    };
    best.sort_by(order);
    if let Some(last) = asked
        .limit
        .checked_sub(1)
        .and_then(|last| best.get(last).copied())
    {
        // Keeps all documents that tie with the last one: the rows break the tie.
        best.retain(|one| order(one, &last).is_le());
    }
    let worths = rank::word_weights(&question, &statistics);
    let mut hits = Vec::with_capacity(best.len());
    let mut torn = false;
    for (number, worth) in best {
        let found = &found[number];
        let explain = ScoreExplainer {
            asked,
            worths: &worths,
            ranker: rankers[number],
            wanted: &wanted,
            statistics: &statistics,
        };
        let mut explanation = explain.explain(&candidates[number], &evidence[number], now);
        explanation.relevance = scored[number].relevance;
        explanation.cosine = cosines
            .zip(candidates[number].cosine)
            .map(|(cosines, similarity)| cosines.cosine(similarity));
        let found_by = wanted
            .iter()
            .zip(&found.likeness)
            .filter(|(_, like)| 0.0 < **like);
        let found_by = found_by
            .flat_map(|(wanted, _)| wanted.alike.iter().map(|(term, _)| term.clone()))
            .collect();
        explanation.is_part = is_part(number);
        let ranked = RankedHit {
            key: found.key,
            tier: tier(number),
            score: worth,
            sum: scored[number].score,
            explanation,
            found_by,
            passage: passages.get(&found.key).map(|best| best.number),
        };
        match IndexedDocument::by_key(connection, ranked.key)? {
            Some(document) => hits.push((document, ranked)),
            None => torn = true,
        }
    }
    hits.sort_by(|(left, left_ranked), (right, right_ranked)| {
        (left_ranked.tier.cmp(&right_ranked.tier))
            .then_with(|| right_ranked.score.total_cmp(&left_ranked.score))
            .then_with(|| right_ranked.sum.total_cmp(&left_ranked.sum))
            .then_with(|| {
                (Reverse(left.created_at), left.id).cmp(&(Reverse(right.created_at), right.id))
            })
    });
    hits.truncate(asked.limit);
    Ok(RankedResults {
        hits,
        total,
        torn,
        lacks_vectors: false,
    })
}

/// Explains how a score is composed.
struct ScoreExplainer<'e> {
    asked: &'e SearchRequest<'e>,
    worths: &'e [f32],
    ranker: &'e Ranker,
    wanted: &'e [QueryTerm],
    statistics: &'e CorpusStatistics,
}

impl ScoreExplainer<'_> {
    fn explain(
        &self,
        candidate: &RankCandidate,
        evidence: &rank::RankFeatures,
        now: DateTime<Utc>,
    ) -> ScoreExplanation {
        let parts = PARTS.iter().map(|part| {
            let (part, value) = (*part, evidence[*part as usize]);
            RankFeatureScore {
                part,
                value,
                score: self.ranker.contribution(evidence, part),
            }
        });
        let statistics = self.statistics;
        let words = self
            .asked
            .question
            .words
            .iter()
            .zip(self.worths)
            .zip(self.wanted)
            .zip(&candidate.frequencies);
        let is_shown =
            |word: &QueryWord, frequency: u32| 0 < frequency && word.role != WordRole::Character;
        let terms = words.filter(|(((word, _), _), frequency)| is_shown(word, **frequency));
        let terms = terms.map(|(((word, worth), wanted), frequency)| {
            let idf = rank::idf_share(statistics.documents, wanted.documents);
            let part = wanted.part.length_index();
            let score = worth
                * rank::saturation(
                    *frequency,
                    candidate.lengths[part],
                    statistics.average_lengths[part],
                    candidate.kind().length_normalisation(),
                );
            TermScore {
                term: word.term.text.clone(),
                frequency: *frequency,
                documents: wanted.documents,
                idf,
                score,
            }
        });
        // A question of single characters has its length and average in single characters.
        let by_characters = self
            .wanted
            .iter()
            .all(|own| own.part == TermField::Characters);
        let part = usize::from(by_characters);
        ScoreExplanation {
            parts: parts.filter(|part| part.score != 0.0).collect(),
            relevance: 0.0,
            is_part: false,
            is_turn: candidate.seat.is_some(),
            replaced_by: None,
            rerank: None,
            cosine: None,
            recency: rank::recency(candidate.created_at, now),
            terms: terms.collect(),
            length: candidate.lengths[part],
            average_length: statistics.average_lengths[part],
            documents: statistics.documents,
        }
    }
}
