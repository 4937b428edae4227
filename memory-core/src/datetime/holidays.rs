//! Computes the dates of holidays that depend on the year only.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{Datelike, Days, NaiveDate, TimeDelta, Weekday};

use super::lunar::lunar_date;
use crate::language;

/// The rule that determines the date of a holiday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    /// A fixed month and day.
    Fixed(u32, u32),
    /// The nth weekday of a month, counted from the end if negative.
    Nth(i32, Weekday, u32),
    /// The last such weekday before a day of a month.
    Before(Weekday, u32, u32),
    /// An offset in days from Easter Sunday.
    Easter(i64),
    /// An offset in days from Orthodox Easter Sunday.
    OrthodoxEaster(i64),
    /// An offset in days from Thanksgiving.
    Thanksgiving(i64),
    /// A day of the Chinese lunar calendar: month, whether it is the leap month, and day.
    Lunar(u32, bool, u32),
    /// An offset in days from the first day of the Chinese lunar year.
    LunarNewYear(i64),
    /// Qingming, the day on which the sun is 15° past the vernal equinox.
    ClearBrightness,
}

/// Returns the names of holidays in a file, each with its holiday; a name precedes its own prefixes.
///
/// A key of the file is a variant of [`Holiday`] with its numbers: `nth -1 mon 5` is the last Monday of May.
pub(super) fn holidays(file: &'static str) -> Vec<(&'static str, Holiday)> {
    let by_day: BTreeMap<&str, Vec<&str>> = language::parse(file);
    let mut all: Vec<_> = by_day
        .into_iter()
        .filter_map(|(day, names)| Some((Holiday::parse(day)?, names)))
        .flat_map(|(holiday, names)| names.into_iter().map(move |name| (name, holiday)))
        .collect();
    all.sort_by_key(|(name, _)| (Reverse(name.len()), *name));
    all
}

impl Holiday {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let kind = words.next()?;
        let mut weekday = None;
        let mut numbers = Vec::new();
        for word in words {
            match word.parse::<i32>() {
                Ok(number) => numbers.push(number),
                Err(_) => weekday = Some(word.parse().ok()?),
            }
        }
        let of_month = |at: usize| {
            numbers
                .get(at)
                .and_then(|number| u32::try_from(*number).ok())
        };
        let days = numbers.first().copied();
        Some(match kind {
            "fixed" => Self::Fixed(of_month(0)?, of_month(1)?),
            "nth" => Self::Nth(days?, weekday?, of_month(1)?),
            "before" => Self::Before(weekday?, of_month(0)?, of_month(1)?),
            "easter" => Self::Easter(days?.into()),
            "orthodox_easter" => Self::OrthodoxEaster(days?.into()),
            "thanksgiving" => Self::Thanksgiving(days?.into()),
            "lunar" => Self::Lunar(of_month(0)?, false, of_month(1)?),
            "lunar_new_year" => Self::LunarNewYear(days?.into()),
            "clear_brightness" => Self::ClearBrightness,
            _ => return None,
        })
    }

    /// Returns the Orthodox date of the holiday, if it depends on Easter.
    pub(super) fn orthodox(self) -> Option<Self> {
        if let Self::Easter(days) = self {
            Some(Self::OrthodoxEaster(days))
        } else {
            None
        }
    }

    pub(super) fn date(self, year: i32) -> Option<NaiveDate> {
        let add = |date: NaiveDate, days| date.checked_add_signed(TimeDelta::try_days(days)?);
        match self {
            Self::Fixed(month, day) => NaiveDate::from_ymd_opt(year, month, day),
            Self::Nth(nth, weekday, month) => nth_weekday(nth, weekday, year, month),
            Self::Before(weekday, month, day) => {
                let border = NaiveDate::from_ymd_opt(year, month, day)?.pred_opt()?;
                border.checked_sub_days(Days::new(u64::from(border.weekday().days_since(weekday))))
            }
            Self::Easter(days) => add(easter(year)?, days),
            Self::OrthodoxEaster(days) => add(orthodox_easter(year)?, days),
            Self::Thanksgiving(days) => add(nth_weekday(4, Weekday::Thu, year, 11)?, days),
            // The last months of a lunar year are in the next year.
            Self::Lunar(month, is_leap, day) => [year, year - 1]
                .into_iter()
                .filter_map(|lunar_year| lunar_date(lunar_year, month, is_leap, day))
                .find(|date| date.year() == year),
            Self::LunarNewYear(days) => add(lunar_date(year, 1, false, 1)?, days),
            Self::ClearBrightness => qingming(year),
        }
    }
}

/// Returns the nth weekday of a month, counted from the end if `nth` is negative.
pub(super) fn nth_weekday(nth: i32, weekday: Weekday, year: i32, month: u32) -> Option<NaiveDate> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    let weeks = u64::from(nth.unsigned_abs()).checked_sub(1)? * 7;
    let date = if 0 < nth {
        first.checked_add_days(Days::new(
            u64::from(weekday.days_since(first.weekday())) + weeks,
        ))?
    } else {
        let last = last_of_month(year, month)?;
        last.checked_sub_days(Days::new(
            u64::from(last.weekday().days_since(weekday)) + weeks,
        ))?
    };
    (date.month() == month && date.year() == year).then_some(date)
}

/// Returns the last day of a month.
pub(super) fn last_of_month(year: i32, month: u32) -> Option<NaiveDate> {
    let (year, month) = if month == 12 {
        (year.checked_add(1)?, 1)
    } else {
        (year, month + 1)
    };
    NaiveDate::from_ymd_opt(year, month, 1)?.pred_opt()
}

/// Computes Easter Sunday with the anonymous Gregorian computus.
fn easter(year: i32) -> Option<NaiveDate> {
    let golden = year.rem_euclid(19);
    let (century, of_century) = (year.div_euclid(100), year.rem_euclid(100));
    let moon_shift = (century - (century + 8) / 25 + 1) / 3;
    let moon = (19 * golden + century - century / 4 - moon_shift + 15).rem_euclid(30);
    let sunday =
        (32 + 2 * (century % 4) + 2 * (of_century / 4) - moon - of_century % 4).rem_euclid(7);
    let late = (golden + 11 * moon + 22 * sunday) / 451;
    let days = u32::try_from(moon + sunday - 7 * late + 114).ok()?;
    NaiveDate::from_ymd_opt(year, days / 31, days % 31 + 1)
}

/// Computes Easter of the Julian calendar, converted to a Gregorian date.
fn orthodox_easter(year: i32) -> Option<NaiveDate> {
    let moon = (19 * year.rem_euclid(19) + 15).rem_euclid(30);
    let sunday = (2 * year.rem_euclid(4) + 4 * year.rem_euclid(7) - moon + 34).rem_euclid(7);
    let days = u32::try_from(moon + sunday + 114).ok()?;
    let behind = year.div_euclid(100) - year.div_euclid(400) - 2;
    NaiveDate::from_ymd_opt(year, days / 31, days % 31 + 1)?
        .checked_add_days(Days::new(u64::try_from(behind).ok()?))
}

/// Computes Qingming with a linear rule, which is exact from 1901 to 2100 and up to one day off outside this range.
fn qingming(year: i32) -> Option<NaiveDate> {
    let of_century = year.rem_euclid(100);
    // In ten-thousandths of a day: the solar year has 365.2422 days, and leap days compensate for the fraction.
    let start = if year < 2000 { 55_900 } else { 48_100 };
    let day = (of_century * 2422 + start) / 10_000 - of_century / 4;
    NaiveDate::from_ymd_opt(year, 4, u32::try_from(day).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date_string(holiday: Holiday, year: i32) -> String {
        holiday
            .date(year)
            .map_or_else(String::new, |date| date.to_string())
    }

    #[test]
    fn every_key_of_the_files_is_a_holiday() {
        for file in [
            include_str!("../language/en/holidays.json"),
            include_str!("../language/zh/holidays.json"),
        ] {
            let by_day: BTreeMap<&str, Vec<&str>> = language::parse(file);
            let names: usize = by_day.values().map(Vec::len).sum();
            assert_eq!(holidays(file).len(), names);
        }
    }

    #[test]
    fn easter_is_where_the_churches_have_it() {
        let western = [
            (1961, "04-02"),
            (2000, "04-23"),
            (2008, "03-23"),
            (2024, "03-31"),
            (2025, "04-20"),
            (2038, "04-25"),
        ];
        for (year, expected) in western {
            assert_eq!(
                date_string(Holiday::Easter(0), year),
                format!("{year}-{expected}")
            );
        }
        for (year, expected) in [
            (2013, "05-05"),
            (2020, "04-19"),
            (2024, "05-05"),
            (2025, "04-20"),
            (2026, "04-12"),
        ] {
            assert_eq!(
                date_string(Holiday::OrthodoxEaster(0), year),
                format!("{year}-{expected}")
            );
        }
    }

    #[test]
    fn feasts_on_a_weekday_are_on_the_right_one() {
        assert_eq!(date_string(Holiday::Thanksgiving(0), 2025), "2025-11-27");
        assert_eq!(
            date_string(Holiday::Nth(-1, Weekday::Mon, 5), 2025),
            "2025-05-26"
        );
        assert_eq!(date_string(Holiday::Nth(5, Weekday::Mon, 2), 2025), "");
        assert_eq!(
            date_string(Holiday::Before(Weekday::Mon, 5, 25), 2025),
            "2025-05-19"
        );
    }

    #[test]
    fn clear_brightness_is_on_the_4th_or_5th_of_april() {
        for (year, day) in [
            (1999, 5),
            (2008, 4),
            (2013, 4),
            (2015, 5),
            (2016, 4),
            (2017, 4),
            (2019, 5),
            (2023, 5),
            (2024, 4),
        ] {
            assert_eq!(
                date_string(Holiday::ClearBrightness, year),
                format!("{year}-04-0{day}"),
                "{year}"
            );
        }
    }
}
