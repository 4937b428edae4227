//! Rules for English requests.

use std::ops::Range;

use super::prose::{names_example, names_test_data};
use super::request::RequestStrength;
use super::words::ENGLISH;

/// Returns how strongly a clause requests an action at the time in `span`; `None` if it does not.
pub(super) fn english_strength(clause: &str, span: Range<usize>) -> Option<RequestStrength> {
    let is_forbidden = is_forbidden(clause, &span);
    let is_test = names_test_data(clause);
    let clause = RequestClause::of(clause, &span);
    if is_test || is_forbidden && !clause.is_care_order() {
        return None;
    }
    let is_asked = contains_any_phrase(&clause.said, &ENGLISH.request_phrases)
        || clause.states_duty()
        || clause.is_care_order();
    let is_noted = contains_any_phrase(&clause.said, &ENGLISH.request_nouns);
    if clause.is_vetoed(is_asked || is_noted) || clause.is_replaced(is_asked) {
        return None;
    }
    if is_asked || clause.is_imperative() {
        return Some(RequestStrength::Ask);
    }
    if clause.is_past() {
        return None;
    }
    if is_noted || clause.is_deadline() || clause.is_heading() {
        return Some(RequestStrength::Ask);
    }
    clause.is_event().then_some(RequestStrength::Event)
}

struct RequestClause<'c> {
    text: &'c str,
    /// The words outside the time, separated and enclosed by spaces.
    said: String,
    before: Vec<String>,
    after: Vec<String>,
    /// The words of the time.
    time: Vec<String>,
}

impl<'c> RequestClause<'c> {
    fn of(text: &'c str, span: &Range<usize>) -> Self {
        let (mut before, mut after, mut time) = (Vec::new(), Vec::new(), Vec::new());
        for (word, place) in split_words(text) {
            if place.end <= span.start {
                before.push(word);
            } else if span.end <= place.start {
                after.push(word);
            } else {
                time.push(word);
            }
        }
        let said = format!(" {} {} ", before.join(" "), after.join(" ")).replace("  ", " ");
        Self {
            text,
            said,
            before,
            after,
            time,
        }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.before.iter().chain(&self.after).map(String::as_str)
    }

    fn has_word(&self, class: &[&str]) -> bool {
        self.words().any(|word| class.contains(&word))
    }

    fn is_vetoed(&self, is_request: bool) -> bool {
        let is_plural_day = |word: &str| {
            word.len() < 11
                && word.ends_with("days")
                && list_contains(&ENGLISH.plural_weekdays, word)
        };
        // "Remind me every Monday" contains a frequency, but is a request and not a habit.
        let asks_again = is_request
            && self
                .words()
                .any(|word| list_contains(&["remind", "reminder", "forget"], word));
        let is_one = |word: &str| {
            if asks_again {
                list_contains(&ENGLISH.habits, word)
            } else {
                list_contains(&ENGLISH.habits, word)
                    || list_contains(&ENGLISH.frequency, word)
                    || is_plural_day(word)
            }
        };
        let is_habit = self
            .words()
            .chain(self.time.iter().map(String::as_str))
            .any(is_one);
        // An adverb may also describe what the clause is about: "call Anna on Friday about the weekly report".
        let is_habit = is_habit
            || !asks_again
                && self
                    .time
                    .iter()
                    .any(|word| list_contains(&ENGLISH.frequency_adverbs, word));
        let is_off = contains_any_phrase(&self.said, &ENGLISH.cancellations)
            || !is_request && contains_any_phrase(&self.said, &["is off", "are off"])
            || self.cancels_event();
        let is_asked = self.text.trim_end().ends_with('?') && !is_request;
        let is_denied = !is_request && self.words().any(is_negation);
        let is_supposed = !is_request
            && (contains_any_phrase(&self.said, &ENGLISH.hypothetical) || names_example(self.text));
        let condition = self
            .before
            .iter()
            .rposition(|word| list_contains(&["if", "whenever", "unless"], word));
        // If a comma follows the condition, the text after it is a main clause.
        let is_condition = condition.is_some() && !is_after_comma(self.text, &self.before);
        // "After 20 minutes" refers to an event that the clause does not name.
        let is_after = !is_request
            && self.time.first().is_some_and(|first| first == "after")
            && self
                .time
                .iter()
                .any(|word| list_contains(&ENGLISH.clock_units, word));
        let is_taste = !is_request && self.has_word(&ENGLISH.taste_verbs);
        is_habit
            || is_off
            || is_asked
            || is_denied
            || is_supposed
            || is_condition
            || is_taste
            || is_after
    }

    /// Returns whether the writer states an intention or a duty: "I must", "we'll", "planning to".
    fn states_duty(&self) -> bool {
        let all: Vec<&str> = self.words().collect();
        let follows = |at: usize, list: &[&str]| {
            all.get(at + 1)
                .is_some_and(|next| list_contains(list, next))
        };
        all.iter().enumerate().any(|(at, word)| match *word {
            "must" | "should" | "gotta" if follows(at, &["have", "not", "never"]) => false,
            "must" | "gotta" | "shall" | "i'll" | "we'll" => true,
            "should" => {
                0 < at && list_contains(&["i", "we", "you"], all[at - 1])
                    || follows(at, &["be"])
                        && all.get(at + 2).is_some_and(|word| is_participle(word))
            }
            "supposed" => {
                follows(at, &["to"])
                    && 0 < at
                    && !list_contains(&["was", "were", "been", "had"], all[at - 1])
            }
            "need" | "needs" | "have" | "has" | "ought" | "plan" | "want" | "promised" | "aim"
            | "remember" | "intend" => {
                follows(at, &["to"])
                    && !(0 < at
                        && list_contains(&["will", "would", "may", "might", "could"], all[at - 1]))
            }
            "planning" | "hoping" => follows(at, &["to"]),
            "will" => 0 < at && list_contains(&["i", "we"], all[at - 1]),
            "going" => {
                follows(at, &["to"])
                    && 0 < at
                    && list_contains(&["i'm", "we're", "am"], all[at - 1])
            }
            "me" | "us" => {
                follows(at, &["to"])
                    && 0 < at
                    && list_contains(&ENGLISH.reporting_verbs, all[at - 1])
            }
            _ => false,
        })
    }

    /// Returns whether the clause asks not to miss an event: "don't be late", "do not skip the gym", "don't cancel the dinner".
    fn is_care_order(&self) -> bool {
        let all: Vec<&str> = self.words().collect();
        let is_late = || {
            self.words()
                .chain(self.time.iter().map(String::as_str))
                .any(|word| word == "late")
        };
        all.iter().enumerate().any(|(at, word)| {
            let mut next = all[at + 1..]
                .iter()
                .skip_while(|word| list_contains(&["ever", "even", "just", "please"], word));
            let is_care = |verb: &&str| {
                list_contains(&ENGLISH.missing_verbs, verb)
                    || is_late()
                    || *verb == "cancel" && self.words().any(is_event_noun)
            };
            is_negation(word) && next.next().is_some_and(is_care)
        })
    }

    /// Returns whether the clause asks to cancel an event at the time, which then needs no reminder.
    ///
    /// "Cancel the gym membership on Friday" and "cancel the booking by Friday" are actions.
    fn cancels_event(&self) -> bool {
        let all: Vec<&str> = self.words().collect();
        let cancelling = all
            .iter()
            .rposition(|word| list_contains(&["cancel", "canceling", "cancelling"], word));
        let calling_off = || {
            let is_verb = |pair: &[&str]| matches!(pair, ["call" | "calling", "off"]);
            all.windows(2).rposition(is_verb).map(|at| at + 1)
        };
        let Some(verb) = cancelling.or_else(calling_off) else {
            return false;
        };
        // Another clause has its own time.
        let (first, last) = (verb.min(self.before.len()), verb.max(self.before.len()));
        if all[first..last]
            .iter()
            .any(|word| list_contains(&["and", "then", "but"], word))
        {
            return false;
        }
        let is_object = |word: &&&str| !list_contains(&ENGLISH.after_object, word);
        let object = all[verb + 1..].iter().take_while(is_object).last();
        let is_noted = all.iter().any(|word| list_contains(&ENGLISH.noting, word));
        let is_kept = verb
            .checked_sub(1)
            .is_some_and(|before| is_negation(all[before]));
        let is_event = object.is_some_and(|object| {
            is_event_noun(object) && !list_contains(&ENGLISH.lasting_nouns, object)
        });
        is_event && !is_noted && !is_kept && !self.is_deadline()
    }

    /// Returns whether the clause starts with an imperative.
    fn is_imperative(&self) -> bool {
        let mut words = self.imperative_words();
        while let Some((first, rest)) = words.split_first() {
            if list_contains(&ENGLISH.leads, first) {
                words = rest;
                continue;
            }
            let next = rest.first().map(String::as_str);
            let is_noun = next.is_some_and(|next| {
                list_contains(&ENGLISH.note_nouns, next) || list_contains(&ENGLISH.after_noun, next)
            });
            let is_known = list_contains(&ENGLISH.imperatives, first) && !is_noun;
            let has_object = next.is_some_and(|next| list_contains(&ENGLISH.object_words, next));
            let is_likely = has_object
                && !list_contains(&ENGLISH.non_verbs, first)
                && !["ed", "ing", "ly", "'s"]
                    .iter()
                    .any(|ending| first.ends_with(ending));
            let is_third = first.ends_with('s') && !first.ends_with("ss");
            return is_known
                || is_likely
                    && !is_third
                    && first.len() < 14
                    && first
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        }
        false
    }

    /// Returns the words from the possible start of an imperative: after a label such as `TODO:`, or after the time.
    fn imperative_words(&self) -> &[String] {
        if self.before.is_empty() {
            return &self.after;
        }
        let label = self
            .text
            .find(": ")
            .map(|at| split_words(&self.text[..at]).len())
            .filter(|label| *label < 4 && *label < self.before.len());
        &self.before[label.unwrap_or_default()..]
    }

    /// Returns whether the clause is about the past.
    ///
    /// "Was moved to Friday" is about Friday, but "was planned for Friday" and "had been moved to Friday" are about a former plan.
    fn is_past(&self) -> bool {
        let is_arranged = self.is_arranged();
        let is_moved = self.is_rescheduled() && !self.words().any(|word| word == "had");
        let is_past = |word: &str| {
            let is_auxiliary = list_contains(&["was", "were", "had"], word);
            let is_plan = list_contains(&ENGLISH.arrangements, word);
            let is_past = list_contains(&ENGLISH.past_verbs, word)
                || is_auxiliary
                || is_participle(word) && !list_contains(&ENGLISH.non_participles, word);
            is_past && !(is_arranged && (is_auxiliary && is_moved || is_plan))
        };
        self.words().any(is_past)
    }

    fn is_rescheduled(&self) -> bool {
        self.has_word(&ENGLISH.rescheduling)
    }

    /// Returns whether the clause replaces the time by another one: only the time after "to" or "now" is the new one.
    fn is_replaced(&self, is_request: bool) -> bool {
        let is_near = |list: &[&str]| {
            let near = [self.before.last(), self.time.first()];
            near.into_iter()
                .flatten()
                .any(|word| list_contains(list, word))
        };
        self.is_rescheduled() && is_near(&["from"])
            || self.is_rescheduled() && !is_request && !is_near(&ENGLISH.before_new_time)
    }

    /// Returns whether the clause is about an arrangement.
    ///
    /// Examples are "moved to Friday", "is planned for June 3" and "booked the dentist".
    fn is_arranged(&self) -> bool {
        let arranged = self
            .before
            .iter()
            .position(|word| list_contains(&ENGLISH.arrangements, word));
        let near = self
            .before
            .last()
            .or(self.time.first())
            .map(String::as_str)
            .unwrap_or_default();
        let is_for = list_contains(&ENGLISH.before_arrangement, near)
            || self.time.first().is_some_and(|first| {
                *first != "from" && list_contains(&ENGLISH.before_arrangement, first)
            });
        let is_passive =
            |at: usize| 0 < at && list_contains(&ENGLISH.passive, &self.before[at - 1]);
        arranged.is_some_and(|at| is_for || is_passive(at) || at == 0)
    }

    /// Returns whether the time is a deadline.
    fn is_deadline(&self) -> bool {
        let near = self.before.last().map(String::as_str).unwrap_or_default();
        let is_until = list_contains(&["by", "before", "within"], near)
            || self
                .time
                .first()
                .is_some_and(|first| list_contains(&["by", "before", "within"], first));
        contains_any_phrase(&self.said, &ENGLISH.deadlines)
            || is_until && !self.has_word(&ENGLISH.after_limit)
    }

    fn is_event(&self) -> bool {
        let is_weather = self.has_word(&ENGLISH.weather);
        let is_note = self.has_word(&ENGLISH.note_nouns);
        let is_any = self
            .before
            .first()
            .is_some_and(|first| list_contains(&["a", "an", "any", "each"], first))
            && self.is_distance();
        let is_lasting = self.has_word(&ENGLISH.state_verbs);
        if is_weather || is_any || is_lasting {
            return false;
        }
        let has_noun = self.words().any(is_event_noun);
        let takes_place = self.has_word(&ENGLISH.event_verbs);
        let all: Vec<&str> = self
            .before
            .iter()
            .chain(&self.time)
            .chain(&self.after)
            .map(String::as_str)
            .collect();
        let is_under_way = all.windows(2).any(|pair| {
            let is_being = list_contains(&["am", "is", "are"], pair[0])
                || ["'m", "'re", "'s"]
                    .iter()
                    .any(|ending| pair[0].ends_with(ending));
            is_being && pair[1].ends_with("ing")
        });
        let will = all.windows(2).any(|pair| {
            (pair[0] == "will" || pair[0].ends_with("'ll"))
                && list_contains(&ENGLISH.future_verbs, pair[1])
        });
        let is_bare = !self.has_word(&ENGLISH.fact_verbs)
            && self.words().count() < 10
            && (self.before.is_empty() || self.after.is_empty());
        let has_clock = self.time.iter().any(|word| {
            word.ends_with("am")
                || word.ends_with("pm")
                || word.bytes().any(|byte| byte.is_ascii_digit())
                || word == "noon"
        });
        has_noun && !is_note
            || takes_place
            || is_under_way
            || will
            || self.is_arranged()
            || is_bare && has_clock && !is_note && self.words().next().is_some()
    }

    /// Returns whether the clause consists only of an event and its time.
    fn is_heading(&self) -> bool {
        // A day and a time of day can surround the name of the event, so the words of the time are included.
        let all = || self.words().chain(self.time.iter().map(String::as_str));
        let is_bare = self.words().count() < 6
            && !all().any(|word| {
                list_contains(&ENGLISH.fact_verbs, word) || list_contains(&ENGLISH.note_nouns, word)
            });
        let has_noun = all().any(|word| list_contains(&ENGLISH.event_nouns, word));
        is_bare
            && self.after.is_empty()
            && has_noun
            && self.before.last().is_none_or(|last| last != "the")
    }

    fn is_distance(&self) -> bool {
        self.time
            .first()
            .is_some_and(|first| list_contains(&["in", "within", "after"], first))
    }
}

fn is_after_comma(text: &str, before: &[String]) -> bool {
    before
        .first()
        .is_some_and(|first| text.trim_start().to_lowercase().starts_with(first.as_str()))
        && text.contains(',')
        && {
            let comma = text.find(',').unwrap_or_default();
            let condition = [" if ", "If ", " unless ", "Unless "]
                .iter()
                .filter_map(|word| text.find(word))
                .max()
                .unwrap_or_default();
            condition < comma && split_words(&text[..comma]).len() < before.len()
        }
}

/// Returns whether the words around a time, without other clauses, ask not to do something: "do not call me", "never book".
fn is_forbidden(text: &str, span: &Range<usize>) -> bool {
    let start = text[..span.start].rfind([',', ';']).map_or(0, |at| at + 1);
    let end = text[span.end..]
        .find([',', ';'])
        .map_or(text.len(), |at| span.end + at);
    let words: Vec<String> = split_words(&text[start..end])
        .into_iter()
        .filter(|(_, place)| start + place.end <= span.start || span.end <= start + place.start)
        .map(|(word, _)| word)
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_not = is_negation(word) && !matches!(word.as_str(), "no" | "nor" | "none");
        let mut next = words[at + 1..]
            .iter()
            .skip_while(|word| list_contains(&["ever", "even", "just", "please"], word));
        let Some(verb) = next.next().filter(|_| is_not) else {
            return false;
        };
        let is_order = words[..at].iter().all(|word| {
            list_contains(&ENGLISH.leads, word) || list_contains(&ENGLISH.order_words, word)
        });
        let is_to_me = next
            .next()
            .is_some_and(|word| list_contains(&["me", "us"], word));
        let is_wanted = list_contains(&["want", "need"], verb);
        !list_contains(&["let", "be", "hesitate"], verb) && (is_order || is_to_me || is_wanted)
    })
}

fn is_event_noun(word: &str) -> bool {
    list_contains(
        &ENGLISH.event_nouns,
        word.strip_suffix("'s").unwrap_or(word),
    )
}

fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || list_contains(&ENGLISH.negations, word)
}

/// Returns whether a word ends like the past tense of regular verbs.
fn is_participle(word: &str) -> bool {
    4 < word.len() && word.ends_with("ed") && !word.ends_with("eed")
}

fn contains_any_phrase(said: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| contains_phrase(said, phrase))
}

/// Returns the words of `text` in lower case, with their ranges.
///
/// Apostrophes and hyphens inside a word belong to it.
fn split_words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut start = None;
    let mut end = |start: &mut Option<usize>, at: usize| {
        if let Some(from) = start.take() {
            let word = text[from..at].trim_matches(['\'', '’', '-']);
            let at = from + text[from..at].find(word).unwrap_or_default();
            if !word.is_empty() {
                found.push((word.to_lowercase().replace('’', "'"), at..at + word.len()));
            }
        }
    };
    for (at, character) in text.char_indices() {
        if character.is_alphanumeric() || matches!(character, '\'' | '’' | '-') {
            start.get_or_insert(at);
        } else {
            end(&mut start, at);
        }
    }
    end(&mut start, text.len());
    found
}

/// Returns whether `list` contains `word`.
pub(super) fn list_contains(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// Returns whether `said` contains `phrase` as whole words; `said` must start and end with a space.
fn contains_phrase(said: &str, phrase: &str) -> bool {
    said.match_indices(phrase)
        .any(|(at, _)| said[..at].ends_with(' ') && said[at + phrase.len()..].starts_with(' '))
}
