//! Merges the generated lines with the lines of the user.

use super::page::{EMPTY, IndexLine, IndexLineKind, IndexPage, TITLE, TopicIndex};
use crate::topic::TopicKind;

/// The entries of one topic type, at least one; without a type they get no generated heading.
pub(super) type IndexSection = (Option<TopicKind>, Vec<String>);

/// Returns the index with these sections, in the order of their types.
pub(super) fn merge_index(page: &IndexPage<'_>, sections: &[IndexSection]) -> TopicIndex {
    let text = page.mark.to_owned();
    let start = text.len();
    let mut woven = IndexBuilder {
        index: TopicIndex {
            text,
            ours: Vec::new(),
        },
        newline: page.newline,
        start,
        is_apart: false,
    };
    if !page.is_shared() {
        woven.add_all(sections);
        return woven.index;
    }
    let kept: Vec<TopicKind> = page
        .lines
        .iter()
        .filter_map(|line| line.what.heading_kind())
        .collect();
    let is_missing = |section: &&IndexSection| section.0.is_none_or(|kind| !kept.contains(&kind));
    let mut missing = sections.iter().filter(is_missing).peekable();
    // If a heading occurs twice, the entries follow the first.
    let mut placed: Vec<TopicKind> = Vec::new();
    let (mut rest, open) = page.lines.split_at(page.before_open);
    while !rest.is_empty() {
        let next = rest[1..]
            .iter()
            .position(|line| line.what.heading_kind().is_some())
            .map_or(rest.len(), |at| at + 1);
        let (part, behind) = rest.split_at(next);
        rest = behind;
        let Some(kind) = part[0].what.heading_kind() else {
            for line in part {
                woven.copy_line(line);
            }
            continue;
        };
        while let Some(section) =
            missing.next_if(|(other, _)| other.is_some_and(|other| other < kind))
        {
            woven.add_section(section);
            woven.add_blank();
        }
        let entries = sections
            .iter()
            .find(|(other, _)| *other == Some(kind) && !placed.contains(&kind));
        let entries = entries.map(|(_, entries)| entries.as_slice());
        placed.push(kind);
        woven.copy_section(part, entries.unwrap_or_default());
    }
    missing.for_each(|section| woven.add_section(section));
    if !open.is_empty() {
        woven.separate_generated();
        for line in open {
            woven.copy_line(line);
        }
    }
    woven.record_blank();
    woven.index
}

/// Builder of a merged index.
struct IndexBuilder {
    index: TopicIndex,
    newline: &'static str,
    start: usize,
    /// Whether the text ends in a generated empty line.
    is_apart: bool,
}

impl IndexBuilder {
    /// Writes an index without lines of the user.
    fn add_all(&mut self, sections: &[IndexSection]) {
        self.add_line(TITLE);
        for section in sections {
            self.add_section(section);
        }
        if sections.is_empty() {
            self.add_blank();
            self.add_line(EMPTY);
        }
    }

    /// Copies a line of the previous index, unless it is a generated line that gets replaced.
    fn copy_line(&mut self, line: &IndexLine<'_>) {
        match line.what {
            IndexLineKind::Ours => {}
            IndexLineKind::Title | IndexLineKind::Heading(_) => self.add_line(line.text.trim_end()),
            IndexLineKind::TheirHeading(_) | IndexLineKind::Blank | IndexLineKind::Theirs => {
                self.end_line();
                self.record_blank();
                self.index.text.push_str(line.text);
            }
        }
    }

    /// Adds a generated line.
    fn add_line(&mut self, line: &str) {
        self.end_line();
        let before = if std::mem::take(&mut self.is_apart) {
            "\n"
        } else {
            ""
        };
        self.index.ours.push([before, line].concat());
        self.index.text.push_str(line);
        self.index.text.push_str(self.newline);
    }

    /// Records a trailing generated empty line as part of the generated line before it.
    fn record_blank(&mut self) {
        if std::mem::take(&mut self.is_apart)
            && let Some(last) = self.index.ours.last_mut()
        {
            last.push('\n');
        }
    }

    /// Terminates an unterminated last line.
    fn end_line(&mut self) {
        if self.start < self.index.text.len() && !self.index.text.ends_with('\n') {
            self.index.text.push_str(self.newline);
        }
    }

    /// Adds an empty line unless there is one already.
    fn add_blank(&mut self) {
        self.end_line();
        let last = self.index.text[self.start..].lines().next_back();
        if last.is_some_and(|last| !last.trim().is_empty()) {
            self.index.text.push_str(self.newline);
            self.is_apart = true;
        }
    }

    /// Separates a generated last line from a following line of the user.
    ///
    /// Without the empty line the following line would continue the paragraph or list item.
    fn separate_generated(&mut self) {
        let is_ours = |last: &str| {
            self.index
                .ours
                .last()
                .is_some_and(|own| own.trim_matches('\n') == last)
        };
        if self.index.text[self.start..]
            .lines()
            .next_back()
            .is_some_and(is_ours)
        {
            self.add_blank();
        }
    }

    /// Adds a section that the previous index did not contain.
    fn add_section(&mut self, (kind, lines): &IndexSection) {
        self.add_blank();
        if let Some(kind) = kind {
            self.add_line(kind.heading());
        }
        for line in lines {
            self.add_line(line);
        }
    }

    /// Copies a section of the previous index, with `entries` at the position of the previous entries.
    fn copy_section(&mut self, part: &[IndexLine<'_>], entries: &[String]) {
        let is_theirs = part.iter().any(|line| line.what.is_user_line());
        if entries.is_empty() && !is_theirs {
            return;
        }
        if matches!(part[0].what, IndexLineKind::Heading(_)) {
            self.add_blank();
        } else {
            self.separate_generated();
        }
        let place = part
            .iter()
            .position(|line| line.what == IndexLineKind::Ours)
            .unwrap_or(1);
        for (at, line) in part.iter().enumerate() {
            if at == place {
                self.add_entries(entries, &part[at..]);
            }
            self.copy_line(line);
        }
        if part.len() <= place {
            self.add_entries(entries, &[]);
        }
    }

    fn add_entries(&mut self, entries: &[String], behind: &[IndexLine<'_>]) {
        for line in entries {
            self.add_line(line);
        }
        let next = behind.iter().find(|line| line.what != IndexLineKind::Ours);
        // The next line of the user would continue the last entry, unless it starts a list item or heading.
        let begins = |text: &str| {
            ["- ", "* ", "+ ", "#"]
                .iter()
                .any(|sign| text.starts_with(sign))
        };
        let goes_on = |next: &IndexLine<'_>| {
            matches!(next.what, IndexLineKind::Theirs | IndexLineKind::Title) && !begins(next.text)
        };
        if !entries.is_empty() && next.is_some_and(goes_on) {
            self.add_blank();
        }
    }
}
