//! A time zone that is defined by a conversion function.

use std::fmt;
use std::sync::Arc;

use chrono::{
    DateTime, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta,
    TimeZone, Utc,
};

/// A function that returns the local time of a time.
pub type LocalTime = Arc<dyn Fn(DateTime<Utc>) -> DateTime<FixedOffset> + Send + Sync>;

/// A time zone that is defined by the local time at each time, including daylight saving time.
#[derive(Clone)]
pub struct LocalZone(LocalTime);

/// The offset of a [`LocalZone`] at a given time.
#[derive(Debug, Clone)]
pub struct LocalOffset {
    zone: LocalZone,
    offset: FixedOffset,
}

impl LocalZone {
    /// Returns the zone with the conversion function `local_time`.
    pub fn new(local_time: LocalTime) -> Self {
        Self(local_time)
    }

    /// Returns coordinated universal time.
    pub fn utc() -> Self {
        Self::new(Arc::new(|time| time.fixed_offset()))
    }

    /// Returns the beginning of a day.
    pub fn start_of_day(&self, day: NaiveDate) -> DateTime<Utc> {
        self.at_local(day.and_time(NaiveTime::MIN))
    }

    /// Returns the time at which clocks show `local`: the first if there are two, and an hour later if clocks skip it.
    pub fn at_local(&self, local: NaiveDateTime) -> DateTime<Utc> {
        let at = |hours| {
            let local = local.checked_add_signed(TimeDelta::hours(hours))?;
            self.from_local_datetime(&local).earliest()
        };
        at(0)
            .or_else(|| at(1))
            .map_or_else(|| local.and_utc(), |at| at.to_utc())
    }

    fn offset_at(&self, utc: &NaiveDateTime) -> FixedOffset {
        *(self.0)(utc.and_utc()).offset()
    }

    fn local_offset(&self, offset: FixedOffset) -> LocalOffset {
        LocalOffset {
            zone: self.clone(),
            offset,
        }
    }
}

impl fmt::Debug for LocalZone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalZone").finish_non_exhaustive()
    }
}

impl TimeZone for LocalZone {
    type Offset = LocalOffset;

    fn from_offset(offset: &LocalOffset) -> Self {
        offset.zone.clone()
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<LocalOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<LocalOffset> {
        // The offset of a zone changes at most once within two days.
        let around = [TimeDelta::days(-1), TimeDelta::days(1)]
            .map(|span| local.checked_add_signed(span).unwrap_or(*local));
        let [before, after] = around.map(|moment| self.offset_at(&moment));
        let is_valid = |offset: FixedOffset| {
            let utc = local.checked_sub_offset(offset);
            utc.is_some_and(|utc| self.offset_at(&utc) == offset)
        };
        let offset = |offset| self.local_offset(offset);
        match (is_valid(before), is_valid(after)) {
            (true, true) if before != after => {
                MappedLocalTime::Ambiguous(offset(before), offset(after))
            }
            (true, _) => MappedLocalTime::Single(offset(before)),
            (_, true) => MappedLocalTime::Single(offset(after)),
            (false, false) => MappedLocalTime::None,
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> LocalOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> LocalOffset {
        self.local_offset(self.offset_at(utc))
    }
}

impl Offset for LocalOffset {
    fn fix(&self) -> FixedOffset {
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns Central European Time of 2025: UTC+1, and UTC+2 in summer.
    fn central_europe() -> LocalZone {
        LocalZone::new(Arc::new(|moment: DateTime<Utc>| {
            let summer = "2025-03-30T01:00:00Z".parse::<DateTime<Utc>>().unwrap()
                .."2025-10-26T01:00:00Z".parse().unwrap();
            let hours = if summer.contains(&moment) { 2 } else { 1 };
            moment.with_timezone(&FixedOffset::east_opt(hours * 3600).unwrap())
        }))
    }

    #[test]
    fn a_local_time_has_the_offset_of_its_season() {
        let zone = central_europe();
        let utc = |local: &str| {
            let local: NaiveDateTime = local.parse().unwrap();
            zone.from_local_datetime(&local)
                .earliest()
                .map(|moment| moment.to_utc().to_rfc3339())
        };
        assert_eq!(
            utc("2025-01-15T09:00:00").as_deref(),
            Some("2025-01-15T08:00:00+00:00")
        );
        assert_eq!(
            utc("2025-07-15T09:00:00").as_deref(),
            Some("2025-07-15T07:00:00+00:00")
        );
        assert_eq!(utc("2025-03-30T02:30:00"), None, "the clocks skip it");
        assert_eq!(
            utc("2025-10-26T02:30:00").as_deref(),
            Some("2025-10-26T00:30:00+00:00"),
            "the first of two"
        );
        let seen = "2025-10-20T12:00:00Z"
            .parse::<DateTime<Utc>>()
            .unwrap()
            .with_timezone(&zone);
        let due = crate::due("in two weeks at 9am", &seen).unwrap();
        assert_eq!(
            due.at.to_rfc3339(),
            "2025-11-03T08:00:00+00:00",
            "an hour later than in summer"
        );
    }
}
