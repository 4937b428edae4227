//! Sessions in a Postgres database.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    MessageStore, PurgeResult, RecordFilter, SessionAppendResult, SessionName, SessionRecord,
    SessionRecords, SessionSummary, Window,
};
use memory_core::secret::Checked;
use memory_core::{Operation, add_time};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::conditions::{SqlConditions, SqlParameter, record_time};
use super::error::DatabaseError;
use super::operations::conflict_error;
use super::record_pages::RecordPages;
use super::{Database, database};

/// Appends one record with the function of `migrations/append.sql`.
///
/// The parameters are cast, since the call of a function does not determine their types.
const APPEND: &str = "
    SELECT memory_append($1::text, $2::text, $3::timestamptz, $4::text, $5::timestamptz, $6::smallint, $7::text)";

/// Appends one record where the function does not exist.
///
/// Each session has one row with its next position. A writer locks this row until its transaction ends, so the
/// positions are in the order of the writes.
const APPEND_WITHOUT_FUNCTION: &str = "
    WITH place AS (
        INSERT INTO memory_sessions AS own (session, next_position, records, is_there) VALUES ($1, 1, 1, true)
        ON CONFLICT (session) DO UPDATE SET next_position = own.next_position + 1, records = own.records + 1, is_there = true
        RETURNING next_position - 1 AS position
    )
    INSERT INTO memory_records (session, position, role, said_at, said_nanos, operation, operation_at, nth, text)
    SELECT $1, position, $4, $5, $6, $2, $3, 1, $7 FROM place";

const APPEND_ALL: &str = "
    WITH place AS (
        INSERT INTO memory_sessions AS own (session, next_position, records, is_there) VALUES ($1, $8, $8, true)
        ON CONFLICT (session) DO UPDATE
            SET next_position = own.next_position + $8, records = own.records + $8, is_there = true
        RETURNING next_position - $8 AS first
    )
    INSERT INTO memory_records (session, position, role, said_at, said_nanos, operation, operation_at, nth, text)
    SELECT $1, place.first + own.nth - 1, own.role, own.said_at, own.said_nanos, $2, $3, own.nth, own.text
    FROM place, unnest($4::text[], $5::timestamptz[], $6::smallint[], $7::text[])
        WITH ORDINALITY AS own (role, said_at, said_nanos, text, nth)";

const FIND_APPENDED: &str = "
    SELECT text FROM memory_records WHERE session = $1 AND operation = $2 AND operation_at = $3 ORDER BY nth";

const LIST_SESSIONS: &str = "
    SELECT own.session, own.records, last.said_at, last.said_nanos
    FROM memory_sessions own LEFT JOIN LATERAL (
        SELECT said_at, said_nanos FROM memory_records WHERE session = own.session ORDER BY position DESC LIMIT 1
    ) last ON true
    WHERE own.is_there ORDER BY own.session";

pub(super) const HOLD: &str = "SELECT 1 FROM memory_sessions WHERE session = $1 FOR UPDATE";

/// Returns the result of an operation that was carried out before.
const FIND_RESULT: &str = "SELECT taken, remaining FROM memory_operations WHERE operation = $1 AND session = $2 AND kind = $3";

/// The columns of a record other than its session.
pub(super) const COLUMNS: &str =
    "position, role, said_at, said_nanos, operation, operation_at, nth, text";

/// The store of the sessions in a Postgres database.
#[derive(Debug, Clone)]
pub struct PostgresMessages {
    database: Arc<Database>,
}

impl PostgresMessages {
    /// Returns the store of the sessions in a database.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// Removes records with `statement`, and returns the numbers of removed and remaining records.
    fn remove_records(
        &self,
        session: &SessionName,
        (kind, statement): (&'static str, &str),
        conditions: &SqlConditions,
        operation: &Operation,
    ) -> Result<Option<PurgeResult>, InstanceError> {
        self.database.run(async |client| {
            let name: [SqlParameter; 1] = [(&session.as_str(), Type::TEXT)];
            let held = client.execute_typed(HOLD, &name);
            let values = conditions.values();
            let taken = client.query_typed_opt(statement, &values);
            let is_repeated = match database::run_with_row_lock(client, held, taken).await {
                Ok(Some(row)) => return Ok(Some(parse_purged(&row)?)),
                // The session does not exist. The first attempt may have deleted it, and its response was lost.
                Ok(None) => false,
                Err(error) if DatabaseError::is_duplicate(&error, "memory_operations_once") => true,
                Err(error) => return Err(error.into()),
            };
            let values: [SqlParameter; 3] = [
                (&operation.id.as_str(), Type::TEXT),
                (&session.as_str(), Type::TEXT),
                (&kind, Type::TEXT),
            ];
            match client.query_typed_opt(FIND_RESULT, &values).await? {
                Some(done) => Ok(Some(parse_purged(&done)?)),
                None if is_repeated => Err(conflict_error(operation.id.as_str())),
                None => Ok(None),
            }
        })
    }
}

impl MessageStore for PostgresMessages {
    fn append(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<SessionAppendResult, InstanceError> {
        let roles: Vec<_> = records
            .iter()
            .map(|record| record.role().as_str())
            .collect();
        let (times, nanos): (Vec<_>, Vec<_>) = records.iter().map(record_time).unzip();
        let texts: Vec<_> = records
            .iter()
            .map(|record| record.text().as_str())
            .collect();
        let count = i64::try_from(records.len()).unwrap_or(i64::MAX);
        let (name, id) = (session.as_str(), operation.id.as_str());
        let mut values: Vec<SqlParameter> = vec![
            (&name, Type::TEXT),
            (&id, Type::TEXT),
            (&operation.at, Type::TIMESTAMPTZ),
        ];
        let statement = if let ([role], [time], [nanos], [text]) =
            (&roles[..], &times[..], &nanos[..], &texts[..])
        {
            values.extend([
                (role as _, Type::TEXT),
                (time as _, Type::TIMESTAMPTZ),
                (nanos as _, Type::INT2),
                (text as _, Type::TEXT),
            ]);
            if self.database.has_functions() {
                APPEND
            } else {
                APPEND_WITHOUT_FUNCTION
            }
        } else {
            values.extend([
                (&roles as _, Type::TEXT_ARRAY),
                (&times as _, Type::TIMESTAMPTZ_ARRAY),
            ]);
            values.extend([
                (&nanos as _, Type::INT2_ARRAY),
                (&texts as _, Type::TEXT_ARRAY),
                (&count as _, Type::INT8),
            ]);
            APPEND_ALL
        };
        self.database.run(async |client| {
            let mut done = client.execute_typed(statement, &values).await;
            if done
                .as_ref()
                .is_err_and(|error| error.code() == Some(&SqlState::UNDEFINED_FUNCTION))
            {
                done = client.execute_typed(APPEND_WITHOUT_FUNCTION, &values).await;
                self.database.mark_functions_missing();
            }
            match done {
                // The first attempt may have succeeded, and only its response was lost.
                Err(error) if DatabaseError::is_duplicate(&error, "memory_records_operation") => {
                    let found = client.query_typed(FIND_APPENDED, &values[..3]).await?;
                    let found = found.iter().map(|row| row.try_get::<_, String>(0));
                    if found.collect::<Result<Vec<_>, _>>()? != texts {
                        return Err(conflict_error(operation.id.as_str()));
                    }
                }
                done => drop(done?),
            }
            Ok(SessionAppendResult::default())
        })
    }

    fn records(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        window: Window,
    ) -> Result<SessionRecords, InstanceError> {
        let database = Arc::clone(&self.database);
        RecordPages::list(database, session.clone(), filter.clone(), window)
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError> {
        self.database.run(async |client| {
            let mut summaries = Vec::new();
            for row in client.query_typed(LIST_SESSIONS, &[]).await? {
                let (name, records): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
                // A row with an invalid name was not written by this program.
                let Ok(session) = name.parse() else { continue };
                let (at, nanos): (Option<DateTime<Utc>>, Option<i16>) =
                    (row.try_get(2)?, row.try_get(3)?);
                let nanos = TimeDelta::nanoseconds(nanos.unwrap_or_default().into());
                summaries.push(SessionSummary {
                    session,
                    records: usize::try_from(records).unwrap_or_default(),
                    last_at: at.map(|at| add_time(at, nanos)),
                });
            }
            Ok(summaries)
        })
    }

    fn delete(
        &self,
        session: &SessionName,
        operation: &Operation,
    ) -> Result<Option<usize>, InstanceError> {
        let mut conditions = operation_parameters(session, operation);
        let statement = removal_statement(
            "delete",
            &mut conditions,
            "UPDATE memory_sessions SET is_there = false, records = 0 WHERE session = $1 AND is_there RETURNING records",
        );
        Ok(self
            .remove_records(session, ("delete", &statement), &conditions, operation)?
            .map(|done| done.purged))
    }

    fn check_replace(&self) -> Result<(), InstanceError> {
        let hint = "import into an instance on files, such as history/main";
        Err(InstanceError::invalid(
            "sessions cannot be imported into a Postgres database",
            hint,
        ))
    }

    fn replace(
        &self,
        _: &SessionName,
        _: Checked<&[SessionRecord]>,
        _: &Operation,
    ) -> Result<(), InstanceError> {
        self.check_replace()
    }

    fn purge(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        operation: &Operation,
    ) -> Result<PurgeResult, InstanceError> {
        let mut conditions = operation_parameters(session, operation);
        conditions.add_filter(filter);
        let statement = removal_statement(
            "purge",
            &mut conditions,
            "UPDATE memory_sessions SET records = records - (SELECT count(*) FROM gone) WHERE session = $1 AND is_there
             RETURNING records",
        );
        Ok(self
            .remove_records(session, ("purge", &statement), &conditions, operation)?
            .unwrap_or_default())
    }
}

/// Returns conditions with the parameters of every operation: the session, the id and the time.
fn operation_parameters(session: &SessionName, operation: &Operation) -> SqlConditions {
    let mut conditions = SqlConditions::default();
    conditions.value(session.as_str().to_owned(), Type::TEXT);
    conditions.value(operation.id.as_str().to_owned(), Type::TEXT);
    conditions.value(operation.at, Type::TIMESTAMPTZ);
    conditions
}

/// Returns the statement that moves the matching records to the trash.
///
/// It also runs `update` on the session and logs the operation.
fn removal_statement(kind: &str, conditions: &mut SqlConditions, update: &str) -> String {
    let meant = conditions.text.clone();
    let kind = conditions.value(kind.to_owned(), Type::TEXT);
    format!(
        "WITH gone AS (DELETE FROM memory_records WHERE session = $1{meant} RETURNING {COLUMNS}),
         kept AS (INSERT INTO memory_records_trash (session, taken_by, {COLUMNS}) SELECT $1, $2, {COLUMNS} FROM gone),
         own AS ({update})
         INSERT INTO memory_operations (operation, root, at, kind, session, taken, remaining, takes, is_whole)
         SELECT $2, $2, $3, {kind}, $1, (SELECT count(*) FROM gone), own.records, true, {kind} = 'delete' FROM own
         RETURNING taken, remaining"
    )
}

fn parse_purged(row: &Row) -> Result<PurgeResult, tokio_postgres::Error> {
    let count = |at: usize| {
        row.try_get::<_, i64>(at)
            .map(|count| usize::try_from(count).unwrap_or_default())
    };
    Ok(PurgeResult {
        purged: count(0)?,
        kept: count(1)?,
    })
}
