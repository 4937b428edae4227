//! Parses YAML within limits on time and memory. The module needs the feature `yaml`.

mod simple;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde_yaml::Error;

/// The maximum nesting of flow collections.
///
/// The parser itself refuses more than 128 levels, but late.
const MAX_DEPTH: usize = 1000;

/// The maximum number of opening brackets in a text with quotes or comments.
///
/// In such a text the nesting is unknown.
const MAX_DOUBTFUL: usize = 5000;

/// The budget of every text, independent of its length.
const BASE_BUDGET: usize = 64 << 10;

/// The message for a text with aliases that expand to too large a value.
const ALIASES_TOO_LARGE: &str = "its aliases expand to too many values";

/// Characters that YAML 1.1 treats as line ends or refuses, but editors and YAML 1.2 treat as letters.
const SPECIAL_LETTERS: [char; 4] = ['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'];

/// A YAML value, with its aliases expanded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum YamlNode {
    /// Empty, `~` or `null`.
    Null,
    /// A number or a boolean; spelled as in the source only by [`parse_spelled`].
    Literal(String),
    /// Text in any style.
    Text(String),
    /// A list.
    List(Vec<YamlNode>),
    /// A map in the order of the source, which may contain duplicate keys.
    Map(Vec<(YamlNode, YamlNode)>),
    /// A value with a custom tag, such as `!custom`.
    Tagged(String, Box<YamlNode>),
}

impl YamlNode {
    /// Returns the value as text for a person. Quotes and the style of lists and maps are lost.
    pub fn to_plain_text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Literal(text) | Self::Text(text) => text.clone(),
            Self::List(items) => items
                .iter()
                .map(Self::to_plain_text)
                .collect::<Vec<_>>()
                .join(", "),
            Self::Map(entries) => {
                let entry = |(key, value): &(Self, Self)| {
                    format!("{}: {}", key.to_plain_text(), value.to_plain_text())
                };
                entries.iter().map(entry).collect::<Vec<_>>().join(", ")
            }
            Self::Tagged(tag, inner) => format!("{tag} {}", inner.to_plain_text()),
        }
    }

    /// Returns whether the value is or contains a number or a boolean.
    pub fn has_literals(&self) -> bool {
        match self {
            Self::Literal(_) => true,
            Self::Null | Self::Text(_) => false,
            Self::List(items) => items.iter().any(Self::has_literals),
            Self::Map(entries) => entries
                .iter()
                .any(|(key, value)| key.has_literals() || value.has_literals()),
            Self::Tagged(_, inner) => inner.has_literals(),
        }
    }

    /// Returns a duplicate key of one of the maps, if any.
    pub fn duplicate_key(&self) -> Option<&YamlNode> {
        match self {
            Self::Null | Self::Literal(_) | Self::Text(_) => None,
            Self::List(items) => items.iter().find_map(Self::duplicate_key),
            Self::Tagged(_, inner) => inner.duplicate_key(),
            Self::Map(entries) => {
                let mut seen = HashSet::with_capacity(entries.len());
                let twice = entries
                    .iter()
                    .map(|(key, _)| key)
                    .find(|key| !seen.insert(*key));
                twice.or_else(|| {
                    entries.iter().find_map(|(key, value)| {
                        key.duplicate_key().or_else(|| value.duplicate_key())
                    })
                })
            }
        }
    }
}

/// The error for a text that is not valid YAML or exceeds a limit.
#[derive(Debug)]
pub struct FrontMatterError {
    /// The line, counted from 0, if it can be determined.
    pub line: Option<usize>,
    /// The cause, as a sentence fragment.
    pub what: String,
}

impl From<Error> for FrontMatterError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        // The message contains lines of the front matter, which differ from the lines of the file, so they are removed.
        let (mut what, mut rest, mut lines) = (String::new(), text.as_str(), Vec::new());
        while let Some((before, after)) = rest.split_once(" at line ") {
            what.push_str(before);
            let (line, after) = after.split_once(" column ").unwrap_or((after, ""));
            lines.extend(line.parse::<usize>());
            rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
        }
        what.push_str(rest);
        let line = error.location().map(|location| location.line());
        // An unexpected end of stream is reported at the end; the position of the opening token is more useful.
        let line = if text.starts_with("found unexpected end of stream") {
            lines.last().copied().or(line)
        } else {
            line
        };
        // The library adds the key before a custom message.
        let what = if what.ends_with(ALIASES_TOO_LARGE) {
            ALIASES_TOO_LARGE.to_owned()
        } else {
            what
        };
        Self {
            line: line.map(|line| line.saturating_sub(1)),
            what,
        }
    }
}

/// Parses YAML, with time and memory proportional to the length of the text.
///
/// # Errors
/// If the text is not valid YAML, or exceeds a limit.
pub fn parse(text: &str) -> Result<YamlNode, FrontMatterError> {
    simple::parse(text).map_or_else(|| parse_any(text), Ok)
}

fn parse_any(text: &str) -> Result<YamlNode, FrontMatterError> {
    if is_blank(text) {
        return Ok(YamlNode::Null);
    }
    check_depth(text)?;
    let letters = LetterSubstitutes::of(text);
    let mut budget = text.len().saturating_mul(2).saturating_add(BASE_BUDGET);
    let seed = NodeBuilder {
        budget: &mut budget,
        letters: &letters,
    };
    Ok(seed.deserialize(serde_yaml::Deserializer::from_str(&letters.hide(text)))?)
}

/// Parses YAML, with numbers and booleans spelled as in the source.
///
/// # Errors
/// If the text is not valid YAML, or exceeds a limit.
pub fn parse_spelled(text: &str) -> Result<YamlNode, FrontMatterError> {
    simple::parse(text).map_or_else(|| parse_fully(text), Ok)
}

/// Does the same as [`parse_spelled`], but without the fast parser.
fn parse_fully(text: &str) -> Result<YamlNode, FrontMatterError> {
    let node = parse_any(text)?;
    Ok(if node.has_literals() {
        restore_spelling(text, node)
    } else {
        node
    })
}

/// Returns `node`, parsed from `text`, with its numbers and booleans spelled as in the source.
fn restore_spelling(text: &str, mut node: YamlNode) -> YamlNode {
    let letters = LetterSubstitutes::of(text);
    let hidden = letters.hide(text);
    // An error is impossible here, because the text was already parsed.
    let _ = SpellingVisitor(&mut node).deserialize(serde_yaml::Deserializer::from_str(&hidden));
    node
}

/// Returns whether a text consists of whitespace and comments.
fn is_blank(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim_matches([' ', '\t', '\r']);
        line.is_empty() || line.starts_with('#')
    })
}

/// Returns an error if flow collections may be nested too deeply.
///
/// The parser takes time proportional to the depth for each token. Closing brackets may be quoted or commented out; in a text
/// with quotes or comments only the opening ones count.
fn check_depth(text: &str) -> Result<(), FrontMatterError> {
    let is_clear = !text.contains(['"', '\'', '#']);
    let limit = if is_clear { MAX_DEPTH } else { MAX_DOUBTFUL };
    let mut depth = 0_usize;
    for (line, bytes) in text.as_bytes().split(|byte| *byte == b'\n').enumerate() {
        for byte in bytes {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' if is_clear => depth = depth.saturating_sub(1),
                _ => {}
            }
            if limit < depth {
                return Err(FrontMatterError {
                    line: Some(line),
                    what: "it is nested too deeply".into(),
                });
            }
        }
    }
    Ok(())
}

/// Maps the [`SPECIAL_LETTERS`] in a text to private-use characters that the text does not contain.
struct LetterSubstitutes(Vec<(char, char)>);

impl LetterSubstitutes {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self(Vec::new());
        }
        let present: Vec<char> = SPECIAL_LETTERS
            .into_iter()
            .filter(|letter| text.contains(*letter))
            .collect();
        if present.is_empty() {
            return Self(Vec::new());
        }
        let taken: HashSet<char> = text
            .chars()
            .filter(|letter| ('\u{e000}'..='\u{f8ff}').contains(letter))
            .collect();
        let free = ('\u{e000}'..='\u{f8ff}').filter(|letter| !taken.contains(letter));
        Self(present.into_iter().zip(free).collect())
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.swap(text, |(letter, stand_in)| (*letter, *stand_in))
    }

    fn restore(&self, text: &str) -> String {
        self.swap(text, |(letter, stand_in)| (*stand_in, *letter))
            .into_owned()
    }

    fn swap<'t>(
        &self,
        text: &'t str,
        order: impl Fn(&(char, char)) -> (char, char),
    ) -> Cow<'t, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let other = |letter| {
            self.0
                .iter()
                .map(&order)
                .find(|(from, _)| *from == letter)
                .map_or(letter, |(_, to)| to)
        };
        text.chars().map(other).collect()
    }
}

/// Builds nodes within a budget, because one alias may expand to millions of nodes.
struct NodeBuilder<'a> {
    budget: &'a mut usize,
    letters: &'a LetterSubstitutes,
}

impl NodeBuilder<'_> {
    fn spend<E: de::Error>(&mut self, price: usize) -> Result<(), E> {
        *self.budget = self
            .budget
            .checked_sub(price)
            .ok_or_else(|| E::custom(ALIASES_TOO_LARGE))?;
        Ok(())
    }

    fn reborrow(&mut self) -> NodeBuilder<'_> {
        NodeBuilder {
            budget: self.budget,
            letters: self.letters,
        }
    }

    fn literal<E: de::Error>(mut self, literal: impl fmt::Display) -> Result<YamlNode, E> {
        self.spend(1)?;
        Ok(YamlNode::Literal(literal.to_string()))
    }
}

impl<'de> DeserializeSeed<'de> for NodeBuilder<'_> {
    type Value = YamlNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlNode, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeBuilder<'_> {
    type Value = YamlNode;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E: de::Error>(mut self) -> Result<YamlNode, E> {
        self.spend(1)?;
        Ok(YamlNode::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<YamlNode, E> {
        self.visit_unit()
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<YamlNode, E> {
        self.literal(value)
    }

    fn visit_str<E: de::Error>(mut self, value: &str) -> Result<YamlNode, E> {
        self.spend(1 + value.len())?;
        Ok(YamlNode::Text(self.letters.restore(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<YamlNode, A::Error> {
        self.spend(1)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.reborrow())? {
            list.push(item);
        }
        Ok(YamlNode::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<YamlNode, A::Error> {
        self.spend(1)?;
        let mut map = Vec::new();
        while let Some(key) = entries.next_key_seed(self.reborrow())? {
            map.push((key, entries.next_value_seed(self.reborrow())?));
        }
        Ok(YamlNode::Map(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(mut self, tagged: A) -> Result<YamlNode, A::Error> {
        let (tag, inner) = tagged.variant::<String>()?;
        self.spend(1 + tag.len())?;
        Ok(YamlNode::Tagged(
            tag,
            Box::new(inner.newtype_variant_seed(self)?),
        ))
    }
}

/// Visits a parsed value again and sets the source spelling of its literals.
struct SpellingVisitor<'a>(&'a mut YamlNode);

impl<'de> DeserializeSeed<'de> for SpellingVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            YamlNode::Literal(_) => deserializer.deserialize_str(self),
            YamlNode::List(_) => deserializer.deserialize_seq(self),
            YamlNode::Map(_) => deserializer.deserialize_map(self),
            YamlNode::Null | YamlNode::Text(_) | YamlNode::Tagged(..) => {
                deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ())
            }
        }
    }
}

impl<'de> Visitor<'de> for SpellingVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of the same shape as before")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        *self.0 = YamlNode::Literal(value.to_owned());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let YamlNode::List(list) = self.0 else {
            return Err(A::Error::custom("a list where another value was expected"));
        };
        for node in list {
            items.next_element_seed(SpellingVisitor(node))?;
        }
        // The deserializer reports an error unless it is read to its end.
        items.next_element::<IgnoredAny>().map(|_| ())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let YamlNode::Map(map) = self.0 else {
            return Err(A::Error::custom("a map where another value was expected"));
        };
        for (key, value) in map {
            entries.next_key_seed(SpellingVisitor(key))?;
            entries.next_value_seed(SpellingVisitor(value))?;
        }
        entries.next_key::<IgnoredAny>().map(|_| ())
    }
}
