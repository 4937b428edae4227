//! Parses durations in Chinese: 三天, 半小时, 一个半月, 两年三个月.

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity, TimeUnit};
use super::super::numeric;
use super::super::token::DateTokenKind::{self, Han};
use super::lexicon::WORDS;
use super::numbers::parse_number;

/// Maximum number of components of a duration.
const MAX_PARTS: usize = 6;

/// Consumes a duration.
pub(in super::super) fn parse_duration(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let mut total = cursor.attempt(parse_duration_part)?;
    for _ in 1..MAX_PARTS {
        let more = cursor.attempt(|cursor| {
            cursor.consume_any_han(&["零", "又", "加"]);
            parse_duration_part(cursor)
        });
        let Some(more) = more else { break };
        total = total.plus(more)?;
    }
    Some(total)
}

/// Consumes one number and its unit.
fn parse_duration_part(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let is_clean = cursor.starts_cleanly();
    if cursor.consume_any_han(&["大半", "半"]) {
        let is_counted = cursor.consume_han("个");
        let (unit, each) = parse_unit(cursor, is_counted)?;
        return unit.duration(Quantity {
            over: each,
            under: 2,
        });
    }
    let count = if cursor.consume_any_han(&["几", "数"]) {
        Quantity::whole(3)?
    } else {
        parse_decimal(cursor).filter(|_| is_clean)?
    };
    let is_counted = cursor.consume_han("个");
    let has_half = is_counted && cursor.consume_han("半");
    let (unit, each) = parse_unit(cursor, is_counted)?;
    // 三年半个月 is three years and half a month.
    let starts_part = || {
        let mut ahead = *cursor;
        let is_counted = ahead.consume_han("半") && ahead.consume_han("个");
        parse_unit(&mut ahead, is_counted).is_some()
    };
    let has_half_behind =
        !has_half && allows_trailing_half(unit) && !starts_part() && cursor.consume_han("半");
    let count = if has_half || has_half_behind {
        count.plus_half()?
    } else {
        count
    };
    unit.duration(Quantity {
        over: count.over.checked_mul(each)?,
        ..count
    })
}

fn allows_trailing_half(unit: TimeUnit) -> bool {
    matches!(
        unit,
        TimeUnit::Hour | TimeUnit::Minute | TimeUnit::Day | TimeUnit::Year | TimeUnit::Week
    )
}

fn parse_decimal(cursor: &mut TokenCursor<'_>) -> Option<Quantity> {
    let whole = Quantity::whole(parse_number(cursor)?)?;
    let decimal = cursor.attempt(|cursor| numeric::parse_decimals(cursor, whole.over));
    Some(decimal.unwrap_or(whole))
}

/// Returns whether a unit of time follows an approximate number behind `before`, and not a year, a month or a day of a date.
pub(in super::super) fn is_unit_next(
    cursor: &TokenCursor<'_>,
    before: Option<DateTokenKind<'_>>,
) -> bool {
    let mut ahead = *cursor;
    let is_counted = ahead.consume_han("个");
    let unit = ahead.peek_han(0);
    let is_amount = parse_unit(&mut ahead, is_counted).is_some();
    // 八九年 is 1989, but 两三年前 and 每两三年 count years.
    let is_counted_before =
        matches!(before, Some(Han(character)) if "每过近来".contains(character));
    let counts_years = is_counted_before || ahead.is_han_next(0, "前后以之内来");
    is_amount && unit != Some('日') && (unit != Some('年') || counts_years)
}

/// Consumes a unit, and returns it with the number of [`TimeUnit`]s that it denotes.
fn parse_unit(cursor: &mut TokenCursor<'_>, is_counted: bool) -> Option<(TimeUnit, i64)> {
    if is_counted {
        if cursor.consume_han("月") {
            return Some((TimeUnit::Month, 1));
        }
        // In Cantonese, 字 is the distance of two numbers on the clock face, which is five minutes.
        if cursor.consume_han("字") {
            return Some((TimeUnit::Minute, 5));
        }
    }
    // 钟 is an hour only behind 个.
    let needs_count = cursor.is_han_next(0, "钟") && !cursor.is_han_next(1, "头");
    cursor
        .consume_meaning(&WORDS.units)
        .filter(|_| is_counted || !needs_count)
}
