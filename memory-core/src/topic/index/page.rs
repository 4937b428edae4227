//! An index as it lies there: what is ours, and what is a person's.

use super::entry::{is_entry, is_rest, links};
use crate::topic::{TopicKind, TopicName};

pub(super) const TITLE: &str = "# Memory";
pub(super) const EMPTY: &str = "(empty)";

/// An index as it lies there.
#[derive(Debug)]
pub(super) struct Page<'t> {
    /// The byte order mark, if there is one.
    pub mark: &'t str,
    /// The line break that it uses first.
    pub newline: &'static str,
    /// Its lines.
    pub lines: Vec<Line<'t>>,
}

/// A line of an index, with its line break.
#[derive(Debug)]
pub(super) struct Line<'t> {
    pub text: &'t str,
    pub what: What,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Our title.
    Title,
    /// One of our headings.
    Heading(TopicKind),
    /// Any other line that we made; it is made anew.
    Ours,
    /// Nothing.
    Blank,
    /// A line of a person.
    Theirs,
}

impl<'t> Page<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let (mark, text) = text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
        let newline = match text.find('\n') {
            Some(end) if text[..end].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        // Our entries stand below our headings; elsewhere such a line is a person's.
        let mut is_ours = false;
        let lines = text.split_inclusive('\n').map(|text| {
            let line = text.trim_end();
            let heading = TopicKind::ALL.into_iter().find(|kind| kind.heading() == line);
            let what = if line.is_empty() {
                What::Blank
            } else if line == TITLE {
                is_ours = false;
                What::Title
            } else if let Some(kind) = heading {
                is_ours = true;
                What::Heading(kind)
            } else if is_ours && is_entry(line) || is_rest(line) || line == EMPTY {
                What::Ours
            } else {
                is_ours &= !line.starts_with('#');
                What::Theirs
            };
            Line { text, what }
        });
        let mut page = Self { mark, newline, lines: lines.collect() };
        page.give_back_other_titles();
        page
    }

    /// What is called as our title is that only at the beginning.
    fn give_back_other_titles(&mut self) {
        let mut is_beginning = true;
        for line in &mut self.lines {
            if line.what == What::Title && !is_beginning {
                line.what = What::Theirs;
            }
            is_beginning &= matches!(line.what, What::Blank | What::Ours);
        }
    }

    /// Tells whether a person wrote something in it.
    pub(super) fn is_shared(&self) -> bool {
        self.lines.iter().any(|line| line.what == What::Theirs)
    }

    /// Returns the topics to which lines of a person lead.
    pub(super) fn linked(&self) -> Vec<TopicName> {
        let theirs = self.lines.iter().filter(|line| line.what == What::Theirs);
        theirs.flat_map(|line| links(line.text)).collect()
    }
}
