//! Rows of cells.

use comfy_table::{CellAlignment, ContentArrangement, Row, TableStyle};

use super::visible_line;

/// Rows of cells under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    overlong: Overlong,
}

/// What becomes of text that does not fit at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlong {
    /// It goes on in the next line.
    Wrapped,
    /// It is cut.
    Cut,
}

/// Stands where no text has it, so that a line is cut anywhere and not between words only.
const NEVER: char = '\u{0}';

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Text.
    Text(&'static str),
    /// Numbers, which stand below each other.
    Number(&'static str),
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Number(name) => name,
        }
    }
}

impl Table {
    /// Returns a table without rows, whose rows take as many lines as they need.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new(), overlong: Overlong::Wrapped }
    }

    /// Returns a table without rows, whose rows are cut to one line each.
    pub(crate) fn cut(columns: impl Into<Vec<Column>>) -> Self {
        Self { overlong: Overlong::Cut, ..Self::new(columns) }
    }

    /// Returns a table of what was counted.
    pub(crate) fn of_counts<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut table = Self::new([Column::Text("what"), Column::Number("count")]);
        for (what, count) in counts {
            table.push([what, &count.to_string()]);
        }
        table
    }

    /// Adds a row; control characters become visible.
    pub(crate) fn push<'a>(&mut self, row: impl IntoIterator<Item = &'a str>) {
        self.rows.push(row.into_iter().map(|cell| visible_line(cell).into_owned()).collect());
    }

    /// Tells whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows as lines with tabs between the cells.
    pub(super) fn tabbed(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| row.join("\t"))
    }

    /// Returns the heading and the rows as lines with spaces between the cells, however wide.
    pub(super) fn columns(&self) -> Vec<String> {
        self.drawn(u16::MAX)
    }

    /// Returns the heading and the rows as lines no wider than `width`.
    pub(super) fn drawn(&self, width: u16) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        if self.overlong == Overlong::Cut {
            table.set_delimiter(NEVER).set_truncation_indicator("…");
        }
        table.set_header(self.columns.iter().map(|column| column.name().to_uppercase()));
        for (index, column) in self.columns.iter().enumerate() {
            let is_last = index + 1 == self.columns.len();
            let Some(drawn) = table.column_mut(index) else { continue };
            drawn.set_padding((0, if is_last { 0 } else { 2 }));
            if matches!(column, Column::Number(_)) {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            let mut drawn = Row::from(row.clone());
            if self.overlong == Overlong::Cut {
                drawn.max_height(1);
            }
            table.add_row(drawn);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn wide_characters_stand_below_each_other_and_long_text_is_cut_or_goes_on() {
        let columns = [Column::Text("id"), Column::Number("read"), Column::Text("text")];
        let mut table = Table::cut(columns);
        table.push(["a1b2c3d4", "7", "the cache keeps timetables for five minutes"]);
        table.push(["e5f6a7b8", "1234", "早上六点半起床，先泡茶，七点半以前不看消息"]);
        table.push(["茶", "1", "two\nlines"]);
        assert_snapshot!(table.drawn(40).join("\n"), @"
        ID        READ  TEXT
        a1b2c3d4     7  the cache keeps timetab…
        e5f6a7b8  1234  早上六点半起床，先泡茶…
        茶           1  two lines
        ");
        let table = Table { overlong: Overlong::Wrapped, ..table };
        assert_snapshot!(table.drawn(40).join("\n"), @"
        ID        READ  TEXT
        a1b2c3d4     7  the cache keeps
                        timetables for five
                        minutes
        e5f6a7b8  1234  早上六点半起床，先泡茶，
                        七点半以前不看消息
        茶           1  two lines
        ");
        assert_snapshot!(table.tabbed().collect::<Vec<_>>().join("\n"), @"
        a1b2c3d4	7	the cache keeps timetables for five minutes
        e5f6a7b8	1234	早上六点半起床，先泡茶，七点半以前不看消息
        茶	1	two lines
        ");
    }
}
