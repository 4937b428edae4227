//! Checks the files and the index for defects.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use memory_core::{Code, HomeSection, MemoryId, Problem, StoreError};
use rusqlite::Connection;

use super::error::IndexError;
use super::filter::ACCEPTED;
use super::flush;
use super::memory_index::{MemoryIndex, OpenIndex};
use super::refresh::{ScanDepth, find_differences};
use super::row::PROPOSAL;
use super::schema::{IndexMeta, row_count, row_id};
use super::update::claimants;
use crate::disk::{DirEntryKind, now_ns, parent_folder};
use crate::memory_file::load;

/// A difference between the index and the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexDefect {
    /// The path of the file, or of a part of the index.
    pub(crate) path: String,
    /// A sentence that describes the difference.
    pub(crate) what: &'static str,
}

/// The numbers of memories by kind, and sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IndexStatistics {
    /// Number of all memories.
    pub(crate) documents: u64,
    /// Number of parts of conversations, which the counts by kind exclude.
    pub(crate) entries: u64,
    /// Number of proposals, which the counts by kind exclude.
    pub(crate) proposals: u64,
    /// Number of memories by phase.
    pub(crate) phases: BTreeMap<String, u64>,
    /// Number of memories by category.
    pub(crate) categories: BTreeMap<String, u64>,
    /// Number of memories by scope.
    pub(crate) scopes: BTreeMap<String, u64>,
    /// Number of memories by source, in lower case; the key is empty for memories without a source.
    pub(crate) sources: BTreeMap<String, u64>,
    /// Number of pending rows.
    pub(crate) pending: u64,
    /// Total size of the files of memories, in bytes.
    pub(crate) bytes: u64,
    /// Size of the index, in bytes.
    pub(crate) index_bytes: u64,
}

impl MemoryIndex {
    /// Returns the number of documents.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn count(&self) -> Result<u64, StoreError> {
        self.query("count the memories", |_, opened| {
            Ok(IndexMeta::read(&opened.connection)?.documents)
        })
    }

    /// Returns the differences between the index and the files, without a repair. Reads every file.
    ///
    /// # Errors
    /// If the folders cannot be listed, or the index cannot be read.
    pub(crate) fn check(&self) -> Result<Vec<IndexDefect>, StoreError> {
        self.query("check the index", |index, opened| {
            let snapshot = opened.connection.unchecked_transaction()?;
            let found = find_differences(index, &snapshot, ScanDepth::Signatures, now_ns())?;
            let mut wrong = Vec::new();
            let mut report = |path: &str, what| {
                wrong.push(IndexDefect {
                    path: path.to_owned(),
                    what,
                });
            };
            found
                .gone
                .iter()
                .for_each(|path| report(path, "the index contains a file that no longer exists"));
            found.refused.iter().for_each(|(path, _)| {
                report(
                    path,
                    "the index does not record that the file is unreadable",
                );
            });
            let known = indexed_hashes(&snapshot)?;
            snapshot.finish()?;
            for path in &found.read {
                let is_new = !known.contains_key(path)
                    && load(index.disk.as_ref(), path).is_ok_and(|loaded| loaded.is_some());
                if is_new {
                    report(path, "the index does not contain the file");
                }
            }
            for (path, stamp) in &known {
                if let Ok(Some(loaded)) = load(index.disk.as_ref(), path)
                    && loaded.stored.stamp.0.as_bytes() != stamp
                {
                    report(path, "the index contains an outdated version of the file");
                }
            }
            let meta = IndexMeta::read(&opened.connection)?;
            let sound: String =
                opened
                    .connection
                    .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
            if sound != "ok" || meta.documents != known.len() as u64 {
                report("index/documents.db", "the tables are damaged");
            }
            if let Some(what) = check_text(opened, &meta)? {
                report("index/text", what);
            }
            Ok(wrong)
        })
    }

    /// Returns the problems of files.
    ///
    /// These are damaged and unreadable files, and files that name the id of another file.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn problems(&self) -> Result<Vec<Problem>, StoreError> {
        let (paths, twins) = self.query("list damaged files", |_, opened| {
            let sql = "SELECT path FROM documents INDEXED BY damaged WHERE damaged = 1 UNION ALL SELECT path FROM unreadable";
            let mut paths = opened.connection.prepare_cached(sql)?;
            let paths = paths.query_map((), |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            Ok((paths, duplicate_ids(&opened.connection)?))
        })?;
        let mut problems: Vec<Problem> =
            paths.iter().filter_map(|path| self.problem(path)).collect();
        problems.extend(twins);
        problems.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(problems)
    }

    /// Returns the files that cannot be read, with the reasons.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn unreadable_files(&self) -> Result<Vec<Problem>, StoreError> {
        let paths = self.query("list unreadable files", |_, opened| {
            let mut paths = opened
                .connection
                .prepare_cached("SELECT path FROM unreadable ORDER BY path")?;
            Ok(paths
                .query_map((), |row| row.get::<_, String>(0))?
                .collect::<Result<Vec<_>, _>>()?)
        })?;
        Ok(paths.iter().filter_map(|path| self.problem(path)).collect())
    }

    /// Returns the numbers of memories by kind, and sizes.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn statistics(&self) -> Result<IndexStatistics, StoreError> {
        self.query("count memories", |_, opened| {
            let connection = &opened.connection;
            let count = |column: &str| -> Result<BTreeMap<String, u64>, IndexError> {
                let sql = format!("SELECT {column}, count(*) FROM documents WHERE place = ? AND {ACCEPTED} GROUP BY {column}");
                let mut select = connection.prepare(&sql)?;
                Ok(select
                    .query_map((HomeSection::Notes.as_str(),), |row| Ok((row.get(0)?, row_count(row, 1)?)))?
                    .collect::<Result<_, _>>()?)
            };
            let bytes = "SELECT coalesce(sum(size), 0) FROM documents";
            let entries = "SELECT count(*) FROM documents WHERE place = ?";
            let entries = connection.query_row(entries, (HomeSection::Conversations.as_str(),), |row| row_count(row, 0))?;
            let proposals = "SELECT count(*) FROM documents WHERE phase = ?";
            let proposals = connection.query_row(proposals, (PROPOSAL,), |row| row_count(row, 0))?;
            Ok(IndexStatistics {
                proposals,
                documents: IndexMeta::read(connection)?.documents,
                entries,
                phases: count("phase")?,
                categories: count("category")?,
                scopes: count("scope")?,
                sources: count("source")?,
                pending: flush::count(connection)?,
                bytes: connection.query_row(bytes, (), |row| row_count(row, 0))?,
                index_bytes: folder_bytes(&opened.place),
            })
        })
    }

    /// Returns the current problem of a file, if it has one.
    fn problem(&self, path: &str) -> Option<Problem> {
        let problem = |what: String, hint| Problem {
            code: Code::FileDamaged,
            path: path.to_owned(),
            line: None,
            what,
            hint,
        };
        let kind = self
            .disk
            .list_folder(parent_folder(path))
            .ok()
            .and_then(|entries| {
                let entry = entries.into_iter().find(|entry| {
                    path.strip_suffix(entry.name.as_str())
                        .is_some_and(|head| head.ends_with('/'))
                });
                entry.map(|entry| entry.kind)
            })?;
        if kind == DirEntryKind::Other {
            let hint = Some("use a regular file in the home, not a symlink, with a UTF-8 name");
            return Some(problem(
                "the file is a symlink or not a regular file".into(),
                hint,
            ));
        }
        match load(self.disk.as_ref(), path) {
            Ok(loaded) => loaded?.stored.problem,
            Err(StoreError::Damaged(problem)) => Some(problem),
            Err(error) => {
                let why = std::error::Error::source(&error)
                    .map_or_else(String::new, |source| format!(": {source}"));
                Some(problem(format!("the file cannot be read{why}"), None))
            }
        }
    }
}

fn check_text(
    opened: &mut OpenIndex,
    meta: &IndexMeta,
) -> Result<Option<&'static str>, IndexError> {
    let sql = "SELECT count(*) FROM pending WHERE removed = 0";
    let waiting = opened
        .connection
        .query_row(sql, (), |row| row_count(row, 0))?;
    let pending: u64 = flush::count(&opened.connection)?;
    let (_, text, _) = opened.text(meta.epoch)?;
    if text.generation()? < meta.generation {
        return Ok(Some("the full-text index is older than the tables"));
    }
    // Pending rows may be in the full text already.
    let counted = text.count()?;
    let is_plausible =
        meta.documents.saturating_sub(waiting) <= counted && counted <= meta.documents + pending;
    Ok(if is_plausible {
        None
    } else {
        Some("the full-text index does not contain every document")
    })
}

fn indexed_hashes(connection: &Connection) -> Result<BTreeMap<String, [u8; 32]>, IndexError> {
    let mut select = connection.prepare("SELECT path, stamp FROM documents")?;
    Ok(select
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

/// Returns a problem for each file that names the id of another file.
fn duplicate_ids(connection: &Connection) -> Result<Vec<Problem>, IndexError> {
    let mut select =
        connection.prepare("SELECT path, claimed FROM documents WHERE id IS NOT claimed")?;
    let twins = select.query_map((), |row| {
        Ok((row.get::<_, String>(0)?, MemoryId::from(row_id(row, 1)?)))
    })?;
    let mut problems = Vec::new();
    for twin in twins {
        let (path, claimed) = twin?;
        let other = claimants(connection, &claimed)?
            .into_iter()
            .map(|(_, path)| path)
            .find(|other| *other != path);
        let what = format!(
            "its id {claimed} is a duplicate of the id of {}",
            other.unwrap_or_default()
        );
        let hint = Some("remove its `id:` line, or delete the file if it is a copy");
        problems.push(Problem {
            code: Code::FileDamaged,
            path,
            line: None,
            what,
            hint,
        });
    }
    Ok(problems)
}

/// Returns the total size of the files below a folder, in bytes.
fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let size_of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size_of).sum()
}
