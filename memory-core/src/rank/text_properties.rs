//! Properties of texts that serve as ranking features.

use crate::SpeakerRole;
use crate::language::{WORDS, unspaced};
use crate::text::fold;

/// Properties of a text that indicate which kinds of query it can match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextProperties {
    /// Whether the text contains a first-person pronoun.
    pub first_person: bool,
    /// Whether the text contains a time expression.
    pub tells_time: bool,
    /// The number of capitalized words within sentences, mostly names; at most 3.
    pub capitals: u8,
    /// Whether the text ends with a question.
    pub ends_asking: bool,
    /// The role of the author, if known; it is not derived from the text.
    pub role: Option<SpeakerRole>,
}

impl TextProperties {
    /// Computes the properties of `text`; `role` is `None`.
    pub fn of(text: &str) -> Self {
        let mut facts = Self {
            ends_asking: ends_with_question(text),
            ..Self::default()
        };
        let has_any = |class| !text.is_ascii() && unspaced(class).any(|word| text.contains(word));
        facts.first_person = has_any(&WORDS.first_person);
        facts.tells_time = has_any(&WORDS.time_words);
        let mut begins = true;
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            let bare = bare.split(['\'', '’']).next().unwrap_or(bare);
            if !bare.is_empty() {
                facts.add_word(bare, begins);
            }
            begins = word.ends_with(['.', '!', '?', ':', '。', '！', '？', '：']);
        }
        facts
    }

    fn add_word(&mut self, word: &str, begins: bool) {
        let lower = fold(word);
        self.first_person |= WORDS.first_person.contains(&lower.as_str());
        self.tells_time |=
            WORDS.time_words.contains(&lower.as_str()) || is_year(&lower) || is_hour(&lower);
        if !begins && word != "I" && word.starts_with(char::is_uppercase) {
            self.capitals = self.capitals.saturating_add(1).min(3);
        }
    }

    /// Encodes the properties as bits; the layout is part of the index format.
    pub fn to_bits(self) -> u64 {
        let bit = |is: bool, place: u32| u64::from(is) << place;
        let role = match self.role {
            None => 0,
            Some(SpeakerRole::Person) => 1,
            Some(SpeakerRole::Assistant) => 2,
            Some(SpeakerRole::Tool) => 3,
            Some(SpeakerRole::Author) => 4,
        };
        let capitals = u64::from(self.capitals) << 3;
        bit(self.first_person, 0)
            | bit(self.tells_time, 1)
            | bit(self.ends_asking, 2)
            | capitals
            | role << 5
    }

    /// Decodes the result of [`TextProperties::to_bits`].
    pub fn from_bits(bits: u64) -> Self {
        let bit = |place: u32| bits >> place & 1 == 1;
        let capitals = u8::try_from(bits >> 3 & 3).unwrap_or_default();
        let role = match bits >> 5 & 7 {
            1 => Some(SpeakerRole::Person),
            2 => Some(SpeakerRole::Assistant),
            3 => Some(SpeakerRole::Tool),
            4 => Some(SpeakerRole::Author),
            _ => None,
        };
        Self {
            first_person: bit(0),
            tells_time: bit(1),
            capitals,
            ends_asking: bit(2),
            role,
        }
    }
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_hour(word: &str) -> bool {
    let digits = word
        .strip_suffix("am")
        .or_else(|| word.strip_suffix("pm"))
        .unwrap_or_default();
    (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns whether the text ends with a question mark, ignoring trailing text in brackets.
fn ends_with_question(text: &str) -> bool {
    let mut rest = text.trim_end();
    while let Some(open) = rest.strip_suffix(']').and_then(|inner| inner.rfind('[')) {
        rest = rest[..open].trim_end();
    }
    rest.ends_with(['?', '？'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facts_are_seen_in_both_languages() {
        let facts = TextProperties::of("Yesterday I met Anna in Berlin. Did you know? [a photo]");
        assert_eq!(
            facts,
            TextProperties {
                first_person: true,
                tells_time: true,
                capitals: 2,
                ends_asking: true,
                role: None
            }
        );
        let facts = TextProperties::of("我昨天去了超市。");
        assert_eq!(
            facts,
            TextProperties {
                first_person: true,
                tells_time: true,
                ..TextProperties::default()
            }
        );
        assert_eq!(
            TextProperties::of("Deploys need approval."),
            TextProperties::default()
        );
        assert!(
            TextProperties::of("at 5pm").tells_time
                && TextProperties::of("in 2023").tells_time
                && !TextProperties::of("port 5432").tells_time
        );
    }

    proptest! {
        #[test]
        fn bits_come_back_as_the_facts_they_were(text in any::<String>(), role in 0..5_u64) {
            let role = TextProperties::from_bits(role << 5).role;
            let facts = TextProperties { role, ..TextProperties::of(&text) };
            prop_assert_eq!(TextProperties::from_bits(facts.to_bits()), facts);
        }
    }
}
