//! Parses recurrences in Chinese: 每周一、三, 每个工作日, 每月第一个周一, 每隔三天, 每晚.

use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::numeric::BareHour;
use super::super::period::{Month, Period, Year};
use super::super::range;
use super::super::syntax::{DayExpression, RecurrencePhrase, Week};
use super::super::time_of_day::DayPart;
use super::super::token::DateTokenKind::{self, Han, Number, Sign};
use super::dates::{
    parse_day_in_month, parse_nth_day, parse_period_edge, parse_weekday, parse_weekday_name,
};
use super::days::parse_day;
use super::durations::parse_duration;
use super::holiday_names::parse_holiday;
use super::numbers::{is_numeral, parse_number_in};
use super::times_of_day::{parse_clock, parse_day_part};

/// Maximum length of a list of days.
const MAX_LIST: usize = 12;

/// Consumes a recurrence.
pub(super) fn parse_recurrence(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    cursor
        .attempt_any(&[
            parse_daily,
            parse_schedule,
            parse_between,
            parse_each_day,
            parse_each_interval,
        ])
        .filter(|recurrence| !recurrence.every.is_zero())
}

/// Consumes "每天" and "每晚".
fn parse_daily(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let parts = [(DayPart::Night, ["每晚"]), (DayPart::Morning, ["每早"])];
    let part = cursor.consume_meaning(&parts);
    let is_daily = part.is_some() || cursor.consume_any_han(&["每天", "每日", "天天", "每一天"]);
    // "天天向上" is a saying.
    (is_daily && !cursor.is_han_next(0, "向")).then(|| RecurrencePhrase::daily(part))
}

/// Consumes "周一到周五每天", "工作日早上九点", "周一三五" and "周一-周五8点".
fn parse_schedule(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let is_counted = match cursor.peek_back(1) {
        Some(Number(_)) => true,
        Some(Han(before)) => is_numeral(before) || "个第几从自".contains(before),
        _ => false,
    };
    let start = cursor.position();
    let is_working = !is_counted && cursor.consume_any_han(&["工作日", "交易日"]);
    let days = if is_working {
        DayExpression::working_days()
    } else {
        parse_weekdays(cursor)?
    };
    let consumed = || (1..=cursor.position() - start).filter_map(|back| cursor.peek_back(back));
    let count =
        |wanted: fn(DateTokenKind<'_>) -> bool| consumed().filter(|what| wanted(*what)).count();
    let names = count(|what| matches!(what, Han('周' | '期' | '拜')));
    let ranges = count(|what| what == Sign('-'));
    let is_short_list = names == 1 && matches!(days, DayExpression::AnyOf(_));
    cursor.consume_han("的");
    let mut ahead = *cursor;
    let mut is_time_next = || {
        parse_day_part(&mut ahead).is_some() || parse_clock(&mut ahead, BareHour::Hour).is_some()
    };
    let recurs = cursor.consume_any_han(&["每天", "每日"])
        || !is_counted && (is_short_list || (is_working || 0 < ranges) && is_time_next());
    RecurrencePhrase::on(days, 1).filter(|_| recurs)
}

/// Consumes "每隔三天" and "隔周的周三"; with one unit between, it is every second one.
fn parse_between(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    cursor.consume_han("每");
    cursor.consume_han("隔").then_some(())?;
    let is_one = cursor
        .clone()
        .consume_any_han(&["一", "天", "日", "周", "月", "年"]);
    let every = cursor
        .attempt(parse_duration)
        .or_else(|| parse_single_unit(cursor))?;
    let every = if is_one { every.times(2)? } else { every };
    Some(add_day(cursor, every))
}

/// Consumes "每周一、三", "每个工作日", "逢周末" and "每年春节".
fn parse_each_day(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    cursor
        .consume_any_han(&["每逢", "每个", "每", "逢"])
        .then_some(())?;
    if cursor.consume_any_han(&["工作日", "交易日"]) {
        return RecurrencePhrase::on(DayExpression::working_days(), 1);
    }
    if let Some(days) = cursor.attempt(parse_weekdays) {
        return RecurrencePhrase::on(days, 1);
    }
    let is_led = cursor.is_han_before(1, "逢") || cursor.consume_han("年");
    cursor.consume_han("的");
    let holiday = cursor.attempt(parse_holiday);
    let first = match holiday {
        Some(holiday) => DayExpression::Feast(holiday, Year::Unsaid),
        None => {
            parse_day(cursor)
                .filter(|named| is_led && !named.is_vague)?
                .day
        }
    };
    RecurrencePhrase::on(parse_more_dates(cursor, first), 1)
        .filter(|found| found.every == CalendarDuration::in_months(12))
}

/// Consumes "每两周的周三", "每月5号", "每年底" and "每两个小时".
fn parse_each_interval(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    cursor.consume_han("每").then_some(())?;
    let every = cursor
        .attempt(parse_duration)
        .or_else(|| parse_single_unit(cursor))?;
    Some(add_day(cursor, every))
}

/// Consumes "周", "个月" or "季度".
fn parse_single_unit(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    cursor.consume_any_han(&["一个", "个", "一"]);
    let units: [(_, &[&str]); 6] = [
        (CalendarDuration::in_days(7), &["周", "星期", "礼拜"]),
        (CalendarDuration::in_days(1), &["天", "日"]),
        (CalendarDuration::in_months(1), &["月"]),
        (CalendarDuration::in_months(3), &["季度", "季"]),
        (CalendarDuration::in_months(12), &["年"]),
        (CalendarDuration::in_seconds(3600), &["小时", "钟头"]),
    ];
    cursor.consume_meaning(&units)
}

/// Consumes the day within the interval: "的周三", "5号和20号", "第一个周一", "底".
fn add_day(cursor: &mut TokenCursor<'_>, every: CalendarDuration) -> RecurrencePhrase {
    let day = cursor.attempt(|cursor| {
        cursor.consume_any_han(&["的", "在"]);
        let day = if every.months == 0 {
            parse_weekdays(cursor)
        } else if every.months % 3 == 0 {
            let is_yearly = every.months % 12 == 0;
            let period = if is_yearly {
                Period::Year(Year::Unsaid)
            } else {
                Period::Quarter(0)
            };
            cursor
                .attempt(|cursor| parse_nth_day(cursor, period.clone()))
                .or_else(|| cursor.attempt(|cursor| parse_period_edge(cursor, &period)))
                .or_else(|| parse_days_of_month(cursor).filter(|_| !is_yearly))
        } else {
            parse_days_of_month(cursor)
        };
        day.filter(|day| day.recurs_every(every))
    });
    RecurrencePhrase {
        day,
        ..RecurrencePhrase::interval(every)
    }
}

/// Consumes "5号", "1号和15号", "1、15日" or "第一个周一".
fn parse_days_of_month(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let list = cursor.attempt(|cursor| {
        let mut days = Vec::new();
        loop {
            let day = parse_number_in(cursor, 1..=31)?;
            let is_marked = cursor.consume_any_han(&["日", "号"]);
            days.push(DayExpression::OfMonth(day, Month::Unsaid));
            if MAX_LIST <= days.len() || !consume_list_separator(cursor) {
                return (1 < days.len() && is_marked).then_some(days);
            }
        }
    });
    list.map(DayExpression::AnyOf)
        .or_else(|| parse_day_in_month(cursor, Month::Unsaid))
}

/// Consumes "周三", "周一、三、五", "周一和周四", "周二四六" or "周一到周五".
pub(super) fn parse_weekdays(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let first = parse_weekday_name(cursor)?;
    // "每周一次" counts.
    (!cursor.is_han_next(0, "次岁年个遍回期趟")).then_some(())?;
    let mut days = vec![first];
    while let Some((is_range, day)) = cursor.attempt(|cursor| {
        let is_range = cursor.consume_any_han(&["到", "至"]) || cursor.consume_sign('-');
        let is_separated = is_range || consume_list_separator(cursor);
        let day = cursor.attempt(parse_weekday_name).or_else(|| {
            let day = parse_weekday(cursor)?;
            // "每周一三点" is three o'clock on Monday.
            let counts =
                cursor.is_han_next(0, "点时十个次天年月号日分小人家名位百千岁遍回期趟川季夕海");
            (!counts).then_some(day)
        })?;
        let last = days.last().copied().filter(|_| days.len() < MAX_LIST)?;
        let is_later = last.num_days_from_monday() < day.num_days_from_monday();
        (is_separated || is_later).then_some((is_range, day))
    }) {
        let last = days.last().copied()?;
        if is_range {
            let mut next = last;
            while next != day {
                next = next.succ();
                days.push(next);
            }
        } else {
            days.push(day);
        }
    }
    let days = days.into_iter();
    let days = days.map(|day| DayExpression::Weekday(day, Week::Coming));
    Some(DayExpression::one_or_any(days.collect()))
}

/// Consumes the other dates of a list that recur as often as `first`: 1月30日和9月30日, 3月1日和15日.
pub(super) fn parse_more_dates(
    cursor: &mut TokenCursor<'_>,
    first: DayExpression,
) -> DayExpression {
    let every = first.natural_interval();
    let mut days = vec![first];
    while let Some(day) = cursor.attempt(|cursor| {
        let has_more = every.is_some() && days.len() < MAX_LIST && consume_list_separator(cursor);
        let mut last = days.last().filter(|_| has_more)?.clone();
        let mut day = parse_day(cursor)?.day;
        range::share_month(&mut last, &mut day);
        (day.natural_interval() == every).then_some(day)
    }) {
        days.push(day);
    }
    DayExpression::one_or_any(days)
}

fn consume_list_separator(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.consume_any_han(&["和", "及", "与", "跟", "或"])
        || cursor.consume_sign(',')
        || cursor.consume_sign('/')
}
