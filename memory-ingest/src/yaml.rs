//! Front matter as a value, with limits on its expansion.
//!
//! `memory-store` has a parser of its own over the same library. It edits files in place, so it keeps tags and duplicate keys. This one only reads, and refuses what a note cannot mean. The two crates do not depend on
//! each other, and `memory-core` contains no file formats.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A YAML value. Numbers and booleans are stored as text, since nothing computes with them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Yaml {
    /// No value.
    Null,
    /// A text.
    Text(String),
    /// A number or a boolean, as it is written, such as `1.10`, `0x1F` and `1e3`.
    Plain(String),
    /// A list.
    List(Vec<Yaml>),
    /// Keys and values, in order.
    Map(Vec<(String, Yaml)>),
}

/// The reason why a text is not valid YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlParseError {
    /// The line, counted from 1, if the parser reports one.
    pub(crate) line: Option<usize>,
    /// The problem, as a statement.
    pub(crate) what: String,
}

/// Maximum nesting of brackets. The scanner takes time quadratic in the nesting.
const MAX_DEPTH: usize = 256;

/// Maximum number of characters that can separate values. Each value takes the parser about 300 bytes.
const MAX_SEPARATORS: usize = 130_000;

/// Parses a document with its aliases expanded.
///
/// Each value costs its length in bytes plus 1. In total the values may cost at most twice the size of `source` plus
/// 10,000.
pub(crate) fn parse(source: &str) -> Result<Yaml, YamlParseError> {
    if MAX_DEPTH < nesting_depth(source) {
        return Err(YamlParseError {
            line: None,
            what: "its brackets are nested too deeply".into(),
        });
    }
    if MAX_SEPARATORS
        < source
            .bytes()
            .filter(|byte| b"[]{},:-?\n".contains(byte))
            .count()
    {
        return Err(YamlParseError {
            line: None,
            what: "it has too many values".into(),
        });
    }
    let budget = Cell::new(2 * source.len() + 10_000);
    let parsed = YamlSeed(&budget).deserialize(serde_yaml::Deserializer::from_str(source));
    parsed
        .map(|mut value| {
            if value.has_plain() {
                // The text was parsed before, so this does not fail.
                let _ = SpellingSeed(&mut value)
                    .deserialize(serde_yaml::Deserializer::from_str(source));
            }
            value
        })
        .map_err(|error| {
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or_default();
            YamlParseError {
                line: error.location().map(|location| location.line()),
                what: what.to_owned(),
            }
        })
}

fn nesting_depth(source: &str) -> usize {
    let mut now = 0_usize;
    let mut deepest = 0;
    for byte in source.bytes() {
        match byte {
            b'[' | b'{' => now += 1,
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

impl Yaml {
    /// Returns the text of a single value.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Plain(text) => Some(text),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the value of a key, if this is a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(fields) => fields
                .iter()
                .find(|(own, _)| own == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns whether the value contains a number or a boolean.
    fn has_plain(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::List(items) => items.iter().any(Self::has_plain),
            Self::Map(fields) => fields.iter().any(|(_, value)| value.has_plain()),
            Self::Null | Self::Text(_) => false,
        }
    }

    /// Calls `see` with every text in the value, at any depth.
    pub(crate) fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Self::Text(text) => see(text),
            Self::List(items) => items.iter().for_each(|item| item.for_each_text(see)),
            Self::Map(fields) => fields
                .iter()
                .for_each(|(_, value)| value.for_each_text(see)),
            Self::Null | Self::Plain(_) => {}
        }
    }
}

struct YamlSeed<'a>(&'a Cell<usize>);

impl YamlSeed<'_> {
    fn spend_budget<E: Error>(&self, size: usize) -> Result<(), E> {
        let left = self
            .0
            .get()
            .checked_sub(size + 1)
            .ok_or_else(|| E::custom("its aliases expand to too many values"))?;
        self.0.set(left);
        Ok(())
    }

    fn plain_value<E: Error>(&self, value: &impl fmt::Debug) -> Result<Yaml, E> {
        let text = format!("{value:?}");
        self.spend_budget(text.len())?;
        Ok(Yaml::Plain(text))
    }
}

impl<'de> DeserializeSeed<'de> for YamlSeed<'_> {
    type Value = Yaml;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for YamlSeed<'_> {
    type Value = Yaml;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_unit<E: Error>(self) -> Result<Yaml, E> {
        self.spend_budget(0)?;
        Ok(Yaml::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Yaml, E> {
        self.visit_unit()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Yaml, E> {
        self.plain_value(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Yaml, E> {
        self.spend_budget(value.len())?;
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Yaml, A::Error> {
        self.spend_budget(0)?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(YamlSeed(self.0))? {
            items.push(item);
        }
        Ok(Yaml::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Yaml, A::Error> {
        self.spend_budget(0)?;
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = access.next_key_seed(YamlSeed(self.0))? {
            let key = match key {
                Yaml::Text(key) | Yaml::Plain(key) => key,
                Yaml::Null => String::new(),
                Yaml::List(_) | Yaml::Map(_) => {
                    return Err(A::Error::custom("one of its keys is not a text"));
                }
            };
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key} is a duplicate")));
            }
            fields.push((key, access.next_value_seed(YamlSeed(self.0))?));
        }
        Ok(Yaml::Map(fields))
    }
}

/// Visits a parsed value again, and sets the spelling of its numbers and booleans.
struct SpellingSeed<'a>(&'a mut Yaml);

impl<'de> DeserializeSeed<'de> for SpellingSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Yaml::Plain(_) => deserializer.deserialize_str(self),
            Yaml::List(_) => deserializer.deserialize_seq(self),
            Yaml::Map(_) => deserializer.deserialize_map(self),
            Yaml::Null | Yaml::Text(_) => {
                deserializer.deserialize_ignored_any(IgnoredAny).map(drop)
            }
        }
    }
}

impl<'de> Visitor<'de> for SpellingSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of the same shape as before")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        *self.0 = Yaml::Plain(value.to_owned());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Yaml::List(items) = self.0 {
            for item in items {
                access.next_element_seed(SpellingSeed(item))?;
            }
        }
        // The parser reports an error unless a list is read to its end.
        access.next_element::<IgnoredAny>().map(drop)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Yaml::Map(fields) = self.0 {
            for (_, value) in fields {
                access.next_key::<IgnoredAny>()?;
                access.next_value_seed(SpellingSeed(value))?;
            }
        }
        access.next_key::<IgnoredAny>().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{Yaml, parse};

    #[test]
    fn values_keep_their_order_and_numbers_their_text() {
        let text = |text: &str| Yaml::Text(text.into());
        let plain = |text: &str| Yaml::Plain(text.into());
        let fields = [
            ("b", text("x")),
            ("a", plain("1")),
            (
                "c",
                Yaml::List(vec![plain("true"), Yaml::Null, text("2024-01-02")]),
            ),
        ];
        let fields = fields.map(|(key, value)| (key.to_owned(), value)).to_vec();
        assert_eq!(
            parse("b: x\na: 1\nc: [true, ~, 2024-01-02]"),
            Ok(Yaml::Map(fields))
        );
        assert_eq!(parse("# nothing"), Ok(Yaml::Null));
    }

    #[test]
    fn numbers_and_booleans_keep_their_spelling() {
        let Ok(Yaml::Map(fields)) =
            parse("a: [007, 1.10, 1e3, 0x1F, 1_000, True]\nb: {c: 2.50}\nd: &x 0.0\ne: *x")
        else {
            panic!("it is a map")
        };
        let plain = |text: &&str| Yaml::Plain((*text).to_owned());
        let list = ["1.10", "1e3", "0x1F", "True"];
        let Yaml::List(items) = &fields[0].1 else {
            panic!("it is a list")
        };
        assert!(
            list.iter().all(|text| items.contains(&plain(text))),
            "{items:?}"
        );
        assert_eq!(fields[1].1.get("c"), Some(&plain(&"2.50")));
        assert_eq!(fields[2].1, fields[3].1);
        assert_eq!(fields[2].1, plain(&"0.0"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |source: &str| parse(source).expect_err("it is wrong");
        assert_eq!(wrong("a: 1\nb: \"x\n").line, Some(3));
        assert_eq!(wrong("a: 1\nb: 2\na: 3").what, "the key a is a duplicate");
    }

    #[test]
    fn what_only_an_edit_in_place_needs_is_refused_or_dropped() {
        assert!(
            parse("a: !custom x").is_err(),
            "a tag has no meaning for a note"
        );
        assert!(parse("[a, b]: x").is_err(), "a key is a text");
    }

    #[test]
    fn no_bomb_goes_off() {
        use std::fmt::Write;
        let mut powers = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for level in 1..10 {
            let alias = format!("*a{}", level - 1);
            writeln!(
                powers,
                "a{level}: &a{level} [{}]",
                [alias.as_str(); 9].join(",")
            )
            .expect("a string takes all");
        }
        let long = format!(
            "a: &a [{}]\nb: [{}]",
            "x,".repeat(20_000),
            "*a,".repeat(20_000)
        );
        let text = format!(
            "a: &a {}\nb: [{}]",
            "x".repeat(100_000),
            "*a,".repeat(100_000)
        );
        let wide = format!("[{}]", "x,".repeat(400_000));
        let deep = "[".repeat(500_000);
        // An unlimited expansion would not end within a lifetime.
        for bomb in [powers, long, text, wide, deep] {
            assert!(parse(&bomb).is_err());
        }
    }
}
