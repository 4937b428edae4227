//! Classifies clauses in languages other than Chinese.

use std::ops::Range;

use super::SpeechAct;

word_classes! {
    /// The words of English speech acts.
    ENGLISH = "../../language/en/speech_act.json": EnglishWords {
        /// Verbs at the start of an English request.
        verbs,
        /// Products of English requests.
        products,
        subjects,
        possessives,
        determiners,
        articles,
        be,
        modals,
        constraints,
        conjunctions,
        /// Words that may precede a clause without a change of its act.
        leads,
        /// Words of a clause without content, in addition to `leads`.
        fillers,
        /// Words at the start of a sentence that precede a determiner but are not verbs.
        not_verbs,
        /// Words before the verb of a request.
        before_verb,
        /// Question words, and words that make a clause a question if they are the first one.
        question_words,
        question_openings,
        /// Verbs behind a possessive subject.
        common_verbs,
    }
}

/// Returns whether an independent clause starts after a space: with a conjunction and a subject.
pub(super) fn begins_clause(rest: &str) -> bool {
    let mut words = rest.split_whitespace().take(2).map(normalize_word);
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    ENGLISH.conjunctions.contains(&first.as_str()) && is_subject(&second)
}

/// Returns the speech act of a clause.
pub(super) fn classify(clause: &str) -> SpeechAct {
    let words: Vec<String> = clause
        .split_whitespace()
        .map(normalize_word)
        .filter(|word| !word.is_empty())
        .collect();
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    if all
        .iter()
        .all(|word| ENGLISH.leads.contains(word) || ENGLISH.fillers.contains(word))
    {
        return SpeechAct::Filler;
    }
    let mut words = all.as_slice();
    while let [first, rest @ ..] = words
        && ENGLISH.leads.contains(first)
        && !rest.is_empty()
    {
        words = rest;
    }
    if asks_to_remember(words) {
        SpeechAct::Statement
    } else if is_question(words) || is_wish(words) || is_command(words) {
        SpeechAct::Request
    } else if is_declaration(words) {
        SpeechAct::Statement
    } else {
        SpeechAct::Fragment
    }
}

/// Returns the words that only frame a request.
///
/// A question with a question word has no framing words, because all of its words are its subject.
pub(super) fn framing_words(clause: &str) -> Vec<Range<usize>> {
    let words: Vec<(Range<usize>, String)> = word_spans(clause)
        .map(|span| (span.clone(), normalize_word(&clause[span])))
        .collect();
    let is_lead = |word: &str| ENGLISH.leads.contains(&word);
    let first = words
        .iter()
        .find(|(_, word)| !is_lead(word))
        .map(|(_, word)| word.as_str());
    let is_about = classify(clause) != SpeechAct::Request
        || first.is_some_and(|word| ENGLISH.question_words.contains(&word));
    if is_about {
        return Vec::new();
    }
    let is_before = |word: &str| is_lead(word) || ENGLISH.before_verb.contains(&word);
    let verb = words
        .iter()
        .position(|(_, word)| !is_before(word))
        .filter(|at| {
            let is_verb = ENGLISH.verbs.contains(&words[*at].1.as_str());
            is_verb
                || words
                    .get(at + 1)
                    .is_some_and(|(_, next)| ENGLISH.determiners.contains(&next.as_str()))
        });
    // The words between an article and the product describe the product.
    let product = words
        .iter()
        .rposition(|(_, word)| ENGLISH.products.contains(&word.as_str()));
    let article = product.and_then(|product| {
        words[..product]
            .iter()
            .rposition(|(_, word)| ENGLISH.articles.contains(&word.as_str()))
    });
    let manner = article
        .zip(product)
        .map_or(0..0, |(article, product)| article..product);
    let is_framing = |number: usize, word: &str| {
        manner.contains(&number)
            || Some(number) == verb
            || is_lead(word)
            || ENGLISH.products.contains(&word)
            || verb.is_none_or(|verb| number < verb) && is_before(word)
    };
    let words = words.into_iter().enumerate();
    words
        .filter(|(number, (_, word))| is_framing(*number, word))
        .map(|(_, (span, _))| span)
        .collect()
}

/// Returns the ranges of the words of a text.
fn word_spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.split_whitespace().map(move |word| {
        let begin = word.as_ptr() as usize - text.as_ptr() as usize;
        begin..begin + word.len()
    })
}

/// Returns whether a clause is a request to remember something, or about future behavior.
fn asks_to_remember(words: &[&str]) -> bool {
    match words {
        ["remember" | "note" | "fyi" | "always" | "never", ..]
        | ["keep" | "bear", "in", "mind", ..]
        | ["call" | "address", "me", ..]
        | ["from", "now", "on", ..]
        | ["be", "aware", ..]
        | ["for", "the", "record", ..]
        | ["let", "me", "tell", ..]
        | ["you", "can" | "may" | "should" | "could", "call", "me", ..] => true,
        ["don't", "forget", next, ..] => *next != "to",
        ["did", "you", "know", rest @ ..] => rest.iter().take(2).any(|word| is_subject(word)),
        ["remind", "me", next, ..] => matches!(*next, "to" | "that"),
        _ => false,
    }
}

fn is_question(words: &[&str]) -> bool {
    let [first, rest @ ..] = words else {
        return false;
    };
    let next = rest.first().copied().unwrap_or_default();
    let is_pronoun = is_subject(next) || next == "you";
    match *first {
        "what" | "how" | "who" => !is_pronoun && next != "a",
        "when" | "where" => {
            ENGLISH.be.contains(&next)
                || ENGLISH.modals.contains(&next)
                || ["do", "does", "did", "have", "shall"].contains(&next)
        }
        "can" | "will" | "may" | "might" | "must" | "can't" | "won't" => {
            !ENGLISH.be.contains(&next) || next == "be"
        }
        "do" | "don't" | "have" | "has" | "had" | "haven't" | "hasn't" | "am" | "ain't" => {
            is_pronoun && next != "it" || next == "the" && first.starts_with("ha")
        }
        first => ENGLISH.question_openings.contains(&first),
    }
}

/// Returns whether a clause expresses a request as a wish of the user.
fn is_wish(words: &[&str]) -> bool {
    match words {
        ["i" | "we", rest @ ..] => is_wished(rest, false),
        ["i'd" | "we'd" | "id", rest @ ..] => is_wished(rest, true),
        ["i'm" | "im" | "we're", "looking", "for", ..] | ["time", "for", ..] => has_product(words),
        ["i'm" | "im" | "we're", "curious" | "wondering", ..]
        | ["it", "would", "be", ..]
        | ["it'd" | "would", "be", ..] => true,
        ["you", modal, verb, ..] => {
            (ENGLISH.modals.contains(modal) || *modal == "need") && ENGLISH.verbs.contains(verb)
        }
        ["my" | "our", ..] => {
            let verb = words.iter().take(5).position(|word| {
                matches!(*word, "deserves" | "needs" | "deserve" | "need" | "wants")
            });
            verb.is_some_and(|at| has_product(&words[at..]))
        }
        _ => false,
    }
}

/// Returns whether the words after `I` or `I would` express a request.
fn is_wished(words: &[&str], is_conditional: bool) -> bool {
    match words {
        ["would", rest @ ..] => is_wished(rest, true),
        [
            "really" | "just" | "also" | "still" | "now" | "do",
            rest @ ..,
        ] => is_wished(rest, is_conditional),
        // `I like the song` is a statement.
        ["like" | "love" | "appreciate" | "fancy", ..] if !is_conditional => false,
        ["wonder" | "wondered" | "wanna" | "gotta", ..]
        | ["am" | "are" | "was" | "were", "wondering" | "curious", ..]
        | ["have", "a" | "another" | "one", "question", ..] => true,
        [
            "like" | "love" | "appreciate" | "want" | "need" | "wish" | "hope" | "fancy" | "could",
            rest @ ..,
        ] => {
            matches!(
                rest,
                ["you", ..]
                    | [
                        "to",
                        "know" | "hear" | "see" | "read" | "ask" | "find" | "understand" | "get",
                        ..
                    ]
            ) || matches!(
                rest,
                [
                    "a" | "an" | "another" | "some" | "one" | "your" | "the" | "help" | "more",
                    ..
                ]
            ) && has_product(rest)
                || matches!(rest, ["use", ..]) && has_product(rest)
        }
        _ => false,
    }
}

fn is_command(words: &[&str]) -> bool {
    let [first, rest @ ..] = words else {
        return false;
    };
    let next = rest.first().copied().unwrap_or_default();
    let third = rest.get(1).copied().unwrap_or_default();
    let is_constraint = matches!(words, ["it" | "they" | "this" | "that", next, ..] if ENGLISH.constraints.contains(next));
    if is_constraint || matches!(*first, "let's" | "lets" | "let" | "don't") {
        return true;
    }
    // `Work is hard` and `Code reviews are long` have a noun as their subject.
    let is_verb = |word: &str| ENGLISH.be.contains(&word) || ENGLISH.modals.contains(&word);
    let is_plural = next.ends_with('s') && ENGLISH.verbs.contains(&third);
    let is_noun =
        is_plural || is_verb(next) || is_verb(third) && !ENGLISH.determiners.contains(&next);
    if is_noun {
        return false;
    }
    if ENGLISH.verbs.contains(first) {
        return true;
    }
    let is_number = first.chars().all(|digit| digit.is_ascii_digit());
    let is_quantity = is_number
        || ["more", "any"].contains(first)
        || *first != "the" && ENGLISH.articles.contains(first);
    if is_quantity
        || ENGLISH.products.contains(first)
        || ENGLISH.products.contains(&next) && !is_subject(first) && words.len() <= 3
    {
        return has_product(words) && !words.iter().any(|word| is_verb(word));
    }
    let is_word = 2 < first.len() && first.bytes().all(|letter| letter.is_ascii_lowercase());
    let is_form = ["ed", "ly", "ing", "s"]
        .iter()
        .any(|ending| first.ends_with(ending))
        && !first.ends_with("ss");
    let is_other = ENGLISH.not_verbs.contains(first)
        || ENGLISH.determiners.contains(first)
        || is_subject(first);
    is_word && !is_form && !is_other && ENGLISH.determiners.contains(&next)
}

/// Returns whether one of the next seven words is a product of requests.
fn has_product(words: &[&str]) -> bool {
    let before = words.iter().take_while(|word| {
        !matches!(
            **word,
            "about" | "for" | "on" | "of" | "that" | "which" | "with"
        )
    });
    before.take(7).any(|word| ENGLISH.products.contains(word))
}

/// Returns whether a clause has a subject and a verb.
fn is_declaration(words: &[&str]) -> bool {
    match words {
        ["it" | "this", "has", "to", ..] => false,
        [first, _, ..] if ENGLISH.subjects.contains(first) => true,
        [first, rest @ ..] if ENGLISH.possessives.contains(first) => {
            let is_verb = |word: &&str| {
                ENGLISH.be.contains(word)
                    || ENGLISH.modals.contains(word)
                    || ENGLISH.common_verbs.contains(word)
            };
            rest.iter().skip(1).take(4).any(is_verb)
        }
        _ => false,
    }
}

fn is_subject(word: &str) -> bool {
    ENGLISH.subjects.contains(&word) || ENGLISH.possessives.contains(&word)
}

/// Returns a word in lower case without surrounding punctuation.
fn normalize_word(word: &str) -> String {
    let word = word.trim_matches(|character: char| !character.is_alphanumeric());
    word.to_lowercase().replace('’', "'")
}
