//! Values in a Postgres database.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_core::instance::InstanceError;
use memory_core::instance::kv::{KeyPrefix, KeySummary, KeyValueStore, StoredValue, ValueKey};
use memory_core::secret::Checked;
use memory_core::{ContentHash, Operation};
use tokio_postgres::types::Type;

use super::conditions::SqlParameter;
use super::error::DatabaseError;
use super::operations::conflict_error;
use super::{Database, database};

/// Locks the row of the first part of a key.
///
/// Keys that may conflict have the same first part, so the next statement sees the changes of all earlier holders of
/// the lock.
pub(super) const HOLD: &str = "INSERT INTO memory_roots (root) VALUES ($1) ON CONFLICT (root) DO UPDATE SET root = excluded.root";

/// Finds a key that conflicts with another one.
///
/// `$1` are the namespaces of the key, and the keys from `$2` to before `$3` are those below it.
pub(super) const TAKEN: &str =
    "SELECT key FROM memory_values WHERE key = ANY($1) OR ($2 <= key AND key < $3) LIMIT 1";

/// Sets a value, unless its key conflicts with another one.
///
/// `$5` are the namespaces of the key, and the keys from `$6` to before `$7` are those below it.
const SET_VALUE: &str = "
    WITH taken AS (
        SELECT key FROM memory_values WHERE key = ANY($5) OR ($6 <= key AND key < $7) LIMIT 1
    ), former AS (
        SELECT value, value <> $4 AS differs FROM memory_values WHERE key = $1
    ), refused AS (
        SELECT WHERE $9 AND (SELECT value FROM former) IS DISTINCT FROM $10
            AND NOT EXISTS (SELECT FROM memory_values_trash WHERE key = $1 AND operation = $2 AND at = $3 AND kind = 'set')
    ), kept AS (
        INSERT INTO memory_values_trash (key, operation, at, kind, was_there, former, left_hash, is_told)
        SELECT $1, $2, $3, 'set', EXISTS (SELECT FROM former), (SELECT value FROM former WHERE differs), $8,
            NOT EXISTS (SELECT FROM former WHERE NOT differs)
        WHERE NOT EXISTS (SELECT FROM taken) AND NOT EXISTS (SELECT FROM refused)
    ), placed AS (
        INSERT INTO memory_values (key, value, updated_at)
        SELECT $1, $4, $3 WHERE NOT EXISTS (SELECT FROM taken) AND NOT EXISTS (SELECT FROM refused)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
    )
    SELECT (SELECT key FROM taken), NOT EXISTS (SELECT FROM former), EXISTS (SELECT FROM refused)";

const FIND_SET_RESULT: &str = "SELECT NOT was_there FROM memory_values_trash WHERE key = $1 AND operation = $2 AND at = $3 AND kind = 'set'";

const DELETE_VALUE: &str = "
    WITH before AS (
        SELECT 1 FROM memory_values_trash WHERE key = $1 AND operation = $2 AND at = $3 AND kind = 'delete'
    ), gone AS (
        DELETE FROM memory_values WHERE key = $1 AND NOT EXISTS (SELECT FROM before) RETURNING value
    ), kept AS (
        INSERT INTO memory_values_trash (key, operation, at, kind, was_there, former, is_told)
        SELECT $1, $2, $3, 'delete', true, value, true FROM gone
    )
    SELECT EXISTS (SELECT FROM gone) OR EXISTS (SELECT FROM before)";

const LIST_KEYS: &str = "
    SELECT key, octet_length(value)::bigint, updated_at FROM memory_values
    WHERE $1 <= key AND ($2 IS NULL OR key < $2) ORDER BY key";

/// The store of the values in a Postgres database.
#[derive(Debug, Clone)]
pub struct PostgresValues {
    database: Arc<Database>,
}

impl PostgresValues {
    /// Returns the store of the values in a database.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }
}

/// The condition of a write.
#[derive(Debug, Clone, Copy)]
enum ValueCondition<'e> {
    /// The key has any value or none.
    Any,
    /// The key has this value, or none.
    Is(Option<&'e str>),
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// The key is new.
    New,
    /// The key was set before.
    Replaced,
    /// The condition was not fulfilled.
    Refused,
}

impl Placement {
    const fn of(is_new: bool) -> Self {
        if is_new { Self::New } else { Self::Replaced }
    }
}

impl PostgresValues {
    /// Sets the value of a key if the condition is fulfilled.
    fn place(
        &self,
        key: &ValueKey,
        condition: ValueCondition<'_>,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<Placement, InstanceError> {
        let value = value.into_inner();
        let path = key.as_str();
        let (outer, inner, behind) = conflict_ranges(path);
        let (id, bytes) = (operation.id.as_str(), value.as_bytes());
        let root = first_part(key);
        let root: [SqlParameter; 1] = [(&root, Type::TEXT)];
        let hash = ContentHash::of(value);
        let hash = hash.as_bytes().as_slice();
        let (is_conditional, expected) = match condition {
            ValueCondition::Any => (false, None),
            ValueCondition::Is(expected) => (true, expected.map(str::as_bytes)),
        };
        let values: [SqlParameter; 10] = [
            (&path, Type::TEXT),
            (&id, Type::TEXT),
            (&operation.at, Type::TIMESTAMPTZ),
            (&bytes, Type::BYTEA),
            (&outer, Type::TEXT_ARRAY),
            (&inner, Type::TEXT),
            (&behind, Type::TEXT),
            (&hash, Type::BYTEA),
            (&is_conditional, Type::BOOL),
            (&expected, Type::BYTEA),
        ];
        let (taken, placement) = self.database.run(async |client| {
            let held = client.execute_typed(HOLD, &root);
            match database::run_with_row_lock(
                client,
                held,
                client.query_typed_one(SET_VALUE, &values),
            )
            .await
            {
                Ok(row) => {
                    let is_refused: bool = row.try_get(2)?;
                    let placement = if is_refused {
                        Placement::Refused
                    } else {
                        Placement::of(row.try_get(1)?)
                    };
                    Ok((row.try_get::<_, Option<String>>(0)?, placement))
                }
                // The first attempt may have succeeded, and only its response was lost.
                Err(error) if DatabaseError::is_duplicate(&error, "memory_values_trash_once") => {
                    let before = client
                        .query_typed_opt(FIND_SET_RESULT, &values[..3])
                        .await?
                        .ok_or_else(|| conflict_error(id))?;
                    Ok((None, Placement::of(before.try_get(0)?)))
                }
                Err(error) => Err(error.into()),
            }
        })?;
        match taken {
            None => Ok(placement),
            Some(other) => Err(InstanceError::KeyTaken {
                key: path.to_owned(),
                why: conflict_reason(path, &other),
            }),
        }
    }
}

impl KeyValueStore for PostgresValues {
    fn set(
        &self,
        key: &ValueKey,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        let placement = self.place(key, ValueCondition::Any, value, operation)?;
        Ok(placement == Placement::New)
    }

    fn replace(
        &self,
        key: &ValueKey,
        expected: Option<&str>,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        let placement = self.place(key, ValueCondition::Is(expected), value, operation)?;
        Ok(placement != Placement::Refused)
    }

    fn get(&self, key: &ValueKey) -> Result<Option<StoredValue>, InstanceError> {
        let found = self.database.run(async |client| {
            let question = "SELECT value, updated_at FROM memory_values WHERE key = $1";
            let row = client
                .query_typed_opt(question, &[(&key.as_str(), Type::TEXT)])
                .await?;
            row.map(|row| {
                Ok::<(Vec<u8>, DateTime<Utc>), DatabaseError>((row.try_get(0)?, row.try_get(1)?))
            })
            .transpose()
        })?;
        let Some((bytes, updated_at)) = found else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|error| InstanceError::Damaged {
            place: format!("the value of {key}"),
            what: format!(
                "it is not UTF-8 from byte {} on",
                error.utf8_error().valid_up_to()
            ),
        })?;
        Ok(Some(StoredValue { text, updated_at }))
    }

    fn delete(&self, key: &ValueKey, operation: &Operation) -> Result<bool, InstanceError> {
        let (path, id) = (key.as_str(), operation.id.as_str());
        let root = first_part(key);
        let root: [SqlParameter; 1] = [(&root, Type::TEXT)];
        let values: [SqlParameter; 3] = [
            (&path, Type::TEXT),
            (&id, Type::TEXT),
            (&operation.at, Type::TIMESTAMPTZ),
        ];
        self.database.run(async |client| {
            let held = client.execute_typed(HOLD, &root);
            let row = database::run_with_row_lock(
                client,
                held,
                client.query_typed_one(DELETE_VALUE, &values),
            )
            .await?;
            Ok(row.try_get(0)?)
        })
    }

    fn list(&self, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError> {
        let first = prefix.as_str();
        // Without a prefix, there is no end.
        let end = prefix_end(first);
        let values: [SqlParameter; 2] = [(&first, Type::TEXT), (&end, Type::TEXT)];
        self.database.run(async |client| {
            let mut keys = Vec::new();
            for row in client.query_typed(LIST_KEYS, &values).await? {
                // A row with an invalid key was not written by this program.
                let Ok(key) = row.try_get::<_, String>(0)?.parse() else {
                    continue;
                };
                keys.push(KeySummary {
                    key,
                    size_bytes: u64::try_from(row.try_get::<_, i64>(1)?).unwrap_or_default(),
                    updated_at: row.try_get(2)?,
                });
            }
            Ok(keys)
        })
    }
}

/// Returns the namespaces of a key, and the start and end of the range of the keys below it.
pub(super) fn conflict_ranges(path: &str) -> (Vec<&str>, String, String) {
    let outer = path
        .match_indices('/')
        .map(|(end, _)| &path[..end])
        .collect();
    (outer, format!("{path}/"), format!("{path}0"))
}

/// Returns why a key cannot be set while another one exists.
pub(super) fn conflict_reason(path: &str, other: &str) -> String {
    if path.len() < other.len() {
        format!("keys begin with {path}/")
    } else {
        format!("{other} is a key")
    }
}

/// Returns the part of a key up to its first `/`.
pub(super) fn first_part(key: &ValueKey) -> &str {
    key.as_str().split('/').next().unwrap_or_default()
}

/// Returns the first text after all that start with `prefix`, which consists of characters of keys.
fn prefix_end(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    let last = end.pop()?;
    end.push(char::from_u32(u32::from(last) + 1)?);
    Some(end)
}
