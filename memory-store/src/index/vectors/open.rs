//! The vectors of one model, and how they follow changes by other processes.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memory_core::{ContentHash, StoreError};

use super::head::{self, VectorHead};
use super::layout::{MOST_DIMENSIONS, RowLayout};
use super::view::RowsView;
use super::write::remove_path;
use crate::error::io_error;

/// The folder, below the index, that holds one folder for each model.
const FOLDER: &str = "vectors";

/// Maximum number of attempts to open the rows while another process replaces them.
const ATTEMPTS: usize = 8;

/// The vectors that one model computed for the texts of documents.
///
/// It shows the state at the time of opening or of the last refresh, regardless of changes by other processes, until it is changed or
/// refreshed itself. The caller must ensure that only one process changes the vectors at a time. Damaged data counts as missing.
///
/// The files are memory-mapped. A program that truncates them during a read, instead of deleting or replacing them, terminates the reading
/// process.
#[derive(Debug)]
pub struct ModelVectors {
    pub(super) folder: PathBuf,
    pub(super) model: ContentHash,
    pub(super) layout: RowLayout,
    /// The current state, if there are vectors.
    pub(super) view: Option<RowsView>,
    /// Whether there are files that cannot be read.
    is_damaged: bool,
}

impl ModelVectors {
    /// Opens the vectors of the model `identity`, with `dimensions` numbers each, in the index at `place`.
    ///
    /// No file is created before the first vector is stored. Vectors of the same model with another length count as missing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the number of dimensions is not supported; [`StoreError::Backend`] if the files cannot be read.
    pub fn open(place: &Path, identity: &str, dimensions: usize) -> Result<Self, StoreError> {
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            let why =
                format!("a vector must have 1 to {MOST_DIMENSIONS} dimensions, not {dimensions}");
            return Err(StoreError::Invalid { why });
        }
        let model = ContentHash::of(identity);
        let folder = model_folder(place, model);
        let mut vectors = Self {
            folder,
            model,
            layout: RowLayout { dimensions },
            view: None,
            is_damaged: false,
        };
        vectors.refresh()?;
        Ok(vectors)
    }

    /// Opens the vectors of the model `identity` with any number of dimensions, if there are any.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the files cannot be read.
    pub fn open_existing(place: &Path, identity: &str) -> Result<Option<Self>, StoreError> {
        Self::open_model(place, ContentHash::of(identity))
    }

    /// Returns whether vectors of the model `identity`, or of any model if `None`, exist, readable or not.
    pub fn exist(place: &Path, identity: Option<&str>) -> bool {
        let place = place.join(FOLDER);
        match identity {
            Some(identity) => place.join(ContentHash::of(identity).to_string()).is_dir(),
            None => fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some()),
        }
    }

    /// Opens the vectors of every model to remove some, and deletes those that cannot be read.
    ///
    /// Vectors that are damaged or have an older format may belong to texts that were deleted, and they can be computed again.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the files cannot be read or deleted.
    pub(in crate::index) fn open_all_or_delete(place: &Path) -> Result<Vec<Self>, StoreError> {
        let mut all = Vec::new();
        for model in models(place) {
            if let Some(vectors) = Self::open_model(place, model)? {
                all.push(vectors);
                continue;
            }
            let folder = model_folder(place, model);
            remove_path(&folder).map_err(|error| {
                io_error(format!("delete vectors in {}", folder.display()), error)
            })?;
        }
        Ok(all)
    }

    /// Returns whether these are the vectors of the model `identity` in the index at `place`.
    ///
    /// They must also have `dimensions` numbers each.
    pub fn is_model_with(&self, place: &Path, identity: &str, dimensions: usize) -> bool {
        self.is_model(place, identity) && self.layout.dimensions == dimensions
    }

    /// Returns whether these are the vectors of the model `identity` in the index at `place`.
    pub fn is_model(&self, place: &Path, identity: &str) -> bool {
        self.model == ContentHash::of(identity) && self.folder.starts_with(place)
    }

    /// Returns whether there are files of vectors that cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn open_model(place: &Path, model: ContentHash) -> Result<Option<Self>, StoreError> {
        let folder = model_folder(place, model);
        let dimensions = head_bytes(&folder)?.and_then(|bytes| VectorHead::dimensions(&bytes));
        let Some(dimensions) =
            dimensions.filter(|dimensions| (1..=MOST_DIMENSIONS).contains(dimensions))
        else {
            return Ok(None);
        };
        let mut vectors = Self {
            folder,
            model,
            layout: RowLayout { dimensions },
            view: None,
            is_damaged: false,
        };
        vectors.refresh()?;
        Ok(Some(vectors).filter(|vectors| vectors.view.is_some()))
    }

    /// Updates the state to changes by other processes.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the files cannot be read.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        self.is_damaged = false;
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head()? else { break };
            let is_known = self
                .view
                .as_ref()
                .is_some_and(|view| view.head.is_same(&head));
            if is_known && self.folder.join(head.rows_file.name()).is_file() {
                return Ok(());
            }
            let former = self.view.as_ref().filter(|_| !is_known);
            let view = RowsView::open(&self.folder, head, self.layout, former)?;
            // If another process has just replaced the rows, there is a new head to read.
            if view.is_some() {
                self.view = view;
                return Ok(());
            }
        }
        self.view = None;
        self.is_damaged = self.folder.symlink_metadata().is_ok();
        Ok(())
    }

    /// Reads the head; `None` if it is missing or damaged.
    fn head(&self) -> Result<Option<VectorHead>, StoreError> {
        Ok(head_bytes(&self.folder)?
            .and_then(|bytes| VectorHead::decode(&bytes, &self.model, self.layout)))
    }
}

/// Returns the models that have a folder.
fn models(place: &Path) -> impl Iterator<Item = ContentHash> {
    let entries = fs::read_dir(place.join(FOLDER)).into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn model_folder(place: &Path, model: ContentHash) -> PathBuf {
    place.join(FOLDER).join(model.to_string())
}

/// Reads the file of the head, if it exists.
fn head_bytes(folder: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let read = || -> io::Result<Vec<u8>> {
        let file = File::open(folder.join(head::FILE))?;
        let mut bytes = Vec::new();
        file.take(head::LONGEST as u64 + 1)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(io_error(
            format!("read {}", folder.join(head::FILE).display()),
            error,
        )),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

/// Size of the filter that skips most of the other keys, in bits.
const FILTER_BITS: usize = 1 << 16;

impl ModelVectors {
    /// Returns the number of documents with vectors.
    pub fn count(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.head.documents)
    }

    /// Returns the keys of all documents with vectors, in arbitrary order.
    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = i64> {
        let documents = self.view.iter().flat_map(RowsView::live_documents);
        documents.map(|(_, key)| key)
    }

    /// Returns those documents that lack the vector of a passage of their current text, because it is missing or damaged.
    pub fn missing<'a>(
        &'a self,
        documents: impl Iterator<Item = (i64, ContentHash)> + 'a,
    ) -> impl Iterator<Item = (i64, ContentHash)> + 'a {
        let whole = |view: &RowsView| -> Vec<(i64, ContentHash)> {
            view.live_documents()
                .filter_map(|(slots, key)| Some((key, view.document(&slots)?[0].text)))
                .collect()
        };
        let mut whole: Vec<_> = self.view.as_ref().map(whole).unwrap_or_default();
        whole.sort_unstable();
        documents.filter(move |document| whole.binary_search(document).is_err())
    }

    /// Reads every vector, and returns the keys of the documents with a damaged one.
    pub fn damaged(&self) -> Vec<i64> {
        let damaged = |view: &RowsView| -> Vec<i64> {
            view.live_documents()
                .filter(|(slots, _)| view.document(slots).is_none())
                .map(|(_, key)| key)
                .collect()
        };
        self.view.as_ref().map(damaged).unwrap_or_default()
    }
}

/// A set of keys that skips most of the other keys quickly: a scan of all keys is cheaper than keeping them sorted.
pub(super) struct KeyFilter {
    keys: HashSet<i64>,
    bits: Vec<u64>,
}

impl KeyFilter {
    pub(super) fn new(keys: impl Iterator<Item = i64>) -> Self {
        let keys: HashSet<i64> = keys.collect();
        let mut bits = vec![0_u64; FILTER_BITS / 64];
        for key in &keys {
            let bit = filter_bit(*key);
            bits[bit / 64] |= 1 << (bit % 64);
        }
        Self { keys, bits }
    }

    pub(super) fn contains(&self, key: i64) -> bool {
        let bit = filter_bit(key);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1 && self.keys.contains(&key)
    }
}

/// Returns the bit of a key in the filter; consecutive keys are spread.
fn filter_bit(key: i64) -> usize {
    (key.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
