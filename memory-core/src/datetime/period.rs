//! Periods with a start and an end, and the months and years that dates name.

use super::duration::CalendarDuration;
use super::syntax::DayExpression;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PeriodEdge {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Year {
    Unsaid,
    /// An offset in years from the current year.
    Away(i32),
    /// The last year before today (-1) or the first after it (1) that has the day or month.
    Beside(i32),
    Exactly(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Month {
    Unsaid,
    /// An offset in months from the current month.
    Away(i32),
    Named(u32, Year),
}

impl Month {
    pub(super) fn natural_interval(self) -> Option<CalendarDuration> {
        match self {
            Self::Unsaid | Self::Away(0) => Some(CalendarDuration::in_months(1)),
            Self::Named(_, Year::Unsaid) => Some(CalendarDuration::in_months(12)),
            Self::Away(_) | Self::Named(..) => None,
        }
    }

    pub(super) fn within(self, period: &Period) -> Option<Self> {
        match (self, period) {
            (Self::Unsaid, Period::Month(month)) => Some(*month),
            (Self::Named(month, Year::Unsaid), Period::Year(year)) => {
                Some(Self::Named(month, *year))
            }
            _ => None,
        }
    }
}

/// A period with a start and an end.
#[derive(Debug, Clone)]
pub(super) enum Period {
    Day(Box<DayExpression>),
    /// The days from one to another: "the weekend".
    Span(Box<DayExpression>, Box<DayExpression>),
    Week(i32),
    WorkWeek(i32),
    Month(Month),
    Quarter(i32),
    Year(Year),
    /// The nth part of a longer period, such as its last month; a negative number counts from its end.
    Part(i32, CalendarDuration, Box<Period>),
}

impl Period {
    pub(super) fn natural_interval(&self) -> Option<CalendarDuration> {
        match self {
            Self::Week(0) | Self::WorkWeek(0) => Some(CalendarDuration::in_days(7)),
            Self::Month(month) => month.natural_interval(),
            Self::Quarter(0) => Some(CalendarDuration::in_months(3)),
            Self::Year(Year::Unsaid | Year::Away(0)) => Some(CalendarDuration::in_months(12)),
            Self::Part(_, _, of) => of.natural_interval(),
            _ => None,
        }
    }

    /// Returns the nth part of a longer period, in whole months or days; a negative `nth` counts from its end.
    pub(super) fn nth_part(nth: i32, length: CalendarDuration, of: Self) -> Option<Self> {
        let months = match &of {
            Self::Month(_) => 1,
            Self::Quarter(_) => 3,
            Self::Year(_) => 12,
            Self::Part(_, length, _) => length.months,
            Self::Day(_) | Self::Span(..) | Self::Week(_) | Self::WorkWeek(_) => return None,
        };
        let in_months = length == CalendarDuration::in_months(length.months) && 0 < length.months;
        let is_inside = if in_months {
            i64::from(nth.abs()).checked_mul(length.months)? <= months
        } else {
            length == CalendarDuration::in_days(length.days) && 1 < length.days
        };
        (nth != 0 && is_inside).then(|| Self::Part(nth, length, Box::new(of)))
    }

    /// Returns whether the period contains today.
    pub(super) fn is_current(&self) -> bool {
        matches!(
            self,
            Self::Week(0)
                | Self::Month(Month::Away(0))
                | Self::Quarter(0)
                | Self::Year(Year::Away(0))
        )
    }

    /// Returns the period that other words name: "March" for "the month", "2026" for "the year".
    pub(super) fn within(&self, outer: &Self) -> Option<Self> {
        match (self, outer) {
            (Self::Month(Month::Away(0)), Self::Month(_))
            | (Self::Year(Year::Away(0) | Year::Unsaid), Self::Year(_))
            | (Self::Week(0), Self::Week(_))
            | (Self::Quarter(0), Self::Quarter(_)) => Some(outer.clone()),
            (Self::Month(month), _) => month.within(outer).map(Self::Month),
            (Self::Part(nth, length, of), _) => {
                Some(Self::Part(*nth, *length, Box::new(of.within(outer)?)))
            }
            _ => None,
        }
    }
}
