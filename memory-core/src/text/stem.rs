//! Cached stemmers by script, and a lemmatizer for irregular forms.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::language;

/// The maximum number of cached stems per thread. Few texts have more distinct words.
const MAX_CACHED: usize = 8192;

thread_local! {
    static LAST: Cell<Option<CachedStemmer>> = const { Cell::new(None) };
}

/// A language whose stems a script identifies, as far as words have stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StemLanguage {
    English,
    Russian,
    Greek,
    Arabic,
}

impl StemLanguage {
    /// Returns the language of a folded word, by its script.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is_all = |is_letter: fn(char) -> bool| word.chars().all(is_letter);
        if is_all(|letter| letter.is_ascii_lowercase() || letter == '\'') {
            Some(Self::English)
        } else if is_all(|letter| matches!(letter, '\u{430}'..='\u{45f}')) {
            Some(Self::Russian)
        } else if is_all(|letter| matches!(letter, '\u{3b1}'..='\u{3c9}')) {
            Some(Self::Greek)
        } else if is_all(|letter| matches!(letter, '\u{621}'..='\u{64a}')) {
            Some(Self::Arabic)
        } else {
            None
        }
    }
}

/// A stemmer with a cache, because stemming takes ten times as long as all other work on a word.
///
/// The cache is passed on to the next stemmer on the same thread, because most texts are too short to benefit from their own.
pub(super) struct CachedStemmer {
    /// Those of English, Russian and Greek.
    stemmers: [Stemmer; 3],
    known: HashMap<Box<str>, Box<str>>,
}

/// The minimum length of a stem that shares more than its first two letters with all of its words.
const MIN_LONG_STEM: usize = 5;

/// Returns whether `word`, which must not be an irregular form, may have this stem.
///
/// It compares only the leading letters, which excludes most words with a different stem.
pub(super) fn may_have_stem(word: &str, stem: &str) -> bool {
    // The replacement of an ending by Snowball differs from the ending in at most two letters.
    if MIN_LONG_STEM <= stem.len() && stem.is_ascii() {
        return word
            .as_bytes()
            .starts_with(&stem.as_bytes()[..stem.len() - 2]);
    }
    let (mut word, mut stem) = (word.chars(), stem.chars());
    let is_first_alike = word.next() == stem.next();
    // The stem of `dying` is `die`.
    is_first_alike
        && stem.next().is_none_or(|second| {
            word.next()
                .is_some_and(|own| own == second || own == 'y' && second == 'i')
        })
}

impl CachedStemmer {
    /// Takes over the cache of the previous stemmer on this thread.
    pub(super) fn take_cached() -> Self {
        let fresh = || Self {
            stemmers: [Algorithm::English, Algorithm::Russian, Algorithm::Greek]
                .map(Stemmer::create),
            known: HashMap::new(),
        };
        LAST.take().unwrap_or_else(fresh)
    }

    /// Passes the cache on to the next stemmer on this thread.
    pub(super) fn store_cached(self) {
        LAST.set(Some(self));
    }

    /// Returns the stem of `word`, or of its lemma if `word` is an irregular form.
    ///
    /// `word` must be a folded word of the language.
    pub(super) fn stem<'a>(&'a mut self, language: StemLanguage, word: &'a str) -> &'a str {
        // Snowball does not change such words; the only irregular forms of this length belong to `be`, which carries no information.
        if word.len() < 3 {
            return word;
        }
        if !self.known.contains_key(word) {
            if MAX_CACHED <= self.known.len() {
                self.known.clear();
            }
            let lemma = lemma(word);
            let stem = match self.stemmers.get(language as usize) {
                Some(stemmer) => {
                    separate_stem(lemma).map_or_else(|| stemmer.stem(lemma), Into::into)
                }
                None => arabic_stem(lemma).into(),
            };
            self.known.insert(word.into(), stem.into());
        }
        &self.known[word]
    }
}

/// Returns an Arabic word without its article, the particles before it, and one ending.
///
/// The lists are those of light10: L. Larkey, L. Ballesteros and M. Connell, "Light Stemming for Arabic Information Retrieval", 2007. A
/// conjunction without an article stays, because many words begin with its letter.
fn arabic_stem(word: &str) -> &str {
    let long = |rest: &&str| 3 <= rest.chars().count();
    let mut prefixes = ["وال", "بال", "كال", "فال", "ال", "لل"].into_iter();
    let word = prefixes
        .find_map(|prefix| word.strip_prefix(prefix).filter(long))
        .unwrap_or(word);
    let mut endings = ["ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"].into_iter();
    endings
        .find_map(|ending| word.strip_suffix(ending).filter(long))
        .unwrap_or(word)
}

/// Returns the stem of a word to which Snowball gives the stem of another word.
fn separate_stem(word: &str) -> Option<&'static str> {
    let separate = ENGLISH.separate.iter();
    let mut found = separate.filter(|(start, _)| word.starts_with(start));
    found.next().map(|(_, stem)| *stem)
}

/// Returns the lemma of an irregular form, of its plural or of its possessive, or else `form` itself; all are in lower case.
///
/// Stemming removes endings; it does not detect changes within a word, as in `went` or `children`.
pub(super) fn lemma(form: &str) -> &str {
    if let Some(lemma) = irregular_lemma(form).or_else(|| doubled_base(form)) {
        return lemma;
    }
    // `roses` belongs to `rose`, and therefore also to `rise`. The forms of auxiliary verbs have no plural: ISS is not `is`.
    form.strip_suffix("'s")
        .or_else(|| form.strip_suffix('s'))
        .and_then(irregular_lemma)
        .filter(|lemma| 2 < lemma.len())
        .unwrap_or(form)
}

/// Returns the word of "added" or "staffing", whose double letter Snowball halves in these forms, but not in the word itself.
fn doubled_base(form: &str) -> Option<&str> {
    let base = form
        .strip_suffix("ed")
        .or_else(|| form.strip_suffix("ing"))?;
    (base.ends_with("ff") || DOUBLED.contains(&base)).then_some(base)
}

/// Verbs that end in a double letter other than `ff`, `ll`, `ss` and `zz`.
const DOUBLED: [&str; 7] = ["add", "boycott", "butt", "ebb", "egg", "err", "purr"];

/// Returns the lemma of an irregular form.
fn irregular_lemma(form: &str) -> Option<&'static str> {
    ENGLISH.forms.get(form).copied()
}

/// What Snowball does not know of English.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct EnglishStems {
    /// Starts of words with their stem, where Snowball has one stem for words of different meaning: `universe` and `university`.
    /// The first start that fits counts.
    separate: Vec<(&'static str, &'static str)>,
    /// The irregular forms with their lemmas.
    ///
    /// An ambiguous form belongs to both words, so that it is found from either: `leaves` is stemmed like `leave`, and `leaf` has the
    /// same lemma. A word whose last letter Snowball mistakes for an ending has its plural as lemma, as `alias` has.
    forms: HashMap<&'static str, &'static str>,
}

static ENGLISH: LazyLock<EnglishStems> =
    LazyLock::new(|| language::parse(include_str!("../language/en/stems.json")));

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_other_scripts_have_the_stems_of_their_language() {
        let stem = |word: &str| {
            let mut stems = CachedStemmer::take_cached();
            let language = StemLanguage::of(word).expect("the script has stems");
            stems.stem(language, word).to_owned()
        };
        for forms in [
            &["книга", "книги", "книгу", "книгами"][..],
            &["ежик", "ежика", "ежики"],
            &["новый", "новая", "нового"],
            &["δρομοσ", "δρομοι", "δρομουσ"],
            &["كتاب", "الكتاب", "والكتاب"],
            &["مكتبه", "المكتبه", "بالمكتبه", "المكتبات"],
        ] {
            assert!(
                forms.iter().all(|form| stem(form) == stem(forms[0])),
                "{forms:?}"
            );
        }
        for word in ["naïve", "кот1", "本", "הבית"] {
            assert_eq!(StemLanguage::of(word), None, "{word}");
        }
    }

    #[test]
    fn a_remembered_stem_is_the_same_stem() {
        let mut stems = CachedStemmer::take_cached();
        assert_eq!(
            [
                stems.stem(StemLanguage::English, "memories").to_owned(),
                stems.stem(StemLanguage::English, "memories").to_owned()
            ],
            ["memori", "memori"]
        );
        stems.store_cached();
        assert_eq!(
            CachedStemmer::take_cached().stem(StemLanguage::English, "memories"),
            "memori"
        );
    }

    #[test]
    fn it_forgets_rather_than_grow_without_end() {
        let mut stems = CachedStemmer::take_cached();
        for number in 0..2 * MAX_CACHED {
            let word: String = format!("{number:05}")
                .bytes()
                .map(|digit| char::from(digit - b'0' + b'a'))
                .collect();
            stems.stem(StemLanguage::English, &word);
        }
        assert!(stems.known.len() <= MAX_CACHED);
    }

    proptest! {
        #[test]
        fn a_stem_begins_as_its_word_does(
            word in "[a-z][a-z']{0,12}|(dying|lying|tying|skies|ugly|early|only|idly|gently|singly)\
                |[a-z]{1,6}(ational|tional|ency|enci|anci|izer|ization|ator|alism|aliti|ality|alli|fulness|ousli|ousness|iveness\
                |ivity|biliti|bility|bly|ogi|ogy|fully|lessly|ly|ied|ies|ying|bbing|ting|iated|edly|eed|eedly|sses|icate|ative\
                |alize|icity|ical|ness|ement|ment|ent|ion|ism|ible|able|ant|ate|iti|ous|ive|ize|y|e|ll)"
        ) {
            prop_assume!(lemma(&word) == word);
            let mut stems = CachedStemmer::take_cached();
            prop_assert!(may_have_stem(&word, stems.stem(StemLanguage::English, &word)));
        }

        #[test]
        fn it_stems_as_snowball_does(word in "[a-z][a-z']{0,70}") {
            prop_assume!(lemma(&word) == word && separate_stem(&word).is_none());
            let expected = Stemmer::create(Algorithm::English).stem(&word).into_owned();
            let mut stems = CachedStemmer::take_cached();
            prop_assert_eq!(stems.stem(StemLanguage::English, &word), expected);
        }
    }

    #[test]
    fn words_of_different_meaning_have_different_stems() {
        let mut stems = CachedStemmer::take_cached();
        for words in [
            "universe university universal",
            "organ organic organism organization",
            "author authority authorize",
            "intern internal international",
            "custom customer customize",
            "experience experiment",
            "import important",
            "position positive",
            "object objective",
            "conversation conversion",
            "depart department",
            "even evening",
            "past paste",
            "inform informal",
            "sever several",
            "busy business",
            "authority authoritarian",
            "organization organist",
            "paste pastel",
            "rational rationale",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            let all: HashSet<String> = words
                .iter()
                .map(|word| stems.stem(StemLanguage::English, word).to_owned())
                .collect();
            assert_eq!(all.len(), words.len(), "{words:?}: {all:?}");
        }
    }

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        for forms in [
            "live lives lived living life life's",
            "leave leaves leaving left leaf leaf's",
            "organization organisation organizations organize organised organizer organizing",
            "university universities university's",
            "customer customers customer's",
            "paste pasted pasting pastes",
            "wolf wolves wolf's",
            "knife knives",
            "half halves halve halved",
            "shelf shelves shelved",
            "thief thieves thief's",
            "calf calves",
            "index indices indexes indexed",
            "matrix matrices",
            "vertex vertices",
            "appendix appendices",
            "axe axes axis",
            "base bases basis based",
            "analysis analyses analyse analysed",
            "crisis crises",
            "hypothesis hypotheses",
            "criterion criteria",
            "phenomenon phenomena",
            "cactus cacti",
            "larva larvae",
            "formula formulas formulae",
            "goose geese",
            "ox oxen",
            "child children children's child's",
            "man men men's",
            "woman women women's",
            "person people people's persons",
            "policeman policemen",
            "alias aliases aliased alias's",
            "lens lenses",
            "bus buses",
            "quiz quizzes quizzed",
            "rise rises rose roses risen rising",
            "bite bites bit bits bitten",
            "shoot shot shots shooting",
            "think thinks thought thoughts thinking",
            "see saw saws seen seeing",
            "find found founded finding",
            "fall fell felled fallen",
            "speak spoke spokes spoken",
            "drink drank drunk",
            "tear tore torn",
            "lay laid laying",
            "lie lies lain lying",
            "vie vied vying",
            "turf turfs turves",
            "overwrite overwrote overwritten overwriting",
            "add adds added adding",
            "staff staffs staffed staffing",
            "sniff sniffs sniffed sniffing",
            "boycott boycotts boycotted boycotting",
            "err errs erred erring",
        ] {
            let mut stems = CachedStemmer::take_cached();
            let found: HashSet<String> = forms
                .split(' ')
                .map(|form| stems.stem(StemLanguage::English, form).to_owned())
                .collect();
            assert_eq!(found.len(), 1, "{forms}: {found:?}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (one, other) in [
            ("iss", "is"),
            ("ares", "are"),
            ("range", "ring"),
            ("ranging", "ring"),
            ("specimen", "man"),
            ("regimens", "man"),
            ("belief", "leave"),
            ("loves", "life"),
            ("olives", "live"),
            ("media", "data"),
            ("added", "ad"),
            ("padded", "add"),
        ] {
            let mut stems = CachedStemmer::take_cached();
            let one = stems.stem(StemLanguage::English, one).to_owned();
            assert_ne!(one, stems.stem(StemLanguage::English, other), "{other}");
        }
    }

    #[test]
    fn forms_lead_to_words_that_are_none() {
        assert!(ENGLISH.forms.values().all(|word| lemma(word) == *word));
        assert_eq!(
            [lemma("went"), lemma("go"), lemma("children"), lemma("rust")],
            ["go", "go", "child", "rust"]
        );
        assert_eq!(
            [
                lemma("am"),
                lemma("wrote"),
                lemma("zebra"),
                lemma("'s"),
                lemma("")
            ],
            ["be", "write", "zebra", "'s", ""]
        );
    }
}
