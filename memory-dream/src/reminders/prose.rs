//! Extracts the writer's own statements from a text.

use std::ops::Range;

use memory_core::language::{contains_any, strip_any};
use memory_core::wikilink::{blank_code, parse_prose_wikilinks};

use super::english::list_contains;
use super::words::{CHINESE, ENGLISH};
use crate::language::{WORDS, has_beginning};
use crate::merge::{is_heading, is_item, sentence_ranges};

/// Returns `text` with code, quotations, examples, links, addresses and struck-out text replaced by spaces.
///
/// Byte offsets do not change.
pub(super) fn own_prose(text: &str) -> String {
    let mut prose = blank_code(text);
    let links: Vec<_> = parse_prose_wikilinks(&prose)
        .into_iter()
        .map(|link| link.span)
        .collect();
    for span in links {
        blank_range(&mut prose, span);
    }
    let addresses: Vec<_> = word_ranges(&prose)
        .filter(|word| is_address(&prose[word.clone()]))
        .collect();
    for span in addresses {
        blank_range(&mut prose, span);
    }
    for span in examples(text) {
        blank_range(&mut prose, span);
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let begin = line.trim_start();
        let is_done = ["- [x]", "- [X]", "* [x]", "* [X]", "✅", "✓", "☑"]
            .iter()
            .any(|mark| begin.starts_with(mark));
        if begin.starts_with(['>', '|']) || is_done {
            blank_range(&mut prose, range);
        } else {
            for quoted in quotations(&prose[range.clone()]) {
                blank_range(
                    &mut prose,
                    range.start + quoted.start..range.start + quoted.end,
                );
            }
        }
    }
    prose
}

pub(super) fn blank_range(text: &mut String, range: Range<usize>) {
    let blanks: String = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(range, &blanks);
}

/// Returns the ranges that a heading or a label before a colon denotes as examples or test data.
///
/// A heading applies until the next one, a label at the end of a line until the next empty line, and any other label to its line.
fn examples(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut start, mut is_below_heading, mut is_below_label) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if is_heading(line) {
            is_below_heading = names_example(line);
            continue;
        }
        is_below_label &= !line.trim().is_empty();
        if is_below_heading || is_below_label || says_test(line) {
            found.push(range);
        } else if let Some((label, rest)) = line.split_once([':', '：'])
            && (names_example(label) || is_test_label(label))
            && label.split_whitespace().count() <= MAX_LABEL_WORDS
        {
            is_below_label = rest.trim().is_empty();
            found.push(range);
        }
    }
    found
}

/// Returns whether a label denotes test data; "chemistry test" is an exam.
fn is_test_label(label: &str) -> bool {
    let word = label.trim_matches(|letter: char| !letter.is_alphanumeric());
    {
        let word = word.to_lowercase();
        [&ENGLISH.test_labels, &CHINESE.test_labels]
            .iter()
            .any(|labels| labels.contains(&word.as_str()))
    }
}

/// Returns whether a line says that it is a test: `[test]`, "TEST - …", "this is only a test".
fn says_test(line: &str) -> bool {
    let small = line.to_lowercase();
    let plain = strip_markers(&small);
    let tag = plain.strip_prefix(['[', '(', '【', '（', '<', '#', '{']);
    let label = tag.map_or_else(
        || {
            plain.split_once(
                [" - ", " – ", " — "]
                    .into_iter()
                    .find(|dash| plain.contains(dash))?,
            )
        },
        |inside| inside.split_once([']', ')', '】', '）', '>', '}', ' ']),
    );
    let is_sentence = ENGLISH
        .test_sentences
        .iter()
        .chain(&CHINESE.test_sentences)
        .any(|sentence| {
            small.find(sentence).is_some_and(|at| {
                let after = small[at + sentence.len()..].trim_start();
                !after.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            })
        });
    let is_chinese_sentence = small.match_indices("测试").any(|(at, word)| {
        let start = small.floor_char_boundary(at.saturating_sub(MAX_SENTENCE_BYTES));
        let is_end = !small[at + word.len()..].starts_with(char::is_alphanumeric);
        is_end
            && small[start..at]
                .rfind('这')
                .is_some_and(|this| small[start + this..at].contains('是'))
    });
    label.is_some_and(|(label, _)| is_test_label(label)) || is_sentence || is_chinese_sentence
}

/// Maximum distance between 这 and 测试 in "这只是一个测试", in bytes.
const MAX_SENTENCE_BYTES: usize = 18;

/// Returns whether a clause is about an invented appointment, a reminder for a test, or what an automated test does.
pub(super) fn names_test_data(text: &str) -> bool {
    let small = text.to_lowercase().replace("made-up", "invented");
    let words: Vec<&str> = small
        .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let is_pair = |pair: &[&str]| {
        let is_record = list_contains(&ENGLISH.records, pair[1]);
        list_contains(&ENGLISH.invented, pair[0])
            && (is_record || list_contains(&ENGLISH.event_nouns, pair[1]))
            || list_contains(&["test", "dummy"], pair[0]) && is_record
    };
    let own = words
        .iter()
        .position(|word| !list_contains(&ENGLISH.determiners, word))
        .unwrap_or_default();
    let is_automated = matches!(words[own..], [kind, named, verb, ..]
        if list_contains(&ENGLISH.automated_tests, kind)
            && list_contains(&["test", "tests"], named)
            && !list_contains(&ENGLISH.after_tests, verb));
    let plain = small.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let is_chinese = ["测试", "測試", "假的", "虚构的"].iter().any(|word| {
        plain.strip_prefix(word).is_some_and(|rest| {
            let object = strip_any(rest, &CHINESE.test_objects);
            object.is_some_and(|rest| !rest.starts_with(['功', '系', '模', '服', '是']))
        })
    });
    words.windows(2).any(is_pair) || is_automated || is_chinese
}

/// Maximum number of words of a label.
const MAX_LABEL_WORDS: usize = 6;

/// Returns whether a text says that something is an example or test data.
pub(super) fn names_example(text: &str) -> bool {
    let small = text.to_lowercase();
    let words: Vec<&str> = small
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_pair = |pair: &[&str]| {
        list_contains(&ENGLISH.sample_kinds, pair[0])
            && list_contains(&ENGLISH.sample_data, pair[1])
    };
    words
        .iter()
        .any(|word| list_contains(&ENGLISH.examples, word))
        || words.windows(2).any(is_pair)
        || contains_any(&small, &CHINESE.examples)
}

/// Returns whether a time in digits is a part of a number or code, such as an order number.
///
/// A date stands alone, has separators, and does not follow the name of a number.
pub(super) fn is_part_of_code(prose: &str, span: &Range<usize>) -> bool {
    let said = &prose[span.clone()];
    let digits = said.bytes().filter(u8::is_ascii_digit).count();
    let is_numeric = 6 <= digits
        && said
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-/.: tTzZ+".contains(&byte));
    if !is_numeric {
        return false;
    }
    let (before, after) = (&prose[..span.start], &prose[span.end..]);
    let joins = |letter: char| letter.is_ascii_alphanumeric() || "-_#/".contains(letter);
    let mut next = after.chars();
    let is_continued = next.next().is_some_and(|letter| {
        letter.is_ascii_alphanumeric()
            || "-_/".contains(letter)
                && next
                    .next()
                    .is_some_and(|letter| letter.is_ascii_alphanumeric())
    });
    let label = before.trim_end_matches([' ', ':', '：', '.', '#']);
    let word = label
        .rsplit(|letter: char| !letter.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    digits == said.len()
        || before.ends_with(joins)
        || is_continued
        || list_contains(&ENGLISH.number_names, &word)
        || label.ends_with(['号', '號'])
}

fn word_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split(char::is_whitespace).filter_map(move |word| {
        // The offset is computed from pointers because a whitespace character can have several bytes.
        let start = at.max(word.as_ptr() as usize - text.as_ptr() as usize);
        at = start + word.len();
        (!word.is_empty()).then_some(start..at)
    })
}

fn is_address(word: &str) -> bool {
    let is_path = word.starts_with(['/', '~', '\\']) && word[1..].contains(['/', '\\']);
    word.contains("://") || word.contains("www.") || word.contains("](") || is_path || is_mail(word)
}

fn is_mail(word: &str) -> bool {
    word.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// Returns the quoted and the struck-out ranges of a line.
fn quotations(line: &str) -> Vec<Range<usize>> {
    const PAIRS: [(&str, &str); 8] = [
        ("“", "”"),
        ("\"", "\""),
        ("「", "」"),
        ("『", "』"),
        ("«", "»"),
        ("„", "“"),
        ("《", "》"),
        ("~~", "~~"),
    ];
    let mut found: Vec<Range<usize>> = Vec::new();
    for (opening, closing) in PAIRS {
        let mut at = 0;
        while let Some(start) = line[at..].find(opening).map(|start| at + start) {
            let inside = start + opening.len();
            let Some(end) = line[inside..]
                .find(closing)
                .map(|end| inside + end + closing.len())
            else {
                break;
            };
            found.push(start..end);
            at = end;
        }
    }
    found
}

/// Returns the ranges of the statements of a text: its sentences, without list and heading markers.
pub(super) fn statement_ranges(text: &str, prose: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let is_blank = prose[range.clone()].trim().is_empty();
        let begins = is_item(line) || is_heading(line);
        if let Some(own) = open.take_if(|_| is_blank || begins) {
            push_sentences(prose, own, &mut found);
        }
        if !is_blank {
            open = Some(open.map_or(range.clone(), |own| own.start..range.end));
        }
        if is_heading(line)
            && let Some(own) = open.take()
        {
            push_sentences(prose, own, &mut found);
        }
    }
    if let Some(own) = open {
        push_sentences(prose, own, &mut found);
    }
    found
}

fn push_sentences(prose: &str, paragraph: Range<usize>, found: &mut Vec<Range<usize>>) {
    let text = &prose[paragraph.clone()];
    for sentence in sentence_ranges(text) {
        let said = &text[sentence.clone()];
        let plain = strip_markers(said);
        let start = paragraph.start + sentence.start + (said.len() - plain.len());
        found.push(start..paragraph.start + sentence.end);
    }
}

/// Removes bullets, check boxes and heading markers.
fn strip_markers(said: &str) -> &str {
    let mut rest = said.trim_start();
    loop {
        let shorter = [
            "- ", "* ", "+ ", "• ", "[ ] ", "# ", "## ", "### ", "#### ", "☐ ", "**", "□",
        ]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .or_else(|| strip_number(rest));
        match shorter {
            Some(shorter) => rest = shorter.trim_start(),
            None => return rest,
        }
    }
}

/// Removes the number of a list item.
fn strip_number(said: &str) -> Option<&str> {
    let rest = said.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = said.len() - rest.len();
    let rest = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))
        .or_else(|| rest.strip_prefix('、'))?;
    (1..=2).contains(&digits).then_some(rest)
}

/// Returns the parts of a statement between commas and conjunctions outside `spans`.
pub(super) fn clause_ranges(
    prose: &str,
    statement: &Range<usize>,
    spans: &[Range<usize>],
) -> Vec<Range<usize>> {
    let text = &prose[statement.clone()];
    let mut found = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices() {
        let length = match character {
            ',' | ';' | '，' | '；' => character.len_utf8(),
            ' ' => [" and ", " then ", " but "]
                .iter()
                .find(|word| text[at..].starts_with(**word))
                .map_or(0, |word| word.len()),
            '然' if text[at..].starts_with("然后") => "然后".len(),
            _ => 0,
        };
        let whole = statement.start + at;
        if 0 < length
            && start <= at
            && !spans
                .iter()
                .any(|span| span.start <= whole && whole < span.end)
        {
            found.push(statement.start + start..whole);
            start = at + length;
        }
    }
    found.push(statement.start + start..statement.end);
    found.retain(|part| !prose[part.clone()].trim().is_empty());
    found
}

/// Returns whether a text cannot contain a time: it has no digit, word or character used in times.
pub(super) fn has_no_time(text: &str) -> bool {
    let is_digit = |character: char| {
        character.is_ascii_digit() || ('\u{ff10}'..='\u{ff19}').contains(&character)
    };
    !(text.contains(is_digit) || has_beginning(text, &WORDS.time_beginnings))
}
