//! Parses an index into generated lines and lines of the user.

use std::collections::HashMap;

use super::entry::{is_entry, linked_topics};
use crate::topic::{TopicKind, TopicName};

/// An index: its text, and the lines that were generated. All other lines belong to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicIndex {
    /// The whole text.
    pub text: String,
    /// The generated lines, in order and without line breaks.
    ///
    /// A `\n` before or after one denotes a generated empty line.
    pub ours: Vec<String>,
}

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
        let (mark, text) = text.split_at(if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        });
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
            let kind = TopicKind::ALL
                .into_iter()
                .find(|kind| kind.heading() == line);
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
                    if is_own {
                        IndexLineKind::Heading(kind)
                    } else {
                        IndexLineKind::TheirHeading(kind)
                    }
                }
                None if is_own && line == TITLE => IndexLineKind::Title,
                None if is_own && (is_below_ours || !is_entry(line)) => IndexLineKind::Ours,
                None => {
                    is_below_ours &= !line.starts_with('#');
                    IndexLineKind::Theirs
                }
            };
            IndexLine {
                text,
                what,
                is_hidden: hidden[at],
            }
        });
        Self {
            mark,
            newline,
            lines: lines.collect(),
            before_open,
        }
    }

    /// Returns whether the index contains lines of the user.
    pub(super) fn is_shared(&self) -> bool {
        self.lines.iter().any(|line| line.what.is_user_line())
    }

    /// Returns the topics that lines of the user link to.
    pub(super) fn user_links(&self) -> Vec<TopicName> {
        let theirs = self
            .lines
            .iter()
            .filter(|line| line.what.is_user_line() && !line.is_hidden);
        theirs.flat_map(|line| linked_topics(line.text)).collect()
    }

    /// Returns the generated line of a topic, and the type of its section.
    pub(super) fn line_of(&self, name: &TopicName) -> Option<(TopicKind, &'t str)> {
        let mut below = None;
        for line in &self.lines {
            below = line.what.heading_kind().or(below);
            if line.what == IndexLineKind::Ours
                && linked_topics(line.text).any(|linked| linked == *name)
            {
                return Some((below?, line.text.trim_end()));
            }
        }
        None
    }
}

/// Returns for each line whether it is in a code block or comment.
///
/// The second value is the number of lines before an unterminated code block or comment.
fn find_hidden_lines(lines: &[&str]) -> (Vec<bool>, usize) {
    let mut hidden = vec![false; lines.len()];
    let mut open: Option<(usize, BlockEnd)> = None;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        let inner = line.trim_start_matches(' ');
        // A line with four or more spaces is an indented code block or continues a paragraph.
        let begins = if line.len() - inner.len() < 4 {
            inner
        } else {
            ""
        };
        if let Some((_, end)) = &open {
            hidden[at] = true;
            if end.is_reached(begins, line) {
                open = None;
            }
            continue;
        }
        let begun = BlockEnd::of(begins);
        hidden[at] = begun.is_some();
        let is_over = matches!(begun, Some(BlockEnd::Comment))
            && begins[COMMENT.len()..].contains(COMMENT_END);
        open = begun.filter(|_| !is_over).map(|end| (at, end));
    }
    (hidden, open.map_or(lines.len(), |(at, _)| at))
}

const COMMENT: &str = "<!--";
const COMMENT_END: &str = "-->";

/// The terminator of a block.
enum BlockEnd {
    Comment,
    /// A run of at least this number of the character.
    Fence(char, usize),
}

impl BlockEnd {
    /// Returns the terminator of the block that a line opens, if it opens one.
    fn of(line: &str) -> Option<Self> {
        if line.starts_with(COMMENT) {
            return Some(Self::Comment);
        }
        let sign = line
            .chars()
            .next()
            .filter(|sign| matches!(sign, '`' | '~'))?;
        let rest = line.trim_start_matches(sign);
        let count = line.len() - rest.len();
        // Three backticks around a word are inline code.
        (3 <= count && !(sign == '`' && rest.contains('`'))).then_some(Self::Fence(sign, count))
    }

    fn is_reached(&self, begins: &str, line: &str) -> bool {
        match self {
            Self::Comment => line.contains(COMMENT_END),
            Self::Fence(sign, count) => {
                *count <= begins.len() && begins.chars().all(|own| own == *sign)
            }
        }
    }
}

/// A matched line: its position, the generated line it equals, and the match before it.
struct LineMatch {
    line: usize,
    own: usize,
    before: Option<usize>,
}

/// Returns for each line whether it is one of the generated lines `ours`, compared verbatim.
///
/// The matches form a longest common subsequence, so the order is preserved, and if a user copied a line, only one of
/// the copies matches. Hidden lines never match.
fn find_generated_lines(lines: &[&str], hidden: &[bool], ours: &[String]) -> Vec<bool> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, own) in ours.iter().enumerate() {
        places.entry(own.trim_matches('\n')).or_default().push(at);
    }
    let mut found: Vec<LineMatch> = Vec::new();
    // As for a longest increasing subsequence: `last[n]` is the match that ends the best subsequence of length `n + 1`,
    // which is the one with the smallest position in `ours`.
    let mut last: Vec<usize> = Vec::new();
    for (line, text) in lines.iter().enumerate().filter(|(line, _)| !hidden[*line]) {
        for own in places
            .get(trim_line_break(text))
            .into_iter()
            .flatten()
            .rev()
            .copied()
        {
            let count = last.partition_point(|at| found[*at].own < own);
            if last.get(count).is_some_and(|at| found[*at].own == own) {
                continue;
            }
            found.push(LineMatch {
                line,
                own,
                before: count.checked_sub(1).map(|count| last[count]),
            });
            last.truncate(last.len().max(count));
            match last.get_mut(count) {
                Some(place) => *place = found.len() - 1,
                None => last.push(found.len() - 1),
            }
        }
    }
    let mut own = vec![false; lines.len()];
    let mut next = last.last().copied();
    while let Some(LineMatch {
        line,
        own: at,
        before,
    }) = next.map(|at| &found[at])
    {
        own[*line] = true;
        // An empty line that was generated before or after a line belongs to it.
        let is_blank = |line: usize| {
            lines.get(line).is_some_and(|text| text.trim().is_empty()) && !hidden[line]
        };
        if let Some(above) = line
            .checked_sub(1)
            .filter(|above| ours[*at].starts_with('\n') && is_blank(*above))
        {
            own[above] = true;
        }
        if ours[*at].ends_with('\n') && is_blank(line + 1) {
            own[line + 1] = true;
        }
        next = *before;
    }
    own
}

fn trim_line_break(line: &str) -> &str {
    line.strip_suffix('\n')
        .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::{find_generated_lines, find_hidden_lines};

    fn found(text: &str) -> (String, usize) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (hidden, before) = find_hidden_lines(&lines);
        (
            hidden
                .into_iter()
                .map(|is_hidden| if is_hidden { 'h' } else { '.' })
                .collect(),
            before,
        )
    }

    #[test]
    fn code_and_comments_are_hidden_to_their_end() {
        assert_eq!(found("a\n```md\n## User\n```\nb\n"), (".hhh.".into(), 5));
        assert_eq!(found("~~~~\n~~~\n```\n~~~~~ \nb\n"), ("hhhh.".into(), 5));
        assert_eq!(
            found("<!-- x\n## User\n-->\nb\n<!-- y -->\nc\n"),
            ("hhh.h.".into(), 6)
        );
        assert_eq!(found("```a``` b\n    ```\nc\n"), ("...".into(), 3));
    }

    #[test]
    fn what_never_ends_hides_all_that_follows() {
        assert_eq!(found("a\n```\nb\n"), (".hh".into(), 1));
        assert_eq!(found("<!-- a\n"), ("h".into(), 0));
    }

    fn own(text: &str, ours: &[&str]) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let ours: Vec<String> = ours.iter().map(|&own| own.to_owned()).collect();
        let own = find_generated_lines(&lines, &vec![false; lines.len()], &ours);
        own.into_iter()
            .map(|is_own| if is_own { 'o' } else { '.' })
            .collect()
    }

    #[test]
    fn lines_are_found_again_to_the_letter_and_in_their_order() {
        assert_eq!(own("t\nu\na\nb\n", &["t", "u", "a", "b"]), "oooo");
        assert_eq!(own("t\r\nu\r\na \r\nb", &["t", "u", "a", "b"]), "oo.o");
        assert_eq!(
            own("b\nt\nu\na\nb\nmine\nb\n", &["t", "u", "a", "b"]),
            ".oooo..",
            "a copy is a person's"
        );
        assert_eq!(own("u\nt\na\n", &["t", "u", "a"]), ".oo");
        assert_eq!(own("x\ny\n", &["t"]), "..");
        assert_eq!(own("", &["t"]), "");
    }

    #[test]
    fn empty_lines_are_ours_only_where_we_put_them() {
        assert_eq!(own("mine\n\nu\na\n", &["\nu", "a"]), ".ooo");
        assert_eq!(own("mine\n\nu\na\n", &["u", "a"]), "..oo");
        assert_eq!(own("u\na\n\nmine\n", &["u", "a\n"]), "ooo.");
        assert_eq!(own("u\na\nmine\n", &["\nu", "a\n"]), "oo.");
    }
}
