//! Tables.

use std::borrow::Cow;

use super::escape_line;
use super::wrap::{cut_between_words, display_width, wrap_lines, wrap_paragraphs};

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
    ///
    /// Columns at the end that do not fit follow below each row.
    pub(super) fn aligned_lines(&self, width: u16) -> Vec<String> {
        let width = usize::from(width);
        let widths = self.widths(width);
        let names = self
            .columns
            .iter()
            .map(|column| column.name().to_uppercase());
        let names: Vec<String> = names.collect();
        let mut lines = self.row_lines(&names, &widths);
        for row in &self.rows {
            // From a word that is longer than its column on, the cells follow below.
            let is_too_long = |(cell, width): (&String, &usize)| {
                self.overlong == Overflow::Wrapped
                    && cell.split(' ').map(word_width).any(|word| *width < word)
            };
            let aligned = row.iter().zip(&widths).position(is_too_long);
            let aligned = aligned.unwrap_or(widths.len());
            lines.extend(self.row_lines(row, &widths[..aligned]));
            let cells = self.columns.iter().zip(row).skip(aligned);
            let below =
                cells
                    .filter(|(_, cell)| !cell.is_empty())
                    .map(|(column, cell)| match column {
                        TableColumn::Number(name) => format!("{name}: {cell}"),
                        TableColumn::Text(_) | TableColumn::Whole(_) => cell.clone(),
                    });
            let below: Vec<String> = below.collect();
            if !below.is_empty() {
                let below = format!("  {}", below.join(" · "));
                let below = match self.overlong {
                    Overflow::Cut => cut_between_words(&below, width),
                    Overflow::Wrapped => wrap_paragraphs(&below, width, 0),
                };
                lines.extend(below.lines().map(str::to_owned));
            }
        }
        lines
    }

    /// Returns the lines of the aligned cells of a row.
    fn row_lines(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let (cell, width) = (cell.as_str(), *width);
            match self.overlong {
                Overflow::Cut => vec![cut_between_words(cell, width)],
                Overflow::Wrapped => wrap_lines(cell, width.max(1))
                    .into_iter()
                    .map(|part| Cow::Borrowed(&cell[part]))
                    .collect(),
            }
        });
        let cells: Vec<_> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |index: usize| {
            let mut line = String::new();
            for ((cell, width), column) in cells.iter().zip(widths).zip(&self.columns) {
                if *width == 0 {
                    continue;
                }
                let text = cell.get(index).map_or("", |text| text);
                let padding = " ".repeat(width.saturating_sub(display_width(text)));
                let gap = if line.is_empty() { "" } else { GAP };
                let (before, after) = match column {
                    TableColumn::Number(_) => (padding.as_str(), ""),
                    TableColumn::Text(_) | TableColumn::Whole(_) => ("", padding.as_str()),
                };
                line.extend([gap, before, text, after]);
            }
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    /// Returns the widths of the aligned columns for a terminal of `width` columns; 0 is a hidden one. Further columns do not fit.
    ///
    /// Identifiers, times and numbers are whole. The last text column gets the remaining space, at least half of it. In a
    /// truncated table, the others are hidden from the end while they or the last one have no room for their words.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut sizes: Vec<ColumnSize> = (0..self.columns.len())
            .map(|index| self.column_size(index))
            .collect();
        let mut count = sizes.len();
        loop {
            let shown = &mut sizes[..count];
            let gaps = GAP.len() * shown.iter().filter(|size| 0 < size.content).count();
            let needed: usize = shown.iter().map(|size| size.least).sum();
            if needed + gaps <= width + GAP.len() {
                let room = (width + GAP.len()).saturating_sub(gaps);
                return share_room(shown, room);
            }
            let last = shown.iter().rposition(|size| size.is_flexible);
            let others = shown[..last.unwrap_or_default()].iter();
            match others
                .rev()
                .position(|size| size.is_flexible && 0 < size.content)
            {
                Some(place) if self.overlong == Overflow::Cut => {
                    shown[last.unwrap_or_default() - 1 - place] = ColumnSize::default();
                }
                _ if count == 1 => {
                    return vec![shown[0].content.min(width.max(shown[0].least))];
                }
                _ => count -= 1,
            }
        }
    }

    fn column_size(&self, index: usize) -> ColumnSize {
        let column = self.columns[index];
        let name = display_width(column.name());
        let cells = || self.rows.iter().filter_map(move |row| row.get(index));
        let content = cells()
            .map(|cell| display_width(cell))
            .max()
            .unwrap_or_default();
        let content = content.max(name);
        if !column.is_flexible() {
            return ColumnSize {
                content,
                least: content,
                is_flexible: false,
            };
        }
        let words = cells().flat_map(|cell| cell.split(' ')).map(word_width);
        let words = words.filter(|word| *word <= MAX_WORD_WIDTH);
        let is_last = !self.columns[index + 1..]
            .iter()
            .any(|own| own.is_flexible());
        let least = match self.overlong {
            Overflow::Cut if is_last => MIN_LAST_CUT_WIDTH,
            Overflow::Wrapped if is_last => words.max().unwrap_or_default().max(MIN_LAST_WIDTH),
            // A sign follows the words that are shown.
            Overflow::Cut => words.max().unwrap_or_default() + 1,
            Overflow::Wrapped => words.max().unwrap_or_default().max(MIN_WIDTH),
        };
        ColumnSize {
            content,
            least: least.max(name).min(content),
            is_flexible: true,
        }
    }
}

/// The width that a column needs; the default is that of a hidden one.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnSize {
    content: usize,
    /// The width without which words are divided or too little of a text is shown.
    least: usize,
    is_flexible: bool,
}

/// Returns the widths of columns that share `room`, which is at least the sum of what they need.
fn share_room(sizes: &[ColumnSize], room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = sizes.iter().map(|size| size.least).collect();
    let mut left = room - widths.iter().sum::<usize>();
    let Some(last) = sizes.iter().rposition(|size| size.is_flexible) else {
        return widths;
    };
    let whole = sizes.iter().filter(|size| !size.is_flexible);
    let half = (room - whole.map(|size| size.content).sum::<usize>()) / 2;
    let mut grow = |index: usize, end: usize, most: usize| {
        let more = end.saturating_sub(widths[index]).min(left).min(most);
        widths[index] += more;
        left -= more;
        0 < more
    };
    grow(last, sizes[last].content.min(half), room);
    // The narrowest columns are complete first: all grow by one column, until each is complete or nothing is left.
    let mut is_growing = true;
    while is_growing {
        is_growing = false;
        for (index, size) in sizes[..last].iter().enumerate() {
            is_growing |= grow(index, size.content, 1);
        }
    }
    grow(last, sizes[last].content, room);
    widths
}

/// Returns the number of columns that a word needs; scripts without blanks may break anywhere.
fn word_width(word: &str) -> usize {
    let is_narrow = |text: &str| display_width(text) <= text.chars().count();
    if is_narrow(word) {
        display_width(word)
    } else {
        4
    }
}

/// Maximum width of a word for which a column is made wide enough.
const MAX_WORD_WIDTH: usize = 24;

/// The blanks between two columns.
const GAP: &str = "  ";

/// Minimum width of a text column, if its text is longer.
const MIN_WIDTH: usize = 5;

/// Minimum width of the last text column, if its text is longer.
const MIN_LAST_WIDTH: usize = 16;

/// Minimum width of the last text column of a truncated table, if its text is longer.
const MIN_LAST_CUT_WIDTH: usize = 20;

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
        a1b2c3d4     7  the cache keeps…
        e5f6a7b8  1234  早上六点半起床，先泡…
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
        a1b2c3d4  2026-05-07  preferences  #one #two #three  the cache keeps timetables for five minutes…
        ");
        assert_snapshot!(table.aligned_lines(60).join("\n"), @"
        ID        CREATED     CATEGORY     TEXT
        a1b2c3d4  2026-05-07  preferences  the cache keeps…
        ");
        assert_snapshot!(table.aligned_lines(40).join("\n"), @"
        ID        CREATED
        a1b2c3d4  2026-05-07
          the cache keeps timetables for five…
        ");
        assert_snapshot!(table.aligned_lines(20).join("\n"), @"
        ID        CREATED
        a1b2c3d4  2026-05-07
          the cache keeps…
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
