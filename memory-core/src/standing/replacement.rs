//! Decides which standing sentences newer ones replace.

use std::cmp::Reverse;
use std::ops::Range;

use chrono::{DateTime, Utc};

use super::classify::standing_sentences;
use super::kind::{StandingKind, StandingSentence};
use super::polarity::content_words;
use super::properties::PropertyRequest;
use crate::MAX_TIME;
use crate::conversation::StatementClaims;
use crate::language::WORDS;
use crate::text::WordOverlaps;

/// The minimum overlap of words at which two instructions have the same subject.
const SUBJECT_OVERLAP: f32 = 0.5;

/// A standing text to compare with others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandingText<'t> {
    /// The time at which it was written.
    pub(crate) at: DateTime<Utc>,
    /// The kind.
    pub(crate) kind: StandingKind,
    /// The text.
    pub(crate) text: &'t str,
}

/// The standing sentences of a text that are in effect, and those that newer texts replace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SentencesInEffect {
    /// The numbers of the sentences that are in effect, in their order.
    pub(super) kept: Vec<usize>,
    /// The numbers of the replaced sentences.
    pub(super) replaced: Vec<usize>,
}

/// Returns the indices of the texts that are in effect, in their order.
///
/// A text is dropped if newer ones repeat or contradict each of its standing sentences. An older instruction on the subject of a newer one
/// is moved to the end.
pub(crate) fn current(all: &[StandingText<'_>]) -> Vec<usize> {
    let sentences: Vec<Vec<Range<usize>>> = all
        .iter()
        .map(|own| sentence_spans(own.text, &standing_sentences(own.text)))
        .collect();
    let in_effect = find_in_effect(all, &sentences);
    let mut places: Vec<usize> = (0..all.len())
        .filter(|own| !in_effect[*own].kept.is_empty())
        .collect();
    let is_older = find_older(all, &sentences, &in_effect);
    places.sort_by_key(|own| is_older[*own]);
    places
}

/// Returns whether a newer text replaces all standing instructions and preferences of an older one.
///
/// False if one of the texts has none. The author of the texts does not count.
///
/// ```
/// use memory_core::standing::replaces_standing;
///
/// assert!(replaces_standing("Always answer in German.", "Always answer in English."));
/// assert!(!replaces_standing("Always answer in German.", "Always use metric units."));
/// ```
pub fn replaces_standing(newer: &str, older: &str) -> bool {
    let kind = |text: &str| {
        standing_sentences(text)
            .first()
            .map(|sentence| sentence.kind)
    };
    let Some((new, old)) = kind(newer).zip(kind(older)) else {
        return false;
    };
    let texts = [
        StandingText {
            at: DateTime::UNIX_EPOCH,
            kind: old,
            text: older,
        },
        StandingText {
            at: MAX_TIME,
            kind: new,
            text: newer,
        },
    ];
    !current(&texts).contains(&0)
}

/// Returns the ranges of the standing sentences, or the whole text if there are none.
pub(super) fn sentence_spans(text: &str, sentences: &[StandingSentence]) -> Vec<Range<usize>> {
    if sentences.is_empty() {
        return std::iter::once(0..text.len()).collect();
    }
    sentences
        .iter()
        .map(|sentence| sentence.span.clone())
        .collect()
}

/// A standing sentence, prepared for comparisons.
struct ComparedSentence {
    /// The number of its text.
    text: usize,
    /// The number of the sentence in its text.
    number: usize,
    words: Vec<String>,
    condition: Vec<String>,
    property: Option<PropertyRequest>,
    claims: Option<StatementClaims>,
}

impl ComparedSentence {
    fn new(text: usize, number: usize, kind: StandingKind, sentence: &str, has_cue: bool) -> Self {
        let (main, condition) = split_condition(sentence);
        Self {
            text,
            number,
            words: content_words(main),
            condition: content_words(condition),
            property: PropertyRequest::parse(main),
            // Instructions are compared by their words and properties only. A text without a cue may contain other facts, which must
            // not be replaced together with one claim.
            claims: (kind == StandingKind::Preference && has_cue)
                .then(|| StatementClaims::new(sentence)),
        }
    }

    /// Returns whether this newer sentence replaces `older`.
    fn replaces(&self, older: &Self) -> bool {
        let has_same_words = || !self.words.is_empty() && self.words == older.words;
        let has_other_value = || match (&self.property, &older.property) {
            (Some(own), Some(other)) => own.replaces(other),
            _ => false,
        };
        let contradicts = || match (&self.claims, &older.claims) {
            (Some(own), Some(other)) => own.supersede(other),
            _ => false,
        };
        self.condition == older.condition && (has_same_words() || has_other_value())
            || contradicts()
    }
}

/// Returns the sentences in effect of each text, given the ranges of its standing sentences.
pub(super) fn find_in_effect(
    all: &[StandingText<'_>],
    sentences: &[Vec<Range<usize>>],
) -> Vec<SentencesInEffect> {
    let mut compared = Vec::new();
    for (text, own) in all.iter().enumerate() {
        let is_whole = sentences[text].first() == Some(&(0..own.text.len()));
        let has_cue = !is_whole || !standing_sentences(own.text).is_empty();
        for (number, span) in sentences[text].iter().enumerate() {
            compared.push(ComparedSentence::new(
                text,
                number,
                own.kind,
                &own.text[span.clone()],
                has_cue,
            ));
        }
    }
    let mut in_effect = vec![SentencesInEffect::default(); all.len()];
    for own in &compared {
        let is_newer = |other: &&ComparedSentence| is_newer(all, other.text, own.text);
        let is_replaced = compared
            .iter()
            .filter(is_newer)
            .any(|newer| newer.replaces(own));
        let place = &mut in_effect[own.text];
        if is_replaced {
            place.replaced.push(own.number);
        } else {
            place.kept.push(own.number);
        }
    }
    in_effect
}

/// Returns whether a text is newer than another; of texts with the same time, the first one is.
fn is_newer(all: &[StandingText<'_>], one: usize, other: usize) -> bool {
    (all[other].at, Reverse(other)) < (all[one].at, Reverse(one))
}

/// Returns for each text whether it is an instruction on the subject of a newer one.
pub(super) fn find_older(
    all: &[StandingText<'_>],
    sentences: &[Vec<Range<usize>>],
    in_effect: &[SentencesInEffect],
) -> Vec<bool> {
    let parts = |own: usize| {
        let kept = in_effect[own]
            .kept
            .iter()
            .map(|number| split_condition(&all[own].text[sentences[own][*number].clone()]));
        let (mains, conditions): (Vec<&str>, Vec<&str>) = kept.unzip();
        let words = |parts: Vec<&str>| content_words(&parts.join(" ")).join(" ");
        (words(mains), words(conditions))
    };
    let (mains, conditions): (Vec<String>, Vec<String>) = (0..all.len()).map(parts).unzip();
    let overlaps = WordOverlaps::of(&mains.iter().map(String::as_str).collect::<Vec<_>>());
    let is_instruction =
        |own: usize| all[own].kind == StandingKind::Instruction && !in_effect[own].kept.is_empty();
    let covers = |newer: usize, own: usize| {
        is_instruction(newer)
            && is_newer(all, newer, own)
            && conditions[newer] == conditions[own]
            && SUBJECT_OVERLAP <= overlaps.similarity(own, newer)
    };
    (0..all.len())
        .map(|own| is_instruction(own) && (0..all.len()).any(|newer| covers(newer, own)))
        .collect()
}

/// Splits a sentence before the words that state when it applies. They are empty if it starts with them.
fn split_condition(sentence: &str) -> (&str, &str) {
    sentence.split_at(
        condition_offset(sentence)
            .filter(|at| 0 < *at)
            .unwrap_or(sentence.len()),
    )
}

/// Returns the byte offset of the words that state when an instruction applies.
pub(super) fn condition_offset(text: &str) -> Option<usize> {
    let padded = format!(" {}", text.to_ascii_lowercase());
    let place = |word: &str| {
        if word.is_ascii() {
            padded.find(&format!(" {word} "))
        } else {
            text.find(word)
        }
    };
    let words = WORDS.occasions.iter().chain(&WORDS.conditions);
    words.filter_map(|word| place(word)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the standing sentences of each text that are in effect, oldest text first.
    fn kept(texts: &[&'static str]) -> Vec<Vec<&'static str>> {
        let all = texts.iter().enumerate().map(|(number, text)| StandingText {
            at: DateTime::UNIX_EPOCH
                + chrono::TimeDelta::days(i64::try_from(number).expect("there are few")),
            kind: standing_sentences(text)
                .iter()
                .map(|sentence| sentence.kind)
                .min()
                .expect("it is standing"),
            text,
        });
        let all: Vec<_> = all.collect();
        let spans: Vec<_> = texts
            .iter()
            .map(|text| sentence_spans(text, &standing_sentences(text)))
            .collect();
        let in_effect = find_in_effect(&all, &spans);
        let text_of = |own: usize| {
            in_effect[own]
                .kept
                .iter()
                .map(|number| texts[own][spans[own][*number].clone()].trim())
                .collect()
        };
        (0..texts.len()).map(text_of).collect()
    }

    #[test]
    fn only_the_sentence_that_a_newer_one_contradicts_is_replaced() {
        let older = "Always answer in German. Do not use emojis in your replies.";
        assert_eq!(
            kept(&[older, "Use emojis in your replies."])[0],
            ["Always answer in German."]
        );
        assert_eq!(
            kept(&[older, "Always answer in French."])[0],
            ["Do not use emojis in your replies."]
        );
    }

    #[test]
    fn a_text_without_a_cue_is_not_replaced_for_one_of_its_claims() {
        let texts = [
            "# Profile\n\n- Works at Siemens in Munich\n- I love coffee\n",
            "I hate coffee",
        ];
        let at = |days| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(days);
        let text = |days, text| StandingText {
            at: at(days),
            kind: StandingKind::Preference,
            text,
        };
        let all = [text(0, texts[0]), text(1, texts[1])];
        let spans = texts.map(|text| sentence_spans(text, &[]));
        let in_effect = find_in_effect(&all, &spans);
        assert!(
            in_effect.iter().all(|own| own.replaced.is_empty()),
            "{in_effect:?}"
        );
    }

    #[test]
    fn a_difference_of_one_content_word_is_no_repetition() {
        let [web, sales] = ["web", "sales"].map(|team| {
            let text =
                format!("Always put the date of the meeting first in the weekly report of the {team} team and send it to Anna.");
            &*Box::leak(text.into_boxed_str())
        });
        assert_eq!(kept(&[web, sales]), [[web], [sales]]);
        assert_eq!(
            kept(&[
                "Please always use metric units.",
                "Always use metric units!"
            ])[0],
            [""; 0]
        );
    }

    #[test]
    fn a_single_valued_property_has_the_newest_value() {
        for [older, newer] in [
            ["Answer in German.", "Answer in French."],
            ["Call me Jo.", "Call me Max."],
            ["Answer in metric units.", "Always use imperial units."],
            ["I want short answers.", "Give me detailed answers."],
            ["Antworte auf Deutsch.", "Please reply in English."],
            ["请用中文回答。", "请用英文回答。"],
            ["I prefer tabs.", "I don't like tabs, I prefer spaces."],
            ["Don't use emojis.", "Do use emojis."],
            ["Use emojis.", "No longer use emojis."],
            ["Answer in German.", "Switch to French."],
            ["Use Celsius.", "Use Fahrenheit."],
            ["Use the 24-hour clock.", "Use the 12-hour clock."],
            ["Bitte sieze mich.", "Duze mich."],
            ["请用公制单位", "请用英制单位。"],
            ["Answer in English.", "Answer in German, not English."],
            ["Answer in German.", "Answer in English instead of German."],
            ["Always answer in German.", "Stop answering in German."],
            ["Answer in German.", "Don't answer in German anymore."],
            ["Never answer in German.", "Answer in German."],
            [
                "Antworte auf Englisch.",
                "Antworte auf Deutsch, nicht auf Englisch.",
            ],
            [
                "Antworte immer auf Deutsch.",
                "Antworte nie mehr auf Deutsch.",
            ],
            [
                "Réponds en anglais.",
                "Réponds toujours en français, pas en anglais.",
            ],
            ["请用英文回答。", "请用中文回答，不要用英文。"],
        ] {
            let kept = kept(&[older, newer]);
            assert_eq!((kept[0].len(), kept[1].len()), (0, 1), "{older}");
        }
        for [older, newer] in [
            ["Answer in German.", "Never answer in French."],
            [
                "Answer in German.",
                "Answer in French when I ask about Paris.",
            ],
            ["Answer in German.", "Call me Max."],
            ["Always use C for examples.", "Always use C++ for examples."],
        ] {
            assert_eq!(kept(&[older, newer]), [[older], [newer]]);
        }
    }
}
