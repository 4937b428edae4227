//! The syntax tree of date and time expressions, which both grammars produce.

use std::ops::Range;

use chrono::{Datelike, NaiveDate, Weekday};

use super::duration::CalendarDuration;
use super::holidays::Holiday;
use super::period::{Month, Period, PeriodEdge, Year};
use super::time_of_day::{DayPart, TimeOfDay};
use super::zones::NamedOffset;

/// One expression, before it is resolved.
#[derive(Debug, Clone, Default)]
pub(super) struct DateExpression {
    pub(super) day: Option<DayExpression>,
    pub(super) clock: Option<TimeOfDay>,
    pub(super) part: Option<DayPart>,
    /// The time zone that the text names.
    pub(super) zone: Option<NamedOffset>,
    /// The interval of a recurrence.
    pub(super) every: Option<CalendarDuration>,
    /// The day from which it recurs, with the tokens of the words that name it.
    pub(super) from: Option<(DayExpression, Range<usize>)>,
    /// The usual part of the day of the activity, such as the evening for dinner.
    pub(super) custom: Option<DayPart>,
    /// Whether the time is the current time of day ("this time tomorrow").
    pub(super) is_same_time: bool,
    /// Offset before the given time in seconds, negative for after it ("an hour before 3pm tomorrow").
    pub(super) ahead: i64,
    /// Whether the expression denotes a longer period, of which only the start can be returned.
    pub(super) is_vague: bool,
    /// The end of a range that starts with this expression; without a day and a time, its length is `-ahead`.
    pub(super) end: Option<Box<DateExpression>>,
    /// The tokens of a time that no clock shows, such as "25:00".
    pub(super) impossible: Option<Range<usize>>,
}

impl From<DayExpression> for DateExpression {
    fn from(day: DayExpression) -> Self {
        Self {
            day: Some(day),
            ..Self::default()
        }
    }
}

impl From<TimeOfDay> for DateExpression {
    fn from(clock: TimeOfDay) -> Self {
        Self {
            clock: Some(clock),
            ..Self::default()
        }
    }
}

impl DateExpression {
    /// Adds an amount to the time, and returns whether that is possible: a recurrence or a range has no single time.
    ///
    /// Days and longer units keep the hour. Hours are added to the current hour of a day that is named relative to today.
    pub(super) fn add(&mut self, amount: CalendarDuration) -> bool {
        let is_timed = self.clock.is_some() || self.part.is_some();
        let is_single = self.every.is_none() && self.end.is_none() && self.impossible.is_none();
        if !is_single || self.day.is_none() && !is_timed {
            return false;
        }
        let today = || Box::new(DayExpression::Shifted(0));
        let instant = match &self.day {
            Some(DayExpression::Now) => Some(CalendarDuration::default()),
            Some(DayExpression::Away(own, _)) if own.is_exact => Some(*own),
            _ => None,
        };
        if let Some(own) = instant {
            let Some(total) = own.plus(amount) else {
                return false;
            };
            self.day = Some(DayExpression::Away(total, today()));
            self.is_same_time = !total.is_exact;
            return true;
        }
        let days = CalendarDuration {
            seconds: 0,
            is_exact: false,
            ..amount
        };
        let is_relative = match &self.day {
            Some(DayExpression::Away(_, from)) => matches!(**from, DayExpression::Shifted(_)),
            day => matches!(day, Some(DayExpression::Shifted(_))),
        };
        self.is_same_time |= amount.is_exact && is_relative && !is_timed;
        if !days.is_zero() {
            let day = self.day.take().map_or_else(today, Box::new);
            self.day = Some(DayExpression::Away(days, day));
        }
        self.ahead -= amount.seconds;
        self.is_vague = false;
        true
    }

    /// Sets the day, with what else its words name.
    pub(super) fn set_day(&mut self, named: DayPhrase) {
        self.day = Some(named.day);
        self.part = self.part.or(named.part);
        self.is_vague = named.is_vague;
        self.end = named.end.map(|day| Box::new(day.into()));
    }

    /// Returns whether there is a day for which `is` holds.
    pub(super) fn has_day(&self, is: impl FnOnce(&DayExpression) -> bool) -> bool {
        self.day.as_ref().is_some_and(is)
    }

    /// Returns whether the expression is now or an offset in hours or less, so that it accepts no time.
    pub(super) fn is_instant(&self) -> bool {
        matches!(&self.day, Some(DayExpression::Now))
            || matches!(&self.day, Some(DayExpression::Away(amount, _)) if amount.is_exact)
            || self.every.is_some_and(|every| every.is_exact)
    }
}

/// A day expression, with the time and the recurrence that its words imply.
#[derive(Debug, Clone)]
pub(super) struct DayPhrase {
    pub(super) day: DayExpression,
    pub(super) part: Option<DayPart>,
    pub(super) clock: Option<TimeOfDay>,
    pub(super) every: Option<CalendarDuration>,
    pub(super) is_vague: bool,
    /// The last day of a span.
    pub(super) end: Option<DayExpression>,
}

impl From<DayExpression> for DayPhrase {
    fn from(day: DayExpression) -> Self {
        Self {
            day,
            part: None,
            clock: None,
            every: None,
            is_vague: false,
            end: None,
        }
    }
}

/// A recurrence, with the days and the part of the day that its words name.
#[derive(Debug, Clone)]
pub(super) struct RecurrencePhrase {
    pub(super) every: CalendarDuration,
    pub(super) day: Option<DayExpression>,
    pub(super) part: Option<DayPart>,
}

impl RecurrencePhrase {
    pub(super) fn interval(every: CalendarDuration) -> Self {
        Self {
            every,
            day: None,
            part: None,
        }
    }

    pub(super) fn daily(part: Option<DayPart>) -> Self {
        Self {
            part,
            ..Self::interval(CalendarDuration::in_days(1))
        }
    }

    /// Returns the recurrence of `day` at `count` times its natural interval.
    pub(super) fn on(day: DayExpression, count: i64) -> Option<Self> {
        Some(Self {
            every: day.natural_interval()?.times(count)?,
            day: Some(day),
            part: None,
        })
    }
}

/// A day expression.
#[derive(Debug, Clone)]
pub(super) enum DayExpression {
    /// The current moment.
    Now,
    /// An offset in days from today.
    Shifted(i64),
    /// A weekday.
    Weekday(Weekday, Week),
    /// "Friday the 22nd".
    WeekdayAndDate(Weekday, u32),
    /// "The 22nd", "the 22nd of next month".
    OfMonth(u32, Month),
    /// "2/3": a day and a month in either order; the first reading is preferred.
    EitherWay(Box<DayExpression>, Box<DayExpression>),
    /// "The second Monday of May", "the fifth last day of May"; a negative number counts from the end.
    Nth(i32, CountedDays, Period),
    /// A holiday.
    Feast(Holiday, Year),
    /// The first such holiday on or after another day.
    FeastFrom(Holiday, Box<DayExpression>),
    /// An offset from another day, or from now.
    Away(CalendarDuration, Box<DayExpression>),
    /// The nth weekday after another day, or before it if negative.
    WeekdaysAway(i32, Weekday, Box<DayExpression>),
    /// A weekday relative to another day: in its week, or the first one on or after it.
    WeekdayNear(Weekday, Box<DayExpression>, WeekdayAnchor),
    /// A date with a redundant weekday.
    Confirmed(Weekday, Box<DayExpression>),
    /// The nth closest such weekday to another day.
    Closest(i32, Weekday, Box<DayExpression>),
    /// The first, middle or last day of a period.
    Edge(PeriodEdge, Period),
    /// The days of a recurrence: "Monday, Wednesday and Friday".
    AnyOf(Vec<DayExpression>),
}

impl DayExpression {
    pub(super) fn on(date: NaiveDate) -> Self {
        Self::OfMonth(
            date.day(),
            Month::Named(date.month(), Year::Exactly(date.year())),
        )
    }

    /// Returns the day at an offset from today or, if it is in hours or smaller units, from now.
    pub(super) fn from_now(amount: CalendarDuration) -> Self {
        Self::Away(amount, Box::new(Self::Shifted(0)))
    }

    /// Returns the nth such weekday after today, or before it if negative.
    pub(super) fn weekdays_from_today(count: i32, weekday: Weekday) -> Self {
        Self::WeekdaysAway(count, weekday, Box::new(Self::Shifted(0)))
    }

    /// Returns the last such holiday before today.
    pub(super) fn last_feast(holiday: Holiday) -> Self {
        let year_ago = Self::from_now(CalendarDuration::in_months(-12));
        Self::FeastFrom(holiday, Box::new(year_ago))
    }

    /// Returns the date with the weekday that its words name.
    pub(super) fn on_weekday(self, weekday: Weekday) -> Self {
        Self::Confirmed(weekday, Box::new(self))
    }

    /// Returns the only day, or any day of a list.
    pub(super) fn one_or_any(mut days: Vec<Self>) -> Self {
        if days.len() == 1 {
            days.remove(0)
        } else {
            Self::AnyOf(days)
        }
    }

    /// Returns Monday to Friday.
    pub(super) fn working_days() -> Self {
        Self::weekdays_between(Weekday::Mon, Weekday::Fri)
    }

    pub(super) fn weekdays_between(first: Weekday, last: Weekday) -> Self {
        let mut days = vec![Self::Weekday(first, Week::Coming)];
        let mut weekday = first;
        while weekday != last {
            weekday = weekday.succ();
            days.push(Self::Weekday(weekday, Week::Coming));
        }
        Self::AnyOf(days)
    }

    /// Returns whether the day or one of the days is a date whose month could also be its day.
    pub(super) fn is_in_either_order(&self) -> bool {
        match self {
            Self::EitherWay(..) => true,
            Self::AnyOf(days) => days.iter().any(Self::is_in_either_order),
            _ => false,
        }
    }

    /// Returns the interval at which the day comes again; `None` if the words name a single day.
    pub(super) fn natural_interval(&self) -> Option<CalendarDuration> {
        match self {
            Self::Weekday(_, Week::Coming | Week::This) => Some(CalendarDuration::in_days(7)),
            Self::WeekdayAndDate(..) => Some(CalendarDuration::in_months(1)),
            Self::OfMonth(_, month) => month.natural_interval(),
            Self::Feast(_, Year::Unsaid) => Some(CalendarDuration::in_months(12)),
            Self::Nth(_, _, period) | Self::Edge(_, period) => period.natural_interval(),
            Self::EitherWay(day, _) | Self::Confirmed(_, day) | Self::Away(_, day) => {
                day.natural_interval()
            }
            Self::AnyOf(days) => days.first()?.natural_interval(),
            _ => None,
        }
    }

    /// Returns whether the day can recur at this interval: a weekday every few weeks, a date every few months.
    pub(super) fn recurs_every(&self, every: CalendarDuration) -> bool {
        let is_whole = |all: i64, part: i64| 0 < part && part <= all && all % part == 0;
        match self.natural_interval() {
            Some(own) => is_whole(every.months, own.months) || is_whole(every.days, own.days),
            None => self.is_exact() && !every.is_exact,
        }
    }

    /// Returns whether these are weekdays that come several times in each interval of months, of which the first is meant.
    pub(super) fn recurs_within(&self, every: CalendarDuration) -> bool {
        let is_weekday = |day: &Self| matches!(day, Self::Weekday(_, Week::Coming | Week::This));
        let are_weekdays = match self {
            Self::AnyOf(days) => days.iter().all(is_weekday),
            day => is_weekday(day),
        };
        are_weekdays && 0 < every.months && every.months % 12 != 0
    }

    /// Returns the first of each of these weekdays in a month.
    pub(super) fn first_in_month(&self) -> Self {
        match self {
            Self::AnyOf(days) => Self::AnyOf(days.iter().map(Self::first_in_month).collect()),
            Self::Weekday(weekday, _) => Self::Nth(
                1,
                CountedDays::Weekdays(*weekday),
                Period::Month(Month::Unsaid),
            ),
            day => day.clone(),
        }
    }

    /// Returns whether these are months, of which the first days are meant.
    pub(super) fn is_whole_month(&self) -> bool {
        match self {
            Self::Edge(PeriodEdge::Start, Period::Month(Month::Named(..))) => true,
            Self::AnyOf(days) => days.iter().all(Self::is_whole_month),
            _ => false,
        }
    }

    /// Returns whether the words name a day of a month of a year, in an order that is certain.
    pub(super) fn is_full_date(&self) -> bool {
        match self {
            Self::OfMonth(_, Month::Named(_, Year::Exactly(_))) => true,
            Self::Confirmed(_, day) => day.is_full_date(),
            _ => false,
        }
    }

    /// Returns whether the words name a single day: a date with its year, "tomorrow".
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Shifted(_) | Self::OfMonth(_, Month::Named(_, Year::Exactly(_))) => true,
            Self::Confirmed(_, day) | Self::EitherWay(day, _) => day.is_exact(),
            _ => false,
        }
    }

    /// Returns the day within a period that other words name: "the 3rd" of "next month".
    pub(super) fn within(&self, period: &Period) -> Option<Self> {
        let inside = |day: &Self| day.within(period).map(Box::new);
        Some(match (self, period) {
            (Self::Weekday(weekday, Week::Coming), Period::Week(weeks)) => {
                Self::Weekday(*weekday, Week::Of(*weeks))
            }
            (Self::WeekdayAndDate(weekday, date), Period::Month(month)) => {
                Self::Confirmed(*weekday, Box::new(Self::OfMonth(*date, *month)))
            }
            (Self::OfMonth(date, Month::Unsaid), Period::Part(_, length, _))
                if *length == CalendarDuration::in_months(1) =>
            {
                Self::Nth(
                    i32::try_from(*date).ok()?,
                    CountedDays::Days,
                    period.clone(),
                )
            }
            (Self::OfMonth(date, month), period) => Self::OfMonth(*date, month.within(period)?),
            (Self::Nth(nth, counted, own), period) => {
                Self::Nth(*nth, *counted, own.within(period)?)
            }
            (Self::Edge(edge, own), period) => Self::Edge(*edge, own.within(period)?),
            (Self::Feast(holiday, Year::Unsaid), Period::Year(year)) => {
                Self::Feast(*holiday, *year)
            }
            (Self::Confirmed(weekday, day), _) => Self::Confirmed(*weekday, inside(day)?),
            (Self::EitherWay(first, other), _) => Self::EitherWay(inside(first)?, inside(other)?),
            _ => return None,
        })
    }
}

impl DayPhrase {
    /// Returns the start of a longer period.
    pub(super) fn vague(day: DayExpression) -> Self {
        Self {
            is_vague: true,
            ..day.into()
        }
    }

    /// Returns the first day of a period.
    pub(super) fn start_of(period: Period) -> Self {
        Self::vague(DayExpression::Edge(PeriodEdge::Start, period))
    }

    /// Returns a part of a day.
    pub(super) fn in_part(day: DayExpression, part: DayPart) -> Self {
        Self {
            part: Some(part),
            ..day.into()
        }
    }

    pub(super) fn span(first: DayExpression, last: DayExpression) -> Self {
        Self {
            is_vague: true,
            end: Some(last),
            ..first.into()
        }
    }

    /// Returns the days `first` to `last` of a period; negative numbers count from its end.
    pub(super) fn days_of(first: i32, last: i32, period: &Period) -> Self {
        let day = |nth| DayExpression::Nth(nth, CountedDays::Days, period.clone());
        Self::span(day(first), day(last))
    }

    /// Returns the span of a period.
    pub(super) fn whole(period: Period) -> Self {
        let first = DayExpression::Edge(PeriodEdge::Start, period.clone());
        Self::span(first, DayExpression::Edge(PeriodEdge::End, period))
    }

    /// Returns the span of `length` until or from today or, if it is in hours or smaller units, now.
    pub(super) fn beside_now(length: CalendarDuration, is_to_come: bool) -> Self {
        let now = if length.is_exact {
            DayExpression::Now
        } else {
            DayExpression::Shifted(0)
        };
        let away = DayExpression::from_now;
        let (first, last) = if is_to_come {
            (now, away(length))
        } else {
            (away(length.negated()), now)
        };
        Self {
            is_vague: false,
            ..Self::span(first, last)
        }
    }

    /// Returns the phrase with another day.
    fn on(&self, day: DayExpression) -> Self {
        Self {
            day,
            ..self.clone()
        }
    }

    /// Returns the one day that two adjacent phrases name: a period and a day in it, or a day and its weekday.
    pub(super) fn combine(&self, next: &Self) -> Option<Self> {
        let narrowed = |whole: &Self, part: &Self| match &whole.day {
            DayExpression::Edge(PeriodEdge::Start, period) if whole.is_vague => {
                Some(part.on(part.day.within(period)?))
            }
            _ => None,
        };
        // "In two months" and "on the 15th" are a day of that month.
        let counted = |whole: &Self, part: &Self| match &whole.day {
            DayExpression::Away(amount, from)
                if *amount == CalendarDuration::in_months(amount.months)
                    && matches!(**from, DayExpression::Shifted(0)) =>
            {
                let months = i32::try_from(amount.months).ok()?;
                Some(part.on(part.day.within(&Period::Month(Month::Away(months)))?))
            }
            _ => None,
        };
        let confirmed = |weekday: &Self, date: &Self| {
            let DayExpression::Weekday(weekday, Week::Coming | Week::This) = weekday.day else {
                return None;
            };
            let is_date = match &date.day {
                // Other numbers of days name a day, and whole weeks name a week.
                DayExpression::Away(amount, _) => {
                    *amount == CalendarDuration::in_days(amount.days) && amount.days % 7 != 0
                }
                DayExpression::OfMonth(..)
                | DayExpression::EitherWay(..)
                | DayExpression::Shifted(_)
                | DayExpression::Feast(..) => true,
                _ => false,
            };
            is_date.then(|| date.on(date.day.clone().on_weekday(weekday)))
        };
        let is_plain = |phrase: &Self| phrase.clock.is_none() && phrase.every.is_none();
        (is_plain(self) && is_plain(next)).then_some(())?;
        narrowed(self, next)
            .or_else(|| narrowed(next, self))
            .or_else(|| counted(self, next))
            .or_else(|| confirmed(next, self))
            .or_else(|| confirmed(self, next))
    }
}

/// The week of a weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Week {
    /// The next such weekday after today.
    Coming,
    /// In the current week, or in the next one if it is over.
    This,
    /// An offset in weeks from the current week.
    Of(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeekdayAnchor {
    SameWeek,
    FromThere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedDays {
    Days,
    WorkingDays,
    Weekdays(Weekday),
}
