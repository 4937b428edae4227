//! Parses spans of days in Chinese: 七月第一周, 下个月前三天, 最近三天.

use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::period::{Month, Period, PeriodEdge, Year};
use super::super::range;
use super::super::syntax::{DayExpression, DayPhrase};
use super::super::token::DateTokenKind::Han;
use super::dates::{
    parse_date_in_month, parse_nth_day, parse_period_offset, parse_weekday, parse_year_reference,
};
use super::durations::parse_duration;
use super::numbers::{parse_number, parse_number_in};

/// Consumes a span of days.
pub(super) fn parse_span(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    cursor.attempt_any(&[
        parse_part_of_year,
        parse_part_of_month,
        parse_span_beside_now,
    ])
}

/// Consumes 2026年第三季度, 明年上半年, 明年最后一个月 and days of these: 下个季度最后一个星期五.
fn parse_part_of_year(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let numbered = cursor.attempt(|cursor| parse_numbered_part(cursor, year));
    let whole = numbered.clone().or_else(|| match year {
        Year::Unsaid => cursor.attempt(|cursor| {
            let quarters = parse_period_offset(cursor).unwrap_or(0);
            let is_quarter = cursor.consume_any_han(&["季度", "季"]);
            is_quarter.then_some(Period::Quarter(quarters))
        }),
        year => Some(Period::Year(year)),
    })?;
    cursor.consume_han("的");
    let months = cursor.attempt(|cursor| parse_months_of(cursor, &whole));
    let is_whole = numbered.is_none() && months.is_none();
    let is_named = year != Year::Unsaid || months.is_some();
    let period = months.unwrap_or(whole);
    cursor.consume_han("的");
    let day = cursor.attempt(|cursor| parse_nth_day(cursor, period.clone()));
    let date =
        |cursor: &mut TokenCursor<'_>| parse_date_in_month(cursor, Month::Unsaid)?.within(&period);
    if let Some(day) = day.or_else(|| cursor.attempt(date)) {
        return Some(day.into());
    }
    (!is_whole).then_some(())?;
    if cursor.consume_any_han(&["末", "底"]) {
        return Some(DayExpression::Edge(PeriodEdge::End, period).into());
    }
    if cursor.consume_han("初") {
        return Some(DayExpression::Edge(PeriodEdge::Start, period).into());
    }
    let is_span = is_named || range::consume_joint(&mut cursor.clone());
    is_span.then(|| DayPhrase::whole(period))
}

/// Consumes 上半年 and 第三季度 of a year.
fn parse_numbered_part(cursor: &mut TokenCursor<'_>, year: Year) -> Option<Period> {
    let is_current = year == Year::Unsaid;
    let year = Period::Year(if is_current { Year::Away(0) } else { year });
    if let Some(half) = cursor.consume_meaning(&[(1, ["上半年"]), (2, ["下半年"])]) {
        return Period::nth_part(half, CalendarDuration::in_months(6), year);
    }
    cursor.consume_han("第");
    let quarter = parse_number(cursor)?;
    let is_quarter = cursor.consume_any_han(&["季度", "季"]);
    is_quarter.then(|| Period::nth_part(quarter, CalendarDuration::in_months(3), year))?
}

/// Consumes 第二个月, 最后一个月 and 前两个月 of a period.
fn parse_months_of(cursor: &mut TokenCursor<'_>, period: &Period) -> Option<Period> {
    let (nth, months) = parse_nth_of_units(cursor)?;
    let is_month = cursor.consume_han("个月");
    let length = CalendarDuration::in_months(months.into());
    is_month.then(|| Period::nth_part(nth, length, period.clone()))?
}

/// Consumes 第三, 最后两 and 前三, and returns which part of how many units it is.
fn parse_nth_of_units(cursor: &mut TokenCursor<'_>) -> Option<(i32, i32)> {
    if cursor.consume_han("第") {
        return Some((parse_number(cursor)?, 1));
    }
    let nth = if cursor.consume_any_han(&["最后", "末"]) {
        -1
    } else if cursor.consume_any_han(&["前", "头", "首"]) {
        1
    } else {
        return None;
    };
    Some((nth, parse_number(cursor)?))
}

/// Consumes 七月第一周, 下个月最后两周, 本月前三天 and 六月下半月.
fn parse_part_of_month(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let is_clean = cursor.starts_cleanly();
    let named = cursor.attempt(|cursor| {
        let month = parse_number_in(cursor, 1..=12)?;
        cursor
            .consume_han("月")
            .then_some(Month::Named(month, year))
    });
    let month = named.filter(|_| is_clean).or_else(|| {
        let months = parse_period_offset(cursor).filter(|_| year == Year::Unsaid)?;
        cursor.consume_han("月").then_some(Month::Away(months))
    })?;
    cursor.consume_han("份");
    cursor.consume_han("的");
    let period = Period::Month(month);
    let halves = [((1, 15), ["上半月"]), ((16, -1), ["下半月"])];
    if let Some((first, last)) = cursor.consume_meaning(&halves) {
        return Some(DayPhrase::days_of(first, last, &period));
    }
    let (nth, units) = parse_nth_of_units(cursor)?;
    cursor.consume_han("个");
    let each = if cursor.consume_any_han(&["周", "星期", "礼拜"]) {
        7
    } else if 1 < units && cursor.consume_any_han(&["天", "日"]) {
        1
    } else {
        return None;
    };
    // 第一周一 and 第一周的周一 are days.
    let is_weekday_next =
        cursor.is_han_next(0, "的周星礼") || parse_weekday(&mut cursor.clone()).is_some();
    (!is_weekday_next).then_some(())?;
    let length = CalendarDuration::in_days(i64::from(units) * each);
    Period::nth_part(nth, length, period).map(DayPhrase::whole)
}

/// Consumes 最近三天, 过去24小时 and, unless it means "almost", 近一个月, and 接下来三天, 未来两周.
fn parse_span_beside_now(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let follows_word = matches!(cursor.peek_back(1), Some(Han(_)));
    let is_to_come = cursor.consume_any_han(&["接下来", "未来", "今后"]);
    if is_to_come || cursor.consume_any_han(&["最近", "过去"]) {
        cursor.consume_any_han(&["的", "这"]);
    } else if follows_word || !cursor.consume_han("近") {
        return None;
    }
    let amount = parse_duration(cursor)?;
    cursor.consume_any_han(&["之内", "以内", "内", "里"]);
    Some(DayPhrase::beside_now(amount, is_to_come))
}
