//! Excerpts that show the matches of a query in a text.

use std::collections::HashMap;
use std::ops::Range;

use super::fold::joins_previous;
use super::stem::may_have_stem;
use super::tokens::tokenize_filtered;
use super::{Term, Token, TokenKind, for_each_alef_token, for_each_styled_token, for_each_symbol};

/// A one-line excerpt of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The excerpt, with `…` where text was cut off.
    pub text: String,
    /// The byte ranges of `text` that match a term: in order, separate and not empty.
    pub marks: Vec<Range<usize>>,
    /// The number of characters of the text before the excerpt, without whitespace and control characters.
    skipped: usize,
}

impl Snippet {
    /// Returns the number of characters before the excerpt in the text from which it was cut.
    pub(crate) fn offset_in(&self, text: &str) -> usize {
        let visible = text
            .chars()
            .enumerate()
            .filter(|(_, character)| !is_blank(*character));
        if self.skipped == 0 {
            0
        } else {
            visible
                .map(|(index, _)| index)
                .nth(self.skipped)
                .unwrap_or(0)
        }
    }
}

/// The maximum number of characters to drop on each side in order to end at a word boundary.
const MAX_TRIM: usize = 12;

/// The minimum width of an excerpt with two `…` and text between them.
const MIN_WIDTH: usize = 3;

/// Returns at most `width` characters of `text` around the densest group of distinct `terms`.
///
/// If several groups have the maximum number of distinct terms, the shortest one is chosen, then the first. Without a match, the excerpt is
/// the start of the text. Whitespace and control characters become single spaces. `parts` also match within words.
pub fn snippet(text: &str, terms: &[Term], parts: &[&str], width: usize) -> Snippet {
    if width == 0 {
        return Snippet::default();
    }
    let line = collapse_whitespace(text);
    let length = line.chars().count();
    let matches = find_matches(&line, terms, parts);
    let focus = densest_range(&matches, width.saturating_sub(2));
    let excerpt = choose_excerpt(length, focus, width);
    cut_snippet(&line, &excerpt, &matches)
}

/// Returns the snippet of at most `width` characters, shortened until `fits` accepts it.
///
/// The whole text is searched once, and shortened excerpts only in the first one.
pub(crate) fn fitting_snippet(
    text: &str,
    terms: &[Term],
    width: usize,
    fits: &dyn Fn(&str) -> bool,
) -> Snippet {
    let mut width = width;
    let mut excerpt = snippet(text, terms, &[], width);
    while MIN_WIDTH < width && !fits(&excerpt.text) {
        width = width * 3 / 4;
        let shorter = snippet(&excerpt.text, terms, &[], width);
        // The `…` at the start of the longer excerpt is no character of the text.
        let lead = usize::from(0 < excerpt.skipped && 0 < shorter.skipped);
        excerpt = Snippet {
            skipped: excerpt.skipped + shorter.skipped - lead,
            ..shorter
        };
    }
    excerpt
}

/// An occurrence of a term.
struct SnippetMatch {
    term: usize,
    bytes: Range<usize>,
    characters: Range<usize>,
}

/// The characters of a line to show: at most `within`, which contains `focus` where it fits.
struct Excerpt {
    within: Range<usize>,
    focus: Range<usize>,
    length: usize,
}

/// Returns `text` without line breaks and other control characters, and with single spaces.
fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for piece in text.split(is_blank) {
        if piece.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    line
}

/// Returns whether an excerpt replaces `character` by a space.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || is_control(character)
}

/// Returns whether `character` controls a terminal instead of being displayed.
fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn find_matches(line: &str, terms: &[Term], parts: &[&str]) -> Vec<SnippetMatch> {
    if terms.is_empty() && parts.is_empty() {
        return Vec::new();
    }
    let numbers: HashMap<(&str, TokenKind), usize> = terms
        .iter()
        .enumerate()
        .map(|(number, term)| ((term.text.as_str(), term.kind), number))
        .collect();
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let may_be_one = |word: &str, spelled: &str| {
        terms.iter().any(|term| may_have_stem(word, &term.text))
            || parts.iter().any(|part| spelled.contains(part))
    };
    tokenize_filtered(line, &may_be_one, &mut |token| {
        if let Some(&term) = numbers.get(&(token.text, token.kind)) {
            found.push((term, token.span));
        } else if token.kind == TokenKind::Word
            && let Some(part) = parts.iter().position(|part| token.spelled.contains(part))
        {
            found.push((
                terms.len() + part,
                partial_match_range(line, &token, parts[part]),
            ));
        }
    });
    let mut add_whole = |token: Token<'_>| {
        let term = numbers.get(&(token.text, token.kind));
        found.extend(term.map(|term| (*term, token.span)));
    };
    for_each_styled_token(line, &mut add_whole);
    for_each_alef_token(line, &mut add_whole);
    if terms.iter().any(|term| term.kind == TokenKind::Symbol) {
        for_each_symbol(line, &mut add_whole);
    }
    found.sort_by_key(|(_, bytes)| bytes.start);
    // The matches are in order, so the characters before each match are counted only once.
    let (mut byte, mut character) = (0, 0);
    let place = |(term, bytes): (usize, Range<usize>)| {
        character += line[byte..bytes.start].chars().count();
        byte = bytes.start;
        let end = character + line[bytes.clone()].chars().count();
        SnippetMatch {
            term,
            bytes,
            characters: character..end,
        }
    };
    found.into_iter().map(place).collect()
}

/// Returns the indexes of the terms that `text` contains as whole words.
pub(crate) fn contained_terms(text: &str, terms: &[Term]) -> impl Iterator<Item = usize> {
    find_matches(text, terms, &[])
        .into_iter()
        .map(|found| found.term)
}

/// Returns the range of a part within a word, or of the whole word if folding has changed its length.
fn partial_match_range(line: &str, token: &Token<'_>, part: &str) -> Range<usize> {
    let Range { start, end } = token.span;
    let at = token
        .spelled
        .find(part)
        .filter(|_| token.spelled.len() == end - start);
    let bytes = at.map(|at| start + at..start + at + part.len());
    bytes
        .filter(|bytes| line.get(bytes.clone()).is_some())
        .unwrap_or(start..end)
}

/// Returns the character range with the most distinct terms within `room` characters.
fn densest_range(matches: &[SnippetMatch], room: usize) -> Option<Range<usize>> {
    let mut best: Option<(usize, usize, Range<usize>)> = None;
    let mut inside = HashMap::<usize, usize>::new();
    let mut first = 0;
    for (last, newest) in matches.iter().enumerate() {
        *inside.entry(newest.term).or_default() += 1;
        while first < last {
            let oldest = &matches[first];
            let fits = newest.characters.end - oldest.characters.start <= room;
            // The term at the start is dropped if it occurs again in the window.
            if fits && inside[&oldest.term] == 1 {
                break;
            }
            if let Some(count) = inside.get_mut(&oldest.term) {
                *count -= 1;
                if *count == 0 {
                    inside.remove(&oldest.term);
                }
            }
            first += 1;
        }
        let distance = newest.characters.start - matches[first].characters.start;
        let better = best.as_ref().is_none_or(|&(distinct, best_distance, _)| {
            distinct < inside.len() || (distinct == inside.len() && distance < best_distance)
        });
        if better {
            best = Some((
                inside.len(),
                distance,
                matches[first].characters.start..newest.characters.end,
            ));
        }
    }
    best.map(|(_, _, characters)| characters)
}

fn choose_excerpt(length: usize, focus: Option<Range<usize>>, width: usize) -> Excerpt {
    let focus = focus.unwrap_or(0..0);
    let within = if length <= width {
        0..length
    } else if focus.end < width || width < MIN_WIDTH {
        // The width is reduced by one for each `…`.
        0..width - 1
    } else if length - focus.start < width {
        length - (width - 1)..length
    } else {
        let room = width.saturating_sub(2);
        let middle = focus.start.midpoint(focus.end);
        let start = middle.saturating_sub(room / 2).min(focus.start);
        start..start + room
    };
    Excerpt {
        within,
        focus,
        length,
    }
}

fn cut_snippet(line: &str, excerpt: &Excerpt, matches: &[SnippetMatch]) -> Snippet {
    let Range { mut start, mut end } = byte_range(line, &excerpt.within);
    if 0 < excerpt.within.start {
        let spare = excerpt
            .focus
            .start
            .saturating_sub(excerpt.within.start)
            .min(MAX_TRIM);
        start = later_start(line, start..end, spare);
    }
    if excerpt.within.end < excerpt.length {
        let spare = excerpt
            .within
            .end
            .saturating_sub(excerpt.focus.end)
            .min(MAX_TRIM);
        end = earlier_end(line, start..end, spare);
    }

    let lead = if 0 < start { "…" } else { "" };
    let trail = if end < line.len() { "…" } else { "" };
    let shift =
        |bytes: &Range<usize>| bytes.start - start + lead.len()..bytes.end - start + lead.len();
    let mut marks = Vec::<Range<usize>>::new();
    for found in matches
        .iter()
        .filter(|found| start <= found.bytes.start && found.bytes.end <= end)
    {
        let mark = shift(&found.bytes);
        match marks.last_mut() {
            Some(before) if mark.start <= before.end => before.end = before.end.max(mark.end),
            _ => marks.push(mark),
        }
    }
    let skipped = line[..start]
        .chars()
        .filter(|character| !is_blank(*character))
        .count();
    Snippet {
        text: format!("{lead}{}{trail}", &line[start..end]),
        marks,
        skipped,
    }
}

fn byte_range(line: &str, characters: &Range<usize>) -> Range<usize> {
    let mut borders = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    let start = borders.nth(characters.start).unwrap_or(line.len());
    let end = match characters.len() {
        0 => start,
        some => borders.nth(some - 1).unwrap_or(line.len()),
    };
    start..end
}

/// Returns a start at most `spare` characters later, at the beginning of a word if possible.
///
/// Otherwise it moves the start only so far that no mark is separated from its letter.
fn later_start(line: &str, bytes: Range<usize>, spare: usize) -> usize {
    let shown = &line[bytes.clone()];
    if line[..bytes.start].ends_with(' ') {
        return bytes.start;
    }
    if let Some((blank, _)) = shown
        .char_indices()
        .take(spare)
        .find(|&(_, character)| character == ' ')
    {
        return bytes.start + blank + 1;
    }
    bytes.start + (shown.len() - shown.trim_start_matches(joins_previous).len())
}

/// Returns an end at most `spare` characters earlier, at the end of a word if possible.
///
/// Otherwise it moves the end only so far that no mark is separated from its letter.
fn earlier_end(line: &str, bytes: Range<usize>, spare: usize) -> usize {
    let shown = &line[bytes.clone()];
    if line[bytes.end..].starts_with(' ') {
        return bytes.end;
    }
    if let Some((blank, _)) = shown
        .char_indices()
        .rev()
        .take(spare)
        .find(|&(_, character)| character == ' ')
    {
        return bytes.start + blank;
    }
    if line[bytes.end..].starts_with(joins_previous) {
        return bytes.start
            + shown
                .rfind(|character| !joins_previous(character))
                .unwrap_or(0);
    }
    bytes.end
}

#[cfg(test)]
mod tests;
