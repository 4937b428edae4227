//! Removal of code, mathematics and comments from text.

use std::collections::HashMap;
use std::ops::Range;

/// Returns `text` with code, mathematics and comments replaced by spaces; byte offsets remain valid.
///
/// Replaced are fenced blocks, `<!-- comments -->`, `$$mathematics$$` and `` `inline code` ``, in this order. Line
/// breaks are retained. An opening mark without a closing one is prose, except a fence, which extends to the end of the
/// text.
#[expect(clippy::missing_panics_doc, reason = "only whole characters are blanked, so it never does")]
pub fn blank_code(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    blank_fences(text, &mut bytes);
    blank_between(&mut bytes, b"<!--", b"-->");
    blank_between(&mut bytes, b"$$", b"$$");
    blank_inline(&mut bytes);
    String::from_utf8(bytes).expect("only whole characters were blanked")
}

fn blank(bytes: &mut [u8], range: Range<usize>) {
    for byte in &mut bytes[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn blank_fences(text: &str, bytes: &mut [u8]) {
    let mut start = 0;
    let mut open: Option<(u8, usize)> = None;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let fence = parse_fence(line);
        match (open, fence) {
            (Some((mark, length)), found) => {
                blank(bytes, range);
                let closes = |(found, run, rest): (u8, usize, &str)| found == mark && length <= run && rest.trim().is_empty();
                if found.is_some_and(closes) {
                    open = None;
                }
            }
            (None, Some((mark, length, rest))) if !rest.contains('`') => {
                blank(bytes, range);
                open = Some((mark, length));
            }
            _ => {}
        }
    }
}

/// Returns the mark of a fence at the start of a line, its length, and the text after it.
///
/// A fence may be inside a quote or follow the bullet of a list.
fn parse_fence(line: &str) -> Option<(u8, usize, &str)> {
    let blanks = [' ', '\t'];
    let line = line.trim_start_matches([' ', '\t', '>']);
    let after_digits = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let after_bullet = match line.strip_prefix(['-', '*', '+']) {
        None if after_digits.len() < line.len() => after_digits.strip_prefix(['.', ')']),
        other => other,
    };
    let line = after_bullet.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line).trim_start_matches(blanks);
    let mark = *line.as_bytes().first().filter(|first| matches!(first, b'`' | b'~'))?;
    let run = line.bytes().take_while(|byte| *byte == mark).count();
    (3 <= run).then(|| (mark, run, &line[run..]))
}

fn blank_between(bytes: &mut [u8], opening: &[u8], closing: &[u8]) {
    let mut from = 0;
    while let Some(start) = find_bytes(bytes, opening, from) {
        let Some(end) = find_bytes(bytes, closing, start + opening.len()) else { return };
        from = end + closing.len();
        blank(bytes, start..from);
    }
}

fn find_bytes(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes[at..].iter().position(|byte| *byte == wanted[0])?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
}

/// Replaces the text between two runs of backticks of the same length in one line.
fn blank_inline(bytes: &mut [u8]) {
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes[start..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| start + at);
        let runs = backtick_runs(bytes, start..end);
        let mut next = 0;
        for (run, partner) in runs.iter().zip(matching_runs(&runs)) {
            if let Some(partner) = partner.filter(|_| next <= run.start) {
                next = runs[partner].end;
                blank(bytes, run.start..next);
            }
        }
        start = end + 1;
    }
}

fn backtick_runs(bytes: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in line {
        if bytes[at] == b'`' {
            match runs.last_mut().filter(|run| run.end == at) {
                Some(run) => run.end += 1,
                None => runs.push(at..at + 1),
            }
        }
    }
    runs
}

/// Returns, for each run, the index of the next run of the same length.
fn matching_runs(runs: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; runs.len()];
    let mut nearest = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        partners[index] = nearest.insert(run.len(), index);
    }
    partners
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::blank_code;

    #[test]
    fn fences_may_stand_in_quotes_and_lists_and_close_with_at_least_as_many_marks() {
        assert_eq!(blank_code("a\n```rust\n[[b]]\n````\nc"), "a\n       \n     \n    \nc");
        assert_eq!(blank_code("> - ~~~\n[[b]]\n~~~\nc").trim(), "c");
        assert_eq!(blank_code("12) ```\n[[b]]\n``\nc").trim(), "");
        assert_eq!(blank_code("```a`b\nc"), "```a`b\nc");
    }

    #[test]
    fn inline_code_is_closed_by_a_run_of_the_same_length_in_the_same_line() {
        assert_eq!(blank_code("a `b` c"), "a     c");
        assert_eq!(blank_code("``a`b`` `c"), "        `c");
        assert_eq!(blank_code("`a\nb`"), "`a\nb`");
        assert_eq!(blank_code("`键`x"), "     x");
    }

    #[test]
    fn comments_and_mathematics_span_lines_and_only_when_closed() {
        assert_eq!(blank_code("a<!-- b\nc -->d"), "a      \n     d");
        assert_eq!(blank_code("$$a\nb$$c$$d"), "   \n   c$$d");
        assert_eq!(blank_code("a <!-- b"), "a <!-- b");
    }

    #[test]
    fn a_megabyte_of_marks_takes_no_time() {
        for marks in ["`", "` ``", "$", "<!--", "```\n", "[["] {
            let text = marks.repeat(1_000_000 / marks.len());
            assert_eq!(blank_code(&text).len(), text.len());
        }
        let growing: String = (1..1_400).map(|length| "`".repeat(length) + " ").collect();
        assert_eq!(blank_code(&growing), growing);
    }

    proptest! {
        #[test]
        fn every_byte_keeps_its_place(text in "([`~$\\[\\]<>!#-]|\\n|a|键| ){0,60}") {
            let blanked = blank_code(&text);
            prop_assert_eq!(blanked.len(), text.len());
            for (before, after) in text.bytes().zip(blanked.bytes()) {
                prop_assert!(after == before || after == b' ');
                prop_assert_eq!(before == b'\n', after == b'\n');
            }
        }
    }
}
