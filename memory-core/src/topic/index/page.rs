//! Parses an index into generated lines and lines of the user.

use super::align::find_generated_lines;
use super::entry::{is_entry, linked_topics};
use super::hidden_lines::find_hidden_lines;
use super::topic_index::TopicIndex;
use crate::topic::{TopicKind, TopicName};

pub(super) const TITLE: &str = "# Memory";
pub(super) const EMPTY: &str = "(empty)";

/// A parsed index.
#[derive(Debug)]
pub(super) struct IndexPage<'t> {
    /// The byte order mark, or empty.
    pub mark: &'t str,
    /// The style of the first line break.
    pub newline: &'static str,
    /// The lines.
    pub lines: Vec<IndexLine<'t>>,
    /// Number of lines before an unterminated code block or comment.
    pub before_open: usize,
}

/// A line of an index, with its line break.
#[derive(Debug)]
pub(super) struct IndexLine<'t> {
    pub text: &'t str,
    pub what: IndexLineKind,
    /// Whether the line is in a code block or comment, where links and headings have no meaning.
    pub is_hidden: bool,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexLineKind {
    /// The generated title.
    Title,
    /// A generated heading.
    Heading(TopicKind),
    /// A heading of the user with the text of a generated one, so that generated entries may follow it.
    TheirHeading(TopicKind),
    /// Any other generated line; it is replaced on an update.
    Ours,
    /// An empty line.
    Blank,
    /// A line of the user.
    Theirs,
}

impl IndexLineKind {
    /// Returns the type of the section that the line starts, if it is a heading.
    pub(super) fn heading_kind(self) -> Option<TopicKind> {
        match self {
            Self::Heading(kind) | Self::TheirHeading(kind) => Some(kind),
            Self::Title | Self::Ours | Self::Blank | Self::Theirs => None,
        }
    }

    /// Returns whether the user wrote the line.
    pub(super) fn is_user_line(self) -> bool {
        matches!(self, Self::Theirs | Self::TheirHeading(_))
    }
}

impl<'t> IndexPage<'t> {
    pub(super) fn of(index: &'t TopicIndex) -> Self {
        let text = index.text.as_str();
        let (mark, text) = text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
        let newline = match text.find('\n') {
            Some(end) if text[..end].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let texts: Vec<&str> = text.split_inclusive('\n').collect();
        let (hidden, before_open) = find_hidden_lines(&texts);
        let own = find_generated_lines(&texts, &hidden, &index.ours);
        // A generated entry that the user moved below their own heading counts as a line of the user.
        let mut is_below_ours = false;
        let lines = texts.into_iter().enumerate().map(|(at, text)| {
            let line = text.trim_end();
            let is_own = own[at];
            let kind = TopicKind::ALL.into_iter().find(|kind| kind.heading() == line);
            let what = match kind {
                _ if hidden[at] => IndexLineKind::Theirs,
                _ if line.is_empty() => {
                    if is_own {
                        IndexLineKind::Ours
                    } else {
                        IndexLineKind::Blank
                    }
                }
                Some(kind) => {
                    is_below_ours = true;
                    if is_own { IndexLineKind::Heading(kind) } else { IndexLineKind::TheirHeading(kind) }
                }
                None if is_own && line == TITLE => IndexLineKind::Title,
                None if is_own && (is_below_ours || !is_entry(line)) => IndexLineKind::Ours,
                None => {
                    is_below_ours &= !line.starts_with('#');
                    IndexLineKind::Theirs
                }
            };
            IndexLine { text, what, is_hidden: hidden[at] }
        });
        Self { mark, newline, lines: lines.collect(), before_open }
    }

    /// Returns whether the index contains lines of the user.
    pub(super) fn is_shared(&self) -> bool {
        self.lines.iter().any(|line| line.what.is_user_line())
    }

    /// Returns the topics that lines of the user link to.
    pub(super) fn user_links(&self) -> Vec<TopicName> {
        let theirs = self.lines.iter().filter(|line| line.what.is_user_line() && !line.is_hidden);
        theirs.flat_map(|line| linked_topics(line.text)).collect()
    }

    /// Returns the generated line of a topic, and the type of its section.
    pub(super) fn line_of(&self, name: &TopicName) -> Option<(TopicKind, &'t str)> {
        let mut below = None;
        for line in &self.lines {
            below = line.what.heading_kind().or(below);
            if line.what == IndexLineKind::Ours && linked_topics(line.text).any(|linked| linked == *name) {
                return Some((below?, line.text.trim_end()));
            }
        }
        None
    }
}
