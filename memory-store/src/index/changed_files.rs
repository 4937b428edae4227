//! Reads files again that other programs changed in place.

use memory_core::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::IndexError;
use super::memory_index::MemoryIndex;
use super::scan::{CATEGORIES, ENTRIES};
use super::schema::row_stat;
use crate::disk::{FileStat, check_path};

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
                let Ok(now) = index.disk.stat(path) else { continue };
                if now.is_some_and(|now| now.is_folder) || indexed_stat(&opened.connection, path)? == now {
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
            let is_there = parts.next().is_some_and(|conversation| conversation != "deleted");
            let below: Vec<&str> = parts.collect();
            let is_found = below.first().is_some_and(|place| !["deleted", "summaries"].contains(place));
            if is_there && is_found { below } else { Vec::new() }
        }
        _ => Vec::new(),
    };
    let is_file = below.last().is_some_and(|name| name.strip_suffix(".md").is_some());
    is_file && below.iter().all(|part| !part.starts_with('.')) && check_path(path).is_ok()
}

fn indexed_stat(connection: &Connection, path: &str) -> Result<Option<FileStat>, IndexError> {
    let sql = "SELECT size, modified_ns, changed_ns, inode FROM documents WHERE path = ?1 UNION ALL \
               SELECT size, modified_ns, changed_ns, inode FROM unreadable WHERE path = ?1";
    let mut select = connection.prepare_cached(sql)?;
    Ok(select.query_row(params![path], |row| row_stat(row, 0)).optional()?)
}
