//! Appends operations to the shared log of memories.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, Datelike, Utc};
use memory_core::{Operation, OperationId, Recorded, RecordedChange, RecordedFile, StoreError};
use tokio::join;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::access::{PrincipalToken, begin};
use super::conditions::{SqlParameter, split_nanos};
use super::connections::end_transaction;
use super::error::DatabaseError;
use crate::shared_log::{LogHeads, NewFile, NewOperation, decode_memory};

/// Maximum number of rows in a statement, and of bytes in their contents.
const BATCH: (usize, usize) = (1_000, 8 << 20);

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
    let mut batches = batches(operation);
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
    let former = FormerColumns::new(operation);
    let values: [SqlParameter; 17] = [
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
        (&former.numbers, Type::INT4_ARRAY),
        (&former.scopes, Type::TEXT_ARRAY),
        (&former.ids, Type::TEXT_ARRAY),
        (&former.paths, Type::TEXT_ARRAY),
        (&former.hashes, Type::BYTEA_ARRAY),
        (&former.trash, Type::TEXT_ARRAY),
        (&notifier, Type::INT8),
    ];
    let appended = client.query_typed_one(APPEND, &values).await?;
    match appended.try_get(1)? {
        Some(true) => Err(conflict_error(
            former.paths.first().copied().unwrap_or_default(),
        )),
        Some(false) | None => Ok(appended.try_get(0)?),
    }
}

/// The columns of the previous versions to move to the trash.
#[derive(Default)]
struct FormerColumns<'a> {
    numbers: Vec<i32>,
    scopes: Vec<&'a str>,
    ids: Vec<String>,
    paths: Vec<&'a str>,
    hashes: Vec<&'a [u8]>,
    trash: Vec<&'a str>,
}

impl<'a> FormerColumns<'a> {
    fn new(operation: &'a NewOperation) -> Self {
        let mut columns = Self::default();
        for (number, (change, file)) in operation.changes().enumerate() {
            let (Some(former), Some(scope)) = (&change.before, &file.former_key) else {
                continue;
            };
            columns.numbers.push(row_number(number));
            columns.scopes.push(scope);
            columns.ids.push(change.id.to_string());
            columns.paths.push(&former.path);
            columns.hashes.push(former.hash.as_bytes());
            columns
                .trash
                .push(former.trash.as_deref().unwrap_or_default());
        }
        columns
    }
}

/// Returns ranges of the changes, each of which fits into a statement.
fn batches(operation: &NewOperation) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (number, file) in operation.files.iter().enumerate() {
        bytes += file.content.as_ref().map_or(0, Vec::len);
        if BATCH.0 <= number + 1 - start || BATCH.1 <= bytes {
            batches.push(start..number + 1);
            (start, bytes) = (number + 1, 0);
        }
    }
    if start < operation.files.len() {
        batches.push(start..operation.files.len());
    }
    batches
}

/// The columns of changes, and of their new documents.
#[derive(Default)]
struct ChangeColumns<'a> {
    numbers: Vec<i32>,
    ids: Vec<String>,
    former_scopes: Vec<Option<&'a str>>,
    former_paths: Vec<Option<&'a str>>,
    former_hashes: Vec<Option<&'a [u8]>>,
    former_trash: Vec<Option<&'a str>>,
    scopes: Vec<Option<&'a str>>,
    paths: Vec<Option<&'a str>>,
    hashes: Vec<Option<&'a [u8]>>,
    reasons: Vec<Option<String>>,
    contents: Vec<Option<&'a [u8]>>,
    categories: Vec<Option<&'a str>>,
    phases: Vec<Option<&'a str>>,
    tags: Vec<Option<String>>,
    created: Vec<Option<DateTime<Utc>>>,
    updated: Vec<Option<DateTime<Utc>>>,
    expires: Vec<Option<DateTime<Utc>>>,
    sources: Vec<Option<String>>,
}

impl<'a> ChangeColumns<'a> {
    fn push(&mut self, number: usize, change: &'a RecordedChange, file: &'a NewFile) {
        let hash = |file: &'a RecordedFile| file.hash.as_bytes().as_slice();
        let before = change.before.as_ref();
        self.numbers.push(row_number(number));
        self.ids.push(change.id.to_string());
        self.former_scopes.push(file.former_key.as_deref());
        self.former_paths
            .push(before.map(|file| file.path.as_str()));
        self.former_hashes.push(before.map(hash));
        self.former_trash
            .push(before.and_then(|file| file.trash.as_deref()));
        self.reasons.push(change.why.as_deref().map(without_nul));
        let content = file.content.as_deref();
        let after = change.after.as_ref().filter(|_| content.is_some());
        let memory = after
            .zip(content)
            .map(|(after, content)| decode_memory(&after.path, content));
        let memory = memory.as_ref();
        self.scopes.push(file.key.as_deref());
        self.paths.push(after.map(|file| file.path.as_str()));
        self.hashes.push(after.map(hash));
        self.contents.push(content);
        self.categories
            .push(memory.map(|memory| memory.category.as_str()));
        self.phases.push(memory.map(|memory| memory.phase.as_str()));
        self.tags.push(memory.map(|memory| {
            let tags: Vec<_> = memory.tags.iter().map(String::as_str).collect();
            without_nul(&tags.join("\u{1f}"))
        }));
        self.created
            .push(storable(memory.map(|memory| memory.created_at)));
        self.updated
            .push(storable(memory.map(|memory| memory.updated_at)));
        self.expires
            .push(storable(memory.and_then(|memory| memory.expires_at)));
        self.sources
            .push(memory.map(|memory| without_nul(&memory.source)));
    }
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
    let mut columns = ChangeColumns::default();
    for (number, (change, file)) in operation
        .changes()
        .enumerate()
        .take(batch.end)
        .skip(batch.start)
    {
        columns.push(number, change, file);
    }
    let undoes = operation.record.undoes.as_ref().map(OperationId::as_str);
    let values: [SqlParameter; 23] = [
        (&scopes, Type::TEXT_ARRAY),
        (&position, Type::INT8),
        (&operation.record.operation.id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (&undoes, Type::TEXT),
        (&columns.numbers, Type::INT4_ARRAY),
        (&columns.ids, Type::TEXT_ARRAY),
        (&columns.former_scopes, Type::TEXT_ARRAY),
        (&columns.former_paths, Type::TEXT_ARRAY),
        (&columns.former_hashes, Type::BYTEA_ARRAY),
        (&columns.former_trash, Type::TEXT_ARRAY),
        (&columns.scopes, Type::TEXT_ARRAY),
        (&columns.paths, Type::TEXT_ARRAY),
        (&columns.hashes, Type::BYTEA_ARRAY),
        (&columns.reasons, Type::TEXT_ARRAY),
        (&columns.contents, Type::BYTEA_ARRAY),
        (&columns.categories, Type::TEXT_ARRAY),
        (&columns.phases, Type::TEXT_ARRAY),
        (&columns.tags, Type::TEXT_ARRAY),
        (&columns.created, Type::TIMESTAMPTZ_ARRAY),
        (&columns.updated, Type::TIMESTAMPTZ_ARRAY),
        (&columns.expires, Type::TIMESTAMPTZ_ARRAY),
        (&columns.sources, Type::TEXT_ARRAY),
    ];
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
            Err(conflict_error(
                columns
                    .paths
                    .iter()
                    .flatten()
                    .next()
                    .copied()
                    .unwrap_or_default(),
            ))
        }
        Err(error) => Err(error.into()),
    }
}

fn row_number(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Returns a time if databases support it.
fn storable(moment: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    moment.filter(|moment| (1..10_000).contains(&moment.year()))
}

/// Returns a text without the character that databases do not support. The content of the file is stored unchanged.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

fn conflict_error(path: &str) -> DatabaseError {
    DatabaseError::Other(
        StoreError::Conflict {
            what: path.to_owned(),
        }
        .into(),
    )
}

#[cfg(test)]
mod tests {
    use memory_core::Verb;

    #[test]
    fn the_functions_accept_each_verb() {
        let functions = include_str!("migrations/0005_functions.sql");
        for verb in Verb::ALL {
            assert!(
                functions.contains(&format!("'{}'", verb.as_str())),
                "{verb:?}"
            );
        }
    }
}
