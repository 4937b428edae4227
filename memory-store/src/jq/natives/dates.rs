//! Builtins for dates. The only time zone is UTC.

use jaq_core::native::Fun;

use super::builtin;
use crate::jq::calendar::{self, JqTime};
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error};
use crate::jq::value::Val;

/// The maximum absolute value of a time in seconds since 1970.
const MAX_SECONDS: f64 = 6.7e16;

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

#[expect(clippy::cast_possible_truncation, reason = "it is near enough to 1970")]
fn split_time(value: &Val, unfit: &str) -> JqEvalResult {
    let seconds = value.number().ok_or_else(|| runtime_error(unfit))?;
    if seconds.is_nan() || MAX_SECONDS < seconds.abs() {
        return Err(runtime_error(
            "error converting number of seconds since epoch to datetime",
        ));
    }
    let moment = JqTime::from_seconds(seconds.floor() as i64);
    Ok(to_fields(
        &moment,
        f64::from(moment.second) + (seconds - seconds.floor()),
    ))
}

#[expect(clippy::cast_precision_loss, reason = "no year is beyond 2^53")]
fn to_fields(moment: &JqTime, second: f64) -> Val {
    let rest = [moment.month0, moment.day, moment.hour, moment.minute]
        .map(|field| Val::Num(f64::from(field)));
    let mut fields = vec![Val::Num(moment.year as f64)];
    fields.extend(rest);
    fields.push(Val::Num(second));
    fields.push(Val::Num(f64::from(moment.weekday())));
    fields.push(Val::Num(f64::from(moment.day_of_year0())));
    Val::array(fields)
}

/// Converts the fields of a date; missing fields are 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit is no date"
)]
fn from_fields(value: &Val) -> Option<JqTime> {
    let Val::Arr(fields) = value else { return None };
    let mut numbers = [0_i64; 6];
    for (index, field) in fields.iter().enumerate() {
        let number = field.number()?;
        if let Some(slot) = numbers.get_mut(index) {
            *slot = (number as i64).clamp(-1_000_000_000, 1_000_000_000);
        }
    }
    let [year, month0, day, hour, minute, second] = numbers;
    Some(JqTime::from_fields(year, month0, day, hour, minute, second))
}

#[expect(clippy::cast_precision_loss, reason = "no date is beyond 2^53 seconds")]
fn mktime(value: Val) -> JqEvalResult {
    if value.kind() != "array" {
        return Err(runtime_error("mktime requires array inputs"));
    }
    let moment = from_fields(&value)
        .ok_or_else(|| runtime_error("mktime requires parsed datetime inputs"))?;
    Ok(Val::Num(moment.seconds() as f64))
}

fn strptime(value: Val, format: &Val) -> JqEvalResult {
    let (Val::Str(text), Val::Str(format)) = (&value, format) else {
        return Err(runtime_error(
            "strptime/1 requires string inputs and arguments",
        ));
    };
    match calendar::parse(text, format) {
        Some((moment, rest)) => {
            let parsed = to_fields(&moment, f64::from(moment.second));
            if rest.is_empty() {
                Ok(parsed)
            } else {
                parsed + Val::array(vec![Val::str(rest)])
            }
        }
        None => Err(runtime_error(format!(
            "date \"{text}\" does not match format \"{format}\""
        ))),
    }
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
    Ok(Val::str(calendar::format(&moment, format, "UTC")))
}
