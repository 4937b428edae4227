//! The history use cases and their dependencies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    MessageStore, PurgeResult, RecordDraft, RecordFilter, SessionName, SessionRecord,
    SessionRecords, SessionSummary, Window,
};
use crate::instance::{self, InstanceError, InstanceRecord, InstanceUndoReport};
use crate::query_parser::ParsedQuery;
use crate::search::parse_words;
use crate::secret::Checked;
use crate::{
    Clock, IdSource, MatchCoverage, Operation, Progress, Query, Ranking, SearchRequest,
    SearchResults, SecretPolicy, Verb,
};

/// The sessions of one instance, with the clock and the id source of its operations.
#[derive(Debug, Clone)]
pub struct Messages {
    /// The storage of the sessions.
    pub store: Arc<dyn MessageStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Generates operation ids.
    pub ids: Arc<dyn IdSource>,
}

impl Messages {
    pub(super) fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, "", self.clock.as_ref(), self.ids.as_ref())
    }
}

/// Returns the sessions by name.
///
/// # Errors
/// An error of the store.
pub fn sessions(messages: &Messages) -> Result<Vec<SessionSummary>, InstanceError> {
    messages.store.sessions()
}

/// Returns the messages that match the words of a query, best first; `None` if the instance has no index.
///
/// The scope of a message names its session. New sessions are indexed first, of which `progress` counts the bytes.
///
/// # Errors
/// [`StoreError::Invalid`](crate::StoreError::Invalid) if the query contains no searchable word, or an error of the store.
pub fn search(
    messages: &Messages,
    query: &Query,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<SearchResults>, InstanceError> {
    let ParsedQuery {
        question, filter, ..
    } = parse_words(query)?;
    let asked = SearchRequest {
        question: &question,
        filter: &filter,
        limit: query.limit,
        ranking: query.ranking,
        vector: None,
    };
    messages.store.refresh_index(progress)?;
    messages.store.search(&asked, messages.clock.now())
}

/// Numbers of the best messages among which the best sessions are chosen, each if the one before has too few sessions.
const MESSAGES_READ: [usize; 3] = [30, 300, 3_000];

/// Returns the best message of each of the best sessions for a query, at most `limit`; `total` counts all messages that match.
///
/// # Errors
/// Those of [`search()`].
pub fn search_sessions(
    messages: &Messages,
    query: &Query,
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<SearchResults, InstanceError> {
    let mut best = SearchResults::default();
    for read in MESSAGES_READ {
        let query = Query {
            limit: read,
            ranking: Ranking {
                coverage: MatchCoverage::Best,
                ..query.ranking
            },
            ..query.clone()
        };
        best = search(messages, &query, progress)?.unwrap_or_default();
        let is_whole = best.hits.len() < read;
        let mut seen = BTreeSet::new();
        best.hits
            .retain(|hit| seen.insert(hit.stored.memory.scope.clone()));
        if is_whole || limit <= best.hits.len() {
            break;
        }
    }
    best.hits.truncate(limit);
    Ok(best)
}

/// The result of reading a session.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SessionReadResult {
    /// The records, in order.
    pub records: Vec<SessionRecord>,
    /// One error for each line that cannot be parsed as a record.
    pub damaged: Vec<InstanceError>,
}

/// Returns the records of a session that match `filter` and are in `window`.
///
/// A session that does not exist has no records.
///
/// # Errors
/// An error of the store.
pub fn read(
    messages: &Messages,
    session: &SessionName,
    filter: &RecordFilter,
    window: Window,
) -> Result<SessionReadResult, InstanceError> {
    let mut reading = SessionReadResult::default();
    for record in records(messages, session, filter, window)? {
        match record {
            Ok(record) => reading.records.push(record),
            Err(error @ InstanceError::Damaged { .. }) => reading.damaged.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(reading)
}

/// Returns an iterator over these records, so that sessions of any length can be read.
///
/// A line that cannot be parsed as a record yields an [`InstanceError::Damaged`] at its position.
///
/// # Errors
/// An error of the store.
pub fn records(
    messages: &Messages,
    session: &SessionName,
    filter: &RecordFilter,
    window: Window,
) -> Result<SessionRecords, InstanceError> {
    messages.store.records(session, filter, window)
}

/// An appended record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedRecord {
    /// The record as it is stored.
    pub record: SessionRecord,
    /// The kinds of the credentials that were redacted in it.
    pub redacted: Vec<&'static str>,
    /// Where an incomplete record at the end of the session was moved to.
    pub set_aside: Option<String>,
}

/// Appends a record to a session.
///
/// Unless `secrets` keeps them, credentials in the record are redacted: a session without the record would be incomplete.
///
/// # Errors
/// If the record is empty or too large, or the name of the session contains a credential and `secrets` refuses them; or an error of
/// the store.
pub fn append(
    messages: &Messages,
    session: &SessionName,
    draft: &RecordDraft,
    secrets: SecretPolicy,
) -> Result<AppendedRecord, InstanceError> {
    // An append is no operation of the log; only the time and the id of this one are used.
    let operation = messages.operation(Verb::Purge);
    let mut draft = draft.clone();
    let redacted = match secrets {
        SecretPolicy::Refuse => draft.redact(),
        SecretPolicy::Keep => Vec::new(),
    };
    let record = SessionRecord::new(&draft, operation.at)?;
    let records = Checked::new(std::slice::from_ref(&record), [session.as_str()], secrets)?;
    let set_aside = messages
        .store
        .append(session, records, &operation)?
        .set_aside;
    Ok(AppendedRecord {
        record,
        redacted,
        set_aside,
    })
}

/// Deletes the records of a session that match `filter` in one operation.
///
/// A session that does not exist has no records.
///
/// # Errors
/// [`InstanceError::NoFilter`] if the filter accepts all records; or an error of the store.
pub fn purge(
    messages: &Messages,
    session: &SessionName,
    filter: &RecordFilter,
) -> Result<PurgeResult, InstanceError> {
    if filter.is_empty() {
        return Err(InstanceError::NoFilter);
    }
    messages
        .store
        .purge(session, filter, &messages.operation(Verb::Purge))
}

/// Deletes a whole session, and returns its number of records.
///
/// # Errors
/// [`InstanceError::SessionNotFound`], or an error of the store.
pub fn delete(messages: &Messages, session: &SessionName) -> Result<usize, InstanceError> {
    messages
        .store
        .delete(session, &messages.operation(Verb::Delete))?
        .ok_or_else(|| InstanceError::SessionNotFound {
            session: session.to_string(),
        })
}

/// Returns the last `limit` operations on the sessions, newest first, including those that were undone.
///
/// # Errors
/// An error of the store.
pub fn operations(messages: &Messages, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(messages.store.as_ref(), limit)
}

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// # Errors
/// See [`instance::undo()`].
pub fn undo(
    messages: &Messages,
    reference: Option<&str>,
) -> Result<InstanceUndoReport, InstanceError> {
    instance::undo(
        messages.store.as_ref(),
        reference,
        messages.clock.as_ref(),
        messages.ids.as_ref(),
    )
}
