//! Parses times of day in Chinese.

use super::super::cursor::TokenCursor;
use super::super::numeric::BareHour;
use super::super::time_of_day::{DayPart, TimeOfDay};
use super::super::{numeric, range};
use super::lexicon::WORDS;
use super::numbers::{is_numeral, parse_adjacent_digits, parse_number_in};

/// Names that have another meaning unless an hour follows.
const SHORT_DAY_PARTS: [(DayPart, [&str; 2]); 2] = [
    (DayPart::Morning, ["早", "晨"]),
    (DayPart::Night, ["晚", "夜"]),
];

/// Consumes an unambiguous name of a part of the day.
pub(super) fn parse_long_day_part(cursor: &mut TokenCursor<'_>) -> Option<DayPart> {
    cursor.consume_meaning(&WORDS.day_parts)
}

/// Consumes a part of the day.
pub(super) fn parse_day_part(cursor: &mut TokenCursor<'_>) -> Option<DayPart> {
    let whole = parse_long_day_part(cursor);
    let short = || {
        cursor.attempt(|cursor| {
            let is_named = cursor.is_han_before(1, "今明昨当后每");
            let part = cursor.consume_meaning(&SHORT_DAY_PARTS)?;
            let mut ahead = *cursor;
            // 早一点 is "a bit earlier", 今晚一点 is one o'clock.
            let is_bit = cursor.is_han_next(0, "一")
                && cursor.is_han_next(1, "点")
                && !cursor.is_han_next(2, "半钟整过一二三四五十");
            (!is_bit || is_named).then_some(())?;
            parse_clock(&mut ahead, BareHour::Hour).map(|_| part)
        })
    };
    whole.or_else(short)
}

/// Consumes a time of day.
pub(super) fn parse_clock(cursor: &mut TokenCursor<'_>, licence: BareHour) -> Option<TimeOfDay> {
    cursor.attempt(|cursor| {
        cursor.consume_any_han(&["大约", "大概", "约"]);
        let clock = cursor
            .attempt(numeric::parse_clock)
            .or_else(|| {
                (licence == BareHour::Hour).then(|| cursor.attempt(numeric::parse_dotted_hour))?
            })
            .or_else(|| cursor.attempt(parse_time_before_hour))
            .or_else(|| cursor.attempt(|cursor| parse_spoken_time(cursor, licence)))?;
        cursor.consume_any_han(&["左右", "前后", "整", "钟"]);
        Some(clock)
    })
}

/// Consumes a time that no clock shows: "25点", "24点30分", "9点75分", "25:00".
pub(super) fn consume_impossible_clock(cursor: &mut TokenCursor<'_>, licence: BareHour) -> bool {
    let spoken = |cursor: &mut TokenCursor<'_>| {
        let is_clean = cursor.starts_cleanly();
        let hour = parse_number_in(cursor, 0..=99).filter(|_| is_clean)?;
        cursor.consume_any_han(&["点", "时"]).then_some(())?;
        cursor.consume_any_han(&["钟", "整"]);
        let minute = cursor.attempt(|cursor| parse_minute(cursor, licence));
        let second = minute.and_then(|_| cursor.attempt(parse_second));
        let is_time =
            TimeOfDay::from_clock_face(hour, minute.unwrap_or(0), second.unwrap_or(0)).is_some();
        (!is_time && licence == BareHour::Hour).then_some(())
    };
    numeric::consume_impossible_clock(cursor) || cursor.attempt(spoken).is_some()
}

/// Consumes "差五分八点" and "差一刻八点".
fn parse_time_before_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor.consume_han("差").then_some(())?;
    let minutes = parse_missing_minutes(cursor)?;
    let hour = parse_number_in(cursor, 1..=24)?;
    cursor.consume_any_han(&["点", "时"]).then_some(())?;
    TimeOfDay::from_hour(hour)?.plus_minutes(-minutes)
}

fn parse_missing_minutes(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let count: i32 = parse_number_in(cursor, 1..=59)?;
    let units = [(15, ["刻钟", "刻"]), (1, ["分钟", "分"])];
    let minutes = count * cursor.consume_meaning(&units)?;
    (minutes < 60).then_some(minutes)
}

/// Consumes "三点", "三点半", "16时40分50秒", "三點踏一".
fn parse_spoken_time(cursor: &mut TokenCursor<'_>, licence: BareHour) -> Option<TimeOfDay> {
    let start = *cursor;
    cursor.starts_cleanly().then_some(())?;
    let hour = cursor
        .attempt(|cursor| {
            let is_hour_next = licence == BareHour::Hour;
            is_hour_next.then(|| parse_approximate_hour(cursor))?
        })
        .or_else(|| parse_number_in(cursor, 0..=24))?;
    // The "2" of "2-4点" is an hour.
    let mut ahead = *cursor;
    let is_range_start = range::consume_joint(&mut ahead)
        && parse_number_in(&mut ahead, 0..=24).is_some()
        && ahead.consume_any_han(&["点", "时"]);
    if is_range_start {
        return TimeOfDay::from_hour(hour);
    }
    let is_shi = cursor.consume_han("时");
    (is_shi || cursor.consume_any_han(&["点", "點"])).then_some(())?;
    let is_clock = cursor.consume_any_han(&["钟", "整"]);
    if let Some(minutes) = cursor.attempt(|cursor| {
        cursor
            .consume_han("差")
            .then(|| parse_missing_minutes(cursor))?
    }) {
        return TimeOfDay::from_hour(hour)?.plus_minutes(-minutes);
    }
    let minute = cursor.attempt(|cursor| parse_minute(cursor, licence));
    let second = minute.and_then(|_| cursor.attempt(parse_second));
    let is_bare = minute.is_none() && !is_clock;
    (!is_bare || licence != BareHour::None || is_hour(&start, cursor, hour, is_shi))
        .then_some(())?;
    // "三点五米" is a length.
    (minute.is_some() || !cursor.peek_han(0).is_some_and(is_numeral) || licence != BareHour::None)
        .then_some(())?;
    // "八点多" is about eight.
    cursor.consume_han("多");
    TimeOfDay::from_clock_face(hour, minute.unwrap_or(0), second.unwrap_or(0))
}

/// Consumes the numbers of 两三点, 九十点 and 十一二点, and returns the first.
fn parse_approximate_hour(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let nine_or_ten = |cursor: &mut TokenCursor<'_>| cursor.consume_han("九十").then_some((9, 10));
    let (low, high) = cursor
        .attempt(nine_or_ten)
        .or_else(|| parse_adjacent_digits(cursor))?;
    let is_hour = cursor.is_han_next(0, "点點时");
    (low < high && high <= 24 && is_hour).then_some(low)
}

/// Consumes the seconds after the minutes, also more than there are.
fn parse_second(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    parse_number_in(cursor, 0..=99).filter(|_| cursor.consume_han("秒"))
}

/// Consumes the minutes after the hour, also more than there are: "9点75分".
fn parse_minute(cursor: &mut TokenCursor<'_>, licence: BareHour) -> Option<u64> {
    // Cantonese counts the numbers that the minute hand has "stepped on".
    let is_stepped = cursor.consume_any_han(&["踏正", "搭正", "踏", "搭"]);
    if cursor.consume_han("半") {
        return Some(30);
    }
    let is_past = cursor.consume_any_han(&["过", "零"]);
    let in_digits = cursor.is_number(0);
    let is_two_digits = in_digits
        || is_past
        || cursor.is_han_next(0, "十")
        || cursor.peek_han(1).is_some_and(is_numeral);
    let count = parse_number_in(cursor, 0..=99)?;
    if 59 < count {
        // "三点60分钟的会" is as long as that.
        let is_minute = cursor.consume_han("分") && !cursor.is_han_next(0, "钟");
        return is_minute.then_some(count);
    }
    if cursor.consume_any_han(&["刻钟", "刻"]) {
        return (1..=3).contains(&count).then_some(count * 15);
    }
    if cursor.consume_any_han(&["分钟", "分"]) {
        return Some(count);
    }
    if cursor.consume_han("个字") || is_stepped {
        return (count < 12).then_some(count * 5);
    }
    if is_two_digits {
        let is_counted = cursor.is_han_next(0, "个人元块米次天年月");
        return (!is_counted && cursor.ends_cleanly()).then_some(count);
    }
    // "三點三" is a quarter past three after a part of the day, and otherwise a decimal number.
    (licence == BareHour::Hour && (1..12).contains(&count)).then_some(count * 5)
}

/// Returns whether 点 or 时 after a number denotes the hour, and not "two points" or "a bit".
fn is_hour(start: &TokenCursor<'_>, end: &TokenCursor<'_>, hour: u64, is_shi: bool) -> bool {
    let is_in_characters = start.peek_han(0).is_some();
    let is_counted = end.is_han_next(0, WORDS.after_other_points);
    if start.is_han_before(1, "在到于至等约从") || start.is_at_start() && end.is_at_end() {
        return !is_counted;
    }
    let is_other_sense = start.is_han_before(1, WORDS.before_other_points);
    // "一点" is "a bit" far more often than one o'clock.
    let is_bit = is_in_characters && (hour == 1 || is_shi);
    !is_other_sense && !is_counted && !is_bit
}
