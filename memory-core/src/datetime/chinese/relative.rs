//! Parses times relative to another time or event: 明天这个时候, 明年今天, 提前一小时, 晚饭后.

use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::english::at_same_time;
use super::super::syntax::DateExpression;
use super::super::time_of_day::DayPart;
use super::super::token::DateTokenKind::Sign;
use super::days::parse_day;
use super::durations::parse_duration;
use super::lexicon::WORDS;
use super::times_of_day;

/// Consumes "明天这个时候" and "下周的同一时间".
pub(super) fn parse_same_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    let named = parse_day(cursor)?;
    cursor.consume_han("的");
    let is_said = cursor.consume_any_han(&WORDS.same_time);
    is_said.then(|| at_same_time(named))?
}

/// Consumes "提前一小时", which follows the time that it is relative to.
pub(in super::super) fn parse_lead_time(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    cursor.consume_han("提前").then_some(())?;
    cursor.consume_any_han(&["大约", "大概", "约", "个"]);
    parse_duration(cursor)
        .filter(|amount| !amount.is_exact || amount.days == 0 && amount.months == 0)
}

/// Consumes "晚饭后" and "睡前".
pub(super) fn parse_meal_time(cursor: &mut TokenCursor<'_>) -> Option<DayPart> {
    cursor.consume_han("吃完");
    let meals: [(_, &[&str]); 3] = [
        (8, &["早饭", "早餐"]),
        (12, &["午饭", "午餐", "中饭", "中午饭"]),
        (19, &["晚饭", "晚餐"]),
    ];
    if cursor.consume_any_han(&["睡觉之前", "睡觉前", "睡前", "临睡前"]) {
        return Some(DayPart::Around(22));
    }
    let hour = cursor.consume_meaning(&meals)?;
    if cursor.consume_any_han(&["之前", "以前", "前"]) {
        return Some(DayPart::Around(hour - 1));
    }
    let is_eaten = cursor.is_han_before(4, "吃") && cursor.is_han_before(3, "完");
    (cursor.consume_any_han(&["之后", "以后", "过后", "后"]) || is_eaten)
        .then_some(DayPart::Around(hour + 1))
}

/// Consumes a part of the day without a date or time: 下午给客户回电话, 晚饭后吃药.
///
/// Such words are frequent in descriptions of habits and in stories, so they count only in a request.
pub(super) fn parse_bare_day_part(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    let is_told = cursor.is_han_before(2, "醒") && cursor.is_han_before(1, "我")
        || cursor.is_han_before(2, "记") && cursor.is_han_before(1, "得");
    (cursor.is_at_start() || is_told).then_some(())?;
    let part = cursor
        .attempt(parse_meal_time)
        .or_else(|| times_of_day::parse_long_day_part(cursor))?;
    // "晚上好", "下午茶" and "早上的会" are not times for a reminder.
    let is_of_thing = cursor.is_han_next(0, "好安茶的饭觉场班是总都容会经常");
    let is_last = cursor.is_at_end() || matches!(cursor.peek(0), Some(Sign(_)));
    (!is_of_thing && !is_last).then(|| DateExpression {
        part: Some(part),
        is_vague: true,
        ..DateExpression::default()
    })
}
