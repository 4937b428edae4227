//! Parses all day expressions in Chinese.

use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::english::period_as_offset;
use super::super::numeric;
use super::super::period::Year;
use super::super::syntax::{DayExpression, DayPhrase, WeekdayAnchor};
use super::super::token::DateTokenKind::{self, Han};
use super::dates::{
    parse_bare_day, parse_calendar_date, parse_period_offset, parse_vague_period,
    parse_weekday_name, parse_year_reference,
};
use super::durations::parse_duration;
use super::holiday_names::{parse_holiday, parse_lunar_date};
use super::lexicon::WORDS;
use super::spans::parse_span;
use super::weeks::{parse_redundant_weekday, parse_week_day};

/// Consumes a day expression, with an optional offset from it.
pub(super) fn parse_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let forms = [
        parse_relative_day,
        parse_named_offset,
        parse_now,
        parse_week_day,
        parse_holiday_day,
        parse_span,
        parse_calendar_date,
        parse_full_date,
        parse_short_date,
        parse_bare_day,
        parse_vague_period,
    ];
    let named = forms.into_iter().find_map(|form| cursor.attempt(form))?;
    let mut named = parse_same_day(cursor, named);
    if let DayExpression::OfMonth(..) | DayExpression::Shifted(_) | DayExpression::Feast(..) =
        named.day
        && let Some(weekday) = cursor.attempt(parse_redundant_weekday)
    {
        named.day = named.day.on_weekday(weekday);
    }
    if named.is_vague {
        return Some(named);
    }
    let moved = cursor.attempt(|cursor| {
        cursor.consume_han("的");
        let is_before = cursor.consume_any_han(&["之前", "前"]);
        (is_before || cursor.consume_any_han(&["之后", "以后", "后"])).then_some(())?;
        cursor.consume_han("的");
        cursor.consume_han("第");
        let amount = parse_duration(cursor).filter(|amount| !amount.is_exact)?;
        // "国庆前三天打折" and "国庆后第二天" are both relative to the holiday.
        Some(if is_before { amount.negated() } else { amount })
    });
    Some(match moved {
        Some(amount) => DayPhrase::from(DayExpression::Away(amount, Box::new(named.day))),
        None => named,
    })
}

/// Consumes "三天后", "再过两天", "五分钟之内" and "5年前".
fn parse_relative_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let is_passed = cursor.consume_any_han(&["再过", "再等", "过多", "过"]);
    let amount = parse_duration(cursor)?;
    // "20日之前" is before the 20th, not twenty days ago.
    let may_be_date = cursor.is_han_before(1, "日");
    cursor.consume_han("的");
    let is_ahead = cursor.consume_any_han(&["之后", "以后", "过后", "后", "之内", "以内", "内"]);
    let is_back =
        !is_ahead && !is_passed && !may_be_date && cursor.consume_any_han(&["之前", "以前", "前"]);
    (is_ahead || is_back || is_passed).then_some(())?;
    let amount = if is_back { amount.negated() } else { amount };
    let day = DayExpression::from_now(amount);
    // "两周后的今天" repeats the information.
    cursor.attempt(|cursor| {
        cursor.consume_han("的");
        (!amount.is_exact && cursor.consume_han("今天")).then_some(())
    });
    // "两周后的周五" is the Friday of that week.
    let weekday = cursor.attempt(|cursor| {
        cursor.consume_han("的");
        parse_weekday_name(cursor).filter(|_| !amount.is_exact)
    });
    Some(
        weekday
            .map_or(day.clone(), |weekday| {
                DayExpression::WeekdayNear(weekday, Box::new(day), weekday_anchor(amount))
            })
            .into(),
    )
}

fn weekday_anchor(amount: CalendarDuration) -> WeekdayAnchor {
    if amount.months == 0 {
        WeekdayAnchor::SameWeek
    } else {
        WeekdayAnchor::FromThere
    }
}

fn parse_named_offset(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    if let Some((days, part)) = cursor.consume_meaning(&WORDS.near_day_parts) {
        cursor.consume_any_han(&["上", "里", "间"]);
        return Some(DayPhrase::in_part(DayExpression::Shifted(days), part));
    }
    // "以后天天" does not contain 后天, the day after tomorrow.
    let is_inside = cursor.is_han_before(1, "以之然最今往从先");
    let first = cursor.peek_han(0)?;
    let days = cursor.consume_meaning(&WORDS.near_days)?;
    let starts_inside = matches!(first, '后' | '前') && (is_inside || cursor.is_han_next(0, "天"));
    (!starts_inside).then(|| DayExpression::Shifted(days).into())
}

fn parse_now(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    cursor
        .consume_any_han(&WORDS.now)
        .then(|| DayExpression::Now.into())
}

fn parse_full_date(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let is_among_han = |what: Option<DateTokenKind<'_>>| matches!(what, Some(Han(_)));
    let short = cursor.attempt(|cursor| {
        let is_after_han = is_among_han(cursor.peek_back(1));
        numeric::parse_short_year_first(cursor)
            .filter(|_| is_after_han || is_among_han(cursor.peek(0)))
    });
    short
        .or_else(|| numeric::parse_full_date(cursor))
        .map(DayPhrase::from)
}

/// Consumes "6/20" before a Chinese character, at the start of the text or after a word that precedes dates.
fn parse_short_date(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let is_led = cursor.is_at_start() || cursor.is_han_before(1, "在于到至期");
    // In Chinese the month is always first.
    let day = match numeric::parse_short_date(cursor)? {
        DayExpression::EitherWay(day, _) => *day,
        day => day,
    };
    (is_led && cursor.peek_han(0).is_some()).then(|| day.into())
}

/// Consumes a holiday with its year.
fn parse_holiday_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let leading = (year == Year::Unsaid)
        .then(|| cursor.attempt(parse_period_offset))
        .flatten();
    let feast = cursor
        .attempt(parse_lunar_date)
        .or_else(|| parse_holiday(cursor))?;
    if leading.is_none_or(|distance| 0 <= distance) {
        return Some(DayExpression::Feast(feast, year).into());
    }
    Some(DayExpression::last_feast(feast).into())
}

/// Consumes the "今天" of "明年今天", which is the same day of another week, month or year.
fn parse_same_day(cursor: &mut TokenCursor<'_>, named: DayPhrase) -> DayPhrase {
    let is_same = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_han("的");
        cursor
            .consume_any_han(&["今天", "今日"])
            .then(|| period_as_offset(&named.day))?
    };
    if !named.is_vague {
        return named;
    }
    cursor.attempt(is_same).map_or(named, DayPhrase::from)
}
