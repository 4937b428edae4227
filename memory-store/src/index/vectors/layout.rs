//! The layout of the file of rows.

use std::fs::File;
use std::io;
use std::ops::Range;

use memory_core::ContentHash;
use zerocopy::IntoBytes;

use crate::system::write_all_at;

/// Number of rows in a block.
///
/// Within a block each column is contiguous, so that a scan reads only the columns that it needs.
pub(super) const BLOCK: usize = 1024;

/// Maximum number of rows in a file.
pub(super) const MOST_ROWS: usize = 1 << 28;

/// Maximum number of dimensions of a vector.
pub(super) const MOST_DIMENSIONS: usize = 1 << 16;

/// The layout for vectors with a number of dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowLayout {
    pub(super) dimensions: usize,
}

/// A column: every row has one cell in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowColumn {
    /// Bytes per row in the preceding columns.
    before: usize,
    /// Bytes per cell.
    width: usize,
}

impl RowLayout {
    /// The key of the document.
    pub(super) const KEYS: RowColumn = RowColumn {
        before: 0,
        width: 8,
    };
    /// The hash of the text.
    pub(super) const TEXTS: RowColumn = RowColumn {
        before: 8,
        width: 32,
    };
    /// The checksum of the other cells of the row.
    pub(super) const CHECKS: RowColumn = RowColumn {
        before: 40,
        width: 4,
    };
    /// The scale of the codes.
    pub(super) const SCALES: RowColumn = RowColumn {
        before: 44,
        width: 4,
    };
    /// The number of the passage, and the number of passages of the text.
    pub(super) const PASSAGES: RowColumn = RowColumn {
        before: 48,
        width: 4,
    };

    /// Returns the column of the quantized vectors.
    pub(super) fn codes(self) -> RowColumn {
        RowColumn {
            before: 52,
            width: self.dimensions,
        }
    }

    /// Returns all columns.
    pub(super) fn columns(self) -> [RowColumn; 6] {
        [
            Self::KEYS,
            Self::TEXTS,
            Self::CHECKS,
            Self::SCALES,
            Self::PASSAGES,
            self.codes(),
        ]
    }

    /// Returns the length of a file with `rows` rows, in bytes.
    ///
    /// The last block has the full size; its unused rows are holes.
    pub(super) fn length(self, rows: usize) -> usize {
        rows.div_ceil(BLOCK) * self.block()
    }

    /// Returns the byte range of the cells of `slots`, all of one block.
    pub(super) fn cells(self, column: RowColumn, slots: &Range<usize>) -> Range<usize> {
        let start = slots.start / BLOCK * self.block()
            + BLOCK * column.before
            + slots.start % BLOCK * column.width;
        start..start + slots.len() * column.width
    }

    fn block(self) -> usize {
        let codes = self.codes();
        BLOCK * (codes.before + codes.width)
    }
}

/// Splits `slots` at the ends of blocks.
pub(super) fn split_at_blocks(slots: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blocks = slots.start / BLOCK..slots.end.div_ceil(BLOCK);
    blocks
        .map(move |block| slots.start.max(block * BLOCK)..slots.end.min((block + 1) * BLOCK))
        .filter(|run| !run.is_empty())
}

/// A row: the vector of a passage of a document with its metadata.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorRow<'a> {
    pub(super) key: i64,
    pub(super) text: ContentHash,
    pub(super) scale: f32,
    /// The number of the passage, from 0, and the number of passages of the text.
    pub(super) passage: [u16; 2],
    pub(super) codes: &'a [i8],
}

impl<'a> VectorRow<'a> {
    /// Returns the scale and the codes of the vector.
    pub(super) fn vector(&self) -> (f32, &'a [i8]) {
        (self.scale, self.codes)
    }

    /// Returns the checksum that detects damage of the row.
    pub(super) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.key.to_ne_bytes());
        hasher.update(self.text.as_bytes());
        hasher.update(&self.scale.to_ne_bytes());
        hasher.update(self.passage.as_bytes());
        hasher.update(self.codes.as_bytes());
        hasher.finalize()
    }
}

/// Writes rows from slot `first` on, over existing data. They are valid only once a head includes them.
pub(super) fn write(
    file: &File,
    layout: RowLayout,
    first: usize,
    rows: &[VectorRow<'_>],
) -> io::Result<()> {
    let end = first + rows.len();
    let length = layout.length(end) as u64;
    // The file is never shortened, because another process may have mapped it.
    if file.metadata()?.len() < length {
        file.set_len(length)?;
    }
    for slots in split_at_blocks(first..end) {
        let rows = &rows[slots.start - first..slots.end - first];
        let put = |column: RowColumn, bytes: &[u8]| {
            write_all_at(file, bytes, layout.cells(column, &slots).start as u64)
        };
        put(
            RowLayout::KEYS,
            &concat_cells(rows, |row, bytes| bytes.extend(row.key.to_ne_bytes())),
        )?;
        put(
            RowLayout::TEXTS,
            &concat_cells(rows, |row, bytes| bytes.extend(row.text.as_bytes())),
        )?;
        put(
            RowLayout::CHECKS,
            &concat_cells(rows, |row, bytes| {
                bytes.extend(row.checksum().to_ne_bytes());
            }),
        )?;
        put(
            RowLayout::SCALES,
            &concat_cells(rows, |row, bytes| bytes.extend(row.scale.to_ne_bytes())),
        )?;
        put(
            RowLayout::PASSAGES,
            &concat_cells(rows, |row, bytes| bytes.extend(row.passage.as_bytes())),
        )?;
        put(
            layout.codes(),
            &concat_cells(rows, |row, bytes| bytes.extend(row.codes.as_bytes())),
        )?;
    }
    Ok(())
}

/// Overwrites rows with zeros. They are damaged then, also for a process with a head that has them alive.
pub(super) fn erase(file: &File, layout: RowLayout, slots: Range<usize>) -> io::Result<()> {
    for slots in split_at_blocks(slots) {
        for column in layout.columns() {
            let cells = layout.cells(column, &slots);
            write_all_at(file, &vec![0; cells.len()], cells.start as u64)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_each_other_without_gap_or_overlap() {
        for dimensions in [1, 3, 384] {
            let layout = RowLayout { dimensions };
            let columns = layout.columns();
            let mut end = 0;
            for block in [0..BLOCK, BLOCK..2 * BLOCK] {
                for column in columns {
                    let cells = layout.cells(column, &block);
                    assert_eq!(
                        (cells.start, cells.start % 64),
                        (end, 0),
                        "{dimensions} {column:?}"
                    );
                    let last = layout.cells(column, &(block.end - 1..block.end));
                    assert_eq!(last.end, cells.end);
                    end = cells.end;
                }
                assert_eq!(layout.length(block.end), end);
            }
            assert_eq!(
                (layout.length(0), layout.length(1)),
                (0, layout.length(BLOCK))
            );
        }
    }

    #[test]
    fn runs_stay_within_their_blocks() {
        assert_eq!(split_at_blocks(0..0).count(), 0);
        assert_eq!(split_at_blocks(BLOCK..BLOCK).count(), 0);
        assert!(split_at_blocks(5..9).eq(std::iter::once(5..9)));
        assert_eq!(
            split_at_blocks(1000..2049).collect::<Vec<_>>(),
            [1000..1024, 1024..2048, 2048..2049]
        );
    }
}
