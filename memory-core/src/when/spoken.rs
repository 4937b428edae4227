//! What was said about time, before anybody asks what it means now: the language that both grammars translate into.

use chrono::Weekday;

use super::holidays::Holiday;

/// One expression.
#[derive(Debug, Clone, Default)]
pub(super) struct Spoken {
    pub(super) day: Option<Day>,
    pub(super) clock: Option<Clock>,
    pub(super) part: Option<Part>,
    /// Seconds east of Greenwich, where a zone was named.
    pub(super) zone: Option<i32>,
    pub(super) repeats: bool,
    /// The part of the day in which what the text is about is done, as dinner is.
    pub(super) custom: Option<Part>,
    /// Whether the time of day is the one that it is now ("this time tomorrow").
    pub(super) is_same_time: bool,
    /// How long before that is meant, or after it where negative, in seconds ("an hour before 3pm tomorrow").
    pub(super) ahead: i64,
    /// Whether only the beginning of something longer can be given.
    pub(super) is_vague: bool,
}

impl Spoken {
    /// Returns whether it is a distance of hours or less from now, or now itself, so that no time can be said with it.
    pub(super) fn is_instant(&self) -> bool {
        matches!(&self.day, Some(Day::Now)) || matches!(&self.day, Some(Day::Away(amount, _)) if amount.is_exact)
    }
}

/// What names a day.
#[derive(Debug, Clone)]
pub(super) enum Day {
    /// This very moment.
    Now,
    /// So many days from today.
    Shifted(i64),
    /// A day of the week.
    Weekday(Weekday, Week),
    /// "Friday the 22nd".
    WeekdayAndDate(Weekday, u32),
    /// "The 22nd", "the 22nd of next month".
    OfMonth(u32, Month),
    /// "2/3": a day and a month, read as the first of the two where it may be either.
    EitherWay(Box<Day>, Box<Day>),
    /// "The second Monday of May", "the fifth last day of May"; the number counts from the end where it is negative.
    Nth(i32, Counted, Period),
    /// A feast.
    Feast(Holiday, Year),
    /// The first feast of the name from another day on.
    FeastFrom(Holiday, Box<Day>),
    /// A distance from another day, or from now.
    Away(Amount, Box<Day>),
    /// The so-manieth weekday after another day, or before it.
    WeekdaysAway(i32, Weekday, Box<Day>),
    /// The weekday that goes with another day: of its week, or the first from it on.
    WeekdayNear(Weekday, Box<Day>, Near),
    /// A day that is said to be such a weekday.
    Confirmed(Weekday, Box<Day>),
    /// The so-manieth of the weekdays around another day, the nearest first.
    Closest(i32, Weekday, Box<Day>),
    /// The first, middle or last day.
    Edge(Edge, Period),
}

/// Which day of the week is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Week {
    /// The next one after today.
    Coming,
    /// The one of this week, or else the next.
    This,
    /// The one so many weeks from this.
    Of(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Near {
    SameWeek,
    FromThere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Days,
    WorkingDays,
    Weekdays(Weekday),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Year {
    Unsaid,
    /// So many years from this.
    Away(i32),
    Exactly(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Month {
    Unsaid,
    /// So many months from this.
    Away(i32),
    Named(u32, Year),
}

/// What has a beginning and an end.
#[derive(Debug, Clone)]
pub(super) enum Period {
    Day(Box<Day>),
    Week(i32),
    WorkWeek(i32),
    Month(Month),
    Quarter(i32),
    Year(Year),
}

/// A distance; the parts are added one after the other, the greatest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) working_days: i64,
    pub(super) seconds: i64,
    /// Whether it is said in hours or less.
    pub(super) is_exact: bool,
}

impl Amount {
    pub(super) fn negated(self) -> Self {
        // Amounts are bounded by `Unit::amount`, so that nothing here can be the least of all numbers.
        Self { months: -self.months, days: -self.days, working_days: -self.working_days, seconds: -self.seconds, ..self }
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

/// What distances are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
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

/// How many, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) over: i64,
    pub(super) under: i64,
}

impl Quantity {
    pub(super) fn whole(count: u64) -> Option<Self> {
        Some(Self { over: i64::try_from(count).ok()?, under: 1 })
    }

    /// Returns it and a half more.
    pub(super) fn and_a_half(self) -> Option<Self> {
        Some(Self { over: self.over.checked_mul(2)?.checked_add(self.under)?, under: self.under.checked_mul(2)? })
    }
}

/// No distance of more days than this leads to a year that we can name.
const MOST_DAYS: i64 = 10_000 * 366;

impl Unit {
    /// Returns so many of it; `None` where that leads out of all years.
    pub(super) fn amount(self, quantity: Quantity) -> Option<Amount> {
        let Quantity { over, under } = quantity;
        let share = |of: i64| Some(over.checked_mul(of)? / under);
        let exact = |seconds: Option<i64>| Some(Amount { seconds: seconds?, is_exact: true, ..Amount::default() });
        let days = |days: Option<i64>| Some(Amount { days: days?, ..Amount::default() });
        let months = |of: i64| {
            let total = over.checked_mul(of)?;
            let rest = total % under;
            Some(Amount { months: total / under, days: rest * 30 / under, ..Amount::default() })
        };
        let amount = match self {
            Self::Second => exact(share(1)),
            Self::Minute => exact(share(60)),
            Self::Hour => exact(share(3600)),
            Self::Day if over % under != 0 => exact(share(86_400)),
            Self::Day => days(share(1)),
            Self::WorkingDay => Some(Amount { working_days: share(1)?, ..Amount::default() }),
            Self::Week => days(share(7)),
            Self::Month => months(1),
            Self::Quarter => months(3),
            Self::Year => months(12),
        }?;
        let is_bounded = amount.months.abs() <= MOST_DAYS / 30
            && amount.days.abs() <= MOST_DAYS
            && amount.working_days.abs() <= MOST_DAYS
            && amount.seconds.abs() <= MOST_DAYS * 86_400;
        is_bounded.then_some(amount)
    }
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// 0 to 24; 24 is the end of the day.
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// Whether the half of the day is known.
    pub(super) is_sure: bool,
}

impl Clock {
    pub(super) const NOON: Self = Self::sure(12, 0);
    pub(super) const MIDNIGHT: Self = Self::sure(0, 0);
    pub(super) const LAST_SECOND: Self = Self { hour: 23, minute: 59, second: 59, is_sure: true };

    pub(super) const fn sure(hour: u32, minute: u32) -> Self {
        Self { hour, minute, second: 0, is_sure: true }
    }

    /// Returns the time that a clock face shows; `None` where none does.
    pub(super) fn shown(hour: u64, minute: u64, second: u64) -> Option<Self> {
        let (hour, minute) = (u32::try_from(hour).ok()?, u32::try_from(minute).ok()?);
        let second = u32::try_from(second).ok()?;
        let is_time = hour < 24 && minute < 60 && second < 60 || hour == 24 && minute == 0 && second == 0;
        let is_sure = hour == 0 || 12 < hour;
        is_time.then_some(Self { hour, minute, second, is_sure })
    }

    pub(super) fn in_half(self, half: Half) -> Option<Self> {
        let hour = match half {
            Half::Before if self.hour == 12 => 0,
            Half::Before if self.hour < 12 => self.hour,
            Half::Before => return None,
            Half::After if self.hour < 12 => self.hour + 12,
            Half::After => self.hour,
        };
        Some(Self { hour, is_sure: true, ..self })
    }

    /// Returns the time so many minutes later, or earlier where negative, within a day.
    pub(super) fn moved(self, minutes: i32) -> Option<Self> {
        let total = i32::try_from(self.hour * 60 + self.minute).ok()? + minutes;
        let face = if self.is_sure { 24 * 60 } else { 12 * 60 };
        let total = u32::try_from(total.rem_euclid(face)).ok()?;
        let hour = if self.is_sure || 60 <= total { total / 60 } else { 12 };
        Some(Self { hour, minute: total % 60, ..self })
    }
}

/// Before noon or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Before,
    After,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Between midnight and dawn.
    SmallHours,
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
    /// Around a meal, or around going to bed: the hour at which most people do so.
    Around(u32),
}
