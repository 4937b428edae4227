//! The cues of English sentences.

mod words;

use self::words::{ANSWERING, BIDDING, LEADS, MANNERS, NO_VERBS, WAYS};
use super::StandingKind::{Instruction, Preference};
use super::classify::StandingCue;

/// Finds the cue that makes `sentence` a standing instruction or preference.
///
/// `is_short` is true if the whole memory has at most `SHORT` bytes.
pub(super) fn cue(sentence: &str, is_short: bool) -> Option<StandingCue> {
    let words = SentenceWords::of(sentence);
    if words.0.is_empty() {
        return None;
    }
    find_conditional(sentence, &words)
        .or_else(|| absolute(&words))
        .or_else(|| find_imperative(&words, is_short))
        .map(|at| (Instruction, at))
        .or_else(|| find_third_person(&words))
        .or_else(|| find_preference(&words).map(|at| (Preference, at)))
}

/// The words of a sentence in lower case without punctuation, each with its byte offset.
struct SentenceWords(Vec<(String, usize)>);

impl SentenceWords {
    fn of(sentence: &str) -> Self {
        let words = sentence.split_whitespace().map(|word| {
            let at = word.as_ptr() as usize - sentence.as_ptr() as usize;
            let plain = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            (plain.to_lowercase().replace('’', "'"), at)
        });
        Self(words.filter(|(word, _)| !word.is_empty()).collect())
    }

    fn word(&self, number: usize) -> &str {
        self.0.get(number).map_or("", |(word, _)| word)
    }

    fn at(&self, number: usize) -> usize {
        self.0.get(number).map_or(0, |(_, at)| *at)
    }

    /// Returns the number of the first word of `phrase` in the sentence.
    fn find(&self, phrase: &str) -> Option<usize> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        (0..self.0.len()).find(|start| self.has(*start, &phrase))
    }

    fn has(&self, start: usize, phrase: &[&str]) -> bool {
        phrase.iter().enumerate().all(|(offset, word)| self.word(start + offset) == *word)
    }

    /// Returns the number of the first word that is not in [`LEADS`], or 0.
    fn first(&self) -> usize {
        (0..self.0.len()).find(|number| !LEADS.contains(&self.word(*number))).unwrap_or_default()
    }

    fn any(&self, range: std::ops::Range<usize>, among: &[&str]) -> bool {
        range.into_iter().any(|number| among.contains(&self.word(number)))
    }

    fn is_question(&self, start: usize) -> bool {
        const ASKING: &[&str] = &[
            "what", "why", "how", "who", "where", "when", "which", "is", "are", "do", "does", "did", "was", "were", "should",
            "will",
        ];
        ASKING.contains(&self.word(start)) && self.word(start + 1) != "i"
    }
}

/// Finds `when I ask …`, `from now on …` and similar phrases in sentences addressed to the assistant.
fn find_conditional(sentence: &str, words: &SentenceWords) -> Option<usize> {
    const ASKED: &[&str] = &[
        "when i ask",
        "whenever i ask",
        "if i ask",
        "every time i ask",
        "each time i ask",
        "any time i ask",
        "anytime i ask",
        "whenever i mention",
        "when i request",
        "whenever i request",
        "whenever you",
        "every time you",
        "each time you",
    ];
    const LASTING: &[&str] = &["from now on", "going forward", "in future", "in the future", "from here on", "at all times"];
    const ACTS: &[&str] = &[
        "answer",
        "reply",
        "respond",
        "write",
        "mention",
        "suggest",
        "recommend",
        "give",
        "show",
        "send",
        "generate",
        "create",
        "use",
        "format",
        "list",
        "explain",
        "summarise",
        "summarize",
        "cite",
        "translate",
        "make",
        "propose",
        "name",
        "quote",
    ];
    const ADDRESSED: &[&str] = &["you", "your", "please"];
    const SUBJECTS: &[&str] =
        &["i", "i'm", "i'll", "we", "it", "they", "he", "she", "the", "my", "there", "nobody", "everybody", "people"];
    let first = words.first();
    let bids_behind_comma = || {
        let begin = sentence.split_once(',').and_then(|(_, behind)| behind.split_whitespace().next()).unwrap_or_default();
        !begin.is_empty() && !SUBJECTS.contains(&begin.to_lowercase().as_str())
    };
    let is_bid = |number: usize| !SUBJECTS.contains(&words.word(number));
    for phrase in ASKED {
        let Some(at) = words.find(phrase) else { continue };
        let length = phrase.split(' ').count();
        let is_addressed = at != first || words.any(at + length..words.0.len(), ADDRESSED) || bids_behind_comma();
        let is_of_answers = !phrase.ends_with(" you") || words.any(at + length..at + length + 2, ACTS);
        if is_addressed && is_of_answers && is_bid(first) && !words.is_question(first) && words.word(first) != "can" {
            return Some(words.at(first));
        }
    }
    for phrase in LASTING {
        let Some(at) = words.find(phrase) else { continue };
        let behind = at + phrase.split(' ').count();
        let begins = at == first && is_bid(behind) && !words.word(behind).is_empty();
        let is_motion =
            at.checked_sub(1).is_some_and(|before| ["keep", "keeps", "kept", "keeping"].contains(&words.word(before)));
        let is_lasting = !is_motion && (*phrase == "from now on" || *phrase == "going forward" || begins);
        if is_lasting && (begins || words.any(0..words.0.len(), ADDRESSED)) && !words.is_question(first) {
            return Some(words.at(first));
        }
    }
    None
}

/// Finds `always` and `never` before an imperative.
///
/// The word is the first of the sentence, or it follows `you should`, `please`, `I want you to` and similar phrases.
fn absolute(words: &SentenceWords) -> Option<usize> {
    const BEFORE: &[&str] =
        &["please", "you should", "you must", "you to", "make sure to", "be sure to", "remember to", "make sure you"];
    let is_verb = |number: usize| {
        let word = words.word(number);
        !word.is_empty() && !NO_VERBS.contains(&word) && !word.ends_with("ing") && !word.ends_with("ed") || word == "include"
    };
    let first = words.first();
    for number in 0..words.0.len() {
        if !["always", "never"].contains(&words.word(number)) || !is_verb(number + 1) {
            continue;
        }
        if number == first {
            return Some(words.at(number));
        }
        let is_told = |phrase: &&str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            number.checked_sub(phrase.len()).is_some_and(|start| words.has(start, &phrase))
        };
        if BEFORE.iter().any(is_told) && !words.is_question(first) {
            return Some(words.at(first));
        }
    }
    None
}

/// Finds imperatives about all responses.
///
/// Examples are `answer in metric units`, `keep your replies short`, `don't use emojis` and `call me Jo`.
fn find_imperative(words: &SentenceWords, is_short: bool) -> Option<usize> {
    let first = words.first();
    let found = Some(words.at(first));
    let rest = first + 1..words.0.len();
    let verb = words.word(first);
    let has_manner = || words.any(rest.clone(), MANNERS);
    if ANSWERING.contains(&verb) {
        let has_way = WAYS.contains(&words.word(first + 1)) || words.word(first + 1) == "to" && words.word(first + 2) == "me";
        return found.filter(|_| is_short && has_way && (verb != "write" || has_manner()));
    }
    if ["call", "address"].contains(&verb) && words.word(first + 1) == "me" {
        const NOT_NAMES: &[&str] =
            &["when", "if", "back", "at", "on", "later", "tomorrow", "tonight", "anytime", "any", "crazy", "a", "after", ""];
        return found.filter(|_| is_short && !NOT_NAMES.contains(&words.word(first + 2)));
    }
    let is_negated = words.has(first, &["don't"]) || words.has(first, &["do", "not"]);
    if is_negated || BIDDING.contains(&verb) {
        return found.filter(|_| is_short && words.0.len() <= 15 && has_manner());
    }
    None
}

/// Finds a statement of a note about the person: `the user prefers …`, `user wants …`.
fn find_third_person(words: &SentenceWords) -> Option<StandingCue> {
    const ADVERBS: &[&str] = &["always", "strongly", "really", "usually", "generally", "also", "now", "still", "never"];
    let at = words.find("user")?;
    if 1 < at {
        return None;
    }
    let verb = (at + 1..words.0.len()).find(|number| !ADVERBS.contains(&words.word(*number)))?;
    match words.word(verb) {
        "prefers" | "likes" | "dislikes" | "hates" | "loves" | "favors" | "favours" => Some((Preference, 0)),
        "wants" | "expects" | "insists" | "requires" => Some((Instruction, 0)),
        "asked" | "asks" => (words.word(verb + 1) == "to" || words.word(verb + 1) == "for").then_some((Instruction, 0)),
        _ => None,
    }
}

/// Finds a preference that the speaker states.
fn find_preference(words: &SentenceWords) -> Option<usize> {
    const ADVERBS: &[&str] = &[
        "really",
        "also",
        "still",
        "much",
        "strongly",
        "usually",
        "always",
        "generally",
        "would",
        "personally",
        "definitely",
        "actually",
        "tend",
        "to",
        "just",
        "typically",
        "do",
    ];
    const LIKING: &[&str] = &["like", "love", "enjoy"];
    const COMPARED: &[&str] = &["over", "better than", "more than", "rather than", "instead of"];
    for number in 0..words.0.len() {
        let word = words.word(number);
        if ["i", "we", "i'd", "we'd"].contains(&word) {
            let verb = (number + 1..words.0.len()).find(|next| !ADVERBS.contains(&words.word(*next))).unwrap_or(number);
            let is_compared = || COMPARED.iter().any(|phrase| words.find(phrase).is_some_and(|at| verb < at && at < verb + 12));
            let is_preference = match words.word(verb) {
                "prefer" => words.word(verb + 1) != "not",
                "rather" => word.ends_with("'d") && words.find("than").is_some_and(|at| verb < at),
                liking if LIKING.contains(&liking) => !words.has(verb + 1, &["to", "say"]) && is_compared(),
                _ => false,
            };
            if is_preference {
                return Some(words.at(number));
            }
        }
        if word == "my" {
            let is_stated = |noun: &str| ["is", "are"].contains(&noun);
            let is_preference = match words.word(number + 1) {
                "preference" | "preferences" => true,
                "preferred" => (number + 2..number + 6).any(|next| is_stated(words.word(next))),
                "favorite" | "favourite" => (number + 2..number + 4).any(|next| is_stated(words.word(next))),
                _ => false,
            };
            if is_preference {
                return Some(words.at(number));
            }
        }
    }
    None
}
