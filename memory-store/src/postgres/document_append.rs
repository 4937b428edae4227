//! Appends operations to the shared log of memories.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, Datelike, Utc};
use memory_core::{
    Memory, Operation, OperationId, Recorded, RecordedChange, RecordedFile, StoreError,
};
use tokio::join;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

use super::access::{PrincipalToken, begin};
use super::conditions::{SqlParameter, batches, split_nanos};
use super::connections::end_transaction;
use super::error::DatabaseError;
use crate::shared_log::{LogHeads, NewOperation, OperationFile, decode_memory};

const APPEND: &str = "
    SELECT new_position, is_conflict
    FROM memory_node_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

const APPEND_CHANGES: &str = "
    SELECT memory_node_append_changes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
        $23)";

/// Appends an operation in one transaction, and returns its position; `None` if the head of one of its scopes is not the known one.
///
/// The transaction contains a notification from the node with the number `notifier`, if there is one.
///
/// # Errors
/// [`StoreError::Conflict`] if a document is not in the expected state, or another one has its path or its id.
pub(super) async fn append(
    client: &Client,
    token: Option<&PrincipalToken>,
    known: &LogHeads,
    operation: &NewOperation,
    notifier: Option<i64>,
) -> Result<Option<i64>, DatabaseError> {
    let scopes = operation.scopes();
    let sizes = operation.files.iter();
    let mut batches = batches(sizes.map(|file| file.content.as_ref().map_or(0, Vec::len)));
    let last = batches.pop();
    let begun = async {
        let append = append_operation(client, operation, &scopes, known, notifier);
        let position = if token.is_some() {
            let principal = begin(client, token).await?;
            principal.map_or(Ok(()), |principal| principal.check_scopes(&scopes))?;
            append.await?
        } else {
            // Each statement is sent when its future is first polled, so they arrive in this order.
            let (begun, position) = join!(biased; begin(client, None), append);
            begun?;
            position?
        };
        let Some(position) = position else {
            return Ok(None);
        };
        for batch in batches {
            append_changes(client, operation, &scopes, position, batch).await?;
        }
        Ok(Some(position))
    };
    let position = match begun.await {
        Ok(Some(position)) => position,
        obstacle => {
            return end_transaction(client, obstacle).await;
        }
    };
    // If the changes fail, the COMMIT rolls back.
    let last_changes = async {
        match last {
            Some(batch) => append_changes(client, operation, &scopes, position, batch).await,
            None => Ok(()),
        }
    };
    let (appended, committed) = join!(biased; last_changes, client.batch_execute("COMMIT"));
    appended?;
    committed?;
    Ok(Some(position))
}

/// Appends the operation, of its changes only the previous versions, and returns its position; `None` if the head of one of its scopes is not the known one.
async fn append_operation(
    client: &Client,
    operation: &NewOperation,
    scopes: &BTreeSet<String>,
    known: &LogHeads,
    notifier: Option<i64>,
) -> Result<Option<i64>, DatabaseError> {
    let scopes: Vec<_> = scopes.iter().collect();
    let (positions, tokens): (Vec<_>, Vec<_>) = scopes
        .iter()
        .map(|scope| known.get(scope))
        .map(|head| (head.position, head.token))
        .unzip();
    // The operation may depend on each operation that its node has, such as the deletion of a file with the same path.
    let last = known
        .iter()
        .map(|(_, head)| head.position)
        .max()
        .unwrap_or(0);
    let Recorded {
        operation: Operation { id, verb, by, at },
        ..
    } = &operation.record;
    let (at, nanos) = split_nanos(*at);
    let has_former = |(_, (change, file)): &(usize, (&RecordedChange, &OperationFile))| {
        change.before.is_some() && file.former_key.is_some()
    };
    let former = operation.changes().enumerate().filter(has_former);
    let former: Vec<_> = former.map(AppendRow::new).collect();
    let mut columns = Columns::new(&former);
    columns.add(Type::INT4_ARRAY, |row| row.number);
    columns.add(Type::TEXT_ARRAY, |row| row.file.former_key.as_deref());
    columns.add(Type::TEXT_ARRAY, |row| row.change.id.to_string());
    columns.add(Type::TEXT_ARRAY, |row| row.before().map(|file| &file.path));
    columns.add(Type::BYTEA_ARRAY, |row| row.before().map(hash));
    columns.add(Type::TEXT_ARRAY, |row| row.trash().unwrap_or_default());
    let first: [SqlParameter; 10] = [
        (&scopes, Type::TEXT_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&tokens, Type::INT8_ARRAY),
        (&last, Type::INT8),
        (&id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (&verb.as_str(), Type::TEXT),
        (by, Type::TEXT),
        (&at, Type::TIMESTAMPTZ),
        (&nanos, Type::INT2),
    ];
    let notification: SqlParameter = (&notifier, Type::INT8);
    let values: Vec<_> = first
        .into_iter()
        .chain(columns.values())
        .chain([notification])
        .collect();
    let appended = client.query_typed_one(APPEND, &values).await?;
    match appended.try_get(1)? {
        Some(true) => {
            let first = former.first().and_then(AppendRow::before);
            Err(conflict_error(first))
        }
        Some(false) | None => Ok(appended.try_get(0)?),
    }
}

/// The columns of a statement with many rows.
struct Columns<'a, R> {
    rows: &'a [R],
    values: Vec<(Box<dyn ToSql + Sync + 'a>, Type)>,
}

impl<'a, R> Columns<'a, R> {
    fn new(rows: &'a [R]) -> Self {
        let values = Vec::new();
        Self { rows, values }
    }

    fn add<T: ToSql + Sync + 'a>(&mut self, kind: Type, value: impl Fn(&'a R) -> T) {
        let column: Vec<T> = self.rows.iter().map(value).collect();
        self.values.push((Box::new(column), kind));
    }

    fn values(&self) -> impl Iterator<Item = SqlParameter<'_>> {
        let values = self.values.iter();
        values.map(|(value, kind)| (value.as_ref() as _, kind.clone()))
    }
}

/// A change of an operation.
struct AppendRow<'a> {
    number: i32,
    change: &'a RecordedChange,
    file: &'a OperationFile,
}

impl<'a> AppendRow<'a> {
    fn new((number, (change, file)): (usize, (&'a RecordedChange, &'a OperationFile))) -> Self {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        Self {
            number,
            change,
            file,
        }
    }

    fn before(&self) -> Option<&'a RecordedFile> {
        self.change.before.as_ref()
    }

    fn trash(&self) -> Option<&'a str> {
        self.before()?.trash.as_deref()
    }

    /// Returns the new file, if there is one.
    fn after(&self) -> Option<&'a RecordedFile> {
        let after = self.change.after.as_ref();
        after.filter(|_| self.file.content.is_some())
    }

    fn content(&self) -> Option<&'a [u8]> {
        self.file.content.as_deref()
    }
}

fn hash(file: &RecordedFile) -> &[u8] {
    file.hash.as_bytes()
}

/// Appends changes, and inserts their new documents.
async fn append_changes(
    client: &Client,
    operation: &NewOperation,
    scopes: &BTreeSet<String>,
    position: i64,
    batch: Range<usize>,
) -> Result<(), DatabaseError> {
    let scopes: Vec<_> = scopes.iter().collect();
    let rows = operation.changes().enumerate().take(batch.end);
    let rows: Vec<_> = rows.skip(batch.start).map(AppendRow::new).collect();
    let memories = rows.iter().map(|row| {
        let after = row.after()?;
        Some(decode_memory(&after.path, row.content()?))
    });
    let memories: Vec<Option<Memory>> = memories.collect();
    let undoes = operation.record.undoes.as_ref().map(OperationId::as_str);
    let mut columns = Columns::new(&rows);
    columns.add(Type::INT4_ARRAY, |row| row.number);
    columns.add(Type::TEXT_ARRAY, |row| row.change.id.to_string());
    columns.add(Type::TEXT_ARRAY, |row| row.file.former_key.as_deref());
    columns.add(Type::TEXT_ARRAY, |row| row.before().map(|file| &file.path));
    columns.add(Type::BYTEA_ARRAY, |row| row.before().map(hash));
    columns.add(Type::TEXT_ARRAY, AppendRow::trash);
    columns.add(Type::TEXT_ARRAY, |row| row.file.key.as_deref());
    columns.add(Type::TEXT_ARRAY, |row| row.after().map(|file| &file.path));
    columns.add(Type::BYTEA_ARRAY, |row| row.after().map(hash));
    columns.add(Type::TEXT_ARRAY, |row| {
        Some(without_nul(row.change.why.as_ref()?))
    });
    columns.add(Type::BYTEA_ARRAY, AppendRow::content);
    let mut fields = Columns::new(&memories);
    fields.add(Type::TEXT_ARRAY, |memory| {
        Some(memory.as_ref()?.category.as_str())
    });
    fields.add(Type::TEXT_ARRAY, |memory| {
        Some(memory.as_ref()?.phase.as_str())
    });
    fields.add(Type::TEXT_ARRAY, |memory| {
        Some(joined_tags(memory.as_ref()?))
    });
    fields.add(Type::TIMESTAMPTZ_ARRAY, |memory| {
        storable(memory.as_ref()?.created_at)
    });
    fields.add(Type::TIMESTAMPTZ_ARRAY, |memory| {
        storable(memory.as_ref()?.updated_at)
    });
    fields.add(Type::TIMESTAMPTZ_ARRAY, |memory| {
        storable(memory.as_ref()?.expires_at?)
    });
    fields.add(Type::TEXT_ARRAY, |memory| {
        Some(without_nul(&memory.as_ref()?.source))
    });
    let first: [SqlParameter; 5] = [
        (&scopes, Type::TEXT_ARRAY),
        (&position, Type::INT8),
        (&operation.record.operation.id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (&undoes, Type::TEXT),
    ];
    let columns = columns.values().chain(fields.values());
    let values: Vec<_> = first.into_iter().chain(columns).collect();
    let unique = [
        "memory_documents_path",
        "memory_documents_pkey",
        "memory_documents_id",
    ];
    match client.execute_typed(APPEND_CHANGES, &values).await {
        Ok(_) => Ok(()),
        Err(error)
            if unique
                .iter()
                .any(|name| DatabaseError::is_duplicate(&error, name)) =>
        {
            Err(conflict_error(rows.iter().find_map(AppendRow::after)))
        }
        Err(error) => Err(error.into()),
    }
}

fn joined_tags(memory: &Memory) -> String {
    let tags: Vec<_> = memory.tags.iter().map(String::as_str).collect();
    without_nul(&tags.join("\u{1f}"))
}

/// Returns a time if databases support it.
fn storable(moment: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (1..10_000).contains(&moment.year()).then_some(moment)
}

/// Returns a text without the character that databases do not support. The content of the file is stored unchanged.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

fn conflict_error(file: Option<&RecordedFile>) -> DatabaseError {
    let what = file.map(|file| file.path.clone()).unwrap_or_default();
    DatabaseError::Other(StoreError::Conflict { what }.into())
}

#[cfg(test)]
mod tests {
    use memory_core::Verb;

    #[test]
    fn the_functions_accept_each_verb() {
        let functions = include_str!("migrations/functions.sql");
        for verb in Verb::ALL {
            assert!(
                functions.contains(&format!("'{}'", verb.as_str())),
                "{verb:?}"
            );
        }
    }
}
