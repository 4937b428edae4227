//! The memory-mapped rows in one state.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use memory_core::{ContentHash, StoreError};
use tantivy::Directory;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{MmapDirectory, OwnedBytes};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::head::VectorHead;
use super::layout::VectorRow;
use super::layout::{BLOCK, RowColumn, RowLayout};
use super::open::KeyFilter;
use crate::error::index_error;

/// The rows in one state. A row that it shows is never written again, except that it may be overwritten with zeros.
#[derive(Clone)]
pub(super) struct RowsView {
    pub(super) head: VectorHead,
    pub(super) layout: RowLayout,
    bytes: OwnedBytes,
}

/// The columns of a block that a scan reads.
#[derive(Debug)]
pub(super) struct RowBlock<'a> {
    /// The slots of its rows.
    pub(super) slots: Range<usize>,
    pub(super) keys: &'a [i64],
    pub(super) scales: &'a [f32],
    /// The codes, row after row.
    pub(super) codes: &'a [i8],
}

impl fmt::Debug for RowsView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("View")
            .field("head", &self.head)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

impl RowsView {
    /// Maps the rows of `head` if they exist, or reuses the mapping of `former`.
    pub(super) fn open(
        folder: &Path,
        head: VectorHead,
        layout: RowLayout,
        former: Option<&Self>,
    ) -> Result<Option<Self>, StoreError> {
        let length = layout.length(head.rows);
        let is_mapped = |former: &&Self| {
            former.head.rows_file == head.rows_file && length <= former.bytes.len()
        };
        if let Some(former) = former.filter(is_mapped) {
            return Ok(Some(Self {
                head,
                layout,
                bytes: former.bytes.clone(),
            }));
        }
        let bytes = map_file(folder, &head.rows_file.name())?.filter(|bytes| length <= bytes.len());
        Ok(bytes.map(|bytes| Self {
            head,
            layout,
            bytes,
        }))
    }

    /// Returns the number of rows, dead or alive.
    pub(super) fn rows(&self) -> usize {
        self.head.rows
    }

    /// Returns the slots and keys of all rows in the file, also of writes that were interrupted.
    pub(super) fn written_rows(&self) -> impl Iterator<Item = (usize, i64)> {
        (0..self.bytes.len() / self.layout.length(1)).flat_map(|block| {
            let slots = block * BLOCK..(block + 1) * BLOCK;
            let keys: &[i64] = self.cells(RowLayout::KEYS, &slots);
            slots.zip(keys.iter().copied())
        })
    }

    /// Returns the slots and keys of the live rows.
    fn live_rows(&self) -> impl Iterator<Item = (usize, i64)> {
        let all = (0..self.blocks()).flat_map(|block| {
            let block = self.block(block);
            block.slots.zip(block.keys.iter().copied())
        });
        all.filter(|(slot, _)| !self.head.dead.contains(*slot))
    }

    /// Returns the slots and the key of each document with live rows. The rows of a document follow each other.
    pub(super) fn live_documents(&self) -> impl Iterator<Item = (Range<usize>, i64)> {
        let mut rows = self.live_rows().peekable();
        std::iter::from_fn(move || {
            let (first, key) = rows.next()?;
            let mut slots = first..first + 1;
            while rows.next_if_eq(&(slots.end, key)).is_some() {
                slots.end += 1;
            }
            Some((slots, key))
        })
    }

    /// Returns the rows of all passages of a text, unless one is damaged.
    pub(super) fn document(&self, slots: &Range<usize>) -> Option<Vec<VectorRow<'_>>> {
        let rows: Vec<_> = slots.clone().map_while(|slot| self.row(slot)).collect();
        let is_whole = rows.len() == slots.len()
            && rows.iter().enumerate().all(|(number, row)| {
                row.passage.map(usize::from) == [number, rows.len()]
                    && (row.key, row.text) == (rows[0].key, rows[0].text)
            });
        is_whole.then_some(rows)
    }

    /// Returns the slots of those of these documents that have live rows.
    pub(super) fn slots_of(&self, keys: impl Iterator<Item = i64>) -> HashMap<i64, Range<usize>> {
        let filter = KeyFilter::new(keys);
        let mut found: HashMap<i64, Range<usize>> = HashMap::new();
        for block in (0..self.blocks()).map(|number| self.block(number)) {
            let slots = block.slots.clone().zip(block.keys);
            for (slot, key) in slots.filter(|(_, key)| filter.contains(**key)) {
                if self.head.dead.contains(slot) {
                    continue;
                }
                // The rows of a document follow each other.
                let own = found.entry(*key).or_insert(slot..slot);
                *own = if own.end == slot { own.start } else { slot }..slot + 1;
            }
        }
        found
    }

    /// Returns the number of documents with live rows.
    pub(super) fn count_documents(&self) -> usize {
        // Rows that a power cut left without content have the key 0.
        let exists =
            |(slots, key): &(Range<usize>, i64)| *key != 0 || self.document(slots).is_some();
        self.live_documents().filter(exists).count()
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.rows().div_ceil(BLOCK)
    }

    /// Returns the block with this number.
    pub(super) fn block(&self, block: usize) -> RowBlock<'_> {
        let slots = block * BLOCK..self.rows().min((block + 1) * BLOCK);
        RowBlock {
            keys: self.cells(RowLayout::KEYS, &slots),
            scales: self.cells(RowLayout::SCALES, &slots),
            codes: self.cells(self.layout.codes(), &slots),
            slots,
        }
    }

    /// Returns the hash of the text of a row.
    pub(super) fn text(&self, slot: usize) -> ContentHash {
        let bytes: &[u8] = self.cells(RowLayout::TEXTS, &(slot..slot + 1));
        ContentHash::from(<[u8; 32]>::try_from(bytes).expect("a cell of this column has 32 bytes"))
    }

    /// Returns whether a row is all zeros.
    #[cfg(test)]
    pub(super) fn is_erased(&self, slot: usize) -> bool {
        let mut cells = self.layout.columns().into_iter().map(|column| {
            let cells: &[u8] = &self.bytes[self.layout.cells(column, &(slot..slot + 1))];
            cells
        });
        cells.all(|cells| cells.iter().all(|byte| *byte == 0))
    }

    /// Returns a row, unless it is damaged.
    pub(super) fn row(&self, slot: usize) -> Option<VectorRow<'_>> {
        let slots = slot..slot + 1;
        let row = VectorRow {
            key: self.cells(RowLayout::KEYS, &slots)[0],
            text: self.text(slot),
            scale: self.cells(RowLayout::SCALES, &slots)[0],
            passage: self.cells(RowLayout::PASSAGES, &slots)[0],
            codes: self.cells(self.layout.codes(), &slots),
        };
        (row.checksum() == self.cells::<u32>(RowLayout::CHECKS, &slots)[0]).then_some(row)
    }

    /// Returns the cells of `slots`, all of one block.
    fn cells<T: FromBytes + Immutable>(&self, column: RowColumn, slots: &Range<usize>) -> &[T]
    where
        [T]: KnownLayout,
    {
        let bytes = &self.bytes[self.layout.cells(column, slots)];
        <[T]>::ref_from_bytes(bytes)
            .expect("a page begins at a multiple of every width, and so does a column")
    }
}

/// Maps a file, if it exists.
fn map_file(folder: &Path, name: &str) -> Result<Option<OwnedBytes>, StoreError> {
    let refused =
        |error: std::io::Error| index_error(format!("read vectors in {}", folder.display()), error);
    // A directory of tantivy caches its mappings by name, and a cached one may be shorter than the file. Hence a new one for each call.
    let directory = match MmapDirectory::open(folder) {
        Ok(directory) => directory,
        Err(_) if !folder.is_dir() => return Ok(None),
        Err(error) => return Err(refused(std::io::Error::other(error))),
    };
    match directory.open_read(Path::new(name)) {
        Ok(file) => file.read_bytes().map(Some).map_err(refused),
        Err(OpenReadError::FileDoesNotExist(_)) => Ok(None),
        Err(error) => Err(refused(std::io::Error::other(error))),
    }
}
