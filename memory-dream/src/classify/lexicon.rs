//! Classes of words with the same function in a note.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use memory_core::language::read_classes;
use memory_core::text::{TokenKind, fold, tokenize};

use super::feature::FeaturePart;

/// The function of a word in a note.
///
/// Through its class, a word counts even if it is not in the training notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WordClass {
    I,
    We,
    You,
    They,
    User,
    Name,
    Kin,
    Job,
    Trait,
    Often,
    Able,
    Like,
    Choose,
    Trouble,
    Opinion,
    Remind,
    Value,
    Must,
    Never,
    Not,
    Why,
    Instead,
    Order,
    Tool,
    Build,
    Moment,
}

/// All classes, in the order of the enum.
pub(super) const CLASSES: [WordClass; 26] = [
    WordClass::I,
    WordClass::We,
    WordClass::You,
    WordClass::They,
    WordClass::User,
    WordClass::Name,
    WordClass::Kin,
    WordClass::Job,
    WordClass::Trait,
    WordClass::Often,
    WordClass::Able,
    WordClass::Like,
    WordClass::Choose,
    WordClass::Trouble,
    WordClass::Opinion,
    WordClass::Remind,
    WordClass::Value,
    WordClass::Must,
    WordClass::Never,
    WordClass::Not,
    WordClass::Why,
    WordClass::Instead,
    WordClass::Order,
    WordClass::Tool,
    WordClass::Build,
    WordClass::Moment,
];

impl WordClass {
    /// Returns the human-readable name of the class.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::I => "the writer",
            Self::We => "the writer's group",
            Self::You => "the reader",
            Self::They => "somebody else",
            Self::User => "the user",
            Self::Name => "a name",
            Self::Kin => "a relative or friend",
            Self::Job => "somebody's job",
            Self::Trait => "a trait",
            Self::Often => "how often",
            Self::Able => "an ability",
            Self::Like => "a liking",
            Self::Choose => "a choice",
            Self::Trouble => "trouble",
            Self::Opinion => "an opinion",
            Self::Remind => "asking to be told",
            Self::Value => "a value",
            Self::Must => "must",
            Self::Never => "never",
            Self::Not => "not",
            Self::Why => "a reason",
            Self::Instead => "an alternative",
            Self::Order => "an instruction",
            Self::Tool => "a tool or language",
            Self::Build => "a part of a project",
            Self::Moment => "a time",
        }
    }

    /// Returns the name as a part of features.
    pub(super) const fn part(self) -> FeaturePart<'static> {
        CLASS_PARTS[self as usize]
    }

    /// Returns the words of this class in all languages.
    ///
    /// A word in two classes belongs to the first one.
    fn words(self) -> &'static [&'static str] {
        WORDS.get(self.as_str()).map_or(&[], Vec::as_slice)
    }
}

/// Returns the class of a stem from the tokenizer of `memory_core`.
pub(super) fn class_of_stem(stem: &str) -> Option<WordClass> {
    LEXICON.stems.get(stem).copied()
}

/// Returns the class and length in bytes of the longest lexicon word at the start of `run`.
///
/// `run` is a run of Han characters.
pub(super) fn class_of_han(run: &str) -> Option<(WordClass, usize)> {
    let mut ends = [0; LONGEST_HAN];
    let mut length = 0;
    for (start, character) in run.char_indices().take(LONGEST_HAN) {
        ends[length] = start + character.len_utf8();
        length += 1;
    }
    ends[..length]
        .iter()
        .rev()
        .find_map(|&end| Some((*LEXICON.han.get(&run[..end])?, end)))
}

/// Maximum length in characters of a Han word of the lexicon.
const LONGEST_HAN: usize = 4;

/// The names of the classes as parts of features, in the order of [`CLASSES`].
const CLASS_PARTS: [FeaturePart<'static>; CLASSES.len()] = {
    let mut parts = [FeaturePart::of(""); CLASSES.len()];
    let mut place = 0;
    while place < CLASSES.len() {
        parts[place] = FeaturePart::of(CLASSES[place].as_str());
        place += 1;
    }
    parts
};

/// The words of each class by its name.
static WORDS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    read_classes(&[
        include_str!("../language/en/lexicon.json"),
        include_str!("../language/zh/lexicon.json"),
    ])
});

struct Lexicon {
    stems: HashMap<String, WordClass>,
    han: HashMap<String, WordClass>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let (mut stems, mut han) = (HashMap::new(), HashMap::new());
    for class in CLASSES {
        for word in class.words() {
            if word.is_ascii() {
                tokenize(word, &mut |token| {
                    if token.kind == TokenKind::Word {
                        stems.entry(token.text.to_owned()).or_insert(class);
                    }
                });
            } else {
                han.entry(fold(word)).or_insert(class);
            }
        }
    }
    Lexicon { stems, han }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_stands_in_its_place_and_has_words() {
        for (place, class) in CLASSES.into_iter().enumerate() {
            assert_eq!(class as usize, place);
            assert!(
                class.words().concat().split_whitespace().next().is_some(),
                "{class:?}"
            );
        }
    }

    #[test]
    fn no_han_word_is_longer_than_what_is_looked_up() {
        assert_eq!(
            LEXICON.han.keys().map(|word| word.chars().count()).max(),
            Some(LONGEST_HAN)
        );
    }

    #[test]
    fn the_longest_word_wins() {
        assert_eq!(class_of_han("我们的"), Some((WordClass::We, "我们".len())));
        assert_eq!(class_of_han("猫"), None);
        assert_eq!(class_of_stem("remind"), Some(WordClass::Remind));
    }
}
