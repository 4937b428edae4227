//! The records of a session, fetched page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    RecordFilter, SessionName, SessionRecord, SessionRecords, Window, WindowEnd,
};
use tokio_postgres::types::Type;

use super::Database;
use super::conditions::SqlConditions;
use super::error::DatabaseError;

/// Maximum number of records per page.
const ROWS_PER_PAGE: usize = 500;

/// A page ends after the record with which it reaches this size in bytes.
const BYTES_PER_PAGE: i64 = 4 * 1024 * 1024;

/// The matching records of a session, in order. Later appends are not included.
///
/// The first page determines the end of the session.
#[derive(Debug)]
pub(super) struct RecordPages {
    database: Arc<Database>,
    session: SessionName,
    filter: RecordFilter,
    window: Window,
    /// Number of records that are still to be returned, if limited.
    left: Option<usize>,
    /// The last position fetched, and the next position of the session at the first fetch.
    at: Option<(i64, i64)>,
}

impl RecordPages {
    /// Returns the matching records of a session, after the first page was fetched.
    pub(super) fn list(
        database: Arc<Database>,
        session: SessionName,
        filter: RecordFilter,
        window: Window,
    ) -> Result<SessionRecords, InstanceError> {
        let damaged = {
            let session = session.clone();
            move |position, what| InstanceError::Damaged {
                place: format!("record {position} of {session}"),
                what,
            }
        };
        let mut pages = Self {
            database,
            session,
            filter,
            left: window.limit,
            window,
            at: None,
        };
        let rows = Pages::new(move || pages.fetch_next())?;
        Ok(Box::new(rows.map(move |row| {
            let (position, text) = row?;
            SessionRecord::parse(&text).map_err(|what| damaged(position, what))
        })))
    }

    /// Returns the positions and texts of the next page, and whether it is the last one.
    fn fetch_next(&mut self) -> Result<(Vec<(i64, String)>, bool), InstanceError> {
        if self.left == Some(0) {
            return Ok((Vec::new(), true));
        }
        let wanted = self.left.unwrap_or(ROWS_PER_PAGE).min(ROWS_PER_PAGE);
        let (question, conditions) = self.build_query(wanted);
        let rows = self.database.run(async |client| {
            let rows = client.query_typed(&question, &conditions.values()).await?;
            let mut page = Vec::with_capacity(rows.len());
            for row in rows {
                page.push((
                    row.try_get(0)?,
                    row.try_get(1)?,
                    row.try_get(2)?,
                    row.try_get(3)?,
                ));
            }
            Ok::<Vec<(i64, String, i64, i64)>, DatabaseError>(page)
        })?;
        // Each row has the number of rows on the page, including those that the size limit removed.
        let on_page = rows.first().map_or(0, |(.., count)| {
            usize::try_from(*count).unwrap_or(usize::MAX)
        });
        self.left = self.left.map(|left| left.saturating_sub(rows.len()));
        let is_last = rows.len() == on_page && on_page < wanted || self.left == Some(0);
        if let Some((position, _, bound, _)) = rows.last() {
            self.at = Some((*position, self.at.map_or(*bound, |(_, bound)| bound)));
        }
        let rows = rows.into_iter();
        let records = rows.map(|(position, text, ..)| (position, text)).collect();
        Ok((records, is_last))
    }

    fn build_query(&self, wanted: usize) -> (String, SqlConditions) {
        let mut conditions = SqlConditions::default();
        let session = conditions.value(self.session.as_str().to_owned(), Type::TEXT);
        conditions.add_filter(&self.filter);
        let meant = format!(
            "FROM memory_records WHERE session = {session}{}",
            conditions.text
        );
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let bound = match self.at {
            Some((_, end)) => conditions.value(end, Type::INT8),
            None => {
                format!("(SELECT next_position FROM memory_sessions WHERE session = {session})")
            }
        };
        let mut ranges = Vec::new();
        if let Some((last, _)) = self.at {
            let last = conditions.value(last, Type::INT8);
            ranges.push(format!("{last} < position AND position < {bound}"));
        } else if 0 < self.window.offset {
            let offset = conditions.value(number(self.window.offset), Type::INT8);
            // If fewer records match, the subquery is NULL, and no position satisfies the condition.
            ranges.push(format!(
                "(SELECT position {meant} ORDER BY position OFFSET {offset} LIMIT 1) <= position"
            ));
        }
        if let (None, Some(limit), WindowEnd::Last) = (self.at, self.window.limit, self.window.end)
        {
            let before = conditions.value(number(limit - 1), Type::INT8);
            let first =
                format!("SELECT position {meant} ORDER BY position DESC OFFSET {before} LIMIT 1");
            ranges.push(format!("coalesce(({first}), 0) <= position"));
        }
        let range: String = ranges.iter().flat_map(|range| [" AND ", range]).collect();
        let (rows, bytes) = (
            conditions.value(number(wanted), Type::INT8),
            conditions.value(BYTES_PER_PAGE, Type::INT8),
        );
        let question = format!(
            "SELECT position, text, {bound} AS bound, on_page FROM (
                 SELECT position, text, count(*) OVER () AS on_page,
                     coalesce(sum(octet_length(text)) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                 FROM (SELECT position, text {meant}{range} ORDER BY position LIMIT {rows}) page
             ) sized WHERE before < {bytes} ORDER BY position"
        );
        (question, conditions)
    }
}

/// Items that are fetched page by page.
pub(super) struct Pages<T, F> {
    fetched: VecDeque<T>,
    /// Returns the next page, and whether it is the last one.
    fetch: F,
    is_over: bool,
}

impl<T, F: FnMut() -> Result<(Vec<T>, bool), InstanceError>> Pages<T, F> {
    /// Fetches the first page.
    pub(super) fn new(fetch: F) -> Result<Self, InstanceError> {
        let mut pages = Self {
            fetched: VecDeque::new(),
            fetch,
            is_over: false,
        };
        pages.fetch_next().map(|()| pages)
    }

    fn fetch_next(&mut self) -> Result<(), InstanceError> {
        let (page, is_last) = (self.fetch)()?;
        self.fetched.extend(page);
        self.is_over = is_last;
        Ok(())
    }
}

impl<T, F: FnMut() -> Result<(Vec<T>, bool), InstanceError>> Iterator for Pages<T, F> {
    type Item = Result<T, InstanceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.fetched.is_empty()
            && !self.is_over
            && let Err(error) = self.fetch_next()
        {
            self.is_over = true;
            return Some(Err(error));
        }
        self.fetched.pop_front().map(Ok)
    }
}
