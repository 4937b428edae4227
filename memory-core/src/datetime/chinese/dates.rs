//! Parses calendar dates in Chinese: 2013年2月15号, 下个月五号, 月底, 29日.

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::period::{Month, Period, PeriodEdge, Year};
use super::super::range;
use super::super::syntax::{CountedDays, DayExpression, DayPhrase};
use super::super::token::DateTokenKind::{Han, Number};
use super::lexicon::WORDS;
use super::numbers::{digit_value, is_numeral, parse_number, parse_number_in, parse_year};

/// Consumes a year with its 年: "2013年", "二零一五年", "明年".
pub(super) fn parse_year_reference(cursor: &mut TokenCursor<'_>) -> Year {
    if let Some(years) = cursor.consume_meaning(&WORDS.years) {
        cursor.consume_han("度");
        return Year::Away(years);
    }
    parse_year(cursor).map_or(Year::Unsaid, Year::Exactly)
}

/// Consumes a date, or the start or end of a month or year, with an optional year.
pub(super) fn parse_calendar_date(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let forms: [fn(&mut TokenCursor<'_>, Year) -> Option<DayExpression>; 5] = [
        parse_named_month_day,
        parse_relative_month_day,
        parse_bare_month_edge,
        parse_quarter_edge,
        parse_year_edge,
    ];
    forms
        .into_iter()
        .find_map(|form| cursor.attempt(|cursor| form(cursor, year)))
        .map(DayPhrase::from)
}

/// Consumes "2月15号", "十月第一个星期一" and "6月底".
fn parse_named_month_day(cursor: &mut TokenCursor<'_>, year: Year) -> Option<DayExpression> {
    let is_clean = cursor.starts_cleanly();
    // A month or day that no calendar has is consumed as well, so that the rest of it is not read as another date.
    let month = parse_number_in(cursor, 1..=99).filter(|_| is_clean)?;
    cursor.consume_han("月").then_some(())?;
    if 12 < month {
        return parse_date_in_month(cursor, Month::Named(month, year));
    }
    cursor.consume_han("份");
    let month = Month::Named(month, year);
    parse_day_in_month(cursor, month).or_else(|| {
        cursor.attempt(|cursor| {
            // Without 日 or 号, the number must not be followed by a measure word.
            let date = parse_number_in(cursor, 1..=31)?;
            let is_counted = cursor.is_han_next(0, WORDS.counted_by_number);
            (!is_counted && cursor.ends_cleanly()).then_some(DayExpression::OfMonth(date, month))
        })
    })
}

/// Consumes a day within the given month.
pub(super) fn parse_day_in_month(
    cursor: &mut TokenCursor<'_>,
    month: Month,
) -> Option<DayExpression> {
    let date = parse_date_in_month(cursor, month);
    if date.is_some() {
        return date;
    }
    let period = Period::Month(month);
    cursor
        .attempt(|cursor| {
            cursor.consume_han("的");
            parse_nth_day(cursor, period.clone())
        })
        .or_else(|| cursor.attempt(|cursor| parse_period_edge(cursor, &period)))
}

/// Consumes the number of a day within the given month, also of one that the month does not have.
pub(super) fn parse_date_in_month(
    cursor: &mut TokenCursor<'_>,
    month: Month,
) -> Option<DayExpression> {
    cursor.attempt(|cursor| {
        cursor.consume_han("的");
        let date = parse_number_in(cursor, 1..=99)?;
        let is_date = cursor.consume_any_han(&["日", "号"]) || starts_more_days(*cursor, date);
        is_date.then_some(DayExpression::OfMonth(date, month))
    })
}

/// Returns whether "-12号" or "、10和11日" follows the number of a day.
fn starts_more_days(mut cursor: TokenCursor<'_>, first: u32) -> bool {
    let is_list = cursor.consume_sign(',') || cursor.consume_any_han(&range::LIST_CHARACTERS);
    let is_joined = is_list || range::consume_joint(&mut cursor);
    let next = parse_number_in(&mut cursor, 1..=31);
    next.is_some_and(|day| {
        let is_later = is_joined && first < day;
        is_later
            && (cursor.consume_any_han(&["日", "号"]) || is_list && starts_more_days(cursor, day))
    })
}

/// Consumes "下个月五号", "本月底" and "下个月的最后一天".
fn parse_relative_month_day(cursor: &mut TokenCursor<'_>, year: Year) -> Option<DayExpression> {
    (year == Year::Unsaid).then_some(())?;
    let months = parse_period_offset(cursor)?;
    cursor.consume_han("月").then_some(())?;
    cursor.consume_han("份");
    parse_day_in_month(cursor, Month::Away(months))
}

/// Consumes "月底" and "月初" without a month; after a month name they belong to it.
fn parse_bare_month_edge(cursor: &mut TokenCursor<'_>, year: Year) -> Option<DayExpression> {
    let is_alone = year == Year::Unsaid && !cursor.is_han_before(1, "个上下正腊冬闰");
    let names: [(_, &[&str]); 3] = [
        (PeriodEdge::End, &["月底", "月末", "月尾"]),
        (PeriodEdge::Start, &["月初"]),
        (PeriodEdge::Middle, &["月中"]),
    ];
    let edge = cursor.consume_meaning(&names).filter(|_| is_alone)?;
    (!is_lunar_day(cursor)).then_some(DayExpression::Edge(edge, Period::Month(Month::Unsaid)))
}

/// Consumes "季度末", "本季末" and "下季度初".
fn parse_quarter_edge(cursor: &mut TokenCursor<'_>, year: Year) -> Option<DayExpression> {
    let quarters = cursor.attempt(parse_period_offset).unwrap_or(0);
    (year == Year::Unsaid && cursor.consume_any_han(&["季度", "季"])).then_some(())?;
    parse_period_edge(cursor, &Period::Quarter(quarters))
}

/// Returns whether the preceding 初 is part of a lunar day such as "初五", and not the start of a period.
fn is_lunar_day(cursor: &TokenCursor<'_>) -> bool {
    cursor.is_han_before(1, "初") && cursor.peek_han(0).is_some_and(is_numeral)
}

/// Consumes "年底", "明年初" and "今年最后一天".
fn parse_year_edge(cursor: &mut TokenCursor<'_>, year: Year) -> Option<DayExpression> {
    let period = Period::Year(year);
    if year == Year::Unsaid {
        let names: [(_, &[&str]); 2] = [
            (PeriodEdge::End, &["年底", "年末", "年终", "年尾"]),
            (PeriodEdge::Start, &["年初"]),
        ];
        let edge = cursor.consume_meaning(&names)?;
        return Some(DayExpression::Edge(edge, period));
    }
    parse_nth_day(cursor, period.clone()).or_else(|| parse_period_edge(cursor, &period))
}

/// Consumes "29日" and "十五号", without a month.
pub(super) fn parse_bare_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let is_in_digits = cursor.is_number(0);
    let is_inside = cursor.is_han_before(1, "第月年周星期拜十百点零");
    (cursor.starts_cleanly() && !is_inside).then_some(())?;
    let start = cursor.position();
    let date = parse_number_in(cursor, 1..=31)?;
    let is_long = is_in_digits || 1 < cursor.position() - start;
    let is_hao = cursor.consume_han("号");
    // "三日" and "一日" are durations more often than dates.
    let is_named = is_hao
        || is_long && cursor.consume_han("日")
        || is_long && range::consume_joint(&mut cursor.clone()) && starts_more_days(*cursor, date);
    is_named.then_some(())?;
    let is_a_number = cursor.is_han_next(0, WORDS.numbered_things);
    (!is_a_number).then_some(())?;
    Some(DayExpression::OfMonth(date, Month::Unsaid).into())
}

/// Consumes a period that resolves to its first day: "下个月", "2013年", "明年三月".
pub(super) fn parse_vague_period(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let away = |cursor: &mut TokenCursor<'_>| {
        let months = parse_period_offset(cursor)?;
        cursor.consume_han("月").then_some(Month::Away(months))
    };
    if let Some(month) = cursor.attempt(away) {
        return Some(DayPhrase::start_of(Period::Month(month)));
    }
    let is_led = cursor.is_han_before(1, "在到等至");
    let year = parse_year_reference(cursor);
    cursor.consume_han("的");
    let month = cursor.attempt(|cursor| {
        let month = parse_number_in(cursor, 1..=12)?;
        cursor.consume_han("月").then_some(month)
    });
    let Some(month) = month else {
        return (year != Year::Unsaid).then(|| DayPhrase::start_of(Period::Year(year)));
    };
    let is_month = cursor.consume_any_han(&["份"])
        || year != Year::Unsaid
        || is_led
        || cursor.is_han_next(0, "前之")
        || starts_month_range(*cursor)
        || is_edge_next(*cursor);
    is_month.then(|| DayPhrase::start_of(Period::Month(Month::Named(month, year))))
}

/// Returns whether ",月底" follows a month.
fn is_edge_next(mut cursor: TokenCursor<'_>) -> bool {
    cursor.consume_sign(',') && parse_bare_month_edge(&mut cursor, Year::Unsaid).is_some()
}

/// Returns whether "到9月" or "、9月" follows a month.
fn starts_month_range(mut cursor: TokenCursor<'_>) -> bool {
    let is_list = cursor.consume_any_han(&["和", "与", "及"]) || cursor.consume_sign(',');
    if !is_list && range::consume_joint(&mut cursor) {
        let is_now = cursor.clone().consume_any_han(&["现在", "今"]);
        return is_now || parse_bare_month(&mut cursor).is_some();
    }
    is_list && parse_bare_month(&mut cursor).is_some()
}

/// Consumes "9月", and nothing that counts within the month.
pub(in super::super) fn parse_bare_month(cursor: &mut TokenCursor<'_>) -> Option<Month> {
    let month = parse_number_in(cursor, 1..=12)?;
    let is_month = cursor.consume_han("月")
        && !cursor.peek_han(0).is_some_and(is_numeral)
        && !cursor.is_number(0);
    is_month.then_some(Month::Named(month, Year::Unsaid))
}

/// Consumes "下", "上上个" or "这", and returns the offset.
pub(super) fn parse_period_offset(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let is_word_end = cursor
        .peek_han(0)
        .is_some_and(|character| ends_other_word(cursor, character));
    (!is_word_end).then_some(())?;
    let names: [(i32, &[&str]); 4] = [
        (2, &["再下"]),
        (1, &["下", "嚟紧"]),
        (-1, &["上"]),
        (0, &["这", "本", "今", "呢", "当"]),
    ];
    let mut distance = cursor.consume_meaning(&names)?;
    // 下下下周 is three weeks ahead.
    let repeated = ["下", "上"]
        .into_iter()
        .find(|again| cursor.is_han_before(1, again));
    for again in repeated.into_iter().cycle().take(MAX_REPEATED) {
        if cursor.consume_han(again) {
            distance += distance.signum();
        }
    }
    cursor.consume_any_han(&["一个", "个", "一"]);
    Some(distance)
}

/// Maximum number of times that 下 or 上 is repeated.
const MAX_REPEATED: usize = 8;

/// Returns whether the character at the cursor ends another word: 一下, 楼下, 晚上, 线上, 日本.
fn ends_other_word(cursor: &TokenCursor<'_>, character: char) -> bool {
    let Some(Han(before)) = cursor.peek_back(1) else {
        return false;
    };
    let others = match character {
        '下' => "楼以之地底如线私",
        '上' => "早晚手网路以马身桌车楼线加",
        '本' => "日基版书课成原根",
        _ => return false,
    };
    // 周一下周二 is a list.
    let is_weekday = cursor.is_han_before(2, "周期拜");
    others.contains(before) || character == '下' && before == '一' && !is_weekday
}

/// Consumes "第一个星期一", "最后一天" or "第三天" within the preceding period.
pub(super) fn parse_nth_day(cursor: &mut TokenCursor<'_>, period: Period) -> Option<DayExpression> {
    let nth: i32 = if cursor.consume_any_han(&["最后一", "最后"]) {
        -1
    } else if cursor.consume_any_han(&["倒数第", "倒数"]) {
        -parse_number(cursor)?
    } else if cursor.consume_han("首") {
        1
    } else if cursor.consume_han("第") {
        parse_number(cursor)?
    } else {
        return None;
    };
    cursor.consume_han("个");
    let counted = if cursor.consume_any_han(&["工作日"]) {
        CountedDays::WorkingDays
    } else if cursor.consume_any_han(&["周", "星期", "礼拜"]) {
        CountedDays::Weekdays(parse_weekday(cursor)?)
    } else if cursor.consume_any_han(&["天", "日"]) {
        CountedDays::Days
    } else {
        return None;
    };
    Some(DayExpression::Nth(nth, counted, period))
}

/// Consumes 初, 中 or 底 of the preceding month or year.
pub(super) fn parse_period_edge(
    cursor: &mut TokenCursor<'_>,
    period: &Period,
) -> Option<DayExpression> {
    let edge = cursor.consume_meaning(&WORDS.edges)?;
    (!is_lunar_day(cursor)).then(|| DayExpression::Edge(edge, period.clone()))
}

/// Returns whether a digit behind the name of a week is that of an hour or a date: "下周3点", "第一周1号".
fn is_counting(cursor: &TokenCursor<'_>) -> bool {
    let is_unit = |next| "点时月号日分:".contains(next);
    cursor
        .peek_han(1)
        .or(cursor.peek_ahead_sign())
        .is_some_and(is_unit)
}

/// Consumes 周一, 星期三 or 礼拜天.
pub(super) fn parse_weekday_name(cursor: &mut TokenCursor<'_>) -> Option<Weekday> {
    cursor
        .consume_any_han(&["周", "星期", "礼拜"])
        .then(|| parse_weekday(cursor))?
}

/// Consumes the weekday that follows 周, 星期 or 礼拜.
pub(super) fn parse_weekday(cursor: &mut TokenCursor<'_>) -> Option<Weekday> {
    let number = match cursor.peek(0)? {
        Han('末') => 6,
        Han('日' | '天') => 7,
        Han('两') => return None,
        Han(character) => digit_value(character)?,
        Number(number) if number.digits == 1 && cursor.is_glued(0) && !is_counting(cursor) => {
            number.value
        }
        _ => return None,
    };
    let weekday = Weekday::try_from(u8::try_from(number.checked_sub(1)?).ok()?).ok()?;
    cursor.step();
    Some(weekday)
}
