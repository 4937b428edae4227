//! The Chinese grammar: Mandarin with Cantonese variants, in simplified and traditional characters.

mod dates;
mod days;
mod durations;
mod holiday_names;
mod numbers;
mod relative;
mod times_of_day;
mod weeks;

use super::cursor::TokenCursor;
use super::syntax::{DateExpression, TimeOfDay};
use super::token::DateTokenKind;
use dates::ChineseDay;
use days::parse_day;
use relative::{parse_bare_day_part, parse_meal_time, parse_same_time};
use times_of_day::{ChineseBareHour, parse_clock, parse_day_part};

pub(crate) use numbers::digit_value;
pub(super) use relative::parse_lead_time;

/// Returns whether an expression can start with the character.
pub(super) fn can_start_expression(character: char) -> bool {
    numbers::is_numeral(character)
        || matches!(
            character,
            '半' | '几'
                | '吃'
                | '睡'
                | '季'
                | '隔'
                | '数'
                | '再'
                | '过'
                | '大'
                | '后'
                | '明'
                | '听'
                | '翌'
                | '次'
                | '今'
                | '本'
                | '昨'
                | '琴'
                | '寻'
                | '前'
                | '每'
                | '天'
                | '现'
                | '此'
                | '当'
                | '依'
                | '而'
                | '宜'
                | '这'
                | '逢'
                | '下'
                | '上'
                | '嚟'
                | '呢'
                | '周'
                | '星'
                | '礼'
                | '月'
                | '年'
                | '去'
                | '凌'
                | '清'
                | '早'
                | '朝'
                | '中'
                | '正'
                | '晌'
                | '午'
                | '晏'
                | '傍'
                | '黄'
                | '晚'
                | '夜'
                | '深'
                | '差'
                | '约'
                | '北'
        )
        || holiday_names::can_start_holiday(character)
}

/// Consumes one expression: a day, a time, or both in any order, with a part of the day.
pub(super) fn parse_expression(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    [parse_day_and_time, parse_bare_day_part]
        .into_iter()
        .find_map(|form| cursor.attempt(form))
}

fn parse_day_and_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt(|cursor| {
        let mut spoken = DateExpression::default();
        let mut end = None;
        // A day, a part of the day and a time, at most one each.
        for _ in 0..4 {
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
        let is_named = spoken.day.is_some() || spoken.clock.is_some();
        is_named.then_some(spoken)
    })
}

/// Consumes a complete lunar date, which is not supported.
pub(super) fn skip_lunar_date(cursor: &mut TokenCursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        let is_lunar = cursor.consume_any_han(&["农历", "阴历", "旧历"]);
        cursor.consume_any_han(&["正月", "冬月", "腊月", "闰"]);
        parse_expression(cursor);
        is_lunar.then_some(())
    });
    eaten.is_some()
}

fn parse_component(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    let is_first = spoken.day.is_none() && spoken.clock.is_none() && spoken.part.is_none();
    if is_first && let Some(same) = cursor.attempt(parse_same_time) {
        *spoken = same;
        return true;
    }
    if spoken.day.is_none()
        && let Some(ChineseDay {
            day,
            part,
            repeats,
            is_vague,
        }) = cursor.attempt(parse_day)
    {
        spoken.day = Some(day);
        spoken.part = spoken.part.or(part);
        spoken.repeats |= repeats;
        spoken.is_vague |= is_vague;
        return true;
    }
    if spoken.is_instant() {
        return false;
    }
    if spoken.zone.is_none() && cursor.consume_han("北京时间") {
        spoken.zone = Some(8 * 3600);
        return true;
    }
    if spoken.clock.is_none()
        && let Some(part) = parse_day_part(cursor).or_else(|| cursor.attempt(parse_meal_time))
    {
        // "今天晚上" and "今晚夜里" are redundant.
        spoken.part = Some(part);
        return true;
    }
    if spoken.clock.is_some() {
        return false;
    }
    let licence = if spoken.day.is_some() || spoken.part.is_some() {
        ChineseBareHour::Hour
    } else {
        ChineseBareHour::None
    };
    spoken.clock = cursor.attempt(|cursor| parse_clock(cursor, licence));
    spoken.clock.is_some()
}

/// Sets the time for the words for midnight and noon, which are complete on their own.
fn set_midnight_or_noon(cursor: &TokenCursor<'_>, spoken: &mut DateExpression) {
    if spoken.clock.is_some() || spoken.part.is_none() {
        return;
    }
    spoken.clock = match (cursor.peek_back(2), cursor.peek_back(1)) {
        (Some(DateTokenKind::Han('正')), Some(DateTokenKind::Han('午'))) => Some(TimeOfDay::NOON),
        (Some(DateTokenKind::Han('午')), Some(DateTokenKind::Han('夜'))) => {
            Some(TimeOfDay::unambiguous(24, 0))
        }
        _ => None,
    };
}
