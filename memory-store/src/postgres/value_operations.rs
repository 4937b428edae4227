//! Undo of operations on values.

use chrono::{DateTime, Utc};
use memory_core::instance::kv::ValueKey;
use memory_core::instance::{InstanceError, InstanceOperations, InstanceRecord, InstanceRecords};
use memory_core::{ContentHash, Operation, OperationId};
use tokio_postgres::types::Type;

use super::PostgresValues;
use super::conditions::SqlParameter;
use super::connections::run_transaction;
use super::operations::{
    UndoStatus, changed_error, find_undoable, list_operations, month_start, not_found_error,
};
use super::values::{HOLD, TAKEN, conflict_ranges, conflict_reason, first_part};

const LIST_OPERATIONS: &str = "
    SELECT operation, at, kind, key, 1::bigint, undoes, recorded FROM memory_values_trash WHERE is_told";

const KEY_OPERATIONS: &str = "
    SELECT operation, at, kind, key, 1::bigint, undoes, recorded FROM memory_values_trash WHERE is_told AND key = $1
    ORDER BY recorded DESC, operation DESC";

/// Returns the value before the operation `$2`, the hash of the value after it, and the current value.
const FIND_STATES: &str = "
    SELECT former, left_hash, (SELECT value FROM memory_values WHERE key = $1)
    FROM memory_values_trash WHERE key = $1 AND operation = $2";

const LOG_UNDO: &str = "
    INSERT INTO memory_values_trash (key, operation, at, kind, was_there, former, left_hash, is_told, undoes)
    VALUES ($1, $2, $3, 'undo', $4 IS NOT NULL, $4, $5, true, $6)";

const PUT_VALUE: &str = "
    INSERT INTO memory_values (key, value, updated_at) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";

const PURGE_VALUES: &str = "
    WITH gone AS (DELETE FROM memory_values_trash WHERE at < $1 RETURNING is_told, coalesce(octet_length(former), 0) AS bytes)
    SELECT count(*) FILTER (WHERE is_told), coalesce(sum(bytes), 0)::bigint FROM gone";

impl InstanceOperations for PostgresValues {
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
                let of = "SELECT key FROM memory_values_trash WHERE operation = $1 AND is_told";
                let row = client
                    .query_typed_opt(of, &[(&id, Type::TEXT)])
                    .await?
                    .ok_or_else(|| not_found_error(undone))?;
                let key: ValueKey = row.try_get::<_, String>(0)?.parse()?;
                let path = key.as_str();
                client
                    .execute_typed(HOLD, &[(&first_part(&key), Type::TEXT)])
                    .await?;
                let (record, is_done) = find_undoable(
                    &client
                        .query_typed(KEY_OPERATIONS, &[(&path, Type::TEXT)])
                        .await?,
                    undone,
                    operation,
                )?;
                if is_done == UndoStatus::Already {
                    return Ok(record);
                }
                let (outer, inner, behind) = conflict_ranges(path);
                let near: [SqlParameter; 3] = [
                    (&outer, Type::TEXT_ARRAY),
                    (&inner, Type::TEXT),
                    (&behind, Type::TEXT),
                ];
                if let Some(other) = client.query_typed_opt(TAKEN, &near).await? {
                    return Err(changed_error(
                        undone,
                        conflict_reason(path, other.try_get(0)?),
                    ));
                }
                let states = client
                    .query_typed_one(FIND_STATES, &[(&path, Type::TEXT), (&id, Type::TEXT)])
                    .await?;
                let state = |at: usize| states.try_get::<_, Option<&[u8]>>(at);
                let (former, left, now) = (state(0)?, state(1)?, state(2)?);
                let hash = |value: Option<&[u8]>| {
                    value.map(|value| ContentHash::from_bytes(value).as_bytes().to_vec())
                };
                if hash(now).as_deref() != left {
                    return Err(changed_error(
                        undone,
                        format!("the key {key} was changed afterwards"),
                    ));
                }
                let leaves = hash(former);
                let note: [SqlParameter; 6] = [
                    (&path, Type::TEXT),
                    (&by, Type::TEXT),
                    (&operation.at, Type::TIMESTAMPTZ),
                    (&now, Type::BYTEA),
                    (&leaves, Type::BYTEA),
                    (&id, Type::TEXT),
                ];
                client.execute_typed(LOG_UNDO, &note).await?;
                match former {
                    Some(former) => {
                        let put: [SqlParameter; 3] = [
                            (&path, Type::TEXT),
                            (&former, Type::BYTEA),
                            (&operation.at, Type::TIMESTAMPTZ),
                        ];
                        client.execute_typed(PUT_VALUE, &put).await?
                    }
                    None => {
                        client
                            .execute_typed(
                                "DELETE FROM memory_values WHERE key = $1",
                                &[(&path, Type::TEXT)],
                            )
                            .await?
                    }
                };
                Ok(record)
            })
            .await
        })
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        let month = month_start(before);
        self.database().run(async |client| {
            let row = client
                .query_typed_one(PURGE_VALUES, &[(&month, Type::TIMESTAMPTZ)])
                .await?;
            let count = |at: usize| {
                row.try_get::<_, i64>(at)
                    .map(|count| u64::try_from(count).unwrap_or_default())
            };
            Ok((count(0)?, count(1)?))
        })
    }
}
