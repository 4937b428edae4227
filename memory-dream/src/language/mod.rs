//! The words of languages, in files of word classes as in [`memory_core::language`].
//!
//! `words.json` has the classes of [`CommonWords`], which are searched together, `reminders.json` those of the requests for reminders,
//! `lexicon.json` those of the classifier, by the names of its word classes, and `names.json` what people call each category.

use std::sync::LazyLock;

use memory_core::word_classes;

/// The words of all languages.
pub(crate) static WORDS: LazyLock<CommonWords> = LazyLock::new(|| {
    CommonWords::read(&[
        include_str!("en/words.json"),
        include_str!("zh/words.json"),
        include_str!("de/words.json"),
    ])
});

word_classes! {
    /// The word classes of `words.json`. Of Chinese, an entry of the times has all characters of such words.
    CommonWords {
        /// The beginnings of all words that name times, except numbers.
        time_beginnings,
        /// The beginnings of words for which the classifier reads the times of a text.
        classified_times,
        /// Words for times that a summary must keep.
        summary_times,
        /// Remarks of a model on its task, in any place and at the start of its answer.
        remarks,
        remark_openings,
        /// Abbreviations after which a full stop does not end a sentence.
        abbreviations,
        /// Words by their effect on the meaning of a sentence.
        fillers,
        negations,
        opposites,
        dates,
        amounts,
        moods,
        persons,
        /// Separators of the times of a list. "Or" separates alternatives.
        joints,
        /// Parts of the names of hours, minutes and seconds.
        short_units,
        /// Endings that make a different word, as in `business` and `busy`; the first one that fits counts.
        endings,
        /// Numbers that are written as words, each with its digits: `one=1`.
        digits,
    }
}

/// Returns whether a word of a text begins like one of `words`, or the text has a character of one that is not ASCII.
pub(crate) fn has_beginning(text: &str, words: &[&str]) -> bool {
    let characters: String = words
        .iter()
        .copied()
        .filter(|word| !word.is_ascii())
        .collect();
    let begins = |word: &str| {
        words.iter().any(|own| {
            word.get(..own.len())
                .is_some_and(|first| first.eq_ignore_ascii_case(own))
        })
    };
    text.contains(|character| characters.contains(character))
        || text
            .split(|character: char| !character.is_ascii_alphabetic())
            .any(begins)
}
