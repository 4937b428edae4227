//! Finds the code blocks and comments of an index.

/// Returns for each line whether it is in a code block or comment.
///
/// The second value is the number of lines before an unterminated code block or comment.
pub(super) fn find_hidden_lines(lines: &[&str]) -> (Vec<bool>, usize) {
    let mut hidden = vec![false; lines.len()];
    let mut open: Option<(usize, BlockEnd)> = None;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        let inner = line.trim_start_matches(' ');
        // A line with four or more spaces is an indented code block or continues a paragraph.
        let begins = if line.len() - inner.len() < 4 { inner } else { "" };
        if let Some((_, end)) = &open {
            hidden[at] = true;
            if end.is_reached(begins, line) {
                open = None;
            }
            continue;
        }
        let begun = BlockEnd::of(begins);
        hidden[at] = begun.is_some();
        let is_over = matches!(begun, Some(BlockEnd::Comment)) && begins[COMMENT.len()..].contains(COMMENT_END);
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
        let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let rest = line.trim_start_matches(sign);
        let count = line.len() - rest.len();
        // Three backticks around a word are inline code.
        (3 <= count && !(sign == '`' && rest.contains('`'))).then_some(Self::Fence(sign, count))
    }

    fn is_reached(&self, begins: &str, line: &str) -> bool {
        match self {
            Self::Comment => line.contains(COMMENT_END),
            Self::Fence(sign, count) => *count <= begins.len() && begins.chars().all(|own| own == *sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find_hidden_lines;

    fn found(text: &str) -> (String, usize) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (hidden, before) = find_hidden_lines(&lines);
        (hidden.into_iter().map(|is_hidden| if is_hidden { 'h' } else { '.' }).collect(), before)
    }

    #[test]
    fn code_and_comments_are_hidden_to_their_end() {
        assert_eq!(found("a\n```md\n## User\n```\nb\n"), (".hhh.".into(), 5));
        assert_eq!(found("~~~~\n~~~\n```\n~~~~~ \nb\n"), ("hhhh.".into(), 5));
        assert_eq!(found("<!-- x\n## User\n-->\nb\n<!-- y -->\nc\n"), ("hhh.h.".into(), 6));
        assert_eq!(found("```a``` b\n    ```\nc\n"), ("...".into(), 3));
    }

    #[test]
    fn what_never_ends_hides_all_that_follows() {
        assert_eq!(found("a\n```\nb\n"), (".hh".into(), 1));
        assert_eq!(found("<!-- a\n"), ("h".into(), 0));
    }
}
