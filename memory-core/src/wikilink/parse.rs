//! Parsing wikilinks in text outside of code, and normalizing the names that they use.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A `[[wikilink]]` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wikilink {
    /// The text before `#`, `^` and `|`; empty means the note itself.
    pub target: String,
    /// The fragment within the target, if any.
    pub fragment: Option<Fragment>,
    /// The text to display instead of the target.
    pub alias: Option<String>,
    /// Whether the target is embedded (`![[…]]`).
    pub embed: bool,
    /// The byte range in the text, including the brackets.
    pub span: Range<usize>,
}

/// A fragment of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fragment {
    /// A heading.
    Heading(String),
    /// A block, by its id.
    Block(String),
}

/// Returns the wikilinks of a text, in order, except those in code.
///
/// ```
/// use memory_core::wikilink::parse;
///
/// let links = parse("see [[Tokio#Runtime|the runtime]], not `[[this]]`");
/// assert_eq!(links.len(), 1);
/// assert_eq!(links[0].target, "Tokio");
/// assert_eq!(links[0].alias.as_deref(), Some("the runtime"));
/// ```
pub fn parse(text: &str) -> Vec<Wikilink> {
    parse_prose_wikilinks(&blank_code(text))
}

/// Returns the wikilinks of a text without code, such as a property or the result of [`blank_code`].
pub fn parse_prose_wikilinks(prose: &str) -> Vec<Wikilink> {
    let bytes = prose.as_bytes();
    let mut links = Vec::new();
    // The start of the text inside the innermost `[[`.
    let mut open = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => open = (0 < at && bytes[at - 1] == b'[').then_some(at + 1),
            b']' => {
                let closed = open
                    .take()
                    .filter(|inside| *inside < at && bytes.get(at + 1) == Some(&b']'));
                links.extend(closed.map(|inside| build_wikilink(prose, inside..at)));
            }
            b'\n' | b'\r' => open = None,
            _ => {}
        }
    }
    links
}

fn build_wikilink(prose: &str, inside: Range<usize>) -> Wikilink {
    let embed = prose[..inside.start - 2].ends_with('!');
    let span = inside.start - 2 - usize::from(embed)..inside.end + 2;
    let text = &prose[inside];
    let (address, alias) = text
        .split_once('|')
        .map_or((text, None), |(address, alias)| (address, Some(alias)));
    let (target, fragment) = split_fragment(address);
    Wikilink {
        // In a table, the separator is escaped as `\|`.
        target: target.trim_end_matches('\\').trim().to_owned(),
        fragment,
        alias: alias.map(|alias| alias.replace("\\|", "|").trim().to_owned()),
        embed,
        span,
    }
}

fn split_fragment(address: &str) -> (&str, Option<Fragment>) {
    let is_block_id = |id: &str| {
        !id.is_empty()
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let clean = |fragment: &str| fragment.trim_end_matches('\\').trim().to_owned();
    if let Some((target, fragment)) = address.split_once('#') {
        let fragment = clean(fragment);
        let block = fragment
            .strip_prefix('^')
            .map(|id| Fragment::Block(id.to_owned()));
        return (target, Some(block.unwrap_or(Fragment::Heading(fragment))));
    }
    match address
        .rsplit_once('^')
        .map(|(target, id)| (target, clean(id)))
    {
        Some((target, id)) if is_block_id(&id) => (target, Some(Fragment::Block(id))),
        _ => (address, None),
    }
}

/// Returns the normalized form for comparing names.
///
/// It is in NFC and in lower case, without surrounding whitespace, and with no-break spaces replaced by spaces.
///
/// ```
/// use memory_core::wikilink::fold_link_name;
///
/// assert_eq!(fold_link_name(" Cafe\u{301}\u{a0}Noir "), fold_link_name("café noir"));
/// assert_eq!(fold_link_name("T\u{308}"), fold_link_name("ẗ"));
/// ```
pub fn fold_link_name(name: &str) -> String {
    if name.is_ascii() {
        return name.trim().to_ascii_lowercase();
    }
    let name: Cow<'_, str> = if name.contains('\u{a0}') {
        name.replace('\u{a0}', " ").into()
    } else {
        name.into()
    };
    // A second composition is needed: some characters, such as ẗ, are precomposed only in lower case.
    to_nfc(&to_nfc(name.trim()).to_lowercase()).into_owned()
}

pub(super) fn to_nfc(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
}

/// Returns the last component of a normalized path.
pub(super) fn last_component(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// Returns a normalized file name without its `.md` extension.
pub(super) fn strip_md(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}

/// Returns `text` with code, mathematics and comments replaced by spaces; byte offsets remain valid.
///
/// Replaced are fenced blocks, `<!-- comments -->`, `$$mathematics$$` and `` `inline code` ``, in this order. Line
/// breaks are retained. An opening mark without a closing one is prose, except a fence, which extends to the end of the
/// text.
#[expect(
    clippy::missing_panics_doc,
    reason = "only whole characters are blanked, so it never does"
)]
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
                let closes = |(found, run, rest): (u8, usize, &str)| {
                    found == mark && length <= run && rest.trim().is_empty()
                };
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
    let line = after_bullet
        .and_then(|rest| rest.strip_prefix(' '))
        .unwrap_or(line)
        .trim_start_matches(blanks);
    let mark = *line
        .as_bytes()
        .first()
        .filter(|first| matches!(first, b'`' | b'~'))?;
    let run = line.bytes().take_while(|byte| *byte == mark).count();
    (3 <= run).then(|| (mark, run, &line[run..]))
}

fn blank_between(bytes: &mut [u8], opening: &[u8], closing: &[u8]) {
    let mut from = 0;
    while let Some(start) = find_bytes(bytes, opening, from) {
        let Some(end) = find_bytes(bytes, closing, start + opening.len()) else {
            return;
        };
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
        let end = bytes[start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| start + at);
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

    use super::{Fragment, blank_code, parse};

    fn one(text: &str) -> (String, Option<Fragment>, Option<String>, bool) {
        let mut links = parse(text);
        let link = links.pop().expect("there is a link");
        assert!(links.is_empty());
        (link.target, link.fragment, link.alias, link.embed)
    }

    #[test]
    fn every_form_of_a_link_is_read() {
        let heading = |text: &str| Some(Fragment::Heading(text.into()));
        let block = |text: &str| Some(Fragment::Block(text.into()));
        assert_eq!(one("[[a]]"), ("a".into(), None, None, false));
        assert_eq!(
            one("[[a|b c]]"),
            ("a".into(), None, Some("b c".into()), false)
        );
        assert_eq!(one("![[a.png]]"), ("a.png".into(), None, None, true));
        assert_eq!(
            one("[[a#H 1|x]]"),
            ("a".into(), heading("H 1"), Some("x".into()), false)
        );
        assert_eq!(one("[[a^b1]]"), ("a".into(), block("b1"), None, false));
        assert_eq!(one("[[a#^b1]]"), ("a".into(), block("b1"), None, false));
        assert_eq!(one("[[#H]]"), (String::new(), heading("H"), None, false));
        assert_eq!(
            one("| [[a\\|b]] |"),
            ("a".into(), None, Some("b".into()), false)
        );
        assert_eq!(
            one("[[a#h\\|b]]"),
            ("a".into(), heading("h"), Some("b".into()), false)
        );
        assert_eq!(one("[[[a]]]").0, "a");
        assert_eq!(one("[[b [[a]]").0, "a");
        assert_eq!(
            one("[[b\rc]] [[d\n]] [[a]]").0,
            "a",
            "no line ends in a link, whatever it ends with"
        );
    }

    #[test]
    fn what_is_empty_broken_or_code_is_no_link() {
        for text in [
            "[[]]",
            "[a]",
            "[[a\nb]]",
            "[[a] ]",
            "[[a[b]]",
            "`[[a]]`",
            "```\n[[a]]\n```",
            "$$[[a]]$$",
            "<!--[[a]]-->",
        ] {
            assert!(parse(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_megabyte_of_brackets_takes_no_time() {
        assert!(parse(&"[[".repeat(500_000)).is_empty());
        assert!(parse(&"[[a".repeat(300_000)).is_empty());
        assert_eq!(parse(&"[[a]]".repeat(200_000)).len(), 200_000);
    }

    proptest! {
        #[test]
        fn spans_are_links_and_no_code(text in "(\\[\\[|\\]\\]|[`~$|#^!\\\\\\[\\]]|\\n|a|键| ){0,60}") {
            let prose = blank_code(&text);
            for link in parse(&text) {
                let span = &text[link.span.clone()];
                let opening = if link.embed { "![[" } else { "[[" };
                prop_assert!(span.starts_with(opening) && span.ends_with("]]"));
                prop_assert_eq!(&prose[link.span.start..link.span.start + 2], &span[..2]);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            parse(&text);
        }
    }

    #[test]
    fn fences_may_stand_in_quotes_and_lists_and_close_with_at_least_as_many_marks() {
        assert_eq!(
            blank_code("a\n```rust\n[[b]]\n````\nc"),
            "a\n       \n     \n    \nc"
        );
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
