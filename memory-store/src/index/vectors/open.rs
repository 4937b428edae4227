//! The vectors of one model, and how a process keeps up with what others do to them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memory_core::{ContentHash, StoreError};

use super::head::{self, Head};
use super::layout::{Layout, MOST_DIMENSIONS};
use super::view::View;
use crate::error::io_error;

/// The folder, below the index, that holds one folder for each model.
const FOLDER: &str = "vectors";

/// How often to look again when the rows were replaced while we looked.
const ATTEMPTS: usize = 8;

/// The vectors that one model gave to the texts of documents.
///
/// It shows what held when it was opened or last refreshed, whatever others do in the meantime, until it is changed or
/// refreshed itself. Whoever changes it must be the only one who does so: that is the caller's to see to. What is damaged
/// counts as not there.
///
/// The files are mapped: a program that cuts them short while they are read, rather than to delete or replace them, ends
/// the process that reads.
#[derive(Debug)]
pub struct Vectors {
    pub(super) folder: PathBuf,
    pub(super) model: ContentHash,
    pub(super) layout: Layout,
    /// What holds, if there is anything.
    pub(super) view: Option<View>,
    /// Whether there is something that cannot be read.
    is_damaged: bool,
}

impl Vectors {
    /// Opens the vectors of the model called `identity`, which have `dimensions` numbers each, in the index at `place`.
    /// Nothing is made before there is a vector to keep; vectors of another length, under the same name, count as not there.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when vectors of so many dimensions are not kept; [`StoreError::Backend`] when the files must
    /// not be read.
    pub fn open(place: &Path, identity: &str, dimensions: usize) -> Result<Self, StoreError> {
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            let why = format!("vectors have 1 to {MOST_DIMENSIONS} dimensions, not {dimensions}");
            return Err(StoreError::Invalid { why });
        }
        let model = ContentHash::of(identity);
        let folder = place.join(FOLDER).join(model.to_string());
        let mut vectors = Self { folder, model, layout: Layout { dimensions }, view: None, is_damaged: false };
        vectors.refresh()?;
        Ok(vectors)
    }

    /// Opens the vectors of the model called `identity`, if there are any, however many numbers they have.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the files must not be read.
    pub fn existing(place: &Path, identity: &str) -> Result<Option<Self>, StoreError> {
        Self::of_model(place, ContentHash::of(identity))
    }

    /// Tells whether vectors of the model called `identity`, or of any, were made, readable or not.
    pub fn were_made(place: &Path, identity: Option<&str>) -> bool {
        let place = place.join(FOLDER);
        match identity {
            Some(identity) => place.join(ContentHash::of(identity).to_string()).is_dir(),
            None => fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some()),
        }
    }

    /// Opens the vectors of every model there are any of.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the files must not be read.
    pub fn all(place: &Path) -> Result<Vec<Self>, StoreError> {
        let Ok(entries) = fs::read_dir(place.join(FOLDER)) else { return Ok(Vec::new()) };
        let models = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<ContentHash>().ok());
        models.filter_map(|model| Self::of_model(place, model).transpose()).collect()
    }

    /// Tells whether these are the vectors of the model called `identity`, with so many numbers, in the index at `place`.
    pub fn are_of(&self, place: &Path, identity: &str, dimensions: usize) -> bool {
        self.are_of_model(place, identity) && self.layout.dimensions == dimensions
    }

    /// Tells whether these are the vectors of the model called `identity`, in the index at `place`.
    pub fn are_of_model(&self, place: &Path, identity: &str) -> bool {
        self.model == ContentHash::of(identity) && self.folder.starts_with(place)
    }

    /// Tells whether files are there, of which nothing holds: vectors were made, and cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn of_model(place: &Path, model: ContentHash) -> Result<Option<Self>, StoreError> {
        let folder = place.join(FOLDER).join(model.to_string());
        let dimensions = head_bytes(&folder)?.and_then(|bytes| Head::dimensions(&bytes));
        let Some(dimensions) = dimensions.filter(|dimensions| (1..=MOST_DIMENSIONS).contains(dimensions)) else {
            return Ok(None);
        };
        let mut vectors = Self { folder, model, layout: Layout { dimensions }, view: None, is_damaged: false };
        vectors.refresh()?;
        Ok(Some(vectors).filter(|vectors| vectors.view.is_some()))
    }

    /// Sees what others have done since.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the files must not be read.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        self.is_damaged = false;
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head()? else { break };
            let is_known = self.view.as_ref().is_some_and(|view| view.head.is(&head));
            if is_known && self.folder.join(head.rows_file.name()).is_file() {
                return Ok(());
            }
            let former = self.view.as_ref().filter(|_| !is_known);
            let view = View::open(&self.folder, head, self.layout, former)?;
            // Else somebody may have replaced the rows just now: then there is another head.
            if view.is_some() {
                self.view = view;
                return Ok(());
            }
        }
        self.view = None;
        self.is_damaged = self.folder.symlink_metadata().is_ok();
        Ok(())
    }

    /// Reads the head, if there is a sound one.
    fn head(&self) -> Result<Option<Head>, StoreError> {
        Ok(head_bytes(&self.folder)?.and_then(|bytes| Head::decode(&bytes, &self.model, self.layout)))
    }
}

/// Reads the file with the head, if it is there.
fn head_bytes(folder: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let read = || -> io::Result<Vec<u8>> {
        let file = File::open(folder.join(head::FILE))?;
        let mut bytes = Vec::new();
        file.take(head::LONGEST as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(io_error(format!("read {}", folder.join(head::FILE).display()), error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
}
