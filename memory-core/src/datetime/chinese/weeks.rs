//! Parses weekdays in Chinese.

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::period::{Period, PeriodEdge};
use super::super::syntax::{DayExpression, DayPhrase, Week};
use super::super::token::DateTokenKind::Han;
use super::dates::{parse_calendar_date, parse_period_offset, parse_weekday, parse_weekday_name};
use super::numbers::is_numeral;

/// Number of characters after a weekday in which a past-tense particle is searched.
const MAX_PARTICLE_DISTANCE: usize = 12;

/// Consumes a weekday, or the start or end of a week.
pub(super) fn parse_week_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let is_counted = matches!(cursor.peek_back(1), Some(Han(before)) if is_numeral(before) || before == '几')
        || cursor.is_number_before(1) && cursor.is_glued(0);
    // Cantonese 今個 and 呢個 refer to a weekday that is not over yet.
    let is_coming = cursor.is_han_next(0, "今呢");
    let leading = cursor.attempt(parse_period_offset);
    let is_short = cursor.consume_han("周");
    (is_short || cursor.consume_any_han(&["星期", "礼拜"])).then_some(())?;
    let weekday = parse_weekday(cursor).or_else(|| {
        // "下周的星期三" and "下周周三" are redundant.
        let again = |cursor: &mut TokenCursor<'_>| {
            cursor.consume_han("的");
            parse_weekday_name(cursor)
        };
        leading.and_then(|_| cursor.attempt(again))
    });
    let Some(weekday) = weekday else {
        return Some(parse_week_edge(cursor, leading?));
    };
    let is_counted_behind = cursor.is_han_next(0, "次岁年个遍回期趟");
    if is_counted && leading.is_none() || is_short && is_counted_behind && leading.is_none() {
        return None;
    }
    // In "礼拜天, 二月十号" the date is decisive.
    let date = cursor.attempt(|cursor| {
        cursor.consume_sign(',');
        cursor.consume_sign('(');
        let named = parse_calendar_date(cursor)
            .filter(|named| matches!(named.day, DayExpression::OfMonth(..)))?;
        cursor.consume_sign(')');
        Some(named)
    });
    if let Some(named) = date {
        return Some(named.day.on_weekday(weekday).into());
    }
    let is_weekend = cursor.is_han_before(1, "末");
    let is_told = (0..MAX_PARTICLE_DISTANCE).any(|ahead| cursor.is_han_next(ahead, "了过已"));
    let week = match leading {
        // "这周二我们开了会" is about the past.
        Some(_) if is_coming => Week::This,
        Some(0) if !is_told => Week::This,
        Some(weeks) => Week::Of(weeks),
        None if is_weekend => Week::This,
        None => Week::Coming,
    };
    Some(DayExpression::Weekday(weekday, week).into())
}

/// Consumes "下周" with an optional start or end; without it the result is vague.
fn parse_week_edge(cursor: &mut TokenCursor<'_>, weeks: i32) -> DayPhrase {
    let edges: [(_, &[&str]); 2] = [
        (PeriodEdge::Start, &["初"]),
        (PeriodEdge::End, &["底", "内", "之内"]),
    ];
    match cursor.consume_meaning(&edges) {
        Some(edge) => DayExpression::Edge(edge, Period::Week(weeks)).into(),
        None => DayPhrase::start_of(Period::Week(weeks)),
    }
}

/// Consumes the redundant weekday after a date.
pub(super) fn parse_redundant_weekday(cursor: &mut TokenCursor<'_>) -> Option<Weekday> {
    let is_bracketed = cursor.consume_sign('(');
    let weekday = parse_weekday_name(cursor)?;
    (!is_bracketed || cursor.consume_sign(')')).then_some(weekday)
}
