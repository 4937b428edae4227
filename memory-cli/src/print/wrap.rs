//! Wrapping of text to lines.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Splits `text` into lines of at most `width` columns and returns their byte ranges.
///
/// Lines break between words if possible. Text in scripts without blanks may break anywhere except before closing
/// punctuation. A word that is longer than a line is divided.
pub(crate) fn wrap_lines(text: &str, width: usize) -> Vec<Range<usize>> {
    let limits = LineLimits {
        width,
        indent: 0,
        divides_words: true,
    };
    limits.split(text)
}

/// Wraps each line of `text` between words; the lines that follow the first are indented like it, and by `indent` columns.
///
/// Colours take no columns. A word that is longer than a line, such as an address, stays whole, so that it can be copied,
/// and so does a command in backticks that fits a line.
pub(crate) fn wrap_paragraphs(text: &str, width: usize, indent: usize) -> Cow<'_, str> {
    wrap_text(text, width, indent, LineUse::Prose)
}

/// Wraps each line of a diff. Its further lines begin with `…`, so that none of them looks like a removed or added line.
pub(crate) fn wrap_diff(text: &str, width: usize) -> Cow<'_, str> {
    wrap_text(text, width, 2, LineUse::Diff)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineUse {
    Prose,
    Diff,
}

fn wrap_text(text: &str, width: usize, indent: usize, line_use: LineUse) -> Cow<'_, str> {
    if text.lines().all(|line| display_width(line) <= width) {
        return Cow::Borrowed(text);
    }
    let first = match line_use {
        LineUse::Prose => ' ',
        LineUse::Diff => '…',
    };
    let mut wrapped = String::with_capacity(text.len() + text.len() / 16);
    for (index, line) in text.split('\n').enumerate() {
        let own = &line[..line.len() - line.trim_start_matches(BLANKS).len()];
        let limits = LineLimits {
            width,
            indent: (display_width(own) + indent).min(width / 2),
            // The terminal would divide a long word, and the rest would begin like a line of the diff.
            divides_words: line_use == LineUse::Diff,
        };
        for (part, range) in limits.split(line).into_iter().enumerate() {
            if 0 < index + part {
                wrapped.push('\n');
            }
            if 0 < part {
                let gutter = iter::once(first).chain(iter::repeat(' '));
                wrapped.extend(gutter.take(limits.indent));
            }
            wrapped.push_str(&line[range]);
        }
    }
    Cow::Owned(wrapped)
}

/// Returns the start of `text` that fits `width` columns, with a sign if something is left out. It ends between words if possible.
pub(crate) fn cut_between_words(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let first = wrap_lines(text, width.saturating_sub(1))[0].clone();
    Cow::Owned(format!("{}…", &text[first]))
}

/// Returns the number of columns of a line; colours take none.
pub(crate) fn display_width(line: &str) -> usize {
    let mut sequence = EscapeSequence::default();
    line.graphemes(true).fold(0, |column, cluster| {
        column + sequence.column_width(cluster, column)
    })
}

/// The limits of the lines of a text, in columns.
struct LineLimits {
    width: usize,
    /// The column in which the lines after the first begin.
    indent: usize,
    /// Whether a word that is longer than a line is divided, and a command in backticks is wrapped like other text.
    divides_words: bool,
}

impl LineLimits {
    fn split(&self, text: &str) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let (mut start, mut column) = (0, 0);
        // The end of the line and the start of the next one at the last possible break, and the columns before the latter.
        let mut gap = None;
        let (mut after_wide, mut has_text) = (false, false);
        let (mut command_end, mut is_whole_command) = (0, false);
        let mut sequence = EscapeSequence::default();
        for (place, cluster) in text.grapheme_indices(true) {
            let columns = sequence.column_width(cluster, column);
            let is_blank = matches!(cluster, " " | "\t");
            let is_wide = is_wide(cluster, columns);
            if is_whole_command && place < command_end {
                // No line ends within the command.
            } else if is_blank {
                gap = Some((place, place + 1, column + columns)).filter(|_| has_text);
            } else if (is_wide || after_wide) && !cluster.starts_with(is_closing_punctuation) {
                gap = Some((place, place, column));
            }
            if !self.divides_words && cluster.starts_with('`') && command_end <= place {
                let length = text[place + 1..].find('`').map_or(1, |length| length + 2);
                command_end = place + length;
                let columns = display_width(&text[place..command_end]);
                is_whole_command = self.indent + columns <= self.width;
            }
            after_wide = is_wide;
            if self.width < column + columns && start < place && !is_blank {
                let divided = Some((place, place, column)).filter(|_| self.divides_words);
                let gap = gap.take().filter(|(end, ..)| start < *end).or(divided);
                if let Some((end, next, before)) = gap {
                    lines.push(start..start + text[start..end].trim_end_matches(BLANKS).len());
                    start = next;
                    column = column - before + self.indent;
                    has_text = start < place;
                }
            }
            has_text |= 0 < columns && !is_blank;
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
    /// Returns the columns of a grapheme cluster that begins in `column`.
    fn column_width(&mut self, cluster: &str, column: usize) -> usize {
        if cluster == "\u{1b}" {
            self.is_open = true;
        } else if self.is_open {
            self.is_open = !cluster.starts_with(|character: char| character.is_ascii_alphabetic());
        } else if cluster == "\t" {
            return TAB_WIDTH - column % TAB_WIDTH;
        } else if !cluster.starts_with(char::is_control) {
            return cluster.width();
        }
        0
    }
}

/// Returns whether lines may break before and after a grapheme cluster, as in scripts without blanks and between emoji.
///
/// A syllable of an alphabet, such as that of Hindi, may be as wide, but belongs to a word.
fn is_wide(cluster: &str, columns: usize) -> bool {
    let is_narrow_letter =
        |first: char| first.is_alphabetic() && first.width().is_some_and(|columns| columns < 2);
    2 <= columns && !cluster.starts_with(is_narrow_letter) && cluster != "\t"
}

/// The characters between words.
const BLANKS: [char; 2] = [' ', '\t'];

/// The distance of the tab stops of a terminal.
const TAB_WIDTH: usize = 8;

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
    fn a_character_of_several_code_points_is_never_divided() {
        let voiced = "か\u{3099}".repeat(20) + "x";
        assert_eq!(wrapped(&voiced, 40), "か\u{3099}".repeat(20) + "\nx");
        let family = "👨\u{200d}👩\u{200d}👧\u{200d}👦";
        assert_eq!(
            wrapped(&family.repeat(3), 4),
            format!("{family}{family}\n{family}")
        );
        for emoji in ["❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "🇩🇪"] {
            let lines = wrapped(&emoji.repeat(30), 40);
            assert_eq!(lines, format!("{}\n{}", emoji.repeat(20), emoji.repeat(10)));
        }
        assert_eq!(wrapped("क्षेत्र क्षेत्र", 8), "क्षेत्र\nक्षेत्र");
    }

    #[test]
    fn a_tab_extends_to_the_next_stop_and_lines_may_end_there() {
        assert_eq!(display_width("a\tb\t\tc"), 25);
        assert_eq!(
            wrap_paragraphs("name\tvalue\tcomment\tanother\tcolumn here", 40, 0),
            "name\tvalue\tcomment\tanother\tcolumn\nhere"
        );
        assert_eq!(
            wrap_paragraphs("\tone two three", 16, 0),
            "\tone two\n        three"
        );
    }

    #[test]
    fn a_command_in_backticks_stays_whole_if_it_fits_a_line() {
        assert_eq!(
            wrap_paragraphs("hint: run `memory import tea`, then `memory list`", 24, 0),
            "hint: run\n`memory import tea`,\nthen `memory list`"
        );
        assert_eq!(
            wrap_paragraphs("see `memory import --path tea` and ` tea", 16, 0),
            "see `memory\nimport --path\ntea` and ` tea"
        );
    }

    #[test]
    fn the_rest_of_a_long_line_of_a_diff_is_no_line_of_it() {
        let line = "+the staging service listens on port 8080 for all of us -port 80 is closed";
        assert_eq!(
            wrap_diff(line, 60),
            "+the staging service listens on port 8080 for all of us\n… -port 80 is closed"
        );
        assert_eq!(wrap_diff("+aaaaaaa-port", 8), "+aaaaaaa\n… -port");
        assert_eq!(
            wrap_diff("  + one two -three", 12),
            "  + one two\n…   -three"
        );
    }

    #[test]
    fn a_cut_text_ends_between_words() {
        assert_eq!(cut_between_words("the cache keeps", 15), "the cache keeps");
        assert_eq!(cut_between_words("the cache keeps", 14), "the cache…");
        assert_eq!(cut_between_words("timetables", 6), "timet…");
    }
}
