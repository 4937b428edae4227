//! Undo of operations on sessions.

use chrono::{DateTime, Utc};
use memory_core::instance::{InstanceError, InstanceOperations, InstanceRecord, InstanceRecords};
use memory_core::{Operation, OperationId};
use tokio_postgres::types::Type;

use super::PostgresMessages;
use super::conditions::SqlParameter;
use super::connections::run_transaction;
use super::messages::{COLUMNS, HOLD};
use super::operations::{
    UndoStatus, changed_error, find_undoable, list_operations, month_start, not_found_error,
};

const LIST_OPERATIONS: &str = "
    SELECT operation, at, kind, session, taken, undoes, recorded FROM memory_operations WHERE (kind <> 'purge' OR 0 < taken)";

const SESSION_OPERATIONS: &str = "
    SELECT operation, at, kind, session, taken, undoes, recorded FROM memory_operations WHERE session = $1
    ORDER BY recorded DESC, operation DESC";

/// Moves the records under `$3` in the trash of the session `$1` back to the session.
///
/// `$2` is the operation that undoes a removal.
const RESTORE_RECORDS: &str = "
    WITH back AS (DELETE FROM memory_records_trash WHERE session = $1 AND taken_by = $3 RETURNING {COLUMNS}),
    placed AS (INSERT INTO memory_records (session, back_from, {COLUMNS}) SELECT $1, $3, {COLUMNS} FROM back),
    own AS (
        UPDATE memory_sessions SET records = records + (SELECT count(*) FROM back), is_there = true WHERE session = $1
        RETURNING records
    )";

/// Moves the records that were restored from `$3` back to the trash of the session `$1`.
///
/// `$2` is the operation that undoes a restoration.
const TRASH_RECORDS: &str = "
    WITH back AS (DELETE FROM memory_records WHERE session = $1 AND back_from = $3 RETURNING {COLUMNS}),
    placed AS (INSERT INTO memory_records_trash (session, taken_by, {COLUMNS}) SELECT $1, $3, {COLUMNS} FROM back),
    own AS (
        UPDATE memory_sessions SET records = records - (SELECT count(*) FROM back),
            is_there = NOT $5 OR (SELECT count(*) FROM back) < records
        WHERE session = $1 RETURNING records
    )";

const LOG_UNDO: &str = "
    INSERT INTO memory_operations (operation, root, at, kind, session, taken, remaining, undoes, takes, is_whole)
    SELECT $2, $3, $4, 'undo', $1, (SELECT count(*) FROM back), own.records, $6, $7, $5 FROM own RETURNING taken";

const PURGE_OPERATIONS: &str = "DELETE FROM memory_operations WHERE at < $1";

const PURGE_RECORDS: &str = "
    WITH gone AS (
        DELETE FROM memory_records_trash own
        WHERE NOT EXISTS (SELECT FROM memory_operations WHERE root = own.taken_by) RETURNING octet_length(text) AS bytes
    ) SELECT coalesce(sum(bytes), 0)::bigint FROM gone";

impl InstanceOperations for PostgresMessages {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        list_operations(self.database(), LIST_OPERATIONS)
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError> {
        let (id, by) = (undone.as_str(), operation.id.as_str());
        self.database().run(async |client| {
            run_transaction(client, async || {
                let of = "SELECT session, root, takes, is_whole FROM memory_operations WHERE operation = $1";
                let row = client.query_typed_opt(of, &[(&id, Type::TEXT)]).await?.ok_or_else(|| not_found_error(undone))?;
                let (session, root): (String, String) = (row.try_get(0)?, row.try_get(1)?);
                let (takes, is_whole): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
                let name: [SqlParameter; 1] = [(&session, Type::TEXT)];
                client.execute_typed(HOLD, &name).await?;
                let (record, is_done) = find_undoable(&client.query_typed(SESSION_OPERATIONS, &name).await?, undone, operation)?;
                if is_done == UndoStatus::Already {
                    return Ok(record);
                }
                let statement =
                    [if takes { RESTORE_RECORDS } else { TRASH_RECORDS }, LOG_UNDO].concat().replace("{COLUMNS}", COLUMNS);
                let now_takes = !takes;
                let values: [SqlParameter; 7] = [
                    (&session, Type::TEXT),
                    (&by, Type::TEXT),
                    (&root, Type::TEXT),
                    (&operation.at, Type::TIMESTAMPTZ),
                    (&is_whole, Type::BOOL),
                    (&id, Type::TEXT),
                    (&now_takes, Type::BOOL),
                ];
                let moved = client.query_typed_one(&statement, &values).await?.try_get::<_, i64>(0)?;
                if usize::try_from(moved) == Ok(record.subject.count) {
                    Ok(record)
                } else {
                    Err(changed_error(undone, format!("the session {session} was changed afterwards")))
                }
            })
            .await
        })
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        let month = month_start(before);
        self.database().run(async |client| {
            run_transaction(client, async || {
                let operations = client
                    .execute_typed(PURGE_OPERATIONS, &[(&month, Type::TIMESTAMPTZ)])
                    .await?;
                let bytes = client
                    .query_typed_one(PURGE_RECORDS, &[])
                    .await?
                    .try_get::<_, i64>(0)?;
                Ok((operations, u64::try_from(bytes).unwrap_or_default()))
            })
            .await
        })
    }
}
