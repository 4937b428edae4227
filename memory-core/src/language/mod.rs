//! The words of languages, as data.
//!
//! # Files
//!
//! The folder of a language is named by its code and has one JSON file per use. A file is an object of word classes, each a list:
//!
//! ```json
//! { "conditions": ["ob", "wenn"], "change_phrases": ["nicht mehr"] }
//! ```
//!
//! | file | languages | classes |
//! |---|---|---|
//! | `words.json` | all | `CommonWords`: the words of all languages are searched together |
//! | `standing.json` | de, es, fr | those of `standing/grammar.rs`, the grammar of standing sentences, which tries each language |
//! | other files | en, zh | those of the module that reads the file; `speech_act.json` belongs to `conversation/speech_act` |
//!
//! `names.json` has the names of languages in all languages, `zones.json` those of time zones, and `rescheduling.json` the words next to the
//! old and the new time of an event. The words for the background work are in `memory-dream/src/language`.
//!
//! A class that a file leaves out is empty, and an unknown class fails the tests.
//!
//! # Words
//!
//! Words are in lower case and folded as by [`fold`](crate::text::fold()): `möchte` is `mochte`, and Chinese is simplified. Entries with
//! a space are phrases. An entry that is not ASCII then is of a script without spaces and is found in any place; others are whole words.
//!
//! # Adding a language
//!
//! Add a folder with `words.json`, a `standing.json` if the language has the order of words that the grammar expects, and one line to
//! `LANGUAGES`. CONTRIBUTING.md describes how to test it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Declares the classes of files of words, as a struct of lists with a function that reads several files, or with a constant for one file.
///
/// In the struct for one file, a class may have another type.
#[doc(hidden)]
#[macro_export]
macro_rules! word_classes {
    (@type) => { Vec<&'static str> };
    (@type $type:ty) => { $type };
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $class:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $class: Vec<&'static str>,)*
        }

        impl $name {
            /// Reads files of words. A class of several files has the words of all of them.
            fn read(files: &[&'static str]) -> Self {
                let mut classes = $crate::language::read_classes(files);
                let words = Self {
                    $($class: classes.remove(stringify!($class)).unwrap_or_default(),)*
                };
                assert!(classes.is_empty(), "unknown word classes: {:?}", classes.keys());
                words
            }
        }
    };
    ($(#[$meta:meta])* $constant:ident = $file:literal: $name:ident { $($(#[$doc:meta])* $class:ident $(: $type:ty)?,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, bound(deserialize = "'de: 'static"))]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $class: $crate::word_classes!(@type $($type)?),)*
        }

        pub(super) static $constant: std::sync::LazyLock<$name> =
            std::sync::LazyLock::new(|| $crate::language::parse(include_str!($file)));
    };
}

/// A language with the contents of its files.
#[derive(Debug)]
pub(crate) struct Language {
    /// `words.json`.
    words: &'static str,
    /// `standing.json`, if the common grammar of standing sentences reads it.
    pub(crate) grammar: Option<&'static str>,
}

macro_rules! language {
    ($code:literal) => {
        Language {
            words: include_str!(concat!($code, "/words.json")),
            grammar: None,
        }
    };
    ($code:literal, grammar) => {
        Language {
            grammar: Some(include_str!(concat!($code, "/standing.json"))),
            ..language!($code)
        }
    };
}

/// The languages. Grammars are tried in this order.
pub(crate) const LANGUAGES: &[Language] = &[
    language!("en"),
    language!("zh"),
    language!("de", grammar),
    language!("fr", grammar),
    language!("es", grammar),
    language!("pt"),
    language!("it"),
    language!("ja"),
];

/// The words of all languages.
pub(crate) static WORDS: LazyLock<CommonWords> = LazyLock::new(|| {
    let files = LANGUAGES.iter().map(|language| language.words);
    CommonWords::read(&files.collect::<Vec<_>>())
});

word_classes! {
    /// The word classes of `words.json`.
    CommonWords {
        /// Abbreviations with a full stop that ends no sentence, such as titles before a name.
        abbreviations,

        /// Words for the reader of a text, and `please`; names of agents; the beginnings of a prohibition.
        reader,
        agents,
        prohibiting,
        /// Words for what an agent was told, and words that refer to what it was told before: `previous instructions`.
        guidance,
        prior,

        /// Words that state a change: `moved`; phrases that do.
        changes,
        change_phrases,
        /// Adjectives of a changed thing, determiners before them, and forms of "to have" and "to be" before these: `has a new number`.
        new,
        determiners,
        having,
        /// Verbs next to the name of an abandoned thing, and words before it.
        given_up,
        instead,
        /// Words of conditions and indirect questions, and phrases that state on which occasions an instruction applies.
        conditions,
        occasions,
        /// Names of days and months.
        dates,

        /// Words that negate a request, and words that exclude a thing from it.
        negating,
        excluding,
        /// Other words for the polarity, the frequency and the addressee of a request.
        polarity,
        /// Words of requests and statements about a property of responses that do not name its value; for Chinese, all their characters.
        frame,
        /// Words before the replaced value, with the punctuation and the spaces around them: `, not `.
        contrasts,
        /// Polite words at the start of a request, in scripts without spaces.
        polite,
        /// Values of properties of responses.
        metric,
        imperial,
        celsius,
        fahrenheit,
        kelvin,
        short,
        long,
        clock_24,
        clock_12,
        informal_address,
        formal_address,
        /// Varieties of the spelling of a language, each a value.
        spellings,
        /// Phrases before the name by which the person wants to be called, words that are no such name, and words next to it.
        naming,
        not_names,
        name_fillers,
        /// Nouns for the form of a text that several languages use: emoji, Markdown and names of units.
        forms,
        /// Adjectives for systems of units and of times, which a definite determiner may precede: `use the metric system`.
        named_systems,
        /// Words that end in an apostrophe before a vowel, without it.
        elided,

        /// Starts of sentences that give the assistant or the person a role in a play, and words before them.
        play,
        play_leads,
        /// Verbs of tasks about a text that the person did not write, or that is not addressed to the assistant.
        tasks,
        /// Verbs of tasks about the wording of a text, which need no knowledge of its subject, and words before them.
        wording_tasks,
        task_leads,
        /// Words that announce a pasted text: `this`; headings of such a text; verbs at the end of a line before it.
        material,
        headings,
        saying,

        /// Words of courtesies, for languages other than English and Chinese.
        courtesies,
        /// Words of clauses without content that may nevertheless be the response to a question; of Chinese, single characters.
        answers,
        /// Characters that delimit a one-character word, all in one entry: relations, counts and measures, which are rarely part of a
        /// longer noun.
        separators,
        /// Pronouns of the first person, and time expressions.
        first_person,
        time_words,

        /// Words that request a list or an order, and a summary.
        lists,
        summaries,
        /// Time units that make `how many` a question about a single time span, and nouns that make `which` a question about a time.
        time_units,
        dated,
        /// Questions about the time of an event, and about a person, a place or a name, in scripts without spaces.
        when,
        which,
        /// Verbs and nouns for a statement of the assistant, and words between `you` and the verb.
        stating_verbs,
        stated_nouns,
        before_stating,
        /// Words of a question about an earlier message, and words before `you` that request a new message.
        asking,
        requesting,
        /// Separators of the days of a list.
        list_joints,
        /// Words for a time in the future.
        upcoming,
        /// Names of categories that mean all memories of the category.
        preferences,
        decisions,
        lessons,
        habits,
        skills,
        feedback,
        reminders,
    }
}

/// Reads the word classes of several files.
#[doc(hidden)]
pub fn read_classes(files: &[&'static str]) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        for (class, words) in parse::<BTreeMap<&str, Vec<&str>>>(file) {
            classes.entry(class).or_default().extend(words);
        }
    }
    classes
}

/// Parses a file of words.
///
/// # Panics
/// If a file that is compiled into the program is no such file.
#[doc(hidden)]
pub fn parse<T: serde::Deserialize<'static>>(file: &'static str) -> T {
    serde_json::from_str(file).expect("the file describes word classes")
}

/// Returns the words of a class that are of scripts without spaces.
pub(crate) fn unspaced<'w>(class: &'w [&'static str]) -> impl Iterator<Item = &'static str> + 'w {
    class.iter().copied().filter(|word| !word.is_ascii())
}

/// Returns whether a text contains an entry in any place.
pub fn contains_any(text: &str, class: &[&str]) -> bool {
    class.iter().any(|word| text.contains(word))
}

/// Returns whether a text starts with an entry.
pub fn starts_with_any(text: &str, class: &[&str]) -> bool {
    class.iter().any(|word| text.starts_with(word))
}

/// Returns the text behind the first entry that it starts with.
pub fn strip_any<'t>(text: &'t str, class: &[&str]) -> Option<&'t str> {
    class.iter().find_map(|word| text.strip_prefix(word))
}

/// Returns the text without the entries.
pub fn remove_all(text: &str, class: &[&str]) -> String {
    class
        .iter()
        .fold(text.to_owned(), |text, word| text.replace(word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{fold, is_han};

    #[test]
    fn the_words_of_a_class_are_distinct_and_folded() {
        for language in LANGUAGES {
            for (class, words) in read_classes(&[language.words]) {
                for (number, word) in words.iter().enumerate() {
                    assert!(!words[..number].contains(word), "{class}: {word}");
                    // Some analyses compare traditional Chinese characters as they are written.
                    let is_as_written =
                        ["contrasts", "list_joints"].contains(&class) || word.contains(is_han);
                    assert!(is_as_written || fold(word) == *word, "{class}: {word}");
                }
            }
        }
        assert!(WORDS.negating.contains(&"nicht"));
    }
}
