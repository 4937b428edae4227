//! Durations, and the units that they are given in.

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
