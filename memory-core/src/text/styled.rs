//! Words of which some letters are styled, in Markdown or HTML: `**Kay**ak`, `H<sub>2</sub>O`.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::{Token, tokenize};
use crate::wikilink::blank_code;

/// The names of HTML elements that style a part of a line.
const INLINE_ELEMENTS: [&str; 22] = [
    "a", "abbr", "b", "bdi", "big", "cite", "del", "dfn", "em", "font", "i", "ins", "mark", "q",
    "s", "small", "span", "strike", "strong", "sub", "sup", "u",
];

/// Maximum length of a tag in bytes.
const MAX_TAG: usize = 256;

/// Maximum number of marks that are open at the same time; the earliest of more has no pair.
const MAX_OPEN: usize = 16;

/// Calls `each` with the tokens of `text` that styling marks divide, as they are without the marks.
///
/// The marks are a pair in one line: Markdown emphasis with `*`, `~~` or `==` beside letters, or the tags of an inline HTML element. Code
/// has no such tokens. The span of a token is that of the whole word.
///
/// ```
/// # use memory_core::text::for_each_styled_token;
/// let mut found = Vec::new();
/// for_each_styled_token("a **Kay**ak, a*b, x<y", &mut |token| found.push(token.text.to_owned()));
/// assert_eq!(found, ["kayak"]);
/// ```
pub fn for_each_styled_token(text: &str, each: &mut dyn FnMut(Token<'_>)) {
    for marks in words_with_marks(text) {
        let (start, end) = word_around(text, &marks);
        let (mut plain, mut cuts) = (String::new(), Vec::new());
        let mut at = start;
        for mark in marks {
            plain.push_str(&text[at..mark.start]);
            cuts.push(plain.len());
            at = mark.end;
        }
        plain.push_str(&text[at..end]);
        tokenize(&plain, &mut |token| {
            let own = token.span.clone();
            let next = cuts.partition_point(|cut| *cut <= own.start);
            if cuts.get(next).is_some_and(|cut| *cut < own.end) {
                each(Token {
                    span: start..end,
                    ..token
                });
            }
        });
    }
}

/// Returns `text` without the styling marks inside its words.
pub(crate) fn without_inner_styling(text: &str) -> Cow<'_, str> {
    let marks = words_with_marks(text);
    if marks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    for mark in marks.into_iter().flatten() {
        plain.push_str(&text[at..mark.start]);
        at = mark.end;
    }
    plain.push_str(&text[at..]);
    Cow::Owned(plain)
}

/// Returns the marks inside each word that has some.
fn words_with_marks(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut words: Vec<(Vec<Range<usize>>, bool)> = Vec::new();
    for StylingMark { span, is_tag } in inner_marks(text) {
        match words.last_mut() {
            Some((marks, has_tag))
                if marks
                    .last()
                    .is_some_and(|last| text[last.end..span.start].chars().all(is_inner)) =>
            {
                marks.push(span);
                *has_tag |= is_tag;
            }
            _ => words.push((vec![span], is_tag)),
        }
    }
    // `a*b*c` is a product.
    let is_word = |marks: &[Range<usize>]| {
        let (start, end) = word_around(text, marks);
        let letters = text[start..end].chars().filter(|c| c.is_alphanumeric());
        marks.len() + 1 < letters.count() || !text[start..end].is_ascii()
    };
    words.retain(|(marks, has_tag)| *has_tag || is_word(marks));
    words.into_iter().map(|(marks, _)| marks).collect()
}

/// Returns the start and the end of the word that contains these marks.
fn word_around(text: &str, marks: &[Range<usize>]) -> (usize, usize) {
    let (first, last) = match marks {
        [first, .., last] => (first.start, last.end),
        [only] => (only.start, only.end),
        [] => (0, 0),
    };
    let before = text[..first].trim_end_matches(is_inner);
    let after = text[last..].trim_start_matches(is_inner);
    (before.len(), text.len() - after.len())
}

/// Returns whether a character may be inside a word.
fn is_inner(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character) || matches!(character, '\'' | '’')
}

/// Styling marks without a gap.
struct StylingMark {
    span: Range<usize>,
    /// Whether one of the marks is a tag.
    is_tag: bool,
}

/// Returns the paired marks that have letters on both sides.
fn inner_marks(text: &str) -> Vec<StylingMark> {
    let has_candidate = text.as_bytes().windows(2).any(|pair| {
        let is_letter = pair[0].is_ascii_alphanumeric() || !pair[0].is_ascii();
        is_letter && matches!(pair[1], b'*' | b'~' | b'=' | b'<')
    });
    if !has_candidate {
        return Vec::new();
    }
    let prose = blank_code(text);
    let mut start = 0;
    let mut found = Vec::new();
    for line in prose.split_inclusive('\n') {
        found.extend(paired_marks(line).into_iter().map(|mark| StylingMark {
            span: start + mark.span.start..start + mark.span.end,
            ..mark
        }));
        start += line.len();
    }
    let mut joined: Vec<StylingMark> = Vec::new();
    for mark in found {
        match joined.last_mut() {
            Some(last) if last.span.end == mark.span.start => {
                last.span.end = mark.span.end;
                last.is_tag |= mark.is_tag;
            }
            _ => joined.push(mark),
        }
    }
    joined.retain(|mark| {
        let is_letter = |character: char| {
            character.is_alphabetic()
                || is_combining_mark(character)
                || mark.is_tag && character.is_alphanumeric()
        };
        text[..mark.span.start].ends_with(is_letter) && text[mark.span.end..].starts_with(is_letter)
    });
    joined
}

/// Returns the marks of a line that form pairs, in order.
fn paired_marks(line: &str) -> Vec<StylingMark> {
    let mut open: Vec<(&str, Range<usize>)> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, name, is_tag) = match rest.as_bytes()[0] {
            b'\\' => (
                1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                "",
                false,
            ),
            sign @ (b'*' | b'~' | b'=') => {
                let length = rest.bytes().take_while(|byte| *byte == sign).count();
                let is_mark = length == 2 || sign == b'*' && length <= 3;
                (length, if is_mark { &rest[..length] } else { "" }, false)
            }
            b'<' => parse_tag(rest).map_or((1, "", true), |(length, name)| (length, name, true)),
            _ => (rest.chars().next().map_or(1, char::len_utf8), "", false),
        };
        let span = at..at + length;
        at = span.end;
        if name.is_empty() {
            continue;
        }
        let is_closing = if is_tag {
            rest.starts_with("</")
        } else {
            !line[..span.start].ends_with(char::is_whitespace) && span.start != 0
        };
        let is_opening = if is_tag {
            !is_closing
        } else {
            line[span.end..].starts_with(|next: char| !next.is_whitespace())
        };
        let opener = open
            .iter()
            .rposition(|(own, _)| own.eq_ignore_ascii_case(name))
            .filter(|_| is_closing);
        match opener {
            Some(opener) => {
                let spans = [open[opener].1.clone(), span];
                found.extend(spans.map(|span| StylingMark { span, is_tag }));
                open.truncate(opener);
            }
            None if is_opening => {
                if MAX_OPEN <= open.len() {
                    open.remove(0);
                }
                open.push((name, span));
            }
            None => {}
        }
    }
    found.sort_unstable_by_key(|mark| mark.span.start);
    found
}

/// Returns the length and the name of the tag of an inline element at the start of `text`.
fn parse_tag(text: &str) -> Option<(usize, &str)> {
    let inside = text.strip_prefix("</").or_else(|| text.strip_prefix('<'))?;
    let length = inside
        .find(|character: char| !character.is_ascii_alphabetic())
        .unwrap_or(inside.len());
    let (name, rest) = inside.split_at(length);
    let end = rest
        .bytes()
        .take(MAX_TAG)
        .position(|byte| matches!(byte, b'>' | b'<'))?;
    let is_tag = rest.as_bytes()[end] == b'>'
        && (end == 0 || rest.starts_with(|first: char| first.is_whitespace()))
        && INLINE_ELEMENTS
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name));
    is_tag.then(|| (text.len() - rest.len() + end + 1, name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn styled(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each_styled_token(text, &mut |token| found.push(token.text.to_owned()));
        found
    }

    #[test]
    fn a_word_of_which_some_letters_are_styled_is_one_word() {
        for (text, word) in [
            ("a **Kay**ak trip", "kayak"),
            ("*Kay*ak", "kayak"),
            ("Kay**ak**", "kayak"),
            ("ka**y**ak and ka*ya*k", "kayak kayak"),
            ("***Kay***ak", "kayak"),
            ("~~Kay~~ak ==Kay==ak", "kayak kayak"),
            ("<b>Kay</b>ak", "kayak"),
            ("<span class=\"a b\">Kay</span>ak", "kayak"),
            ("Kay<EM>ak</EM>", "kayak"),
            ("<u>**Kay**</u>ak", "kayak"),
            ("H<sub>2</sub>O", "h2o"),
            ("**dark mode**s", "mode"),
            ("<b>שְׁ</b>מַע", "שמע"),
            ("**בְּ**רֵאשִׁית", "בראשית"),
            ("**d**on't", "don't"),
        ] {
            assert_eq!(styled(text).join(" "), word, "{text}");
        }
        assert_eq!(styled("这是**重要**的"), ["是重", "要的"]);
        assert_eq!(styled("日**本**語"), ["日本", "本语"]);
        assert_eq!(
            without_inner_styling("a **Kay**ak *trip*"),
            "a **Kayak *trip*"
        );
    }

    #[test]
    fn products_names_comparisons_and_code_have_no_styled_words() {
        for text in [
            "a*b",
            "a*b*c",
            "2*3*4",
            "2**8**2",
            "snake_case_name __init__s",
            "x < y > z",
            "x<y>z",
            "a<b and b>c",
            "`**Kay**ak`",
            "```\n**Kay**ak\n```",
            "\\*Kay\\*ak",
            "**Kay** ak",
            "* item*s",
            "**Kay\n**ak",
            "a==b",
            "Vec<T>s",
        ] {
            assert_eq!(styled(text), [""; 0], "{text}");
            assert_eq!(without_inner_styling(text), text);
        }
    }

    proptest! {
        #[test]
        fn spans_are_words_of_the_text(text in "([a-c*~=<>/`\\\\\\n é记]|<b>|</b>|\\*\\*){0,40}") {
            for_each_styled_token(&text, &mut |token| {
                assert!(!text[token.span].contains(char::is_whitespace));
            });
            prop_assert!(without_inner_styling(&text).len() <= text.len());
        }
    }
}
