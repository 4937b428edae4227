//! Resolves a day expression to a date.

use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta, Weekday};

use super::super::holidays::{Holiday, last_of_month, nth_weekday};
use super::super::spoken::{Amount, Counted, Day, Edge, Month, Near, Period, Week, Year};

/// Number of years to search: two leap days are at most eight years apart.
const FURTHEST_YEAR: i32 = 8;

/// Number of months to search: a day of the month falls on any weekday long before.
const FURTHEST_MONTH: i32 = 60;

/// Returns the date of a day expression, relative to `today`.
pub(super) fn date_of(day: &Day, today: NaiveDate, assumed: &mut Vec<String>) -> Option<NaiveDate> {
    match day {
        Day::Now => Some(today),
        Day::Shifted(days) => shifted(today, *days),
        Day::Weekday(weekday, week) => of_week(*weekday, *week, today, assumed),
        // The day of this month matches even if it is over, because the next match may be months away.
        Day::WeekdayAndDate(weekday, date) => {
            (0..FURTHEST_MONTH).filter_map(|months| on(today, months, *date)).find(|found| found.weekday() == *weekday)
        }
        Day::Confirmed(weekday, day) => match &**day {
            Day::EitherWay(first, other) => {
                let named = [first, other].into_iter().filter_map(|day| date_of(day, today, &mut Vec::new()));
                named.into_iter().find(|date| date.weekday() == *weekday).or_else(|| date_of(day, today, assumed))
            }
            day => recently(*weekday, day, today).or_else(|| date_of(day, today, assumed)),
        },
        Day::Closest(nth, weekday, from) => closest(*nth, *weekday, date_of(from, today, assumed)?),
        Day::OfMonth(date, Month::Unsaid) => {
            let found = (0..12).filter_map(|months| on(today, months, *date)).find(|found| today <= *found)?;
            assumed.push(format!("No month given; assuming {found}, the next such day."));
            Some(found)
        }
        Day::OfMonth(date, Month::Away(months)) => on(today, *months, *date),
        Day::OfMonth(date, Month::Named(month, year)) => {
            in_year(*year, today, assumed, |year| NaiveDate::from_ymd_opt(year, *month, *date))
        }
        Day::EitherWay(first, other) => either_way(first, other, today, assumed),
        Day::Nth(nth, counted, period) => in_period(period, today, assumed, |start, end| nth_of(*nth, *counted, start, end)),
        Day::Feast(holiday, year) => in_year(*year, today, assumed, |year| holiday.date(year)),
        Day::FeastFrom(holiday, from) => feast_from(*holiday, date_of(from, today, assumed)?),
        Day::Away(amount, from) => moved(date_of(from, today, assumed)?, *amount),
        Day::WeekdaysAway(count, weekday, from) => weekdays_away(*count, *weekday, date_of(from, today, assumed)?),
        Day::WeekdayNear(weekday, from, near) => {
            let from = date_of(from, today, assumed)?;
            let start = match near {
                Near::SameWeek => monday(from)?,
                Near::FromThere => from,
            };
            shifted(start, i64::from(weekday.days_since(start.weekday())))
        }
        Day::Edge(edge, period) => in_period(period, today, assumed, |start, end| edge_of(*edge, period, start, end)),
    }
}

/// Resolves the first of two readings of a numeric date, and records the other one as an alternative.
fn either_way(first: &Day, other: &Day, today: NaiveDate, assumed: &mut Vec<String>) -> Option<NaiveDate> {
    let Some(found) = date_of(first, today, assumed) else { return date_of(other, today, assumed) };
    if let Some(other) = date_of(other, today, &mut Vec::new()) {
        assumed.push(format!("Assuming the month first, {found}; with the day first it is {other}."));
    }
    Some(found)
}

/// Returns a date plus `amount`. The day of the month is clamped to the length of the target month.
pub(super) fn moved(date: NaiveDate, amount: Amount) -> Option<NaiveDate> {
    let months = Months::new(u32::try_from(amount.months.unsigned_abs()).ok()?);
    let date = if amount.months < 0 { date.checked_sub_months(months) } else { date.checked_add_months(months) }?;
    let date = shifted(date, amount.days)?;
    let weeks = shifted(date, amount.working_days / 5 * 7)?;
    let (rest, step) = (amount.working_days % 5, amount.working_days.signum());
    let mut date = weeks;
    for _ in 0..rest.abs() {
        date = shifted(date, step)?;
        while matches!(date.weekday(), Weekday::Sat | Weekday::Sun) {
            date = shifted(date, step)?;
        }
    }
    Some(date)
}

fn shifted(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    date.checked_add_signed(TimeDelta::try_days(days)?)
}

fn monday(date: NaiveDate) -> Option<NaiveDate> {
    date.checked_sub_days(Days::new(u64::from(date.weekday().num_days_from_monday())))
}

fn of_week(weekday: Weekday, week: Week, today: NaiveDate, assumed: &mut Vec<String>) -> Option<NaiveDate> {
    let of = |weeks: i32| shifted(monday(today)?, i64::from(weeks) * 7 + i64::from(weekday.num_days_from_monday()));
    match week {
        Week::Of(weeks) => {
            let date = of(weeks)?;
            if weeks == 1 {
                assumed.push(format!("Weeks start on Monday; the day in next week is {date}."));
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
            weekdays_away(1, weekday, today)
        }
    }
}

fn weekdays_away(count: i32, weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let weeks = i64::from(count.unsigned_abs()).checked_sub(1)? * 7;
    let nearest = |days: u32| if days == 0 { 7 } else { i64::from(days) };
    if 0 < count {
        shifted(from, nearest(weekday.days_since(from.weekday())) + weeks)
    } else {
        shifted(from, -nearest(from.weekday().days_since(weekday)) - weeks)
    }
}

/// Returns the nth closest such weekday to a day.
fn closest(nth: i32, weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let after = i64::from(weekday.days_since(from.weekday()));
    let is_after_nearer = after <= 3;
    let nearest = if is_after_nearer { after } else { after - 7 };
    // The next ones alternate between both sides, starting with the side opposite to the nearest.
    let step = i64::from(nth / 2) * 7;
    let is_same_side = nth % 2 != 0;
    shifted(from, if is_same_side == is_after_nearer { nearest + step } else { nearest - step })
}

/// Returns a date of the last 31 days, given without a year, if its weekday confirms it.
fn recently(weekday: Weekday, day: &Day, today: NaiveDate) -> Option<NaiveDate> {
    let Day::OfMonth(date, Month::Named(month, Year::Unsaid)) = day else { return None };
    let found = NaiveDate::from_ymd_opt(today.year(), *month, *date)?;
    let days_ago = today.signed_duration_since(found).num_days();
    (found.weekday() == weekday && (0..=31).contains(&days_ago)).then_some(found)
}

/// Returns the first day of the month that is `months` away from the current one.
fn first_of_month(today: NaiveDate, months: i32) -> Option<NaiveDate> {
    let first = today.with_day(1)?;
    let distance = Months::new(months.unsigned_abs());
    if months < 0 { first.checked_sub_months(distance) } else { first.checked_add_months(distance) }
}

fn on(today: NaiveDate, months: i32, date: u32) -> Option<NaiveDate> {
    first_of_month(today, months)?.with_day(date)
}

/// Returns the date in a year; without a year, the first one that is not over.
fn in_year(
    year: Year,
    today: NaiveDate,
    assumed: &mut Vec<String>,
    date: impl Fn(i32) -> Option<NaiveDate>,
) -> Option<NaiveDate> {
    match year {
        Year::Exactly(year) => date(year),
        Year::Away(years) => date(today.year().checked_add(years)?),
        Year::Unsaid => {
            let found = (0..=FURTHEST_YEAR).filter_map(|years| date(today.year() + years)).find(|found| today <= *found)?;
            if found.year() != today.year() {
                assumed.push(format!("No year given; assuming {found}, the next such day."));
            }
            Some(found)
        }
    }
}

fn feast_from(holiday: Holiday, from: NaiveDate) -> Option<NaiveDate> {
    (0..=FURTHEST_YEAR).filter_map(|years| holiday.date(from.year() + years)).find(|found| from <= *found)
}

/// Returns a day of a period; without a year or month, in the first such period where the day is not over.
fn in_period(
    period: &Period,
    today: NaiveDate,
    assumed: &mut Vec<String>,
    date: impl Fn(NaiveDate, NaiveDate) -> Option<NaiveDate>,
) -> Option<NaiveDate> {
    let month = |first: NaiveDate| date(first, last_of_month(first.year(), first.month())?);
    let months = |first: NaiveDate, count: u32| {
        let last = first.checked_add_months(Months::new(count - 1))?;
        date(first, last_of_month(last.year(), last.month())?)
    };
    let week = |weeks: i32, days: u64| {
        let start = shifted(monday(today)?, i64::from(weeks) * 7)?;
        date(start, start.checked_add_days(Days::new(days - 1))?)
    };
    match period {
        Period::Day(day) => {
            let day = date_of(day, today, assumed)?;
            date(day, day)
        }
        Period::Week(weeks) => week(*weeks, 7),
        Period::WorkWeek(weeks) => week(*weeks, 5),
        Period::Month(Month::Unsaid) => {
            (0..FURTHEST_MONTH).filter_map(|months| month(first_of_month(today, months)?)).find(|found| today <= *found)
        }
        Period::Month(Month::Away(months)) => month(first_of_month(today, *months)?),
        Period::Month(Month::Named(named, year)) => {
            in_year(*year, today, assumed, |year| month(NaiveDate::from_ymd_opt(year, *named, 1)?))
        }
        Period::Quarter(quarters) => {
            let this = today.with_day(1)?.with_month(today.month0() / 3 * 3 + 1)?;
            months(first_of_month(this, quarters.checked_mul(3)?)?, 3)
        }
        Period::Year(year) => in_year(*year, today, assumed, |year| months(NaiveDate::from_ymd_opt(year, 1, 1)?, 12)),
    }
}

fn nth_of(nth: i32, counted: Counted, start: NaiveDate, end: NaiveDate) -> Option<NaiveDate> {
    let found = match counted {
        Counted::Days if 0 < nth => shifted(start, i64::from(nth) - 1),
        Counted::Days => shifted(end, i64::from(nth) + 1),
        Counted::WorkingDays => {
            let amount = Amount { working_days: i64::from(nth), ..Amount::default() };
            moved(if 0 < nth { start.pred_opt()? } else { end.succ_opt()? }, amount)
        }
        Counted::Weekdays(weekday) if start.day() == 1 && start.month() == end.month() => {
            nth_weekday(nth, weekday, start.year(), start.month())
        }
        Counted::Weekdays(weekday) if 0 < nth => weekdays_away(nth, weekday, start.pred_opt()?),
        Counted::Weekdays(weekday) => weekdays_away(nth, weekday, end.succ_opt()?),
    }?;
    (start <= found && found <= end).then_some(found)
}

fn edge_of(edge: Edge, period: &Period, start: NaiveDate, end: NaiveDate) -> Option<NaiveDate> {
    match (edge, period) {
        (Edge::Start, _) => Some(start),
        (Edge::End, _) => Some(end),
        // The middle of a month is the 15th, regardless of its length.
        (Edge::Middle, Period::Month(_)) => start.with_day(15),
        (Edge::Middle, Period::Year(_)) => start.with_month(7),
        (Edge::Middle, Period::Week(_) | Period::WorkWeek(_) | Period::Day(_) | Period::Quarter(_)) => {
            shifted(start, end.signed_duration_since(start).num_days() / 2)
        }
    }
}
