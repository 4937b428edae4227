//! Classifies lines of Markdown.

/// The start of a block that extends to a closing mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockOpening {
    /// A code fence: its character and its length.
    Fence(char, usize),
    /// `<!--`.
    Comment,
    /// `$$` on a line of its own.
    Mathematics,
}

impl BlockOpening {
    /// Returns whether the block is fenced code.
    pub(super) fn is_fence(self) -> bool {
        matches!(self, Self::Fence(..))
    }

    /// Returns whether the opening line also closes the block.
    pub(super) fn is_closed(self, line: &str) -> bool {
        self == Self::Comment && line.contains("-->")
    }

    /// Returns whether a later line closes the block.
    pub(super) fn closes(self, line: &str) -> bool {
        match self {
            Self::Fence(mark, length) => parse_fence(line).is_some_and(|(found, run, rest)| {
                found == mark && length <= run && rest.trim().is_empty()
            }),
            Self::Comment => line.contains("-->"),
            Self::Mathematics => line.trim_end().ends_with("$$"),
        }
    }

    /// Returns a line that closes the block.
    pub(super) fn closing(self) -> String {
        match self {
            Self::Fence(mark, length) => mark.to_string().repeat(length),
            Self::Comment => "-->".to_owned(),
            Self::Mathematics => "$$".to_owned(),
        }
    }
}

/// Returns the block that a line opens, if any.
pub(super) fn block_opening(line: &str) -> Option<BlockOpening> {
    if line.trim_start().starts_with("<!--") {
        return Some(BlockOpening::Comment);
    }
    if line.trim() == "$$" {
        return Some(BlockOpening::Mathematics);
    }
    parse_fence(line)
        .filter(|(_, _, rest)| !rest.contains('`'))
        .map(|(mark, length, _)| BlockOpening::Fence(mark, length))
}

/// Returns the character and length of a code fence, and the text after it.
///
/// The fence may be within a quote or a list item.
fn parse_fence(line: &str) -> Option<(char, usize, &str)> {
    let line = strip_bullet(line.trim_start_matches([' ', '\t', '>'])).trim_start();
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (3 <= length).then_some((mark, length, rest))
}

/// Returns the title of an ATX heading (`# Title`).
pub(super) fn heading_title(line: &str) -> Option<&str> {
    let start = line.trim_start_matches(' ');
    let title = start.trim_start_matches('#');
    let level = start.len() - title.len();
    let is_heading = line.len() - start.len() < 4
        && (1..=6).contains(&level)
        && title.chars().next().is_none_or(char::is_whitespace);
    is_heading.then(|| title.trim().trim_end_matches('#').trim_end())
}

/// Returns whether a line is an ATX heading.
pub(crate) fn is_heading(line: &str) -> bool {
    heading_title(line).is_some()
}

/// Returns whether a line is a thematic break.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let marks = line.chars().filter(|character| !character.is_whitespace());
    ['-', '*', '_'].into_iter().any(|mark| {
        line.starts_with(mark) && 3 <= marks.clone().count() && marks.clone().all(|own| own == mark)
    })
}

/// Returns whether a line makes the previous line a heading (setext).
pub(super) fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    ['=', '-']
        .into_iter()
        .any(|mark| 2 <= line.len() && line.chars().all(|own| own == mark))
}

/// Returns whether a line separates the header of a table from its rows.
pub(super) fn is_dividing_row(line: &str) -> bool {
    line.contains('-')
        && line.contains('|')
        && line
            .chars()
            .all(|character| matches!(character, '|' | '-' | ':' | ' ' | '\t'))
}

/// Returns whether a line starts a list item.
pub(crate) fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    strip_bullet(line).len() < line.len() || {
        let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
        (1..10).contains(&(line.len() - rest.len()))
            && (rest.starts_with(". ") || rest.starts_with(") "))
    }
}

/// Returns a line without its indentation and bullet. A number remains, since it gives the order.
pub(super) fn strip_bullet(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with([' ', '\t']))
        .map_or(line, str::trim_start)
}
