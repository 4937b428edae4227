//! Wrapping of text to lines.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// Splits `text` into lines of at most `width` columns and returns their byte ranges.
///
/// Lines break between words if possible. Text in scripts without blanks may break anywhere except before closing
/// punctuation.
pub(crate) fn wrap_lines(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut column) = (0, 0);
    // The end of the line and the start of the next one at the last possible break.
    let mut gap = None;
    let mut after_wide = false;
    for (place, character) in text.char_indices() {
        let columns = column_width(character);
        let is_wide = columns == 2;
        if character == ' ' {
            gap = Some((place, place + 1));
        } else if (is_wide || after_wide) && !is_closing_punctuation(character) {
            gap = Some((place, place));
        }
        after_wide = is_wide;
        if width < column + columns && start < place && character != ' ' {
            let (end, next) = gap
                .take()
                .filter(|(end, _)| start < *end)
                .unwrap_or((place, place));
            lines.push(start..start + text[start..end].trim_end_matches(' ').len());
            start = next;
            column = text[start..place].chars().map(self::column_width).sum();
        }
        column += columns;
    }
    lines.push(start..text.len());
    lines
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
}
