//! Adds and removes vectors.
//!
//! New rows are appended before a new head includes them. A vector is replaced or removed by marking its row as dead and then overwriting it
//! with zeros. When most rows are dead, the live ones are moved to a new file. Only the head is synced at every change: a power cut may lose
//! rows that it includes, and their checksums say so.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use memory_core::{ContentHash, Embedding, StoreError};

use super::head::{self, DeadRows, RowsFile, VectorHead};
use super::layout::{self, BLOCK, MOST_ROWS, VectorRow};
use super::open::{KeyFilter, ModelVectors};
use super::quantized_vector::QuantizedVector;
use super::view::RowsView;
use crate::error::io_error;
use crate::system::{private_folder_builder, sync_folder};

/// The vectors of the text of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentVector<'a> {
    /// The key of the document.
    pub key: i64,
    /// The hash of the embedded text.
    pub text: ContentHash,
    /// The vectors of its passages, 1 to 65,535. Only their directions are used. A zero vector is similar to no other vector.
    pub vectors: &'a [Embedding],
}

impl ModelVectors {
    /// Stores the vectors of documents, and replaces the previous vectors of the same documents.
    ///
    /// Either all of them are stored or no vector is. Of several entries for one document the last is stored. A power cut may lose them;
    /// they are then missing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if a vector is invalid for this model, or the number of vectors exceeds the limit; [`StoreError::Backend`]
    /// on an I/O error.
    pub fn put(&mut self, embedded: &[DocumentVector<'_>]) -> Result<(), StoreError> {
        // Sorted by key, because vectors with neighbouring keys are often read together.
        let mut prepared = BTreeMap::new();
        for DocumentVector { key, text, vectors } in embedded {
            let Some(count) = u16::try_from(vectors.len()).ok().filter(|count| 0 < *count) else {
                let why = format!(
                    "document {key} has {} vectors, not 1 to 65535",
                    vectors.len()
                );
                return Err(StoreError::Invalid { why });
            };
            let quantized = vectors
                .iter()
                .map(|vector| {
                    let whose = format!("document {key}");
                    QuantizedVector::of_any_length(&whose, vector, self.layout.dimensions)
                })
                .collect::<Result<Vec<_>, _>>()?;
            prepared.insert(*key, (*text, count, quantized));
        }
        let rows: Vec<_> = prepared
            .iter()
            .flat_map(|(key, (text, count, quantized))| {
                let passages = (0..*count).zip(quantized);
                passages.map(|(number, QuantizedVector { scale, codes })| VectorRow {
                    key: *key,
                    text: *text,
                    scale: *scale,
                    passage: [number, *count],
                    codes,
                })
            })
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
        let (live, documents) = self.view.as_ref().map_or_else(Default::default, |view| {
            let live = view.slots_of(prepared.keys().copied());
            (live, view.count_documents())
        });
        let append = || {
            let (file, mut head) = match &self.view {
                Some(view) => (self.open_rows(view)?, view.head.clone()),
                None => self.recreate_folder()?,
            };
            layout::write(&file, self.layout, head.rows, &rows)?;
            let end = head.rows + rows.len();
            // The file must not be shorter than its head says, or no row can be read.
            if self.layout.length(head.rows) < self.layout.length(end) {
                file.sync_data()?;
            }
            head.rows = end;
            head.sequence += 1;
            Ok((file, head))
        };
        let (file, mut head) = append().map_err(|error| self.write_error(error))?;
        head.documents = documents + prepared.len() - live.len();
        let mut replaced: Vec<usize> = live.into_values().flatten().collect();
        replaced.sort_unstable();
        for slot in &replaced {
            head.dead.insert(*slot);
        }
        self.publish(head)?;
        self.erase(&file, &replaced)
    }

    /// Removes the vectors of these documents from the disk, and returns the number of documents that had some.
    ///
    /// The rows are overwritten with zeros, also those that a killed process left.
    ///
    /// # Errors
    /// [`StoreError::Backend`] on an I/O error. A repetition removes what is left.
    pub fn remove(&mut self, keys: &[i64]) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(head) = self.view.as_ref().map(|view| view.head.clone()) else {
            return Ok(0);
        };
        // A new mapping, because an interrupted write may have extended the file.
        let Some(view) = RowsView::open(&self.folder, head, self.layout, None)? else {
            return Ok(0);
        };
        let filter = KeyFilter::new(keys.iter().copied());
        let written: Vec<usize> = view
            .written_rows()
            .filter(|(_, key)| filter.contains(*key))
            .map(|(slot, _)| slot)
            .collect();
        let mut removed = 0;
        if !written.is_empty() {
            let file = self
                .open_rows(&view)
                .map_err(|error| self.write_error(error))?;
            let live = view.slots_of(keys.iter().copied());
            removed = live.len();
            if 0 < removed {
                let documents = view.count_documents();
                let mut head = view.head;
                head.sequence += 1;
                head.documents = documents - removed;
                for slot in live.into_values().flatten() {
                    head.dead.insert(slot);
                }
                self.publish(head)?;
            }
            self.erase(&file, &written)?;
            file.sync_data().map_err(|error| self.write_error(error))?;
        }
        self.remove_unused_files()
            .map_err(|error| self.write_error(error))?;
        Ok(removed)
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
            let live: Vec<_> = view.live_documents().collect();
            self.rewrite(&live)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Assigns the existing vectors to these documents by the hashes of their texts.
    ///
    /// For an index that was rebuilt, in which the same texts have other keys. All other documents lose their vectors. Returns the number
    /// of documents with vectors.
    ///
    /// # Errors
    /// [`StoreError::Backend`] on an I/O error. The vectors are unchanged then.
    pub fn rekey(
        &mut self,
        documents: impl Iterator<Item = (i64, ContentHash)>,
    ) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(0) };
        let texts: BTreeMap<_, _> = view
            .live_documents()
            .map(|(slots, _)| (view.text(slots.start), slots))
            .collect();
        let keys: BTreeMap<_, _> = documents
            .filter_map(|(key, text)| Some((key, texts.get(&text)?.clone())))
            .collect();
        let moved: Vec<_> = keys.into_iter().map(|(key, slots)| (slots, key)).collect();
        self.rewrite(&moved)?;
        Ok(self.count())
    }

    /// Copies the rows of documents to a new file, in this order and with these keys. Documents with a damaged row are omitted.
    fn rewrite(&mut self, documents: &[(Range<usize>, i64)]) -> Result<(), StoreError> {
        let Some(view) = &self.view else {
            return Ok(());
        };
        let write = || -> io::Result<VectorHead> {
            let (file, mut head) = self.new_rows()?;
            for documents in documents.chunks(BLOCK) {
                let mut moved = Vec::with_capacity(BLOCK);
                for (slots, key) in documents {
                    if let Some(rows) = view.document(slots) {
                        head.documents += 1;
                        moved.extend(rows.into_iter().map(|row| VectorRow { key: *key, ..row }));
                    }
                }
                layout::write(&file, self.layout, head.rows, &moved)?;
                head.rows += moved.len();
            }
            file.sync_data()?;
            Ok(head)
        };
        let head = write().map_err(|error| self.write_error(error))?;
        self.publish(head)?;
        // The new head must be durable before the rows of the old one are deleted.
        sync_folder(&self.folder)
            .and_then(|()| self.remove_unused_files())
            .map_err(|error| self.write_error(error))
    }

    /// Opens the file of rows for writing.
    fn open_rows(&self, view: &RowsView) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .open(self.folder.join(view.head.rows_file.name()))
    }

    /// Overwrites rows with zeros, which the head does not have alive.
    fn erase(&self, file: &File, slots: &[usize]) -> Result<(), StoreError> {
        slots
            .chunk_by(|one, next| one + 1 == *next)
            .try_for_each(|run| layout::erase(file, self.layout, run[0]..run[0] + run.len()))
            .map_err(|error| self.write_error(error))
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
                documents: 0,
                dead: DeadRows::default(),
            },
        ))
    }

    /// Replaces the head by `head`. After a power cut the folder has the one or the other.
    fn publish(&mut self, head: VectorHead) -> Result<(), StoreError> {
        let replace = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&head.encode(&self.model, self.layout))?;
            file.as_file().sync_data()?;
            file.persist(self.folder.join(head::FILE))?;
            Ok(())
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
pub(super) fn remove_path(path: &Path) -> io::Result<()> {
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
