//! Shared files in a Postgres database.
//!
//! A file is a row with its size, and one part for each append, so the cost of an append does not depend on the size of the file.

use std::ops::Range;

use memory_core::instance::InstanceError;
use memory_core::{ContentHash, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::access::{TokenPrincipal, run_as};
use super::conditions::SqlParameter;
use super::document_log::PostgresDocumentLog;
use super::error::DatabaseError;
use crate::disk::{FileEdit, NewFileContent};
use crate::shared_files::{FileCommitResult, SharedFile, SharedFilePage, SharedFiles, SharedFolderId};
use crate::shared_log::{LogIdentity, SharedLog};

/// Maximum number of files that are fetched at once.
const FILES_PER_PAGE: i64 = 200;

/// Maximum number of rows in a statement, and of bytes in their contents.
const BATCH: (usize, usize) = (1_000, 8 << 20);

/// Returns the files after a position, with those parts of each that are new since then, and the position of the folder at the same time.
/// Without files, there is one row without a path.
const LIST_FILES: &str = "
    SELECT own.path, own.position, own.written, own.is_there, part.start_at, part.content,
        (SELECT position FROM memory_folders WHERE scope = $1 AND folder = $2) AS head
    FROM (SELECT 1) AS one
    LEFT JOIN (
        SELECT path, position, written, is_there FROM memory_files
        WHERE scope = $1 AND folder = $2 AND (position, path) > ($4, $5) ORDER BY position, path LIMIT $6
    ) AS own ON true
    LEFT JOIN memory_file_parts AS part
        ON part.scope = $1 AND part.folder = $2 AND part.path = own.path AND part.position > $3
    ORDER BY own.position, own.path, part.start_at";

/// Locks the head of a folder, and returns its position and whether one of the last commits is this one.
const LOCK_HEAD: &str = "
    INSERT INTO memory_folders AS own (scope, folder, position, tokens) VALUES ($1, $2, 0, ARRAY[]::bigint[])
    ON CONFLICT (scope, folder) DO UPDATE SET position = own.position RETURNING position, $3 = ANY (tokens)";

const ADVANCE_HEAD: &str =
    "UPDATE memory_folders SET position = $3, tokens = ($4 || tokens)[1:256] WHERE scope = $1 AND folder = $2";

const DELETE_PARTS: &str = "DELETE FROM memory_file_parts WHERE scope = $1 AND folder = $2 AND path = ANY($3)";

const PUT_FILES: &str = "
    INSERT INTO memory_files AS own (scope, folder, path, position, written, is_there, size, hash)
    SELECT $1, $2, path, $3, $3, is_there, size, hash FROM unnest($4, $5, $6, $7) AS new(path, is_there, size, hash)
    ON CONFLICT (scope, folder, path) DO UPDATE SET position = excluded.position, written = excluded.written,
        is_there = excluded.is_there, size = excluded.size, hash = excluded.hash";

const EXTEND_FILES: &str = "
    UPDATE memory_files AS own SET position = $3, size = new.start_at + new.length, hash = NULL
    FROM unnest($4, $5, $6) AS new(path, start_at, length)
    WHERE own.scope = $1 AND own.folder = $2 AND own.path = new.path AND own.is_there AND own.size = new.start_at";

const INSERT_PARTS: &str = "
    INSERT INTO memory_file_parts (scope, folder, path, start_at, position, content)
    SELECT $1, $2, path, start_at, $3, content FROM unnest($4, $5, $6) AS new(path, start_at, content)";

impl SharedFiles for PostgresDocumentLog {
    fn identity(&self) -> Result<String, StoreError> {
        let LogIdentity { id, principal } = SharedLog::identity(self)?;
        Ok(principal.map_or(id.clone(), |principal| format!("{id}/{principal}")))
    }

    fn changes_after(
        &self,
        folder: &SharedFolderId,
        known: i64,
        last: Option<&SharedFile>,
    ) -> Result<SharedFilePage, StoreError> {
        let (position, path) = last.map_or((known + 1, ""), |last| (last.position, last.edit.path.as_str()));
        self.run(&async |client| {
            run_as(client, self.token(), async |principal| {
                let scope = scope_of(folder, principal);
                let values: [SqlParameter; 6] = [
                    (&scope, Type::TEXT),
                    (&folder.name, Type::TEXT),
                    (&known, Type::INT8),
                    (&position, Type::INT8),
                    (&path, Type::TEXT),
                    (&FILES_PER_PAGE, Type::INT8),
                ];
                let rows = client.query_typed(LIST_FILES, &values).await?;
                let head: Option<i64> = rows.first().map(|row| row.try_get(6)).transpose()?.flatten();
                Ok(SharedFilePage { position: head.unwrap_or(0), files: parse_files(&rows, known)? })
            })
            .await
        })
    }

    fn commit(
        &self,
        folder: &SharedFolderId,
        known: i64,
        token: i64,
        edits: &[FileEdit],
    ) -> Result<FileCommitResult, StoreError> {
        self.run(&async |client| {
            let done = run_as(client, self.token(), async |principal| {
                commit(client, &scope_of(folder, principal), &folder.name, known, token, edits).await
            });
            match done.await {
                Err(DatabaseError::Other(InstanceError::Store(error))) if matches!(*error, StoreError::Conflict { .. }) => {
                    Ok(FileCommitResult::Diverged)
                }
                done => done,
            }
        })
    }
}

/// Returns the scope of a folder on a node. The folders of a principal are private, except those of projects that it was granted.
fn scope_of(folder: &SharedFolderId, principal: Option<&TokenPrincipal>) -> String {
    let is_shared = |principal: &TokenPrincipal| folder.scope != "global" && principal.scopes.contains(&folder.scope);
    match principal {
        Some(principal) if !is_shared(principal) => format!("private:{}", principal.name),
        _ => folder.scope.clone(),
    }
}

/// Parses rows of [`LIST_FILES`], which has a row for each part.
fn parse_files(rows: &[Row], known: i64) -> Result<Vec<SharedFile>, DatabaseError> {
    let mut files: Vec<SharedFile> = Vec::new();
    for row in rows {
        let Some(path) = row.try_get::<_, Option<&str>>(0)? else { continue };
        let (position, written, is_there): (i64, i64, bool) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        let (start, part): (Option<i64>, Option<&[u8]>) = (row.try_get(4)?, row.try_get(5)?);
        let part = part.unwrap_or_default();
        if let Some(SharedFile { edit, .. }) = files.last_mut().filter(|last| last.edit.path == path) {
            match &mut edit.content {
                NewFileContent::Whole(bytes) | NewFileContent::Appended { bytes, .. } => bytes.extend_from_slice(part),
                NewFileContent::Removed => {}
            }
            continue;
        }
        let content = match (is_there, known < written) {
            (false, _) => NewFileContent::Removed,
            (true, true) => NewFileContent::Whole(part.to_vec()),
            (true, false) => {
                let start = start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
                NewFileContent::Appended { start, bytes: part.to_vec() }
            }
        };
        files.push(SharedFile { position, edit: FileEdit { path: path.to_owned(), content } });
    }
    Ok(files)
}

async fn commit(
    client: &Client,
    scope: &str,
    folder: &str,
    known: i64,
    token: i64,
    edits: &[FileEdit],
) -> Result<FileCommitResult, DatabaseError> {
    let key: [SqlParameter; 2] = [(&scope, Type::TEXT), (&folder, Type::TEXT)];
    let head = client.query_typed_one(LOCK_HEAD, &joined(&key, &[(&token, Type::INT8)])).await?;
    let (position, is_repeated): (i64, bool) = (head.try_get(0)?, head.try_get(1)?);
    if is_repeated {
        return Ok(FileCommitResult::Repeated);
    }
    if position != known {
        return Ok(FileCommitResult::Behind);
    }
    let next = position + 1;
    client.execute_typed(ADVANCE_HEAD, &joined(&key, &[(&next, Type::INT8), (&token, Type::INT8)])).await?;
    put_files(client, &key, next, edits).await?;
    if !extend_files(client, &key, next, edits).await? {
        return Err(DatabaseError::Other(StoreError::Conflict { what: folder.to_owned() }.into()));
    }
    for batch in batches(edits) {
        insert_parts(client, &key, next, &edits[batch]).await?;
    }
    Ok(FileCommitResult::Committed(next))
}

/// Writes the rows of new, replaced and deleted files, and deletes their parts.
async fn put_files(client: &Client, key: &[SqlParameter<'_>; 2], position: i64, edits: &[FileEdit]) -> Result<(), DatabaseError> {
    for edits in edits.chunks(BATCH.0) {
        let (mut paths, mut present, mut sizes, mut hashes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for FileEdit { path, content } in edits {
            let bytes = match content {
                NewFileContent::Removed => None,
                NewFileContent::Whole(bytes) => Some(bytes),
                NewFileContent::Appended { .. } => continue,
            };
            paths.push(path.as_str());
            present.push(bytes.is_some());
            sizes.push(signed(bytes.map_or(0, |bytes| bytes.len() as u64)));
            hashes.push(bytes.map(|bytes| ContentHash::from_bytes(bytes).as_bytes().to_vec()));
        }
        if paths.is_empty() {
            continue;
        }
        client.execute_typed(DELETE_PARTS, &joined(key, &[(&paths, Type::TEXT_ARRAY)])).await?;
        let columns: [SqlParameter; 5] = [
            (&position, Type::INT8),
            (&paths, Type::TEXT_ARRAY),
            (&present, Type::BOOL_ARRAY),
            (&sizes, Type::INT8_ARRAY),
            (&hashes, Type::BYTEA_ARRAY),
        ];
        client.execute_typed(PUT_FILES, &joined(key, &columns)).await?;
    }
    Ok(())
}

/// Records the new size of the files with appended bytes; returns `false` if one of them has an unexpected size.
async fn extend_files(
    client: &Client,
    key: &[SqlParameter<'_>; 2],
    position: i64,
    edits: &[FileEdit],
) -> Result<bool, DatabaseError> {
    let (mut paths, mut starts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for FileEdit { path, content } in edits {
        if let NewFileContent::Appended { start, bytes } = content {
            paths.push(path.as_str());
            starts.push(signed(*start));
            lengths.push(signed(bytes.len() as u64));
        }
    }
    if paths.is_empty() {
        return Ok(true);
    }
    let columns: [SqlParameter; 4] =
        [(&position, Type::INT8), (&paths, Type::TEXT_ARRAY), (&starts, Type::INT8_ARRAY), (&lengths, Type::INT8_ARRAY)];
    let changed = client.execute_typed(EXTEND_FILES, &joined(key, &columns)).await?;
    Ok(changed == paths.len() as u64)
}

async fn insert_parts(
    client: &Client,
    key: &[SqlParameter<'_>; 2],
    position: i64,
    edits: &[FileEdit],
) -> Result<(), DatabaseError> {
    let (mut paths, mut starts, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    for FileEdit { path, content } in edits {
        let (start, bytes) = match content {
            NewFileContent::Removed => continue,
            NewFileContent::Whole(bytes) => (0, bytes),
            NewFileContent::Appended { start, bytes } => (*start, bytes),
        };
        paths.push(path.as_str());
        starts.push(signed(start));
        contents.push(bytes.as_slice());
    }
    if paths.is_empty() {
        return Ok(());
    }
    let columns: [SqlParameter; 4] =
        [(&position, Type::INT8), (&paths, Type::TEXT_ARRAY), (&starts, Type::INT8_ARRAY), (&contents, Type::BYTEA_ARRAY)];
    client.execute_typed(INSERT_PARTS, &joined(key, &columns)).await?;
    Ok(())
}

/// Returns ranges of the changes, each of which fits into a statement.
fn batches(edits: &[FileEdit]) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (number, FileEdit { content, .. }) in edits.iter().enumerate() {
        bytes += match content {
            NewFileContent::Removed => 0,
            NewFileContent::Whole(bytes) | NewFileContent::Appended { bytes, .. } => bytes.len(),
        };
        if BATCH.0 <= number + 1 - start || BATCH.1 <= bytes || number + 1 == edits.len() {
            batches.push(start..number + 1);
            (start, bytes) = (number + 1, 0);
        }
    }
    batches
}

fn joined<'a>(key: &[SqlParameter<'a>], more: &[SqlParameter<'a>]) -> Vec<SqlParameter<'a>> {
    [key, more].concat()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
