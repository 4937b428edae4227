//! Where in the file of rows everything lies.

use std::ops::Range;

/// How many rows a block has. Within a block each column lies in one piece, so that a scan reads nothing but what it needs.
pub(super) const BLOCK: usize = 1024;

/// The most rows a file may have.
pub(super) const MOST_ROWS: usize = 1 << 28;

/// The most numbers a vector may have.
pub(super) const MOST_DIMENSIONS: usize = 1 << 16;

/// Where everything lies, for vectors of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) dimensions: usize,
}

/// What every row has one cell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// The bytes of a row that lie in the columns before.
    before: usize,
    /// The bytes of a cell.
    width: usize,
}

impl Layout {
    /// The document's key.
    pub(super) const KEYS: Column = Column { before: 0, width: 8 };
    /// The hash of the text.
    pub(super) const TEXTS: Column = Column { before: 8, width: 32 };
    /// The sum over the row's other cells.
    pub(super) const CHECKS: Column = Column { before: 40, width: 4 };
    /// How much one step of the codes is.
    pub(super) const SCALES: Column = Column { before: 44, width: 4 };

    /// The vector in whole steps.
    pub(super) fn codes(self) -> Column {
        Column { before: 48, width: self.dimensions }
    }

    /// The vector itself.
    pub(super) fn exact(self) -> Column {
        Column { before: 48 + self.dimensions, width: 4 * self.dimensions }
    }

    /// Returns the length of a file with so many rows. The last block is as long as the others; its unused rows are holes.
    pub(super) fn length(self, rows: usize) -> usize {
        rows.div_ceil(BLOCK) * self.block()
    }

    /// Returns where the cells of `slots`, all of one block, lie in the file.
    pub(super) fn cells(self, column: Column, slots: &Range<usize>) -> Range<usize> {
        let start = slots.start / BLOCK * self.block() + BLOCK * column.before + slots.start % BLOCK * column.width;
        start..start + slots.len() * column.width
    }

    fn block(self) -> usize {
        let exact = self.exact();
        BLOCK * (exact.before + exact.width)
    }
}

/// Cuts `slots` where a block ends.
pub(super) fn runs(slots: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blocks = slots.start / BLOCK..slots.end.div_ceil(BLOCK);
    blocks.map(move |block| slots.start.max(block * BLOCK)..slots.end.min((block + 1) * BLOCK)).filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_each_other_without_gap_or_overlap() {
        for dimensions in [1, 3, 384] {
            let layout = Layout { dimensions };
            let columns = [Layout::KEYS, Layout::TEXTS, Layout::CHECKS, Layout::SCALES, layout.codes(), layout.exact()];
            let mut end = 0;
            for block in [0..BLOCK, BLOCK..2 * BLOCK] {
                for column in columns {
                    let cells = layout.cells(column, &block);
                    assert_eq!((cells.start, cells.start % 64), (end, 0), "{dimensions} {column:?}");
                    let last = layout.cells(column, &(block.end - 1..block.end));
                    assert_eq!(last.end, cells.end);
                    end = cells.end;
                }
                assert_eq!(layout.length(block.end), end);
            }
            assert_eq!((layout.length(0), layout.length(1)), (0, layout.length(BLOCK)));
        }
    }

    #[test]
    fn runs_stay_within_their_blocks() {
        assert_eq!(runs(0..0).count(), 0);
        assert_eq!(runs(BLOCK..BLOCK).count(), 0);
        assert!(runs(5..9).eq(std::iter::once(5..9)));
        assert_eq!(runs(1000..2049).collect::<Vec<_>>(), [1000..1024, 1024..2048, 2048..2049]);
    }
}
