//! Finds the dates of a recurrence.

use chrono::{Datelike, Days, NaiveDate};

use super::day::{add_duration, first_of_month, monday_of_week, resolve_day};
use crate::datetime::duration::CalendarDuration;
use crate::datetime::syntax::DayExpression;

/// Maximum number of periods that are searched: leap days are up to eight years apart.
const MAX_PERIODS: i64 = 8 * 12;

/// The dates of a recurrence, in order.
#[derive(Debug)]
pub(super) struct RecurringDays<'d> {
    days: &'d [DayExpression],
    every: CalendarDuration,
    /// The dates are not before this one.
    from: NaiveDate,
    /// The first date, if the words name it with its year.
    start: Option<NaiveDate>,
}

impl<'d> RecurringDays<'d> {
    /// Returns the dates of `day` every so often, from `today` on.
    pub(super) fn new(
        day: &'d DayExpression,
        every: CalendarDuration,
        today: NaiveDate,
    ) -> Option<Self> {
        let days = if let DayExpression::AnyOf(days) = day {
            days
        } else {
            std::slice::from_ref(day)
        };
        let start = if day.is_exact() {
            Some(resolve_day(day, today, &mut Vec::new())?)
        } else {
            None
        };
        Some(Self {
            days,
            every,
            from: today,
            start,
        })
    }

    /// Returns the first date on or after `from`, without regard to the interval.
    fn first_from(&self, from: NaiveDate) -> Option<NaiveDate> {
        self.days
            .iter()
            .filter_map(|day| first_day_from(day, from))
            .min()
    }

    /// Returns the first day of the week or month that contains a date.
    fn period_start(&self, date: NaiveDate) -> Option<NaiveDate> {
        if self.every.months == 0 {
            monday_of_week(date)
        } else if self.every.months % 12 == 0 {
            NaiveDate::from_ymd_opt(date.year(), 1, 1)
        } else {
            first_of_month(date, 0)
        }
    }
}

impl Iterator for RecurringDays<'_> {
    type Item = NaiveDate;

    fn next(&mut self) -> Option<NaiveDate> {
        if let Some(start) = self.start {
            let next = next_in_series(start, self.every, self.from)?;
            self.from = next.succ_opt()?;
            return Some(next);
        }
        let next = self.first_from(self.from)?;
        let after = next.succ_opt()?;
        let period = self.period_start(next)?;
        let is_last_of_period = self
            .first_from(after)
            .and_then(|date| self.period_start(date))
            != Some(period);
        self.from = if is_last_of_period {
            add_duration(period, self.every)?.max(after)
        } else {
            after
        };
        Some(next)
    }
}

/// Returns the first such day on or after `from`.
fn first_day_from(day: &DayExpression, from: NaiveDate) -> Option<NaiveDate> {
    match day {
        DayExpression::Weekday(weekday, _) => {
            from.checked_add_days(Days::new(u64::from(weekday.days_since(from.weekday()))))
        }
        DayExpression::Away(amount, day) => add_duration(
            first_day_from(day, add_duration(from, amount.negated())?)?,
            *amount,
        ),
        day => {
            let step = day.natural_interval()?;
            (0..MAX_PERIODS)
                .filter_map(|periods| {
                    resolve_day(
                        day,
                        add_duration(from, step.times(periods)?)?,
                        &mut Vec::new(),
                    )
                })
                .find(|found| from <= *found)
        }
    }
}

/// Returns the first date on or after `from` of a series that starts at `start`.
fn next_in_series(start: NaiveDate, every: CalendarDuration, from: NaiveDate) -> Option<NaiveDate> {
    let distance = from.signed_duration_since(start).num_days().max(0);
    // A month has at most 31 days, and a working day at most a weekend after it.
    let length = (every.months * 31 + every.days + every.working_days * 3).max(1);
    (distance / length..)
        .map_while(|count| add_duration(start, every.times(count)?))
        .find(|date| from <= *date)
}
