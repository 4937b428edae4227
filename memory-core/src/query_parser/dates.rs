//! Extraction of dates from the words of a query.

use std::collections::HashSet;
use std::ops::Range;

use super::TextQuery;
use super::han_date::HanDate;
use super::named_date::{NamedDate, is_ambiguous_month, lookup_month, lookup_weekday};
use crate::text::Term;

/// A word of the query text with its original spelling.
pub(super) struct SpelledWord {
    pub(super) lower: String,
    pub(super) is_capital: bool,
    pub(super) term: Term,
    pub(super) span: Range<usize>,
}

/// Stores the dates of the query in `question` and returns the indices of the words that name them.
pub(super) fn extract_dates(plain: &str, typed: &[SpelledWord], han: &[HanDate], question: &mut TextQuery) -> HashSet<usize> {
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
            && (!is_ambiguous_month(lower) || (word.is_capital && (0 < index || has_adjacent_number(typed, index))))
        {
            named.months.push(month);
            let around = [index.checked_sub(1), Some(index + 1), index.checked_sub(2).filter(|_| typed[index - 1].lower == "of")];
            for beside in around.into_iter().flatten() {
                let day = typed.get(beside).and_then(|word| word.term.text.parse::<u32>().ok());
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
fn parse_numeric_date(plain: &str, typed: &[SpelledWord], year: usize, named: &mut NamedDate) -> Vec<usize> {
    let number = |index: usize| typed.get(index).and_then(|word| word.lower.parse::<u32>().ok());
    let separator = |before: usize| {
        let between = plain.get(typed.get(before)?.span.end..typed.get(before + 1)?.span.start)?;
        ["-", "/", "."].into_iter().find(|separator| *separator == between)
    };
    let is_month = |number: &u32| (1..=12).contains(number);
    let is_day = |number: &u32| (1..=31).contains(number);
    if let Some(separator_of_month) = separator(year)
        && let Some(month) = number(year + 1).filter(is_month)
    {
        let day = number(year + 2).filter(|day| is_day(day) && separator(year + 1) == Some(separator_of_month));
        // A year may be the end of a sentence: a month alone needs a hyphen.
        if day.is_some() || separator_of_month == "-" {
            named.months.push(month);
            named.days.extend(day);
            return (year + 1..=year + 1 + usize::from(day.is_some())).collect();
        }
    }
    let Some(first) =
        year.checked_sub(2).filter(|first| separator(*first).is_some() && separator(*first) == separator(first + 1))
    else {
        return Vec::new();
    };
    let Some((one, other)) = number(first).zip(number(first + 1)) else { return Vec::new() };
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
    beside.into_iter().flatten().filter_map(|beside| typed.get(beside)).any(|word| word.term.text.parse::<u32>().is_ok())
}
