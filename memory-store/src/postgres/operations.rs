//! The log of operations, and the checks before an undo.

use chrono::{DateTime, Datelike, NaiveTime, Utc};
use memory_core::instance::{InstanceError, InstanceRecord, InstanceRecords, InstanceSubject};
use memory_core::{Operation, OperationId, StoreError, mark_undone, mark_undone_lazily};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Database;
use super::conditions::SqlConditions;
use super::error::DatabaseError;
use super::record_pages::Pages;

/// Maximum number of operations per page.
const ROWS_PER_PAGE: usize = 500;

/// Lists the operations that the statement `question` selects, newest first, page by page.
///
/// Its columns are the id, the time, the verb, the session or key, the count, the id of the operation that it
/// undoes, and the time at which it was logged. A condition and an order are appended to the statement.
///
/// # Errors
/// If the first page cannot be fetched.
pub(super) fn list_operations<'a>(
    database: &'a Database,
    question: &'static str,
) -> Result<InstanceRecords<'a>, InstanceError> {
    // The time at which the last fetched operation was logged, and its id.
    let mut last: Option<(DateTime<Utc>, String)> = None;
    let pages = Pages::new(move || {
        let mut conditions = SqlConditions::default();
        let behind = last.as_ref().map_or_else(String::new, |(at, id)| {
            let (at, id) = (
                conditions.value(*at, Type::TIMESTAMPTZ),
                conditions.value(id.clone(), Type::TEXT),
            );
            format!(" AND (recorded, operation) < ({at}, {id})")
        });
        let question = format!(
            "{question}{behind} ORDER BY recorded DESC, operation DESC LIMIT {ROWS_PER_PAGE}"
        );
        let rows = database.run(async |client| {
            let rows = client.query_typed(&question, &conditions.values()).await?;
            rows.iter()
                .map(|row| Ok((parse_record(row)?, row.try_get(6)?)))
                .collect::<Result<Vec<_>, DatabaseError>>()
        })?;
        let is_last = rows.len() < ROWS_PER_PAGE;
        last = rows
            .last()
            .map(|(record, recorded)| (*recorded, record.operation.id.to_string()));
        let records = rows.into_iter().map(|(record, _)| record).collect();
        Ok((records, is_last))
    })?;
    Ok(Box::new(mark_undone_lazily(pages)))
}

/// Parses a row of the statement of [`list_operations`].
fn parse_record(row: &Row) -> Result<InstanceRecord, DatabaseError> {
    let (id, at, kind): (String, DateTime<Utc>, String) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let (session, count, undoes): (String, i64, Option<String>) =
        (row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
    let damaged = |what: String| InstanceError::Damaged {
        place: format!("the operation {id}"),
        what,
    };
    let verb = kind
        .parse()
        .map_err(|_| damaged(format!("unknown operation kind {kind:?}")))?;
    let name = |text: &str| {
        text.parse::<OperationId>()
            .map_err(|error| damaged(error.to_string()))
    };
    Ok(InstanceRecord {
        operation: Operation {
            id: name(&id)?,
            verb,
            by: String::new(),
            at,
        },
        subject: InstanceSubject::new(&session, usize::try_from(count).unwrap_or_default()),
        undoes: undoes.as_deref().map(name).transpose()?,
        undone_by: None,
    })
}

/// Finds the operation to undo in `rows`, all operations on the same session or key, newest first.
///
/// Also returns whether `again`, the undo itself, was already carried out.
pub(super) fn find_undoable(
    rows: &[Row],
    undone: &OperationId,
    again: &Operation,
) -> Result<(InstanceRecord, UndoStatus), DatabaseError> {
    let mut records = rows
        .iter()
        .map(parse_record)
        .collect::<Result<Vec<_>, _>>()?;
    let is_again = |record: &InstanceRecord| {
        record.operation.id == again.id && record.undoes.as_ref() == Some(undone)
    };
    let is_done = records.iter().any(is_again);
    mark_undone(&mut records);
    let found = records
        .into_iter()
        .find(|record| record.operation.id == *undone);
    let mut found = found.ok_or_else(|| not_found_error(undone))?;
    match found.undone_by.take() {
        Some(other) if !is_done => Err(store_error(StoreError::Invalid {
            why: format!("{undone} was already undone by {other}"),
        })),
        _ => Ok((
            found,
            if is_done {
                UndoStatus::Already
            } else {
                UndoStatus::NotYet
            },
        )),
    }
}

/// Whether an undo was already carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoStatus {
    /// It was carried out, and its response was lost.
    Already,
    /// It was not carried out.
    NotYet,
}

/// Returns the error for an operation that does not exist.
pub(super) fn not_found_error(undone: &OperationId) -> DatabaseError {
    store_error(StoreError::OperationNotFound {
        wanted: format!("no operation has the id {undone}"),
    })
}

/// Returns the error for an operation followed by other changes.
pub(super) fn changed_error(undone: &OperationId, why: String) -> DatabaseError {
    DatabaseError::Other(InstanceError::ChangedSince {
        operation: undone.clone(),
        why,
    })
}

/// Returns the error for an operation whose id another one has.
pub(super) fn conflict_error(id: &str) -> DatabaseError {
    let what = format!("the data of another operation with the id {id}");
    store_error(StoreError::Conflict { what })
}

fn store_error(error: StoreError) -> DatabaseError {
    DatabaseError::Other(error.into())
}

/// Returns the start of the month of `before`. All months before this time are over.
pub(super) fn month_start(before: DateTime<Utc>) -> DateTime<Utc> {
    let first = before.date_naive().with_day(1).unwrap_or_default();
    first.and_time(NaiveTime::MIN).and_utc()
}
