//! Finding the dates that a question names.

use std::collections::HashSet;
use std::ops::Range;

use super::Question;
use super::date::{NamedDate, is_doubtful, month, weekday};
use super::han_date::HanDate;
use crate::text::Term;

/// One word of the text, as it was typed.
pub(super) struct Typed {
    pub(super) lower: String,
    pub(super) is_capital: bool,
    pub(super) term: Term,
    pub(super) span: Range<usize>,
}

/// Finds the dates that are named; returns the numbers of the words that name them.
pub(super) fn dates(plain: &str, typed: &[Typed], han: &[HanDate], question: &mut Question) -> HashSet<usize> {
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
            used.extend(iso_date(plain, typed, index, &mut named));
        } else if let Some(weekday) = weekday(lower) {
            named.weekdays.push(weekday);
        } else if let Some(month) = month(lower)
            && (!is_doubtful(lower) || (word.is_capital && (0 < index || has_number_beside(typed, index))))
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

/// Reads what follows a year in `2026-05` and `2026-05-07`; returns the numbers of the words that it read.
fn iso_date(plain: &str, typed: &[Typed], year: usize, named: &mut NamedDate) -> Vec<usize> {
    let number = |index: usize| typed.get(index).and_then(|word| word.lower.parse::<u32>().ok());
    let joined =
        |index: usize| typed.get(index + 1).is_some_and(|next| plain.contains(&format!("{}-{}", typed[index].lower, next.lower)));
    let Some(month) = number(year + 1).filter(|month| (1..=12).contains(month) && joined(year)) else { return Vec::new() };
    named.months.push(month);
    let Some(day) = number(year + 2).filter(|day| (1..=31).contains(day) && joined(year + 1)) else { return vec![year + 1] };
    named.days.push(day);
    vec![year + 1, year + 2]
}

/// Tells whether a number stands beside a word, such as a day or a year beside a month.
fn has_number_beside(typed: &[Typed], index: usize) -> bool {
    let beside = [index.checked_sub(1), Some(index + 1)];
    beside.into_iter().flatten().filter_map(|beside| typed.get(beside)).any(|word| word.term.text.parse::<u32>().is_ok())
}
