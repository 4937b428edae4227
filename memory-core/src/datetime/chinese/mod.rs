//! The Chinese grammar: Mandarin with Cantonese variants, in simplified and traditional characters.

mod dates;
mod days;
mod durations;
mod holiday_names;
mod lexicon;
mod numbers;
mod recurrence;
mod relative;
mod spans;
mod times_of_day;
mod weeks;

use super::cursor::TokenCursor;
use super::numeric::BareHour;
use super::period::{Month, Period, PeriodEdge, Year};
use super::syntax::{DateExpression, DayExpression, DayPhrase};
use super::time_of_day::TimeOfDay;
use super::token::DateTokenKind::Han;
use super::zones::{NamedOffset, chinese_places, zone_of_id};
use super::{english, numeric};
use dates::parse_nth_day;
use days::parse_day;
use lexicon::WORDS;
use recurrence::{parse_more_dates, parse_recurrence};
use relative::{parse_bare_day_part, parse_meal_time, parse_same_time};
use times_of_day::{consume_impossible_clock, parse_clock, parse_day_part};

pub(super) use dates::parse_bare_month;
pub(super) use durations::{is_unit_next, parse_duration};
pub(super) use lexicon::{simplify_date_character, usual_day_part};
pub(crate) use numbers::digit_value;
pub(super) use numbers::{
    end_of_numeral, is_numeral, parse_adjacent_digits, parse_number, parse_number_in,
};
pub(super) use relative::parse_lead_time;

/// Returns whether an expression can start with the character.
pub(super) fn can_start_expression(character: char) -> bool {
    numbers::is_numeral(character)
        || WORDS.first_characters.contains(character)
        || !chinese_places(character).is_empty()
        || holiday_names::can_start_holiday(character)
}

/// Returns whether two adjacent characters denote a time in any context.
pub(super) fn is_time_word(first: char, second: char) -> bool {
    let is_weekday = "一二三四五六日天末".contains(second);
    match first {
        '周' | '期' | '拜' => is_weekday,
        '每' => "天日周月年晚早隔".contains(second),
        '中' => "午晚".contains(second),
        '上' | '下' => second == '午',
        '今' | '明' | '后' | '昨' => second == '天',
        '早' => "上中晚".contains(second),
        '晚' => second == '上',
        _ => false,
    }
}

/// Consumes one expression: a day, a time, or both in any order, with a part of the day.
pub(super) fn parse_expression(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt_any(&[parse_day_and_time, parse_bare_day_part])
}

fn parse_day_and_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt(|cursor| {
        let mut spoken = DateExpression::default();
        let mut end = None;
        // Each component at most once, and a period with the day in it.
        for _ in 0..MAX_COMPONENTS {
            if end.is_some() {
                cursor.consume_sign(',');
                cursor.consume_any_han(&["的", "在"]);
            }
            if !parse_component(cursor, &mut spoken) {
                break;
            }
            end = Some(*cursor);
        }
        *cursor = end?;
        set_midnight_or_noon(cursor, &mut spoken);
        let is_current_period = spoken.is_vague
            && matches!(
                &spoken.day,
                Some(DayExpression::Edge(
                    PeriodEdge::Start,
                    Period::Week(0) | Period::Month(Month::Away(0)) | Period::Year(Year::Away(0))
                ))
            );
        let is_named = spoken.day.is_some()
            || spoken.clock.is_some()
            || spoken.every.is_some()
            || spoken.impossible.is_some();
        (is_named && !is_current_period).then_some(spoken)
    })
}

/// Maximum number of components of an expression.
const MAX_COMPONENTS: usize = 6;

fn parse_component(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    let is_first = spoken.day.is_none()
        && spoken.clock.is_none()
        && spoken.part.is_none()
        && spoken.every.is_none();
    if numeric::consume_timestamp_end(cursor, spoken)
        || !is_first && english::parse_added_amount(cursor, spoken)
    {
        return true;
    }
    if is_first && let Some(same) = cursor.attempt(parse_same_time) {
        *spoken = same;
        return true;
    }
    if spoken.every.is_none()
        && spoken.day.is_none()
        && let Some(recurrence) = cursor.attempt(parse_recurrence)
    {
        spoken.every = Some(recurrence.every);
        spoken.day = recurrence.day;
        spoken.part = spoken.part.or(recurrence.part);
        return true;
    }
    if let Some(day) = cursor.attempt(|cursor| parse_day_of_period(cursor, spoken)) {
        spoken.is_vague = matches!(day, DayExpression::Edge(..));
        spoken.day = Some(day);
        return true;
    }
    let named = cursor.attempt(|cursor| {
        let named = parse_day(cursor)?;
        match (&spoken.day, spoken.every) {
            (None, every) => every
                .is_none_or(|every| named.day.recurs_every(every))
                .then_some(named),
            // "下个月, 15号" is a day of next month.
            (Some(first), None) => DayPhrase {
                is_vague: spoken.is_vague,
                ..first.clone().into()
            }
            .combine(&named),
            (Some(_), Some(_)) => None,
        }
    });
    if let Some(mut named) = named {
        if spoken.every.is_some() {
            named.day = parse_more_dates(cursor, named.day);
        }
        spoken.set_day(named);
        return true;
    }
    // 每年六月 recurs on the first of the month.
    if spoken.day.is_none()
        && spoken
            .every
            .is_some_and(|every| 0 < every.months && every.months % 12 == 0)
        && let Some(month) = cursor.attempt(parse_bare_month)
    {
        spoken.day = Some(DayExpression::Edge(PeriodEdge::Start, Period::Month(month)));
        return true;
    }
    if spoken.is_instant() {
        return false;
    }
    if spoken.zone.is_none()
        && let Some(zone) = cursor.attempt(|cursor| {
            let zone = parse_zone(cursor)?;
            let is_chinese = matches!(cursor.peek_back(1), Some(Han(_)));
            let is_hour = spoken.clock.is_some()
                || parse_clock(&mut cursor.clone(), BareHour::Hour).is_some()
                || parse_day_part(&mut cursor.clone()).is_some();
            (is_hour || is_chinese).then_some(zone)
        })
    {
        spoken.zone = Some(zone);
        return true;
    }
    let start = cursor.position();
    if spoken.clock.is_none()
        && let Some(part) = parse_day_part(cursor).or_else(|| cursor.attempt(parse_meal_time))
    {
        // "今天晚上" and "今晚夜里" are redundant, and "今晚早上八点" is no time.
        if spoken.part.is_some_and(|first| first.contradicts(part))
            && parse_clock(cursor, BareHour::Hour).is_some()
        {
            spoken.impossible = Some(start..cursor.position());
        }
        spoken.part = Some(part);
        return true;
    }
    if spoken.clock.is_some() || spoken.impossible.is_some() {
        return false;
    }
    // "3.30 明天" is an hour before its day.
    let is_before_day = || {
        let mut ahead = *cursor;
        numeric::stands_alone(cursor)
            && numeric::parse_dotted_hour(&mut ahead).is_some()
            && parse_day(&mut ahead).is_some()
    };
    let licence = if is_first && !is_before_day() {
        BareHour::None
    } else {
        BareHour::Hour
    };
    spoken.clock = cursor.attempt(|cursor| parse_clock(cursor, licence));
    if spoken.clock.is_some() {
        spoken.zone = cursor
            .attempt(numeric::parse_clock_offset)
            .map(NamedOffset::Fixed)
            .or(spoken.zone.take());
        return true;
    }
    let start = cursor.position();
    if consume_impossible_clock(cursor, licence) {
        spoken.impossible = Some(start..cursor.position());
    }
    spoken.impossible.is_some()
}

/// Consumes a day or month of the period before it: 第一个周一 after 下个月, 3月 after 2026年.
fn parse_day_of_period(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<DayExpression> {
    let Some(DayExpression::Edge(PeriodEdge::Start, period)) = &spoken.day else {
        return None;
    };
    spoken.is_vague.then_some(())?;
    if let Some(day) = cursor.attempt(|cursor| parse_nth_day(cursor, period.clone())) {
        return Some(day);
    }
    let month = parse_bare_month(cursor)?.within(period)?;
    Some(DayExpression::Edge(PeriodEdge::Start, Period::Month(month)))
}

/// Consumes "北京时间", optionally in brackets.
fn parse_zone(cursor: &mut TokenCursor<'_>) -> Option<NamedOffset> {
    if let Some(zone) = english::parse_zone(cursor) {
        cursor.consume_han("时间");
        return Some(zone);
    }
    let is_bracketed = cursor.consume_sign('(');
    let places = chinese_places(cursor.peek_han(0)?);
    let (_, id) = places.iter().find(|(place, _)| {
        cursor
            .attempt(|cursor| {
                (cursor.consume_han(place) && cursor.consume_han("时间")).then_some(())
            })
            .is_some()
    })?;
    let is_closed = !is_bracketed || cursor.consume_sign(')');
    zone_of_id(id).filter(|_| is_closed)
}

/// Sets the time for the words for midnight and noon, which are complete on their own.
fn set_midnight_or_noon(cursor: &TokenCursor<'_>, spoken: &mut DateExpression) {
    if spoken.clock.is_some() || spoken.part.is_none() {
        return;
    }
    spoken.clock = match (cursor.peek_back(2), cursor.peek_back(1)) {
        (Some(Han('正')), Some(Han('午'))) => Some(TimeOfDay::NOON),
        (Some(Han('午')), Some(Han('夜'))) => Some(TimeOfDay::unambiguous(24, 0)),
        _ => None,
    };
}
