//! Answering a question.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use memory_core::text::{Term, TokenKind, query_terms, snippet};
use memory_core::{Explanation, Found, Hit, Query, StoreError, Stored, TermScore, rank};
use rusqlite::Connection;

use super::flushed::{Flushed, Statistics};
use super::pending::pending;
use super::wanted::{Part, Wanted, wanted};
use crate::index::documents::{Document, Freshened};
use crate::index::filter::TextFilter;
use crate::index::open::{Index, Opened};
use crate::index::schema::Meta;
use crate::index::text::Text;
use crate::index::trouble::{Meaning, Trouble};

/// How wide an excerpt is, in characters.
const SNIPPET: usize = 160;

/// How often to look again when files change while they are looked for.
const ROUNDS: usize = 3;

/// What the index answers, before the files were looked at.
#[derive(Debug)]
struct Answer {
    hits: Vec<(Document, Ranked)>,
    total: u64,
    /// Whether the full text is newer than the rows.
    torn: bool,
}

/// A document that answers.
#[derive(Debug)]
struct Ranked {
    key: i64,
    score: f32,
    explanation: Explanation,
}

impl Index {
    /// Returns the memories that answer `query`, best first.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if there is nothing in the question to search for; else when the index is refused.
    pub(crate) fn search(&self, query: &Query, now: DateTime<Utc>) -> Result<Found, StoreError> {
        let terms = query_terms(&query.text);
        if terms.is_empty() {
            let why = format!("nothing to search for: {:?} has no letter or digit", query.text);
            return Err(StoreError::Invalid { why });
        }
        let mut round = 1;
        loop {
            let answer = self.ask("search", |_, opened| answer(opened, query, &terms, now))?;
            let Freshened { fresh, stale } = self.freshen(answer.hits, |(document, _)| document);
            let is_last = ROUNDS <= round;
            if (stale.is_empty() && !answer.torn) || is_last {
                let gone = stale.len() as u64;
                let hits = fresh.into_iter().map(|(stored, (_, ranked))| hit(stored, ranked, &terms)).collect();
                return Ok(Found { hits, total: answer.total.saturating_sub(gone), degraded: self.degraded()? });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }
}

fn hit(stored: Stored, ranked: Ranked, terms: &[Term]) -> Hit {
    let mut shown = terms.to_vec();
    for score in &ranked.explanation.terms {
        let word = Term { text: score.term.clone(), kind: TokenKind::Word };
        if shown.iter().all(|term| term.text != word.text) {
            shown.push(word);
        }
    }
    let excerpt = snippet(&stored.memory.content, &shown, SNIPPET);
    Hit { stored, score: ranked.score, snippet: excerpt.text, marks: excerpt.marks, explanation: ranked.explanation }
}

fn answer(opened: &mut Opened, query: &Query, terms: &[Term], now: DateTime<Utc>) -> Result<Answer, Trouble> {
    let mut attempt = 1;
    loop {
        let epoch = Meta::read(&opened.connection)?.epoch;
        let answered = opened.text(epoch).and_then(|(connection, text)| answer_from(connection, text, epoch, query, terms, now));
        match answered {
            // Another process may have built the index anew, which takes the full text away.
            Err(trouble) if trouble.meaning() == Meaning::TextDamaged && attempt == 1 => {
                opened.wait_for_writer()?;
                if Meta::read(&opened.connection)?.epoch == epoch {
                    return Err(trouble);
                }
            }
            Ok(answer) if answer.torn && attempt == 1 => opened.wait_for_writer()?,
            answered => return answered,
        }
        attempt += 1;
    }
}

fn answer_from(
    connection: &mut Connection,
    text: &Text,
    epoch: i64,
    query: &Query,
    terms: &[Term],
    now: DateTime<Utc>,
) -> Result<Answer, Trouble> {
    // One state of the rows, taken before the full text is: what is flushed in between is in both.
    let transaction = connection.transaction()?;
    let meta = Meta::read(&transaction)?;
    let (pending, keys) = pending(&transaction, &query.filter, now)?;
    let (searcher, generation) = text.searcher()?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(Trouble::Mismatch);
    }
    let mut flushed = Flushed::new(&searcher, text.fields, &keys)?;
    let wanted = wanted(terms, &mut flushed, &pending)?;
    let most = wanted.iter().map(|own| own.documents).max().unwrap_or_default();
    let statistics = Statistics { documents: meta.documents.max(most), lengths: meta.lengths };
    let scoring = Scoring { wanted: &wanted, statistics: &statistics };

    let mut total = flushed.filter(&TextFilter::of(&query.filter, now))?;
    let mut ranked = Vec::new();
    if 0 < total && 0 < query.limit {
        let limit = query.limit.min(usize::try_from(meta.documents).unwrap_or(usize::MAX)).max(1);
        for found in flushed.best(&wanted, &statistics, limit)? {
            ranked.push(scoring.rank(found.key, &found.frequencies, found.lengths));
        }
    }
    for document in pending.iter().filter(|document| document.passes) {
        let frequencies: Vec<u32> = wanted.iter().map(|own| document.frequency(&own.text, own.part)).collect();
        if frequencies.iter().any(|frequency| 0 < *frequency) {
            total += 1;
            ranked.push(scoring.rank(document.key, &frequencies, document.lengths));
        }
    }
    ranked.sort_by(|left, right| right.score.total_cmp(&left.score));
    if let Some(last) = query.limit.checked_sub(1).and_then(|last| ranked.get(last)) {
        // All that are as good as the last: the rows decide between them.
        let worst = last.score;
        ranked.retain(|ranked| worst <= ranked.score);
    }

    let mut hits = Vec::with_capacity(ranked.len());
    let mut torn = false;
    for ranked in ranked {
        match Document::by_key(&transaction, ranked.key)? {
            Some(document) => hits.push((document, ranked)),
            None => torn = true,
        }
    }
    hits.sort_by(|(left, left_ranked), (right, right_ranked)| {
        right_ranked
            .score
            .total_cmp(&left_ranked.score)
            .then_with(|| (Reverse(left.created_at), left.id).cmp(&(Reverse(right.created_at), right.id)))
    });
    hits.truncate(query.limit);
    Ok(Answer { hits, total, torn })
}

/// How documents are scored: by what is wanted, among all documents.
struct Scoring<'s> {
    wanted: &'s [Wanted],
    statistics: &'s Statistics,
}

impl Scoring<'_> {
    /// Scores one document, wherever it comes from; the sum is always taken in the same order.
    fn rank(&self, key: i64, frequencies: &[u32], lengths: [u32; 2]) -> Ranked {
        let mut terms = Vec::new();
        for (wanted, frequency) in self.wanted.iter().zip(frequencies).filter(|(_, frequency)| 0 < **frequency) {
            let idf = rank::idf(self.statistics.documents, wanted.documents);
            let length = lengths[wanted.part.number()];
            let score = rank::score(idf, *frequency, length, self.statistics.average(wanted.part));
            let term = wanted.text.clone();
            terms.push(TermScore { term, frequency: *frequency, documents: wanted.documents, idf, score });
        }
        let score = terms.iter().map(|term| term.score).sum();
        // A question of single characters is answered by them alone.
        let by_characters = self.wanted.iter().all(|own| own.part == Part::Characters);
        let part = if by_characters { Part::Characters } else { Part::Text };
        let explanation = Explanation {
            terms,
            length: lengths[part.number()],
            average_length: self.statistics.average(part),
            documents: self.statistics.documents,
        };
        Ranked { key, score, explanation }
    }
}
