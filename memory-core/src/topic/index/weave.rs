//! Our lines among those of a person.

use super::page::{EMPTY, Line, Page, TITLE, What};
use crate::topic::TopicKind;

/// The lines of one kind of topics, at least one.
pub(super) type Section = (TopicKind, Vec<String>);

/// Returns the index with these sections, in the order of their kinds.
pub(super) fn weave(page: &Page<'_>, sections: &[Section]) -> String {
    if !page.is_shared() {
        return [page.mark, &alone(sections).replace('\n', page.newline)].concat();
    }
    let mut woven = Woven { text: page.mark.to_owned(), newline: page.newline, start: page.mark.len() };
    let own_heading = |line: &Line<'_>| match line.what {
        What::Heading(kind) => Some(kind),
        _ => None,
    };
    let kept: Vec<TopicKind> = page.lines.iter().filter_map(own_heading).collect();
    let mut missing = sections.iter().filter(|(kind, _)| !kept.contains(kind)).peekable();
    // Where one of our headings stands twice, the entries stand below the first.
    let mut placed: Vec<TopicKind> = Vec::new();
    let mut rest = page.lines.as_slice();
    while !rest.is_empty() {
        let next = rest[1..].iter().position(|line| matches!(line.what, What::Heading(_))).map_or(rest.len(), |at| at + 1);
        let (part, behind) = rest.split_at(next);
        rest = behind;
        let Some(kind) = own_heading(&part[0]) else {
            for line in part.iter().filter(|line| line.what != What::Ours) {
                woven.keep(line.text);
            }
            continue;
        };
        while let Some(section) = missing.next_if(|(other, _)| *other < kind) {
            woven.section(section);
            woven.blank();
        }
        let entries = sections.iter().find(|(other, _)| *other == kind && !placed.contains(&kind));
        let entries = entries.map(|(_, entries)| entries.as_slice());
        placed.push(kind);
        woven.part(part, entries.unwrap_or_default());
    }
    missing.for_each(|section| woven.section(section));
    woven.text
}

/// Returns an index in which nobody else has written.
fn alone(sections: &[Section]) -> String {
    let mut text = format!("{TITLE}\n");
    for (kind, lines) in sections {
        text.push_str(&["\n", kind.heading(), "\n", &lines.join("\n"), "\n"].concat());
    }
    if sections.is_empty() {
        text.push_str(&["\n", EMPTY, "\n"].concat());
    }
    text
}

/// An index in the making.
struct Woven {
    text: String,
    newline: &'static str,
    start: usize,
}

impl Woven {
    /// Keeps a line as it is.
    fn keep(&mut self, line: &str) {
        self.end_line();
        self.text.push_str(line);
    }

    fn line(&mut self, line: &str) {
        self.end_line();
        self.text.push_str(line);
        self.text.push_str(self.newline);
    }

    /// Ends a line that nothing ended, since nothing followed.
    fn end_line(&mut self) {
        if self.start < self.text.len() && !self.text.ends_with('\n') {
            self.text.push_str(self.newline);
        }
    }

    /// Sees to it that what follows stands apart from what precedes.
    fn blank(&mut self) {
        self.end_line();
        let last = self.text[self.start..].lines().next_back();
        if last.is_some_and(|last| !last.trim().is_empty()) {
            self.text.push_str(self.newline);
        }
    }

    /// Adds a section that was not there.
    fn section(&mut self, (kind, lines): &Section) {
        self.blank();
        self.line(kind.heading());
        for line in lines {
            self.line(line);
        }
    }

    /// Adds a section that was there, with these entries where our former ones stood.
    fn part(&mut self, part: &[Line<'_>], entries: &[String]) {
        let is_theirs = part.iter().any(|line| line.what == What::Theirs);
        if entries.is_empty() && !is_theirs {
            return;
        }
        let place = part.iter().position(|line| line.what == What::Ours).unwrap_or(1);
        for (at, line) in part.iter().enumerate() {
            if at == place {
                self.entries(entries, &part[at..]);
            }
            if line.what != What::Ours {
                self.keep(line.text);
            }
        }
        if part.len() <= place {
            self.entries(entries, &[]);
        }
    }

    fn entries(&mut self, entries: &[String], behind: &[Line<'_>]) {
        for line in entries {
            self.line(line);
        }
        // Otherwise a line of theirs would go on in our last one.
        let next = behind.iter().find(|line| line.what != What::Ours);
        if !entries.is_empty() && next.is_some_and(|next| matches!(next.what, What::Theirs | What::Title)) {
            self.blank();
        }
    }
}
