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

/// The Chinese names of places by the identifier of their zone, in simplified characters.
const CHINESE_PLACES: &[(&str, &str)] = &[
    (
        "America/New_York",
        "美国东部 美东 纽约 华盛顿 波士顿 迈阿密 亚特兰大 费城 底特律",
    ),
    ("America/Chicago", "美国中部 美中 芝加哥 休斯敦 达拉斯 德州"),
    ("America/Denver", "美国山区 丹佛"),
    (
        "America/Los_Angeles",
        "美国西部 美西 太平洋 洛杉矶 旧金山 西雅图 加州 圣地亚哥 拉斯维加斯",
    ),
    ("America/Toronto", "多伦多 蒙特利尔 渥太华"),
    ("America/Vancouver", "温哥华"),
    ("America/Sao_Paulo", "圣保罗 里约热内卢 巴西利亚"),
    ("UTC", "格林尼治 世界"),
    ("Europe/London", "伦敦 英国"),
    ("Europe/Paris", "巴黎 法国 欧洲中部"),
    ("Europe/Berlin", "柏林 德国 法兰克福 慕尼黑 汉堡"),
    ("Europe/Rome", "罗马 米兰 意大利"),
    ("Europe/Madrid", "马德里 巴塞罗那 西班牙"),
    ("Europe/Zurich", "苏黎世 日内瓦 瑞士"),
    ("Europe/Moscow", "莫斯科"),
    ("Europe/Istanbul", "伊斯坦布尔 土耳其"),
    ("Asia/Dubai", "迪拜 阿布扎比 阿联酋"),
    ("Asia/Kolkata", "印度 新德里 孟买 班加罗尔 加尔各答"),
    ("Asia/Bangkok", "曼谷 泰国"),
    ("Asia/Ho_Chi_Minh", "越南 河内 胡志明市"),
    ("Asia/Jakarta", "雅加达 印度尼西亚 印尼"),
    ("Asia/Kuala_Lumpur", "吉隆坡 马来西亚"),
    ("Asia/Singapore", "新加坡"),
    ("Asia/Hong_Kong", "香港"),
    ("Asia/Taipei", "台北 台湾"),
    ("Asia/Shanghai", "北京 上海 中国 广州 深圳"),
    ("Asia/Seoul", "首尔 韩国"),
    ("Asia/Tokyo", "东京 日本 大阪"),
    ("Australia/Sydney", "悉尼 堪培拉"),
    ("Australia/Melbourne", "墨尔本"),
    ("Pacific/Auckland", "奥克兰 惠灵顿 新西兰"),
    ("Pacific/Honolulu", "夏威夷"),
    ("America/Anchorage", "阿拉斯加"),
    ("America/Halifax", "哈利法克斯"),
    ("America/Mexico_City", "墨西哥城 墨西哥"),
    ("America/Havana", "哈瓦那 古巴"),
    ("America/Panama", "巴拿马"),
    ("America/Bogota", "波哥大 哥伦比亚"),
    ("America/Lima", "利马 秘鲁"),
    ("America/Caracas", "加拉加斯"),
    ("America/Argentina/Buenos_Aires", "布宜诺斯艾利斯 阿根廷"),
    ("Atlantic/Reykjavik", "雷克雅未克 冰岛"),
    ("Europe/Dublin", "都柏林 爱尔兰"),
    ("Europe/Lisbon", "里斯本 葡萄牙"),
    ("Europe/Vienna", "维也纳 奥地利"),
    ("Europe/Brussels", "布鲁塞尔 比利时"),
    ("Europe/Amsterdam", "阿姆斯特丹 荷兰"),
    ("Europe/Copenhagen", "哥本哈根 丹麦"),
    ("Europe/Oslo", "奥斯陆 挪威"),
    ("Europe/Stockholm", "斯德哥尔摩 瑞典"),
    ("Europe/Helsinki", "赫尔辛基 芬兰"),
    ("Europe/Prague", "布拉格 捷克"),
    ("Europe/Warsaw", "华沙 波兰"),
    ("Europe/Budapest", "布达佩斯 匈牙利"),
    ("Europe/Bucharest", "布加勒斯特 罗马尼亚"),
    ("Europe/Athens", "雅典 希腊"),
    ("Europe/Kyiv", "基辅 乌克兰"),
    ("Africa/Cairo", "开罗 埃及"),
    ("Africa/Casablanca", "卡萨布兰卡 摩洛哥"),
    ("Africa/Lagos", "拉各斯 尼日利亚"),
    ("Africa/Nairobi", "内罗毕 肯尼亚"),
    ("Africa/Johannesburg", "约翰内斯堡 开普敦 南非"),
    ("Asia/Jerusalem", "耶路撒冷 特拉维夫 以色列"),
    ("Asia/Baghdad", "巴格达 伊拉克"),
    ("Asia/Riyadh", "利雅得 沙特"),
    ("Asia/Tehran", "德黑兰 伊朗"),
    ("Asia/Kabul", "喀布尔"),
    ("Asia/Karachi", "卡拉奇 巴基斯坦"),
    ("Asia/Tashkent", "塔什干"),
    ("Asia/Almaty", "阿拉木图"),
    ("Asia/Colombo", "科伦坡 斯里兰卡"),
    ("Asia/Kathmandu", "加德满都 尼泊尔"),
    ("Asia/Dhaka", "达卡 孟加拉"),
    ("Asia/Yangon", "仰光 缅甸"),
    ("Asia/Manila", "马尼拉 菲律宾"),
    ("Asia/Macau", "澳门"),
    ("Asia/Ulaanbaatar", "乌兰巴托 蒙古"),
    ("Asia/Urumqi", "乌鲁木齐 新疆"),
    ("Asia/Pyongyang", "平壤"),
    ("Asia/Vladivostok", "海参崴"),
    ("Australia/Brisbane", "布里斯班"),
    ("Australia/Perth", "珀斯"),
    ("Australia/Adelaide", "阿德莱德"),
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

/// Returns the Chinese names of places that start with a character, with the identifiers of their zones.
pub(super) fn chinese_places(first: char) -> &'static [(&'static str, &'static str)] {
    static BY_FIRST: LazyLock<HashMap<char, Vec<(&str, &str)>>> = LazyLock::new(|| {
        let mut found: HashMap<char, Vec<_>> = HashMap::new();
        for (id, names) in CHINESE_PLACES {
            for name in names.split(' ') {
                let first = name.chars().next().unwrap_or_default();
                found.entry(first).or_default().push((name, *id));
            }
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
