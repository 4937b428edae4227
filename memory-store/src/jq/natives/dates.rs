//! Builtins for dates, with the patterns of C in its own locale. The only time zone is UTC.

use std::fmt::Write;

use chrono::format::{Parsed, StrftimeItems, parse_and_remainder};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};
use jaq_core::native::Fun;

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error};
use crate::jq::value::Val;

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    vec![
        builtin!("gmtime", gmtime),
        builtin!("localtime", localtime),
        builtin!("mktime", mktime),
        builtin!("strptime", strptime, 1),
        builtin!("strftime", strftime, 1),
        builtin!("strflocaltime", strflocaltime, 1),
    ]
}

fn gmtime(value: Val) -> JqEvalResult {
    split_time(&value, "gmtime() requires numeric inputs")
}

fn localtime(value: Val) -> JqEvalResult {
    split_time(&value, "localtime() requires numeric inputs")
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 64 bits is no date"
)]
fn split_time(value: &Val, unfit: &str) -> JqEvalResult {
    let seconds = value.number().ok_or_else(|| runtime_error(unfit))?;
    let whole = seconds.floor();
    let moment = Some(whole as i64).filter(|_| !seconds.is_nan());
    let moment = moment.and_then(|whole| DateTime::from_timestamp(whole, 0));
    let moment = moment.ok_or_else(|| {
        runtime_error("error converting number of seconds since epoch to datetime")
    })?;
    Ok(to_fields(&moment.naive_utc(), seconds - whole))
}

/// Returns the fields of a date, with `fraction` of a second.
fn to_fields(moment: &NaiveDateTime, fraction: f64) -> Val {
    let date = [moment.month0(), moment.day(), moment.hour()];
    let mut fields = vec![f64::from(moment.year())];
    fields.extend(date.map(f64::from));
    fields.push(f64::from(moment.minute()));
    fields.push(f64::from(moment.second()) + fraction);
    fields.push(f64::from(moment.weekday().num_days_from_sunday()));
    fields.push(f64::from(moment.ordinal0()));
    fields.into_iter().map(Val::Num).collect()
}

/// Converts the fields of a date; missing fields are 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit is no date"
)]
fn from_fields(value: &Val) -> Option<NaiveDateTime> {
    let Val::Arr(fields) = value else { return None };
    let mut numbers = [0_i64; 6];
    for (index, field) in fields.iter().enumerate() {
        let number = field.number()?;
        if let Some(slot) = numbers.get_mut(index) {
            *slot = (number as i64).clamp(-1_000_000_000, 1_000_000_000);
        }
    }
    normalize(numbers)
}

/// Converts the year, month from 0, day, hour, minute and second of a date; all but the year may be out of range.
fn normalize([year, month0, day, hour, minute, second]: [i64; 6]) -> Option<NaiveDateTime> {
    let year = i32::try_from(year + month0.div_euclid(12)).ok()?;
    let month = u32::try_from(month0.rem_euclid(12) + 1).ok()?;
    let since = TimeDelta::days(day - 1)
        + TimeDelta::hours(hour)
        + TimeDelta::minutes(minute)
        + TimeDelta::seconds(second);
    let start = NaiveDate::from_ymd_opt(year, month, 1)?.and_time(NaiveTime::MIN);
    start.checked_add_signed(since)
}

#[expect(clippy::cast_precision_loss, reason = "no date is beyond 2^53 seconds")]
fn mktime(value: Val) -> JqEvalResult {
    if value.kind() != "array" {
        return Err(runtime_error("mktime requires array inputs"));
    }
    let moment = from_fields(&value)
        .ok_or_else(|| runtime_error("mktime requires parsed datetime inputs"))?;
    Ok(Val::Num(moment.and_utc().timestamp() as f64))
}

fn strptime(value: Val, format: &Val) -> JqEvalResult {
    let (Val::Str(text), Val::Str(format)) = (&value, format) else {
        return Err(runtime_error(
            "strptime/1 requires string inputs and arguments",
        ));
    };
    match parse(text, format) {
        Some((moment, "")) => Ok(to_fields(&moment, 0.0)),
        Some((moment, rest)) => to_fields(&moment, 0.0) + Val::array(vec![Val::str(rest)]),
        None => Err(runtime_error(format!(
            "date \"{text}\" does not match format \"{format}\""
        ))),
    }
}

/// Parses a date like `strptime`, and returns the rest of the text as well.
///
/// Like the C library, it ignores weekdays, weeks and offsets.
fn parse<'t>(text: &'t str, pattern: &str) -> Option<(NaiveDateTime, &'t str)> {
    let mut parsed = Parsed::new();
    let pattern = translate(pattern, &PARSED_FIELDS);
    let rest = parse_and_remainder(&mut parsed, text, StrftimeItems::new(&pattern)).ok()?;
    if !rest.is_empty() && !rest.starts_with(|first: char| first.is_ascii_whitespace()) {
        return None;
    }
    if let Some(seconds) = parsed.timestamp() {
        return Some((DateTime::from_timestamp(seconds, 0)?.naive_utc(), rest));
    }
    let year = match (parsed.year(), parsed.year_div_100(), parsed.year_mod_100()) {
        (Some(year), ..) => year,
        (None, Some(century), year) => century * 100 + year.unwrap_or(0),
        (None, None, Some(year)) if year < 69 => 2000 + year,
        (None, None, year) => 1900 + year.unwrap_or(0),
    };
    let (month0, day) = match (parsed.month(), parsed.day(), parsed.ordinal()) {
        (None, None, Some(ordinal)) => (0, ordinal),
        (month, day, _) => (month.unwrap_or(1) - 1, day.unwrap_or(1)),
    };
    let hour = parsed.hour_div_12().unwrap_or(0) * 12 + parsed.hour_mod_12().unwrap_or(0);
    let (minute, second) = (parsed.minute().unwrap_or(0), parsed.second().unwrap_or(0));
    let rest_of_date = [month0, day, hour, minute, second].map(i64::from);
    let [month0, day, hour, minute, second] = rest_of_date;
    let moment = normalize([year.into(), month0, day, hour, minute, second])?;
    Some((moment, rest))
}

/// The fields that C reads in more forms than chrono, and the fields of chrono that have these forms.
const PARSED_FIELDS: [(char, &str); 4] = [('a', "%A"), ('b', "%B"), ('h', "%B"), ('z', "%#z")];

/// The fields of C, which chrono has as well. It has further ones.
const FIELDS: &str = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";

/// Returns a pattern of C for chrono, with other fields for those in `replaced`. What is no field of C becomes text.
///
/// The modifiers `E` and `O` have no effect in the locale of C.
fn translate(pattern: &str, replaced: &[(char, &str)]) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            out.push(char);
            continue;
        }
        let letter = match chars.next() {
            Some('E' | 'O') => chars.next(),
            letter => letter,
        };
        match replaced.iter().find(|(field, _)| Some(*field) == letter) {
            Some((_, field)) => out.push_str(field),
            None => match letter {
                Some(letter) if FIELDS.contains(letter) => out.extend(['%', letter]),
                letter => out.extend(['%', '%'].into_iter().chain(letter)),
            },
        }
    }
    out
}

fn strftime(value: Val, format: &Val) -> JqEvalResult {
    format_date(&value, format, "strftime/1")
}

fn strflocaltime(value: Val, format: &Val) -> JqEvalResult {
    format_date(&value, format, "strflocaltime/1")
}

fn format_date(value: &Val, format: &Val, name: &str) -> JqEvalResult {
    let broken = if value.number().is_some() {
        gmtime(value.clone())?
    } else {
        value.clone()
    };
    if broken.kind() != "array" {
        return Err(runtime_error(format!(
            "{name} requires parsed datetime inputs"
        )));
    }
    let Val::Str(format) = format else {
        return Err(runtime_error(format!("{name} requires a string format")));
    };
    let moment = from_fields(&broken)
        .ok_or_else(|| runtime_error(format!("{name} requires parsed datetime inputs")))?;
    let pattern = translate(format, &[]);
    let items = StrftimeItems::new_lenient(&pattern);
    let mut text = String::new();
    write!(text, "{}", moment.and_utc().format_with_items(items))
        .map_err(|_| runtime_error(format!("{name}: unknown system failure")))?;
    Ok(Val::str(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(seconds: f64, pattern: &str) -> String {
        match strftime(Val::Num(seconds), &Val::str(pattern)) {
            Ok(text) => text.text().to_string(),
            Err(error) => error.into_val().text().to_string(),
        }
    }

    #[test]
    fn seconds_and_fields_are_two_forms_of_one() {
        for seconds in [
            0.0,
            -1.0,
            951_782_400.0,
            1_425_599_507.0,
            4_102_444_799.0,
            -62_135_596_800.0,
        ] {
            let fields = gmtime(Val::Num(seconds)).expect("a date");
            assert_eq!(mktime(fields).expect("a time"), Val::Num(seconds));
        }
    }

    #[test]
    fn what_is_formatted_can_be_parsed() {
        for pattern in [
            "%Y-%m-%dT%H:%M:%SZ",
            "%c",
            "%A, %d %B %Y %I:%M:%S %p",
            "%s",
            "%Y %j %T",
            "%Ey-%Om-%d %R:%S %z",
        ] {
            let text = formatted(1_425_599_507.0, pattern);
            let (moment, rest) = parse(&text, pattern).expect("a date");
            let seconds = moment.and_utc().timestamp();
            assert_eq!((seconds, rest), (1_425_599_507, ""), "{pattern}: {text}");
        }
    }

    #[test]
    fn fields_out_of_range_are_carried_over() {
        let date = |fields: [i64; 6]| normalize(fields).expect("a date").to_string();
        assert_eq!(date([2015, 1, 31, 25, 61, 61]), "2015-03-04 02:02:01");
        assert_eq!(date([2015, -1, 0, 0, 0, -1]), "2014-11-29 23:59:59");
    }

    #[test]
    fn names_are_read_in_both_forms_and_offsets_ignored() {
        for (text, pattern) in [
            ("Thursday, 5 mar 2015", "%a, %d %B %Y"),
            ("thu 5 March 2015 +01", "%A %d %b %Y %z"),
            ("2015-03-05 Z", "%F %z"),
        ] {
            let (moment, rest) = parse(text, pattern).expect("a date");
            assert_eq!(
                (moment.to_string().as_str(), rest),
                ("2015-03-05 00:00:00", "")
            );
        }
    }

    #[test]
    fn what_c_does_not_know_stays_as_it_is() {
        assert_eq!(formatted(0.0, "%Q %% %"), "%Q % %");
        assert_eq!(formatted(0.0, "%#z %+ %f %:z %E#z"), "%#z %+ %f %:z %#z");
    }

    #[test]
    fn weeks_are_those_of_iso_8601() {
        let week = |text| {
            let (moment, _) = parse(text, "%F").expect("a date");
            moment.format("%G-W%V-%u %j").to_string()
        };
        assert_eq!(week("2021-01-03"), "2020-W53-7 003");
        assert_eq!(week("2018-12-31"), "2019-W01-1 365");
    }
}
