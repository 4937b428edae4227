//! The vectors of one model, and how they follow changes by other processes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memory_core::{ContentHash, StoreError};

use super::head::{self, VectorHead};
use super::layout::{MOST_DIMENSIONS, RowLayout};
use super::view::RowsView;
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
        let folder = place.join(FOLDER).join(model.to_string());
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

    /// Opens the vectors of every model that has vectors.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the files cannot be read.
    pub fn open_all(place: &Path) -> Result<Vec<Self>, StoreError> {
        let Ok(entries) = fs::read_dir(place.join(FOLDER)) else {
            return Ok(Vec::new());
        };
        let models = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<ContentHash>().ok());
        models
            .filter_map(|model| Self::open_model(place, model).transpose())
            .collect()
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
        let folder = place.join(FOLDER).join(model.to_string());
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
    /// Returns the number of documents with a vector.
    pub fn count(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.head.live_count())
    }

    /// Returns the keys of all documents with a vector, in arbitrary order.
    pub fn keys(&self) -> impl Iterator<Item = i64> {
        self.view
            .iter()
            .flat_map(RowsView::live_rows)
            .map(|(_, key)| key)
    }

    /// Returns those documents that have no vector for their current text.
    pub fn missing<'a>(
        &'a self,
        documents: impl Iterator<Item = (i64, ContentHash)> + 'a,
    ) -> impl Iterator<Item = (i64, ContentHash)> + 'a {
        let mut kept: Vec<(i64, usize)> = self
            .view
            .iter()
            .flat_map(RowsView::live_rows)
            .map(|(slot, key)| (key, slot))
            .collect();
        kept.sort_unstable();
        let text = move |key: i64| {
            let place = kept.binary_search_by_key(&key, |(key, _)| *key).ok()?;
            self.view.as_ref().map(|view| view.text(kept[place].1))
        };
        documents.filter(move |(key, hash)| text(*key).is_none_or(|kept| kept != *hash))
    }

    /// Reads every vector, and returns the keys of the damaged ones.
    ///
    /// Damaged vectors count as missing in a search, but [`Self::missing`] does not return them before they are removed.
    pub fn damaged(&self) -> Vec<i64> {
        let damaged = |view: &RowsView| -> Vec<i64> {
            view.live_rows()
                .filter(|(slot, _)| view.row(*slot).is_none())
                .map(|(_, key)| key)
                .collect()
        };
        self.view.as_ref().map(damaged).unwrap_or_default()
    }
}

impl RowsView {
    /// Returns the slots of the live rows with these keys.
    pub(super) fn slots(&self, keys: impl Iterator<Item = i64>) -> HashMap<i64, usize> {
        let mut wanted: HashMap<i64, Option<usize>> = keys.map(|key| (key, None)).collect();
        if wanted.is_empty() {
            return HashMap::new();
        }
        // A scan of all keys is cheaper than keeping them sorted; the bit filter avoids most of the hashing.
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for key in wanted.keys() {
            let bit = filter_bit(*key);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let may_be_wanted = |key: i64| {
            let bit = filter_bit(key);
            filter[bit / 64] >> (bit % 64) & 1 == 1
        };
        for (slot, key) in self.live_rows().filter(|(_, key)| may_be_wanted(*key)) {
            if let Some(place) = wanted.get_mut(&key) {
                *place = Some(slot);
            }
        }
        wanted
            .into_iter()
            .filter_map(|(key, slot)| slot.map(|slot| (key, slot)))
            .collect()
    }
}

/// Returns the bit of a key in the filter; consecutive keys are spread.
fn filter_bit(key: i64) -> usize {
    (key.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
