//! Selects the standing instructions and preferences for the context of a language model.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::classify::{OwnSentences, own_sentences};
use super::kind::{StandingFilter, StandingKind, StandingSentence};
use super::replacement::{
    SentencesInEffect, StandingText, condition_offset, find_in_effect, find_older, sentence_spans,
};
use crate::text::token_count;
use crate::{Filter, ListOrder, MemoryId, PageRequest, Services, StoreError, StoredMemory};

/// The standing memories for a context.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StandingSelection {
    /// The memories with sentences in effect, without duplicates, most important first.
    pub(crate) memories: Vec<StandingMemory>,
    /// The byte ranges of the sentences that newer ones replace, by memory. They must not be shown as if they were in effect.
    pub(crate) replaced: HashMap<MemoryId, Vec<Range<usize>>>,
}

/// A memory with standing sentences, with the text for a language model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StandingMemory {
    /// The memory.
    pub(crate) stored: StoredMemory,
    /// The kind.
    pub(crate) kind: StandingKind,
    /// The whole content if it is short, otherwise its standing sentences in effect.
    pub(crate) text: String,
    /// Whether `text` is the whole content.
    pub(crate) is_whole: bool,
}

/// The maximum number of memories of each kind that are read, newest first. The budget limits how many of them are given.
const MAX_READ: usize = 300;

/// The maximum number of standing sentences of a memory that are read. A longer list is a document.
const MAX_SENTENCES: usize = 32;

/// The maximum number of standing sentences of all memories. Each is compared with every other one.
const MAX_COMPARED: usize = 1_000;

/// The maximum number of tokens of a text that is included whole.
///
/// Of a longer text, only the standing sentences are included.
const MAX_WHOLE_TOKENS: usize = 80;

/// The maximum number of bytes of a token, as [`token_count`] counts: four characters of up to three bytes.
const MAX_TOKEN_BYTES: usize = 12;

/// Returns the standing memories that are in effect, without duplicates, in the files that the last refresh of the store detected.
///
/// Instructions without a condition come first, then the others, each newest first; the preferences follow, newest first.
///
/// # Errors
/// If the memories cannot be read.
pub(crate) fn select_standing(services: &Services) -> Result<StandingSelection, StoreError> {
    let of = |all: Vec<StoredMemory>| {
        all.into_iter()
            .filter_map(Candidate::new)
            .collect::<Vec<_>>()
    };
    let instructions = list_newest(services, StandingKind::Instruction)?;
    let preferences = list_newest(services, StandingKind::Preference)?;
    let (all, first_preference) = arrange(of(instructions), of(preferences));
    Ok(select(all, first_preference))
}

fn list_newest(services: &Services, kind: StandingKind) -> Result<Vec<StoredMemory>, StoreError> {
    let filter = Filter {
        standing: Some(StandingFilter::Only(kind)),
        ..Filter::default()
    };
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(MAX_READ),
    };
    Ok(services
        .store
        .list(&filter, &slice, services.clock.now())?
        .memories)
}

/// A memory with its standing sentences.
#[derive(Debug)]
struct Candidate {
    stored: StoredMemory,
    sentences: Vec<StandingSentence>,
    kind: StandingKind,
    /// Whether a text of an agent also has other sentences, which are not shown as standing.
    has_other_sentences: bool,
}

impl Candidate {
    fn new(stored: StoredMemory) -> Option<Self> {
        let OwnSentences {
            mut sentences,
            has_others,
        } = own_sentences(&stored.memory)?;
        sentences.truncate(MAX_SENTENCES);
        let kind = sentences
            .iter()
            .map(|sentence| sentence.kind)
            .min()
            .unwrap_or(StandingKind::Preference);
        Some(Self {
            stored,
            sentences,
            kind,
            has_other_sentences: has_others,
        })
    }

    fn content(&self) -> &str {
        &self.stored.memory.content
    }

    /// Returns whether this is an instruction without a condition such as `when I ask about …`.
    fn is_general(&self) -> bool {
        let is_general = |own: &StandingSentence| {
            own.kind == StandingKind::Instruction
                && condition_offset(&self.content()[own.span.clone()]).is_none()
        };
        self.sentences.iter().any(is_general)
    }

    /// Converts to the memory with the text for a language model; `None` if no sentence is in effect.
    fn into_standing(self, in_effect: &SentencesInEffect) -> Option<StandingMemory> {
        if in_effect.kept.is_empty() {
            return None;
        }
        let content = self.content();
        let is_short = content.len() <= MAX_WHOLE_TOKENS * MAX_TOKEN_BYTES
            && token_count(content.trim()) <= MAX_WHOLE_TOKENS;
        let is_whole = in_effect.replaced.is_empty()
            && (is_short && !self.has_other_sentences || self.sentences.is_empty());
        if is_whole {
            let text = content.trim().to_owned();
            return Some(StandingMemory {
                kind: self.kind,
                text,
                is_whole,
                stored: self.stored,
            });
        }
        let kept = || in_effect.kept.iter().map(|number| &self.sentences[*number]);
        let excerpts = kept().map(|sentence| {
            let is_long = MAX_WHOLE_TOKENS < token_count(&content[sentence.span.clone()]);
            let start = if is_long {
                sentence.cue
            } else {
                sentence.span.start
            };
            content[start..sentence.span.end].trim()
        });
        let text = excerpts.collect::<Vec<_>>().join(" … ");
        let kind = kept().map(|sentence| sentence.kind).min()?;
        Some(StandingMemory {
            kind,
            text,
            is_whole,
            stored: self.stored,
        })
    }
}

/// Returns the instructions, unconditional ones first, and then the preferences, each memory once.
///
/// The second value is the number of memories before the preferences.
fn arrange(
    mut instructions: Vec<Candidate>,
    preferences: Vec<Candidate>,
) -> (Vec<Candidate>, usize) {
    instructions.sort_by_key(|own| !own.is_general());
    let mut all: Vec<Candidate> = Vec::new();
    let mut seen = HashSet::new();
    let mut compared = 0;
    for own in instructions {
        if MAX_COMPARED < compared {
            break;
        }
        if seen.insert(own.stored.memory.id) {
            compared += own.sentences.len();
            all.push(own);
        }
    }
    let first_preference = all.len();
    for own in preferences
        .into_iter()
        .filter(|own| seen.insert(own.stored.memory.id))
    {
        if MAX_COMPARED < compared {
            break;
        }
        compared += own.sentences.len().max(1);
        all.push(own);
    }
    (all, first_preference)
}

/// Drops replaced sentences, and moves older instructions on the subject of a newer one before the preferences.
fn select(all: Vec<Candidate>, first_preference: usize) -> StandingSelection {
    let texts: Vec<StandingText<'_>> = all
        .iter()
        .map(|own| StandingText {
            at: own.stored.memory.last_stated_at(),
            kind: own.kind,
            text: own.content(),
        })
        .collect();
    let spans: Vec<Vec<Range<usize>>> = all
        .iter()
        .map(|own| sentence_spans(own.content(), &own.sentences))
        .collect();
    let in_effect = find_in_effect(&texts, &spans);
    let is_older = find_older(&texts, &spans, &in_effect);
    let mut selection = StandingSelection::default();
    for (own, candidate) in all
        .iter()
        .enumerate()
        .filter(|(own, _)| !in_effect[*own].replaced.is_empty())
    {
        let replaced = in_effect[own]
            .replaced
            .iter()
            .map(|number| spans[own][*number].clone());
        selection
            .replaced
            .insert(candidate.stored.memory.id, replaced.collect());
    }
    let (mut current, mut older, mut preferences) = (Vec::new(), Vec::new(), Vec::new());
    for (own, candidate) in all.into_iter().enumerate() {
        let group = match (first_preference <= own, is_older[own]) {
            (true, _) => &mut preferences,
            (false, true) => &mut older,
            (false, false) => &mut current,
        };
        group.extend(candidate.into_standing(&in_effect[own]));
    }
    selection.memories = current
        .into_iter()
        .chain(older)
        .chain(preferences)
        .collect();
    selection
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, SecretPolicy, SpeakerRole, write};

    fn selected(texts: &[(&str, SpeakerRole)]) -> Vec<String> {
        let services = services(Arc::new(MemStore::default()));
        for (number, (text, role)) in texts.iter().enumerate() {
            let at = chrono::DateTime::UNIX_EPOCH
                + chrono::TimeDelta::days(i64::try_from(number).expect("there are few"));
            let draft = Draft {
                role: Some(*role),
                created_at: Some(at),
                ..Draft::new(text)
            };
            write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
        }
        select_standing(&services)
            .expect("they are read")
            .memories
            .into_iter()
            .map(|own| own.text)
            .collect()
    }

    #[test]
    fn instructions_that_always_apply_come_first() {
        use SpeakerRole::{Assistant, Person};
        let all = [
            ("Always include prices when I ask about trains.", Person),
            (
                "Always include opening hours when I ask about museums.",
                Person,
            ),
            ("Always answer in metric units.", Person),
            ("We took the train to Oslo.", Person),
            ("Always book trains early.", Assistant),
        ];
        let expected = [
            "Always answer in metric units.",
            "Always include opening hours when I ask about museums.",
            "Always include prices when I ask about trains.",
        ];
        assert_eq!(selected(&all), expected);
    }

    #[test]
    fn a_newer_instruction_takes_the_place_of_what_it_repeats_or_contradicts() {
        let of =
            |texts: [&'static str; 2]| selected(&texts.map(|text| (text, SpeakerRole::Person)));
        assert_eq!(
            of(["Always use emojis.", "Never use emojis."]),
            ["Never use emojis."]
        );
        assert_eq!(
            of([
                "Please always use metric units.",
                "Always use metric units!"
            ]),
            ["Always use metric units!"]
        );
        assert_eq!(
            of(["Answer in metric units.", "Answer in imperial units."]),
            ["Answer in imperial units."]
        );
        let order = of(["Always cite two sources.", "Always cite three sources."]);
        assert_eq!(
            order,
            ["Always cite three sources.", "Always cite two sources."]
        );
    }

    #[test]
    fn of_a_long_text_the_standing_sentences_are_given() {
        let long = format!(
            "{}Always answer in German. {0}",
            "The train was late and we waited for a long time. ".repeat(8)
        );
        assert_eq!(
            selected(&[(&long, SpeakerRole::Person)]),
            ["Always answer in German."]
        );
    }
}
