//! JSON values of any type where a certain type is expected. A value of another type is read as missing.

use std::fmt;
use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use memory_core::valid_time;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::note;

/// A string, number or boolean.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Scalar {
    /// Null, or a value of another type.
    #[default]
    Missing,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

impl Scalar {
    /// Returns the text, if the value is a string that is not empty.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns whether the value is true.
    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Returns the midnight in UTC of a day without a time, see [`memory_core::NoteItem::days`].
    pub(crate) fn day(&self) -> Option<DateTime<Utc>> {
        self.text().and_then(note::day_of)
    }

    /// Returns the time, if the value is a date or a number of seconds or milliseconds since 1970.
    pub(crate) fn time(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Text(text) => note::parse(text),
            Self::Number(number) => time_from_number(*number),
            _ => None,
        }
    }
}

/// The first number that means milliseconds: as seconds it would be in the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;

fn time_from_number(number: f64) -> Option<DateTime<Utc>> {
    let seconds = if FIRST_MILLISECONDS <= number {
        number / 1_000.0
    } else {
        number
    };
    // Exports write 0 where a time is missing.
    if !(0.0 < seconds && seconds < FIRST_MILLISECONDS) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range is checked above"
    )]
    let time = DateTime::from_timestamp_micros((seconds * 1e6).round() as i64)?;
    valid_time(time)
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers are times, which need less precision"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers are times, which need less precision"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Scalar, E> {
        Ok(Scalar::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Missing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Missing)
    }
}

/// An object, or the default value in place of a value of another type.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LenientObject<T>(pub(crate) T);

/// A list, or an empty one in place of a value of another type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LenientList<T>(pub(crate) Vec<T>);

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ContainerVisitor {
                is_list: false,
                value: PhantomData,
            })
            .map(Self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ContainerVisitor {
                is_list: true,
                value: PhantomData,
            })
            .map(Self)
    }
}

struct ContainerVisitor<T> {
    is_list: bool,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ContainerVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        if self.is_list {
            return T::deserialize(SeqAccessDeserializer::new(list));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        if !self.is_list {
            return T::deserialize(MapAccessDeserializer::new(map));
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{LenientList, LenientObject, Scalar};

    #[test]
    fn a_value_of_another_type_is_missing() {
        type Members = LenientObject<BTreeMap<String, Scalar>>;
        let parse = |text| serde_json::from_str::<Members>(text).expect("JSON").0;
        assert_eq!(
            parse(r#"{"a":{"b":[1]},"c":"x"}"#),
            [("a", Scalar::Missing), ("c", Scalar::Text("x".into()))]
                .map(|(key, value)| (key.to_owned(), value))
                .into()
        );
        for text in ["null", "true", "-1", "1", "0.5", r#""x""#, "[[1],{}]"] {
            assert_eq!(parse(text), BTreeMap::new(), "{text}");
        }
        let list = |text| {
            serde_json::from_str::<LenientList<LenientObject<BTreeMap<String, Scalar>>>>(text)
                .expect("JSON")
                .0
                .len()
        };
        assert_eq!((list("[1,{},[]]"), list("{}"), list("null")), (3, 0, 0));
    }

    #[test]
    fn numbers_are_times_in_seconds_or_milliseconds() {
        for (text, time) in [
            ("1700000000.25", Some("2023-11-14T22:13:20.250Z")),
            ("1700000000250", Some("2023-11-14T22:13:20.250Z")),
            (
                r#""2023-11-14T22:13:20.25+00:00""#,
                Some("2023-11-14T22:13:20.250Z"),
            ),
            ("0", None),
            ("-5", None),
            ("1e300", None),
            ("null", None),
        ] {
            let scalar: Scalar = serde_json::from_str(text).expect("JSON");
            assert_eq!(
                scalar.time(),
                time.map(|time| time.parse().expect("a time")),
                "{text}"
            );
        }
    }
}
