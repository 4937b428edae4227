//! Parses durations in English: "two and a half hours", "a fortnight".

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity, TimeUnit};
use super::super::numeric;

use super::lexicon::{WORDS, lookup_unit, lookup_unit_letter};
use super::numbers::{parse_below_hundred, parse_number};

/// Maximum number of components of a duration.
const MAX_PARTS: usize = 7;

/// Consumes "1 month, 2 days and 3 hours", "2d4h" or "PT1H30M".
pub(super) fn parse_duration(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    if let Some(total) = cursor.attempt(parse_iso_duration) {
        return Some(total);
    }
    let (mut total, mut last) = cursor.attempt(parse_duration_part)?;
    for _ in 1..MAX_PARTS {
        let more = cursor.attempt(|cursor| {
            cursor.consume_sign(',');
            cursor.consume_word("and");
            parse_duration_part(cursor).filter(|(_, unit)| is_smaller_unit(*unit, last))
        });
        let minutes = || Some((parse_trailing_minutes(cursor, last)?, TimeUnit::Minute));
        let Some((amount, unit)) = more.or_else(minutes) else {
            break;
        };
        total = total.plus(amount)?;
        last = unit;
    }
    Some(total)
}

/// Consumes a duration of ISO 8601, such as "P1DT2H30M".
fn parse_iso_duration(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let mut is_time = match cursor.word() {
        "p" => false,
        "pt" => true,
        _ => return None,
    };
    cursor.step();
    let mut total: Option<CalendarDuration> = None;
    while let Some(number) = cursor.attempt(TokenCursor::consume_glued_number) {
        let whole = number.value;
        let quantity = cursor
            .attempt(|cursor| parse_fraction(cursor, whole))
            .or_else(|| Quantity::whole(whole))?;
        let letters = cursor.word();
        let (letter, starts_time) = letters
            .strip_suffix('t')
            .map_or((letters, false), |letter| (letter, true));
        let unit = match letter {
            "m" if !is_time => TimeUnit::Month,
            letter => lookup_unit_letter(letter)?,
        };
        cursor.step();
        let part = unit.duration(quantity)?;
        total = Some(total.unwrap_or_default().plus(part)?);
        is_time |= starts_time;
    }
    total.filter(|_| cursor.ends_cleanly())
}

/// Consumes a compact duration that is the whole text, such as "1h30m", which is an offset from now.
pub(super) fn parse_lone_duration(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let is_first = cursor.is_at_start();
    let start = cursor.position();
    let amount = parse_duration(cursor)?;
    let length = cursor.position() - start;
    let is_compact = 3 <= length
        && cursor.is_at_end()
        && !cursor.word_before(1).is_empty()
        && (2..=length).all(|back| cursor.is_glued_before(back - 1));
    (is_first && is_compact).then_some(amount)
}

/// Consumes the minutes of "1h30".
fn parse_trailing_minutes(
    cursor: &mut TokenCursor<'_>,
    last: TimeUnit,
) -> Option<CalendarDuration> {
    (last == TimeUnit::Hour).then_some(())?;
    cursor.attempt(|cursor| {
        let minutes = cursor.consume_glued_digits(2..=2)?;
        cursor
            .ends_cleanly()
            .then(|| TimeUnit::Minute.duration(Quantity::whole(minutes.value)?))?
    })
}

fn is_smaller_unit(unit: TimeUnit, than: TimeUnit) -> bool {
    unit < than && (unit, than) != (TimeUnit::Day, TimeUnit::WorkingDay)
}

/// Consumes one number and its unit.
fn parse_duration_part(cursor: &mut TokenCursor<'_>) -> Option<(CalendarDuration, TimeUnit)> {
    let quantity = cursor.attempt(parse_quantity)?;
    cursor.consume_any_word(&WORDS.before_units);
    cursor.consume_glued_sign('-');
    let (unit, each) = cursor
        .attempt(parse_unit)
        .or_else(|| parse_prime_unit(cursor))?;
    let half = cursor.consume_phrase("and a half");
    let quantity = if half {
        quantity.plus_half()?
    } else {
        quantity
    };
    let quantity = Quantity {
        over: quantity.over.checked_mul(i64::try_from(each).ok()?)?,
        ..quantity
    };
    Some((unit.duration(quantity)?, unit))
}

/// Consumes the prime signs of minutes and seconds, directly after a number that follows "in".
fn parse_prime_unit(cursor: &mut TokenCursor<'_>) -> Option<(TimeUnit, u64)> {
    (cursor.word_before(2) == "in").then_some(())?;
    let unit = if cursor.consume_glued_sign('\'') {
        TimeUnit::Minute
    } else if cursor.consume_glued_sign('"') {
        TimeUnit::Second
    } else {
        return None;
    };
    cursor.is_at_end().then_some((unit, 1))
}

/// Consumes a unit; a single letter is a unit only directly after a number.
pub(super) fn parse_unit(cursor: &mut TokenCursor<'_>) -> Option<(TimeUnit, u64)> {
    let is_working = cursor.consume_any_word(&["business", "working", "work"]);
    let word = cursor.word();
    if cursor.is_glued(0)
        && cursor.is_number_before(1)
        && let Some(unit) = lookup_unit_letter(word)
    {
        cursor.step();
        return Some((unit, 1));
    }
    if word == "h" && cursor.is_number_before(1) {
        cursor.step();
        return Some((TimeUnit::Hour, 1));
    }
    let (unit, each) = lookup_unit(word)?;
    cursor.step();
    match (is_working, unit) {
        (false, _) => Some((unit, each)),
        (true, TimeUnit::Day) => Some((TimeUnit::WorkingDay, each)),
        (true, _) => None,
    }
}

/// Consumes a quantity: "a couple of", "1.5", "3/4", "half an", "two and a half".
fn parse_quantity(cursor: &mut TokenCursor<'_>) -> Option<Quantity> {
    let named: [(_, _, &[&str]); 5] = [
        (2, 1, &WORDS.two),
        (3, 1, &["a few", "few", "several"]),
        (1, 2, &["half an", "half a", "a half", "half"]),
        (3, 4, &WORDS.three_quarters),
        (1, 4, &["a quarter of an", "quarter of an", "a quarter"]),
    ];
    let is_next = |(_, _, phrases): &(i64, i64, &[&str])| cursor.consume_any_phrase(phrases);
    if let Some((over, under, _)) = named.into_iter().find(is_next) {
        return Some(Quantity { over, under });
    }
    let whole = cursor.attempt(|cursor| {
        let is_clean = cursor.starts_cleanly() || follows_unit_letter(cursor);
        parse_number(cursor).filter(|_| is_clean)
    });
    let Some(whole) = whole else {
        cursor.consume_any_word(&["a", "an"]).then_some(())?;
        cursor.consume_word("single");
        return Quantity::whole(1);
    };
    if let Some(quantity) = cursor.attempt(|cursor| parse_fraction(cursor, whole)) {
        return Some(quantity);
    }
    let whole = Quantity::whole(whole)?;
    let has_half = cursor.consume_any_phrase(&["and a half", "and half", "and an half"]);
    if has_half {
        whole.plus_half()
    } else {
        Some(whole)
    }
}

/// Returns whether the cursor is inside a compact duration such as "1h30m".
fn follows_unit_letter(cursor: &TokenCursor<'_>) -> bool {
    cursor.is_glued(0)
        && lookup_unit_letter(cursor.word_before(1)).is_some()
        && cursor.is_number_before(2)
}

/// Consumes the fraction of "1.5" or "3/4" after its first number.
fn parse_fraction(cursor: &mut TokenCursor<'_>, whole: u64) -> Option<Quantity> {
    let whole = i64::try_from(whole).ok()?;
    if cursor.consume_glued_sign('/') {
        let under = i64::try_from(cursor.consume_glued_number()?.value).ok()?;
        let is_share = whole < under && under <= 12;
        cursor.consume_any_phrase(&["of an", "of a", "an"]);
        return is_share.then_some(Quantity { over: whole, under });
    }
    numeric::parse_decimals(cursor, whole)
}

/// Consumes the number of "4 Tuesdays from now".
pub(super) fn count(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let counted = cursor.attempt(|cursor| match cursor.consume_number() {
        Some(number) => Some(number.value),
        None => parse_below_hundred(cursor),
    });
    let counted = counted.or_else(|| {
        cursor
            .consume_any_phrase(&["a couple of", "a couple"])
            .then_some(2)
    });
    let counted = counted.or_else(|| cursor.consume_any_word(&["a", "an"]).then_some(1));
    i32::try_from(counted?)
        .ok()
        .filter(|count| (1..=10_000).contains(count))
}
