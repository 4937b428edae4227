//! Tables.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, TableStyle, Width};
use unicode_width::UnicodeWidthStr;

use super::escape_line;

/// A table with a heading.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<String>>,
    overlong: Overflow,
}

/// The treatment of text that is too long for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    /// It is wrapped.
    Wrapped,
    /// It is truncated.
    Cut,
}

/// A delimiter that no text contains, so that lines are truncated at any character.
const NO_DELIMITER: char = '\u{0}';

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableColumn {
    /// Text, which may be wrapped or truncated.
    Text(&'static str),
    /// Numbers, aligned right.
    Number(&'static str),
    /// Identifiers and times, which are never wrapped or truncated.
    Whole(&'static str),
}

impl TableColumn {
    fn name(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Number(name) | Self::Whole(name) => name,
        }
    }

    fn is_flexible(self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Table {
    /// Creates an empty table with wrapped rows.
    pub(crate) fn new(columns: impl Into<Vec<TableColumn>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            overlong: Overflow::Wrapped,
        }
    }

    /// Creates an empty table with rows truncated to one line.
    pub(crate) fn truncated(columns: impl Into<Vec<TableColumn>>) -> Self {
        Self {
            overlong: Overflow::Cut,
            ..Self::new(columns)
        }
    }

    /// Creates a table of counts.
    pub(crate) fn from_counts<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut table = Self::new([TableColumn::Text("what"), TableColumn::Number("count")]);
        for (what, count) in counts {
            table.push([what, &count.to_string()]);
        }
        table
    }

    /// Creates a table with a name and numbers in each row.
    pub(crate) fn of_numbers(name: &'static str, numbers: &[&'static str]) -> Self {
        let numbers = numbers.iter().copied().map(TableColumn::Number);
        let columns = [TableColumn::Text(name)].into_iter().chain(numbers);
        Self::new(columns.collect::<Vec<_>>())
    }

    /// Appends a row with a name and numbers.
    pub(crate) fn push_numbers(&mut self, name: &str, numbers: &[u64]) {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        self.push([name].into_iter().chain(numbers.iter().map(String::as_str)));
    }

    /// Adds a row with control characters escaped.
    pub(crate) fn push<'a>(&mut self, row: impl IntoIterator<Item = &'a str>) {
        self.rows.push(
            row.into_iter()
                .map(|cell| escape_line(cell).into_owned())
                .collect(),
        );
    }

    /// Returns whether the table has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows as lines with tab-separated cells.
    pub(super) fn tabbed_lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| row.join("\t"))
    }

    /// Returns the heading and the rows as aligned lines of unlimited width.
    pub(super) fn all_lines(&self) -> Vec<String> {
        self.aligned_lines(u16::MAX)
    }

    /// Returns the heading and the rows as aligned lines of at most `width` columns.
    pub(super) fn aligned_lines(&self, width: u16) -> Vec<String> {
        let widths = self.widths(width);
        let mut table = comfy_table::Table::new();
        table
            .load_style(TableStyle::new())
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
        if self.overlong == Overflow::Cut {
            table
                .set_delimiter(NO_DELIMITER)
                .set_truncation_indicator("…");
        }
        table.set_header(
            self.columns
                .iter()
                .map(|column| column.name().to_uppercase()),
        );
        for (index, column) in self.columns.iter().enumerate() {
            let is_last = index + 1 == self.columns.len();
            let Some(drawn) = table.column_mut(index) else {
                continue;
            };
            drawn.set_padding((0, if is_last { 0 } else { GAP }));
            drawn.set_constraint(match widths[index] {
                0 => ColumnConstraint::Hidden,
                own => {
                    ColumnConstraint::Absolute(Width::Fixed(own + if is_last { 0 } else { GAP }))
                }
            });
            if matches!(column, TableColumn::Number(_)) {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            let mut drawn = Row::from(row.clone());
            if self.overlong == Overflow::Cut {
                drawn.max_height(1);
            }
            table.add_row(drawn);
        }
        table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    /// Returns the width of each column, without the gap after it; 0 for a hidden column.
    ///
    /// Columns of numbers, identifiers and times have the width of their content, even beyond `width`. Of the remaining
    /// width, the last text column gets half, or more if the others need less. The other text columns share the rest.
    /// In tables with truncated rows, the rightmost of them are hidden if their share is too narrow.
    fn widths(&self, width: u16) -> Vec<u16> {
        let cells = |index: usize| {
            self.rows
                .iter()
                .filter_map(move |row| row.get(index))
                .map(|cell| cell.width())
        };
        let content = |(index, column): (usize, &TableColumn)| {
            let widest = cells(index)
                .chain([column.name().width()])
                .max()
                .unwrap_or_default();
            u16::try_from(widest).unwrap_or(u16::MAX)
        };
        let contents: Vec<u16> = self.columns.iter().enumerate().map(content).collect();
        let mut widths = contents.clone();
        let Some(last) = self.columns.iter().rposition(|column| column.is_flexible()) else {
            return widths;
        };
        let mut others: Vec<usize> = (0..last)
            .filter(|index| self.columns[*index].is_flexible())
            .collect();
        loop {
            let is_shown = |index: &usize| {
                others.contains(index) || *index == last || !self.columns[*index].is_flexible()
            };
            let shown: Vec<usize> = (0..contents.len()).filter(is_shown).collect();
            let gaps = u16::try_from(shown.len().saturating_sub(1))
                .unwrap_or(u16::MAX)
                .saturating_mul(GAP);
            let whole = shown
                .iter()
                .filter(|index| !self.columns[**index].is_flexible())
                .map(|index| contents[*index]);
            let room = whole.fold(width.saturating_sub(gaps), u16::saturating_sub);
            let text = contents[last].min((room / 2).max(MIN_LAST_WIDTH));
            let share = width_limit(
                room.saturating_sub(text),
                others.iter().map(|index| contents[*index]).collect(),
            );
            let is_too_narrow =
                |index: &usize| share < contents[*index].min(min_width(self.columns[*index]));
            if self.overlong == Overflow::Cut
                && others.iter().any(is_too_narrow)
                && let Some(hidden) = others.pop()
            {
                widths[hidden] = 0;
                continue;
            }
            let mut left = room;
            for index in &others {
                widths[*index] = contents[*index].min(share.max(min_width(self.columns[*index])));
                left = left.saturating_sub(widths[*index]);
            }
            widths[last] = contents[last].min(left.max(MIN_LAST_WIDTH));
            return widths;
        }
    }
}

/// Number of blanks between two columns.
const GAP: u16 = 2;

/// Returns the minimum width of a text column: the width of its name, at least [`MIN_WIDTH`].
fn min_width(column: TableColumn) -> u16 {
    u16::try_from(column.name().width())
        .unwrap_or(u16::MAX)
        .max(MIN_WIDTH)
}

/// Minimum width of a text column.
const MIN_WIDTH: u16 = 5;

/// Minimum width of the last text column, if its text is longer.
const MIN_LAST_WIDTH: u16 = 12;

/// Returns the largest width limit per column with which columns of these widths fit into `room`.
fn width_limit(room: u16, mut contents: Vec<u16>) -> u16 {
    contents.sort_unstable();
    let mut room = room;
    for (index, content) in contents.iter().enumerate() {
        let count = u16::try_from(contents.len() - index).unwrap_or(u16::MAX);
        if room / count < *content {
            return room / count;
        }
        room -= content;
    }
    u16::MAX
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn wide_characters_stand_below_each_other_and_long_text_is_cut_or_goes_on() {
        let columns = [
            TableColumn::Text("id"),
            TableColumn::Number("read"),
            TableColumn::Text("text"),
        ];
        let mut table = Table::truncated(columns);
        table.push([
            "a1b2c3d4",
            "7",
            "the cache keeps timetables for five minutes",
        ]);
        table.push([
            "e5f6a7b8",
            "1234",
            "早上六点半起床，先泡茶，七点半以前不看消息",
        ]);
        table.push(["茶", "1", "two\nlines"]);
        assert_snapshot!(table.aligned_lines(40).join("\n"), @"
        ID        READ  TEXT
        a1b2c3d4     7  the cache keeps timetab…
        e5f6a7b8  1234  早上六点半起床，先泡茶…
        茶           1  two lines
        ");
        let table = Table {
            overlong: Overflow::Wrapped,
            ..table
        };
        assert_snapshot!(table.aligned_lines(40).join("\n"), @"
        ID        READ  TEXT
        a1b2c3d4     7  the cache keeps
                        timetables for five
                        minutes
        e5f6a7b8  1234  早上六点半起床，先泡茶，
                        七点半以前不看消息
        茶           1  two lines
        ");
        assert_snapshot!(table.tabbed_lines().collect::<Vec<_>>().join("\n"), @"
        a1b2c3d4	7	the cache keeps timetables for five minutes
        e5f6a7b8	1234	早上六点半起床，先泡茶，七点半以前不看消息
        茶	1	two lines
        ");
    }

    #[test]
    fn identifiers_are_whole_and_the_text_gets_the_space() {
        let columns = ["id", "created"]
            .map(TableColumn::Whole)
            .into_iter()
            .chain(["category", "tags", "text"].map(TableColumn::Text));
        let mut table = Table::truncated(columns.collect::<Vec<_>>());
        let text = "the cache keeps timetables for five minutes and more";
        table.push([
            "a1b2c3d4",
            "2026-05-07",
            "preferences",
            "#one #two #three",
            text,
        ]);
        assert_snapshot!(table.aligned_lines(100).join("\n"), @"
        ID        CREATED     CATEGORY     TAGS              TEXT
        a1b2c3d4  2026-05-07  preferences  #one #two #three  the cache keeps timetables for five minutes an…
        ");
        assert_snapshot!(table.aligned_lines(60).join("\n"), @"
        ID        CREATED     CATEGORY  TAGS      TEXT
        a1b2c3d4  2026-05-07  prefere…  #one #t…  the cache keeps t…
        ");
        assert_snapshot!(table.aligned_lines(40).join("\n"), @"
        ID        CREATED     TEXT
        a1b2c3d4  2026-05-07  the cache keeps t…
        ");
        assert_snapshot!(table.aligned_lines(20).join("\n"), @"
        ID        CREATED     TEXT
        a1b2c3d4  2026-05-07  the cache k…
        ");
        let mut table = Table::new([
            TableColumn::Whole("key"),
            TableColumn::Text("value"),
            TableColumn::Number("bytes"),
        ]);
        table.push([
            "proxy.openai_base_url_of_the_server",
            "a value of several words that goes on",
            "12",
        ]);
        assert_snapshot!(table.aligned_lines(60).join("\n"), @"
        KEY                                  VALUE             BYTES
        proxy.openai_base_url_of_the_server  a value of           12
                                             several words
                                             that goes on
        ");
    }
}
