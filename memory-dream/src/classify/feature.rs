//! The input of the classifier and its features.

use memory_core::{Memory, Tags};

/// The kind of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeatureKind {
    /// The stem of a word, or one Han character.
    Word,
    /// A word as written, so that `chose` differs from `choose`; or two Han characters.
    Form,
    /// Two adjacent words, or three Han characters; some words are represented by their class.
    Pair,
    /// Three adjacent words.
    Triple,
    /// The start of a sentence.
    Start,
    /// The end of a sentence.
    End,
    /// The classes of two adjacent words of the lexicon.
    Order,
    /// A property of the whole note: its shape, its times, or a word class in it.
    Cue,
}

/// A feature of a note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature {
    /// The key of the feature in the model.
    pub key: u32,
    /// The value of the feature, by which its weights are multiplied.
    pub value: f32,
}

/// A piece of text that features consist of, with its hash, which several features share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FeaturePart<'a> {
    pub(super) text: &'a str,
    pub(super) hash: u32,
}

impl<'a> FeaturePart<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self {
            text,
            hash: fnv_hash(text),
        }
    }
}

/// Returns the FNV-1a hash of a text.
pub(super) const fn fnv_hash(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let (mut hash, mut at) = (0x811c_9dc5, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// The features of one note, without duplicates.
#[derive(Debug, Default)]
pub struct Features {
    found: Vec<StoredFeature>,
    /// A hash table of indices into `found`, each increased by one; 0 marks a free slot.
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct StoredFeature {
    key: u32,
    kind: FeatureKind,
}

impl Features {
    /// Iterates over the features, in the order of the note.
    ///
    /// The value of word features is divided by the square root of their number, so that a long text is not classified with more confidence
    /// than a short one.
    pub fn iter(&self) -> impl Iterator<Item = Feature> {
        let of_words = self
            .found
            .iter()
            .filter(|found| found.kind != FeatureKind::Cue)
            .count();
        #[expect(
            clippy::cast_precision_loss,
            reason = "there are no more words than the first characters of a note give"
        )]
        let share = WORD_SCALE / (of_words.max(MIN_WORD_FEATURES) as f32).sqrt();
        self.found.iter().map(move |found| Feature {
            key: found.key,
            value: match found.kind {
                FeatureKind::Cue => CUE_VALUE,
                _ => share,
            },
        })
    }

    /// Adds a feature with these parts, unless it is present.
    pub(super) fn add(&mut self, kind: FeatureKind, parts: &[FeaturePart<'_>]) {
        let key = key(kind, parts);
        if 2 * self.found.len() >= self.places.len() {
            self.grow();
        }
        let Some(place) = self.free_slot(key) else {
            return;
        };
        self.found.push(StoredFeature { key, kind });
        self.places[place] = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
    }

    /// Adds a feature of kind [`FeatureKind::Cue`].
    pub(super) fn add_cue(&mut self, cue: &str) {
        self.add(FeatureKind::Cue, &[FeaturePart::of(cue)]);
    }

    /// Returns the free slot for `key`; `None` if the key is present.
    fn free_slot(&self, key: u32) -> Option<usize> {
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
        self.places = vec![0; (2 * self.places.len()).max(INITIAL_SLOTS)];
        for number in 0..self.found.len() {
            if let Some(place) = self.free_slot(self.found[number].key) {
                self.places[place] = u32::try_from(number + 1).unwrap_or(u32::MAX);
            }
        }
    }
}

/// Initial number of slots; a power of two.
const INITIAL_SLOTS: usize = 2048;

/// Scale of the values of word features.
const WORD_SCALE: f32 = 4.0;

/// Value of a cue feature.
const CUE_VALUE: f32 = 0.5;

/// Minimum number of word features to assume, which limits the confidence for short notes.
const MIN_WORD_FEATURES: usize = 12;

/// Returns the key of a feature: an order-dependent mix of its kind and the hashes of its parts.
pub(super) fn key(kind: FeatureKind, parts: &[FeaturePart<'_>]) -> u32 {
    let mix = |key: u32, number: u32| {
        let mixed = (key.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b1);
        mixed ^ (mixed >> 15)
    };
    parts
        .iter()
        .fold(mix(0, kind as u32), |key, part| mix(key, part.hash))
}

/// The input of the classifier: the parts of a memory that a person wrote.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierInput<'a> {
    /// Its title, if it has one.
    pub title: Option<&'a str>,
    /// Its text.
    pub content: &'a str,
    /// The name of the folder that it was imported from, if it had one.
    pub folder: Option<&'a str>,
    /// Its tags.
    pub tags: &'a [String],
}

impl<'a> ClassifierInput<'a> {
    /// Creates a note without title and tags.
    pub fn from_text(content: &'a str) -> Self {
        Self {
            title: None,
            content,
            folder: None,
            tags: &[],
        }
    }
}

impl<'a> From<&'a Memory> for ClassifierInput<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self {
            title: memory.title.as_deref(),
            content: &memory.content,
            folder: folder_name(memory),
            tags: Tags::as_slice(&memory.tags),
        }
    }
}

fn folder_name(memory: &Memory) -> Option<&str> {
    let (folders, _) = memory.origin.as_ref()?.path.rsplit_once('/')?;
    folders.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_counts_once_however_often_it_is_there() {
        let mut features = Features::default();
        let words: Vec<String> = (0..2_000).map(|number| format!("word{number}")).collect();
        for word in words.iter().chain(&words) {
            features.add(FeatureKind::Word, &[FeaturePart::of(word)]);
        }
        assert_eq!(features.iter().count(), words.len());
        assert!(
            features
                .iter()
                .zip(&words)
                .all(|(feature, word)| feature.key
                    == key(FeatureKind::Word, &[FeaturePart::of(word)]))
        );
    }

    #[test]
    fn the_same_words_of_another_kind_are_another_feature() {
        let [one, other] = ["use", "keep"].map(FeaturePart::of);
        assert_ne!(
            key(FeatureKind::Word, &[one]),
            key(FeatureKind::Start, &[one])
        );
        assert_ne!(
            key(FeatureKind::Pair, &[one, other]),
            key(FeatureKind::Pair, &[other, one])
        );
    }
}
