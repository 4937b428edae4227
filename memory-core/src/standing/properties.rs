//! Single-valued properties of responses, such as their language.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::polarity::{folded_words, is_negated, without_negation};
use super::words::{language, language_at};
use crate::language::{WORDS, unspaced};
use crate::text::fold;

/// A single-valued property of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Language,
    Units,
    Temperature,
    Length,
    Spelling,
    Clock,
    Address,
    Name,
}

/// The words for one value of a property.
type ValueWords = &'static [&'static str];

/// The properties with values that are words.
static VALUES: LazyLock<Vec<(Property, Vec<ValueWords>)>> = LazyLock::new(|| {
    let words = &*WORDS;
    vec![
        (Property::Units, vec![&words.metric, &words.imperial]),
        (
            Property::Temperature,
            vec![&words.celsius, &words.fahrenheit, &words.kelvin],
        ),
        (Property::Length, vec![&words.short, &words.long]),
        (Property::Clock, vec![&words.clock_24, &words.clock_12]),
        (
            Property::Address,
            vec![&words.informal_address, &words.formal_address],
        ),
        (Property::Spelling, words.spellings.chunks(1).collect()),
    ]
});

/// A property that a sentence sets, or a value that it forbids.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PropertyRequest {
    property: Property,
    value: String,
    is_negated: bool,
}

impl PropertyRequest {
    /// Returns the request in a sentence such as `answer in German, not in English` or `stop answering in German`; `None` if the
    /// sentence has other content.
    pub(super) fn parse(sentence: &str) -> Option<Self> {
        let main = &sentence[..contrast_offset(sentence)];
        let is_double = ["don't stop", "do not stop", "never stop"]
            .iter()
            .any(|words| fold(main).contains(words));
        let is_negated = is_negated(main) && !is_double;
        let (property, value) = if is_negated || is_double {
            property(&without_negation(main))
        } else {
            property(main)
        }?;
        Some(Self {
            property,
            value,
            is_negated,
        })
    }

    /// Returns whether this newer request replaces `older`: it sets another value, or changes whether the same value is wanted.
    pub(super) fn replaces(&self, older: &Self) -> bool {
        let is_same = self.value == older.value;
        self.property == older.property
            && if self.is_negated || older.is_negated {
                is_same && self.is_negated != older.is_negated
            } else {
                !is_same
            }
    }
}

/// Returns the byte offset at which a sentence starts to name what it replaces, as in `use tabs instead of spaces`.
fn contrast_offset(sentence: &str) -> usize {
    let lower = sentence.to_ascii_lowercase();
    let words = WORDS.contrasts.iter();
    words
        .filter_map(|word| lower.find(word))
        .filter(|at| 0 < *at)
        .min()
        .unwrap_or(sentence.len())
}

/// Returns the single property that a sentence sets, with its value; `None` if the sentence has other content, or negates it.
fn property(sentence: &str) -> Option<(Property, String)> {
    if let Some(name) = name(sentence) {
        return Some((Property::Name, name));
    }
    let words = folded_words(sentence);
    let mut left = words
        .iter()
        .map(String::as_str)
        .filter(|word| !WORDS.frame.contains(word));
    let spelling = words.iter().any(|word| word == "spelling");
    let mut found = BTreeSet::new();
    let mut property = None;
    let is_property = left.all(|word| {
        let (kind, value) = if let Some((kind, value)) = word_value(word) {
            (kind, value)
        } else if let Some(language) = language(word) {
            // `British English`, `English spelling`
            if property == Some(Property::Spelling) || spelling {
                return true;
            }
            (Property::Language, language)
        } else {
            return false;
        };
        found.insert(value);
        property.replace(kind).is_none_or(|other| other == kind)
    });
    let property = property.filter(|_| is_property && found.len() == 1);
    property
        .zip(found.first().map(|value| (*value).to_owned()))
        .or_else(|| chinese_property(sentence))
}

fn word_value(word: &str) -> Option<(Property, &'static str)> {
    VALUES.iter().find_map(|(property, values)| {
        let names = values.iter().find(|names| names.contains(&word))?;
        Some((*property, names[0]))
    })
}

/// Returns the property of a sentence such as `请用中文回答` or `请用公制单位`.
fn chinese_property(sentence: &str) -> Option<(Property, String)> {
    let text = fold(sentence);
    let value = |text: &str| {
        let unit = VALUES.iter().find_map(|(property, values)| {
            let is_at = |name: &&&str| !name.is_ascii() && text.starts_with(**name);
            values
                .iter()
                .find_map(|names| Some((*property, names[0], names.iter().find(is_at)?.len())))
        });
        unit.or_else(|| {
            language_at(text).map(|(language, length)| (Property::Language, language, length))
        })
    };
    let (at, (property, value, length)) = text
        .char_indices()
        .find_map(|(at, _)| Some((at, value(&text[at..])?)))?;
    let rest = text[..at].chars().chain(text[at + length..].chars());
    let is_alone = rest
        .filter(|letter| letter.is_alphanumeric())
        .all(|letter| unspaced(&WORDS.frame).any(|word| word.contains(letter)));
    is_alone.then(|| (property, value.to_owned()))
}

/// The maximum number of words of a name.
const MAX_NAME_WORDS: usize = 3;

/// Returns the name in `call me Max` and its equivalents, if the sentence sets nothing else.
fn name(sentence: &str) -> Option<String> {
    let text = fold(sentence);
    if let Some(after) = unspaced(&WORDS.naming).find_map(|verb| Some(text.split_once(verb)?.1)) {
        return Some(
            after
                .chars()
                .take_while(|letter| letter.is_alphanumeric())
                .collect(),
        )
        .filter(|name: &String| !name.is_empty());
    }
    let words = folded_words(sentence);
    let start = (0..words.len()).find_map(|at| {
        let is_at = |verb: &&&str| {
            let mut rest = words[at..].iter();
            verb.split(' ')
                .all(|word| rest.next().is_some_and(|own| own == word))
        };
        let verb = WORDS.naming.iter().find(is_at)?;
        let next = at + verb.split(' ').count();
        let is_name = words
            .get(next)
            .is_some_and(|word| !WORDS.not_names.contains(&word.as_str()));
        is_name.then_some(next)
    })?;
    let name: Vec<String> = words[start..]
        .iter()
        .filter(|word| !WORDS.name_fillers.contains(&word.as_str()))
        .cloned()
        .collect();
    let is_name = (1..=MAX_NAME_WORDS).contains(&name.len())
        && !name
            .iter()
            .any(|word| ["and", "und", "et", "in"].contains(&word.as_str()));
    is_name.then(|| name.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_sets_one_property_is_understood() {
        for (text, expected, value) in [
            ("Answer in German.", Property::Language, "german"),
            (
                "Antworte mir immer auf Deutsch.",
                Property::Language,
                "german",
            ),
            (
                "Réponds toujours en français.",
                Property::Language,
                "french",
            ),
            ("请用中文回答。", Property::Language, "chinese"),
            ("Always answer in metric units.", Property::Units, "metric"),
            ("Use Fahrenheit", Property::Temperature, "fahrenheit"),
            ("I want short answers.", Property::Length, "short"),
            (
                "Please use British spelling.",
                Property::Spelling,
                "british",
            ),
            ("Call me Jo.", Property::Name, "jo"),
            ("I'd like to be called Jo", Property::Name, "jo"),
            ("Use the 24-hour clock.", Property::Clock, "24-hour"),
            ("Bitte duze mich.", Property::Address, "duze"),
            ("Switch back to metric units.", Property::Units, "metric"),
            ("请用英制单位", Property::Units, "imperial"),
            ("请叫我小王", Property::Name, "小王"),
        ] {
            assert_eq!(property(text), Some((expected, value.to_owned())), "{text}");
        }
        for text in [
            "Write commit messages in English.",
            "Use tabs.",
            "Functions should be called lazily.",
            "Call me Max and answer in German.",
            "Address me in German.",
            "Call me when the build fails.",
            "Answer in German and in French.",
            "Answer in German in metric units.",
            "The weekly report is in English",
        ] {
            assert_eq!(property(text), None, "{text}");
        }
    }
}
