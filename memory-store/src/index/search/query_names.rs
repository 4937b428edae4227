//! Speakers and dates that a query names.

use chrono::DateTime;
use memory_core::query_parser::{TextQuery, WordRole};
use memory_core::text::{Term, query_terms};
use memory_core::{Filter, Scope, SearchRequest, SpeakerRole, StoreError};
use rusqlite::Connection;

use super::pending_rows::{PendingDocument, read_pending};
use super::segments::SegmentsView;
use super::turns::is_speaker;
use crate::index::error::{IndexError, IndexErrorKind};
use crate::index::lookup_key::LookupKey;
use crate::index::memory_index::{MemoryIndex, OpenIndex};
use crate::index::schema::IndexMeta;

/// The speakers and dates in a query that the index contains.
pub(super) struct QueryNames {
    /// The query, with speaker names turned into stop words.
    pub(super) question: TextQuery,
    /// The handle of the speaker, if the query names exactly one.
    pub(super) speaker: Option<i64>,
    /// The handles of the dates in the query.
    pub(super) dates: Vec<i64>,
    /// The handles by which a document matches without a matching word.
    pub(super) handles: Vec<i64>,
}

impl QueryNames {
    pub(super) fn of(
        rows: &Connection,
        asked: &SearchRequest<'_>,
        flushed: &SegmentsView<'_>,
        pending: &[PendingDocument],
    ) -> Result<Self, IndexError> {
        let within = asked.filter.within.as_deref();
        let speakers = known_speakers(rows, &asked.question.names, within, flushed, pending)?;
        // A query that names several speakers does not favor any of them.
        let speaker = if let [(_, only)] = speakers.as_slice() {
            Some(*only)
        } else {
            None
        };
        let dates = date_hashes(asked);
        // A query that consists of a name or a date alone matches all documents of that speaker or date.
        let is_only_name = asked.question.words.len() == 1;
        let of_date = dates
            .iter()
            .copied()
            .filter(|_| asked.question.is_only_date);
        let handles = speaker
            .filter(|_| is_only_name)
            .into_iter()
            .chain(of_date)
            .collect();
        Ok(Self {
            question: without_names(asked.question, &speakers),
            speaker,
            dates,
            handles,
        })
    }
}

/// Turns speaker names into stop words.
///
/// A name identifies the author of a text rather than its subject. If no content word remains, all words become content words.
fn without_names(question: &TextQuery, speakers: &[(String, i64)]) -> TextQuery {
    let names: Vec<Term> = speakers
        .iter()
        .flat_map(|(name, _)| query_terms(name))
        .collect();
    let mut question = question.clone();
    for word in question
        .words
        .iter_mut()
        .filter(|word| names.contains(&word.term))
    {
        word.role = WordRole::Aside;
    }
    if question
        .words
        .iter()
        .all(|word| word.role != WordRole::Content)
    {
        question
            .words
            .iter_mut()
            .for_each(|word| word.role = WordRole::Content);
    }
    question
}

/// Returns the handles of the most selective date parts: months, else years, else weekdays.
fn date_hashes(asked: &SearchRequest<'_>) -> Vec<i64> {
    let Some(date) = &asked.question.date else {
        return Vec::new();
    };
    let months: Vec<i64> = date
        .months
        .iter()
        .map(|month| LookupKey::Month(*month).bits())
        .collect();
    let years = date.years.iter().map(|year| LookupKey::Year(*year).bits());
    let weekdays = date
        .weekdays
        .iter()
        .map(|day| LookupKey::Weekday(*day).bits());
    if !months.is_empty() {
        return months;
    }
    if date.years.is_empty() {
        weekdays.collect()
    } else {
        years.collect()
    }
}

impl MemoryIndex {
    /// Returns those of `names` that are speakers, restricted to the scopes `within` if given.
    pub(crate) fn speakers(
        &self,
        names: &[String],
        within: Option<&[Scope]>,
    ) -> Result<Vec<String>, StoreError> {
        let found = self.query("find speakers", |_, opened| {
            match find_speakers(opened, names, within) {
                // The search that follows detects the damage and triggers the repair.
                Err(trouble) if trouble.kind() == IndexErrorKind::TextDamaged => Ok(Vec::new()),
                found => found,
            }
        })?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }
}

fn find_speakers(
    opened: &mut OpenIndex,
    names: &[String],
    within: Option<&[Scope]>,
) -> Result<Vec<(String, i64)>, IndexError> {
    let epoch = IndexMeta::read(&opened.connection)?.epoch;
    let filter = Filter {
        within: within.map(<[Scope]>::to_vec),
        ..Filter::all()
    };
    let (connection, text, _) = opened.text(epoch)?;
    // The rows are read in one transaction, before the full-text index is opened.
    let rows = connection.transaction()?;
    let meta = IndexMeta::read(&rows)?;
    let (pending, keys) = read_pending(&rows, &filter, DateTime::UNIX_EPOCH)?;
    let (searcher, generation) = text.searcher(meta.generation)?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(IndexError::Mismatch);
    }
    known_speakers(
        &rows,
        names,
        within,
        &SegmentsView::new(&searcher, text.fields, &keys, within)?,
        &pending,
    )
}

/// Returns those of `names` that are speakers of a document, with their handles.
///
/// Outside conversations, a source is the name of a speaker if its texts alternate with those of others.
fn known_speakers(
    rows: &Connection,
    names: &[String],
    within: Option<&[Scope]>,
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<Vec<(String, i64)>, IndexError> {
    let has_handle = |bits: i64| -> Result<bool, IndexError> {
        let is_pending = || pending.iter().any(|own| own.filters.contains(&bits));
        Ok(flushed.has_handle(bits)? || is_pending())
    };
    let mut speakers = Vec::new();
    for name in names {
        let [speaker, source] =
            [LookupKey::Speaker(name), LookupKey::Source(name)].map(|own| own.bits());
        if has_handle(speaker)? {
            speakers.push((name.clone(), speaker));
        } else if SpeakerRole::from_source(name).is_none()
            && has_handle(source)?
            && is_speaker(rows, name, within)?
        {
            speakers.push((name.clone(), source));
        }
    }
    Ok(speakers)
}
