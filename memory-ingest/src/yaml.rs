//! Front matter as a value that a note can mean.

use std::collections::HashSet;

use memory_core::yaml::{self, YamlNode};

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

/// Maximum number of characters that can separate values. Each value takes the parser about 300 bytes.
const MAX_SEPARATORS: usize = 130_000;

/// Parses a document with its aliases expanded. Tags, duplicate keys and keys that are no text have no meaning for a note.
pub(crate) fn parse(source: &str) -> Result<Yaml, YamlParseError> {
    let error = |line, what| YamlParseError { line, what };
    if MAX_SEPARATORS
        < source
            .bytes()
            .filter(|byte| b"[]{},:-?\n".contains(byte))
            .count()
    {
        return Err(error(None, "it has too many values".into()));
    }
    let node = yaml::parse_spelled(source).map_err(|own| {
        let what = own.what.split(", while ").next().unwrap_or_default();
        error(own.line.map(|line| line + 1), what.to_owned())
    })?;
    Yaml::from_node(node).map_err(|what| error(None, what))
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

    fn from_node(node: YamlNode) -> Result<Self, String> {
        Ok(match node {
            YamlNode::Null => Self::Null,
            YamlNode::Literal(text) => Self::Plain(text),
            YamlNode::Text(text) => Self::Text(text),
            YamlNode::List(items) => {
                let items = items.into_iter().map(Self::from_node);
                Self::List(items.collect::<Result<_, _>>()?)
            }
            YamlNode::Map(entries) => {
                let (mut fields, mut seen) = (Vec::new(), HashSet::new());
                for (key, value) in entries {
                    let key = match key {
                        YamlNode::Text(key) | YamlNode::Literal(key) => key,
                        YamlNode::Null => String::new(),
                        _ => return Err("one of its keys is not a text".into()),
                    };
                    if !seen.insert(key.clone()) {
                        return Err(format!("the key {key} is a duplicate"));
                    }
                    fields.push((key, Self::from_node(value)?));
                }
                Self::Map(fields)
            }
            YamlNode::Tagged(tag, _) => return Err(format!("the tag {tag} has no meaning")),
        })
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
        assert_eq!(wrong("a: 1\nb: \"x\n").line, Some(2));
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
