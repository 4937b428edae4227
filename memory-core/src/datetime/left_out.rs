//! Finds the words of time next to an expression that it does not include.

use std::ops::Range;

use super::cursor::TokenCursor;
use super::mention::{DateMention, DatePrecision};
use super::token::DateToken;
use super::token::DateTokenKind::{self, Han, Number, Other, Sign, Word};
use super::{chinese, english, numeric};

/// Maximum number of tokens that are searched on each side.
const MAX_DISTANCE: usize = 12;

/// Returns the byte ranges next to the parts of `reading` that are words of time, and in no expression of `parts`.
///
/// Only connecting words and numbers may be between them and the expression. The spans are in text order.
pub(super) fn find_left_out(
    text: &str,
    tokens: &[DateToken<'_>],
    reading: &DateMention,
    parts: &[Range<usize>],
) -> Vec<Range<usize>> {
    let own = parts.partition_point(|part| part.start < reading.span.start)
        ..parts.partition_point(|part| part.start < reading.span.end);
    let mut found: Vec<Range<usize>> = Vec::new();
    for part in &parts[own] {
        for around in find_beside(text, tokens, part, reading, parts) {
            let is_new = found.last().is_none_or(|last| last.end <= around.start);
            found.extend(Some(around).filter(|_| is_new));
        }
    }
    found
}

fn find_beside(
    text: &str,
    tokens: &[DateToken<'_>],
    part: &Range<usize>,
    reading: &DateMention,
    parts: &[Range<usize>],
) -> Vec<Range<usize>> {
    let first = tokens.partition_point(|token| token.span.end <= part.start);
    let after = tokens.partition_point(|token| token.span.start < part.end);
    let is_other = |at: usize| {
        let place = tokens[at].span.start;
        let next = parts.partition_point(|span| span.end <= place);
        parts.get(next).is_some_and(|span| span.start <= place)
    };
    let is_time = |at: &usize| is_time_word(tokens, *at) || names_zone(text, tokens, *at);
    let can_last = reading.repeats || reading.kind != DatePrecision::Date;
    let is_time_behind = |at: &usize| {
        is_time(at)
            || tokens[*at].what == Word("ago")
            || can_last && is_extent(tokens, *at)
            || is_other_number(tokens, *at, reading.kind)
    };
    let last_of = |places: &mut dyn Iterator<Item = usize>, is_time: &dyn Fn(&usize) -> bool| {
        places
            .take(MAX_DISTANCE)
            .take_while(|at| !is_other(*at) && (is_time(at) || is_connecting(&tokens[*at])))
            .filter(is_time)
            .last()
    };
    let lead = || find_lead(tokens, first).filter(|lead| !lead.clone().any(is_other));
    let is_unread =
        |date: &Range<usize>| reading.kind == DatePrecision::Time && !date.clone().any(is_other);
    let decimal = || {
        let start = first
            .checked_sub(3)
            .filter(|_| reading.kind == DatePrecision::Date)?;
        let mut cursor = TokenCursor::new(tokens, start);
        numeric::parse_dotted_hour(&mut cursor).map(|_| start..first)
    };
    let before = last_of(&mut (0..first).rev(), &is_time)
        .map(|start| start..first)
        .or_else(decimal)
        .or_else(lead)
        .or_else(|| find_unread_date_before(tokens, first).filter(is_unread));
    let consumed = |consume: &dyn Fn(&mut TokenCursor<'_>) -> bool| {
        let mut cursor = TokenCursor::new(tokens, after);
        consume(&mut cursor).then(|| after..cursor.position())
    };
    let amount = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_sign(',');
        cursor.consume_sign('(');
        english::parse_signed_amount(cursor).is_some()
    };
    let impossible = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_sign(',');
        cursor.consume_any_word(&["at", "and", "or"]);
        numeric::consume_impossible_clock(cursor)
    };
    let zone = || {
        find_unknown_zone(text, tokens, after, reading.kind)
            .or_else(|| find_zone_of_day(text, tokens, after, reading.kind))
            .filter(|zone| !zone.clone().any(is_other))
    };
    let behind = last_of(&mut (after..tokens.len()), &is_time_behind).map(|end| {
        // A Chinese word has a second character.
        let is_word =
            matches!(tokens[end].what, Han(_)) && is_time_word(tokens, end) && !is_other(end + 1);
        after..end + 1 + usize::from(is_word)
    });
    let behind = behind
        .or_else(|| consumed(&numeric::consume_hourly_repeater))
        .or_else(|| consumed(&amount))
        .or_else(|| consumed(&impossible))
        .or_else(zone)
        .or_else(|| find_unread_date_behind(tokens, after).filter(is_unread));
    let is_sign = |at: &usize| matches!(tokens[*at].what, Sign(_));
    before
        .into_iter()
        .chain(behind)
        .filter_map(|mut around| {
            let start = around.clone().find(|at| !is_sign(at))?;
            let end = around.rfind(|at| !is_sign(at))?;
            Some(tokens[start].span.start..tokens[end].span.end)
        })
        .collect()
}

/// Returns whether a token belongs to the name of a time zone: "Narnia time", 纳尼亚时间.
fn names_zone(text: &str, tokens: &[DateToken<'_>], at: usize) -> bool {
    let is_name = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            matches!(token.what, Word(_) | Other)
                && text[token.span.clone()].starts_with(char::is_uppercase)
        })
    };
    let is_word = |at| TokenCursor::new(tokens, at).word() == "time";
    let is_han = |at| TokenCursor::new(tokens, at).peek_han(0).is_some();
    let after = (at..tokens.len())
        .find(|at| !is_han(*at))
        .unwrap_or(tokens.len());
    let ends_in_time = after.checked_sub(2).is_some_and(|end| {
        at < after && tokens[end].what == Han('时') && tokens[end + 1].what == Han('间')
    });
    is_name(at) && (is_word(at + 1) || is_name(at + 1) && is_word(at + 2))
        || is_word(at) && at.checked_sub(1).is_some_and(is_name)
        || ends_in_time
}

/// Returns the duration directly before an expression that is counted from it: "ten quarters after" before "3am".
fn find_lead(tokens: &[DateToken<'_>], first: usize) -> Option<Range<usize>> {
    let word = |at| TokenCursor::new(tokens, at).word();
    let is_direction = |at: usize| matches!(word(at), "after" | "before" | "past");
    // The direction may be a part of the expression: "hour" before "past Christmas".
    let mut places = [Some(first), first.checked_sub(1)].into_iter().flatten();
    let end = places.find(|at| is_direction(*at))?;
    let unit = end
        .checked_sub(1)
        .filter(|at| english::is_unit(word(*at)))?;
    let is_amount = |at: &usize| {
        matches!(tokens[*at].what, Number(_))
            || english::is_numeral(word(*at))
            || matches!(word(*at), "a" | "an")
    };
    let amount = (0..unit).rev().take_while(is_amount).last();
    Some(amount.unwrap_or(unit)..first)
}

/// Returns the date of another language that ends in a year before a time: "Donnerstag, 23. Januar 2014 um".
///
/// Up to two words may be between them.
fn find_unread_date_before(tokens: &[DateToken<'_>], first: usize) -> Option<Range<usize>> {
    let mut places = (0..first)
        .rev()
        .filter(|at| !is_separator(tokens[*at].what));
    let year = places
        .by_ref()
        .take(3)
        .find(|at| !is_name(tokens[*at].what))?;
    find_unread_date(tokens, 0..year)
}

/// Returns the date of another language that follows a time: "Uhr, 23. Januar 2014".
fn find_unread_date_behind(tokens: &[DateToken<'_>], after: usize) -> Option<Range<usize>> {
    let is_part = |what: DateTokenKind<'_>| is_name(what) || is_number(what) || is_separator(what);
    (after..tokens.len())
        .take(MAX_DISTANCE)
        .take_while(|at| is_part(tokens[*at].what))
        .find_map(|year| find_unread_date(tokens, after..year))
}

/// Returns the last date in `places` whose year is the token after them: a day, and the name of its month before or after it.
fn find_unread_date(tokens: &[DateToken<'_>], places: Range<usize>) -> Option<Range<usize>> {
    let is_year = matches!(tokens[places.end].what, Number(year)
        if year.digits == 4 && (1900..2100).contains(&year.value));
    let is_day = |at: usize| {
        matches!(tokens[at].what, Number(day)
            if day.digits <= 2 && (1..=31).contains(&day.value))
    };
    let end = places.end + 1;
    let mut words = places.rev().filter(|at| !is_separator(tokens[*at].what));
    let nearest = words.next().filter(|_| is_year)?;
    let start = if is_day(nearest) {
        words.next().filter(|at| is_name(tokens[*at].what))?
    } else {
        // The month may be between two short words: "13 de maio de 2016".
        let names = 1 + words
            .clone()
            .take_while(|at| is_name(tokens[*at].what))
            .count();
        let day = words.nth(names - 1).filter(|at| is_day(*at));
        day.filter(|_| is_name(tokens[nearest].what) && names <= 3)?
    };
    Some(start..end)
}

fn is_name(what: DateTokenKind<'_>) -> bool {
    matches!(what, Word(_) | Other)
}

fn is_number(what: DateTokenKind<'_>) -> bool {
    matches!(what, Number(_))
}

fn is_separator(what: DateTokenKind<'_>) -> bool {
    matches!(what, Sign(',' | '.' | '-' | '/'))
}

/// Returns the abbreviation of a time zone without a known offset behind a time, with the hour that is not part of it: "NPT",
/// "(NPT)", "at 9 BRT".
fn find_unknown_zone(
    text: &str,
    tokens: &[DateToken<'_>],
    after: usize,
    kind: DatePrecision,
) -> Option<Range<usize>> {
    let mut cursor = TokenCursor::new(tokens, after);
    if kind == DatePrecision::Date {
        cursor.consume_word("at");
        cursor.consume_number().filter(|hour| hour.value <= 24)?;
    }
    cursor.consume_sign('(');
    let token = tokens.get(cursor.position())?;
    let name = &text[token.span.clone()];
    let capitals = name.chars().filter(char::is_ascii_uppercase).count();
    let is_abbreviation = matches!(token.what, Word(_))
        && (3..=5).contains(&name.len())
        && name.len() <= capitals + 1
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.ends_with('T');
    cursor.step();
    // In "10:00 VAT return", a noun follows.
    (is_abbreviation && english::can_end_number(&cursor)).then(|| after..cursor.position())
}

/// Returns the time zone behind a day without an hour: "EST", "UTC+9", "Europe/Berlin".
fn find_zone_of_day(
    text: &str,
    tokens: &[DateToken<'_>],
    after: usize,
    kind: DatePrecision,
) -> Option<Range<usize>> {
    let mut cursor = TokenCursor::new(tokens, after);
    english::parse_zone(&mut cursor).filter(|_| kind == DatePrecision::Date)?;
    let place = after..cursor.position();
    let name = &text[tokens[place.start].span.start..tokens[place.end - 1].span.end];
    // "met" and "Est" are other words.
    let is_name = name.contains('/') || !name.contains(char::is_lowercase);
    let is_alone = cursor.sign(0) != Some('/');
    (is_name && is_alone && english::can_end_number(&cursor)).then_some(place)
}

/// Returns whether a token is the unit of how long a recurrence lasts: "for 5 weeks", "3 times", 连续五周.
fn is_extent(tokens: &[DateToken<'_>], at: usize) -> bool {
    let cursor = TokenCursor::new(tokens, at);
    let is_counted = match cursor.peek_back(1) {
        Some(Number(_)) => true,
        Some(Word(word)) => english::is_numeral(word) || word == "a",
        Some(Han(character)) => chinese::is_numeral(character) || character == '个',
        _ => false,
    };
    let is_unit = match tokens[at].what {
        Word(word) => english::is_unit(word) || word == "times",
        Han(character) => "天周月年次星".contains(character),
        _ => false,
    };
    // "每两周一次" says no more than 每两周.
    let mut ahead = cursor;
    ahead.step_back();
    is_counted && is_unit && !ahead.consume_han("一次")
}

/// Returns whether a token is another hour or day of a list or range: "at 9 and 14", "July 5 to 1".
fn is_other_number(tokens: &[DateToken<'_>], at: usize, kind: DatePrecision) -> bool {
    let is_joined = match TokenCursor::new(tokens, at).peek_back(1) {
        Some(Word("and" | "or" | "to" | "until" | "till" | "through")) => true,
        Some(Sign(',' | '&' | '/')) => kind != DatePrecision::Date,
        _ => false,
    };
    let is_short =
        matches!(tokens[at].what, Number(number) if number.digits <= 2 && number.value <= 31);
    let after = TokenCursor::new(tokens, at + 1);
    is_joined && is_short && after.ends_cleanly() && english::can_end_number(&after)
}

fn is_time_word(tokens: &[DateToken<'_>], at: usize) -> bool {
    let next = tokens.get(at + 1).map(|token| token.what);
    let previous = at.checked_sub(1).map(|before| tokens[before].what);
    match (tokens[at].what, previous, next) {
        (Word(word), Some(Number(_)), _) if english::is_half_day(word) => true,
        (Word("every" | "each"), _, Some(Word(next))) => {
            english::is_time_word(next) || english::is_unit(next)
        }
        (Word(word), _, _) => english::is_time_word(word),
        (Han(first), _, Some(Han(second))) => chinese::is_time_word(first, second),
        _ => false,
    }
}

fn is_connecting(token: &DateToken<'_>) -> bool {
    match token.what {
        Number(_) => true,
        Word(word) => english::is_numeral(word) || english::is_connecting(word),
        Sign(sign) => matches!(sign, ',' | '(' | ')' | '-' | '/' | '&' | '@' | ':'),
        Han(character) => {
            "和或到至的在从除了每持续连共个".contains(character) || chinese::is_numeral(character)
        }
        Other => false,
    }
}
