//! A cached English stemmer, and a lemmatizer for irregular forms.

use std::cell::Cell;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// The maximum number of cached stems per thread. Few texts have more distinct words.
const MAX_CACHED: usize = 8192;

thread_local! {
    static LAST: Cell<Option<CachedStemmer>> = const { Cell::new(None) };
}

/// A stemmer with a cache, because stemming takes ten times as long as all other work on a word.
///
/// The cache is passed on to the next stemmer on the same thread, because most texts are too short to benefit from their own.
pub(super) struct CachedStemmer {
    stemmer: Stemmer,
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
            stemmer: Stemmer::create(Algorithm::English),
            known: HashMap::new(),
        };
        LAST.take().unwrap_or_else(fresh)
    }

    /// Passes the cache on to the next stemmer on this thread.
    pub(super) fn store_cached(self) {
        LAST.set(Some(self));
    }

    /// Returns the Snowball stem of `word`, or of its lemma if `word` is an irregular form.
    ///
    /// `word` must consist of lower-case ASCII letters and apostrophes.
    pub(super) fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        // Snowball does not change such words; the only irregular forms of this length belong to `be`, which carries no information.
        if word.len() < 3 {
            return word;
        }
        if !self.known.contains_key(word) {
            if MAX_CACHED <= self.known.len() {
                self.known.clear();
            }
            self.known
                .insert(word.into(), self.stemmer.stem(lemma(word)).into());
        }
        &self.known[word]
    }
}

/// Returns the lemma of an irregular form, or `form` itself; both are in lower case.
///
/// Stemming removes endings; it does not detect changes within a word, as in `went` or `children`.
pub(super) fn lemma(form: &str) -> &str {
    let Some(letter) = form
        .bytes()
        .next()
        .map(|letter| usize::from(letter.wrapping_sub(b'a')))
    else {
        return form;
    };
    let (Some(&start), Some(&end)) = (STARTS.get(letter), STARTS.get(letter + 1)) else {
        return form;
    };
    let forms = &FORMS[start..end];
    forms
        .binary_search_by(|(own, _)| (*own).cmp(form))
        .map_or(form, |found| forms[found].1)
}

/// The index in [`FORMS`] of the first form for each letter, and the end of those with `z`.
///
/// For most words the range of their letter is short or empty, so the lookup is cheap.
const STARTS: [usize; 27] = {
    let mut starts = [0; 27];
    let mut letter = 0;
    while letter < starts.len() {
        while starts[letter] < FORMS.len()
            && ((FORMS[starts[letter]].0.as_bytes()[0] - b'a') as usize) < letter
        {
            starts[letter] += 1;
        }
        letter += 1;
    }
    starts
};

/// The irregular forms with their lemmas, ordered by form.
const FORMS: &[(&str, &str)] = &[
    ("am", "be"),
    ("are", "be"),
    ("ate", "eat"),
    ("became", "become"),
    ("been", "be"),
    ("began", "begin"),
    ("begun", "begin"),
    ("being", "be"),
    ("best", "good"),
    ("better", "good"),
    ("bit", "bite"),
    ("bitten", "bite"),
    ("blew", "blow"),
    ("blown", "blow"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("burnt", "burn"),
    ("came", "come"),
    ("caught", "catch"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("did", "do"),
    ("does", "do"),
    ("doing", "do"),
    ("done", "do"),
    ("drawn", "draw"),
    ("dreamt", "dream"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("dug", "dig"),
    ("eaten", "eat"),
    ("fallen", "fall"),
    ("fed", "feed"),
    ("feet", "foot"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgave", "forgive"),
    ("forgiven", "forgive"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("fought", "fight"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("gets", "get"),
    ("getting", "get"),
    ("given", "give"),
    ("goes", "go"),
    ("going", "go"),
    ("gone", "go"),
    ("got", "get"),
    ("gotten", "get"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("had", "have"),
    ("has", "have"),
    ("having", "have"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("is", "be"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("learnt", "learn"),
    ("led", "lead"),
    ("left", "leave"),
    ("lent", "lend"),
    ("lives", "life"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("men", "man"),
    ("met", "meet"),
    ("mice", "mouse"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("rang", "ring"),
    ("ridden", "ride"),
    ("risen", "rise"),
    ("rode", "ride"),
    ("rose", "rise"),
    ("rung", "ring"),
    ("said", "say"),
    ("sang", "sing"),
    ("sank", "sink"),
    ("sat", "sit"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("shaken", "shake"),
    ("shone", "shine"),
    ("shook", "shake"),
    ("shot", "shoot"),
    ("shown", "show"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("sought", "seek"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("struck", "strike"),
    ("stuck", "stick"),
    ("sung", "sing"),
    ("sunk", "sink"),
    ("swam", "swim"),
    ("swum", "swim"),
    ("taken", "take"),
    ("taught", "teach"),
    ("teeth", "tooth"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("understood", "understand"),
    ("was", "be"),
    ("went", "go"),
    ("were", "be"),
    ("wives", "wife"),
    ("woke", "wake"),
    ("woken", "wake"),
    ("women", "woman"),
    ("won", "win"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("worse", "bad"),
    ("worst", "bad"),
    ("written", "write"),
    ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_remembered_stem_is_the_same_stem() {
        let mut stems = CachedStemmer::take_cached();
        assert_eq!(
            [
                stems.stem("memories").to_owned(),
                stems.stem("memories").to_owned()
            ],
            ["memori", "memori"]
        );
        stems.store_cached();
        assert_eq!(CachedStemmer::take_cached().stem("memories"), "memori");
    }

    #[test]
    fn it_forgets_rather_than_grow_without_end() {
        let mut stems = CachedStemmer::take_cached();
        for number in 0..2 * MAX_CACHED {
            let word: String = format!("{number:05}")
                .bytes()
                .map(|digit| char::from(digit - b'0' + b'a'))
                .collect();
            stems.stem(&word);
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
            prop_assert!(may_have_stem(&word, stems.stem(&word)));
        }

        #[test]
        fn it_stems_as_snowball_does(word in "[a-z][a-z']{0,70}") {
            prop_assume!(lemma(&word) == word);
            let expected = Stemmer::create(Algorithm::English).stem(&word).into_owned();
            let mut stems = CachedStemmer::take_cached();
            prop_assert_eq!(stems.stem(&word), expected);
        }
    }

    #[test]
    fn forms_are_in_order_and_lead_to_words_that_are_none() {
        assert!(FORMS.is_sorted_by(|left, right| left.0 < right.0));
        assert!(FORMS.iter().all(|(_, word)| lemma(word) == *word));
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
