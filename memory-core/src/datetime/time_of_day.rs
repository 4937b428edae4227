//! Times of day, and parts of the day.

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
