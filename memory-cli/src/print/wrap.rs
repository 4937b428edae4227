//! Wrapping of text to lines.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Splits `text` into lines of at most `width` columns and returns their byte ranges.
///
/// Lines break between words if possible. Text in scripts without blanks may break anywhere except before closing
/// punctuation. A word that is longer than a line is divided.
pub(crate) fn wrap_lines(text: &str, width: usize) -> Vec<Range<usize>> {
    let line = LineLimits {
        first: width,
        others: width,
        divides_words: true,
    };
    line.split(text)
}

/// Wraps each line of `text` between words; the lines that follow the first are indented like it, and by `indent` columns.
///
/// Colours take no columns. A word that is longer than a line, such as an address, stays whole, so that it can be copied.
pub(crate) fn wrap_paragraphs(text: &str, width: usize, indent: usize) -> Cow<'_, str> {
    if text.lines().all(|line| display_width(line) <= width) {
        return Cow::Borrowed(text);
    }
    let mut wrapped = String::with_capacity(text.len() + text.len() / 16);
    for (index, line) in text.split('\n').enumerate() {
        let own = line.len() - line.trim_start_matches(' ').len();
        let indent = (own + indent).min(width / 2);
        let limits = LineLimits {
            first: width,
            others: width.saturating_sub(indent),
            divides_words: false,
        };
        for (part, range) in limits.split(line).into_iter().enumerate() {
            if 0 < index + part {
                wrapped.push('\n');
            }
            wrapped.extend(iter::repeat_n(' ', if part == 0 { 0 } else { indent }));
            wrapped.push_str(&line[range]);
        }
    }
    Cow::Owned(wrapped)
}

/// Returns the start of `text` that fits `width` columns, with a sign if something is left out. It ends between words if possible.
pub(crate) fn cut_between_words(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let first = wrap_lines(text, width.saturating_sub(1))[0].clone();
    Cow::Owned(format!("{}…", &text[first]))
}

/// Returns the number of columns of a line; colours take none.
pub(crate) fn display_width(line: &str) -> usize {
    let mut sequence = EscapeSequence::default();
    line.chars()
        .map(|character| sequence.column_width(character))
        .sum()
}

/// The widths of the lines of a text, in columns.
struct LineLimits {
    first: usize,
    others: usize,
    /// Whether a word that is longer than a line is divided.
    divides_words: bool,
}

impl LineLimits {
    fn split(&self, text: &str) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let (mut start, mut column) = (0, 0);
        // The end of the line and the start of the next one at the last possible break, and the columns before the latter.
        let mut gap = None;
        let (mut after_wide, mut has_text) = (false, false);
        let mut sequence = EscapeSequence::default();
        for (place, character) in text.char_indices() {
            let columns = sequence.column_width(character);
            let is_wide = columns == 2;
            if character == ' ' {
                gap = Some((place, place + 1, column + 1)).filter(|_| has_text);
            } else if (is_wide || after_wide) && !is_closing_punctuation(character) {
                gap = Some((place, place, column));
            }
            after_wide = is_wide;
            let width = if lines.is_empty() {
                self.first
            } else {
                self.others
            };
            if width < column + columns && start < place && character != ' ' {
                let divided = Some((place, place, column)).filter(|_| self.divides_words);
                let gap = gap.take().filter(|(end, ..)| start < *end).or(divided);
                if let Some((end, next, before)) = gap {
                    lines.push(start..start + text[start..end].trim_end_matches(' ').len());
                    start = next;
                    column -= before;
                    has_text = start < place;
                }
            }
            has_text |= 0 < columns && character != ' ';
            column += columns;
        }
        lines.push(start..text.len());
        lines
    }
}

/// A code of colours in a text for a terminal, of which the characters take no columns.
#[derive(Default)]
struct EscapeSequence {
    is_open: bool,
}

impl EscapeSequence {
    fn column_width(&mut self, character: char) -> usize {
        if character == '\u{1b}' {
            self.is_open = true;
        } else if self.is_open {
            self.is_open = !character.is_ascii_alphabetic();
        } else {
            return column_width(character);
        }
        0
    }
}

fn column_width(character: char) -> usize {
    character.width().unwrap_or(0)
}

fn is_closing_punctuation(character: char) -> bool {
    "，。、；：！？）》」』】”’…,.;:!?)]}·".contains(character)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn wrapped(text: &str, width: usize) -> String {
        wrap_lines(text, width)
            .into_iter()
            .map(|line| &text[line])
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn lines_end_between_words_or_between_wide_characters() {
        assert_snapshot!(wrapped("the cache keeps timetables for five minutes", 16), @"
        the cache keeps
        timetables for
        five minutes
        ");
        assert_snapshot!(wrapped("早上六点半起床，先泡茶，七点半以前不看 messages。", 14), @"
        早上六点半起
        床，先泡茶，七
        点半以前不看
        messages。
        ");
        assert_eq!(wrapped("tea, 早上", 6), "tea,\n早上");
    }

    #[test]
    fn a_word_that_is_too_long_is_divided() {
        assert_snapshot!(wrapped("see https://example.org/timetables now", 12), @"
        see
        https://exam
        ple.org/time
        tables now
        ");
        assert_eq!(wrapped("", 12), "");
        assert_eq!(wrapped("茶茶", 1), "茶\n茶");
    }

    #[test]
    fn paragraphs_keep_their_indent_their_colours_and_long_words() {
        let text = "  a line with an indent\n\nsee \u{1b}[1mhttps://example.org/timetables\u{1b}[0m now\nshort";
        assert_eq!(
            wrap_paragraphs(text, 14, 0),
            "  a line with\n  an indent\n\nsee\n\u{1b}[1mhttps://example.org/timetables\u{1b}[0m\nnow\nshort"
        );
        assert_eq!(
            wrap_paragraphs("\u{1b}[33ma1b2c3d4\u{1b}[0m  tea.md", 16, 2),
            "\u{1b}[33ma1b2c3d4\u{1b}[0m  tea.md"
        );
        assert_eq!(wrap_paragraphs("a1b2  tea.md", 8, 2), "a1b2\n  tea.md");
    }

    #[test]
    fn a_cut_text_ends_between_words() {
        assert_eq!(cut_between_words("the cache keeps", 15), "the cache keeps");
        assert_eq!(cut_between_words("the cache keeps", 14), "the cache…");
        assert_eq!(cut_between_words("timetables", 6), "timet…");
    }
}
