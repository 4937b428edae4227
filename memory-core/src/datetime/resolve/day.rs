//! Resolves a day expression to a date.

use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta, Weekday};

use super::super::duration::CalendarDuration;
use super::super::holidays::{Holiday, last_of_month, nth_weekday};
use super::super::period::{Month, Period, PeriodEdge, Year};
use super::super::syntax::{CountedDays, DayExpression, Week, WeekdayAnchor};

/// Number of years to search: two leap days are at most eight years apart.
const MAX_YEARS: i32 = 8;

/// Number of months to search: a day of the month falls on any weekday long before.
const MAX_MONTHS: i32 = 60;

/// Returns the date of a day expression, relative to `today`.
pub(super) fn resolve_day(
    day: &DayExpression,
    today: NaiveDate,
    assumed: &mut Vec<String>,
) -> Option<NaiveDate> {
    match day {
        DayExpression::Now => Some(today),
        DayExpression::Shifted(days) => add_days(today, *days),
        DayExpression::Weekday(weekday, week) => resolve_weekday(*weekday, *week, today, assumed),
        // The day of this month matches even if it is over, because the next match may be months away.
        DayExpression::WeekdayAndDate(weekday, date) => {
            let (months, found) = (0..MAX_MONTHS)
                .filter_map(|months| Some((months, date_in_month(today, months, *date)?)))
                .find(|(_, found)| found.weekday() == *weekday)?;
            if 1 < months {
                assumed.push(format!(
                    "No month given; assuming {found}, the next such day."
                ));
            }
            Some(found)
        }
        DayExpression::Confirmed(weekday, day) => {
            let confirmed = match &**day {
                DayExpression::EitherWay(first, other) => [first, other]
                    .into_iter()
                    .filter_map(|day| resolve_day(day, today, &mut Vec::new()))
                    .find(|date| date.weekday() == *weekday),
                day => recent_date(*weekday, day, today),
            };
            if confirmed.is_some() {
                return confirmed;
            }
            let date = resolve_day(day, today, assumed)?;
            if date.weekday() != *weekday {
                assumed.push(format!(
                    "{date} is a {}, not a {}; assuming the date.",
                    date.format("%A"),
                    add_days(date, i64::from(weekday.days_since(date.weekday())))?.format("%A")
                ));
            }
            Some(date)
        }
        DayExpression::AnyOf(days) => days
            .iter()
            .filter_map(|day| resolve_day(day, today, &mut Vec::new()))
            .min(),
        DayExpression::Closest(nth, weekday, from) => {
            closest_weekday(*nth, *weekday, resolve_day(from, today, assumed)?)
        }
        DayExpression::OfMonth(date, Month::Unsaid) => {
            let found = (0..12)
                .filter_map(|months| date_in_month(today, months, *date))
                .find(|found| today <= *found)?;
            assumed.push(format!(
                "No month given; assuming {found}, the next such day."
            ));
            Some(found)
        }
        DayExpression::OfMonth(date, Month::Away(months)) => date_in_month(today, *months, *date),
        DayExpression::OfMonth(date, Month::Named(month, year)) => {
            date_in_year(*year, today, assumed, |year| {
                NaiveDate::from_ymd_opt(year, *month, *date)
            })
        }
        DayExpression::EitherWay(first, other) => {
            resolve_ambiguous_order(first, other, today, assumed)
        }
        DayExpression::Nth(nth, counted, period) => {
            date_in_period(period, today, assumed, &|start, end| {
                nth_day_of_period(*nth, *counted, start, end)
            })
        }
        DayExpression::Feast(holiday, year) => {
            date_in_year(*year, today, assumed, |year| holiday.date(year))
        }
        DayExpression::FeastFrom(holiday, from) => {
            next_holiday(*holiday, resolve_day(from, today, assumed)?)
        }
        DayExpression::Away(amount, from) => {
            add_duration(resolve_day(from, today, assumed)?, *amount)
        }
        DayExpression::WeekdaysAway(count, weekday, from) => {
            nth_weekday_from(*count, *weekday, resolve_day(from, today, assumed)?)
        }
        DayExpression::WeekdayNear(weekday, from, near) => {
            let from = resolve_day(from, today, assumed)?;
            let start = match near {
                WeekdayAnchor::SameWeek => monday_of_week(from)?,
                WeekdayAnchor::FromThere => from,
            };
            add_days(start, i64::from(weekday.days_since(start.weekday())))
        }
        DayExpression::Edge(edge, period) => {
            date_in_period(period, today, assumed, &|start, end| {
                period_edge_date(*edge, period, start, end)
            })
        }
    }
}

/// Resolves the first of two readings of a numeric date, and records the other one as an alternative.
fn resolve_ambiguous_order(
    first: &DayExpression,
    other: &DayExpression,
    today: NaiveDate,
    assumed: &mut Vec<String>,
) -> Option<NaiveDate> {
    let Some(found) = resolve_day(first, today, assumed) else {
        return resolve_day(other, today, assumed);
    };
    if let Some(other) = resolve_day(other, today, &mut Vec::new()) {
        assumed.push(format!(
            "Assuming the month first, {found}; with the day first it is {other}."
        ));
    }
    Some(found)
}

/// Returns a date plus `amount`. The day of the month is clamped to the length of the target month.
pub(super) fn add_duration(date: NaiveDate, amount: CalendarDuration) -> Option<NaiveDate> {
    let months = Months::new(u32::try_from(amount.months.unsigned_abs()).ok()?);
    let date = if amount.months < 0 {
        date.checked_sub_months(months)
    } else {
        date.checked_add_months(months)
    }?;
    let date = add_days(date, amount.days)?;
    let weeks = add_days(date, amount.working_days / 5 * 7)?;
    let (rest, step) = (amount.working_days % 5, amount.working_days.signum());
    let mut date = weeks;
    for _ in 0..rest.abs() {
        date = add_days(date, step)?;
        while matches!(date.weekday(), Weekday::Sat | Weekday::Sun) {
            date = add_days(date, step)?;
        }
    }
    Some(date)
}

fn add_days(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    date.checked_add_signed(TimeDelta::try_days(days)?)
}

pub(super) fn monday_of_week(date: NaiveDate) -> Option<NaiveDate> {
    date.checked_sub_days(Days::new(u64::from(date.weekday().num_days_from_monday())))
}

fn resolve_weekday(
    weekday: Weekday,
    week: Week,
    today: NaiveDate,
    assumed: &mut Vec<String>,
) -> Option<NaiveDate> {
    let of = |weeks: i32| {
        add_days(
            monday_of_week(today)?,
            i64::from(weeks) * 7 + i64::from(weekday.num_days_from_monday()),
        )
    };
    match week {
        Week::Of(weeks) => {
            let date = of(weeks)?;
            if weeks == 1 {
                assumed.push(format!(
                    "Weeks start on Monday; the day in next week is {date}."
                ));
            }
            Some(date)
        }
        Week::This if today <= of(0)? => of(0),
        Week::This => {
            assumed.push("The day in this week is past; assuming the next one.".to_owned());
            of(1)
        }
        Week::Coming => {
            if today.weekday() == weekday {
                assumed.push("Today is that weekday; assuming the next one.".to_owned());
            }
            nth_weekday_from(1, weekday, today)
        }
    }
}

fn nth_weekday_from(count: i32, weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let weeks = i64::from(count.unsigned_abs()).checked_sub(1)? * 7;
    let nearest = |days: u32| if days == 0 { 7 } else { i64::from(days) };
    if 0 < count {
        add_days(from, nearest(weekday.days_since(from.weekday())) + weeks)
    } else {
        add_days(from, -nearest(from.weekday().days_since(weekday)) - weeks)
    }
}

/// Returns the nth closest such weekday to a day.
fn closest_weekday(nth: i32, weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let after = i64::from(weekday.days_since(from.weekday()));
    let is_after_nearer = after <= 3;
    let nearest = if is_after_nearer { after } else { after - 7 };
    // The next ones alternate between both sides, starting with the side opposite to the nearest.
    let step = i64::from(nth / 2) * 7;
    let is_same_side = nth % 2 != 0;
    add_days(
        from,
        if is_same_side == is_after_nearer {
            nearest + step
        } else {
            nearest - step
        },
    )
}

/// Returns a date of the last 31 days, given without a year, if its weekday confirms it.
fn recent_date(weekday: Weekday, day: &DayExpression, today: NaiveDate) -> Option<NaiveDate> {
    let DayExpression::OfMonth(date, Month::Named(month, Year::Unsaid)) = day else {
        return None;
    };
    let found = NaiveDate::from_ymd_opt(today.year(), *month, *date)?;
    let days_ago = today.signed_duration_since(found).num_days();
    (found.weekday() == weekday && (0..=31).contains(&days_ago)).then_some(found)
}

/// Returns the first day of the month that is `months` away from the current one.
pub(super) fn first_of_month(today: NaiveDate, months: i32) -> Option<NaiveDate> {
    let first = today.with_day(1)?;
    let distance = Months::new(months.unsigned_abs());
    if months < 0 {
        first.checked_sub_months(distance)
    } else {
        first.checked_add_months(distance)
    }
}

fn date_in_month(today: NaiveDate, months: i32, date: u32) -> Option<NaiveDate> {
    first_of_month(today, months)?.with_day(date)
}

/// Returns the date in a year; without a year, the first one that is not over.
fn date_in_year(
    year: Year,
    today: NaiveDate,
    assumed: &mut Vec<String>,
    date: impl Fn(i32) -> Option<NaiveDate>,
) -> Option<NaiveDate> {
    match year {
        Year::Exactly(year) => date(year),
        Year::Away(years) => date(today.year().checked_add(years)?),
        Year::Beside(side) => (0..=MAX_YEARS)
            .filter_map(|years| date(today.year() + side * years))
            .find(|found| found.cmp(&today) as i32 == side),
        Year::Unsaid => {
            let found = (0..=MAX_YEARS)
                .filter_map(|years| date(today.year() + years))
                .find(|found| today <= *found)?;
            if found.year() != today.year() {
                assumed.push(format!(
                    "No year given; assuming {found}, the next such day."
                ));
            }
            Some(found)
        }
    }
}

fn next_holiday(holiday: Holiday, from: NaiveDate) -> Option<NaiveDate> {
    (0..=MAX_YEARS)
        .filter_map(|years| holiday.date(from.year() + years))
        .find(|found| from <= *found)
}

/// Returns a day of a period; without a year or month, in the first such period where the day is not over.
fn date_in_period(
    period: &Period,
    today: NaiveDate,
    assumed: &mut Vec<String>,
    date: &dyn Fn(NaiveDate, NaiveDate) -> Option<NaiveDate>,
) -> Option<NaiveDate> {
    let month = |first: NaiveDate| date(first, last_of_month(first.year(), first.month())?);
    let months = |first: NaiveDate, count: u32| {
        let last = first.checked_add_months(Months::new(count - 1))?;
        date(first, last_of_month(last.year(), last.month())?)
    };
    let week = |weeks: i32, days: u64| {
        let start = add_days(monday_of_week(today)?, i64::from(weeks) * 7)?;
        date(start, start.checked_add_days(Days::new(days - 1))?)
    };
    match period {
        Period::Day(day) => {
            let day = resolve_day(day, today, assumed)?;
            date(day, day)
        }
        Period::Span(first, last) => {
            let first = resolve_day(first, today, assumed)?;
            date(first, resolve_day(last, today, assumed)?)
        }
        Period::Week(weeks) => week(*weeks, 7),
        Period::WorkWeek(weeks) => week(*weeks, 5),
        Period::Month(Month::Unsaid) => (0..MAX_MONTHS)
            .filter_map(|months| month(first_of_month(today, months)?))
            .find(|found| today <= *found),
        Period::Month(Month::Away(months)) => month(first_of_month(today, *months)?),
        Period::Month(Month::Named(named, year)) => {
            let year = match *year {
                Year::Beside(side) if *named == today.month() => Year::Away(side),
                year => year,
            };
            date_in_year(year, today, assumed, |year| {
                month(NaiveDate::from_ymd_opt(year, *named, 1)?)
            })
        }
        Period::Quarter(quarters) => {
            let this = today.with_day(1)?.with_month(today.month0() / 3 * 3 + 1)?;
            months(first_of_month(this, quarters.checked_mul(3)?)?, 3)
        }
        Period::Year(year) => date_in_year(*year, today, assumed, |year| {
            months(NaiveDate::from_ymd_opt(year, 1, 1)?, 12)
        }),
        Period::Part(nth, length, of) => date_in_period(of, today, assumed, &|start, end| {
            let from = if 0 < *nth { start } else { end.succ_opt()? };
            let skipped = i64::from(if 0 < *nth { nth - 1 } else { *nth });
            let first = add_duration(from, length.times(skipped)?)?;
            let last = add_duration(first, *length)?.pred_opt()?.min(end);
            (start <= first && first <= last).then(|| date(first, last))?
        }),
    }
}

fn nth_day_of_period(
    nth: i32,
    counted: CountedDays,
    start: NaiveDate,
    end: NaiveDate,
) -> Option<NaiveDate> {
    let found = match counted {
        CountedDays::Days if 0 < nth => add_days(start, i64::from(nth) - 1),
        CountedDays::Days => add_days(end, i64::from(nth) + 1),
        CountedDays::WorkingDays => {
            let before = if 0 < nth {
                start.pred_opt()
            } else {
                end.succ_opt()
            };
            add_duration(before?, CalendarDuration::in_working_days(nth.into()))
        }
        CountedDays::Weekdays(weekday) if start.day() == 1 && start.month() == end.month() => {
            nth_weekday(nth, weekday, start.year(), start.month())
        }
        CountedDays::Weekdays(weekday) if 0 < nth => {
            nth_weekday_from(nth, weekday, start.pred_opt()?)
        }
        CountedDays::Weekdays(weekday) => nth_weekday_from(nth, weekday, end.succ_opt()?),
    }?;
    (start <= found && found <= end).then_some(found)
}

fn period_edge_date(
    edge: PeriodEdge,
    period: &Period,
    start: NaiveDate,
    end: NaiveDate,
) -> Option<NaiveDate> {
    match (edge, period) {
        (PeriodEdge::Start, _) => Some(start),
        (PeriodEdge::End, _) => Some(end),
        // The middle of a month is the 15th, regardless of its length.
        (PeriodEdge::Middle, Period::Month(_)) => start.with_day(15),
        (PeriodEdge::Middle, Period::Year(_)) => start.with_month(7),
        (PeriodEdge::Middle, _) => add_days(start, end.signed_duration_since(start).num_days() / 2),
    }
}
