//! Parses weekdays and recurrences in Chinese.

use chrono::Weekday;

use super::super::cursor::Cursor;
use super::super::spoken::{Amount, Day, Edge, Period, Week};
use super::super::token::What;
use super::amounts::amount;
use super::dates::calendar;
use super::days::{Named, which};
use super::numbers::is_numeral;

/// Number of characters after a weekday in which a past-tense particle is searched.
const FURTHEST_TOLD: usize = 12;

/// Consumes a weekday, or the start or end of a week.
pub(super) fn of_week(cursor: &mut Cursor<'_>) -> Option<Named> {
    let repeats = cursor.eat_any_han(&["每个", "每", "逢"]);
    let is_counted = matches!(cursor.before(1), Some(What::Han(before)) if is_numeral(before) || before == '几')
        || matches!(cursor.before(1), Some(What::Number(_))) && cursor.is_glued(0);
    // Cantonese 今個 and 呢個 refer to a weekday that is not over yet.
    let is_coming = matches!(cursor.han(0), Some('今' | '呢'));
    let leading = if repeats { None } else { cursor.attempt(which) };
    let is_short = cursor.eat_han("周");
    if !is_short && !cursor.eat_any_han(&["星期", "礼拜"]) {
        return None;
    }
    let weekday = weekday(cursor).or_else(|| {
        // "下周的星期三" and "下周周三" are redundant.
        let again = |cursor: &mut Cursor<'_>| {
            cursor.eat_han("的");
            cursor.eat_any_han(&["周", "星期", "礼拜"]).then(|| weekday(cursor)).flatten()
        };
        leading.and_then(|_| cursor.attempt(again))
    });
    let Some(weekday) = weekday else {
        let weeks = leading.filter(|weeks| *weeks != 0)?;
        return Some(end_of_week(cursor, weeks));
    };
    let is_counted_behind = matches!(cursor.han(0), Some('次' | '岁' | '年' | '个' | '遍' | '回' | '期' | '趟'));
    if is_counted && leading.is_none() || is_short && is_counted_behind && leading.is_none() {
        return None;
    }
    // In "礼拜天, 二月十号" the date is decisive.
    let date = cursor.attempt(|cursor| {
        cursor.eat_sign(',');
        cursor.eat_sign('(');
        let named = calendar(cursor).filter(|named| matches!(named.day, Day::OfMonth(..)))?;
        cursor.eat_sign(')');
        Some(named)
    });
    if let Some(named) = date {
        return Some(Day::Confirmed(weekday, Box::new(named.day)).into());
    }
    let is_weekend = matches!(cursor.before(1), Some(What::Han('末')));
    let is_told = (0..FURTHEST_TOLD).any(|ahead| matches!(cursor.han(ahead), Some('了' | '过' | '已')));
    let week = match leading {
        // "这周二我们开了会" is about the past.
        Some(_) if is_coming => Week::This,
        Some(0) if !is_told => Week::This,
        Some(weeks) => Week::Of(weeks),
        None if is_weekend => Week::This,
        None => Week::Coming,
    };
    Some(Named { repeats, ..Day::Weekday(weekday, week).into() })
}

/// Consumes "下周" with an optional start or end; without it the result is vague.
fn end_of_week(cursor: &mut Cursor<'_>, weeks: i32) -> Named {
    let edge = [("初", Edge::Start), ("底", Edge::End), ("内", Edge::End), ("之内", Edge::End)];
    match edge.into_iter().find(|(name, _)| cursor.eat_han(name)) {
        Some((_, edge)) => Day::Edge(edge, Period::Week(weeks)).into(),
        None => Named { is_vague: true, ..Day::Edge(Edge::Start, Period::Week(weeks)).into() },
    }
}

/// Consumes "每隔三天", "每两个小时" and "每两周的周三", as the first occurrence.
pub(super) fn repeated(cursor: &mut Cursor<'_>) -> Option<Named> {
    let is_each = cursor.eat_han("每");
    let is_between = cursor.eat_han("隔");
    if !is_each && !is_between {
        return None;
    }
    let is_one = is_between && matches!(cursor.han(0), Some('一' | '天' | '周'));
    let amount = match cursor.attempt(amount) {
        Some(amount) => amount,
        // "隔天" and "隔周" skip one.
        None if is_between && cursor.eat_han("天") => Amount { days: 1, ..Amount::default() },
        None if is_between && cursor.eat_han("周") => Amount { days: 7, ..Amount::default() },
        None => return None,
    };
    let is_single = amount == Amount { days: 1, ..Amount::default() } && !is_between;
    let amount = if is_one { amount.plus(amount)? } else { amount };
    let weekday = cursor.attempt(|cursor| {
        cursor.eat_han("的");
        cursor.eat_any_han(&["周", "星期", "礼拜"]).then(|| weekday(cursor)).flatten().filter(|_| !amount.is_exact)
    });
    let day = match weekday {
        Some(weekday) => Day::Weekday(weekday, Week::Coming),
        None if is_single => Day::Shifted(0),
        None => Day::Away(amount, Box::new(Day::Shifted(0))),
    };
    Some(Named { repeats: true, ..day.into() })
}

/// Consumes the redundant weekday after a date.
pub(super) fn weekday_again(cursor: &mut Cursor<'_>) -> Option<Weekday> {
    let is_bracketed = cursor.eat_sign('(');
    let weekday = cursor.eat_any_han(&["周", "星期", "礼拜"]).then(|| weekday(cursor)).flatten()?;
    (!is_bracketed || cursor.eat_sign(')')).then_some(weekday)
}

/// Consumes the weekday that follows 周, 星期 or 礼拜.
pub(super) fn weekday(cursor: &mut Cursor<'_>) -> Option<Weekday> {
    let weekday = match cursor.peek(0)? {
        What::Han('一') => Weekday::Mon,
        What::Han('二') => Weekday::Tue,
        What::Han('三') => Weekday::Wed,
        What::Han('四') => Weekday::Thu,
        What::Han('五') => Weekday::Fri,
        What::Han('六' | '末') => Weekday::Sat,
        What::Han('日' | '天' | '七') => Weekday::Sun,
        What::Number(number) if number.digits == 1 && cursor.is_glued(0) => match number.value {
            1 => Weekday::Mon,
            2 => Weekday::Tue,
            3 => Weekday::Wed,
            4 => Weekday::Thu,
            5 => Weekday::Fri,
            6 => Weekday::Sat,
            7 => Weekday::Sun,
            _ => return None,
        },
        What::Han(_) | What::Number(_) | What::Word(_) | What::Sign(_) | What::Other => return None,
    };
    cursor.step();
    Some(weekday)
}
