//! Parses durations in Chinese: 三天, 半小时, 一个半月, 两年三个月.

use super::super::cursor::Cursor;
use super::super::spoken::{Amount, Quantity, Unit};
use super::numbers::number;

/// Maximum number of components of a duration.
const MOST_PARTS: usize = 6;

/// Consumes a duration.
pub(super) fn amount(cursor: &mut Cursor<'_>) -> Option<Amount> {
    let mut total = cursor.attempt(part)?;
    for _ in 1..MOST_PARTS {
        let more = cursor.attempt(|cursor| {
            cursor.eat_any_han(&["零", "又", "加"]);
            part(cursor)
        });
        let Some(more) = more else { break };
        total = total.plus(more)?;
    }
    Some(total)
}

/// Consumes one number and its unit.
fn part(cursor: &mut Cursor<'_>) -> Option<Amount> {
    let is_clean = cursor.starts_cleanly();
    if cursor.eat_any_han(&["大半", "半"]) {
        let is_counted = cursor.eat_han("个");
        let (unit, each) = unit(cursor, is_counted)?;
        return unit.amount(Quantity { over: each, under: 2 });
    }
    let count = if cursor.eat_any_han(&["几", "数"]) { Quantity::whole(3)? } else { decimal(cursor).filter(|_| is_clean)? };
    let is_counted = cursor.eat_han("个");
    let has_half = is_counted && cursor.eat_han("半");
    let (unit, each) = unit(cursor, is_counted)?;
    let has_half_behind = !has_half && may_be_halved(unit) && cursor.eat_han("半");
    let count = if has_half || has_half_behind { count.and_a_half()? } else { count };
    unit.amount(Quantity { over: count.over.checked_mul(each)?, ..count })
}

fn may_be_halved(unit: Unit) -> bool {
    matches!(unit, Unit::Hour | Unit::Minute | Unit::Day | Unit::Year | Unit::Week)
}

fn decimal(cursor: &mut Cursor<'_>) -> Option<Quantity> {
    let whole = Quantity::whole(number(cursor)?)?;
    let decimal = cursor.attempt(|cursor| {
        if !cursor.eat_glued_sign('.') {
            return None;
        }
        let decimals = cursor.eat_glued_digits().filter(|decimals| decimals.digits <= 3)?;
        let under = 10_i64.pow(u32::try_from(decimals.digits).ok()?);
        Some(Quantity { over: whole.over.checked_mul(under)?.checked_add(i64::try_from(decimals.value).ok()?)?, under })
    });
    Some(decimal.unwrap_or(whole))
}

/// Consumes a unit, and returns it with the number of [`Unit`]s that it denotes.
fn unit(cursor: &mut Cursor<'_>, is_counted: bool) -> Option<(Unit, i64)> {
    let units: [(&[&str], Unit, i64); 11] = [
        (&["小时", "钟头"], Unit::Hour, 1),
        (&["刻钟", "刻"], Unit::Minute, 15),
        (&["分钟", "分"], Unit::Minute, 1),
        (&["秒钟", "秒"], Unit::Second, 1),
        (&["工作日", "交易日"], Unit::WorkingDay, 1),
        (&["星期", "礼拜", "周"], Unit::Week, 1),
        (&["季度", "季"], Unit::Quarter, 1),
        (&["天", "日", "晚"], Unit::Day, 1),
        (&["年"], Unit::Year, 1),
        (&["世纪"], Unit::Year, 100),
        (&["钟"], Unit::Hour, 1),
    ];
    if is_counted {
        if cursor.eat_han("月") {
            return Some((Unit::Month, 1));
        }
        // In Cantonese, 字 is the distance of two numbers on the clock face, which is five minutes.
        if cursor.eat_han("字") {
            return Some((Unit::Minute, 5));
        }
    }
    let found = units.into_iter().find(|(names, _, _)| cursor.eat_any_han(names))?;
    let (names, unit, each) = found;
    let needs_count = names == ["钟"];
    (is_counted || !needs_count).then_some((unit, each))
}
