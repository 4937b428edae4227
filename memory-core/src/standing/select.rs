//! Selects the standing instructions and preferences for the context of a language model.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::classify::{StandingKind, standing_kind, standing_sentences};
use chrono::{DateTime, Utc};

use crate::conversation::contradicts;
use crate::text::{WordOverlaps, token_count};
use crate::{Filter, ListOrder, PageRequest, Query, Ranking, Services, StoreError, StoredMemory, search};

/// A memory with standing sentences, with the text for a language model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StandingMemory {
    /// The memory.
    pub(crate) stored: StoredMemory,
    /// The kind.
    pub(crate) kind: StandingKind,
    /// The whole content if it is short, otherwise its standing sentences.
    pub(crate) text: String,
    /// Whether this is an instruction without a condition such as `when I ask about …`.
    is_general: bool,
}

/// The maximum number of memories that match the prompt, and of the newest memories.
const MAX_CANDIDATES: usize = 24;

/// The maximum number of tokens of a text that is included whole.
///
/// Of a longer text, only the standing sentences are included.
const MAX_WHOLE_TOKENS: usize = 80;

/// The minimum overlap of words at which a sentence repeats another.
const REPEAT_OVERLAP: f32 = 0.8;

/// The minimum overlap of words at which two instructions have the same subject.
const SUBJECT_OVERLAP: f32 = 0.5;

/// Returns the standing memories that are in effect (see [`current()`]), without duplicates.
///
/// The memories that match `prompt`, best match first, alternate with the other instructions: those without a condition first, then the
/// newest first. The preferences follow, newest first.
///
/// The match compares words only. Standing memories are included regardless of the prompt, so a model would change little.
///
/// # Errors
/// If the memories cannot be read.
pub(crate) fn select_standing(services: &Services, prompt: &str) -> Result<Vec<StandingMemory>, StoreError> {
    let filter = Filter { standing: true, ..Filter::default() };
    let slice = PageRequest { order: ListOrder::Created, offset: 0, limit: Some(MAX_CANDIDATES) };
    let newest = services.store.list(&filter, &slice, services.clock.now())?;
    let mut matching = Vec::new();
    if !newest.memories.is_empty() && !prompt.trim().is_empty() {
        let words_only = Services { embedder: None, reranking: None, ..services.clone() };
        let query = Query { text: prompt.to_owned(), filter, limit: MAX_CANDIDATES, ranking: Ranking::default() };
        match search(&words_only, &query) {
            Ok(found) => matching = found.hits.into_iter().filter(|hit| !hit.explanation.is_part).map(|hit| hit.stored).collect(),
            // A prompt without a word matches no memory.
            Err(StoreError::Invalid { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let matching: Vec<StandingMemory> = matching.into_iter().filter_map(StandingMemory::new).collect();
    let newest: Vec<StandingMemory> = newest.memories.into_iter().filter_map(StandingMemory::new).collect();
    let all = interleave(matching, newest);
    let texts = all.iter().map(|own| StandingText { at: own.stored.memory.created_at, kind: own.kind, text: &own.text });
    let places = current(&texts.collect::<Vec<_>>());
    let mut all: Vec<Option<StandingMemory>> = all.into_iter().map(Some).collect();
    Ok(places.into_iter().filter_map(|own| all[own].take()).collect())
}

impl StandingMemory {
    fn new(stored: StoredMemory) -> Option<Self> {
        let memory = &stored.memory;
        let kind = standing_kind(memory)?;
        let content = memory.content.trim();
        let sentences = standing_sentences(content);
        let text = if token_count(content) <= MAX_WHOLE_TOKENS || sentences.is_empty() {
            content.to_owned()
        } else {
            let excerpts = sentences.iter().map(|sentence| {
                let is_long = MAX_WHOLE_TOKENS < token_count(&content[sentence.span.clone()]);
                let start = if is_long { sentence.cue } else { sentence.span.start };
                content[start..sentence.span.end].trim()
            });
            excerpts.collect::<Vec<_>>().join(" … ")
        };
        let is_general = kind == StandingKind::Instruction && condition_offset(&text).is_none();
        Some(Self { stored, kind, text, is_general })
    }
}

/// Returns the byte offset of the words that state when an instruction applies.
fn condition_offset(text: &str) -> Option<usize> {
    const WORDS: [&str; 5] = [" when ", " whenever ", " if ", " every time ", " each time "];
    const HAN: [&str; 6] = ["当我", "當我", "每当", "每當", "我问到", "我問到"];
    let padded = format!(" {}", text.to_ascii_lowercase());
    let words = WORDS.iter().filter_map(|word| padded.find(word));
    words.chain(HAN.iter().filter_map(|word| text.find(word))).min()
}

/// Alternates `matching` with the instructions of `newest`, unconditional ones first.
///
/// The preferences follow. Each memory is returned once.
fn interleave(matching: Vec<StandingMemory>, newest: Vec<StandingMemory>) -> Vec<StandingMemory> {
    let (mut instructions, preferences): (Vec<_>, Vec<_>) =
        newest.into_iter().partition(|own| own.kind == StandingKind::Instruction);
    instructions.sort_by_key(|own| !own.is_general);
    let (mut matching, mut instructions) = (matching.into_iter(), instructions.into_iter());
    let mut all = Vec::new();
    loop {
        let pair = [matching.next(), instructions.next()];
        if pair.iter().all(Option::is_none) {
            break;
        }
        all.extend(pair.into_iter().flatten());
    }
    all.extend(preferences);
    let mut seen = HashSet::new();
    all.retain(|own| seen.insert(own.stored.memory.id));
    all
}

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

/// Returns the indices of the texts that are in effect, in their order.
///
/// A text that a newer one repeats or contradicts is dropped. An older instruction on the subject of a newer one is moved to the end.
pub(crate) fn current(all: &[StandingText<'_>]) -> Vec<usize> {
    let parts =
        all.iter().map(|own| own.text.split_at(condition_offset(own.text).filter(|at| 0 < *at).unwrap_or(own.text.len())));
    let (mains, conditions): (Vec<&str>, Vec<&str>) = parts.unzip();
    let mains: Vec<String> = mains.into_iter().map(without_polarity).collect();
    let by_main = WordOverlaps::of(&mains.iter().map(String::as_str).collect::<Vec<_>>());
    let by_condition = WordOverlaps::of(&conditions);
    let is_newer = |one: usize, other: usize| (all[other].at, Reverse(other)) < (all[one].at, Reverse(one));
    let has_same_condition = |one: usize, other: usize| {
        conditions[one].is_empty() && conditions[other].is_empty() || REPEAT_OVERLAP <= by_condition.between(one, other)
    };
    let is_replaced = |own: usize| {
        let repeats = |other: usize| REPEAT_OVERLAP <= by_main.between(own, other) && has_same_condition(own, other);
        (0..all.len()).any(|other| is_newer(other, own) && (repeats(other) || contradicts(all[other].text, all[own].text)))
    };
    let is_older = |own: usize| {
        let are_instructions = |other: usize| [own, other].iter().all(|number| all[*number].kind == StandingKind::Instruction);
        let covers = |other: usize| {
            is_newer(other, own)
                && are_instructions(other)
                && SUBJECT_OVERLAP <= by_main.between(own, other)
                && has_same_condition(own, other)
        };
        (0..all.len()).any(covers)
    };
    let mut places: Vec<usize> = (0..all.len()).filter(|own| !is_replaced(*own)).collect();
    places.sort_by_key(|own| is_older(*own));
    places
}

/// Removes the words that only express whether to do something.
///
/// Opposite instructions then have the same words.
fn without_polarity(text: &str) -> String {
    const WORDS: [&str; 8] = ["always", "never", "don't", "do", "not", "please", "avoid", "stop"];
    const HAN: [&str; 9] = ["总是", "總是", "永远", "永遠", "不要", "别", "別", "请", "請"];
    let is_kept = |word: &&str| !WORDS.contains(&word.to_lowercase().replace('’', "'").as_str());
    let words = text.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ");
    HAN.iter().fold(words, |words, word| words.replace(word, ""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{FakeStore, services};
    use crate::{Draft, SecretPolicy, SpeakerRole, write};

    fn selected(texts: &[(&str, SpeakerRole)], prompt: &str) -> Vec<String> {
        let services = services(Arc::new(FakeStore::default()));
        for (number, (text, role)) in texts.iter().enumerate() {
            let at = chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::days(i64::try_from(number).expect("there are few"));
            let draft = Draft { role: Some(*role), created_at: Some(at), ..Draft::new(text) };
            write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
        }
        select_standing(&services, prompt).expect("they are read").into_iter().map(|own| own.text).collect()
    }

    #[test]
    fn what_applies_to_the_prompt_and_what_always_applies_take_turns() {
        use SpeakerRole::{Assistant, Person};
        let all = [
            ("Always include prices when I ask about trains.", Person),
            ("Always include opening hours when I ask about museums.", Person),
            ("Always answer in metric units.", Person),
            ("We took the train to Oslo.", Person),
            ("Always book trains early.", Assistant),
        ];
        let expected = [
            "Always include prices when I ask about trains.",
            "Always answer in metric units.",
            "Always include opening hours when I ask about museums.",
        ];
        assert_eq!(selected(&all, "which train goes to Oslo?"), expected);
    }

    #[test]
    fn a_newer_instruction_takes_the_place_of_what_it_repeats_or_contradicts() {
        let of = |texts: [&'static str; 2]| selected(&texts.map(|text| (text, SpeakerRole::Person)), "");
        assert_eq!(of(["Always use emojis.", "Never use emojis."]), ["Never use emojis."]);
        assert_eq!(of(["Please always use metric units.", "Always use metric units!"]), ["Always use metric units!"]);
        let order = of(["Answer in metric units.", "Answer in imperial units."]);
        assert_eq!(order, ["Answer in imperial units.", "Answer in metric units."]);
    }

    #[test]
    fn of_a_long_text_the_standing_sentences_are_given() {
        let long = format!("{}Always answer in German. {0}", "The train was late and we waited for a long time. ".repeat(8));
        assert_eq!(selected(&[(&long, SpeakerRole::Person)], ""), ["Always answer in German."]);
    }
}
