//! Adds and removes vectors.
//!
//! New rows are appended and synced before a new head includes them. A vector is replaced or removed by marking its row as dead. When most
//! rows are dead, the live ones are moved to a new file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use memory_core::{ContentHash, StoreError};

use super::head::{self, DeadRows, RowsFile, VectorHead};
use super::layout::{self, BLOCK, MOST_ROWS, VectorRow};
use super::open::ModelVectors;
use super::quantized_vector::QuantizedVector;
use super::view::RowsView;
use crate::error::io_error;
use crate::system::{private_folder_builder, sync_folder};

/// The vector of the text of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentVector<'a> {
    /// The key of the document.
    pub key: i64,
    /// The hash of the embedded text.
    pub text: ContentHash,
    /// The vector. Only its direction is used. A zero vector is similar to no other vector.
    pub vector: &'a [f32],
}

impl ModelVectors {
    /// Stores vectors, and replaces the previous vectors of the same documents.
    ///
    /// Either all of them are stored or no vector is. Once this returns, they survive a crash and a power cut. Of several vectors for one
    /// document the last is stored.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if a vector is invalid for this model, or the number of vectors exceeds the limit; [`StoreError::Backend`]
    /// on an I/O error. The vectors are unchanged then.
    pub fn put(&mut self, embedded: &[DocumentVector<'_>]) -> Result<(), StoreError> {
        // Sorted by key, because vectors with neighbouring keys are often read together.
        let mut prepared = BTreeMap::new();
        for DocumentVector { key, text, vector } in embedded {
            let quantized = QuantizedVector::of_any_length(
                &format!("document {key}"),
                vector,
                self.layout.dimensions,
            )?;
            prepared.insert(*key, (*text, quantized));
        }
        let rows: Vec<_> = prepared
            .iter()
            .map(
                |(key, (text, QuantizedVector { scale, codes }))| VectorRow {
                    key: *key,
                    text: *text,
                    scale: *scale,
                    codes,
                },
            )
            .collect();
        self.refresh()?;
        if rows.is_empty() {
            return Ok(());
        }
        let has_space = self.view.as_ref().map_or(0, RowsView::rows) + rows.len() <= MOST_ROWS;
        if !has_space {
            return Err(StoreError::Invalid {
                why: format!("the limit of {MOST_ROWS} vectors per model is exceeded"),
            });
        }
        let keys = prepared.keys().copied();
        let former = self
            .view
            .as_ref()
            .map(|view| view.slots(keys))
            .unwrap_or_default();
        let append = || {
            let (file, mut head) = match &self.view {
                Some(view) => self.open_rows(view)?,
                None => self.recreate_folder()?,
            };
            layout::write(&file, self.layout, head.rows, &rows)?;
            file.sync_data()?;
            head.rows += rows.len();
            head.sequence += 1;
            Ok(head)
        };
        let mut head = append().map_err(|error| self.write_error(error))?;
        for slot in former.into_values() {
            head.dead.insert(slot);
        }
        self.publish(head)
    }

    /// Removes the vectors of these documents, and returns the number of removed vectors.
    ///
    /// # Errors
    /// [`StoreError::Backend`] on an I/O error. The vectors are unchanged then.
    pub fn remove(&mut self, keys: &[i64]) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(0) };
        let slots = view.slots(keys.iter().copied());
        if slots.is_empty() {
            return Ok(0);
        }
        let mut head = VectorHead {
            sequence: view.head.sequence + 1,
            ..view.head.clone()
        };
        for slot in slots.values() {
            head.dead.insert(*slot);
        }
        self.publish(head)?;
        Ok(slots.len())
    }

    /// Frees the space of dead rows if more than half of the rows are dead, and returns whether it did.
    ///
    /// Rows of replaced and removed vectors are dead. Damaged rows are dropped as well.
    ///
    /// # Errors
    /// [`StoreError::Backend`] on an I/O error. The vectors are unchanged then.
    pub fn compact(&mut self) -> Result<bool, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else {
            return Ok(false);
        };
        if view.rows() < 2 * view.head.dead.count() {
            let live: Vec<_> = view.live_rows().collect();
            self.rewrite(&live)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Assigns the existing vectors to these documents by the hashes of their texts.
    ///
    /// For an index that was rebuilt, in which the same texts have other keys. All other documents lose their vectors. Returns the number
    /// of documents with a vector.
    ///
    /// # Errors
    /// [`StoreError::Backend`] on an I/O error. The vectors are unchanged then.
    pub fn rekey(
        &mut self,
        documents: impl Iterator<Item = (i64, ContentHash)>,
    ) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(0) };
        let mut texts: Vec<_> = view
            .live_rows()
            .map(|(slot, _)| (view.text(slot), slot))
            .collect();
        texts.sort_unstable();
        let slot = |text: ContentHash| {
            texts
                .binary_search_by_key(&text, |(text, _)| *text)
                .ok()
                .map(|place| texts[place].1)
        };
        let keys: BTreeMap<_, _> = documents
            .filter_map(|(key, text)| Some((key, slot(text)?)))
            .collect();
        let moved: Vec<_> = keys.into_iter().map(|(key, slot)| (slot, key)).collect();
        self.rewrite(&moved)?;
        Ok(self.count())
    }

    /// Copies rows to a new file, in this order and with these keys. Damaged rows are omitted.
    fn rewrite(&mut self, rows: &[(usize, i64)]) -> Result<(), StoreError> {
        let Some(view) = &self.view else {
            return Ok(());
        };
        let write = || -> io::Result<VectorHead> {
            let (file, mut head) = self.new_rows()?;
            for rows in rows.chunks(BLOCK) {
                let rows: Vec<_> = rows
                    .iter()
                    .filter_map(|(slot, key)| {
                        Some(VectorRow {
                            key: *key,
                            ..view.row(*slot)?
                        })
                    })
                    .collect();
                layout::write(&file, self.layout, head.rows, &rows)?;
                head.rows += rows.len();
            }
            file.sync_data()?;
            Ok(head)
        };
        let head = write().map_err(|error| self.write_error(error))?;
        self.publish(head)?;
        self.remove_unused_files()
            .map_err(|error| self.write_error(error))
    }

    /// Opens the file of rows for appending.
    fn open_rows(&self, view: &RowsView) -> io::Result<(File, VectorHead)> {
        let file = OpenOptions::new()
            .write(true)
            .open(self.folder.join(view.head.rows_file.name()))?;
        Ok((file, view.head.clone()))
    }

    /// Creates the folder again, because it contains no valid state.
    fn recreate_folder(&self) -> io::Result<(File, VectorHead)> {
        remove_path(&self.folder)?;
        private_folder_builder()
            .recursive(true)
            .create(&self.folder)?;
        self.new_rows()
    }

    /// Creates an empty file of rows that no head refers to yet.
    fn new_rows(&self) -> io::Result<(File, VectorHead)> {
        let mut builder = tempfile::Builder::new();
        let (file, path) = builder
            .prefix(RowsFile::PREFIX)
            .rand_bytes(RowsFile::LENGTH)
            .tempfile_in(&self.folder)?
            .keep()?;
        // The name of the file must be durable before a head that refers to it.
        sync_folder(&self.folder)?;
        let rows_file = path
            .file_name()
            .and_then(|name| RowsFile::from_name(name.to_str()?));
        let rows_file = rows_file.expect("random names are letters and digits");
        Ok((
            file,
            VectorHead {
                rows_file,
                sequence: 0,
                rows: 0,
                dead: DeadRows::default(),
            },
        ))
    }

    /// Replaces the head by `head`.
    fn publish(&mut self, head: VectorHead) -> Result<(), StoreError> {
        let replace = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&head.encode(&self.model, self.layout))?;
            file.as_file().sync_data()?;
            file.persist(self.folder.join(head::FILE))?;
            sync_folder(&self.folder)
        };
        replace().map_err(|error| self.write_error(error))?;
        self.view = RowsView::open(&self.folder, head, self.layout, self.view.as_ref())?;
        Ok(())
    }

    /// Removes the files that the head does not refer to. Existing mappings remain valid.
    fn remove_unused_files(&self) -> io::Result<()> {
        let rows = self.view.as_ref().map(|view| view.head.rows_file.name());
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_needed =
                name == head::FILE || rows.as_ref().is_some_and(|rows| name == rows.as_str());
            if !is_needed {
                remove_path(&entry.path())?;
            }
        }
        Ok(())
    }

    fn write_error(&self, error: io::Error) -> StoreError {
        io_error(format!("store vectors in {}", self.folder.display()), error)
    }
}

/// Removes a file or a folder, if it exists.
fn remove_path(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
