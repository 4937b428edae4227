//! The English vocabulary of dates and times.

use chrono::Weekday;

use super::super::syntax::{CalendarDuration, DayPart, Quantity, TimeUnit};
use super::super::zones::can_start_place;

/// Whether a word is unambiguous, or has another meaning as well ("sun", "may").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    Only,
    AmongOthers,
}

/// The names that are long enough to be known with letters in another order, and the longer ones with a wrong letter.
const LONG_NAMES: [&str; 14] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the name of a weekday or month that `word` misspells by one letter, or by two in the wrong order.
///
/// A name of six letters is known only by its letters in another order: "sundae" and "Augusta" are other words.
fn misspelled_name(word: &str) -> Option<&'static str> {
    let letters = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    LONG_NAMES.into_iter().find(|name| {
        name.as_bytes()[0] == word.bytes().next().unwrap_or_default()
            && name.len().abs_diff(word.len()) <= 1
            && *name != word
            && strsim::osa_distance(name, word) == 1
            && (6 < name.len() || letters(name) == letters(word))
    })
}

pub(crate) fn lookup_weekday(word: &str) -> Option<(Weekday, Sense)> {
    let weekday = match misspelled_name(word).unwrap_or(word) {
        "monday" | "mondays" | "mon" => Weekday::Mon,
        "tuesday" | "tuesdays" | "tue" | "tues" => Weekday::Tue,
        "wednesday" | "wednesdays" | "wed" | "weds" => Weekday::Wed,
        "thursday" | "thursdays" | "thu" | "thur" | "thurs" => Weekday::Thu,
        "friday" | "fridays" | "fri" => Weekday::Fri,
        "saturday" | "saturdays" | "sat" => Weekday::Sat,
        "sunday" | "sundays" | "sun" => Weekday::Sun,
        _ => return None,
    };
    let sense = if matches!(word, "sun" | "sat" | "wed" | "mon") {
        Sense::AmongOthers
    } else {
        Sense::Only
    };
    Some((weekday, sense))
}

pub(crate) fn lookup_month(word: &str) -> Option<(u32, Sense)> {
    let month = match misspelled_name(word).unwrap_or(word) {
        "january" | "jan" => 1,
        "february" | "feb" => 2,
        "march" | "mar" => 3,
        "april" | "apr" => 4,
        "may" => 5,
        "june" | "jun" => 6,
        "july" | "jul" => 7,
        "august" | "aug" => 8,
        "september" | "sept" | "sep" => 9,
        "october" | "oct" => 10,
        "november" | "nov" => 11,
        "december" | "dec" => 12,
        _ => return None,
    };
    let is_a_name_or_verb = matches!(
        word,
        "march" | "may" | "mar" | "jan" | "june" | "april" | "august" | "sep" | "dec"
    );
    Some((
        month,
        if is_a_name_or_verb {
            Sense::AmongOthers
        } else {
            Sense::Only
        },
    ))
}

/// Returns the offset in days of a word such as "tomorrow".
pub(super) fn lookup_near_day(word: &str) -> Option<i64> {
    Some(match word {
        "today" => 0,
        "tomorrow" | "tomorow" | "tommorow" | "tommorrow" | "tomorrows" | "tmr" | "tmrw"
        | "tmw" => 1,
        "yesterday" | "yday" => -1,
        _ => return None,
    })
}

/// Returns the unit, and the number of such units that the word denotes ("fortnight").
pub(super) fn lookup_unit(word: &str) -> Option<(TimeUnit, u64)> {
    Some(match word {
        "second" | "seconds" | "sec" | "secs" => (TimeUnit::Second, 1),
        "minute" | "minutes" | "min" | "mins" => (TimeUnit::Minute, 1),
        "hour" | "hours" | "hr" | "hrs" => (TimeUnit::Hour, 1),
        "day" | "days" | "night" | "nights" => (TimeUnit::Day, 1),
        "weekday" | "weekdays" | "workday" | "workdays" => (TimeUnit::WorkingDay, 1),
        "week" | "weeks" | "wk" | "wks" => (TimeUnit::Week, 1),
        "fortnight" | "fortnights" => (TimeUnit::Week, 2),
        "month" | "months" => (TimeUnit::Month, 1),
        "quarter" | "quarters" => (TimeUnit::Quarter, 1),
        "year" | "years" | "yr" | "yrs" => (TimeUnit::Year, 1),
        "decade" | "decades" => (TimeUnit::Year, 10),
        _ => return None,
    })
}

/// Returns the unit of a letter that directly follows a number.
pub(super) fn lookup_unit_letter(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "s" => TimeUnit::Second,
        "m" => TimeUnit::Minute,
        "h" => TimeUnit::Hour,
        "d" => TimeUnit::Day,
        "w" => TimeUnit::Week,
        "y" => TimeUnit::Year,
        _ => return None,
    })
}

pub(super) fn lookup_day_part(word: &str) -> Option<DayPart> {
    Some(match word {
        "morning" | "mornings" => DayPart::Morning,
        "noon" | "lunchtime" | "lunch" | "midday" => DayPart::Noon,
        "afternoon" | "afternoons" => DayPart::Afternoon,
        "evening" | "evenings" => DayPart::Evening,
        "night" | "nights" | "nite" => DayPart::Night,
        _ => return None,
    })
}

/// Returns whether a word denotes a time in any context.
pub(in super::super) fn is_time_word(word: &str) -> bool {
    matches!(
        word,
        "today"
            | "tomorrow"
            | "tonight"
            | "yesterday"
            | "midnight"
            | "weekdays"
            | "weekend"
            | "weekends"
            | "oclock"
    ) || lookup_weekday(word).is_some_and(|_| !matches!(word, "sat" | "sun"))
        || lookup_month(word).is_some_and(|(_, sense)| sense == Sense::Only)
        || lookup_day_part(word).is_some_and(|_| !matches!(word, "lunch" | "night" | "nights"))
        || lookup_frequency(word).is_some()
}

/// Returns whether a word denotes a unit of durations.
pub(in super::super) fn is_unit(word: &str) -> bool {
    lookup_unit(word).is_some()
}

/// Returns whether a word after a number denotes the half of the day.
pub(in super::super) fn is_half_day(word: &str) -> bool {
    matches!(word, "am" | "pm")
}

/// Returns the interval of "daily", "weekly" and the like.
pub(super) fn lookup_frequency(word: &str) -> Option<CalendarDuration> {
    let (unit, count) = match word {
        "hourly" => (TimeUnit::Hour, 1),
        "daily" | "nightly" => (TimeUnit::Day, 1),
        "weekly" => (TimeUnit::Week, 1),
        "biweekly" | "fortnightly" => (TimeUnit::Week, 2),
        "monthly" => (TimeUnit::Month, 1),
        "quarterly" => (TimeUnit::Quarter, 1),
        "yearly" | "annually" => (TimeUnit::Year, 1),
        _ => return None,
    };
    unit.duration(Quantity::whole(count)?)
}

/// Returns the identifier of the zone that an abbreviation denotes in summer and in winter.
pub(super) fn lookup_zone_id(word: &str) -> Option<&'static str> {
    Some(match word {
        "et" => "America/New_York",
        "ct" => "America/Chicago",
        "mt" => "America/Denver",
        "pt" => "America/Los_Angeles",
        _ => return None,
    })
}

/// Returns the UTC offset of a time zone, in seconds.
pub(super) fn lookup_zone(word: &str) -> Option<i32> {
    let minutes = match word {
        "utc" | "gmt" | "z" | "wet" => 0,
        "bst" | "cet" | "west" | "mez" => 60,
        "cest" | "eet" | "sast" | "mesz" => 120,
        "eest" | "msk" | "trt" => 180,
        "gst" => 240,
        "pkt" => 300,
        "ist" => 330,
        "ict" | "wib" => 420,
        "hkt" | "sgt" | "awst" | "pht" => 480,
        "jst" | "kst" => 540,
        "aest" => 600,
        "aedt" => 660,
        "nzst" => 720,
        "nzdt" => 780,
        "adt" => -180,
        "ast" | "edt" => -240,
        "est" | "cdt" => -300,
        "cst" | "mdt" => -360,
        "mst" | "pdt" => -420,
        "pst" | "akdt" => -480,
        "akst" => -540,
        "hst" => -600,
        _ => return None,
    };
    Some(minutes * 60)
}

/// Returns whether a number before the word is complete, because the word is not a noun that it counts.
pub(super) fn can_follow_number(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "but"
            | "to"
            | "for"
            | "with"
            | "at"
            | "on"
            | "in"
            | "by"
            | "so"
            | "if"
            | "when"
            | "then"
            | "because"
            | "please"
            | "is"
            | "was"
            | "are"
            | "will"
            | "would"
            | "should"
            | "can"
            | "my"
            | "our"
            | "your"
            | "his"
            | "her"
            | "their"
            | "we"
            | "i"
            | "you"
            | "he"
            | "she"
            | "they"
            | "it"
            | "this"
            | "that"
            | "these"
            | "sharp"
            | "exactly"
            | "until"
            | "till"
            | "through"
            | "thru"
            | "from"
            | "before"
            | "after"
            | "as"
            | "today"
            | "tomorrow"
            | "tonight"
            | "works"
            | "work"
            | "onwards"
            | "local"
            | "instead"
            | "again"
            | "too"
            | "though"
            | "not"
            | "has"
            | "have"
            | "had"
            | "every"
            | "each"
            | "next"
            | "last"
            | "there"
            | "here"
            | "since"
            | "unless"
            | "while"
            | "about"
            | "via"
            | "under"
            | "approximately"
            | "around"
            | "ish"
            | "the"
            | "a"
            | "an"
            | "latest"
            | "ask"
            | "call"
            | "get"
            | "go"
            | "leave"
            | "pick"
            | "take"
    ) || lookup_weekday(word).is_some()
        || lookup_month(word).is_some()
        || lookup_zone(word).is_some()
        || lookup_zone_id(word).is_some()
        || lookup_frequency(word).is_some()
}

/// Returns whether an expression can start with the word.
pub(in super::super) fn can_start_expression(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "in"
            | "within"
            | "starting"
            | "after"
            | "next"
            | "last"
            | "this"
            | "past"
            | "same"
            | "coming"
            | "upcoming"
            | "previous"
            | "following"
            | "current"
            | "today"
            | "tonight"
            | "tonite"
            | "tomorrow"
            | "tomorow"
            | "tommorow"
            | "tommorrow"
            | "tomorrows"
            | "tmr"
            | "tmrw"
            | "tmw"
            | "yesterday"
            | "yday"
            | "now"
            | "right"
            | "asap"
            | "as"
            | "at"
            | "immediately"
            | "currently"
            | "noon"
            | "midday"
            | "midnight"
            | "half"
            | "quarter"
            | "end"
            | "beginning"
            | "start"
            | "middle"
            | "mid"
            | "early"
            | "late"
            | "later"
            | "eod"
            | "eow"
            | "eom"
            | "eoy"
            | "cob"
            | "eob"
            | "close"
            | "few"
            | "couple"
            | "several"
            | "every"
            | "each"
            | "weekend"
            | "weekends"
            | "weekday"
            | "weekdays"
            | "workday"
            | "workdays"
            | "work"
            | "working"
            | "business"
            | "mornings"
            | "afternoons"
            | "evenings"
            | "nights"
            | "by"
            | "on"
            | "since"
            | "until"
            | "before"
            | "between"
            | "lunchtime"
            | "morning"
            | "afternoon"
            | "evening"
            | "night"
            | "midmorning"
            | "midafternoon"
            | "noonish"
            | "noontime"
            | "closest"
            | "nearest"
            | "day"
            | "week"
            | "month"
            | "year"
            | "fortnight"
            | "one"
            | "another"
            | "once"
    ) || lookup_weekday(word).is_some()
        || lookup_month(word).is_some()
        || super::numbers::is_numeral(word)
        || super::holiday_names::can_start_holiday(word)
        || lookup_frequency(word).is_some()
        || lookup_zone(word).is_some()
        || lookup_zone_id(word).is_some()
        || can_start_place(word)
        || matches!(word, "p" | "q")
}
