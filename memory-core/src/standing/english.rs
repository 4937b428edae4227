//! The grammar of English standing sentences.

mod words;

use self::words::ENGLISH;
use super::kind::StandingKind::{Instruction, Preference};
use super::kind::{Reading, StandingCue, StandingForm};
use super::words::{SentenceWords, language};
use crate::language::WORDS;

/// Finds the cue that makes a sentence a standing instruction or preference.
pub(super) fn find_cue(words: &SentenceWords, reading: Reading) -> Option<StandingCue> {
    let Reading {
        is_short,
        is_guidance,
    } = reading;
    let cue = |kind, form, word| StandingCue {
        kind,
        form,
        at: words.at(word),
    };
    for start in clause_starts(words) {
        let request = EnglishRequest::parse(words, start);
        let is_standing = is_absolute(words, &request)
            || is_conditional(words, start, &request)
            || is_lasting(words, start, &request)
            || is_short && (is_about_responses(words, &request) || is_bare_form(words, start))
            || is_guidance && is_addressed(words, &request);
        if is_standing && !is_question(words, start, &request) {
            return Some(cue(Instruction, request.form, start));
        }
    }
    find_third_person(words, is_short)
        .or_else(|| {
            find_rule_for_responses(words)
                .filter(|_| is_short)
                .map(|at| cue(Instruction, StandingForm::Request, at))
        })
        .or_else(|| {
            find_wish(words)
                .filter(|_| is_short)
                .map(|(kind, at)| cue(kind, StandingForm::Statement, at))
        })
        .or_else(|| {
            find_preference(words)
                .filter(|_| !asks(words))
                .map(|at| cue(Preference, StandingForm::Statement, at))
        })
}

/// Returns whether a sentence has a frequent English word. `Thé` is folded to `the`, but French articles tell.
pub(super) fn is_english(words: &SentenceWords) -> bool {
    let all = 0..words.len();
    words.find(all.clone(), &ENGLISH.frequent).is_some()
        && words.find(all, &["je", "le", "du", "un"]).is_none()
}

/// Returns the numbers of the words at which a request may start.
///
/// These are the start of the sentence, and the later clauses that begin with `please`, `so` or `call`.
fn clause_starts(words: &SentenceWords) -> Vec<usize> {
    const OPENINGS: &[&str] = &["please", "so", "call"];
    let is_start = |number: &usize| words.begins_clause(*number) && words.is(*number, OPENINGS);
    let after_lead = words.skip(0, &ENGLISH.leads);
    let mut starts = vec![if after_lead < words.len() {
        after_lead
    } else {
        0
    }];
    starts.extend(
        (1..words.len())
            .filter(is_start)
            .map(|number| words.skip(number, &ENGLISH.leads))
            .filter(|start| *start < words.len()),
    );
    starts.dedup();
    starts
}

/// Returns whether a sentence begins with a word of a question: `which kayaks do I prefer?`.
fn asks(words: &SentenceWords) -> bool {
    let first = words.skip(0, &ENGLISH.leads);
    words.is_question && words.is(first, &ENGLISH.question_openings)
}

/// Returns whether the clause at `start` asks for an answer, or requests something once: `can you be more polite?`.
fn is_question(words: &SentenceWords, start: usize, request: &EnglishRequest) -> bool {
    let is_polite = words.phrase_at(start, &ENGLISH.polite_requests).is_some();
    let asks_once = is_polite
        && !request.is_absolute
        && words.find_phrase(&ENGLISH.lasting).is_none()
        && words.find(start..words.len(), &["please"]).is_none();
    asks_once
        || words.is_question && words.is(start, &ENGLISH.question_openings) && !is_polite
        || words.is(start, &ENGLISH.question_words) && words.word(start + 1) != "i"
}

/// The request at the start of a clause, without the words around its verb.
#[derive(Debug)]
struct EnglishRequest {
    /// The number of the verb.
    verb: usize,
    /// Whether the verb is negated, by `never` too.
    is_negated: bool,
    /// Whether `always` or `never` belongs to the verb.
    is_absolute: bool,
    /// Whether words such as `you should` mark the request.
    is_marked: bool,
    form: StandingForm,
}

impl EnglishRequest {
    fn parse(words: &SentenceWords, start: usize) -> Self {
        let mut request = Self {
            verb: start,
            is_negated: false,
            is_absolute: false,
            is_marked: false,
            form: StandingForm::Request,
        };
        loop {
            let at = request.verb;
            if let Some(length) = words.phrase_at(at, &ENGLISH.wishes) {
                (request.verb, request.is_marked, request.form) =
                    (at + length, true, StandingForm::Statement);
            } else if let Some(length) = words.phrase_at(at, &ENGLISH.negated_wishes) {
                let form = if words.is(at, &["i"]) {
                    StandingForm::Statement
                } else {
                    request.form
                };
                (
                    request.verb,
                    request.is_marked,
                    request.form,
                    request.is_negated,
                ) = (at + length, true, form, true);
            } else if let Some(length) = wish_of_user(words, at) {
                (request.verb, request.is_marked, request.form) =
                    (at + length, true, StandingForm::Statement);
            } else if words.is(at, &["do"]) && words.is(at + 1, &ENGLISH.forming) {
                request.verb += 1;
            } else if words.phrase_at(at, &["you can", "you may"]).is_some()
                && words.find(at..words.len(), &["again"]).is_some()
            {
                (request.verb, request.is_marked) = (at + 2, true);
            } else if let Some(length) = words.phrase_at(at, &["no longer"]) {
                request.is_negated = true;
                request.verb += length;
            } else if let Some(length) = words.phrase_at(at, &ENGLISH.requests) {
                (request.verb, request.is_marked) = (at + length, true);
            } else if words.is(at, &["always", "never", "ever"]) {
                request.is_absolute = true;
                request.is_negated |= words.word(at) == "never";
                request.verb += 1;
            } else if let Some(length) =
                words.phrase_at(at, &["under no circumstances", "in no case"])
            {
                (request.is_absolute, request.is_negated) = (true, true);
                request.verb += length;
            } else if let Some(length) = words.phrase_at(at, &["don't", "dont", "do not", "not"]) {
                request.is_negated = true;
                request.verb += length;
            } else if request.is_marked && words.is(at, &["please", "only", "also", "just"])
                || words.is(at, &["please"])
            {
                request.verb += 1;
            } else {
                break;
            }
        }
        // `Answer always in German` is `always answer in German`.
        let adverb = words.skip(request.verb + 1, &ENGLISH.objects);
        let is_verb = || {
            [
                &ENGLISH.forming,
                &ENGLISH.speaking,
                &ENGLISH.producing,
                &ENGLISH.acting,
            ]
            .iter()
            .any(|verbs| words.is(request.verb, verbs))
        };
        // `Anna always comes late` is a statement.
        request.is_absolute |=
            words.is(adverb, &["always"]) && !words.begins_clause(adverb) && is_verb();
        request
    }
}

/// Returns the length of `the user wants me to` and similar phrases at `start`.
fn wish_of_user(words: &SentenceWords, start: usize) -> Option<usize> {
    let subject = subject_user(words, start)?;
    let verb = words.skip(subject, &["always", "also", "strongly", "now", "has"]);
    let mut to = if words.is(verb, &ENGLISH.wishing) {
        verb + 1
    } else {
        return None;
    };
    to += words
        .phrase_at(to, &["the assistant", "the agent", "the ai", "the model"])
        .unwrap_or_default();
    let is_addressed = verb + 1 < to || words.is(to, &ENGLISH.addressees);
    to += usize::from(words.is(to, &ENGLISH.addressees));
    to += usize::from(words.is(to, &["not"]) && words.is(to + 1, &["to"]) && is_addressed);
    // `The user asked to always …` has no addressee.
    let is_wish = is_addressed || words.is(verb, &["asks", "asked"]);
    (is_wish && words.is(to, &["to"])).then_some(to + 1 - start)
}

/// Returns the number of the word after the subject `the user` at `start`.
fn subject_user(words: &SentenceWords, start: usize) -> Option<usize> {
    let user = start + usize::from(words.is(start, &["the", "this", "our"]));
    words.is(user, &["user"]).then_some(user + 1)
}

/// Returns whether a word can be the verb of an imperative.
fn is_imperative(words: &SentenceWords, number: usize) -> bool {
    let word = words.word(number);
    let is_inflected = word.ends_with("ing")
        || word.ends_with("ly")
        || word.ends_with("ed") && !word.ends_with("eed")
        || word.ends_with('s') && !word.ends_with("ss");
    let is_class = |class: &[&str]| words.is(number, class);
    // `Never have I ever`, `Always have loved it`
    let is_auxiliary = is_class(&["have", "do"]) && {
        let next = words.word(number + 1);
        ["i", "you", "we", "they", "he", "she"].contains(&next)
            || next.ends_with("ed")
            || ENGLISH.past_forms.contains(&next)
    };
    // `Never Let Me Go` is a title.
    let is_title =
        0 < number && words.is_capitalised(number) && words.is(number - 1, &["always", "never"]);
    let is_advice = words.is(number + 1, &["yourself", "yourselves"])
        || words.is(number + 2, &["yourself", "yourselves"]);
    word.starts_with(char::is_alphabetic)
        && !is_subject(words, number)
        && (!is_inflected || is_class(&ENGLISH.base_forms))
        && !is_class(&ENGLISH.non_verbs)
        && !is_class(&ENGLISH.stative_verbs)
        && !is_class(&ENGLISH.past_forms)
        && !is_auxiliary
        && !is_title
        && !is_advice
}

/// Returns whether a word starts the subject of a statement: `team members are expected to …`.
fn is_subject(words: &SentenceWords, number: usize) -> bool {
    let end = words.next_clause(number + 1).min(number + 4);
    let end = words
        .find(number + 1..end, &ENGLISH.subordinating)
        .unwrap_or(end);
    words.find(number + 1..end, &ENGLISH.finite).is_some()
}

/// Returns whether a request applies always: `always use tabs`, `you must never deploy on Friday`.
fn is_absolute(words: &SentenceWords, request: &EnglishRequest) -> bool {
    let next = words.word(request.verb + 1);
    // Encouragements: `never give up`, `never stop dreaming`. With `to`, `forget` and `remember` request an act.
    let is_encouragement = match words.word(request.verb) {
        "give" => ["up", "in"].contains(&next),
        "stop" => next.ends_with("ing"),
        "forget" | "remember" => next != "to",
        _ => false,
    };
    request.is_absolute
        && is_imperative(words, request.verb)
        && !is_encouragement
        && !words.is(request.verb, &["think"])
}

/// Returns whether a request applies under a condition: `when I ask about code, name the version`.
fn is_conditional(words: &SentenceWords, start: usize, request: &EnglishRequest) -> bool {
    let Some((at, length)) = words
        .find_phrase(&ENGLISH.conditions)
        .filter(|(at, _)| start <= *at)
    else {
        return false;
    };
    let verb = at + length + 1;
    let is_of_chat = match words.word(at + length) {
        // After the request, as in `create a table if I give you the list`, other verbs are about one occasion.
        "i" if at != start => words.is(verb, &["ask", "request", "mention"]),
        "i" => words.is(verb, &ENGLISH.asking),
        "you" => !words.is(at, &["if"]) && words.find(verb..verb + 2, &ENGLISH.producing).is_some(),
        _ => false,
    };
    if !is_of_chat {
        return false;
    }
    if at != start {
        return is_imperative(words, request.verb)
            && (words.is(at + length, &["i"]) || request.is_marked);
    }
    let main = words.next_clause(verb + 1);
    if main < words.len() {
        let main = words.skip(main, &ENGLISH.leads);
        let request = EnglishRequest::parse(words, main);
        return is_imperative(words, request.verb) || request.is_marked || words.is(main, &["you"]);
    }
    words.is(at + length, &["i"])
        && words
            .find(verb + 1..words.len(), &["please", "you", "your"])
            .is_some()
}

/// Returns whether a request applies from now on.
fn is_lasting(words: &SentenceWords, start: usize, request: &EnglishRequest) -> bool {
    let Some((at, length)) = words
        .find_phrase(&ENGLISH.lasting)
        .filter(|(at, _)| start <= *at)
    else {
        return false;
    };
    if at == start {
        let main = words.skip(at + length, &ENGLISH.leads);
        let is_role = words.is(main, &["you", "you're", "you'll"]) && !words.is(at, &["in"]);
        let request = EnglishRequest::parse(words, main);
        return main < words.len() && (is_imperative(words, request.verb) || is_role);
    }
    // `Keep going forward` is a motion, and `in future updates` a time of something else.
    let is_motion = words.is(at - 1, &["keep"]);
    let is_in_clause = at < words.next_clause(request.verb + 1) || words.begins_clause(at);
    !is_motion
        && is_in_clause
        && words.begins_clause(at + length)
        && is_imperative(words, request.verb)
}

/// Returns whether a sentence forbids something, or asks for something that is done for the person: `don't open with compliments`,
/// `ask me before you delete a file`.
fn is_addressed(words: &SentenceWords, request: &EnglishRequest) -> bool {
    let is_for_person = words.is(request.verb + 1, &["me"]);
    // In `do not tell me something is finished`, the words behind the verb look like a statement.
    request.is_negated && is_for_person
        || is_imperative(words, request.verb) && (request.is_negated || is_for_person)
}

/// Returns whether a request is about all responses.
///
/// Examples are `answer in metric units`, `keep your replies short`, `don't use emojis`, `be brief` and `call me Jo`.
fn is_about_responses(words: &SentenceWords, request: &EnglishRequest) -> bool {
    let verb = request.verb;
    let word = words.word(verb);
    if ENGLISH.speaking.contains(&word) && names_manner(words, verb) {
        return true;
    }
    match word {
        "be" => {
            let manner = words.skip(verb + 1, &ENGLISH.degrees);
            return words.is(manner, &ENGLISH.manners) && !words.is(manner + 1, &["at", "on"]);
        }
        "call" | "address" if words.is(verb + 1, &["me"]) => {
            let name = words.word(verb + 2);
            let is_by = word == "address" && name == "as";
            let is_name = !name.is_empty()
                && !ENGLISH.non_verbs.contains(&name)
                && !words.begins_clause(verb + 2);
            let is_time = ["back", "tonight", "anytime", "asap", "please"].contains(&name);
            return !request.is_negated && (is_by || is_name && !is_time);
        }
        "stop" if words.is(verb + 1, &ENGLISH.responding) => return true,
        "stop" if words.is(verb + 1, &ENGLISH.speaking_forms) => {
            return names_manner(words, verb + 1);
        }
        "switch" => {
            let value = words.skip(verb + 1, &["back", "to"]);
            return verb + 1 < value
                && (language(words.word(value)).is_some()
                    || words.is(value, &WORDS.named_systems));
        }
        "keep" | "make" if words.is(verb + 1, &["it", "things", "everything"]) => {
            return words.is(verb + 2, &ENGLISH.manners);
        }
        _ => {}
    }
    words.len() <= MAX_WORDS
        && ENGLISH.forming.contains(&word)
        && (finds_form(words, verb) || ENGLISH.forms.contains(&word))
        || request.is_negated && ENGLISH.forms.contains(&word)
}

/// The maximum number of words of a request about the form of responses.
const MAX_WORDS: usize = 15;

/// The number of words behind a verb among which its object is.
const OBJECT_REACH: usize = 5;

/// Returns whether a manner or a language follows the verb of speaking at `verb`.
fn names_manner(words: &SentenceWords, verb: usize) -> bool {
    let way = words.skip(verb + 1, &ENGLISH.after_speaking);
    let end = words.len();
    let has_form = |from: usize| {
        (from..end).any(|number| {
            is_form(words, number)
                || words.is(number, &ENGLISH.responses)
                || words.is(number, &["sentence", "paragraph", "words"])
        })
    };
    let has_language = |from: usize| {
        (from..end.min(from + 2)).any(|number| language(words.word(number)).is_some())
    };
    // `Write specific benefits of …` has an object.
    let is_adverb = || words.begins_clause(way + 1) || words.is(way + 1, &ENGLISH.after_manner);
    if language(words.word(way)).is_some() || words.is(way, &ENGLISH.manners) && is_adverb() {
        return true;
    }
    if !words.is(way, &ENGLISH.ways) {
        return false;
    }
    if words.is(verb, &["write"])
        || words.is(way + 1, &ENGLISH.definite)
        || is_number(words, way + 1)
    {
        return has_language(way + 1)
            || words.find(way + 1..end, &ENGLISH.manners).is_some()
            || has_form(way + 1);
    }
    way + 1 < end
}

fn is_number(words: &SentenceWords, number: usize) -> bool {
    words
        .word(number)
        .starts_with(|letter: char| letter.is_ascii_digit())
        || words.is(number, &ENGLISH.numbers)
}

fn is_form(words: &SentenceWords, number: usize) -> bool {
    words.is(number, &ENGLISH.forms) || words.is(number, &WORDS.forms)
}

/// Returns whether the object of the verb is a form of responses, or the responses.
///
/// With a definite determiner, as in `keep the tables in the garage`, a form is a certain thing.
fn finds_form(words: &SentenceWords, verb: usize) -> bool {
    let end = words.next_clause(verb + 1).min(verb + 1 + OBJECT_REACH);
    (verb + 1..end).any(|number| {
        let is_certain = (verb + 1..number)
            .any(|before| words.is(before, &ENGLISH.definite) || is_number(words, before));
        let is_modified = verb + 1 < number;
        words.is(number, &WORDS.named_systems)
            || !is_certain
                && (is_form(words, number) || words.is(number, &ENGLISH.responses) && is_modified)
    })
}

/// Returns whether a clause consists of a form of responses and its negation or measure: `no emojis, please`.
fn is_bare_form(words: &SentenceWords, start: usize) -> bool {
    let first = if start == 1 && words.is(0, &["no"]) {
        0
    } else {
        start
    };
    let Some(form) = (first + 1..first + 4)
        .find(|number| is_form(words, *number) || words.is(*number, &ENGLISH.responses))
    else {
        return false;
    };
    let next = words.skip(form + 1, &ENGLISH.after_form);
    let is_end = next != form + 1 || form + 1 == words.len() || words.begins_clause(form + 1);
    words.is(first, &ENGLISH.measures)
        && words.find(first + 1..form, &ENGLISH.definite).is_none()
        && is_end
}

/// Finds `your answers should be short` and `responses must be in French`.
fn find_rule_for_responses(words: &SentenceWords) -> Option<usize> {
    let first = words.skip(0, &ENGLISH.leads);
    let noun = words.find(first..first + 4, &ENGLISH.responses)?;
    let is_subject = words.is(noun + 1, &ENGLISH.modals)
        && words.find(first..noun, &ENGLISH.before_responses).is_none();
    is_subject.then_some(first)
}

/// Finds a statement of a note about the person: `the user prefers …`, `user wants short answers`, `prefers tabs`.
fn find_third_person(words: &SentenceWords, is_short: bool) -> Option<StandingCue> {
    let cue = |kind| {
        Some(StandingCue {
            kind,
            form: StandingForm::Statement,
            at: words.at(0),
        })
    };
    let subject = subject_user(words, 0);
    let verb = words.skip(subject.unwrap_or_default(), &ENGLISH.before_verb);
    let behind = || finds_form(words, verb);
    match (words.word(verb), subject) {
        ("prefers" | "dislikes" | "favors" | "favours", _)
        | ("likes" | "hates" | "loves", Some(_)) => cue(Preference),
        ("prefer" | "like" | "hate" | "love" | "dislike", Some(subject)) if subject < verb => {
            cue(Preference)
        }
        ("insists", Some(_)) => cue(Instruction),
        (
            "wants" | "expects" | "requires" | "needs" | "want" | "need" | "asked" | "asks",
            subject,
        ) if (is_short || subject.is_some()) && (behind() || wants_to_be_called(words, verb)) => {
            cue(Instruction).filter(|_| subject.is_some() || words.word(verb).ends_with('s'))
        }
        _ => None,
    }
}

fn wants_to_be_called(words: &SentenceWords, verb: usize) -> bool {
    words
        .phrase_at(verb + 1, &["to be called", "to be addressed"])
        .is_some()
}

/// Finds a wish or a liking of the speaker that is about responses: `I want short answers`, `I hate bullet lists`.
fn find_wish(words: &SentenceWords) -> Option<(super::StandingKind, usize)> {
    const PREPOSITIONS: &[&str] = &["for", "from", "at", "by"];
    let start = words
        .find(0..words.len(), &["i", "i'd", "we", "we'd"])
        .filter(|start| words.begins_clause(*start) || *start < 3)?;
    let verb = words.skip(start + 1, &ENGLISH.before_verb);
    let is_wish = words.is(verb, &ENGLISH.wanting)
        || words.is(verb, &["like", "love"])
            && (words.word(start).ends_with("'d") || words.find(start..verb, &["would"]).is_some());
    let kind = if is_wish { Instruction } else { Preference };
    let is_verb = is_wish || words.is(verb, &ENGLISH.liking);
    // `I want your answers to be short`
    let is_rule = || {
        words.is(verb + 1, &["your", "all"])
            && words.find(verb + 2..verb + 4, &ENGLISH.responses).is_some()
    };
    // `I need tables for the garden`
    let is_thing =
        || words.is(verb, &["need"]) && words.find(verb + 1..words.len(), PREPOSITIONS).is_some();
    (is_verb && !words.is_question && !is_thing() && (finds_form(words, verb) || is_rule()))
        .then_some((kind, start))
}

/// Finds a preference that the speaker states.
fn find_preference(words: &SentenceWords) -> Option<usize> {
    let is_stated = |number: usize| words.is(number, &["is", "are"]);
    (0..words.len()).find(|number| match words.word(*number) {
        own @ ("i" | "we" | "i'd" | "we'd") => {
            let verb = words.skip(number + 1, &ENGLISH.adverbs);
            let is_compared = || {
                (verb + 1..verb + 12).any(|at| words.phrase_at(at, &ENGLISH.comparing).is_some())
            };
            match words.word(verb) {
                "prefer" => !words.is(verb + 1, &ENGLISH.negations),
                "rather" => {
                    own.ends_with("'d") && words.find(verb + 1..words.len(), &["than"]).is_some()
                }
                // An `instead` of `like to say` compares what is said.
                "like" | "love" | "enjoy" => {
                    words.phrase_at(verb + 1, &["to say"]).is_none() && is_compared()
                }
                _ => false,
            }
        }
        "my" => match words.word(number + 1) {
            "preference" | "preferences" => true,
            "preferred" => (number + 2..number + 6).any(is_stated),
            "favorite" | "favourite" => (number + 2..number + 4).any(is_stated),
            _ => false,
        },
        _ => false,
    })
}
