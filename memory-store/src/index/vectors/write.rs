//! How vectors come and go.
//!
//! New rows are written behind all others, and durable, before a head says that they hold. To replace a vector or to remove
//! it is to call its row dead; when most are dead, those that live move to a new file.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use memory_core::{ContentHash, StoreError};

use super::head::{self, Dead, Head, RowsFile};
use super::layout::{BLOCK, MOST_ROWS};
use super::open::Vectors;
use super::row::{self, Row};
use super::unit::{Codes, Unit};
use super::view::View;
use crate::error::io_error;

/// A document's text as a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedded<'a> {
    /// The document's key.
    pub key: i64,
    /// The hash of the text that the vector is of.
    pub text: ContentHash,
    /// The vector. Its direction matters, its length does not; one of zeros is near to none.
    pub vector: &'a [f32],
}

impl Vectors {
    /// Keeps vectors, in place of those that the same documents had. All of them are kept or none; once this returns,
    /// neither a crash nor a power cut loses them. Among several for one document the last is kept.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when something is no vector of this model, or there are too many; [`StoreError::Backend`]
    /// when the disk refuses. Then nothing has changed.
    pub fn put(&mut self, embedded: &[Embedded<'_>]) -> Result<(), StoreError> {
        // By key, since neighbours by key are most often asked for together.
        let mut prepared = BTreeMap::new();
        for Embedded { key, text, vector } in embedded {
            let unit = Unit::or_zero(&format!("document {key}"), vector, self.layout.dimensions)?;
            prepared.insert(*key, (*text, unit.codes(), unit));
        }
        let rows: Vec<_> = prepared
            .iter()
            .map(|(key, (text, Codes { scale, codes }, unit))| Row {
                key: *key,
                text: *text,
                scale: *scale,
                codes,
                exact: unit.numbers(),
            })
            .collect();
        self.refresh()?;
        if rows.is_empty() {
            return Ok(());
        }
        let has_space = self.view.as_ref().map_or(0, View::rows) + rows.len() <= MOST_ROWS;
        if !has_space {
            return Err(StoreError::Invalid { why: format!("no more than {MOST_ROWS} vectors of one model are kept") });
        }
        let keys = prepared.keys().copied();
        let former = self.view.as_ref().map(|view| view.slots(keys)).unwrap_or_default();
        let append = || {
            let (file, mut head) = match &self.view {
                Some(view) => self.goes_on(view)?,
                None => self.begin()?,
            };
            row::write(&file, self.layout, head.rows, &rows)?;
            file.sync_data()?;
            head.rows += rows.len();
            head.sequence += 1;
            Ok(head)
        };
        let mut head = append().map_err(|error| self.refused(error))?;
        for slot in former.into_values() {
            head.dead.insert(slot);
        }
        self.publish(head)
    }

    /// Removes the vectors of these documents, as far as they have one, and returns how many had.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the disk refuses. Then nothing has changed.
    pub fn remove(&mut self, keys: &[i64]) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(0) };
        let slots = view.slots(keys.iter().copied());
        if slots.is_empty() {
            return Ok(0);
        }
        let mut head = Head { sequence: view.head.sequence + 1, ..view.head.clone() };
        for slot in slots.values() {
            head.dead.insert(*slot);
        }
        self.publish(head)?;
        Ok(slots.len())
    }

    /// Gives back the space of replaced and removed vectors, and of damaged ones as well, if the replaced and removed are more
    /// than half; returns whether they were.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the disk refuses. Then nothing has changed.
    pub fn compact(&mut self) -> Result<bool, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(false) };
        if view.rows() < 2 * view.head.dead.count() {
            let live: Vec<_> = view.live().collect();
            self.rewrite(&live)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Gives each of these documents the vector of its text, whichever document had it; all others lose theirs. For an index
    /// that was built anew, in which the same texts have other keys. Returns how many of them have a vector now.
    ///
    /// # Errors
    /// [`StoreError::Backend`] when the disk refuses. Then nothing has changed.
    pub fn rekey(&mut self, documents: impl Iterator<Item = (i64, ContentHash)>) -> Result<usize, StoreError> {
        self.refresh()?;
        let Some(view) = &self.view else { return Ok(0) };
        let mut texts: Vec<_> = view.live().map(|(slot, _)| (view.text(slot), slot)).collect();
        texts.sort_unstable();
        let slot = |text: ContentHash| texts.binary_search_by_key(&text, |(text, _)| *text).ok().map(|place| texts[place].1);
        let keys: BTreeMap<_, _> = documents.filter_map(|(key, text)| Some((key, slot(text)?))).collect();
        let moved: Vec<_> = keys.into_iter().map(|(key, slot)| (slot, key)).collect();
        self.rewrite(&moved)?;
        Ok(self.count())
    }

    /// Moves rows to a new file, in this order and under these keys. Damaged ones stay behind.
    fn rewrite(&mut self, rows: &[(usize, i64)]) -> Result<(), StoreError> {
        let Some(view) = &self.view else { return Ok(()) };
        let write = || -> io::Result<Head> {
            let (file, mut head) = self.new_rows()?;
            for rows in rows.chunks(BLOCK) {
                let rows: Vec<_> = rows.iter().filter_map(|(slot, key)| Some(Row { key: *key, ..view.row(*slot)? })).collect();
                row::write(&file, self.layout, head.rows, &rows)?;
                head.rows += rows.len();
            }
            file.sync_data()?;
            Ok(head)
        };
        let head = write().map_err(|error| self.refused(error))?;
        self.publish(head)?;
        self.tidy().map_err(|error| self.refused(error))
    }

    /// Opens the rows to write more of them.
    fn goes_on(&self, view: &View) -> io::Result<(File, Head)> {
        let file = OpenOptions::new().write(true).open(self.folder.join(view.head.rows_file.name()))?;
        Ok((file, view.head.clone()))
    }

    /// Makes the folder anew, since nothing in it holds.
    fn begin(&self) -> io::Result<(File, Head)> {
        remove_anything(&self.folder)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        self.new_rows()
    }

    /// Makes an empty file of rows, which no head names yet.
    fn new_rows(&self) -> io::Result<(File, Head)> {
        let mut builder = tempfile::Builder::new();
        let (file, path) = builder.prefix(RowsFile::PREFIX).rand_bytes(RowsFile::LENGTH).tempfile_in(&self.folder)?.keep()?;
        // A head must not hold before the name of its rows does.
        File::open(&self.folder)?.sync_all()?;
        let rows_file = path.file_name().and_then(|name| RowsFile::of_name(name.to_str()?));
        let rows_file = rows_file.expect("random names are letters and digits");
        Ok((file, Head { rows_file, sequence: 0, rows: 0, dead: Dead::default() }))
    }

    /// Lets `head` hold from now on.
    fn publish(&mut self, head: Head) -> Result<(), StoreError> {
        let replace = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&head.encode(&self.model, self.layout))?;
            file.as_file().sync_data()?;
            file.persist(self.folder.join(head::FILE))?;
            File::open(&self.folder)?.sync_all()
        };
        replace().map_err(|error| self.refused(error))?;
        self.view = View::open(&self.folder, head, self.layout, self.view.as_ref())?;
        Ok(())
    }

    /// Removes what no head names any more. Whoever has mapped it keeps it.
    fn tidy(&self) -> io::Result<()> {
        let rows = self.view.as_ref().map(|view| view.head.rows_file.name());
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_needed = name == head::FILE || rows.as_ref().is_some_and(|rows| name == rows.as_str());
            if !is_needed {
                remove_anything(&entry.path())?;
            }
        }
        Ok(())
    }

    fn refused(&self, error: io::Error) -> StoreError {
        io_error(format!("keep vectors in {}", self.folder.display()), error)
    }
}

/// Removes a file or a folder, if it is there.
fn remove_anything(path: &Path) -> io::Result<()> {
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
