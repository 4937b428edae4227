//! The syntax tree of date and time expressions, which both grammars produce.

use std::ops::Range;

use chrono::{Datelike, NaiveDate, Weekday};

use super::holidays::Holiday;
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
    /// Returns a day, as the end of a range.
    pub(super) fn boxed_day(day: DayExpression) -> Box<Self> {
        Box::new(day.into())
    }

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
        self.end = named.end.map(Self::boxed_day);
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
    fn natural_interval(self) -> Option<CalendarDuration> {
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
    fn natural_interval(&self) -> Option<CalendarDuration> {
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
    fn within(&self, outer: &Self) -> Option<Self> {
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

/// A duration. Its components are added in order, the largest unit first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CalendarDuration {
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) working_days: i64,
    pub(super) seconds: i64,
    /// Whether the duration is given in hours or smaller units.
    pub(super) is_exact: bool,
}

impl CalendarDuration {
    pub(super) fn in_days(days: i64) -> Self {
        Self {
            days,
            ..Self::default()
        }
    }

    pub(super) fn in_months(months: i64) -> Self {
        Self {
            months,
            ..Self::default()
        }
    }

    pub(super) fn in_working_days(working_days: i64) -> Self {
        Self {
            working_days,
            ..Self::default()
        }
    }

    pub(super) fn in_seconds(seconds: i64) -> Self {
        Self {
            seconds,
            is_exact: true,
            ..Self::default()
        }
    }

    pub(super) fn is_zero(self) -> bool {
        let exactness = Self {
            is_exact: self.is_exact,
            ..Self::default()
        };
        self == exactness
    }

    pub(super) fn times(self, count: i64) -> Option<Self> {
        Some(Self {
            months: self.months.checked_mul(count)?,
            days: self.days.checked_mul(count)?,
            working_days: self.working_days.checked_mul(count)?,
            seconds: self.seconds.checked_mul(count)?,
            ..self
        })
    }

    pub(super) fn negated(self) -> Self {
        // `TimeUnit::amount` bounds all components, so that the negation cannot overflow.
        Self {
            months: -self.months,
            days: -self.days,
            working_days: -self.working_days,
            seconds: -self.seconds,
            ..self
        }
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            working_days: self.working_days.checked_add(other.working_days)?,
            seconds: self.seconds.checked_add(other.seconds)?,
            is_exact: self.is_exact || other.is_exact,
        })
    }
}

/// A unit of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    WorkingDay,
    Week,
    Month,
    Quarter,
    Year,
}

/// A quantity, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) over: i64,
    pub(super) under: i64,
}

impl Quantity {
    pub(super) fn whole(count: u64) -> Option<Self> {
        Some(Self {
            over: i64::try_from(count).ok()?,
            under: 1,
        })
    }

    /// Returns the quantity plus one half.
    pub(super) fn plus_half(self) -> Option<Self> {
        Some(Self {
            over: self.over.checked_mul(2)?.checked_add(self.under)?,
            under: self.under.checked_mul(2)?,
        })
    }
}

/// Maximum duration in days; anything longer leads out of the supported years.
const MAX_DAYS: i64 = 10_000 * 366;

impl TimeUnit {
    /// Returns the duration of `quantity` units; `None` if it exceeds the supported range.
    pub(super) fn duration(self, quantity: Quantity) -> Option<CalendarDuration> {
        let Quantity { over, under } = quantity;
        let share = |of: i64| Some(over.checked_mul(of)? / under);
        let exact = |seconds| share(seconds).map(CalendarDuration::in_seconds);
        let days = |days| share(days).map(CalendarDuration::in_days);
        let months = |of: i64| {
            let total = over.checked_mul(of)?;
            let rest = total % under;
            Some(CalendarDuration {
                months: total / under,
                days: rest * 30 / under,
                ..CalendarDuration::default()
            })
        };
        let amount = match self {
            Self::Second => exact(1),
            Self::Minute => exact(60),
            Self::Hour => exact(3600),
            Self::Day if over % under != 0 => exact(86_400),
            Self::Day => days(1),
            Self::WorkingDay => share(1).map(CalendarDuration::in_working_days),
            Self::Week => days(7),
            Self::Month => months(1),
            Self::Quarter => months(3),
            Self::Year => months(12),
        }?;
        let is_bounded = amount.months.abs() <= MAX_DAYS / 30
            && amount.days.abs() <= MAX_DAYS
            && amount.working_days.abs() <= MAX_DAYS
            && amount.seconds.abs() <= MAX_DAYS * 86_400;
        is_bounded.then_some(amount)
    }
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeOfDay {
    /// 0 to 24; 24 is the end of the day.
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// Whether the half of the day is unambiguous.
    pub(super) is_sure: bool,
}

impl TimeOfDay {
    pub(super) const NOON: Self = Self::unambiguous(12, 0);
    pub(super) const MIDNIGHT: Self = Self::unambiguous(0, 0);
    pub(super) const LAST_SECOND: Self = Self {
        hour: 23,
        minute: 59,
        second: 59,
        is_sure: true,
    };

    pub(super) const fn unambiguous(hour: u32, minute: u32) -> Self {
        Self {
            hour,
            minute,
            second: 0,
            is_sure: true,
        }
    }

    /// Returns the time on a clock face; `None` if it is out of range.
    pub(super) fn from_clock_face(hour: u64, minute: u64, second: u64) -> Option<Self> {
        let (hour, minute) = (u32::try_from(hour).ok()?, u32::try_from(minute).ok()?);
        let second = u32::try_from(second).ok()?;
        let is_time =
            hour < 24 && minute < 60 && second < 60 || hour == 24 && minute == 0 && second == 0;
        let is_sure = hour == 0 || 12 < hour;
        is_time.then_some(Self {
            hour,
            minute,
            second,
            is_sure,
        })
    }

    /// Returns the full hour on a clock face; `None` if it is out of range.
    pub(super) fn from_hour(hour: u64) -> Option<Self> {
        Self::from_clock_face(hour, 0, 0)
    }

    /// Returns the time in a half of the day, if the text names one.
    pub(super) fn in_any_half(self, half: Option<HalfDay>) -> Option<Self> {
        half.map_or(Some(self), |half| self.in_half(half))
    }

    /// Returns the time on a clock of 24 hours.
    pub(super) fn sure(self) -> Self {
        Self {
            is_sure: true,
            ..self
        }
    }

    pub(super) fn in_half(self, half: HalfDay) -> Option<Self> {
        let hour = match half {
            HalfDay::Before if self.hour == 12 => 0,
            HalfDay::Before if self.hour < 12 => self.hour,
            HalfDay::After if self.hour < 12 => self.hour + 12,
            HalfDay::After if self.hour == 12 => self.hour,
            HalfDay::Before | HalfDay::After => return None,
        };
        Some(Self {
            hour,
            is_sure: true,
            ..self
        })
    }

    pub(super) fn in_both_halves(self) -> [Option<Self>; 2] {
        [HalfDay::Before, HalfDay::After].map(|half| self.in_half(half))
    }

    /// Returns the time plus `minutes`, which may be negative, modulo one day.
    pub(super) fn plus_minutes(self, minutes: i32) -> Option<Self> {
        let total = i32::try_from(self.hour * 60 + self.minute).ok()? + minutes;
        let face = if self.is_sure { 24 * 60 } else { 12 * 60 };
        let total = u32::try_from(total.rem_euclid(face)).ok()?;
        let hour = if self.is_sure || 60 <= total {
            total / 60
        } else {
            12
        };
        Some(Self {
            hour,
            minute: total % 60,
            ..self
        })
    }
}

/// The half of the day: before or after noon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HalfDay {
    Before,
    After,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DayPart {
    /// Between midnight and dawn.
    SmallHours,
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
    /// Around a meal or bedtime, with its usual hour.
    Around(u32),
}

impl DayPart {
    /// Returns whether no time is in both parts of the day.
    pub(super) fn contradicts(self, other: Self) -> bool {
        let is_late = |part| matches!(part, Self::Afternoon | Self::Evening | Self::Night);
        self == Self::Morning && is_late(other) || other == Self::Morning && is_late(self)
    }
}
