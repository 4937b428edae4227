//! The copy of a folder into a database.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use memory_core::StoreError;

use super::replica::{FolderReplica, path_order};
use crate::disk::{Disk, FileEdit, NewFileContent, RealDisk, list_files};
use crate::error::io_error;
use crate::oplog::hash_bytes;
use crate::shared_log::{FileCommitResult, SharedFile, SharedFilePage, random_token};

/// Maximum size of a part of a copy, in bytes.
const COPY_SIZE: usize = 8 << 20;

impl FolderReplica {
    /// Copies the files of the folder at `source` into the database, and returns their number.
    ///
    /// The copy has several parts, each of which is a commit. A call after an interruption copies the rest.
    pub(super) fn copy_files(&self, source: &Path) -> Result<usize, StoreError> {
        if !source.is_dir() {
            return Ok(0);
        }
        let refused = |error| io_error(format!("read {}", source.display()), error);
        let mut paths = self
            .list_files(&RealDisk::open(source).map_err(refused)?)
            .map_err(refused)?;
        if paths.is_empty() {
            return Ok(0);
        }
        paths.sort_by_key(|path| path_order(path));
        let (mut copied, position) = self.find_copied()?;
        let mut copy = FileCopy {
            replica: self,
            position,
            edits: Vec::new(),
            size: 0,
        };
        for path in &paths {
            let bytes = fs::read(source.join(path)).map_err(refused)?;
            // The end of a large file may be in a later part.
            let start = match copied.remove(path) {
                None => None,
                Some((size, hash))
                    if bytes
                        .get(..size)
                        .is_some_and(|part| hash_bytes(part) == hash) =>
                {
                    Some(size)
                }
                Some(_) => return Err(self.other_files_error()),
            };
            copy.add(path, &bytes, start)?;
        }
        if !copied.is_empty() {
            return Err(self.other_files_error());
        }
        copy.commit()?;
        Ok(paths.len())
    }

    /// Returns the size and the hash of each file in the database, and the position of the folder.
    fn find_copied(&self) -> Result<(CopiedFiles, i64), StoreError> {
        let (mut copied, mut last) = (BTreeMap::new(), None);
        loop {
            let SharedFilePage { position, files } =
                self.log().changed_files(&self.folder, 0, last.as_ref())?;
            for SharedFile {
                edit: FileEdit { path, content },
                ..
            } in &files
            {
                if let NewFileContent::Whole(bytes) = content {
                    copied.insert(path.clone(), (bytes.len(), hash_bytes(bytes)));
                }
            }
            match files.into_iter().last() {
                Some(file) => last = Some(file),
                None => return Ok((copied, position)),
            }
        }
    }

    fn other_files_error(&self) -> StoreError {
        StoreError::Invalid {
            why: format!(
                "the database contains other {}; use an empty database",
                self.folder.name
            ),
        }
    }

    /// Returns whether files in a folder may be shared. Others, such as all memories of a home, are not listed.
    fn may_contain_shared_files(&self, folder: &str) -> bool {
        self.layout.prefix.strip_suffix('/') == Some(folder)
            || self.is_shared(&format!("{folder}/file"))
    }

    /// Returns the paths of the shared files.
    pub(super) fn list_files(&self, disk: &dyn Disk) -> io::Result<Vec<String>> {
        let is_wanted = |folder: &str| self.may_contain_shared_files(folder);
        let mut files = list_files(disk, "", is_wanted)?;
        files.retain(|path| self.is_shared(path));
        Ok(files)
    }
}

/// The size and the hash of each file, by its path.
type CopiedFiles = BTreeMap<String, (usize, String)>;

/// The next part of a copy into the database.
struct FileCopy<'r> {
    replica: &'r FolderReplica,
    /// The position of the folder in the database.
    position: i64,
    edits: Vec<FileEdit>,
    size: usize,
}

impl FileCopy<'_> {
    /// Adds the bytes of a file after `start`, or a whole new file; commits each full part.
    fn add(&mut self, path: &str, bytes: &[u8], start: Option<usize>) -> Result<(), StoreError> {
        let (mut start, mut is_new) = (start.unwrap_or(0), start.is_none());
        while is_new || start < bytes.len() {
            let end = bytes.len().min(start + COPY_SIZE - self.size);
            let part = bytes[start..end].to_vec();
            let content = if is_new {
                NewFileContent::Whole(part)
            } else {
                NewFileContent::Appended {
                    start: start as u64,
                    bytes: part,
                }
            };
            self.edits.push(FileEdit {
                path: path.to_owned(),
                content,
            });
            self.size += end - start;
            (start, is_new) = (end, false);
            if self.size == COPY_SIZE {
                self.commit()?;
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let edits = std::mem::take(&mut self.edits);
        if edits.is_empty() {
            return Ok(());
        }
        let FolderReplica { folder, .. } = self.replica;
        let log = self.replica.log();
        match log.commit_files(folder, self.position, random_token()?, &edits)? {
            FileCommitResult::Committed(position) => self.position = position,
            // A commit increases the position by one.
            FileCommitResult::Repeated => self.position += 1,
            FileCommitResult::Behind | FileCommitResult::Diverged => {
                return Err(self.replica.other_files_error());
            }
        }
        self.size = 0;
        Ok(())
    }
}
