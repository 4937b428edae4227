//! Reading again what others have changed in place.

use memory_core::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use super::open::Index;
use super::scan::{CATEGORIES, ENTRIES};
use super::trouble::Trouble;
use super::update::row_signature;
use crate::disk::{Signature, check_path};

impl Index {
    /// Reads those of the files at `paths` again that are not as the index knows them, and returns how many that were. Paths
    /// that are not those of memories are passed over.
    ///
    /// Files that we wrote ourselves are as the index knows them, so hearing of them costs a look and no more.
    ///
    /// # Errors
    /// When the index is refused.
    pub(crate) fn reread_changed(&self, paths: &[String]) -> Result<u64, StoreError> {
        let changed = self.ask("look at changed files", |index, opened| {
            let mut changed = Vec::new();
            for path in paths.iter().filter(|path| is_memory(path)) {
                let Ok(now) = index.disk.signature(path) else { continue };
                if now.is_some_and(|now| now.is_folder) || known(&opened.connection, path)? == now {
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

/// Tells whether a path is one that a memory may have, or a part of a conversation that is found like one.
fn is_memory(path: &str) -> bool {
    let mut parts = path.split('/');
    let below: Vec<&str> = match parts.next() {
        Some(CATEGORIES) => parts.collect(),
        // A conversation may be called so that its folder begins with a dot.
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

fn known(connection: &Connection, path: &str) -> Result<Option<Signature>, Trouble> {
    let sql = "SELECT size, modified_ns, changed_ns, inode FROM documents WHERE path = ?1 UNION ALL \
               SELECT size, modified_ns, changed_ns, inode FROM unreadable WHERE path = ?1";
    let mut select = connection.prepare_cached(sql)?;
    Ok(select.query_row(params![path], |row| row_signature(row, 0)).optional()?)
}
