//! Gathering what may answer.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::query_parser::{TextQuery, WordRole};
use memory_core::rank::{B, CollectionKind, CorpusStatistics, RankCandidate, saturation};
use memory_core::{Filter, MatchCoverage, MemoryId, SearchRequest, SpeakerRole};
use rusqlite::{Connection, OptionalExtension};
use tantivy::Searcher;
use uuid::Uuid;

use super::candidate::SearchCandidate;
use super::coverage::BestCoverage;
use super::pending_rows::{PendingDocument, read_pending};
use super::preselection::Preselection;
use super::query_names::QueryNames;
use super::query_term::{QueryTerm, TermConstraints, TermField};
use super::query_terms::look_up_words;
use super::segments::SegmentsView;
use super::substrings::SubstringTerms;
use super::turns::{ConversationTurns, MAX_PAUSE};
use super::vector_matches::{CosineDistribution, KeySet, PassageMatch, VectorMatches};
use crate::index::error::IndexError;
use crate::index::filter::TextFilter;
use crate::index::lookup_key::LookupKey;
use crate::index::schema::{IndexMeta, row_id};
use crate::index::text::{FullText, TextFields};
use crate::index::vectors::ModelVectors;

/// Up to this number of matches, all of them are ranked.
const MAX_RANKED: u64 = 3_000;

/// Up to this number of whole-word matches, or up to the limit, matches inside words are appended.
const MAX_WITH_SUBSTRINGS: u64 = 500;

/// Above [`MAX_RANKED`], the number of matches by date and by author that are ranked in addition to the best by words.
const EXTRA_PER_NAME: usize = 100;

/// Number of the best matches with neighbours among the candidates.
const WITH_NEIGHBOURS: usize = 60;

/// Number of the best matches with conversations that are read.
const CONVERSATIONS_READ: usize = 30;

/// Number of the best matches with links that are followed.
const LINKS_FOLLOWED: usize = 10;

/// Largest distance of a neighbour that becomes a candidate.
const MAX_DISTANCE: usize = 3;

/// The candidates for a question, with statistics.
#[derive(Debug)]
pub(super) struct CandidatePool {
    /// The question, with the names of speakers as stop words.
    pub(super) question: TextQuery,
    pub(super) found: Vec<SearchCandidate>,
    /// The ranked candidates, in the order of `found`.
    pub(super) candidates: Vec<RankCandidate>,
    /// The best passages of documents with vectors.
    pub(super) passages: HashMap<i64, PassageMatch>,
    pub(super) wanted: Vec<QueryTerm>,
    pub(super) statistics: CorpusStatistics,
    /// Number of matches in all.
    pub(super) total: u64,
    /// The distribution of the cosines, if vectors were compared.
    pub(super) cosines: Option<CosineDistribution>,
    /// Whether all matches are among the candidates.
    pub(super) is_whole: bool,
}

/// Gathers the candidates: all matches, or the best `size` by words if there are more. The rows must come from one snapshot,
/// taken before the full-text index is opened.
pub(super) fn gather_candidates(
    rows: &Connection,
    text: &FullText,
    vectors: Option<&ModelVectors>,
    epoch: i64,
    asked: &SearchRequest<'_>,
    size: usize,
    now: DateTime<Utc>,
) -> Result<CandidatePool, IndexError> {
    let mut meta = IndexMeta::read(rows)?;
    let filter = limit_to_scope(asked.filter);
    let asked = &SearchRequest {
        filter: &filter,
        ..asked.clone()
    };
    let searcher = open_searcher(text, epoch, &meta)?;
    let MatchSets {
        flushed,
        pending,
        wanted,
        named,
        allowed,
    } = MatchSets::new(rows, &searcher, text.fields, asked, vectors.is_some(), now)?;
    if asked.filter.within.is_some() {
        // The statistics of a view are those of its documents: hidden ones change no score.
        meta.documents = flushed.visible_count() + pending.len() as u64;
        meta.lengths = flushed.visible_lengths()?;
        for document in &pending {
            for (sum, length) in meta.lengths.iter_mut().zip(document.lengths) {
                *sum += u64::from(length);
            }
        }
    }
    let mut statistics = rank_statistics(&meta, &wanted);
    let excluded = TermConstraints {
        question: asked.question,
    };
    let matching = flushed.matching_count();

    let all = CandidateCollector {
        rows,
        asked,
        flushed: &flushed,
        pending: &pending,
        wanted: &wanted,
        named: &named,
        excluded: &excluded,
    };
    let (mut found, mut total, is_whole) =
        all.matching(matching, size, statistics.documents, meta.lengths)?;
    let (by_words, matching) = (total, found.len());
    let near = all.find_nearest(vectors, &allowed)?;
    total += near
        .as_ref()
        .map_or(Ok(0), |near| all.add_nearest(near, &mut found))?;
    let best = rank_by_words(&found, &statistics, &wanted, &named.question);
    let turns = ConversationTurns::of(
        rows,
        asked.filter,
        &best[..best.len().min(CONVERSATIONS_READ)],
        &close_in_time(&found),
        found.iter().any(|found| found.facts.role.is_some()),
    )?;
    statistics.turns = turns
        .whole
        .iter()
        .map(|whole| whole.filter(|_| is_whole))
        .collect();
    all.add_neighbours(&turns, &best[..best.len().min(WITH_NEIGHBOURS)], &mut found)?;
    // Matches inside words are added only if the whole-word matches leave room for them.
    if by_words <= MAX_WITH_SUBSTRINGS.max(asked.limit as u64) {
        total += all.add_substring_matches(
            &SubstringTerms::of(&asked.question.words, &wanted, text, &flushed)?,
            matching,
            &mut found,
        )?;
    }
    found.sort_by_key(|found| found.key);
    let passages = near
        .as_ref()
        .map(|near| near.passages(rows, &found))
        .transpose()?
        .unwrap_or_default();
    let mut candidates: Vec<RankCandidate> = found
        .iter()
        .map(|found| found.to_rank_candidate(&turns, &passages))
        .collect();
    seat_messages_only(&mut candidates);
    connect_links(
        rows,
        &found,
        &best[..best.len().min(LINKS_FOLLOWED)],
        &mut candidates,
    )?;
    let cosine_distribution = near.map(|near| near.distribution);
    let question = named.question;
    Ok(CandidatePool {
        question,
        found,
        candidates,
        passages,
        wanted,
        statistics,
        total,
        cosines: cosine_distribution,
        is_whole,
    })
}

/// The documents that match a question, committed or pending.
pub(super) struct MatchSets<'s> {
    pub(super) flushed: SegmentsView<'s>,
    pub(super) pending: Vec<PendingDocument>,
    pub(super) wanted: Vec<QueryTerm>,
    pub(super) named: QueryNames,
    /// The keys of the documents that pass the filter, if they were requested.
    pub(super) allowed: KeySet,
}

impl<'s> MatchSets<'s> {
    /// Marks the documents that match. Documents without the requested coverage do not pass.
    pub(super) fn new(
        rows: &Connection,
        searcher: &'s Searcher,
        fields: TextFields,
        asked: &SearchRequest<'_>,
        has_vectors: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, IndexError> {
        let (mut pending, keys) = read_pending(rows, asked.filter, now)?;
        let mut flushed =
            SegmentsView::new(searcher, fields, &keys, asked.filter.within.as_deref())?;
        let filter = TextFilter::of(asked.filter, now);
        if let Some(moment) = filter.holds_after {
            flushed.leave_out_ended(moment)?;
        }
        let wanted = look_up_words(&asked.question.words, &flushed, &pending)?;
        let named = QueryNames::of(rows, asked, &flushed, &pending)?;
        flushed.match_any(&wanted)?;
        flushed.match_handles(&named.handles)?;
        let excluded = TermConstraints {
            question: asked.question,
        };
        excluded.restrict(&mut flushed)?;
        flushed.filter(&filter)?;
        let mut allowed = KeySet::default();
        if has_vectors {
            // The mean similarity is that of all documents, regardless of the coverage.
            flushed.collect_passing_keys(&mut allowed)?;
            let passing = pending
                .iter()
                .filter(|own| own.passes && excluded.allows(own));
            passing.for_each(|own| allowed.insert(own.key));
        }
        let is_best = match asked.ranking.coverage {
            MatchCoverage::Any => {
                return Ok(Self {
                    flushed,
                    pending,
                    wanted,
                    named,
                    allowed,
                });
            }
            MatchCoverage::Best => true,
            MatchCoverage::Rest => false,
        };
        let best = BestCoverage::of(&flushed, &pending, &wanted, &named, &excluded)?;
        flushed.restrict_to(&best.flushed, is_best);
        for document in &mut pending {
            document.passes &= best.pending.contains(&document.key) == is_best;
        }
        Ok(Self {
            flushed,
            pending,
            wanted,
            named,
            allowed,
        })
    }

    /// Returns the keys of the pending documents that match.
    pub(super) fn pending_keys(&self, question: &TextQuery) -> impl Iterator<Item = i64> {
        let excluded = TermConstraints { question };
        let matches = move |document: &&PendingDocument| {
            document.passes
                && excluded.allows(document)
                && document.matches(&self.wanted, &self.named.handles)
        };
        self.pending
            .iter()
            .filter(matches)
            .map(|document| document.key)
    }
}

/// Opens the full text for the rows of `meta`, which were read before.
pub(super) fn open_searcher(
    text: &FullText,
    epoch: i64,
    meta: &IndexMeta,
) -> Result<Searcher, IndexError> {
    let (searcher, generation) = text.searcher(meta.generation)?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(IndexError::Mismatch);
    }
    Ok(searcher)
}

/// Returns `filter` limited to the scope that it names, so that word weights derive from that scope alone.
pub(super) fn limit_to_scope(filter: &Filter) -> Filter {
    let mut narrowed = filter.clone();
    if let Some(scope) = &filter.scope
        && filter
            .within
            .as_ref()
            .is_none_or(|within| within.contains(scope))
    {
        narrowed.within = Some(vec![scope.clone()]);
    }
    narrowed
}

/// Returns the sorted keys of documents written within [`MAX_PAUSE`] of another one.
fn close_in_time(found: &[SearchCandidate]) -> Vec<i64> {
    let span = MAX_PAUSE.num_nanoseconds().unwrap_or(i64::MAX);
    let mut by_time: Vec<(i64, i64)> = found
        .iter()
        .map(|found| (found.created_at, found.key))
        .collect();
    by_time.sort_unstable();
    let mut keys: Vec<i64> = by_time
        .windows(2)
        .filter(|pair| pair[1].0.saturating_sub(pair[0].0) <= span)
        .flat_map(|pair| [pair[0].1, pair[1].1])
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn rank_statistics(meta: &IndexMeta, wanted: &[QueryTerm]) -> CorpusStatistics {
    let most = wanted
        .iter()
        .map(|own| own.documents)
        .max()
        .unwrap_or_default();
    let documents = meta.documents.max(most);
    let average = |part: TermField| average(meta.lengths[part.length_index()], documents);
    CorpusStatistics {
        documents,
        with_word: wanted.iter().map(|own| own.documents).collect(),
        average_lengths: [average(TermField::Text), average(TermField::Characters)],
        turns: Vec::new(),
    }
}

/// All documents, flushed or pending, and the request.
struct CandidateCollector<'a> {
    rows: &'a Connection,
    asked: &'a SearchRequest<'a>,
    flushed: &'a SegmentsView<'a>,
    pending: &'a [PendingDocument],
    wanted: &'a [QueryTerm],
    named: &'a QueryNames,
    excluded: &'a TermConstraints<'a>,
}

impl<'a> CandidateCollector<'a> {
    /// Returns the matches, their number, and whether they are complete. `flushed` is the number in the full-text index.
    fn matching(
        &self,
        flushed: u64,
        size: usize,
        documents: u64,
        lengths: [u64; 2],
    ) -> Result<(Vec<SearchCandidate>, u64, bool), IndexError> {
        let QueryNames {
            speaker,
            dates,
            handles,
            ..
        } = self.named;
        let look = |document: &PendingDocument| {
            SearchCandidate::of(document, self.wanted, *speaker, handles)
        };
        let matches = |document: &&PendingDocument| {
            let own = look(document);
            own.passes && own.matches && self.excluded.allows(document)
        };
        let pending: Vec<&PendingDocument> = self.pending.iter().filter(matches).collect();
        let total = flushed + pending.len() as u64;
        let is_whole = total <= MAX_RANKED.max(size as u64);
        let (mut addresses, mut waiting) = (Vec::new(), Vec::new());
        if is_whole {
            addresses = self.flushed.matching_documents();
            waiting.clone_from(&pending);
        } else {
            let pool = Preselection::new(
                self.flushed,
                (self.pending, &pending),
                self.wanted,
                documents,
                lengths,
            )?;
            let by_date = (!dates.is_empty()).then(|| (dates.clone(), EXTRA_PER_NAME));
            let by_name = speaker.map(|speaker| (vec![speaker], EXTRA_PER_NAME));
            // Assistants repeat the words of every question at length: by words alone they would fill the pool.
            let person = LookupKey::Role(SpeakerRole::Person).bits();
            let by_person = self
                .flushed
                .has_handle(person)?
                .then(|| (vec![person], size));
            for (handles, most) in [Some((Vec::new(), size)), by_date, by_name, by_person]
                .into_iter()
                .flatten()
            {
                let (flushed, pending) = pool.best(&handles, most)?;
                addresses.extend(flushed);
                waiting.extend(pending);
            }
            waiting.sort_by_key(|document| document.key);
            waiting.dedup_by_key(|document| document.key);
        }
        if self.asked.limit == 0 {
            addresses.clear();
        }
        let mut found = self
            .flushed
            .load_features(addresses, self.wanted, *speaker)?;
        found.extend(waiting.into_iter().map(look));
        Ok((found, total, is_whole))
    }

    /// Searches the nearest vectors, if the question has a vector and the index holds any.
    fn find_nearest<'v>(
        &self,
        vectors: Option<&'v ModelVectors>,
        allowed: &KeySet,
    ) -> Result<Option<VectorMatches<'v>>, IndexError>
    where
        'a: 'v,
    {
        let Some((vectors, question)) = vectors.zip(self.asked.vector) else {
            return Ok(None);
        };
        VectorMatches::new(self.rows, vectors, question, allowed).map(Some)
    }

    /// Adds the nearest documents and returns the number that match by nearness alone.
    fn add_nearest(
        &self,
        near: &VectorMatches<'_>,
        found: &mut Vec<SearchCandidate>,
    ) -> Result<u64, IndexError> {
        let mut nearest = self.load_features(&exclude_known(near.keys(), found))?;
        let mut answers = 0;
        for found in nearest
            .iter_mut()
            .filter(|found| found.passes && !found.matches)
        {
            found.matches = near.is_match(found.key);
            answers += u64::from(found.matches);
        }
        found.extend(nearest);
        Ok(answers)
    }

    /// Adds the neighbours of the best matches.
    fn add_neighbours(
        &self,
        turns: &ConversationTurns,
        best: &[i64],
        found: &mut Vec<SearchCandidate>,
    ) -> Result<(), IndexError> {
        let mut around: Vec<i64> = best
            .iter()
            .flat_map(|key| turns.neighbours(*key, MAX_DISTANCE))
            .collect();
        around.sort_unstable();
        around.dedup();
        let TextQuery {
            phrases,
            without,
            without_phrases,
            ..
        } = self.asked.question;
        let is_plain = phrases.is_empty() && without.is_empty() && without_phrases.is_empty();
        let mut neighbours = self.load_features(&exclude_known(around, found))?;
        for neighbour in &mut neighbours {
            neighbour.matches = false;
            neighbour.passes &= is_plain;
        }
        found.extend(neighbours);
        Ok(())
    }

    /// Counts documents with question words inside their words, and adds them if there is room after the whole-word matches. Entries
    /// of `found` from index `matching` on were added for another reason than their words.
    fn add_substring_matches(
        &self,
        within: &SubstringTerms,
        matching: usize,
        found: &mut Vec<SearchCandidate>,
    ) -> Result<u64, IndexError> {
        let mut flushed = self.flushed.passing_unmatched(within.terms())?;
        let mut pending = HashMap::new();
        for document in self
            .pending
            .iter()
            .filter(|document| document.passes && self.excluded.allows(document))
        {
            if let Some(likeness) = within.best_similarity(document) {
                let own = SearchCandidate::of(
                    document,
                    self.wanted,
                    self.named.speaker,
                    &self.named.handles,
                );
                if !own.matches {
                    pending.insert(
                        own.key,
                        SearchCandidate {
                            likeness,
                            matches: true,
                            is_part: true,
                            ..own
                        },
                    );
                }
            }
        }
        let mut count = (flushed.len() + pending.len()) as u64;
        let load = |addresses| {
            self.flushed
                .load_features(addresses, within.terms(), self.named.speaker)
        };
        // Those that were added for another reason.
        let mut known = HashMap::new();
        let keys: Vec<i64> = found[matching..].iter().map(|own| own.key).collect();
        let mut addresses = self.flushed.with_keys(&keys)?;
        addresses.retain(|address| match flushed.binary_search(address) {
            Ok(place) => {
                flushed.remove(place);
                true
            }
            Err(_) => false,
        });
        known.extend(load(addresses)?.into_iter().map(|part| (part.key, part)));
        for own in &mut found[matching..] {
            let part = pending.remove(&own.key).or_else(|| known.remove(&own.key));
            let Some(part) = part else {
                continue;
            };
            if own.matches {
                count -= 1;
            } else {
                (own.matches, own.is_part) = (true, true);
            }
            if self.asked.question.is_keywords() {
                own.likeness = part.likeness;
            }
        }
        let is_answer = |own: &&SearchCandidate| own.matches && own.passes && own.has_words();
        if found.iter().filter(is_answer).count() < self.asked.limit {
            let most = self
                .asked
                .limit
                .max(usize::try_from(MAX_RANKED).unwrap_or(usize::MAX));
            let mut parts = load(self.flushed.newest(flushed, most)?)?;
            for own in &mut parts {
                (own.matches, own.is_part) = (true, true);
            }
            found.extend(parts.into_iter().chain(pending.into_values()));
        }
        Ok(count)
    }

    /// Reads the documents with these sorted keys from the full-text index and the pending rows.
    fn load_features(&self, keys: &[i64]) -> Result<Vec<SearchCandidate>, IndexError> {
        let speaker = self.named.speaker;
        let mut found =
            self.flushed
                .load_features(self.flushed.with_keys(keys)?, self.wanted, speaker)?;
        let pending = self
            .pending
            .iter()
            .filter(|document| keys.binary_search(&document.key).is_ok());
        found.extend(
            pending.map(|document| SearchCandidate::of(document, self.wanted, speaker, &[])),
        );
        Ok(found)
    }
}

/// Removes the seats of texts without a role in conversations with roles: they are facts and notes beside the messages.
fn seat_messages_only(candidates: &mut [RankCandidate]) {
    let with_roles: HashSet<usize> = candidates
        .iter()
        .filter(|candidate| candidate.kind() == CollectionKind::Assisted)
        .filter_map(|candidate| Some(candidate.seat?.conversation))
        .collect();
    for candidate in candidates {
        let has_role = candidate.role.is_some();
        candidate.seat = candidate
            .seat
            .filter(|seat| has_role || !with_roles.contains(&seat.conversation));
    }
}

/// Returns the keys that are not in `found`.
fn exclude_known(mut keys: Vec<i64>, found: &[SearchCandidate]) -> Vec<i64> {
    let known: HashSet<i64> = found.iter().map(|found| found.key).collect();
    keys.retain(|key| !known.contains(key));
    keys
}

/// Returns the keys of `found`, best match by words first.
fn rank_by_words(
    found: &[SearchCandidate],
    statistics: &CorpusStatistics,
    wanted: &[QueryTerm],
    question: &TextQuery,
) -> Vec<i64> {
    let worth = |found: &SearchCandidate| word_score(found, statistics, wanted, question);
    let mut best: Vec<(f32, i64)> = found
        .iter()
        .map(|found| (worth(found), found.key))
        .collect();
    best.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    best.into_iter().map(|(_, key)| key).collect()
}

/// Returns the weighted match of the words of a document.
fn word_score(
    found: &SearchCandidate,
    statistics: &CorpusStatistics,
    wanted: &[QueryTerm],
    question: &TextQuery,
) -> f32 {
    let contents = |index: usize| {
        question
            .words
            .get(index)
            .is_some_and(|word| word.role == WordRole::Content)
    };
    let each = wanted
        .iter()
        .enumerate()
        .filter(|(index, _)| contents(*index))
        .map(|(index, wanted)| {
            let part = wanted.part.length_index();
            let worth = memory_core::rank::idf_share(statistics.documents, wanted.documents);
            worth
                * saturation(
                    found.frequencies[index],
                    found.lengths[part],
                    statistics.average_lengths[part],
                    B,
                )
        });
    each.sum()
}

/// Connects candidates that link to each other.
fn connect_links(
    rows: &Connection,
    found: &[SearchCandidate],
    best: &[i64],
    candidates: &mut [RankCandidate],
) -> Result<(), IndexError> {
    let numbers: HashMap<i64, usize> = found
        .iter()
        .enumerate()
        .map(|(number, found)| (found.key, number))
        .collect();
    for key in best {
        let number = numbers[key];
        if candidates[number].seat.is_some() {
            continue;
        }
        let id = rows
            .prepare_cached("SELECT id FROM documents WHERE key = ? AND id NOT NULL")?
            .query_row([key], |row| row_id(row, 0))
            .optional()?;
        let Some(id): Option<Uuid> = id else { continue };
        let mut select =
            rows.prepare_cached("SELECT document FROM handles WHERE bits = ? LIMIT 32")?;
        for other in select.query_map([LookupKey::Link(&MemoryId::from(id)).bits()], |row| {
            row.get::<_, i64>(0)
        })? {
            if let Some(other) = numbers.get(&other?).filter(|other| **other != number) {
                candidates[number].linked.push(*other);
            }
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an average needs no more than seven digits"
)]
fn average(length: u64, documents: u64) -> f32 {
    length as f32 / documents.max(1) as f32
}
