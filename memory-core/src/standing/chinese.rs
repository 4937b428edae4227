//! The grammar of Chinese standing sentences.
//!
//! A sentence is read clause by clause, with folded text, so that one list of words covers traditional and simplified characters.

use super::kind::StandingKind::{Instruction, Preference};
use super::kind::{Reading, StandingCue, StandingForm};
use super::words::language_at;
use crate::language::{WORDS, contains_any, starts_with_any, strip_any, unspaced};
use crate::text::fold;

word_classes! {
    /// The words of Chinese standing sentences.
    CHINESE = "../language/zh/standing.json": ChineseWords {
        /// Words that may precede a request without changing it.
        leads,
        /// Words for the time from now on.
        lasting,
        /// Phrases of the person before a request.
        wishes,
        /// The assistant as the subject, and subjects that a request cannot have.
        assistant,
        other_subjects,
        /// Words that forbid something.
        prohibitions,
        /// Adverbs for all times.
        absolute,
        /// Modal words before a verb.
        modals,
        /// Negations of a request.
        negations,
        /// Verbs and prepositions of producing a response.
        producing,
        /// Nouns for the responses of the assistant.
        responses,
        /// Nouns for the form of responses.
        forms,
        /// Systems of units. `用公制` names one without a further word of a request.
        named_systems,
        /// Adjectives for the manner of responses.
        manners,
        /// Words behind the responses.
        after_responses,
        /// Verbs at the end of a clause that announces the words of another person.
        saying,
        /// Words behind `叫我` that are no name.
        not_names,
        /// Conjunctions of conditions, and acts of the person under a condition.
        conditions,
        asking,
        /// Verbs of liking and of disliking, and characters behind them by which a clause is no preference.
        likes,
        dislikes,
        not_liked,
    }
}

/// Finds the cue that makes a sentence a standing instruction or preference.
///
/// `is_short` is true if the whole memory is short.
pub(super) fn find_cue(
    sentence: &str,
    Reading {
        is_short,
        is_guidance,
    }: Reading,
) -> Option<StandingCue> {
    let is_question = sentence.trim_end().ends_with(['？', '?']);
    if is_question {
        return None;
    }
    let clauses = clauses(sentence);
    // `妈妈说：以后请不要迟到` quotes another person.
    let is_quoted = |number: &usize| {
        number
            .checked_sub(1)
            .is_some_and(|before| quotes_another(&clauses[before].1))
    };
    for (number, (at, clause)) in clauses
        .iter()
        .enumerate()
        .filter(|(number, _)| !is_quoted(number))
    {
        let request = ChineseRequest::parse(clause);
        let is_conditional = || {
            number
                .checked_sub(1)
                .is_some_and(|before| is_condition(&clauses[before].1))
        };
        let is_forbidden = || starts_with_any(clause, &CHINESE.prohibitions);
        if request.is_standing(is_short)
            || is_guidance && is_forbidden()
            || request.is_to_assistant && !request.rest.is_empty() && is_conditional()
        {
            return Some(StandingCue {
                kind: Instruction,
                form: request.form,
                at: *at,
            });
        }
    }
    clauses
        .iter()
        .find(|(_, clause)| states_preference(clause, is_short))
        .map(|(at, _)| StandingCue {
            kind: Preference,
            form: StandingForm::Statement,
            at: *at,
        })
}

/// Returns whether a clause announces the words of another person.
fn quotes_another(clause: &str) -> bool {
    CHINESE.saying.iter().any(|verb| clause.ends_with(verb))
        && !starts_with_any(clause, &["我", "用户"])
}

/// Returns the clauses of a sentence, folded and without blanks, each with its byte offset.
fn clauses(sentence: &str) -> Vec<(usize, String)> {
    let parts = sentence.split(['，', ',', '：', ':', '。', '！', '!', '；', ';']);
    let clause = |part: &str| {
        let kept: String = fold(part)
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .collect();
        (part.as_ptr() as usize - sentence.as_ptr() as usize, kept)
    };
    parts
        .map(clause)
        .filter(|(_, clause)| !clause.is_empty())
        .collect()
}

/// A clause without the words around the requested act.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
struct ChineseRequest<'c> {
    is_polite: bool,
    is_lasting: bool,
    is_absolute: bool,
    is_modal: bool,
    is_negated: bool,
    /// Whether the subject is the assistant, or absent as in a request.
    is_to_assistant: bool,
    form: StandingForm,
    rest: &'c str,
}

impl<'c> ChineseRequest<'c> {
    fn parse(clause: &'c str) -> Self {
        let mut request = Self {
            is_polite: false,
            is_lasting: false,
            is_absolute: false,
            is_modal: false,
            is_negated: false,
            is_to_assistant: true,
            form: StandingForm::Request,
            rest: clause,
        };
        while let Some(rest) = request.strip_one() {
            request.rest = rest;
        }
        request.is_to_assistant = !starts_with_any(request.rest, &CHINESE.other_subjects);
        request
    }

    /// Removes one word before the requested act, and notes what it says.
    fn strip_one(&mut self) -> Option<&'c str> {
        let rest = self.rest;
        let strip = |words: &[&str]| strip_any(rest, words);
        let note = |flag: &mut bool, rest: Option<&'c str>| rest.inspect(|_| *flag = true);
        if let Some(rest) = strip(&CHINESE.wishes) {
            (self.form, self.is_polite) = (StandingForm::Statement, true);
            return Some(rest);
        }
        note(&mut self.is_polite, strip(&WORDS.polite))
            .or_else(|| strip(&CHINESE.leads))
            .or_else(|| note(&mut self.is_lasting, strip(&CHINESE.lasting)))
            .or_else(|| note(&mut self.is_polite, strip(&CHINESE.assistant)))
            .or_else(|| note(&mut self.is_absolute, strip(&CHINESE.absolute)))
            .or_else(|| note(&mut self.is_negated, strip(&CHINESE.negations)))
            .or_else(|| note(&mut self.is_modal, strip(&CHINESE.modals)))
    }

    fn is_standing(&self, is_short: bool) -> bool {
        if !self.is_to_assistant || self.rest.is_empty() {
            return false;
        }
        let is_about_responses = is_about_responses(
            self.rest,
            self.is_polite || self.is_modal || self.is_negated,
        );
        let is_request = self.is_polite || self.is_negated || is_about_responses;
        (self.is_absolute || self.is_lasting) && is_request
            || is_short && is_about_responses
            || is_short && is_form_of_address(self.rest)
            || self.is_negated
                && is_short
                && (names_form(self.rest) || self.rest.starts_with("用"))
                && CHINESE
                    .responses
                    .iter()
                    .chain(&CHINESE.forms)
                    .any(|word| self.rest.contains(word))
    }
}

/// Returns whether the rest of a request is about all responses: `用中文回答`, `回答要简短`, `说德语`.
fn is_about_responses(rest: &str, is_marked: bool) -> bool {
    let has = |words: &[&str]| contains_any(rest, words);
    if let Some(after) = strip_any(rest, &CHINESE.responses) {
        let after = strip_any(after, &CHINESE.after_responses).unwrap_or(after);
        let is_ruled = CHINESE
            .modals
            .iter()
            .chain(&CHINESE.negations)
            .chain(&CHINESE.producing)
            .chain(&CHINESE.manners)
            .chain(&["请", "保持"])
            .any(|word| after.starts_with(word));
        let has_language = || {
            after
                .char_indices()
                .any(|(at, _)| language_at(&after[at..]).is_some())
        };
        return is_ruled
            && (has(&CHINESE.forms)
                || names_shared_form(rest)
                || has(&CHINESE.manners)
                || has_language());
    }
    let Some(object) = strip_any(rest, &CHINESE.producing) else {
        return false;
    };
    let object = object
        .strip_prefix(['过', '成', '得', '着'])
        .unwrap_or(object);
    if starts_with_any(object, &CHINESE.named_systems) {
        return true;
    }
    match language_at(object) {
        Some((_, length)) => {
            is_marked
                || contains_any(&object[length..], &CHINESE.responses)
                || length == object.len()
        }
        None => {
            (has(&CHINESE.forms) || has(&CHINESE.manners) || names_shared_form(rest))
                && (is_marked || has(&CHINESE.responses))
                && !object.starts_with(['我', '他', '她', '这', '那'])
        }
    }
}

fn names_shared_form(text: &str) -> bool {
    contains_any(text, &WORDS.forms)
}

fn names_form(text: &str) -> bool {
    names_shared_form(text) || starts_with_any(text, &CHINESE.forms)
}

/// Returns whether a request is about the form of address: `叫我小王`. `叫我起床` is about getting up.
fn is_form_of_address(rest: &str) -> bool {
    const MAX_NAME_CHARS: usize = 8;
    let name = unspaced(&WORDS.naming).find_map(|verb| rest.strip_prefix(verb));
    name.is_some_and(|name| {
        !name.is_empty()
            && name.chars().count() <= MAX_NAME_CHARS
            && !starts_with_any(name, &CHINESE.not_names)
    })
}

/// Returns whether a clause is a condition such as `当我问到天气时`.
fn is_condition(clause: &str) -> bool {
    let rest = strip_any(clause, &CHINESE.conditions).unwrap_or(clause);
    starts_with_any(rest, &CHINESE.asking)
}

/// Returns whether a clause states a preference of the person.
fn states_preference(clause: &str, is_short: bool) -> bool {
    /// Endings of questions, and words for the past.
    const NOT_NOW: &[&str] = &["吗", "小时候", "以前"];
    if NOT_NOW.iter().any(|word| clause.contains(word)) {
        return false;
    }
    let likes = |after: &str, is_user: bool| {
        let liked = strip_any(after, &CHINESE.likes);
        let disliked = strip_any(after, &CHINESE.dislikes);
        let is_form = |thing: &str| {
            is_short
                && (names_form(thing)
                    || CHINESE
                        .responses
                        .iter()
                        .chain(&CHINESE.forms)
                        .any(|word| thing.contains(word)))
        };
        liked.is_some_and(|thing| !starts_with_any(thing, &CHINESE.not_liked))
            || disliked.is_some_and(|thing| is_user || is_form(thing))
    };
    clause
        .match_indices("我")
        .any(|(at, own)| likes(&clause[at + own.len()..], false))
        || clause
            .match_indices("用户")
            .any(|(at, own)| likes(&clause[at + own.len()..], true))
}
