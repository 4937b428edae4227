//! What a note is weighed by: features, each a number of the note that has a weight for every category.

use super::cue::Cue;

/// What kind of thing in a note a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A word, as its stem; or one character of Han.
    Word,
    /// A word as it is written, so that `chose` is not `choose`; or two characters of Han.
    Form,
    /// Two neighbouring words, or three characters of Han; words of the lexicon stand as what they do.
    Pair,
    /// Three neighbouring words.
    Triple,
    /// What a sentence begins with.
    Start,
    /// What a sentence ends with.
    End,
    /// Which kinds of words follow each other in a sentence.
    Order,
    /// A property of the whole note: its shape, its times, a kind of word in it.
    Cue,
    /// A tag that names a category.
    Tag,
}

impl Kind {
    /// Tells how a feature of this kind is called where people read.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Form => "written",
            Self::Pair | Self::Triple => "words",
            Self::Start => "begins with",
            Self::End => "ends with",
            Self::Order => "in this order",
            Self::Cue => "has",
            Self::Tag => "tag",
        }
    }
}

/// One feature of a note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature<'a> {
    /// What it is known by among the weights.
    pub key: u32,
    /// How much of it there is; weights are multiplied by it.
    pub value: f32,
    /// What kind of thing it is.
    pub kind: Kind,
    /// The words that it is made of, if they were asked for.
    pub text: &'a str,
}

/// A piece of text that features are made of. Its hash is reckoned once, because it is part of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) hash: u32,
}

impl<'a> Part<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, hash: hash(text) }
    }
}

/// The FNV-1a hash.
pub(super) const fn hash(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let (mut hash, mut at) = (0x811c_9dc5, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

impl Feature<'_> {
    /// Returns what a feature of one part is known by.
    pub fn key(kind: Kind, text: &str) -> u32 {
        key(kind, &[Part::of(text)])
    }
}

/// The features of one note, each once.
#[derive(Debug, Default)]
pub struct Features {
    /// The cue that decides the category of the note, if it has one.
    pub(super) cue: Option<Cue>,
    /// The words of all features, if they are wanted.
    texts: Option<String>,
    found: Vec<Found>,
    /// A hash table of places in `found`, each one more than it is; 0 is free.
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    key: u32,
    kind: Kind,
    start: u32,
    end: u32,
}

impl Features {
    /// Returns features that will tell their words.
    pub(super) fn in_words() -> Self {
        Self { texts: Some(String::new()), ..Self::default() }
    }

    /// Iterates over the features, in the order in which the note has them.
    ///
    /// A text of many words is no surer than one of few: what its words say is divided by the root of how many there are.
    pub fn iter(&self) -> impl Iterator<Item = Feature<'_>> {
        let of_words = self.found.iter().filter(|found| is_of_words(found.kind)).count();
        #[expect(clippy::cast_precision_loss, reason = "there are no more words than the first characters of a note give")]
        let share = WORDS_IN_ALL / (of_words.max(FEW_WORDS) as f32).sqrt();
        self.found.iter().map(move |found| Feature {
            key: found.key,
            value: match found.kind {
                Kind::Cue => CUE,
                Kind::Tag => TAG,
                _ => share,
            },
            kind: found.kind,
            text: self.texts.as_ref().map_or("", |texts| &texts[found.start as usize..found.end as usize]),
        })
    }

    /// Adds a feature made of these parts, unless it is there.
    pub(super) fn add(&mut self, kind: Kind, parts: &[Part<'_>]) {
        let key = key(kind, parts);
        if 2 * self.found.len() >= self.places.len() {
            self.grow();
        }
        let Some(place) = self.free(key) else { return };
        let (mut start, mut end) = (0, 0);
        if let Some(texts) = &mut self.texts {
            start = texts.len();
            append(texts, kind, parts);
            end = texts.len();
        }
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else { return };
        self.found.push(Found { key, kind, start, end });
        self.places[place] = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
    }

    /// Adds a cue.
    pub(super) fn cue(&mut self, cue: &str) {
        self.add(Kind::Cue, &[Part::of(cue)]);
    }

    /// Returns the free place for `key`, if the key is not there.
    fn free(&self, key: u32) -> Option<usize> {
        let mask = self.places.len() - 1;
        let mut place = key as usize & mask;
        while self.places[place] != 0 {
            if self.found[self.places[place] as usize - 1].key == key {
                return None;
            }
            place = (place + 1) & mask;
        }
        Some(place)
    }

    fn grow(&mut self) {
        self.places = vec![0; (2 * self.places.len()).max(SMALLEST)];
        for number in 0..self.found.len() {
            if let Some(place) = self.free(self.found[number].key) {
                self.places[place] = u32::try_from(number + 1).unwrap_or(u32::MAX);
            }
        }
    }
}

/// How many places there are at first; a power of two.
const SMALLEST: usize = 2048;

/// How much all words of a note count together.
const WORDS_IN_ALL: f32 = 4.0;

/// How much a cue counts.
const CUE: f32 = 0.5;

/// How much a tag counts that names a category: what somebody said themselves outweighs what we make of their words.
const TAG: f32 = 2.5;

/// Shorter notes are not made surer than they are.
const FEW_WORDS: usize = 12;

fn is_of_words(kind: Kind) -> bool {
    !matches!(kind, Kind::Cue | Kind::Tag)
}

pub(super) fn is_han(character: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&character)
}

fn append(texts: &mut String, kind: Kind, parts: &[Part<'_>]) {
    for (number, part) in parts.iter().enumerate() {
        if 0 < number {
            texts.push_str(match kind {
                Kind::Order => " → ",
                // What is written without blanks is shown without.
                _ if part.text.starts_with(is_han) && texts.ends_with(is_han) => "",
                _ => " ",
            });
        }
        texts.push_str(part.text);
    }
}

/// Returns what a feature is known by: the hashes of its parts and its kind, mixed so that their order matters.
pub(super) fn key(kind: Kind, parts: &[Part<'_>]) -> u32 {
    let mix = |key: u32, number: u32| {
        let mixed = (key.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b1);
        mixed ^ (mixed >> 15)
    };
    parts.iter().fold(mix(0, kind as u32), |key, part| mix(key, part.hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_counts_once_however_often_it_is_there() {
        let mut features = Features::in_words();
        let words: Vec<String> = (0..2_000).map(|number| format!("word{number}")).collect();
        for word in words.iter().chain(&words) {
            features.add(Kind::Word, &[Part::of(word)]);
        }
        assert_eq!(features.iter().count(), words.len());
        assert!(features.iter().zip(&words).all(|(feature, word)| feature.text == word));
    }

    #[test]
    fn the_same_words_of_another_kind_are_another_feature() {
        let [one, other] = ["use", "keep"].map(Part::of);
        assert_ne!(key(Kind::Word, &[one]), key(Kind::Start, &[one]));
        assert_ne!(key(Kind::Pair, &[one, other]), key(Kind::Pair, &[other, one]));
    }
}
