//! Detects changes of the files by other programs.
//!
//! Changes are detected by the times of folders, with a sum over the names and inode numbers in each folder. So a
//! write by this program never lists a folder, and an unchanged folder is never listed. A time that is too recent
//! to distinguish two changes is not used.

use std::collections::{BTreeSet, HashMap};

use memory_core::StoreError;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::error::IndexError;
use super::file_reader::{FileReadResult, read_files};
use super::flush::flush_if_due;
use super::memory_index::{MemoryIndex, OpenIndex};
use super::row::{DocumentRow, is_settled};
use super::scan::{self, CATEGORIES, ENTRIES, FolderSums, ROOTS, ScannedFolder};
use super::schema::{IndexMeta, row_stat, write};
use super::update::{IndexUpdate, claimants};
use crate::disk::{FileStat, check_path, now_ns};

/// Maximum number of documents of a store in which every refresh checks each file.
const SMALL_STORE: u64 = 10_000;

/// Maximum age of the last check of each file in a larger store, in nanoseconds.
const MAX_CHECK_AGE_NS: i64 = 60_000_000_000;

/// Maximum number of files per transaction.
const FILES_PER_TRANSACTION: usize = 2_000;

/// How thoroughly a refresh checks for changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RefreshDepth {
    /// New, moved, replaced and deleted files, which suffices to resolve names.
    Names,
    /// Like `Names`; also files edited in place if each file is due for a check.
    ///
    /// That is always the case in a small store, and otherwise a minute after the last check of each file.
    #[default]
    Usual,
    /// Every file, in every store.
    Fresh,
}

/// The properties of the files in a folder to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanDepth {
    /// Names and inodes.
    Names,
    /// The signature of every file.
    Signatures,
}

/// The differences between the files and the index.
#[derive(Debug, Default)]
pub(super) struct FileDifferences {
    /// Files to read: new, changed, or changed too recently to compare by signature.
    pub(super) read: BTreeSet<String>,
    /// Deleted files.
    pub(super) gone: Vec<String>,
    /// Entries that are not readable files and are not recorded as such.
    pub(super) refused: Vec<(String, FileStat)>,
    /// Folders with recorded sums that do not match their rows.
    wrong_sums: Vec<String>,
    /// The modification times of folders that match the index, in nanoseconds.
    folders: Vec<(String, i64)>,
    /// Deleted folders.
    lost: Vec<String>,
}

impl MemoryIndex {
    /// Updates the index to the files.
    ///
    /// # Errors
    /// If the folders cannot be listed, or the index cannot be read.
    pub(crate) fn refresh(&self, depth: RefreshDepth) -> Result<(), StoreError> {
        if depth == RefreshDepth::Names {
            return self.compare(ScanDepth::Names);
        }
        let look = self.query("find changed files", |_, opened| {
            let meta = IndexMeta::read(&opened.connection)?;
            let age = now_ns().saturating_sub(meta.checked_ns);
            let each = depth == RefreshDepth::Fresh
                || meta.documents <= SMALL_STORE
                || !(0..MAX_CHECK_AGE_NS).contains(&age);
            Ok(if each {
                ScanDepth::Signatures
            } else {
                ScanDepth::Names
            })
        })?;
        self.compare(look)
    }

    /// Updates the index to the files, as far as `look` detects differences.
    pub(super) fn compare(&self, look: ScanDepth) -> Result<(), StoreError> {
        self.query("find changed files", |index, opened| {
            let now = now_ns();
            // One snapshot of the rows, however long the comparison takes.
            let snapshot = opened.connection.unchecked_transaction()?;
            let differences = find_differences(index, &snapshot, look, now)?;
            let is_large = SMALL_STORE < IndexMeta::read(&snapshot)?.documents;
            snapshot.finish()?;
            let folders = differences.folders.clone();
            index.apply_differences(opened, differences)?;
            // A small store never uses the time of the last check.
            if (is_large && look == ScanDepth::Signatures)
                || (look == ScanDepth::Names && !folders.is_empty())
            {
                write(&mut opened.connection, |transaction| {
                    record_verified(transaction, &folders, look, now)
                })?;
            }
            Ok(())
        })
    }

    /// Reads files again, regardless of their signatures.
    pub(super) fn reread(&self, paths: &[String]) -> Result<(), StoreError> {
        self.query("read changed files", |index, opened| {
            let differences = FileDifferences {
                read: paths.iter().cloned().collect(),
                ..FileDifferences::default()
            };
            index.apply_differences(opened, differences)
        })
    }

    fn apply_differences(
        &self,
        opened: &mut OpenIndex,
        differences: FileDifferences,
    ) -> Result<(), IndexError> {
        let FileDifferences {
            read,
            mut gone,
            refused,
            wrong_sums,
            lost,
            ..
        } = differences;
        if !wrong_sums.is_empty() {
            write(&mut opened.connection, |transaction| {
                correct_sums(transaction, &wrong_sums)
            })?;
        }
        let paths: Vec<String> = read.into_iter().collect();
        for batch in paths.chunks(FILES_PER_TRANSACTION) {
            let mut readings = Vec::with_capacity(batch.len());
            read_files(self.disk.as_ref(), batch, &mut |reading| {
                match reading {
                    // The file may have moved to a path that is still to be read, so removals are applied last.
                    FileReadResult::Gone(path) => gone.push(path),
                    reading => readings.push(reading),
                }
                Ok(())
            })?;
            write(&mut opened.connection, |transaction| {
                let mut update = IndexUpdate::new(transaction);
                readings.iter().try_for_each(|reading| {
                    self.apply_read_result(transaction, &mut update, reading)
                })?;
                update.finish()
            })?;
            flush_if_due(opened)?;
        }
        for batch in gone.chunks(FILES_PER_TRANSACTION) {
            write(&mut opened.connection, |transaction| {
                let mut update = IndexUpdate::new(transaction);
                batch
                    .iter()
                    .filter(|path| self.is_gone(path))
                    .try_for_each(|path| update.remove(path))?;
                update.finish()
            })?;
            flush_if_due(opened)?;
        }
        if !refused.is_empty() || !lost.is_empty() {
            write(&mut opened.connection, |transaction| {
                let mut update = IndexUpdate::new(transaction);
                refused
                    .iter()
                    .try_for_each(|(path, signature)| update.mark_unreadable(path, signature))?;
                update.finish()?;
                lost.iter().try_for_each(|path| {
                    Ok(transaction
                        .execute("DELETE FROM folders WHERE path = ?", [path])
                        .map(drop)?)
                })
            })?;
        }
        Ok(())
    }

    fn apply_read_result(
        &self,
        transaction: &Transaction<'_>,
        update: &mut IndexUpdate<'_>,
        reading: &FileReadResult,
    ) -> Result<(), IndexError> {
        match reading {
            // A writer may have changed the file and updated the index since the comparison.
            FileReadResult::Row(row) if !matches!(self.disk.stat(&row.path), Ok(Some(now)) if now == row.signature) => {
                Ok(())
            }
            FileReadResult::Row(row) => {
                update.upsert(row, self.former_path(transaction, row)?.as_deref())
            }
            FileReadResult::Refused(path, signature) => update.mark_unreadable(path, signature),
            FileReadResult::Gone(path) if !self.is_gone(path) => Ok(()),
            FileReadResult::Gone(path) => update.remove(path),
        }
    }

    fn is_gone(&self, path: &str) -> bool {
        self.disk.stat(path).is_ok_and(|found| found.is_none())
    }

    /// Returns the previous path of the document of a file, if it had another path that no longer exists.
    fn former_path(
        &self,
        transaction: &Transaction<'_>,
        row: &DocumentRow,
    ) -> Result<Option<String>, IndexError> {
        let claimants = claimants(transaction, &row.claimed)?;
        if claimants.iter().any(|(_, path)| *path == row.path) {
            return Ok(None);
        }
        Ok(claimants
            .into_iter()
            .map(|(_, path)| path)
            .find(|path| self.is_gone(path)))
    }
}

/// Compares the files with the index.
pub(super) fn find_differences(
    index: &MemoryIndex,
    connection: &Connection,
    look: ScanDepth,
    now: i64,
) -> Result<FileDifferences, IndexError> {
    let mut differences = FileDifferences {
        read: unsettled_paths(connection)?,
        ..FileDifferences::default()
    };
    let mut known = known_folders(connection)?;
    if look == ScanDepth::Signatures {
        for folder in scan::walk_files(&index.root)? {
            let expected = known.remove(&folder.path);
            differences.compare(connection, &folder, expected, look, now)?;
        }
    } else {
        let mut left: Vec<String> = known
            .keys()
            .cloned()
            .chain(ROOTS.map(str::to_owned))
            .collect();
        let mut seen = BTreeSet::new();
        while let Some(path) = left.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let expected = known.get(&path).copied();
            let modified_ns = scan::modified_ns(&index.root, &path)?;
            if expected.is_some_and(|expected| {
                expected.modified_ns.is_some() && expected.modified_ns == modified_ns
            }) {
                known.remove(&path);
                continue;
            }
            let Some(folder) = scan::list(&index.root, &path)? else {
                continue;
            };
            known.remove(&path);
            left.extend(folder.folders.iter().cloned());
            differences.compare(connection, &folder, expected, look, now)?;
        }
    }
    for path in known.into_keys() {
        differences.gone.extend(
            known_files(connection, &path)?
                .into_keys()
                .map(|name| format!("{path}/{name}")),
        );
        differences.lost.push(path);
    }
    Ok(differences)
}

impl FileDifferences {
    /// Compares a folder with its record in the index.
    fn compare(
        &mut self,
        connection: &Connection,
        folder: &ScannedFolder,
        expected: Option<FolderRecord>,
        look: ScanDepth,
        now: i64,
    ) -> Result<(), IndexError> {
        let time = FileStat {
            size: 0,
            modified_ns: folder.modified_ns,
            changed_ns: 0,
            inode: 0,
            is_folder: true,
        };
        // A folder without a record has no files in the index; a query for them would scan everything below it.
        let known = expected.map_or_else(FolderSums::default, |expected| expected.sums);
        let same = match look {
            ScanDepth::Names => known.names == folder.sums.names,
            ScanDepth::Signatures => known == folder.sums,
        };
        // A folder with differences is marked as verified by the next comparison, after their update.
        if same {
            let is_news =
                expected.is_some_and(|expected| expected.modified_ns != Some(folder.modified_ns));
            if is_news && is_settled(&time, now) {
                self.folders.push((folder.path.clone(), folder.modified_ns));
            }
            return Ok(());
        }
        let mut known = known_files(connection, &folder.path)?;
        if expected.is_some_and(|expected| expected.sums != sums_of(&known)) {
            self.wrong_sums.push(folder.path.clone());
        }
        for file in &folder.files {
            let name = file.name();
            let before = known.remove(name.as_ref());
            let same = before.is_some_and(|before| match look {
                ScanDepth::Names => before.inode == file.signature.inode,
                ScanDepth::Signatures => before == file.signature,
            });
            let path = format!("{}/{name}", folder.path);
            match file.regular {
                _ if same => {}
                true => drop(self.read.insert(path)),
                false => self.refused.push((path, file.signature)),
            }
        }
        self.gone.extend(
            known
                .into_keys()
                .map(|name| format!("{}/{name}", folder.path)),
        );
        Ok(())
    }
}

/// The record of a folder in the index.
#[derive(Debug, Clone, Copy)]
struct FolderRecord {
    modified_ns: Option<i64>,
    sums: FolderSums,
}

fn known_folders(connection: &Connection) -> Result<HashMap<String, FolderRecord>, IndexError> {
    let mut select =
        connection.prepare_cached("SELECT path, modified_ns, names, signatures FROM folders")?;
    let read = |row: &rusqlite::Row<'_>| {
        let sums = FolderSums {
            names: row.get::<_, i64>(2)?.cast_unsigned(),
            signatures: row.get::<_, i64>(3)?.cast_unsigned(),
        };
        Ok((
            row.get(0)?,
            FolderRecord {
                modified_ns: row.get(1)?,
                sums,
            },
        ))
    };
    Ok(select.query_map((), read)?.collect::<Result<_, _>>()?)
}

/// Returns the names and signatures of the files in a folder, according to the index.
fn known_files(
    connection: &Connection,
    folder: &str,
) -> Result<HashMap<String, FileStat>, IndexError> {
    let sql = "SELECT path, size, modified_ns, changed_ns, inode FROM documents WHERE ?1 < path AND path < ?2 UNION ALL \
               SELECT path, size, modified_ns, changed_ns, inode FROM unreadable WHERE ?1 < path AND path < ?2";
    let mut select = connection.prepare_cached(sql)?;
    // `0` is the character after `/`.
    let mut rows = select.query([format!("{folder}/"), format!("{folder}0")])?;
    let mut files = HashMap::new();
    while let Some(row) = rows.next()? {
        let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let name = &path[folder.len() + 1..];
        if !name.contains('/') {
            files.insert(name.to_owned(), row_stat(row, 1)?);
        }
    }
    Ok(files)
}

fn unsettled_paths(connection: &Connection) -> Result<BTreeSet<String>, IndexError> {
    let mut select = connection
        .prepare_cached("SELECT path FROM documents INDEXED BY unsettled WHERE settled = 0")?;
    Ok(select
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Corrects wrong sums, which would otherwise cause a comparison of all files at every refresh.
fn correct_sums(transaction: &Transaction<'_>, folders: &[String]) -> Result<(), IndexError> {
    let mut update =
        transaction.prepare("UPDATE folders SET names = ?, signatures = ? WHERE path = ?")?;
    for path in folders {
        let sums = sums_of(&known_files(transaction, path)?);
        update.execute(params![
            sums.names.cast_signed(),
            sums.signatures.cast_signed(),
            path
        ])?;
    }
    Ok(())
}

fn sums_of(files: &HashMap<String, FileStat>) -> FolderSums {
    let mut sums = FolderSums::default();
    for (name, signature) in files {
        sums.add(name.as_bytes(), signature);
    }
    sums
}

/// Records the times of folders that match the index, and the time of a check of every file.
fn record_verified(
    transaction: &Transaction<'_>,
    folders: &[(String, i64)],
    look: ScanDepth,
    now: i64,
) -> Result<(), IndexError> {
    for (path, modified_ns) in folders {
        transaction
            .prepare_cached("UPDATE folders SET modified_ns = ? WHERE path = ?")?
            .execute(params![modified_ns, path])?;
    }
    if look == ScanDepth::Signatures {
        transaction.execute("UPDATE meta SET checked_ns = ?", [now])?;
    }
    Ok(())
}

impl MemoryIndex {
    /// Reads those files at `paths` again that differ from the index, and returns their number.
    ///
    /// Paths that cannot belong to memories are ignored. The index has the signatures of files that this program wrote, so such a file
    /// costs one signature check.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn reread_changed(&self, paths: &[String]) -> Result<u64, StoreError> {
        let changed = self.query("check changed files", |index, opened| {
            let mut changed = Vec::new();
            for path in paths.iter().filter(|path| is_indexed_path(path)) {
                let Ok(now) = index.disk.stat(path) else {
                    continue;
                };
                if now.is_some_and(|now| now.is_folder)
                    || indexed_stat(&opened.connection, path)? == now
                {
                    continue;
                }
                changed.push(path.clone());
            }
            Ok(changed)
        })?;
        if !changed.is_empty() {
            self.reread(&changed)?;
        }
        Ok(changed.len() as u64)
    }
}

/// Returns whether a path can belong to a memory, or to an indexed part of a conversation.
fn is_indexed_path(path: &str) -> bool {
    let mut parts = path.split('/');
    let below: Vec<&str> = match parts.next() {
        Some(CATEGORIES) => parts.collect(),
        // The folder of a conversation may have a name with a leading dot.
        Some(ENTRIES) => {
            let is_there = parts
                .next()
                .is_some_and(|conversation| conversation != "deleted");
            let below: Vec<&str> = parts.collect();
            let is_found = below
                .first()
                .is_some_and(|place| !["deleted", "summaries"].contains(place));
            if is_there && is_found {
                below
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    };
    let is_file = below
        .last()
        .is_some_and(|name| name.strip_suffix(".md").is_some());
    is_file && below.iter().all(|part| !part.starts_with('.')) && check_path(path).is_ok()
}

fn indexed_stat(connection: &Connection, path: &str) -> Result<Option<FileStat>, IndexError> {
    let sql = "SELECT size, modified_ns, changed_ns, inode FROM documents WHERE path = ?1 UNION ALL \
               SELECT size, modified_ns, changed_ns, inode FROM unreadable WHERE path = ?1";
    let mut select = connection.prepare_cached(sql)?;
    Ok(select
        .query_row(params![path], |row| row_stat(row, 0))
        .optional()?)
}
