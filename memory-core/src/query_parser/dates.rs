//! Extraction of dates from the words of a query, and from runs of Chinese characters.

use std::collections::HashSet;
use std::ops::Range;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc, Weekday};

use super::TextQuery;
use crate::datetime;
use crate::text::Term;

/// A word of the query text with its original spelling.
pub(super) struct SpelledWord {
    pub(super) lower: String,
    pub(super) is_capital: bool,
    pub(super) term: Term,
    pub(super) span: Range<usize>,
}

/// Stores the dates of the query in `question` and returns the indices of the words that name them.
pub(super) fn extract_dates(
    plain: &str,
    typed: &[SpelledWord],
    han: &[HanDate],
    question: &mut TextQuery,
) -> HashSet<usize> {
    let mut named = NamedDate::default();
    let mut used = HashSet::new();
    for date in han {
        named.years.extend(date.year);
        named.months.extend(date.month);
        named.days.extend(date.day);
    }
    for (index, word) in typed.iter().enumerate() {
        if han.iter().any(|date| date.span.contains(&word.span.start)) {
            used.insert(index);
            continue;
        }
        let lower = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        let is_year = lower.len() == 4 && (lower.starts_with("19") || lower.starts_with("20"));
        if let Some(year) = lower.parse::<i32>().ok().filter(|_| is_year) {
            named.years.push(year);
            used.extend(parse_numeric_date(plain, typed, index, &mut named));
        } else if let Some(weekday) = lookup_weekday(lower) {
            named.weekdays.push(weekday);
        } else if let Some(month) = lookup_month(lower)
            && (!is_ambiguous_month(lower)
                || (word.is_capital && (0 < index || has_adjacent_number(typed, index))))
        {
            named.months.push(month);
            let around = [
                index.checked_sub(1),
                Some(index + 1),
                index
                    .checked_sub(2)
                    .filter(|_| typed[index - 1].lower == "of"),
            ];
            for beside in around.into_iter().flatten() {
                let day = typed
                    .get(beside)
                    .and_then(|word| word.term.text.parse::<u32>().ok());
                if let Some(day) = day.filter(|day| (1..=31).contains(day)) {
                    named.days.push(day);
                    used.insert(beside);
                }
            }
        } else {
            continue;
        }
        used.insert(index);
    }
    question.date = (!named.is_empty()).then_some(named);
    used
}

/// Parses the month and day next to a year; returns the indices of the words that it used.
///
/// Supported forms are `2026-05`, `2026-05-07`, `2026/05/07` and `07.05.2026`. The order of `7/5/2026` is ambiguous, so only its year
/// counts; the order of `16/5/2026` is clear.
fn parse_numeric_date(
    plain: &str,
    typed: &[SpelledWord],
    year: usize,
    named: &mut NamedDate,
) -> Vec<usize> {
    let number = |index: usize| {
        typed
            .get(index)
            .and_then(|word| word.lower.parse::<u32>().ok())
    };
    let separator = |before: usize| {
        let between = plain.get(typed.get(before)?.span.end..typed.get(before + 1)?.span.start)?;
        ["-", "/", "."]
            .into_iter()
            .find(|separator| *separator == between)
    };
    let is_month = |number: &u32| (1..=12).contains(number);
    let is_day = |number: &u32| (1..=31).contains(number);
    if let Some(separator_of_month) = separator(year)
        && let Some(month) = number(year + 1).filter(is_month)
    {
        let day = number(year + 2)
            .filter(|day| is_day(day) && separator(year + 1) == Some(separator_of_month));
        // A year may be the end of a sentence: a month alone needs a hyphen.
        if day.is_some() || separator_of_month == "-" {
            named.months.push(month);
            named.days.extend(day);
            return (year + 1..=year + 1 + usize::from(day.is_some())).collect();
        }
    }
    let Some(first) = year
        .checked_sub(2)
        .filter(|first| separator(*first).is_some() && separator(*first) == separator(first + 1))
    else {
        return Vec::new();
    };
    let Some((one, other)) = number(first).zip(number(first + 1)) else {
        return Vec::new();
    };
    let is_certain = separator(first) != Some("/") || one == other;
    let (day, month) = match (is_month(&one), is_month(&other)) {
        (true, true) if !is_certain => return Vec::new(),
        (_, true) => (one, other),
        (true, false) => (other, one),
        (false, false) => return Vec::new(),
    };
    if !is_day(&day) {
        return Vec::new();
    }
    named.months.push(month);
    named.days.push(day);
    vec![first, first + 1]
}

/// Returns whether a word is adjacent to a number, such as a day or a year next to a month.
fn has_adjacent_number(typed: &[SpelledWord], index: usize) -> bool {
    let beside = [index.checked_sub(1), Some(index + 1)];
    beside
        .into_iter()
        .flatten()
        .filter_map(|beside| typed.get(beside))
        .any(|word| word.term.text.parse::<u32>().is_ok())
}

/// The parts of the dates that a query names.
///
/// `in May 2023` has a month and a year; `on Monday` only has a weekday.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedDate {
    /// The years, as in `2023`.
    pub years: Vec<i32>,
    /// The months, from 1 to 12.
    pub months: Vec<u32>,
    /// The days of the months, from 1 to 31.
    pub days: Vec<u32>,
    /// The weekdays.
    pub weekdays: Vec<Weekday>,
}

/// Decay constant of [`NamedDate::nearness`] for days before the named date, in days.
const DECAY_BEFORE: f32 = 2.0;

/// Decay constant for days after the named date, in days.
///
/// It is larger, because events are recorded after they happen.
const DECAY_AFTER: f32 = 10.0;

impl NamedDate {
    /// Returns whether no year, month or weekday is named.
    pub fn is_empty(&self) -> bool {
        self.years.is_empty() && self.months.is_empty() && self.weekdays.is_empty()
    }

    /// Returns the proximity of `moment` to the named date, from 0 to 1.
    ///
    /// It is 1.0 within the date and decays exponentially with the distance in days, faster before the date than after. Without a year,
    /// the year of `moment` and the year before it count. A weekday alone is either 1.0 or 0.0.
    pub fn nearness(&self, moment: DateTime<Utc>) -> f32 {
        let day = moment.date_naive();
        if self.years.is_empty() && self.months.is_empty() {
            return if self.weekdays.contains(&day.weekday()) {
                1.0
            } else {
                0.0
            };
        }
        let years = if self.years.is_empty() {
            vec![day.year(), day.year() - 1]
        } else {
            self.years.clone()
        };
        let spans = years.iter().flat_map(|year| self.spans(*year));
        spans
            .map(|(first, last)| nearness_to_range(day, first, last))
            .fold(0.0, f32::max)
    }

    /// Returns the first and last day of each named date in `year`.
    fn spans(&self, year: i32) -> Vec<(NaiveDate, NaiveDate)> {
        if self.months.is_empty() {
            let whole =
                NaiveDate::from_ymd_opt(year, 1, 1).zip(NaiveDate::from_ymd_opt(year, 12, 31));
            return whole.into_iter().collect();
        }
        let mut spans = Vec::new();
        for month in &self.months {
            if self.days.is_empty() {
                let first = NaiveDate::from_ymd_opt(year, *month, 1);
                let next = first.and_then(|first| first.checked_add_months(chrono::Months::new(1)));
                spans.extend(
                    first.zip(next.and_then(|next| next.checked_sub_signed(TimeDelta::days(1)))),
                );
            }
            let days = self
                .days
                .iter()
                .filter_map(|day| NaiveDate::from_ymd_opt(year, *month, *day));
            spans.extend(days.map(|day| (day, day)));
        }
        spans
    }
}

fn nearness_to_range(day: NaiveDate, first: NaiveDate, last: NaiveDate) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "so far away, a day more or less is nothing"
    )]
    let days = |span: TimeDelta| span.num_days() as f32;
    if day < first {
        (-days(first - day) / DECAY_BEFORE).exp()
    } else if last < day {
        (-days(day - last) / DECAY_AFTER).exp()
    } else {
        1.0
    }
}

/// Returns the month that a word names, from 1 to 12; `word` must be in lower case.
fn lookup_month(word: &str) -> Option<u32> {
    datetime::lookup_month(word).map(|(month, _)| month)
}

/// Returns the weekday that a word names in full; `word` must be in lower case.
fn lookup_weekday(word: &str) -> Option<Weekday> {
    datetime::lookup_weekday(word)
        .filter(|_| word.ends_with("day"))
        .map(|(weekday, _)| weekday)
}

/// Returns whether a month name is more often another word.
fn is_ambiguous_month(month: &str) -> bool {
    matches!(month, "may" | "march" | "mar")
}

/// A date in a text with at least a year or a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HanDate {
    /// The byte range of the date in the text.
    pub(super) span: Range<usize>,
    pub(super) year: Option<i32>,
    pub(super) month: Option<u32>,
    pub(super) day: Option<u32>,
}

/// Returns the dates in a text, in text order; a day without a month is not a date.
pub(super) fn find_han_dates(text: &str) -> Vec<HanDate> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_digit).map(|start| at + start) {
        match parse_han_date(text, start) {
            Some(date) => {
                at = date.span.end;
                found.push(date);
            }
            // The remaining digits of a number are not a number themselves.
            None => at = start + leading_digits(&text[start..]).len(),
        }
    }
    found
}

fn parse_han_date(text: &str, start: usize) -> Option<HanDate> {
    let mut rest = &text[start..];
    let year = parse_unit(&mut rest, &['年'], |digits| {
        parse_year(digits).filter(|year| (1900..=2099).contains(year))
    });
    let month = parse_unit(&mut rest, &['月'], |digits| {
        parse_number(digits).filter(|month| (1..=12).contains(month))
    });
    let day = month.and_then(|_| {
        parse_unit(&mut rest, &['日', '号', '號'], |digits| {
            parse_number(digits).filter(|day| (1..=31).contains(day))
        })
    });
    let is_date = year.is_some() || month.is_some();
    let year = year.and_then(|year| i32::try_from(year).ok());
    is_date.then(|| HanDate {
        span: start..text.len() - rest.len(),
        year,
        month,
        day,
    })
}

/// Parses a number followed by one of `units` and advances `rest` past both.
///
/// If `rest` has another form, it is unchanged.
fn parse_unit(rest: &mut &str, units: &[char], read: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let digits = leading_digits(rest);
    let after = rest[digits.len()..].strip_prefix(units)?;
    let value = read(digits)?;
    *rest = after;
    Some(value)
}

/// Returns the leading digits of a text.
fn leading_digits(text: &str) -> &str {
    &text[..text
        .find(|character| !is_digit(character))
        .unwrap_or(text.len())]
}

fn is_digit(character: char) -> bool {
    character == '十' || digit_value(character).is_some()
}

fn digit_value(character: char) -> Option<u32> {
    match character {
        '0'..='9' => character.to_digit(10),
        '０'..='９' => Some(u32::from(character) - u32::from('０')),
        '〇' => Some(0),
        // 两 counts things and is no digit of a date.
        '两' => None,
        _ => datetime::digit_value(character).and_then(|digit| u32::try_from(digit).ok()),
    }
}

/// Parses a four-digit year digit by digit, as years are written.
fn parse_year(digits: &str) -> Option<u32> {
    if digits.chars().count() != 4 {
        return None;
    }
    digits.chars().try_fold(0, |year, character| {
        Some(year * 10 + digit_value(character)?)
    })
}

/// Parses a number below 100, such as 8, 08, 八, 十八 or 二十八.
fn parse_number(digits: &str) -> Option<u32> {
    let read = |digits: &str| match digits.chars().count() {
        1 => digit_value(digits.chars().next()?),
        2 if digits.starts_with(|first: char| {
            first.is_ascii_digit() || ('０'..='９').contains(&first)
        }) =>
        {
            digits.chars().try_fold(0, |number, character| {
                Some(number * 10 + digit_value(character)?)
            })
        }
        _ => None,
    };
    let Some((tens, ones)) = digits.split_once('十') else {
        return read(digits);
    };
    let tens = if tens.is_empty() { 1 } else { read(tens)? };
    Some(tens * 10 + if ones.is_empty() { 0 } else { read(ones)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("{text}T12:00:00Z").parse().unwrap()
    }

    #[test]
    fn within_what_is_named_it_is_one_and_it_falls_faster_before() {
        let may = NamedDate {
            years: vec![2023],
            months: vec![5],
            ..NamedDate::default()
        };
        assert_eq!(
            [
                may.nearness(at("2023-05-01")),
                may.nearness(at("2023-05-31"))
            ]
            .map(f32::to_bits),
            [1.0_f32, 1.0].map(f32::to_bits)
        );
        assert!(may.nearness(at("2023-04-28")) < may.nearness(at("2023-06-03")));
        assert!(may.nearness(at("2022-05-15")) < 1e-6);
        let day = NamedDate {
            days: vec![7],
            months: vec![5],
            ..NamedDate::default()
        };
        assert_eq!(
            [
                day.nearness(at("2021-05-07")),
                day.nearness(at("2024-05-07"))
            ]
            .map(f32::to_bits),
            [1.0_f32, 1.0].map(f32::to_bits)
        );
    }

    #[test]
    fn a_weekday_alone_means_that_day_of_any_week() {
        let monday = NamedDate {
            weekdays: vec![Weekday::Mon],
            ..NamedDate::default()
        };
        assert_eq!(
            [
                monday.nearness(at("2026-11-23")),
                monday.nearness(at("2026-11-24"))
            ]
            .map(f32::to_bits),
            [1.0_f32, 0.0].map(f32::to_bits)
        );
    }

    #[test]
    fn days_that_do_not_exist_are_near_to_nothing() {
        let never = NamedDate {
            days: vec![31],
            months: vec![2],
            ..NamedDate::default()
        };
        assert_eq!(
            never.nearness(at("2026-02-28")).to_bits(),
            0.0_f32.to_bits()
        );
    }

    #[test]
    fn months_are_known_by_their_short_names_too() {
        assert_eq!(
            [
                lookup_month("may"),
                lookup_month("sept"),
                lookup_month("dec"),
                lookup_month("decem")
            ],
            [Some(5), Some(9), Some(12), None]
        );
    }

    fn parts(text: &str) -> Vec<(Option<i32>, Option<u32>, Option<u32>)> {
        find_han_dates(text)
            .into_iter()
            .map(|date| (date.year, date.month, date.day))
            .collect()
    }

    #[test]
    fn dates_are_read_as_far_as_they_are_named() {
        let whole = (Some(2024), Some(3), Some(8));
        for (text, date) in [
            ("2024年3月8日", whole),
            ("我们2024年03月08号决定了什么？", whole),
            ("２０２４年３月８日", whole),
            ("二〇二四年三月八日", whole),
            ("二零二四年三月八號", whole),
            ("2024年3月", (Some(2024), Some(3), None)),
            ("2024年", (Some(2024), None, None)),
            ("3月8日的会议", (None, Some(3), Some(8))),
            ("十二月三十一日", (None, Some(12), Some(31))),
            ("二十一日前，十月", (None, Some(10), None)),
        ] {
            assert_eq!(parts(text), [date], "{text}");
        }
        assert_eq!(parts("2024年3月和2025年").len(), 2);
        let text = "在2024年3月8日，";
        assert_eq!(
            find_han_dates(text)[0].span,
            "在".len()..text.len() - "，".len()
        );
    }

    #[test]
    fn amounts_and_days_alone_are_no_dates() {
        for text in [
            "3个月",
            "100年",
            "12024年",
            "13月",
            "8日",
            "三年",
            "24年",
            "3 月",
            "十十月",
            "0月",
            "1899年",
        ] {
            assert_eq!(parts(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_spans_lie_in_it(text in "[0-9十三〇年月日号a ]{0,20}|.{0,20}") {
            for date in find_han_dates(&text) {
                prop_assert!(text.get(date.span).is_some_and(|named| named.contains(['年', '月'])));
            }
        }
    }
}
