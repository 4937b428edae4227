//! Parses a Markdown text into passages: blocks that can be moved without changing their meaning.

use std::ops::Range;

use super::line::{
    BlockOpening, block_opening, heading_title, is_dividing_row, is_item, is_rule, is_underline,
    strip_bullet,
};
use super::sentence::{announces, key, sentence_ranges};

/// The kind of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassageKind {
    /// Sentences, which can be separated.
    Paragraph,
    /// A heading, which applies to the passages after it.
    Heading,
    /// A list item with all items below it.
    Item,
    /// A block quote.
    Quote,
    /// A table.
    Table,
    /// Code, a formula or a comment.
    Verbatim,
    /// A thematic break, which has no content.
    Rule,
}

/// A block of a text.
#[derive(Debug)]
pub(crate) struct Passage<'a> {
    /// Its kind.
    pub(crate) kind: PassageKind,
    /// Its lines, without the last line break.
    pub(crate) text: &'a str,
    /// The keys of its sentences.
    pub(crate) keys: Vec<String>,
    /// The index of the heading or announcing passage that applies to it.
    pub(crate) under: Option<usize>,
    /// Whether it ends with an announcement of the next passage.
    pub(crate) announces: bool,
    /// The number of blank lines before it in the text; passages with the same number form a run.
    pub(crate) run: usize,
    /// The missing line that would close it.
    pub(crate) unclosed: Option<String>,
}

impl Passage<'_> {
    /// Returns the topic of passages under it: its last key.
    pub(crate) fn topic(&self) -> Option<&str> {
        self.keys.last().map(String::as_str)
    }
}

/// Parses a text into its passages, in order.
///
/// The text before a blank line affects the text after it only through [`Passage::under`] and unclosed blocks.
pub(crate) fn parse_passages(text: &str) -> Vec<Passage<'_>> {
    let mut reader = PassageParser {
        text,
        lines: line_ranges(text),
        found: Vec::new(),
        run: 0,
        topics: PassageTopics::default(),
    };
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.parse_passage(at);
    }
    reader.found
}

fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    };
    text.split_inclusive('\n').map(line).collect()
}

struct PassageParser<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
    found: Vec<Passage<'a>>,
    run: usize,
    topics: PassageTopics,
}

impl<'a> PassageParser<'a> {
    fn line(&self, at: usize) -> &'a str {
        self.lines
            .get(at)
            .map_or("", |range| &self.text[range.clone()])
    }

    /// Parses the passage that starts at a line; returns the index of the next line.
    fn parse_passage(&mut self, at: usize) -> usize {
        let line = self.line(at);
        if line.trim().is_empty() {
            self.run += 1;
            return at + 1;
        }
        if let Some(opening) = block_opening(line) {
            return self.parse_verbatim(at, opening);
        }
        if let Some(title) = heading_title(line) {
            return self.push_passage(
                PassageKind::Heading,
                at..at + 1,
                key(title).into_iter().collect(),
            );
        }
        if is_rule(line) {
            return self.push_passage(PassageKind::Rule, at..at + 1, Vec::new());
        }
        if self.is_table(at) {
            return self.parse_table(at);
        }
        if line.trim_start().starts_with('>') {
            let end = self.end_of_lines(at, |line| {
                line.trim_start().starts_with('>') && block_opening(line).is_none()
            });
            let said: Vec<_> = (at..end)
                .map(|at| self.line(at).trim_start().trim_start_matches(['>', ' ']))
                .collect();
            return self.push_passage(PassageKind::Quote, at..end, sentence_keys(&said.join("\n")));
        }
        if is_item(line) {
            return self.parse_item(at);
        }
        let is_first = at == 0 || self.line(at - 1).trim().is_empty();
        if is_first && (line.starts_with("    ") || line.starts_with('\t')) {
            let end = self.end_of_lines(at, |line| block_opening(line).is_none());
            let code = self.code_key(at..end);
            return self.push_passage(PassageKind::Verbatim, at..end, vec![code]);
        }
        self.parse_paragraph(at)
    }

    /// Returns the first line after `at` that is blank or for which `wanted` returns false.
    fn end_of_lines(&self, at: usize, wanted: impl Fn(&str) -> bool) -> usize {
        let is_end = |at: &usize| self.line(*at).trim().is_empty() || !wanted(self.line(*at));
        (at + 1..self.lines.len())
            .find(is_end)
            .unwrap_or(self.lines.len())
    }

    fn push_passage(&mut self, kind: PassageKind, lines: Range<usize>, keys: Vec<String>) -> usize {
        let text = &self.text[self.lines[lines.start].start..self.lines[lines.end - 1].end];
        let under = self.topics.of(kind);
        let announces = announces(text) && !keys.is_empty();
        let passage = Passage {
            kind,
            text,
            keys,
            under,
            announces,
            run: self.run,
            unclosed: None,
        };
        self.topics.record_passage(self.found.len(), &passage);
        self.found.push(passage);
        lines.end
    }

    /// Returns the key of lines of code: it ignores only whitespace at the ends of lines.
    fn code_key(&self, lines: Range<usize>) -> String {
        let mut code = String::from("\0");
        for at in lines {
            code.push_str(self.line(at).trim_end());
            code.push('\n');
        }
        code.truncate(code.trim_end_matches('\n').len());
        code
    }

    fn parse_verbatim(&mut self, at: usize, opening: BlockOpening) -> usize {
        let closing = if opening.is_closed(self.line(at)) {
            Some(at)
        } else {
            (at + 1..self.lines.len()).find(|at| opening.closes(self.line(*at)))
        };
        let end = closing.map_or(self.lines.len(), |closing| closing + 1);
        let inside = match closing {
            Some(closing) if opening.is_fence() => at..closing.max(at + 1),
            _ => at..end,
        };
        let mut code = self.code_key(inside);
        // The key must not depend on where the block is closed, so that adding the closing mark does not change it.
        if !opening.is_fence() {
            let code_end = code.trim_end();
            let plain = code_end
                .strip_suffix(opening.closing().as_str())
                .filter(|plain| 1 < plain.trim_end().len())
                .unwrap_or(code_end);
            code.truncate(plain.trim_end().len());
        }
        self.push_passage(PassageKind::Verbatim, at..end, vec![code]);
        if closing.is_none()
            && let Some(last) = self.found.last_mut()
        {
            last.unclosed = Some(opening.closing());
        }
        end
    }

    fn is_table(&self, at: usize) -> bool {
        let line = self.line(at);
        line.trim_start().starts_with('|')
            || (line.contains('|') && is_dividing_row(self.line(at + 1)))
    }

    fn parse_table(&mut self, at: usize) -> usize {
        let end = self.end_of_lines(at, |line| {
            line.contains('|') && block_opening(line).is_none()
        });
        let rows: Vec<_> = (at..end)
            .map(|at| self.line(at))
            .filter(|row| !is_dividing_row(row))
            .filter_map(key)
            .collect();
        // The cells of a row have meaning only with the column headers.
        let keys = match rows.as_slice() {
            [head, rest @ ..] if !rest.is_empty() => {
                rest.iter().map(|row| format!("{head}\0{row}")).collect()
            }
            _ => rows,
        };
        self.push_passage(PassageKind::Table, at..end, keys)
    }

    fn parse_item(&mut self, at: usize) -> usize {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(self.line(at));
        let is_below = |line: &str| {
            block_opening(line).is_none()
                && heading_title(line).is_none()
                && (own < indent(line) || !is_item(line))
        };
        let end = self.end_of_lines(at, |line| is_below(line) && !is_rule(line));
        let lines: Vec<_> = (at..end).map(|at| self.line(at)).collect();
        let keys = if lines[1..].iter().any(|line| is_item(line)) {
            // The meaning of nested items depends on their parent, so the whole tree is one key.
            let tree = lines.iter().filter_map(|line| {
                Some(format!(
                    "{} {}",
                    indent(line).saturating_sub(own),
                    key(line)?
                ))
            });
            vec![tree.collect::<Vec<_>>().join("\0")]
        } else {
            let said: Vec<_> = lines.iter().map(|line| strip_bullet(line)).collect();
            sentence_keys(&said.join("\n"))
        };
        self.push_passage(PassageKind::Item, at..end, keys)
    }

    fn parse_paragraph(&mut self, at: usize) -> usize {
        let end = (at + 1..self.lines.len())
            .find(|at| self.ends_paragraph(*at))
            .unwrap_or(self.lines.len());
        let text = &self.text[self.lines[at].start..self.lines[end - 1].end];
        if end == at + 1 && is_underline(self.line(end)) {
            return self.push_passage(
                PassageKind::Heading,
                at..end + 1,
                key(text).into_iter().collect(),
            );
        }
        self.push_passage(PassageKind::Paragraph, at..end, sentence_keys(text))
    }

    fn ends_paragraph(&self, at: usize) -> bool {
        let line = self.line(at);
        let is_other = is_rule(line)
            || is_underline(line)
            || is_item(line)
            || line.trim_start().starts_with('>');
        line.trim().is_empty()
            || is_other
            || block_opening(line).is_some()
            || heading_title(line).is_some()
            || self.is_table(at)
    }
}

/// Returns the keys of the sentences of a text without blank lines.
fn sentence_keys(text: &str) -> Vec<String> {
    sentence_ranges(text)
        .into_iter()
        .filter_map(|range| key(&text[range]))
        .collect()
}

/// The headings and announcements that apply to the next passage, by passage index.
#[derive(Debug, Clone, Default)]
pub(super) struct PassageTopics {
    heading: Option<usize>,
    /// The paragraph that announced a list, code, a quote or a table.
    announcement: Option<usize>,
    /// The item that announced code, a quote or a table.
    item: Option<usize>,
}

impl PassageTopics {
    /// Returns the passage that a passage of this kind would be under.
    pub(super) fn of(&self, kind: PassageKind) -> Option<usize> {
        match kind {
            PassageKind::Heading => None,
            PassageKind::Paragraph | PassageKind::Rule => self.heading,
            PassageKind::Item => self.announcement.or(self.heading),
            PassageKind::Quote | PassageKind::Table | PassageKind::Verbatim => {
                self.item.or(self.announcement).or(self.heading)
            }
        }
    }

    /// Records the next passage.
    pub(super) fn record_passage(&mut self, number: usize, passage: &Passage<'_>) {
        match passage.kind {
            PassageKind::Heading => {
                *self = Self {
                    heading: (!passage.keys.is_empty()).then_some(number),
                    ..Self::default()
                }
            }
            PassageKind::Paragraph => {
                (self.announcement, self.item) = (passage.announces.then_some(number), None);
            }
            PassageKind::Item => self.item = passage.announces.then_some(number),
            PassageKind::Quote | PassageKind::Table | PassageKind::Verbatim | PassageKind::Rule => {
            }
        }
    }

    /// Records a paragraph that announces nothing.
    pub(super) fn record_statement(&mut self) {
        (self.announcement, self.item) = (None, None);
    }
}
