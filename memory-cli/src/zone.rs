//! Time zones.

use std::sync::Arc;

use chrono::{
    DateTime, Datelike, FixedOffset, Local, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime,
    Offset, TimeZone, Timelike, Utc,
};
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZoneDatabase};
use memory_core::{Clock, LocalZone, ParseError, parse_day, parse_rfc3339, valid_time};

/// The time zone for parsing and formatting times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserTimeZone {
    /// The local time zone of the machine.
    Machine,
    /// A named time zone.
    Named(NamedZone),
    /// A fixed offset from UTC.
    Fixed(FixedOffset),
}

/// The offset of a zone from UTC at a certain time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ZoneOffset {
    zone: UserTimeZone,
    by: FixedOffset,
}

/// A reference time for relative dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceTime {
    /// A time with an offset (RFC 3339).
    Moment(DateTime<FixedOffset>),
    /// A local time without an offset.
    Shown(NaiveDateTime),
}

/// A named time zone of the database that is bundled with the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedZone(&'static jiff::tz::TimeZone);

/// A clock in the time zone of the settings.
#[derive(Debug)]
pub(crate) struct ClockInZone {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) zone: UserTimeZone,
}

impl Clock for ClockInZone {
    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    fn zone(&self) -> LocalZone {
        let zone = self.zone;
        LocalZone::new(Arc::new(move |time| {
            time.with_timezone(&zone).fixed_offset()
        }))
    }
}

/// Parses the name of a time zone, such as `Asia/Shanghai`; case-insensitive.
pub(crate) fn parse_zone(text: &str) -> Result<NamedZone, ParseError> {
    let none = |_| {
        ParseError::new(
            text,
            "a time zone such as Europe/Berlin (a name from the IANA database)",
        )
    };
    let zone = TimeZoneDatabase::bundled().get(text.trim()).map_err(none)?;
    // The settings name at most one zone and are read once, so the leak is bounded.
    Ok(NamedZone(Box::leak(Box::new(zone))))
}

impl NamedZone {
    /// Returns the name of the zone.
    pub(crate) fn name(self) -> &'static str {
        self.0.iana_name().unwrap_or("UTC")
    }

    fn offset_at(self, utc: &NaiveDateTime) -> FixedOffset {
        let moment = Timestamp::from_second(utc.and_utc().timestamp());
        let far = if utc.year() < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        };
        fixed_offset(self.0.to_offset(moment.unwrap_or(far)))
    }

    fn offsets_of_local_time(self, local: &NaiveDateTime) -> MappedLocalTime<FixedOffset> {
        let (date, time) = (local.date(), local.time());
        let small = |number: u32| i8::try_from(number).unwrap_or_default();
        let shown = i16::try_from(date.year()).ok().and_then(|year| {
            let [month, day] = [date.month(), date.day()].map(small);
            let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(small);
            jiff::civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()
        });
        // Outside the range of the database, the offset is constant.
        let Some(shown) = shown else {
            return MappedLocalTime::Single(self.offset_at(local));
        };
        match self.0.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                MappedLocalTime::Single(fixed_offset(offset))
            }
            AmbiguousOffset::Gap { .. } => MappedLocalTime::None,
            AmbiguousOffset::Fold { before, after } => {
                MappedLocalTime::Ambiguous(fixed_offset(before), fixed_offset(after))
            }
        }
    }
}

impl PartialEq for NamedZone {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for NamedZone {}

fn fixed_offset(offset: jiff::tz::Offset) -> FixedOffset {
    FixedOffset::east_opt(offset.seconds()).unwrap_or_else(|| chrono::Utc.fix())
}

impl UserTimeZone {
    /// Returns the configured zone, else the local zone of the machine.
    pub(crate) fn of(setting: Option<NamedZone>) -> Self {
        setting.map_or(Self::Machine, Self::Named)
    }

    fn with_offset(self, by: FixedOffset) -> ZoneOffset {
        ZoneOffset { zone: self, by }
    }
}

impl ReferenceTime {
    /// Returns the time in the configured zone, else in that of its offset, else in the local zone.
    pub(crate) fn in_zone(self, setting: Option<NamedZone>) -> DateTime<UserTimeZone> {
        match self {
            Self::Moment(moment) => moment.with_timezone(
                &setting.map_or(UserTimeZone::Fixed(*moment.offset()), UserTimeZone::Named),
            ),
            Self::Shown(shown) => {
                let zone = UserTimeZone::of(setting);
                // If clocks skip this time, the same time in UTC is a sufficient approximation.
                zone.from_local_datetime(&shown)
                    .earliest()
                    .unwrap_or_else(|| shown.and_utc().with_timezone(&zone))
            }
        }
    }
}

impl std::str::FromStr for ReferenceTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim();
        let shown = || {
            let forms = [
                "%Y-%m-%dT%H:%M:%S%.f",
                "%Y-%m-%d %H:%M:%S%.f",
                "%Y-%m-%dT%H:%M",
                "%Y-%m-%d %H:%M",
            ];
            forms
                .iter()
                .find_map(|form| NaiveDateTime::parse_from_str(wanted, form).ok())
                .filter(|shown| valid_time(shown.and_utc()).is_some())
        };
        let midnight = || parse_day(wanted).map(|day| day.and_time(NaiveTime::MIN));
        let moment = || {
            parse_rfc3339(wanted)?;
            wanted.parse().map(Self::Moment).ok()
        };
        moment()
            .or_else(|| shown().or_else(midnight).map(Self::Shown))
            .ok_or_else(|| {
                ParseError::new(text, "a time such as 2026-05-07T10:00:00+02:00 (RFC 3339)")
            })
    }
}

impl TimeZone for UserTimeZone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        offset.zone
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<ZoneOffset> {
        self.offset_from_local_datetime(&local.and_time(chrono::NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<ZoneOffset> {
        match self {
            Self::Machine => Local
                .offset_from_local_datetime(local)
                .map(|by| self.with_offset(by)),
            Self::Named(zone) => zone
                .offsets_of_local_time(local)
                .map(|by| self.with_offset(by)),
            Self::Fixed(by) => MappedLocalTime::Single(self.with_offset(*by)),
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&utc.and_time(chrono::NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        self.with_offset(match self {
            Self::Machine => Local.offset_from_utc_datetime(utc),
            Self::Named(zone) => zone.offset_at(utc),
            Self::Fixed(by) => *by,
        })
    }
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        self.by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(now: &str, setting: Option<&str>) -> String {
        let setting = setting.map(|name| parse_zone(name).expect("a zone"));
        now.parse::<ReferenceTime>()
            .expect("a moment")
            .in_zone(setting)
            .fixed_offset()
            .to_rfc3339()
    }

    #[test]
    fn the_zone_of_the_settings_wins_over_that_of_the_moment() {
        assert_eq!(
            seen("2025-06-11T10:20:00-02:00", None),
            "2025-06-11T10:20:00-02:00"
        );
        assert_eq!(
            seen("2025-06-11T10:20:00-02:00", Some("Asia/Shanghai")),
            "2025-06-11T20:20:00+08:00"
        );
        assert_eq!(
            seen("2025-06-11T10:20:00", Some("europe/berlin")),
            "2025-06-11T10:20:00+02:00"
        );
        assert_eq!(
            seen("2025-12-11", Some("Europe/Berlin")),
            "2025-12-11T00:00:00+01:00"
        );
    }

    #[test]
    fn clocks_that_are_put_forward_show_what_is_near_enough() {
        assert_eq!(
            seen("2025-03-30 02:30", Some("Europe/Berlin")),
            "2025-03-30T04:30:00+02:00"
        );
        assert_eq!(
            seen("2025-10-26 02:30", Some("Europe/Berlin")),
            "2025-10-26T02:30:00+02:00"
        );
    }

    #[test]
    fn a_zone_that_is_none_is_refused() {
        assert!(parse_zone("Mars/Olympus").is_err() && parse_zone("").is_err());
        assert_eq!(parse_zone(" utc ").map(NamedZone::name), Ok("UTC"));
    }
}
