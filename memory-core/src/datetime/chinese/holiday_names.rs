//! The Chinese names of holidays.

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::holidays::Holiday;
use super::super::token::DateTokenKind;
use super::numbers;

/// The names of holidays; a name precedes its own prefixes.
const HOLIDAY_NAMES: &[(&str, Holiday)] = &[
    ("春节", Holiday::LunarNewYear(0)),
    ("农历新年", Holiday::LunarNewYear(0)),
    ("除夕夜", Holiday::LunarNewYear(-1)),
    ("除夕", Holiday::LunarNewYear(-1)),
    ("大年三十", Holiday::LunarNewYear(-1)),
    ("大年夜", Holiday::LunarNewYear(-1)),
    ("元宵节", Holiday::Lunar(1, false, 15)),
    ("元宵", Holiday::Lunar(1, false, 15)),
    ("龙抬头", Holiday::Lunar(2, false, 2)),
    ("端午节", Holiday::Lunar(5, false, 5)),
    ("端阳节", Holiday::Lunar(5, false, 5)),
    ("端午", Holiday::Lunar(5, false, 5)),
    ("七夕节", Holiday::Lunar(7, false, 7)),
    ("七夕", Holiday::Lunar(7, false, 7)),
    ("中元节", Holiday::Lunar(7, false, 15)),
    ("中秋节", Holiday::Lunar(8, false, 15)),
    ("中秋", Holiday::Lunar(8, false, 15)),
    ("重阳节", Holiday::Lunar(9, false, 9)),
    ("重阳", Holiday::Lunar(9, false, 9)),
    ("腊八节", Holiday::Lunar(12, false, 8)),
    ("腊八", Holiday::Lunar(12, false, 8)),
    ("元旦节", Holiday::Fixed(1, 1)),
    ("元旦", Holiday::Fixed(1, 1)),
    ("新年第一天", Holiday::Fixed(1, 1)),
    ("马丁路德金纪念日", Holiday::Nth(3, Weekday::Mon, 1)),
    ("马丁路德金日", Holiday::Nth(3, Weekday::Mon, 1)),
    ("情人节", Holiday::Fixed(2, 14)),
    ("圣瓦伦丁节", Holiday::Fixed(2, 14)),
    ("总统日", Holiday::Nth(3, Weekday::Mon, 2)),
    ("国际妇女节", Holiday::Fixed(3, 8)),
    ("三八国际妇女节", Holiday::Fixed(3, 8)),
    ("三八妇女节", Holiday::Fixed(3, 8)),
    ("妇女节", Holiday::Fixed(3, 8)),
    ("女神节", Holiday::Fixed(3, 8)),
    ("女生节", Holiday::Fixed(3, 7)),
    ("植树节", Holiday::Fixed(3, 12)),
    ("白色情人节", Holiday::Fixed(3, 14)),
    ("圣帕特里克节", Holiday::Fixed(3, 17)),
    ("愚人节", Holiday::Fixed(4, 1)),
    ("清明节", Holiday::ClearBrightness),
    ("清明", Holiday::ClearBrightness),
    ("世界地球日", Holiday::Fixed(4, 22)),
    ("地球日", Holiday::Fixed(4, 22)),
    ("五一国际劳动节", Holiday::Fixed(5, 1)),
    ("五一劳动节", Holiday::Fixed(5, 1)),
    ("国际劳动节", Holiday::Fixed(5, 1)),
    ("劳动节", Holiday::Fixed(5, 1)),
    ("五一节", Holiday::Fixed(5, 1)),
    ("五一", Holiday::Fixed(5, 1)),
    ("五四青年节", Holiday::Fixed(5, 4)),
    ("青年节", Holiday::Fixed(5, 4)),
    ("护士节", Holiday::Fixed(5, 12)),
    ("母亲节", Holiday::Nth(2, Weekday::Sun, 5)),
    ("阵亡将士纪念日", Holiday::Nth(-1, Weekday::Mon, 5)),
    ("六一国际儿童节", Holiday::Fixed(6, 1)),
    ("六一儿童节", Holiday::Fixed(6, 1)),
    ("国际儿童节", Holiday::Fixed(6, 1)),
    ("儿童节", Holiday::Fixed(6, 1)),
    ("六一", Holiday::Fixed(6, 1)),
    ("父亲节", Holiday::Nth(3, Weekday::Sun, 6)),
    ("建党节", Holiday::Fixed(7, 1)),
    ("七一建党节", Holiday::Fixed(7, 1)),
    ("香港回归纪念日", Holiday::Fixed(7, 1)),
    ("独立日", Holiday::Fixed(7, 4)),
    ("八一建军节", Holiday::Fixed(8, 1)),
    ("建军节", Holiday::Fixed(8, 1)),
    ("八一", Holiday::Fixed(8, 1)),
    ("教师节", Holiday::Fixed(9, 10)),
    ("国庆节", Holiday::Fixed(10, 1)),
    ("国庆日", Holiday::Fixed(10, 1)),
    ("国庆", Holiday::Fixed(10, 1)),
    ("十一国庆节", Holiday::Fixed(10, 1)),
    ("十一黄金周", Holiday::Fixed(10, 1)),
    ("双十节", Holiday::Fixed(10, 10)),
    ("哥伦布日", Holiday::Nth(2, Weekday::Mon, 10)),
    ("程序员节", Holiday::Fixed(10, 24)),
    ("万圣节前夜", Holiday::Fixed(10, 31)),
    ("万圣节前夕", Holiday::Fixed(10, 31)),
    ("万圣夜", Holiday::Fixed(10, 31)),
    ("万圣节", Holiday::Fixed(10, 31)),
    ("诸圣节", Holiday::Fixed(11, 1)),
    ("退伍军人节", Holiday::Fixed(11, 11)),
    ("光棍节", Holiday::Fixed(11, 11)),
    ("双十一", Holiday::Fixed(11, 11)),
    ("感恩节", Holiday::Thanksgiving(0)),
    ("黑色星期五", Holiday::Thanksgiving(1)),
    ("双十二", Holiday::Fixed(12, 12)),
    ("国家公祭日", Holiday::Fixed(12, 13)),
    ("平安夜", Holiday::Fixed(12, 24)),
    ("圣诞前夜", Holiday::Fixed(12, 24)),
    ("圣诞夜", Holiday::Fixed(12, 24)),
    ("圣诞节", Holiday::Fixed(12, 25)),
    ("圣诞", Holiday::Fixed(12, 25)),
    ("节礼日", Holiday::Fixed(12, 26)),
    ("跨年夜", Holiday::Fixed(12, 31)),
    ("跨年", Holiday::Fixed(12, 31)),
    ("忏悔星期二", Holiday::Easter(-47)),
    ("忏悔节", Holiday::Easter(-47)),
    ("圣灰星期三", Holiday::Easter(-46)),
    ("圣灰日", Holiday::Easter(-46)),
    ("圣灰节", Holiday::Easter(-46)),
    ("大斋首日", Holiday::Easter(-46)),
    ("圣枝主日", Holiday::Easter(-7)),
    ("棕枝主日", Holiday::Easter(-7)),
    ("濯足节", Holiday::Easter(-3)),
    ("神圣星期四", Holiday::Easter(-3)),
    ("圣周四", Holiday::Easter(-3)),
    ("耶稣受难日", Holiday::Easter(-2)),
    ("受难节", Holiday::Easter(-2)),
    ("受难日", Holiday::Easter(-2)),
    ("沉默周五", Holiday::Easter(-2)),
    ("圣周五", Holiday::Easter(-2)),
    ("神圣周六", Holiday::Easter(-1)),
    ("圣周六", Holiday::Easter(-1)),
    ("复活节前夜", Holiday::Easter(-1)),
    ("复活节星期一", Holiday::Easter(1)),
    ("复活节", Holiday::Easter(0)),
    ("耶稣升天节", Holiday::Easter(39)),
    ("升天节", Holiday::Easter(39)),
    ("五旬节", Holiday::Easter(49)),
    ("圣灵降临节", Holiday::Easter(49)),
    ("圣神降临", Holiday::Easter(49)),
    ("圣三主日", Holiday::Easter(56)),
    ("圣体节", Holiday::Easter(60)),
    ("基督圣体圣血节", Holiday::Easter(60)),
];

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
        let is_food = matches!(cursor.peek_han(0), Some('粥' | '蒜'))
            || *name == "元宵"
                && matches!(
                    cursor.peek_back(3),
                    Some(DateTokenKind::Han('吃' | '煮' | '包' | '买'))
                );
        if is_food {
            return None;
        }
        let is_number = matches!(*name, "五一" | "六一" | "八一") && is_near_numeral(cursor);
        if is_number {
            return None;
        }
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
        (cursor.peek_han(0) == Some('初')).then_some(())?;
        return parse_lunar_day(cursor).map(|day| Holiday::Lunar(1, false, day));
    }
    let is_lunar = cursor.consume_any_han(&["农历", "阴历", "旧历"]);
    cursor.consume_han("的");
    let is_leap = cursor.consume_han("闰");
    let month_names = [("正月", 1), ("冬月", 11), ("腊月", 12)];
    let named = month_names
        .into_iter()
        .find_map(|(name, month)| cursor.consume_han(name).then_some(month));
    let month = named.or_else(|| {
        let month = numbers::parse_number_in(cursor, 1..=12).filter(|_| is_lunar)?;
        cursor.consume_han("月").then_some(month)
    })?;
    let day = parse_lunar_day(cursor)?;
    Some(Holiday::Lunar(u32::try_from(month).ok()?, is_leap, day))
}

/// Consumes 初五, 十五 or 三十日.
fn parse_lunar_day(cursor: &mut TokenCursor<'_>) -> Option<u32> {
    cursor.consume_han("初");
    let day = numbers::parse_number_in(cursor, 1..=30)?;
    cursor.consume_any_han(&["日", "号"]);
    u32::try_from(day).ok()
}

/// Returns whether the two preceding characters are part of a number or a quantity.
fn is_near_numeral(cursor: &TokenCursor<'_>) -> bool {
    let is_numeral = |character: char| {
        numbers::is_numeral(character)
            || matches!(character, '点' | '月' | '号' | '路' | '第' | '块' | '个')
    };
    let is_behind_number = match cursor.peek_back(3) {
        Some(DateTokenKind::Han(character)) => is_numeral(character),
        Some(DateTokenKind::Number(_)) => true,
        Some(DateTokenKind::Word(_) | DateTokenKind::Sign(_) | DateTokenKind::Other) | None => {
            false
        }
    };
    is_behind_number || cursor.peek_han(0).is_some_and(is_numeral)
}
