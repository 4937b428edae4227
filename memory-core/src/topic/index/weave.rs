//! Our lines among those of a person.

use super::page::{EMPTY, Line, Page, TITLE, What};
use super::written::WrittenIndex;
use crate::topic::TopicKind;

/// The lines of one kind of topics, at least one; without a kind they stand below no heading of ours.
pub(super) type Section = (Option<TopicKind>, Vec<String>);

/// Returns the index with these sections, in the order of their kinds.
pub(super) fn weave(page: &Page<'_>, sections: &[Section]) -> WrittenIndex {
    let text = page.mark.to_owned();
    let start = text.len();
    let mut woven = Woven { index: WrittenIndex { text, ours: Vec::new() }, newline: page.newline, start, is_apart: false };
    if !page.is_shared() {
        woven.alone(sections);
        return woven.index;
    }
    let kept: Vec<TopicKind> = page.lines.iter().filter_map(|line| line.what.heads()).collect();
    let is_missing = |section: &&Section| section.0.is_none_or(|kind| !kept.contains(&kind));
    let mut missing = sections.iter().filter(is_missing).peekable();
    // Where one of our headings stands twice, the entries stand below the first.
    let mut placed: Vec<TopicKind> = Vec::new();
    let (mut rest, open) = page.lines.split_at(page.before_open);
    while !rest.is_empty() {
        let next = rest[1..].iter().position(|line| line.what.heads().is_some()).map_or(rest.len(), |at| at + 1);
        let (part, behind) = rest.split_at(next);
        rest = behind;
        let Some(kind) = part[0].what.heads() else {
            for line in part {
                woven.keep(line);
            }
            continue;
        };
        while let Some(section) = missing.next_if(|(other, _)| other.is_some_and(|other| other < kind)) {
            woven.section(section);
            woven.blank();
        }
        let entries = sections.iter().find(|(other, _)| *other == Some(kind) && !placed.contains(&kind));
        let entries = entries.map(|(_, entries)| entries.as_slice());
        placed.push(kind);
        woven.part(part, entries.unwrap_or_default());
    }
    missing.for_each(|section| woven.section(section));
    if !open.is_empty() {
        woven.end_ours();
        for line in open {
            woven.keep(line);
        }
    }
    woven.end_apart();
    woven.index
}

/// An index in the making.
struct Woven {
    index: WrittenIndex,
    newline: &'static str,
    start: usize,
    /// Whether it ends in an empty line of ours.
    is_apart: bool,
}

impl Woven {
    /// Makes an index in which nobody else has written.
    fn alone(&mut self, sections: &[Section]) {
        self.line(TITLE);
        for section in sections {
            self.section(section);
        }
        if sections.is_empty() {
            self.blank();
            self.line(EMPTY);
        }
    }

    /// Keeps a line as it is, unless it is made anew.
    fn keep(&mut self, line: &Line<'_>) {
        match line.what {
            What::Ours => {}
            What::Title | What::Heading(_) => self.line(line.text.trim_end()),
            What::TheirHeading(_) | What::Blank | What::Theirs => {
                self.end_line();
                self.end_apart();
                self.index.text.push_str(line.text);
            }
        }
    }

    /// Adds a line of ours.
    fn line(&mut self, line: &str) {
        self.end_line();
        let before = if std::mem::take(&mut self.is_apart) { "\n" } else { "" };
        self.index.ours.push([before, line].concat());
        self.index.text.push_str(line);
        self.index.text.push_str(self.newline);
    }

    /// Lets an empty line of ours belong to the one before it.
    fn end_apart(&mut self) {
        if std::mem::take(&mut self.is_apart)
            && let Some(last) = self.index.ours.last_mut()
        {
            last.push('\n');
        }
    }

    /// Ends a line that nothing ended, since nothing followed.
    fn end_line(&mut self) {
        if self.start < self.index.text.len() && !self.index.text.ends_with('\n') {
            self.index.text.push_str(self.newline);
        }
    }

    /// Sees to it that what follows stands apart from what precedes.
    fn blank(&mut self) {
        self.end_line();
        let last = self.index.text[self.start..].lines().next_back();
        if last.is_some_and(|last| !last.trim().is_empty()) {
            self.index.text.push_str(self.newline);
            self.is_apart = true;
        }
    }

    /// Sees to it that a line of theirs does not go on in our last one.
    fn end_ours(&mut self) {
        let is_ours = |last: &str| self.index.ours.last().is_some_and(|own| own.trim_matches('\n') == last);
        if self.index.text[self.start..].lines().next_back().is_some_and(is_ours) {
            self.blank();
        }
    }

    /// Adds a section that was not there.
    fn section(&mut self, (kind, lines): &Section) {
        self.blank();
        if let Some(kind) = kind {
            self.line(kind.heading());
        }
        for line in lines {
            self.line(line);
        }
    }

    /// Adds a section that was there, with these entries where our former ones stood.
    fn part(&mut self, part: &[Line<'_>], entries: &[String]) {
        let is_theirs = part.iter().any(|line| line.what.is_theirs());
        if entries.is_empty() && !is_theirs {
            return;
        }
        if matches!(part[0].what, What::Heading(_)) {
            self.blank();
        } else {
            self.end_ours();
        }
        let place = part.iter().position(|line| line.what == What::Ours).unwrap_or(1);
        for (at, line) in part.iter().enumerate() {
            if at == place {
                self.entries(entries, &part[at..]);
            }
            self.keep(line);
        }
        if part.len() <= place {
            self.entries(entries, &[]);
        }
    }

    fn entries(&mut self, entries: &[String], behind: &[Line<'_>]) {
        for line in entries {
            self.line(line);
        }
        let next = behind.iter().find(|line| line.what != What::Ours);
        // A line of theirs would go on in our last one, unless it begins an item or a heading.
        let begins = |text: &str| ["- ", "* ", "+ ", "#"].iter().any(|sign| text.starts_with(sign));
        let goes_on = |next: &Line<'_>| matches!(next.what, What::Theirs | What::Title) && !begins(next.text);
        if !entries.is_empty() && next.is_some_and(goes_on) {
            self.blank();
        }
    }
}
