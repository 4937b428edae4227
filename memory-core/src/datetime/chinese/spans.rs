//! Parses spans of days in Chinese: 七月第一周, 下个月前三天, 最近三天.

use super::super::cursor::TokenCursor;
use super::super::range;
use super::super::syntax::{DayPhrase, Month, Period, Year};
use super::super::token::DateTokenKind;
use super::dates::{parse_period_offset, parse_weekday, parse_year_reference};
use super::durations::parse_duration;
use super::numbers::{parse_number, parse_number_in};

/// Consumes a span of days.
pub(super) fn parse_span(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    [
        parse_part_of_year,
        parse_part_of_month,
        parse_span_beside_now,
    ]
    .into_iter()
    .find_map(|form| cursor.attempt(form))
}

/// Consumes 2026年第三季度 and 明年上半年.
fn parse_part_of_year(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let named = parse_year_reference(cursor);
    let is_named = named != Year::Unsaid;
    let year = if is_named { named } else { Year::Away(0) };
    cursor.consume_han("的");
    let halves = [("上半年", 1), ("下半年", 2)];
    if let Some((_, half)) = halves
        .into_iter()
        .find(|(name, _)| cursor.consume_han(name))
    {
        return day_of_span(cursor, DayPhrase::nth_months(half, 6, year)?, is_named);
    }
    cursor.consume_han("第");
    let quarter = i32::try_from(parse_number(cursor)?).ok()?;
    let is_quarter = cursor.consume_any_han(&["季度", "季"]);
    let span = DayPhrase::nth_months(quarter, 3, year).filter(|_| is_quarter)?;
    day_of_span(cursor, span, is_named)
}

/// Consumes 末, 最后一天 or 初, and returns that day of the span; without it, the span if its year is named.
fn day_of_span(cursor: &mut TokenCursor<'_>, span: DayPhrase, is_named: bool) -> Option<DayPhrase> {
    cursor.consume_han("的");
    if cursor.consume_any_han(&["最后一天", "末", "底"]) {
        return span.end.map(DayPhrase::from);
    }
    if cursor.consume_any_han(&["第一天", "初"]) {
        return Some(span.day.into());
    }
    Some(span).filter(|_| is_named || range::consume_joint(&mut cursor.clone()))
}

/// Consumes 七月第一周, 下个月最后两周, 本月前三天 and 六月下半月.
fn parse_part_of_month(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let is_clean = cursor.starts_cleanly();
    let named = cursor.attempt(|cursor| {
        let month = u32::try_from(parse_number_in(cursor, 1..=12)?).ok()?;
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
    let halves = [("上半月", 1, 15), ("下半月", 16, -1)];
    if let Some((_, first, last)) = halves
        .into_iter()
        .find(|(name, ..)| cursor.consume_han(name))
    {
        return Some(DayPhrase::days_of(first, last, &period));
    }
    let (nth, weeks) = if cursor.consume_han("第") {
        (i32::try_from(parse_number(cursor)?).ok()?, 1)
    } else {
        let nth = if cursor.consume_any_han(&["最后", "末"]) {
            -1
        } else if cursor.consume_any_han(&["前", "头", "首"]) {
            1
        } else {
            return None;
        };
        (nth, i32::try_from(parse_number(cursor)?).ok()?)
    };
    cursor.consume_han("个");
    let each = if cursor.consume_any_han(&["周", "星期", "礼拜"]) {
        7
    } else if 1 < weeks && cursor.consume_any_han(&["天", "日"]) {
        1
    } else {
        return None;
    };
    // 第一周一 and 第一周的周一 are days.
    let is_weekday_next = matches!(cursor.peek_han(0), Some('的' | '周' | '星' | '礼'))
        || parse_weekday(&mut cursor.clone()).is_some();
    if is_weekday_next {
        return None;
    }
    DayPhrase::nth_days(nth, weeks.checked_mul(each)?, &period)
}

/// Consumes 最近三天, 过去24小时 and, unless it means "almost", 近一个月, and 接下来三天, 未来两周.
fn parse_span_beside_now(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let follows_word = matches!(cursor.peek_back(1), Some(DateTokenKind::Han(_)));
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
