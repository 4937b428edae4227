//! Extracts claims from English sentences.

use super::ParsedClaim;

/// Returns the claim of a sentence, if it is a plain statement about the present.
pub(super) fn parse_english_claim(sentence: &str) -> Option<ParsedClaim> {
    if sentence.trim_end().ends_with(['?', ':']) || sentence.contains(['“', '"', '(']) {
        return None;
    }
    let mut is_turn = false;
    let clause = strip_opening(first_clause(sentence), &mut is_turn);
    let words: Vec<&str> = clause
        .split_whitespace()
        .map(trim_word)
        .filter(|word| !word.is_empty())
        .collect();
    let small: Vec<String> = words
        .iter()
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect();
    if small
        .iter()
        .any(|word| list_contains(UNCERTAIN_WORDS, word))
    {
        return None;
    }
    let said = ClaimWords { words, small };
    said.parse_change()
        .or_else(|| said.parse_statement(is_turn))
}

/// The words of a clause, as written and in lower case.
struct ClaimWords<'s> {
    words: Vec<&'s str>,
    small: Vec<String>,
}

impl ClaimWords<'_> {
    /// Parses a change: "We switched from A to B", "Anna has moved to B", "we replaced A with B".
    fn parse_change(&self) -> Option<ParsedClaim> {
        let at = self
            .small
            .iter()
            .position(|word| list_contains(CHANGE_VERBS, word))?;
        let subject = self.subject(at)?;
        let rest = at + 1..self.words.len();
        let place = |word: &str, from: usize| (from..rest.end).find(|at| self.small[*at] == word);
        let is_replacing = self.small[at] == "replaced";
        let (from, to) = if is_replacing {
            let with = place("with", at).or_else(|| place("by", at))?;
            (Some(rest.start..with), with + 1..rest.end)
        } else {
            let to = place("to", at)?;
            match place("from", at) {
                Some(from) if from < to => (Some(from + 1..to), to + 1..rest.end),
                Some(from) => (Some(from + 1..rest.end), to + 1..from),
                None => (None, to + 1..rest.end),
            }
        };
        let (value, purpose) = self.value(to)?;
        let verb = if list_contains("moved relocated", &self.small[at]) {
            "live in"
        } else {
            "use"
        };
        let from = from.and_then(|from| self.value(from)).map(|(from, _)| from);
        Some(ParsedClaim {
            subject,
            verb: verb.to_owned(),
            purpose,
            value,
            is_denied: false,
            is_turn: true,
            from,
            is_only: verb == "live in",
            is_sure: verb == "live in",
            is_attribute: false,
            may_be_replaced: true,
            is_named: is_named(&self.small, at),
        })
    }

    /// Parses a statement: "Anna lives in B", "the port is no longer 80", "we don't use A any more".
    fn parse_statement(&self, is_turn: bool) -> Option<ParsedClaim> {
        // A word after an article is not a verb, even if it looks like one: "the deploy server".
        let is_noun = |at: usize| {
            list_contains("the a an my our your", &self.small[at - 1])
                || self.small[at - 1].ends_with("'s")
        };
        let mut may_be_verb = (1..self.small.len()).filter(|at| !is_noun(*at));
        let (at, verb) = may_be_verb.find_map(|at| Some((at, claim_verb(&self.small[at])?)))?;
        let subject = self.subject(at)?;
        let mut next = at + 1;
        let mut is_denied =
            self.small[..at].iter().any(|word| is_denial(word)) || self.small[at].ends_with("n't");
        while let Some(word) = self
            .small
            .get(next)
            .filter(|word| list_contains(ADVERBS, word) || is_denial(word))
        {
            is_denied |= is_denial(word) || word == "longer";
            next += 1;
        }
        let is_ended = |pair: &[String]| {
            pair[0] == "no" && pair[1] == "longer" || pair[0] == "any" && pair[1] == "more"
        };
        let has_turned = self.small.windows(2).any(is_ended)
            || self
                .small
                .iter()
                .any(|word| list_contains("now anymore nowadays", word));
        // The preposition is part of the verb: "works at" and "works as" are different claims.
        let mut name = verb.to_owned();
        if verb == "is"
            && self
                .small
                .get(next)
                .is_some_and(|word| 4 < word.len() && word.ends_with("ed"))
            && self
                .small
                .get(next + 1)
                .is_some_and(|word| list_contains(PREPOSITIONS, word))
        {
            name = format!("is {}", self.small[next]);
            next += 1;
        }
        if let Some(preposition) = self
            .small
            .get(next)
            .filter(|word| list_contains(PREPOSITIONS, word))
        {
            name = format!(
                "{name} {}",
                if preposition == "for" && verb == "work" {
                    "at"
                } else {
                    preposition
                }
            );
            next += 1;
        }
        let is_class = verb == "is"
            && self
                .small
                .get(next)
                .is_some_and(|word| list_contains("a an one", word));
        let (end, over) = self.replaced_value(next, verb);
        let (value, purpose) = self.value(next..end)?;
        let (over, purpose) = over.map_or((None, purpose.clone()), |(over, rest)| {
            (Some(over), purpose.or(rest))
        });
        let has_article = self
            .small
            .first()
            .is_some_and(|first| list_contains("the my our your", first))
            || self.small[..at].iter().any(|word| word.ends_with("'s"));
        let is_placed = name != verb;
        Some(ParsedClaim {
            subject,
            is_only: (list_contains(PLACE_VERBS, verb) && is_placed
                || list_contains(EXCLUSIVE_VERBS, &name.replace(' ', "-")))
                && !(verb == "is"
                    && !has_article
                    && !list_contains(SINGLE_VALUE_VERBS, &name.replace(' ', "-"))),
            is_sure: list_contains(SINGLE_VALUE_VERBS, &name.replace(' ', "-")),
            is_attribute: name == "is" && !is_class && has_article,
            may_be_replaced: !list_contains(
                "is-from like speak know support have was-born is-a",
                &name.replace(' ', "-"),
            ) && !is_class,
            is_named: is_named(&self.small, at),
            verb: name,
            purpose,
            value,
            is_denied,
            is_turn: is_turn || has_turned || over.is_some() && verb != "prefer",
            from: over,
        })
    }

    /// Returns the position of "instead of A for C", with A and C.
    ///
    /// "Prefers A to B" does not state that B ended.
    fn replaced_value(&self, from: usize, verb: &str) -> (usize, Option<(String, Option<String>)>) {
        let all = self.small.len();
        if verb == "prefer" {
            let end = (from + 1..all)
                .find(|at| {
                    list_contains("to over", &self.small[*at]) || self.small[*at] == "rather"
                })
                .unwrap_or(all);
            return (end, None);
        }
        let Some(at) = (from + 1..all).find(|at| self.small[*at] == "instead") else {
            return (all, None);
        };
        let is_of = self.small.get(at + 1).is_some_and(|word| word == "of");
        (at, if is_of { self.value(at + 2..all) } else { None })
    }

    /// Returns the subject before the verb; `None` for a pronoun, since its referent is unknown.
    fn subject(&self, verb: usize) -> Option<String> {
        let is_help = |word: &str| {
            list_contains(ADVERBS, word) || list_contains(AUXILIARY_VERBS, word) || is_denial(word)
        };
        let end = (0..verb).rev().find(|at| !is_help(&self.small[*at]))? + 1;
        let subject = &self.small[..end];
        let is_vague = subject
            .iter()
            .any(|word| list_contains(VAGUE_SUBJECTS, word) || is_help(word))
            || 6 < subject.len();
        (!is_vague).then(|| subject.join(" "))
    }

    /// Returns the value and the purpose of a claim.
    fn value(&self, range: std::ops::Range<usize>) -> Option<(String, Option<String>)> {
        let words = self.words.get(range.clone())?;
        let small = &self.small[range];
        let end = small
            .iter()
            .position(|word| list_contains(VALUE_STOPS, word))
            .unwrap_or(small.len());
        let purpose = small[..end].iter().position(|word| word == "for");
        let kept = |range: std::ops::Range<usize>| {
            let is_kept = |at: &usize| {
                !list_contains(ADVERBS, &small[*at]) && !list_contains("any more the", &small[*at])
            };
            range
                .filter(is_kept)
                .map(|at| words[at])
                .collect::<Vec<_>>()
        };
        let value = kept(0..purpose.unwrap_or(end));
        let purpose = purpose
            .map(|at| kept(at + 1..end).join(" "))
            .filter(|purpose| !purpose.is_empty());
        (!value.is_empty() && value.len() < 7).then(|| (value.join(" "), purpose))
    }
}

/// Returns whether the subject is unique by its name, unlike a noun with an article: "the server".
fn is_named(small: &[String], verb: usize) -> bool {
    let subject: Vec<_> = small[..verb]
        .iter()
        .filter(|word| {
            !list_contains(ADVERBS, word)
                && !list_contains(AUXILIARY_VERBS, word)
                && !is_denial(word)
        })
        .collect();
    2 < subject.len()
        || subject
            .first()
            .is_some_and(|first| !list_contains("the a an", first))
}

/// Removes an opening such as "As of May,"; sets `is_turn` if it marks a change.
fn strip_opening<'s>(clause: &'s str, is_turn: &mut bool) -> &'s str {
    let lower = clause.to_lowercase();
    for (opening, turns) in [
        ("from now on", true),
        ("as of ", true),
        ("now ", true),
        ("now,", true),
        ("starting ", true),
        ("effective ", true),
        ("currently", false),
        ("since ", false),
        ("today", false),
        ("update:", true),
        ("correction:", true),
    ] {
        if lower.starts_with(opening) && lower.len() == clause.len() {
            *is_turn |= turns;
            let rest = match clause.find(',') {
                Some(comma) => &clause[comma + 1..],
                None => &clause[opening.trim_end_matches(' ').len()..],
            };
            return rest.trim_start_matches([',', ' ', ':']);
        }
    }
    clause
}

/// Returns a sentence up to the start of its second statement.
fn first_clause(sentence: &str) -> &str {
    let cut = |text: &str| {
        [
            " because ",
            " since ",
            " but ",
            " so ",
            " although ",
            " which ",
            " while ",
            " and ",
            "; ",
            " – ",
            " — ",
            ", not ",
        ]
        .iter()
        .filter_map(|stop| text.find(stop))
        .min()
    };
    let end = cut(sentence).unwrap_or(sentence.len());
    &sentence[..end]
}

fn trim_word(word: &str) -> &str {
    word.trim_end_matches(['.', ',', '!', ';', ':'])
        .trim_matches(['*', '_', '‘'])
}

fn list_contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == word)
}

fn is_denial(word: &str) -> bool {
    list_contains("not no never don't doesn't isn't aren't cannot can't", word)
}

/// Returns the plain form of a verb that makes a claim; `None` for other words.
fn claim_verb(word: &str) -> Option<&'static str> {
    let plain = match word {
        "is" | "are" | "isn't" | "aren't" | "am" => return Some("is"),
        "has" => return Some("have"),
        _ => word
            .strip_suffix("es")
            .filter(|plain| list_contains("watch teach", plain))
            .or_else(|| word.strip_suffix('s'))
            .unwrap_or(word),
    };
    CLAIM_VERBS
        .split_ascii_whitespace()
        .find(|own| *own == plain || *own == word)
}

const CLAIM_VERBS: &str = "live work use prefer like love drink eat support have own speak need require allow accept run listen report belong cost drive start end open \
    close default deploy equal weigh hate avoid trust sleep sit smoke play study teach manage lead maintain store expose return";
const PLACE_VERBS: &str =
    "live work run listen report belong default deploy sit study start end open close is";
const SINGLE_VALUE_VERBS: &str =
    "live-in live-at is-based-in is-located-in is-hosted-on is-stored-in is-deployed-on is-called";
const EXCLUSIVE_VERBS: &str = "live-in live-at cost weigh equal is-called lead-by";
const PREPOSITIONS: &str = "in at on from as to by under near for";
const CHANGE_VERBS: &str = "switched moved migrated changed replaced relocated converted";
const ADVERBS: &str = "now currently also still just longer anymore nowadays already always usually mostly really only recently instead finally actually";
const AUXILIARY_VERBS: &str = "do does has have been don't doesn't had";
const VAGUE_SUBJECTS: &str = "he she it they this that these those there who which what and or if when where how one some many most all every each to of-which but \
    people somebody someone everyone here";
const UNCERTAIN_WORDS: &str = "if when maybe perhaps might may could would should will would'nt won't planning considering plan plans think thinks thought wonder used was were \
    unless until whether sometimes or going want wants hope try said says example todo";
const VALUE_STOPS: &str = "because since but and so which that while when although though as with";
