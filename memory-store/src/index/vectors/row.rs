//! A row, and how rows are written to the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memory_core::ContentHash;
use zerocopy::IntoBytes;

use super::layout::{RowColumn, RowLayout, split_at_blocks};

/// A row: the vector of a document with its metadata.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorRow<'a> {
    pub(super) key: i64,
    pub(super) text: ContentHash,
    pub(super) scale: f32,
    pub(super) codes: &'a [i8],
    pub(super) exact: &'a [f32],
}

impl<'a> VectorRow<'a> {
    /// Returns the normalized vector, unless it is zero.
    pub(super) fn direction(&self) -> Option<&'a [f32]> {
        (self.scale != 0.0).then_some(self.exact)
    }

    /// Returns the checksum that detects damage of the row.
    pub(super) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.key.to_ne_bytes());
        hasher.update(self.text.as_bytes());
        hasher.update(&self.scale.to_ne_bytes());
        hasher.update(self.codes.as_bytes());
        hasher.update(self.exact.as_bytes());
        hasher.finalize()
    }
}

/// Writes rows from slot `first` on, over existing data. They are valid only once a head includes them.
pub(super) fn write(file: &File, layout: RowLayout, first: usize, rows: &[VectorRow<'_>]) -> io::Result<()> {
    let end = first + rows.len();
    let length = layout.length(end) as u64;
    // The file is never shortened, because another process may have mapped it.
    if file.metadata()?.len() < length {
        file.set_len(length)?;
    }
    for slots in split_at_blocks(first..end) {
        let rows = &rows[slots.start - first..slots.end - first];
        let put = |column: RowColumn, bytes: &[u8]| file.write_all_at(bytes, layout.cells(column, &slots).start as u64);
        put(RowLayout::KEYS, &concat_cells(rows, |row, bytes| bytes.extend(row.key.to_ne_bytes())))?;
        put(RowLayout::TEXTS, &concat_cells(rows, |row, bytes| bytes.extend(row.text.as_bytes())))?;
        put(RowLayout::CHECKS, &concat_cells(rows, |row, bytes| bytes.extend(row.checksum().to_ne_bytes())))?;
        put(RowLayout::SCALES, &concat_cells(rows, |row, bytes| bytes.extend(row.scale.to_ne_bytes())))?;
        put(layout.codes(), &concat_cells(rows, |row, bytes| bytes.extend(row.codes.as_bytes())))?;
        put(layout.exact(), &concat_cells(rows, |row, bytes| bytes.extend(row.exact.as_bytes())))?;
    }
    Ok(())
}

fn concat_cells(rows: &[VectorRow<'_>], add: impl Fn(&VectorRow<'_>, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        add(row, &mut bytes);
    }
    bytes
}
