//! The Chinese names of holidays.

use std::sync::LazyLock;

use super::super::cursor::TokenCursor;
use super::super::holidays::{Holiday, holidays};
use super::super::token::DateTokenKind::Han;
use super::numbers;

static HOLIDAY_NAMES: LazyLock<Vec<(&str, Holiday)>> =
    LazyLock::new(|| holidays(include_str!("../../language/zh/holidays.json")));

/// Returns whether a name can start with the character.
pub(super) fn can_start_holiday(character: char) -> bool {
    character == '东'
        || HOLIDAY_NAMES
            .iter()
            .any(|(name, _)| name.starts_with(character))
}

/// Consumes the name of a holiday.
pub(super) fn parse_holiday(cursor: &mut TokenCursor<'_>) -> Option<Holiday> {
    cursor.attempt(|cursor| {
        let is_orthodox = cursor.consume_han("东正教");
        let first = cursor.peek_han(0)?;
        let mut named = HOLIDAY_NAMES
            .iter()
            .filter(|(name, _)| name.starts_with(first));
        let (name, feast) = named.find(|(name, _)| cursor.consume_han(name))?;
        // "五一" is also the number 51, or the start of a longer number.
        // "腊八粥" and "吃元宵" are food.
        let is_food =
            cursor.is_han_next(0, "粥蒜") || *name == "元宵" && cursor.is_han_before(3, "吃煮包买");
        (!is_food).then_some(())?;
        let is_number = matches!(*name, "五一" | "六一" | "八一") && is_near_numeral(cursor);
        (!is_number).then_some(())?;
        if is_orthodox {
            feast.orthodox()
        } else {
            Some(*feast)
        }
    })
}

/// Consumes a date of the lunar calendar: 农历八月十五, 正月初一, 大年初三.
pub(super) fn parse_lunar_date(cursor: &mut TokenCursor<'_>) -> Option<Holiday> {
    if cursor.consume_han("大年") {
        // 大年三十 is the last day of the year, not the thirtieth.
        cursor.is_han_next(0, "初").then_some(())?;
        return parse_lunar_day(cursor).map(|day| Holiday::Lunar(1, false, day));
    }
    let is_lunar = cursor.consume_any_han(&["农历", "阴历", "旧历"]);
    cursor.consume_han("的");
    let is_leap = cursor.consume_han("闰");
    let names = [(1, ["正月"]), (11, ["冬月"]), (12, ["腊月"])];
    let month = cursor.consume_meaning(&names).or_else(|| {
        let month = numbers::parse_number_in(cursor, 1..=12).filter(|_| is_lunar)?;
        cursor.consume_han("月").then_some(month)
    })?;
    let day = parse_lunar_day(cursor)?;
    Some(Holiday::Lunar(month, is_leap, day))
}

/// Consumes 初五, 十五 or 三十日.
fn parse_lunar_day(cursor: &mut TokenCursor<'_>) -> Option<u32> {
    cursor.consume_han("初");
    let day = numbers::parse_number_in(cursor, 1..=30)?;
    cursor.consume_any_han(&["日", "号"]);
    Some(day)
}

/// Returns whether the two preceding characters are part of a number or a quantity.
fn is_near_numeral(cursor: &TokenCursor<'_>) -> bool {
    let is_part =
        |character| numbers::is_numeral(character) || "点月号路第块个".contains(character);
    let is_numeral = |what| matches!(what, Some(Han(character)) if is_part(character));
    is_numeral(cursor.peek_back(3)) || cursor.is_number_before(3) || is_numeral(cursor.peek(0))
}
