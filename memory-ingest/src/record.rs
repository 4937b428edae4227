//! A record of another program: an object with named values.

use chrono::{DateTime, NaiveTime, Utc};
use memory_core::{Category, parse_day_as, valid_time};
use serde_json::{Map, Value};

use crate::note;

/// A record of another program. Null and blank values are equivalent to missing ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SourceRecord(pub(crate) Map<String, Value>);

impl SourceRecord {
    /// Returns the value of `key`. A dot separates the keys of nested objects, unless a key contains it.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        let whole = self.0.get(key).filter(|value| !is_blank(value));
        whole.or_else(|| self.nested(key).filter(|value| !is_blank(value)))
    }

    /// Returns whether the record has `key`, also without a value.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key) || self.nested(key).is_some()
    }

    fn nested(&self, key: &str) -> Option<&Value> {
        let (first, rest) = key.split_once('.')?;
        let inner = self.0.get(first)?.as_object()?;
        rest.split('.')
            .try_fold((inner, None), |(object, _), part| {
                let value = object.get(part)?;
                Some((value.as_object().unwrap_or(object), Some(value)))
            })?
            .1
    }

    /// Returns the value of the first of `keys` that has one, as text.
    pub(crate) fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| scalar_text(self.get(key)?))
    }

    /// Returns the items of a list, which may be written as JSON, or as text with commas.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        match decode_json(value).as_ref().unwrap_or(value) {
            Value::Array(items) => items.iter().filter_map(scalar_text).collect(),
            Value::String(text) if text.trim() == "null" => Vec::new(),
            Value::String(text) => split_list(text),
            value => scalar_text(value).into_iter().collect(),
        }
    }

    /// Returns the object at `key`, which may be written as JSON.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        let value = self.get(key)?;
        match decode_json(value).unwrap_or_else(|| value.clone()) {
            Value::Object(fields) => Some(Self(fields)),
            _ => None,
        }
    }

    /// Returns the time at the first of `keys` that has a valid one.
    ///
    /// It is a date, possibly as 8 digits, or the number of seconds, milliseconds or microseconds since 1970. A year alone is
    /// no time.
    pub(crate) fn time(&self, keys: &[&str]) -> Option<DateTime<Utc>> {
        keys.iter().find_map(|key| time_of(self.get(key)?))
    }

    /// Returns the days that the record states without a time; its other times are in UTC.
    pub(crate) fn days(&self) -> Vec<DateTime<Utc>> {
        let days = |value| times_in(value, note::day_of);
        self.0.values().flat_map(days).collect()
    }

    /// Returns the times that the record states without a zone, see [`memory_core::NoteItem::local_times`].
    pub(crate) fn local_times(&self) -> Vec<DateTime<Utc>> {
        let times = |value| times_in(value, note::local_time_of);
        // A moment that the record also states with its zone is that moment.
        let texts = self.0.values().filter_map(Value::as_str);
        let zoned: Vec<_> = texts.filter_map(note::zoned_time_of).collect();
        let mut times: Vec<_> = self.0.values().flat_map(times).collect();
        times.retain(|time| !zoned.contains(time));
        times
    }

    /// Returns whether a flag is set.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        match self.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(text)) => {
                !["0", "false", "no"].contains(&text.to_lowercase().as_str())
            }
            _ => false,
        }
    }
}

/// Splits a list at its commas, or at the other signs or the spaces before `#` that separate it.
fn split_list(text: &str) -> Vec<String> {
    let signs = if text.contains(['&', '(']) {
        &[','][..]
    } else {
        &[',', '，', '、', ';', '；', '|']
    };
    let has_hashes = text.split_whitespace().all(|word| word.starts_with('#'));
    let separator = signs.iter().copied().find(|sign| text.contains(*sign));
    let separator = separator.unwrap_or(if has_hashes { ' ' } else { ',' });
    text.split(separator)
        .map(|item| clean_text(item.trim()))
        .filter(|item| !item.is_empty())
        .collect()
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the text of a single value, if it is not blank.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(clean_text(text)).filter(|text| !text.trim().is_empty()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns `text` with `�` in place of NUL, which no memory may contain.
pub(crate) fn clean_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns the list or object that a text contains as JSON.
fn decode_json(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let is_json = text.starts_with(['[', '{']);
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

fn time_of(value: &Value) -> Option<DateTime<Utc>> {
    match value {
        Value::Number(number) => time_of_number(number.as_f64()?),
        Value::String(text) => {
            note::parse(text).or_else(|| time_of_number(text.trim().parse().ok()?))
        }
        _ => None,
    }
}

/// Returns the days as 8 digits in a value, and the times that `parse` finds in its texts.
fn times_in(value: &Value, parse: fn(&str) -> Option<DateTime<Utc>>) -> Vec<DateTime<Utc>> {
    let number = |count: Option<f64>| count.and_then(day_of_number);
    match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|item| times_in(item, parse))
            .collect(),
        Value::Object(fields) => fields
            .values()
            .flat_map(|field| times_in(field, parse))
            .collect(),
        Value::Number(count) => number(count.as_f64()).into_iter().collect(),
        Value::String(text) => parse(text)
            .or_else(|| number(text.trim().parse().ok()))
            .into_iter()
            .collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// Returns the day that is written as 8 digits.
fn day_of_number(count: f64) -> Option<DateTime<Utc>> {
    let is_day = (1e7..1e8).contains(&count) && count.fract() == 0.0;
    let day = parse_day_as(&format!("{count:.0}"), "%Y%m%d").filter(|_| is_day)?;
    Some(day.and_time(NaiveTime::MIN).and_utc())
}

/// Returns the time that is a day as 8 digits, or a number of seconds, milliseconds or microseconds since 1970, by its
/// magnitude.
///
/// Seconds are from 10^8, which is in 1973, to 10^11, which is in the year 5138. A smaller number may be a year or a count.
fn time_of_number(count: f64) -> Option<DateTime<Utc>> {
    let microseconds = match count.abs() {
        size if size < 1e8 => return day_of_number(count),
        size if size < 1e11 => count * 1e6,
        size if size < 1e14 => count * 1e3,
        size if size < 1e17 => count,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the number is below 10^17")]
    let moment = DateTime::from_timestamp_micros(microseconds.round() as i64)?;
    valid_time(moment)
}

/// Returns the category with the name that another program uses, if its meaning is the same.
pub(crate) fn map_category(name: &str) -> Option<Category> {
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    Some(match name.as_str() {
        "inbox" => return None,
        "character" | "personality" | "persona" => Category::Character,
        "person" | "people" | "human" | "contact" => Category::People,
        "project" | "projects" => Category::Project,
        "fact" | "facts" | "knowledge" | "reference" | "discovery" | "pattern" => {
            Category::Knowledge
        }
        "feedback" => Category::Feedback,
        "preference" | "preferences" | "user_preference" | "user_preferences" => {
            Category::Preferences
        }
        "decision" | "decisions" | "architecture" | "tool_choice" => Category::Decisions,
        "lesson" | "lessons" | "learning" | "gotcha" | "best_practice" | "anti_pattern" => {
            Category::Lessons
        }
        "habit" | "habits" | "routine" => Category::Habits,
        "skill" | "skills" => Category::Skills,
        _ => return name.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{SourceRecord, map_category};

    fn record(value: impl Into<Value>) -> SourceRecord {
        SourceRecord(value.into().as_object().expect("it is an object").clone())
    }

    #[test]
    fn a_moment_that_is_also_stated_with_its_zone_is_not_local() {
        let local = |value: Value| record(value).local_times().len();
        let seen = "2024-05-06 10:00:00";
        assert_eq!(local(json!({"created_at": seen, "seen": seen})), 2);
        assert_eq!(
            local(json!({"created_at": "2024-05-06T10:00:00Z", "seen": seen})),
            0
        );
        assert_eq!(
            local(json!({"created_at": "2024-05-06T11:00:00Z", "seen": seen})),
            1
        );
    }

    #[test]
    fn blank_values_are_missing() {
        let record = record(json!({"a": null, "b": " ", "c": [], "d": {}, "e": 0}));
        assert_eq!(
            ["a", "b", "c", "d", "f"].map(|key| record.get(key)),
            [None; 5]
        );
        assert_eq!(record.text(&["a", "b", "e"]).as_deref(), Some("0"));
    }

    #[test]
    fn nested_keys_have_dots_unless_a_key_contains_the_dot() {
        let record = record(json!({"a.b": 1, "a": {"b": 2, "c": {"d": 3}}}));
        assert_eq!(
            ["a.b", "a.c.d"].map(|key| record.text(&[key])),
            [Some("1".to_owned()), Some("3".to_owned())]
        );
        assert_eq!(
            ["a.c.d.e", "a.x.d", "a."].map(|key| record.get(key)),
            [None; 3]
        );
    }

    #[test]
    fn lists_are_json_or_text_with_commas() {
        assert!(record(json!({"a": "null"})).list("a").is_empty());
        let record =
            record(json!({"a": ["x", 1, null], "b": "[\"x, y\"]", "c": "x, y,,", "d": "[x"}));
        assert_eq!(record.list("a"), ["x", "1"]);
        assert_eq!(record.list("b"), ["x, y"]);
        assert_eq!(record.list("c"), ["x", "y"]);
        assert_eq!(record.list("d"), ["[x"]);
        for text in ["x;y", "x | y", "x、y"] {
            assert_eq!(super::split_list(text), ["x", "y"], "{text}");
        }
        assert_eq!(super::split_list("#x #y"), ["#x", "#y"]);
        assert_eq!(super::split_list("R&amp;D"), ["R&amp;D"]);
        assert_eq!(super::split_list("x;y, z"), ["x;y", "z"]);
    }

    #[test]
    fn times_are_dates_or_counts_since_1970() {
        let expected = "2025-01-02T03:04:05Z".parse().ok();
        for value in [
            json!(1_735_787_045),
            json!(1_735_787_045.0),
            json!(1_735_787_045_000_i64),
            json!(1_735_787_045_000_000_i64),
            json!("2025-01-02T03:04:05+00:00"),
            json!("1735787045"),
        ] {
            assert_eq!(
                record(json!({"at": value})).time(&["none", "at"]),
                expected,
                "{value}"
            );
        }
        for value in [json!(20_240_105), json!("20240105"), json!("2024-01-05")] {
            assert_eq!(
                record(json!({"at": value})).time(&["at"]),
                "2024-01-05T00:00:00Z".parse().ok(),
                "{value}"
            );
        }
        for value in [
            json!("soon"),
            json!(1e300),
            json!(-1e17),
            json!([1]),
            json!("NaN"),
            json!(true),
            json!(2024),
            json!("2024"),
            json!(20_241_301),
            json!("20240230"),
            json!(202_401),
            json!(0),
        ] {
            assert_eq!(record(json!({"at": value})).time(&["at"]), None, "{value}");
        }
    }

    #[test]
    fn categories_map_by_meaning_and_the_inbox_is_none() {
        let mapped =
            ["Decision", "user preferences", "lessons", "inbox", "bugfix"].map(map_category);
        assert_eq!(
            mapped.map(|category| category.map_or("", |category| category.as_str())),
            ["decisions", "preferences", "lessons", "", ""]
        );
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(text in "[\\[{\"a,.0-9eE:T+-]{0,24}", number in any::<f64>(), key in "[a.]{0,6}") {
            let record = record(json!({"a": text, "b": number, "": {"": text}}));
            record.list("a");
            record.object("a");
            record.time(&["a", "b"]);
            record.get(&key);
        }
    }
}
