//! Appends operations to the shared log of memories.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, Datelike, Utc};
use memory_core::{MemoryId, Operation, OperationId, Recorded, RecordedChange, RecordedFile, StoreError};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::access::{PrincipalToken, run_as};
use super::conditions::{SqlParameter, split_nanos};
use super::error::DatabaseError;
use super::listener::CHANNEL;
use crate::shared_log::{LogAppendResult, LogHead, LogHeads, NewDocument, NewDocumentFile, NewOperation};

/// Maximum number of rows in a statement, and of bytes in their contents.
const BATCH: (usize, usize) = (1_000, 8 << 20);

/// Locks the heads of scopes in their order, and returns them.
const LOCK_HEADS: &str = "
    INSERT INTO memory_document_heads AS own (scope, position, token) SELECT scope, 0, 0 FROM unnest($1) AS wanted(scope)
    ON CONFLICT (scope) DO UPDATE SET position = own.position RETURNING scope, position, token";

const ADVANCE_HEADS: &str = "UPDATE memory_document_heads SET position = $2, token = $3 WHERE scope = ANY($1)";

/// Advances heads, and notifies the other nodes when the transaction is committed.
const ADVANCE_HEADS_AND_NOTIFY: &str = "
    WITH advanced AS (UPDATE memory_document_heads SET position = $2, token = $3 WHERE scope = ANY($1)) SELECT pg_notify($4, $5)";

const INSERT_OPERATION: &str = "
    INSERT INTO memory_document_operations (scope, position, operation, token, verb, actor, at, at_nanos, undoes)
    SELECT scope, $2, $3, $4, $5, $6, $7, $8, $9 FROM unnest($1) AS wanted(scope)";

/// Moves documents to the trash if they are in the expected state.
const MOVE_TO_TRASH: &str = "
    WITH gone AS (
        DELETE FROM memory_documents AS own USING unnest($1, $2, $3, $4, $5, $6) AS former(nth, scope, id, path, hash, trash)
        WHERE own.scope = former.scope AND own.id = former.id AND own.path = former.path AND own.hash = former.hash
        RETURNING own.*, former.nth, former.trash
    )
    INSERT INTO memory_documents_trash (scope, operation, token, nth, at, trash, id, path, hash, category, phase, tags,
        created_at, updated_at, expires_at, source, content)
    SELECT scope, $7, $8, nth, $9, trash, id, path, hash, category, phase, tags, created_at, updated_at, expires_at, source,
        content FROM gone";

/// Inserts documents. The tags of a document are one text, separated by a control character.
const INSERT_DOCUMENTS: &str = "
    INSERT INTO memory_documents (scope, id, path, hash, category, phase, tags, created_at, updated_at, expires_at, source, content)
    SELECT scope, id, path, hash, category, phase, string_to_array(tags, chr(31)), created_at, updated_at, expires_at, source, content
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS
        new(scope, id, path, hash, category, phase, tags, created_at, updated_at, expires_at, source, content)";

const INSERT_CHANGES: &str = "
    INSERT INTO memory_document_changes (scope, position, nth, operation, token, id, former_path, former_hash, trash,
        path, hash, why, content)
    SELECT scope, $1, nth, $2, $3, id, former_path, former_hash, trash, path, hash, why, content
    FROM unnest($4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS
        new(scope, nth, id, former_path, former_hash, trash, path, hash, why, content)";

/// Appends an operation in one transaction, with a notification from the node with the number `notifier`, if there is one.
///
/// # Errors
/// [`StoreError::Conflict`] if a document is not in the expected state, or another one has its path or its id.
pub(super) async fn append(
    client: &Client,
    token: Option<&PrincipalToken>,
    known: &LogHeads,
    operation: &NewOperation<'_>,
    notifier: Option<i64>,
) -> Result<LogAppendResult, DatabaseError> {
    let scopes = operation.scopes();
    run_as(client, token, async |principal| {
        principal.map_or(Ok(()), |principal| principal.check_scopes(&scopes))?;
        if is_behind(client, &scopes, known).await? {
            return Ok(LogAppendResult::Behind);
        }
        // The operation may depend on each operation that its node has, such as the deletion of a file with the same path.
        let position = known.iter().map(|(_, head)| head.position).max().unwrap_or(0) + 1;
        advance_heads(client, &scopes, LogHead { position, token: operation.token }, notifier).await?;
        insert_operation(client, operation, &scopes, position).await?;
        move_to_trash(client, operation).await?;
        for batch in batches(operation) {
            insert_documents(client, operation, batch.clone()).await?;
            insert_changes(client, operation, &scopes, position, batch).await?;
        }
        Ok(LogAppendResult::Appended(position))
    })
    .await
}

/// Locks the heads of `scopes`, and returns whether one of them differs from `heads`.
async fn is_behind(client: &Client, scopes: &BTreeSet<String>, heads: &LogHeads) -> Result<bool, DatabaseError> {
    // A set is sorted, so all transactions lock in the same order.
    let wanted: Vec<_> = scopes.iter().collect();
    for row in client.query_typed(LOCK_HEADS, &[(&wanted, Type::TEXT_ARRAY)]).await? {
        if (LogHead { position: row.try_get(1)?, token: row.try_get(2)? }) != heads.get(row.try_get(0)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn advance_heads(
    client: &Client,
    scopes: &BTreeSet<String>,
    head: LogHead,
    notifier: Option<i64>,
) -> Result<(), DatabaseError> {
    let scopes: Vec<_> = scopes.iter().collect();
    let sender = notifier.map(|number| number.to_string());
    let values: [SqlParameter; 5] = [
        (&scopes, Type::TEXT_ARRAY),
        (&head.position, Type::INT8),
        (&head.token, Type::INT8),
        (&CHANNEL, Type::TEXT),
        (&sender, Type::TEXT),
    ];
    if sender.is_some() {
        client.execute_typed(ADVANCE_HEADS_AND_NOTIFY, &values).await?;
    } else {
        client.execute_typed(ADVANCE_HEADS, &values[..3]).await?;
    }
    Ok(())
}

async fn insert_operation(
    client: &Client,
    operation: &NewOperation<'_>,
    scopes: &BTreeSet<String>,
    position: i64,
) -> Result<(), DatabaseError> {
    let scopes: Vec<_> = scopes.iter().collect();
    let Recorded { operation: Operation { id, verb, by, at }, undoes, .. } = operation.record;
    let (at, nanos) = split_nanos(*at);
    let undoes = undoes.as_ref().map(OperationId::as_str);
    let values: [SqlParameter; 9] = [
        (&scopes, Type::TEXT_ARRAY),
        (&position, Type::INT8),
        (&id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (&verb.as_str(), Type::TEXT),
        (by, Type::TEXT),
        (&at, Type::TIMESTAMPTZ),
        (&nanos, Type::INT2),
        (&undoes, Type::TEXT),
    ];
    client.execute_typed(INSERT_OPERATION, &values).await?;
    Ok(())
}

async fn move_to_trash(client: &Client, operation: &NewOperation<'_>) -> Result<(), DatabaseError> {
    let (mut numbers, mut scopes, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let (mut paths, mut hashes, mut trash) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (change, file)) in changes(operation).enumerate() {
        let (Some(former), Some(scope)) = (&change.before, &file.former_key) else { continue };
        numbers.push(row_number(number));
        scopes.push(scope.as_str());
        ids.push(change.id.to_string());
        paths.push(former.path.as_str());
        hashes.push(former.hash.as_bytes().as_slice());
        trash.push(former.trash.as_deref().unwrap_or_default());
    }
    if numbers.is_empty() {
        return Ok(());
    }
    let Operation { id, at, .. } = &operation.record.operation;
    let values: [SqlParameter; 9] = [
        (&numbers, Type::INT4_ARRAY),
        (&scopes, Type::TEXT_ARRAY),
        (&ids, Type::TEXT_ARRAY),
        (&paths, Type::TEXT_ARRAY),
        (&hashes, Type::BYTEA_ARRAY),
        (&trash, Type::TEXT_ARRAY),
        (&id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (at, Type::TIMESTAMPTZ),
    ];
    if client.execute_typed(MOVE_TO_TRASH, &values).await? == numbers.len() as u64 {
        return Ok(());
    }
    Err(conflict_error(paths.first().copied().unwrap_or_default()))
}

/// Returns ranges of the changes, each of which fits into a statement.
fn batches(operation: &NewOperation<'_>) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (number, file) in operation.files.iter().enumerate() {
        bytes += file.document.as_ref().map_or(0, |next| next.bytes.len());
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

/// The columns of documents to insert.
#[derive(Default)]
struct DocumentColumns<'a> {
    scopes: Vec<&'a str>,
    ids: Vec<String>,
    paths: Vec<&'a str>,
    hashes: Vec<&'a [u8]>,
    categories: Vec<&'a str>,
    phases: Vec<&'a str>,
    tags: Vec<String>,
    created: Vec<Option<DateTime<Utc>>>,
    updated: Vec<Option<DateTime<Utc>>>,
    expires: Vec<Option<DateTime<Utc>>>,
    sources: Vec<String>,
    contents: Vec<&'a [u8]>,
}

impl<'a> DocumentColumns<'a> {
    fn push(&mut self, id: &MemoryId, after: &'a RecordedFile, document: &'a NewDocument<'_>) {
        let memory = &document.memory;
        let tags: Vec<_> = memory.tags.iter().map(String::as_str).collect();
        self.scopes.push(&document.key);
        self.ids.push(id.to_string());
        self.paths.push(&after.path);
        self.hashes.push(after.hash.as_bytes());
        self.categories.push(memory.category.as_str());
        self.phases.push(memory.phase.as_str());
        self.tags.push(without_nul(&tags.join("\u{1f}")));
        self.created.push(storable(Some(memory.created_at)));
        self.updated.push(storable(Some(memory.updated_at)));
        self.expires.push(storable(memory.expires_at));
        self.sources.push(without_nul(&memory.source));
        self.contents.push(document.bytes);
    }
}

async fn insert_documents(client: &Client, operation: &NewOperation<'_>, batch: Range<usize>) -> Result<(), DatabaseError> {
    let mut columns = DocumentColumns::default();
    for (change, file) in changes(operation).take(batch.end).skip(batch.start) {
        if let (Some(after), Some(document)) = (&change.after, &file.document) {
            columns.push(&change.id, after, document);
        }
    }
    if columns.ids.is_empty() {
        return Ok(());
    }
    let values: [SqlParameter; 12] = [
        (&columns.scopes, Type::TEXT_ARRAY),
        (&columns.ids, Type::TEXT_ARRAY),
        (&columns.paths, Type::TEXT_ARRAY),
        (&columns.hashes, Type::BYTEA_ARRAY),
        (&columns.categories, Type::TEXT_ARRAY),
        (&columns.phases, Type::TEXT_ARRAY),
        (&columns.tags, Type::TEXT_ARRAY),
        (&columns.created, Type::TIMESTAMPTZ_ARRAY),
        (&columns.updated, Type::TIMESTAMPTZ_ARRAY),
        (&columns.expires, Type::TIMESTAMPTZ_ARRAY),
        (&columns.sources, Type::TEXT_ARRAY),
        (&columns.contents, Type::BYTEA_ARRAY),
    ];
    let unique = ["memory_documents_path", "memory_documents_pkey"];
    match client.execute_typed(INSERT_DOCUMENTS, &values).await {
        Ok(_) => Ok(()),
        Err(error) if unique.iter().any(|name| DatabaseError::is_duplicate(&error, name)) => {
            Err(conflict_error(columns.paths.first().copied().unwrap_or_default()))
        }
        Err(error) => Err(error.into()),
    }
}

async fn insert_changes(
    client: &Client,
    operation: &NewOperation<'_>,
    scopes: &BTreeSet<String>,
    position: i64,
    batch: Range<usize>,
) -> Result<(), DatabaseError> {
    let rows: Vec<_> =
        changes(operation).enumerate().take(batch.end).skip(batch.start).flat_map(|row| change_rows(row, scopes)).collect();
    let own_scopes: Vec<_> = rows.iter().map(|row| row.scope).collect();
    let numbers: Vec<_> = rows.iter().map(|row| row_number(row.number)).collect();
    let ids: Vec<_> = rows.iter().map(|row| row.change.id.to_string()).collect();
    let former: Vec<_> = rows.iter().map(|row| row.before).collect();
    let next: Vec<_> = rows.iter().map(|row| row.after.map(|(after, _)| after)).collect();
    let (former_paths, former_hashes) = paths_and_hashes(&former);
    let (paths, hashes) = paths_and_hashes(&next);
    let trash: Vec<_> = former.iter().map(|file| file.and_then(|file| file.trash.as_deref())).collect();
    let reasons: Vec<_> = rows.iter().map(|row| row.change.why.as_deref().map(without_nul)).collect();
    let contents: Vec<_> = rows.iter().map(|row| row.after.map(|(_, bytes)| bytes)).collect();
    let values: [SqlParameter; 13] = [
        (&position, Type::INT8),
        (&operation.record.operation.id.as_str(), Type::TEXT),
        (&operation.token, Type::INT8),
        (&own_scopes, Type::TEXT_ARRAY),
        (&numbers, Type::INT4_ARRAY),
        (&ids, Type::TEXT_ARRAY),
        (&former_paths, Type::TEXT_ARRAY),
        (&former_hashes, Type::BYTEA_ARRAY),
        (&trash, Type::TEXT_ARRAY),
        (&paths, Type::TEXT_ARRAY),
        (&hashes, Type::BYTEA_ARRAY),
        (&reasons, Type::TEXT_ARRAY),
        (&contents, Type::BYTEA_ARRAY),
    ];
    client.execute_typed(INSERT_CHANGES, &values).await?;
    Ok(())
}

/// A row of a change.
struct LoggedChangeRow<'a> {
    scope: &'a str,
    number: usize,
    change: &'a RecordedChange,
    before: Option<&'a RecordedFile>,
    after: Option<(&'a RecordedFile, &'a [u8])>,
}

/// Returns the row of a change, or its two halves if it leads from one scope into another.
fn change_rows<'a>(
    (number, (change, file)): (usize, (&'a RecordedChange, &'a NewDocumentFile<'a>)),
    scopes: &'a BTreeSet<String>,
) -> Vec<LoggedChangeRow<'a>> {
    let row = |scope, before, after| LoggedChangeRow { scope, number, change, before, after };
    let before = change.before.as_ref();
    let after = change.after.as_ref().zip(file.document.as_ref().map(|next| next.bytes));
    match (file.former_key.as_deref(), file.document.as_ref().map(|next| next.key.as_str())) {
        (Some(former), Some(next)) if former != next => vec![row(former, before, None), row(next, None, after)],
        (_, Some(own)) | (Some(own), None) => vec![row(own, before, after)],
        // Nothing was changed, so any of the scopes is as good.
        (None, None) => scopes.first().map(|own| row(own, before, after)).into_iter().collect(),
    }
}

fn changes<'a>(operation: &'a NewOperation<'_>) -> impl Iterator<Item = (&'a RecordedChange, &'a NewDocumentFile<'a>)> {
    operation.record.subject.changes.iter().zip(&operation.files)
}

fn row_number(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Returns the columns of files.
fn paths_and_hashes<'a>(files: &[Option<&'a RecordedFile>]) -> (Vec<Option<&'a str>>, Vec<Option<&'a [u8]>>) {
    files.iter().map(|file| (file.map(|file| file.path.as_str()), file.map(|file| file.hash.as_bytes().as_slice()))).unzip()
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
    DatabaseError::Other(StoreError::Conflict { what: path.to_owned() }.into())
}
