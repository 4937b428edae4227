//! Extracts the writer's own statements from a text.

use std::ops::Range;

use memory_core::wikilink::{blank_code, parse_prose_wikilinks};

use crate::merge::{is_heading, is_item, sentence_ranges};

/// Returns `text` with code, quotations, links, addresses and struck-out text replaced by spaces.
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

fn blank_range(text: &mut String, range: Range<usize>) {
    let blanks: String = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(range, &blanks);
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
    const TIME_CHARACTERS: &str =
        "日天月年周週星期时時点點刻早晚午夜今明昨后後初末节節秒分礼禮季号號旦诞誕";
    let has_letter = || {
        let begins = |word: &str| {
            TIME_PREFIXES.iter().any(|own| {
                word.get(..own.len())
                    .is_some_and(|first| first.eq_ignore_ascii_case(own))
            })
        };
        text.split(|character: char| !character.is_ascii_alphabetic())
            .any(begins)
    };
    !(text.bytes().any(|byte| byte.is_ascii_digit())
        || text.contains(|character| {
            TIME_CHARACTERS.contains(character) || ('\u{ff10}'..='\u{ff19}').contains(&character)
        })
        || has_letter())
}

/// The first letters of the words that name times, except numbers.
const TIME_PREFIXES: [&str; 62] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
    "jul", "aug", "sep", "oct", "nov", "dec", "tod", "tom", "ton", "next", "week", "year", "hour",
    "min", "sec", "day", "morn", "noon", "midn", "even", "night", "after", "christ", "xmas",
    "east", "thank", "hallo", "val", "new", "eve", "half", "quarter", "couple", "few", "fort",
    "end", "begin", "start", "later", "soon", "mother", "father", "labo", "indep", "mem", "pres",
    "good", "first", "last",
];
