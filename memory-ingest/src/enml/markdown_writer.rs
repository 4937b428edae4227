//! Lines of Markdown, with lists, tables and code.

use super::escape::{escape_marked, push_plain};

/// Maximum nesting that is shown by indentation. Deeper levels have the same indentation.
const MAX_LEVELS: usize = 24;

/// The block before the position, if an empty line must separate it from the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingBlock {
    /// A list. Other items may follow without an empty line.
    List,
    /// Any other block.
    Other,
}

/// A level of indentation: the text before its first line, and before the others.
struct IndentLevel {
    first: Option<String>,
    rest: String,
}

struct ListState {
    number: Option<u64>,
    is_checklist: bool,
    /// The number of columns of the mark of the last item; 0 before the first one.
    mark_width: usize,
    /// Whether the list is in the previous item of the list around it.
    is_in_item: bool,
}

/// A block of code: its language, its text, and the number of elements that are open in it.
struct CodeBlock {
    language: String,
    text: String,
    depth: usize,
}

/// Writes Markdown line by line.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    markdown: String,
    line: String,
    levels: Vec<IndentLevel>,
    lists: Vec<ListState>,
    code: Option<CodeBlock>,
    table: Option<Vec<Vec<String>>>,
    is_in_cell: bool,
    /// The block that ended after the last line.
    block_end: Option<PrecedingBlock>,
    /// Whether the last line has text.
    has_text: bool,
}

impl MarkdownWriter {
    /// Adds text in which spaces and line breaks are equivalent to one space, outside of code.
    ///
    /// Text between marks of code is added as it is; other text is escaped.
    pub(super) fn push_text(&mut self, text: &str, is_in_link: bool, is_code: bool) {
        if let Some(code) = &mut self.code {
            code.text.push_str(&text.replace('\u{a0}', " "));
            return;
        }
        for letter in text.chars() {
            let is_space = matches!(letter, ' ' | '\n' | '\r' | '\t' | '\u{a0}');
            if !is_space && is_code {
                self.line.push(letter);
            } else if !is_space {
                push_plain(&mut self.line, letter, is_in_link);
            } else if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
        }
    }

    /// Adds markup to the line.
    pub(super) fn push_markup(&mut self, parts: &[&str]) {
        self.line.extend(parts.iter().copied());
    }

    /// Returns the position at the end of the line.
    pub(super) fn position(&self) -> usize {
        self.line.len()
    }

    /// Replaces a link whose text began at the position `start`, unless a line ended in it. Returns whether it did.
    pub(super) fn replace_link(&mut self, start: usize, link: &str) -> bool {
        let Some(bracket) = start.checked_sub(1) else {
            return false;
        };
        let is_whole = self
            .line
            .get(bracket..)
            .is_some_and(|rest| rest.starts_with('['));
        if is_whole {
            let spaces = self.line.ends_with(' ');
            self.line.truncate(bracket);
            self.line.push_str(link);
            self.line.push_str(if spaces { " " } else { "" });
        }
        is_whole
    }

    /// Returns whether the line is empty and in no list or table.
    pub(super) fn is_at_block_start(&self) -> bool {
        self.line.trim().is_empty() && self.lists.is_empty() && !self.is_in_cell
    }

    pub(super) fn is_in_code(&self) -> bool {
        self.code.is_some()
    }

    pub(super) fn is_in_table(&self) -> bool {
        self.table.is_some()
    }

    pub(super) fn is_in_cell(&self) -> bool {
        self.is_in_cell
    }

    /// Starts a block, such as a paragraph or a heading.
    pub(super) fn start_block(&mut self, prefix: &str) {
        self.flush_line(false);
        self.line.push_str(prefix);
    }

    /// Starts a level of indentation; returns whether it must be ended.
    pub(super) fn start_level(&mut self, first: &str, rest: &str) -> bool {
        self.flush_line(false);
        let is_shown = self.levels.len() < MAX_LEVELS;
        if is_shown {
            self.levels.push(IndentLevel {
                first: Some(first.to_owned()),
                rest: rest.to_owned(),
            });
        } else {
            self.line.push_str(first);
        }
        is_shown
    }

    pub(super) fn end_level(&mut self) {
        self.flush_line(false);
        self.levels.pop();
    }

    /// Ends a quotation; `is_level` is the result of its start.
    pub(super) fn end_quote(&mut self, is_level: bool) {
        self.flush_line(false);
        if is_level {
            self.levels.pop();
        }
        self.block_end = Some(PrecedingBlock::Other);
    }

    /// Writes a line between two parts of the text. Right after a text it would make it a heading.
    pub(super) fn push_rule(&mut self) {
        self.flush_line(false);
        self.block_end = Some(PrecedingBlock::Other);
        self.line.push_str("---");
        self.flush_line(false);
    }

    /// Starts a list, which is numbered from `number` on. A list directly `is_in_list` belongs to the last item of that list.
    pub(super) fn start_list(&mut self, number: Option<u64>, is_checklist: bool, is_in_list: bool) {
        self.flush_line(false);
        let width = self.lists.last().map_or(0, |list| list.mark_width);
        let is_in_item = is_in_list && 0 < width && self.levels.len() < MAX_LEVELS;
        if is_in_item {
            self.levels.push(IndentLevel {
                first: None,
                rest: " ".repeat(width),
            });
        }
        // Only a list that is numbered from 1 on may follow a text.
        if number.is_some_and(|number| number != 1) && !self.is_in_cell {
            self.block_end = Some(PrecedingBlock::Other);
        }
        self.lists.push(ListState {
            number,
            is_checklist,
            mark_width: 0,
            is_in_item,
        });
    }

    pub(super) fn end_list(&mut self) {
        self.flush_line(false);
        if self.lists.pop().is_some_and(|list| list.is_in_item) {
            self.levels.pop();
        }
        self.block_end = self.block_end.or(Some(PrecedingBlock::List));
    }

    /// Starts an item of a list; returns whether its level must be ended.
    pub(super) fn start_item(&mut self, is_checked: bool) -> bool {
        let mut list = self.lists.last_mut();
        let is_checklist = list.as_ref().is_some_and(|list| list.is_checklist);
        let mut mark = match list.as_mut().and_then(|list| list.number.as_mut()) {
            Some(number) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            None => "- ".to_owned(),
        };
        let rest = " ".repeat(mark.len());
        if let Some(list) = list {
            list.mark_width = mark.len();
        }
        if is_checklist {
            mark.push_str(if is_checked { "[x] " } else { "[ ] " });
        }
        self.start_level(&mark, &rest)
    }

    /// Ends the text after a mark, such as `**`, which ends at the position `start`.
    pub(super) fn end_mark(&mut self, mark: &str, start: usize) {
        let Some(text) = self
            .line
            .get(start..)
            .filter(|text| !text.trim().is_empty())
        else {
            // Without text, also the first mark is left out, unless a line ended between them.
            let first = start
                .checked_sub(mark.len())
                .filter(|first| self.line.get(*first..start) == Some(mark));
            match first {
                Some(first) => drop(self.line.drain(first..start)),
                None => self.line.push_str(mark),
            }
            return;
        };
        // A mark after a space does not end the emphasis.
        let spaces = text.len() - text.trim_end().len();
        let at = self.line.len() - spaces;
        self.line.insert_str(at, mark);
    }

    /// Starts a block of code.
    pub(super) fn start_code(&mut self, language: &str) {
        self.flush_line(false);
        self.code = Some(CodeBlock {
            language: language.to_owned(),
            text: String::new(),
            depth: 1,
        });
    }

    /// Starts an element in a block of code. Some elements start a line.
    pub(super) fn start_in_code(&mut self, name: &str) {
        let Some(code) = &mut self.code else { return };
        let is_line = matches!(name, "div" | "p" | "br") && !code.text.is_empty();
        if is_line && (name == "br" || !code.text.ends_with('\n')) {
            code.text.push('\n');
        }
        code.depth += 1;
    }

    /// Ends a block of code or an element in it.
    pub(super) fn end_code(&mut self) {
        let Some(code) = &mut self.code else { return };
        code.depth -= 1;
        if code.depth != 0 {
            return;
        }
        let Some(CodeBlock { language, text, .. }) = self.code.take() else {
            return;
        };
        let longest = text
            .split(|letter| letter != '`')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        let text = text.trim_matches('\n').replace('\r', "");
        for line in format!("{fence}{language}\n{text}\n{fence}").split('\n') {
            self.line.push_str(line);
            self.flush_line(true);
        }
    }

    pub(super) fn start_table(&mut self) {
        self.flush_line(false);
        self.block_end = Some(PrecedingBlock::Other);
        self.table = Some(Vec::new());
    }

    pub(super) fn start_row(&mut self) {
        self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
    }

    pub(super) fn start_cell(&mut self) {
        self.line.clear();
        self.is_in_cell = true;
    }

    pub(super) fn end_cell(&mut self) {
        let line = std::mem::take(&mut self.line);
        // The end of the last line of a cell is no break.
        let text = line.trim();
        let text = text.strip_suffix("<br>").unwrap_or(text);
        let cell = text.trim_end().replace('|', "\\|");
        self.is_in_cell = false;
        if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
            row.push(cell);
        }
    }

    pub(super) fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        // A wide row must not widen many others.
        let is_regular =
            columns * rows.len() <= 2 * rows.iter().map(Vec::len).sum::<usize>() + 1_000;
        for (index, mut row) in rows.into_iter().enumerate().filter(|_| 0 < columns) {
            if is_regular {
                row.resize(columns, String::new());
            }
            self.line = format!("| {} |", row.join(" | "));
            self.flush_line(false);
            if index == 0 {
                self.line = format!("|{}", " --- |".repeat(row.len()));
                self.flush_line(false);
            }
        }
        self.markdown.push('\n');
        self.has_text = false;
    }

    /// Ends the line. Without text it becomes an empty line if `is_break`.
    pub(super) fn flush_line(&mut self, is_break: bool) {
        if self.is_in_cell {
            if !self.line.trim().is_empty() && !self.line.ends_with("<br>") {
                self.line.truncate(self.line.trim_end().len());
                self.line.push_str("<br>");
            }
            return;
        }
        let line = escape_marked(std::mem::take(&mut self.line).trim_end());
        if line.is_empty() && !is_break {
            return;
        }
        if !line.is_empty() {
            self.separate_blocks(line.starts_with("- "));
        }
        self.has_text = !line.is_empty();
        let mut whole = String::new();
        for level in &mut self.levels {
            match level.first.take().filter(|_| !line.is_empty()) {
                Some(first) => whole.push_str(&first),
                None => whole.push_str(&level.rest),
            }
        }
        whole.push_str(&line);
        self.markdown.extend([whole.trim_end(), "\n"]);
    }

    /// Writes an empty line before the next line, if the block before it requires one. `is_item` states whether the next line is
    /// a list item without a level.
    fn separate_blocks(&mut self, is_item: bool) {
        let open = self
            .levels
            .iter()
            .take_while(|level| level.first.is_none())
            .count();
        let is_item = is_item || open < self.levels.len();
        let is_separate = match self.block_end.take() {
            None => false,
            Some(PrecedingBlock::List) => !is_item,
            Some(PrecedingBlock::Other) => true,
        };
        if is_separate && self.has_text {
            let indent: String = self.levels[..open]
                .iter()
                .map(|level| level.rest.as_str())
                .collect();
            self.markdown.extend([indent.trim_end(), "\n"]);
        }
    }

    /// Returns the text, in which at most one empty line separates two blocks.
    pub(super) fn finish(mut self) -> String {
        self.flush_line(false);
        let text = self.markdown.trim_matches('\n');
        let mut lines = String::with_capacity(text.len());
        let mut blank_lines = 0;
        for line in text.split('\n') {
            blank_lines = if line.is_empty() { blank_lines + 1 } else { 0 };
            if blank_lines < 2 {
                lines.extend([line, "\n"]);
            }
        }
        lines.pop();
        lines
    }
}
