//! An index as it lies there: what is ours, and what is a person's.

use super::align::aligned;
use super::entry::{is_entry, links};
use super::hidden::hidden;
use super::written::WrittenIndex;
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
    /// So many of them come before code or a comment that never ends.
    pub before_open: usize,
}

/// A line of an index, with its line break.
#[derive(Debug)]
pub(super) struct Line<'t> {
    pub text: &'t str,
    pub what: What,
    /// Whether it stands in code or a comment, where it says nothing.
    pub is_hidden: bool,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Our title.
    Title,
    /// One of our headings.
    Heading(TopicKind),
    /// A heading of a person that is called as one of ours, so that our lines may stand below it.
    TheirHeading(TopicKind),
    /// Any other line that we made; it is made anew.
    Ours,
    /// Nothing.
    Blank,
    /// A line of a person.
    Theirs,
}

impl What {
    /// Returns what stands below it, if it is a heading for that.
    pub(super) fn heads(self) -> Option<TopicKind> {
        match self {
            Self::Heading(kind) | Self::TheirHeading(kind) => Some(kind),
            Self::Title | Self::Ours | Self::Blank | Self::Theirs => None,
        }
    }

    /// Tells whether a person wrote it.
    pub(super) fn is_theirs(self) -> bool {
        matches!(self, Self::Theirs | Self::TheirHeading(_))
    }
}

impl<'t> Page<'t> {
    pub(super) fn of(index: &'t WrittenIndex) -> Self {
        let text = index.text.as_str();
        let (mark, text) = text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
        let newline = match text.find('\n') {
            Some(end) if text[..end].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let texts: Vec<&str> = text.split_inclusive('\n').collect();
        let (hidden, before_open) = hidden(&texts);
        let own = aligned(&texts, &hidden, &index.ours);
        // An entry that a person moved below a heading of theirs is theirs.
        let mut is_below_ours = false;
        let lines = texts.into_iter().enumerate().map(|(at, text)| {
            let line = text.trim_end();
            let is_own = own[at];
            let kind = TopicKind::ALL.into_iter().find(|kind| kind.heading() == line);
            let what = match kind {
                _ if hidden[at] => What::Theirs,
                _ if line.is_empty() => {
                    if is_own {
                        What::Ours
                    } else {
                        What::Blank
                    }
                }
                Some(kind) => {
                    is_below_ours = true;
                    if is_own { What::Heading(kind) } else { What::TheirHeading(kind) }
                }
                None if is_own && line == TITLE => What::Title,
                None if is_own && (is_below_ours || !is_entry(line)) => What::Ours,
                None => {
                    is_below_ours &= !line.starts_with('#');
                    What::Theirs
                }
            };
            Line { text, what, is_hidden: hidden[at] }
        });
        Self { mark, newline, lines: lines.collect(), before_open }
    }

    /// Tells whether a person wrote something in it.
    pub(super) fn is_shared(&self) -> bool {
        self.lines.iter().any(|line| line.what.is_theirs())
    }

    /// Returns the topics to which lines of a person lead.
    pub(super) fn linked(&self) -> Vec<TopicName> {
        let theirs = self.lines.iter().filter(|line| line.what.is_theirs() && !line.is_hidden);
        theirs.flat_map(|line| links(line.text)).collect()
    }

    /// Returns our line of a topic, and below which heading it stands.
    pub(super) fn line_of(&self, name: &TopicName) -> Option<(TopicKind, &'t str)> {
        let mut below = None;
        for line in &self.lines {
            below = line.what.heads().or(below);
            if line.what == What::Ours && links(line.text).any(|linked| linked == *name) {
                return Some((below?, line.text.trim_end()));
            }
        }
        None
    }
}
