//! The grammar of standing sentences in the languages that files of word classes describe.
//!
//! All words are folded: `möchte` is `mochte`, and `n'écris` is `n'` and `ecris`.

use std::sync::LazyLock;

use super::kind::StandingKind::{Instruction, Preference};
use super::kind::{StandingCue, StandingForm, StandingKind};
use super::words::{SentenceWords, language};
use crate::language::{LANGUAGES, WORDS};

word_classes! {
    /// The word classes of a language. Entries of several words are phrases.
    Grammar {
        /// Words that may precede a request without changing it.
        leads,
        /// Adverbs for all times and for no time.
        adverbs,
        /// Words that end the reach of the adverb before them: `immer noch`.
        after_other_adverbs,
        /// Phrases that revoke a request: `nie mehr`.
        revoking,
        /// Words between a verb and its adverb, or between a verb and the manner.
        fillers,
        /// Phrases before the act that is requested: `du sollst`.
        requests,
        /// Negations before an imperative or infinitive, and words between them and the verb.
        negations,
        after_negation,
        /// Words that are no imperative.
        non_verbs,
        /// Imperatives, and the endings of regular ones. Without endings, every word that is none of `non_verbs` can be one.
        imperatives,
        imperative_endings,
        /// The pronoun behind a polite imperative in `-n`, written with a capital.
        polite,
        /// The endings of infinitives, and the beginnings of participles, which are no infinitives.
        infinitive_endings,
        participle_beginnings,
        /// Infinitives that begin like participles.
        infinitives,
        /// The assistant behind the verb of a statement: `antwortest du`.
        you,
        /// Other subjects, before or behind a verb.
        subjects,
        /// Phrases of a condition, and the verbs of asking behind them.
        conditions,
        asking,
        /// Phrases for the time from now on.
        lasting,
        /// Verbs of speaking, and the preposition before a language.
        speaking,
        ways,
        /// Adjectives and adverbs for the manner of responses, and the verbs before them: `sei`, `fass dich`.
        manners,
        being,
        /// Nouns for the responses of the assistant and for their form, and the verbs of which they may be the object.
        responses,
        forms,
        forming,
        /// Determiners that make a form a certain thing, and prepositions that place it.
        definite,
        places,
        /// Words that stand for a negated or smaller form without a verb: `keine`.
        measures,
        /// Verbs before a name, verbs for the form of address, and the person: `nenn mich Max`, `duze mich`.
        calling,
        addressing,
        me,
        /// The person in a note of someone else, and the verbs behind.
        users,
        user_likes,
        user_wants,
        /// The person, and the verbs behind, or the verbs alone where pronouns are left out.
        own,
        likes,
        wants,
        prefers,
        /// Adverbs that compare what the person does: `lieber`.
        rather,
        /// Determiners of the person and, behind them, words for what is preferred, or their beginnings.
        my,
        favourites,
    }
}

/// The grammars, in the order in which they are tried.
static GRAMMARS: LazyLock<Vec<Grammar>> = LazyLock::new(|| {
    let files = LANGUAGES.iter().filter_map(|language| language.grammar);
    files.map(|file| Grammar::read(&[file])).collect()
});

/// Finds the cue that makes a sentence a standing instruction or preference, in the first language that has one.
pub(super) fn find_cue(words: &SentenceWords, is_short: bool) -> Option<StandingCue> {
    let apart = words.split_elisions();
    GRAMMARS
        .iter()
        .find_map(|grammar| grammar.find_cue(&apart, is_short))
}

impl Grammar {
    fn find_cue(&self, words: &SentenceWords, is_short: bool) -> Option<StandingCue> {
        let first = words
            .skip(0, &self.leads)
            .min(words.len().saturating_sub(1));
        let is_request = self.is_absolute(words, first)
            || self.is_conditional(words, first)
            || self.is_lasting(words, first)
            || is_short
                && (self.is_about_responses(words, first) || self.is_bare_form(words, first));
        if is_request && !words.is_question {
            return Some(StandingCue {
                kind: Instruction,
                form: StandingForm::Request,
                at: words.at(first),
            });
        }
        let (kind, at) = self
            .find_third_person(words)
            .or_else(|| self.find_wish(words).filter(|_| is_short))
            .or_else(|| Some((Preference, self.find_preference(words)?)))?;
        Some(StandingCue {
            kind,
            form: StandingForm::Statement,
            at: words.at(at),
        })
    }

    fn has_imperative_form(&self, words: &SentenceWords, number: usize) -> bool {
        let word = words.word(number);
        let is_polite = word.ends_with('n')
            && words.is(number + 1, &self.polite)
            && words.is_capitalised(number + 1);
        let ends = |ending: &&str| word.ends_with(*ending);
        !words.is(number, &self.non_verbs)
            && (is_polite
                || words.is(number, &self.imperatives)
                || 3 < word.len() && self.imperative_endings.iter().any(ends))
    }

    fn is_imperative(&self, words: &SentenceWords, number: usize) -> bool {
        let is_any = self.imperative_endings.is_empty()
            && 2 < words.word(number).len()
            && !words.is(number, &self.non_verbs);
        is_any || self.has_imperative_form(words, number)
    }

    fn is_infinitive(&self, words: &SentenceWords, number: usize) -> bool {
        let word = words.word(number);
        let is_participle = self
            .participle_beginnings
            .iter()
            .any(|start| word.starts_with(start))
            && !words.is(number, &self.infinitives);
        3 < word.len()
            && self
                .infinitive_endings
                .iter()
                .any(|end| word.ends_with(end))
            && !words.is_capitalised(number)
            && !is_participle
            && !words.is(number, &self.non_verbs)
    }

    /// Returns whether the word behind `start`, or the last one of its clause, is an infinitive: `immer auf Deutsch antworten`.
    fn has_infinitive(&self, words: &SentenceWords, start: usize) -> bool {
        let last = words.next_clause(start + 1) - 1;
        self.is_infinitive(words, start + 1) || start < last && self.is_infinitive(words, last)
    }

    /// Returns the number of the verb behind a negation that only an imperative and an infinitive have: `n'écris pas`.
    fn negated_verb(&self, words: &SentenceWords, first: usize) -> Option<usize> {
        words
            .is(first, &self.negations)
            .then(|| words.skip(first + 1, &self.after_negation))
            .filter(|verb| *verb < words.len())
    }

    fn is_for_all_times(&self, words: &SentenceWords, number: usize) -> bool {
        words.is(number, &self.adverbs) && !words.is(number + 1, &self.after_other_adverbs)
            || words.phrase_at(number, &self.revoking).is_some()
    }

    fn is_absolute(&self, words: &SentenceWords, first: usize) -> bool {
        let near = |start: usize| {
            (start..words.skip(start, &self.fillers) + 3)
                .any(|number| self.is_for_all_times(words, number))
        };
        if let Some(length) = words.phrase_at(first, &self.requests) {
            return near(first + length);
        }
        if self.negated_verb(words, first).is_some() {
            return near(first + 1);
        }
        if self.is_for_all_times(words, first) {
            return !words.is(first + 1, &self.subjects) && self.has_infinitive(words, first)
                || self.has_imperative_form(words, first + 1) && !words.is_capitalised(first + 1);
        }
        let adverb = words.skip(first + 1, &self.fillers);
        self.is_imperative(words, first) && self.is_for_all_times(words, adverb)
    }

    /// Returns whether the clause at `main` addresses the assistant.
    fn is_to_assistant(&self, words: &SentenceWords, main: usize) -> bool {
        main < words.len()
            && (self.is_imperative(words, main)
                || self.negated_verb(words, main).is_some()
                || words.phrase_at(main, &self.requests).is_some()
                || words.is(main + 1, &self.you))
    }

    fn is_conditional(&self, words: &SentenceWords, first: usize) -> bool {
        let Some((at, length)) = words
            .find_phrase(&self.conditions)
            .filter(|(at, _)| first <= *at)
        else {
            return false;
        };
        let end = words.next_clause(at + length);
        let main = if at == first {
            words.skip(end, &self.leads)
        } else {
            first
        };
        words.find(at + length..end, &self.asking).is_some() && self.is_to_assistant(words, main)
    }

    fn is_lasting(&self, words: &SentenceWords, first: usize) -> bool {
        let Some((at, length)) = words.find_phrase(&self.lasting) else {
            return false;
        };
        if at != first {
            return self.is_to_assistant(words, first);
        }
        let main = words.skip(at + length, &self.leads);
        let has_other_subject =
            words.is(main, &self.subjects) || words.is(main + 1, &self.subjects);
        !has_other_subject
            && main < words.len()
            && (self.is_to_assistant(words, main) || self.has_infinitive(words, main))
    }

    /// Returns whether a request is about all responses: `antworte auf Deutsch`, `sois bref`, `appelle-moi Max`.
    fn is_about_responses(&self, words: &SentenceWords, first: usize) -> bool {
        let request = words
            .phrase_at(first, &self.requests)
            .map(|length| first + length);
        let verb = self.negated_verb(words, first).or(request).unwrap_or(first);
        let end = words.next_clause(verb + 1);
        if verb == first && !self.is_imperative(words, first) {
            // `Auf Deutsch antworten`
            return words.is(first, &self.ways)
                && language(words.word(first + 1)).is_some()
                && self.has_infinitive(words, first);
        }
        let behind = words.skip(verb + 1, &self.fillers);
        let speaks = words.find(verb..end, &self.speaking).is_some();
        if speaks && self.names_manner(words, behind, end) {
            return true;
        }
        if words.is(verb, &self.being) {
            return words.find(verb + 1..verb + 5, &self.manners).is_some();
        }
        let me = words.find(verb..verb + 3, &self.me);
        if words.is(verb, &self.addressing) {
            return me.is_some();
        }
        if words.is(verb, &self.calling) {
            return me.is_some_and(|me| {
                me + 1 < words.len()
                    && !words.is(me + 1, &self.non_verbs)
                    && !words.begins_clause(me + 1)
            });
        }
        words.find(verb..end, &self.forming).is_some() && self.finds_form(words, verb)
    }

    /// Returns whether a manner or a language is at `start`, or a language in the clause behind a preposition.
    fn names_manner(&self, words: &SentenceWords, start: usize, end: usize) -> bool {
        let is_language = |number: usize| language(words.word(number)).is_some();
        let is_way = |number: usize| words.is(number, &self.ways) && is_language(number + 1);
        is_language(start)
            || words.is(start, &self.manners)
            || self.finds_form(words, start.saturating_sub(1))
            || (start..end).any(is_way)
    }

    fn is_form(&self, words: &SentenceWords, number: usize) -> bool {
        words.is(number, &self.forms) || words.is(number, &WORDS.forms)
    }

    /// Returns whether a form of responses, or the responses with an attribute, follow the word at `verb`.
    fn finds_form(&self, words: &SentenceWords, verb: usize) -> bool {
        let end = words.next_clause(verb + 1).min(verb + 6);
        let is_placed = words.find(verb + 1..words.len(), &self.places).is_some();
        (verb + 1..end).any(|number| {
            let is_response = words.is(number, &self.responses)
                && (verb + 1 < number || words.is(number + 1, &self.manners));
            words.is(number, &WORDS.named_systems)
                || !is_placed
                    && (self.is_form(words, number) || is_response)
                    && words.find(verb + 1..number, &self.definite).is_none()
        })
    }

    /// Returns whether a clause consists of a form of responses and its negation or measure: `keine Emojis, bitte`.
    fn is_bare_form(&self, words: &SentenceWords, first: usize) -> bool {
        let form = (first + 1..first + 4).find(|number| self.is_form(words, *number));
        let is_end = |form: usize| {
            let next = words.skip(form + 1, &self.leads);
            next == words.len() || words.begins_clause(form + 1) || self.has_infinitive(words, form)
        };
        words.is(first, &self.measures) && form.is_some_and(is_end)
    }

    fn find_third_person(&self, words: &SentenceWords) -> Option<(StandingKind, usize)> {
        let user = words.find(0..3, &self.users)?;
        let verb = words.skip(user + 1, &self.fillers);
        if words.is(verb, &self.user_likes) {
            return Some((Preference, 0));
        }
        let is_wish = words.is(verb, &self.user_wants) && self.finds_form(words, verb);
        is_wish.then_some((Instruction, 0))
    }

    /// Returns the number of the verb of the person at `own`, which is itself a verb where pronouns are left out: `prefiero`.
    fn verb_of(&self, words: &SentenceWords, own: usize, between: &[&str]) -> usize {
        let is_verb = [&self.wants, &self.likes, &self.prefers]
            .into_iter()
            .any(|class| words.is(own, class));
        if is_verb {
            own
        } else {
            words.skip(own + 1, between)
        }
    }

    /// Finds `ich möchte kurze Antworten` and `je n'aime pas les emojis`.
    fn find_wish(&self, words: &SentenceWords) -> Option<(StandingKind, usize)> {
        let start = words
            .find(0..words.len(), &self.own)
            .filter(|start| words.begins_clause(*start))?;
        let verb = self.verb_of(words, start, &self.negations);
        let kind = if words.is(verb, &self.wants) {
            Instruction
        } else {
            Some(Preference).filter(|_| words.is(verb, &self.likes))?
        };
        (!words.is_question && self.finds_form(words, verb)).then_some((kind, start))
    }

    /// Finds a preference that the person states: `je préfère le thé`, `meine Lieblingsfarbe ist Blau`.
    fn find_preference(&self, words: &SentenceWords) -> Option<usize> {
        let is_favourite = |number: usize| {
            let word = words.word(number);
            !word.is_empty() && self.favourites.iter().any(|start| word.starts_with(start))
        };
        (0..words.len()).find(|number| {
            let clause = number + 1..words.next_clause(number + 1).min(number + 12);
            let verb = self.verb_of(words, *number, &self.fillers);
            words.is(*number, &self.own)
                && (words.phrase_at(verb, &self.prefers).is_some()
                    || (clause.clone()).any(|at| words.phrase_at(at, &self.rather).is_some()))
                || words.is(*number, &self.my) && (number + 1..number + 3).any(is_favourite)
        })
    }
}
