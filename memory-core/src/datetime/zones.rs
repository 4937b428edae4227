//! Time zones by name: identifiers of the IANA database, abbreviations, cities and countries.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, Timelike};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use super::resolve::{ChronoZone, ClockChange, DynTimeZone, ZonedTime};
use crate::language;

/// A time zone that a text names.
#[derive(Debug, Clone)]
pub(super) enum NamedOffset {
    /// An offset from UTC, in seconds.
    Fixed(i32),
    /// A zone of the IANA database, with its clock changes.
    Zone(TimeZone),
}

word_classes! {
    /// Words of the identifiers in the IANA database.
    ZONE_WORDS = "../language/zones.json": ZoneWords {
        /// First parts of identifiers.
        regions,
        /// Last parts that have another meaning before "time".
        other_words,
    }
}

/// Returns the names of places in a file, each with the identifier of its zone.
///
/// They are places that the IANA database does not have, or has by another name.
fn places(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let by_zone: BTreeMap<&str, Vec<&str>> = language::parse(file);
    let each = |(id, names): (&'static str, Vec<&'static str>)| {
        names.into_iter().map(move |name| (name, id))
    };
    by_zone.into_iter().flat_map(each)
}

/// The identifiers of zones by the names of places in lower case.
static BY_PLACE: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let own = places(include_str!("../language/en/places.json"));
    let own = own.map(|(place, id)| (place.to_owned(), id.to_owned()));
    let ids = TimeZoneDatabase::bundled();
    let last_parts = ids.available().filter_map(|id| {
        let id = id.as_str();
        let last = id.rsplit('/').next()?;
        let last = last.to_ascii_lowercase().replace('_', " ");
        let is_place = 4 <= last.len()
            && last
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b' ')
            && !ZONE_WORDS.other_words.contains(&last.as_str());
        is_place.then(|| (last, id.to_owned()))
    });
    // The names of the table take precedence.
    last_parts.chain(own).collect()
});

/// The first words of the names of places and of identifiers.
static FIRST_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    BY_PLACE
        .keys()
        .filter_map(|place| place.split(' ').next())
        .chain(ZONE_WORDS.regions.iter().copied())
        .collect()
});

/// Returns whether the name of a place can start with the word.
pub(super) fn can_start_place(word: &str) -> bool {
    FIRST_WORDS.contains(word)
}

/// Returns the zone of a city or country, in lower case.
pub(super) fn zone_of_place(place: &str) -> Option<NamedOffset> {
    zone_of_id(BY_PLACE.get(place)?)
}

/// Returns the zone with an identifier such as "europe/berlin".
pub(super) fn zone_of_id(id: &str) -> Option<NamedOffset> {
    TimeZoneDatabase::bundled()
        .get(id)
        .ok()
        .map(NamedOffset::Zone)
}

/// Returns the Chinese names of places that start with a character, with the identifiers of their zones.
pub(super) fn chinese_places(first: char) -> &'static [(&'static str, &'static str)] {
    static BY_FIRST: LazyLock<HashMap<char, Vec<(&str, &str)>>> = LazyLock::new(|| {
        let mut found: HashMap<char, Vec<_>> = HashMap::new();
        for (name, id) in places(include_str!("../language/zh/places.json")) {
            let first = name.chars().next().unwrap_or_default();
            found.entry(first).or_default().push((name, id));
        }
        found
    });
    BY_FIRST.get(&first).map_or(&[], Vec::as_slice)
}

impl DynTimeZone for NamedOffset {
    fn local_time_at(&self, utc: NaiveDateTime) -> Option<DateTime<FixedOffset>> {
        let offset = match self {
            Self::Fixed(seconds) => FixedOffset::east_opt(*seconds)?,
            Self::Zone(zone) => {
                let at = Timestamp::from_second(utc.and_utc().timestamp()).ok()?;
                fixed_offset(zone.to_offset(at))?
            }
        };
        ChronoZone(offset).local_time_at(utc)
    }

    fn resolve_local(&self, local: NaiveDateTime) -> Option<ZonedTime> {
        let zone = match self {
            Self::Fixed(seconds) => {
                return ChronoZone(FixedOffset::east_opt(*seconds)?).resolve_local(local);
            }
            Self::Zone(zone) => zone,
        };
        let (offset, change) = match zone.to_ambiguous_timestamp(civil_time(local)?).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset, ClockChange::None),
            AmbiguousOffset::Gap { before, .. } => (before, ClockChange::Skipped),
            AmbiguousOffset::Fold { before, .. } => (before, ClockChange::Twice),
        };
        let utc = local.checked_sub_offset(fixed_offset(offset)?)?;
        Some(ZonedTime {
            at: self.local_time_at(utc)?,
            change,
        })
    }
}

fn civil_time(local: NaiveDateTime) -> Option<civil::DateTime> {
    let small = |number: u32| i8::try_from(number).ok();
    civil::DateTime::new(
        i16::try_from(local.year()).ok()?,
        small(local.month())?,
        small(local.day())?,
        small(local.hour())?,
        small(local.minute())?,
        small(local.second())?,
        0,
    )
    .ok()
}

fn fixed_offset(offset: Offset) -> Option<FixedOffset> {
    FixedOffset::east_opt(offset.seconds())
}
