//! Words that change the meaning of a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::WORDS;

/// The effect of a word on the meaning of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WordEffect {
    /// It has no effect.
    Filler,
    /// It negates or restricts.
    Negation,
    /// It has an opposite.
    Opposite,
    /// A day, a month or another word for a time.
    Date,
    /// A quantity or a frequency.
    Amount,
    /// A mood or tense: must, may, will or was.
    Mood,
    /// A person.
    Person,
}

/// Returns the effect of a folded word, if it is in one of the lists.
pub(super) fn word_effect(word: &str) -> Option<WordEffect> {
    WORD_EFFECTS.get(word).copied()
}

/// Returns the digits of a number that is written as a word.
pub(super) fn number_digits(word: &str) -> Option<&'static str> {
    NUMBER_WORDS.get(word).copied()
}

static WORD_EFFECTS: LazyLock<HashMap<&str, WordEffect>> = LazyLock::new(|| {
    let lists = [
        (&WORDS.fillers, WordEffect::Filler),
        (&WORDS.negations, WordEffect::Negation),
        (&WORDS.opposites, WordEffect::Opposite),
        (&WORDS.dates, WordEffect::Date),
        (&WORDS.amounts, WordEffect::Amount),
        (&WORDS.moods, WordEffect::Mood),
        (&WORDS.persons, WordEffect::Person),
    ];
    lists
        .into_iter()
        .flat_map(|(words, mark)| words.iter().map(move |word| (*word, mark)))
        .collect()
});

static NUMBER_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = WORDS.digits.iter();
    pairs.filter_map(|pair| pair.split_once('=')).collect()
});
