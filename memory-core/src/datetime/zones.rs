//! Time zones by name: identifiers of the IANA database, abbreviations, cities and countries.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, Timelike};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use super::resolve::{ChronoZone, ClockChange, DynTimeZone, ZonedTime};

/// A time zone that a text names.
#[derive(Debug, Clone)]
pub(super) enum NamedOffset {
    /// An offset from UTC, in seconds.
    Fixed(i32),
    /// A zone of the IANA database, with its clock changes.
    Zone(TimeZone),
}

/// Places that the IANA database does not have, or has by another name.
const PLACES: &[(&str, &str)] = &[
    ("eastern", "America/New_York"),
    ("central", "America/Chicago"),
    ("mountain", "America/Denver"),
    ("pacific", "America/Los_Angeles"),
    ("boston", "America/New_York"),
    ("washington", "America/New_York"),
    ("washington dc", "America/New_York"),
    ("miami", "America/New_York"),
    ("atlanta", "America/New_York"),
    ("philadelphia", "America/New_York"),
    ("houston", "America/Chicago"),
    ("dallas", "America/Chicago"),
    ("austin", "America/Chicago"),
    ("san francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("san diego", "America/Los_Angeles"),
    ("las vegas", "America/Los_Angeles"),
    ("california", "America/Los_Angeles"),
    ("texas", "America/Chicago"),
    ("hawaii", "Pacific/Honolulu"),
    ("alaska", "America/Anchorage"),
    ("montreal", "America/Toronto"),
    ("ottawa", "America/Toronto"),
    ("rio", "America/Sao_Paulo"),
    ("rio de janeiro", "America/Sao_Paulo"),
    ("argentina", "America/Argentina/Buenos_Aires"),
    ("colombia", "America/Bogota"),
    ("peru", "America/Lima"),
    ("uk", "Europe/London"),
    ("british", "Europe/London"),
    ("england", "Europe/London"),
    ("scotland", "Europe/London"),
    ("edinburgh", "Europe/London"),
    ("manchester", "Europe/London"),
    ("ireland", "Europe/Dublin"),
    ("irish", "Europe/Dublin"),
    ("germany", "Europe/Berlin"),
    ("german", "Europe/Berlin"),
    ("munich", "Europe/Berlin"),
    ("hamburg", "Europe/Berlin"),
    ("frankfurt", "Europe/Berlin"),
    ("cologne", "Europe/Berlin"),
    ("france", "Europe/Paris"),
    ("french", "Europe/Paris"),
    ("lyon", "Europe/Paris"),
    ("spain", "Europe/Madrid"),
    ("barcelona", "Europe/Madrid"),
    ("italy", "Europe/Rome"),
    ("milan", "Europe/Rome"),
    ("austria", "Europe/Vienna"),
    ("switzerland", "Europe/Zurich"),
    ("swiss", "Europe/Zurich"),
    ("geneva", "Europe/Zurich"),
    ("netherlands", "Europe/Amsterdam"),
    ("dutch", "Europe/Amsterdam"),
    ("belgium", "Europe/Brussels"),
    ("sweden", "Europe/Stockholm"),
    ("norway", "Europe/Oslo"),
    ("denmark", "Europe/Copenhagen"),
    ("finland", "Europe/Helsinki"),
    ("greece", "Europe/Athens"),
    ("ukraine", "Europe/Kyiv"),
    ("central european", "Europe/Paris"),
    ("eastern european", "Europe/Helsinki"),
    ("uae", "Asia/Dubai"),
    ("abu dhabi", "Asia/Dubai"),
    ("tel aviv", "Asia/Jerusalem"),
    ("pakistan", "Asia/Karachi"),
    ("india", "Asia/Kolkata"),
    ("indian", "Asia/Kolkata"),
    ("india standard", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("new delhi", "Asia/Kolkata"),
    ("mumbai", "Asia/Kolkata"),
    ("bangalore", "Asia/Kolkata"),
    ("bengaluru", "Asia/Kolkata"),
    ("chennai", "Asia/Kolkata"),
    ("hyderabad", "Asia/Kolkata"),
    ("bangladesh", "Asia/Dhaka"),
    ("thailand", "Asia/Bangkok"),
    ("vietnam", "Asia/Ho_Chi_Minh"),
    ("hanoi", "Asia/Ho_Chi_Minh"),
    ("indonesia", "Asia/Jakarta"),
    ("malaysia", "Asia/Kuala_Lumpur"),
    ("philippines", "Asia/Manila"),
    ("china", "Asia/Shanghai"),
    ("beijing", "Asia/Shanghai"),
    ("shenzhen", "Asia/Shanghai"),
    ("guangzhou", "Asia/Shanghai"),
    ("hangzhou", "Asia/Shanghai"),
    ("taiwan", "Asia/Taipei"),
    ("korea", "Asia/Seoul"),
    ("korean", "Asia/Seoul"),
    ("japanese", "Asia/Tokyo"),
    ("osaka", "Asia/Tokyo"),
    ("kyoto", "Asia/Tokyo"),
    ("canberra", "Australia/Sydney"),
    ("new zealand", "Pacific/Auckland"),
    ("wellington", "Pacific/Auckland"),
    ("south africa", "Africa/Johannesburg"),
    ("cape town", "Africa/Johannesburg"),
    ("nigeria", "Africa/Lagos"),
    ("kenya", "Africa/Nairobi"),
];

/// Last parts of IANA identifiers that have another meaning before "time".
const OTHER_WORDS: &[&str] = &[
    "act",
    "center",
    "easter",
    "east",
    "general",
    "north",
    "nsw",
    "reunion",
    "south",
    "west",
    "universal",
    "zulu",
    "eden",
];

/// The Chinese names of places, in simplified characters.
const CHINESE_PLACES: &[(&str, &str)] = &[
    ("美国东部", "America/New_York"),
    ("美国中部", "America/Chicago"),
    ("美国山区", "America/Denver"),
    ("美国西部", "America/Los_Angeles"),
    ("美东", "America/New_York"),
    ("美中", "America/Chicago"),
    ("美西", "America/Los_Angeles"),
    ("太平洋", "America/Los_Angeles"),
    ("纽约", "America/New_York"),
    ("华盛顿", "America/New_York"),
    ("波士顿", "America/New_York"),
    ("芝加哥", "America/Chicago"),
    ("洛杉矶", "America/Los_Angeles"),
    ("旧金山", "America/Los_Angeles"),
    ("西雅图", "America/Los_Angeles"),
    ("多伦多", "America/Toronto"),
    ("温哥华", "America/Vancouver"),
    ("圣保罗", "America/Sao_Paulo"),
    ("格林尼治", "UTC"),
    ("世界", "UTC"),
    ("伦敦", "Europe/London"),
    ("英国", "Europe/London"),
    ("巴黎", "Europe/Paris"),
    ("法国", "Europe/Paris"),
    ("柏林", "Europe/Berlin"),
    ("德国", "Europe/Berlin"),
    ("法兰克福", "Europe/Berlin"),
    ("慕尼黑", "Europe/Berlin"),
    ("罗马", "Europe/Rome"),
    ("马德里", "Europe/Madrid"),
    ("苏黎世", "Europe/Zurich"),
    ("欧洲中部", "Europe/Paris"),
    ("莫斯科", "Europe/Moscow"),
    ("伊斯坦布尔", "Europe/Istanbul"),
    ("迪拜", "Asia/Dubai"),
    ("印度", "Asia/Kolkata"),
    ("新德里", "Asia/Kolkata"),
    ("孟买", "Asia/Kolkata"),
    ("曼谷", "Asia/Bangkok"),
    ("泰国", "Asia/Bangkok"),
    ("越南", "Asia/Ho_Chi_Minh"),
    ("雅加达", "Asia/Jakarta"),
    ("吉隆坡", "Asia/Kuala_Lumpur"),
    ("新加坡", "Asia/Singapore"),
    ("香港", "Asia/Hong_Kong"),
    ("台北", "Asia/Taipei"),
    ("北京", "Asia/Shanghai"),
    ("上海", "Asia/Shanghai"),
    ("中国", "Asia/Shanghai"),
    ("首尔", "Asia/Seoul"),
    ("韩国", "Asia/Seoul"),
    ("东京", "Asia/Tokyo"),
    ("日本", "Asia/Tokyo"),
    ("悉尼", "Australia/Sydney"),
    ("墨尔本", "Australia/Melbourne"),
    ("奥克兰", "Pacific/Auckland"),
    ("夏威夷", "Pacific/Honolulu"),
];

/// The identifiers of zones by the names of places in lower case.
static BY_PLACE: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let own = PLACES
        .iter()
        .map(|(place, id)| ((*place).to_owned(), (*id).to_owned()));
    let ids = TimeZoneDatabase::bundled();
    let last_parts = ids.available().filter_map(|id| {
        let id = id.as_str();
        let last = id
            .rsplit('/')
            .next()?
            .to_ascii_lowercase()
            .replace('_', " ");
        let is_place = 4 <= last.len()
            && last
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b' ')
            && !OTHER_WORDS.contains(&last.as_str());
        is_place.then(|| (last, id.to_owned()))
    });
    // The names of the table take precedence.
    last_parts.chain(own).collect()
});

/// The first words of the names of places and of identifiers.
static FIRST_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let regions = [
        "africa",
        "america",
        "antarctica",
        "asia",
        "atlantic",
        "australia",
        "europe",
        "indian",
        "pacific",
    ];
    BY_PLACE
        .keys()
        .filter_map(|place| place.split(' ').next())
        .chain(regions)
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

/// Returns the Chinese names of places with the identifiers of their zones.
pub(super) fn chinese_places() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHINESE_PLACES.iter().copied()
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
