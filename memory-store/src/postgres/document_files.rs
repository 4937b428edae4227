//! Shared files in a Postgres database.
//!
//! A file is a row with its size, and one part for each append, so the cost of an append does not depend on the size of the file.

use std::sync::Arc;

use memory_core::StoreError;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::Database;
use super::access::TokenPrincipal;
use super::conditions::{SqlParameter, batches};
use super::document_log::PostgresDocumentLog;
use super::error::DatabaseError;
use crate::disk::{FileEdit, NewFileContent};
use crate::shared_log::{FileCommitResult, SharedFile, SharedFilePage, SharedFolderId};

/// Maximum number of files that are fetched at once.
const FILES_PER_PAGE: i64 = 200;

const LIST_FILES: &str = "
    SELECT file_path, file_position, file_written, is_file, part_start, part_content, head
    FROM memory_node_files($1, $2, $3, $4, $5, $6)";

const LIST_FOLDERS: &str = "SELECT folder_scope, folder_name FROM memory_node_folders()";

const COMMIT_FILES: &str =
    "SELECT new_position, is_repeated FROM memory_node_commit_files($1, $2, $3, $4, $5)";

const PUT_FILES: &str = "SELECT memory_node_put_files($1, $2, $3, $4, $5, $6)";

/// Returns the folders of files in a database that the node may read.
///
/// # Errors
/// If the database cannot be reached.
pub fn list_shared_folders(database: Arc<Database>) -> Result<Vec<SharedFolderId>, StoreError> {
    let files = PostgresDocumentLog::new(database);
    files.run_as(async |client, _| {
        let rows = client.query_typed(LIST_FOLDERS, &[]).await?;
        rows.iter()
            .map(|row| {
                Ok(SharedFolderId {
                    scope: row.try_get(0)?,
                    name: row.try_get(1)?,
                })
            })
            .collect()
    })
}

/// Returns the scope of a folder on a node. The folders of a principal are private, except those of projects that it was granted.
pub(super) fn scope_of(folder: &SharedFolderId, principal: Option<&TokenPrincipal>) -> String {
    let is_shared = |principal: &TokenPrincipal| {
        folder.scope != "global" && principal.scopes.contains(&folder.scope)
    };
    match principal {
        Some(principal) if !is_shared(principal) => format!("private:{}", principal.name),
        _ => folder.scope.clone(),
    }
}

/// Returns a page of the files that changed after the position `known`, after the file `last` of the previous page.
pub(super) async fn list(
    client: &Client,
    scope: &str,
    folder: &str,
    known: i64,
    last: Option<&SharedFile>,
) -> Result<SharedFilePage, DatabaseError> {
    let (position, path) = last.map_or((known + 1, ""), |last| {
        (last.position, last.edit.path.as_str())
    });
    let values: [SqlParameter; 6] = [
        (&scope, Type::TEXT),
        (&folder, Type::TEXT),
        (&known, Type::INT8),
        (&position, Type::INT8),
        (&path, Type::TEXT),
        (&FILES_PER_PAGE, Type::INT8),
    ];
    let rows = client.query_typed(LIST_FILES, &values).await?;
    let head: Option<i64> = match rows.first() {
        Some(row) => row.try_get(6)?,
        None => None,
    };
    Ok(SharedFilePage {
        position: head.unwrap_or(0),
        files: parse_files(&rows, known)?,
    })
}

/// Parses rows of [`LIST_FILES`], which has a row for each part, and one row without a path if there are no files.
fn parse_files(rows: &[Row], known: i64) -> Result<Vec<SharedFile>, DatabaseError> {
    let mut files: Vec<SharedFile> = Vec::new();
    for row in rows {
        let Some(path) = row.try_get::<_, Option<&str>>(0)? else {
            continue;
        };
        let (position, written, is_there): (i64, i64, bool) =
            (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        let (start, part): (Option<i64>, Option<&[u8]>) = (row.try_get(4)?, row.try_get(5)?);
        let part = part.unwrap_or_default();
        if let Some(SharedFile { edit, .. }) =
            files.last_mut().filter(|last| last.edit.path == path)
        {
            match &mut edit.content {
                NewFileContent::Whole(bytes) | NewFileContent::Appended { bytes, .. } => {
                    bytes.extend_from_slice(part);
                }
                NewFileContent::Removed => {}
            }
            continue;
        }
        let content = match (is_there, known < written) {
            (false, _) => NewFileContent::Removed,
            (true, true) => NewFileContent::Whole(part.to_vec()),
            (true, false) => {
                let start = start
                    .and_then(|start| u64::try_from(start).ok())
                    .unwrap_or(0);
                NewFileContent::Appended {
                    start,
                    bytes: part.to_vec(),
                }
            }
        };
        files.push(SharedFile {
            position,
            edit: FileEdit {
                path: path.to_owned(),
                content,
            },
        });
    }
    Ok(files)
}

/// Commits changes to the files at a known position, with the token of the changes and the number of the node for its notification.
pub(super) async fn commit(
    client: &Client,
    scope: &str,
    folder: &str,
    (known, token, notifier): (i64, i64, Option<i64>),
    edits: &[FileEdit],
) -> Result<FileCommitResult, DatabaseError> {
    let values: [SqlParameter; 5] = [
        (&scope, Type::TEXT),
        (&folder, Type::TEXT),
        (&known, Type::INT8),
        (&token, Type::INT8),
        (&notifier, Type::INT8),
    ];
    let begun = client.query_typed_one(COMMIT_FILES, &values).await?;
    let (position, is_repeated): (Option<i64>, bool) = (begun.try_get(0)?, begun.try_get(1)?);
    let Some(position) = position else {
        return Ok(if is_repeated {
            FileCommitResult::Repeated
        } else {
            FileCommitResult::Behind
        });
    };
    let sizes = edits.iter().map(|edit| match &edit.content {
        NewFileContent::Removed => 0,
        NewFileContent::Whole(bytes) | NewFileContent::Appended { bytes, .. } => bytes.len(),
    });
    for batch in batches(sizes) {
        if !put_files(client, scope, folder, position, &edits[batch]).await? {
            return Err(DatabaseError::Other(
                StoreError::Conflict {
                    what: folder.to_owned(),
                }
                .into(),
            ));
        }
    }
    Ok(FileCommitResult::Committed(position))
}

/// Changes files; returns `false` if one of those to append to has an unexpected size.
async fn put_files(
    client: &Client,
    scope: &str,
    folder: &str,
    position: i64,
    edits: &[FileEdit],
) -> Result<bool, DatabaseError> {
    let (mut paths, mut starts, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    for FileEdit { path, content } in edits {
        let (start, bytes) = match content {
            NewFileContent::Removed => (None, None),
            NewFileContent::Whole(bytes) => (None, Some(bytes.as_slice())),
            NewFileContent::Appended { start, bytes } => {
                (Some(signed(*start)), Some(bytes.as_slice()))
            }
        };
        paths.push(path.as_str());
        starts.push(start);
        contents.push(bytes);
    }
    let values: [SqlParameter; 6] = [
        (&scope, Type::TEXT),
        (&folder, Type::TEXT),
        (&position, Type::INT8),
        (&paths, Type::TEXT_ARRAY),
        (&starts, Type::INT8_ARRAY),
        (&contents, Type::BYTEA_ARRAY),
    ];
    Ok(client
        .query_typed_one(PUT_FILES, &values)
        .await?
        .try_get(0)?)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
