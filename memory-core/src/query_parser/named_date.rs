//! The date that a query names, and its distance from a point in time.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc, Weekday};

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
            return if self.weekdays.contains(&day.weekday()) { 1.0 } else { 0.0 };
        }
        let years = if self.years.is_empty() { vec![day.year(), day.year() - 1] } else { self.years.clone() };
        let spans = years.iter().flat_map(|year| self.spans(*year));
        spans.map(|(first, last)| nearness_to_range(day, first, last)).fold(0.0, f32::max)
    }

    /// Returns the first and last day of each named date in `year`.
    fn spans(&self, year: i32) -> Vec<(NaiveDate, NaiveDate)> {
        if self.months.is_empty() {
            let whole = NaiveDate::from_ymd_opt(year, 1, 1).zip(NaiveDate::from_ymd_opt(year, 12, 31));
            return whole.into_iter().collect();
        }
        let mut spans = Vec::new();
        for month in &self.months {
            if self.days.is_empty() {
                let first = NaiveDate::from_ymd_opt(year, *month, 1);
                let next = first.and_then(|first| first.checked_add_months(chrono::Months::new(1)));
                spans.extend(first.zip(next.and_then(|next| next.checked_sub_signed(TimeDelta::days(1)))));
            }
            let days = self.days.iter().filter_map(|day| NaiveDate::from_ymd_opt(year, *month, *day));
            spans.extend(days.map(|day| (day, day)));
        }
        spans
    }
}

fn nearness_to_range(day: NaiveDate, first: NaiveDate, last: NaiveDate) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "so far away, a day more or less is nothing")]
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
pub(super) fn lookup_month(word: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let names =
        |name: &&str| **name == *word || (name.len() > 3 && name[..3] == *word) || (*word == *"sept" && **name == *"september");
    MONTHS.iter().position(names).and_then(|index| u32::try_from(index + 1).ok())
}

/// Returns the weekday that a word names; `word` must be in lower case.
pub(super) fn lookup_weekday(word: &str) -> Option<Weekday> {
    match word {
        "monday" => Some(Weekday::Mon),
        "tuesday" => Some(Weekday::Tue),
        "wednesday" => Some(Weekday::Wed),
        "thursday" => Some(Weekday::Thu),
        "friday" => Some(Weekday::Fri),
        "saturday" => Some(Weekday::Sat),
        "sunday" => Some(Weekday::Sun),
        _ => None,
    }
}

/// Returns whether a month name is more often another word.
pub(super) fn is_ambiguous_month(month: &str) -> bool {
    matches!(month, "may" | "march" | "mar")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("{text}T12:00:00Z").parse().unwrap()
    }

    #[test]
    fn within_what_is_named_it_is_one_and_it_falls_faster_before() {
        let may = NamedDate { years: vec![2023], months: vec![5], ..NamedDate::default() };
        assert_eq!(
            [may.nearness(at("2023-05-01")), may.nearness(at("2023-05-31"))].map(f32::to_bits),
            [1.0_f32, 1.0].map(f32::to_bits)
        );
        assert!(may.nearness(at("2023-04-28")) < may.nearness(at("2023-06-03")));
        assert!(may.nearness(at("2022-05-15")) < 1e-6);
        let day = NamedDate { days: vec![7], months: vec![5], ..NamedDate::default() };
        assert_eq!(
            [day.nearness(at("2021-05-07")), day.nearness(at("2024-05-07"))].map(f32::to_bits),
            [1.0_f32, 1.0].map(f32::to_bits)
        );
    }

    #[test]
    fn a_weekday_alone_means_that_day_of_any_week() {
        let monday = NamedDate { weekdays: vec![Weekday::Mon], ..NamedDate::default() };
        assert_eq!(
            [monday.nearness(at("2026-11-23")), monday.nearness(at("2026-11-24"))].map(f32::to_bits),
            [1.0_f32, 0.0].map(f32::to_bits)
        );
    }

    #[test]
    fn days_that_do_not_exist_are_near_to_nothing() {
        let never = NamedDate { days: vec![31], months: vec![2], ..NamedDate::default() };
        assert_eq!(never.nearness(at("2026-02-28")).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn months_are_known_by_their_short_names_too() {
        assert_eq!(
            [lookup_month("may"), lookup_month("sept"), lookup_month("dec"), lookup_month("decem")],
            [Some(5), Some(9), Some(12), None]
        );
    }
}
