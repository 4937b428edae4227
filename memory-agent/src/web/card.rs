//! A memory in a list: title, passage, attributes, and why it was found.

use memory_core::html::{plain_text, visible_text};
use memory_core::query_parser::QueryWord;
use memory_core::rank::{PARTS, RankFeature};
use memory_core::text::to_one_line;
use memory_core::{Hit, Memory, MemoryId, Phase, RecalledId, Scope, StoredMemory};

use super::fields::{encode, encode_pairs};
use super::html::Label;
use super::request::WebRequest;
use super::time_label::TimeLabel;

/// A memory in a list, for the template `card.html`.
#[derive(Debug)]
pub(crate) struct MemoryCard {
    pub(crate) path: String,
    pub(crate) title: Label,
    /// The title without markup, for attributes.
    pub(crate) name: String,
    pub(crate) passage: Option<Label>,
    pub(crate) created: TimeLabel,
    pub(crate) category: &'static str,
    pub(crate) is_in_inbox: bool,
    pub(crate) is_pinned: bool,
    /// The number of uses by agents and people.
    pub(crate) uses: u64,
    /// Why the memory is not in effect, if it is not.
    pub(crate) state: Option<&'static str>,
    /// The scope, unless it is global.
    pub(crate) scope: Option<Label>,
    pub(crate) source: Option<Label>,
    pub(crate) tags: Vec<TagLink>,
    pub(crate) id: String,
    /// Whether the card has controls that change the memory.
    pub(crate) has_actions: bool,
    pub(crate) why: Option<MatchExplanation>,
}

/// A tag with the path of the memories that have it.
#[derive(Debug)]
pub(crate) struct TagLink {
    /// The tag as it is stored, for the value of a form.
    pub(crate) name: String,
    pub(crate) label: Label,
    pub(crate) path: String,
}

/// Why a search found a memory.
#[derive(Debug)]
pub(crate) struct MatchExplanation {
    /// The words of the query in the memory.
    pub(crate) words: Vec<Label>,
    /// The reasons for its place in words, the strongest first.
    pub(crate) reasons: Vec<&'static str>,
}

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 120;

/// Maximum number of characters of a passage.
const MAX_PASSAGE: usize = 260;

/// Maximum number of tags of a card.
const MAX_TAGS: usize = 8;

impl MemoryCard {
    /// Returns the card of a memory with the start of its text.
    pub(crate) fn new(request: &WebRequest, stored: &StoredMemory) -> Self {
        let memory = &stored.memory;
        let now = request.services.clock.now();
        let passage = rest_of_text(memory);
        let state = match () {
            () if memory.superseded_by.is_some() => Some("superseded"),
            () if memory.has_ended(now) => Some("expired"),
            () if memory.is_proposal() => Some("proposal"),
            () if stored.problem.is_some() => Some("damaged file"),
            () => None,
        };
        Self {
            id: memory.id.to_string(),
            path: memory_path(memory),
            title: title(memory),
            name: visible_text(&to_one_line(memory.headline(), MAX_TITLE)),
            passage: Some(passage)
                .filter(|text| !text.is_empty())
                .map(|text| Label::cut(&text, MAX_PASSAGE)),
            created: TimeLabel::new(request.local(memory.created_at), request.local(now)),
            category: memory.category.as_str(),
            is_in_inbox: memory.phase == Phase::Inbox,
            is_pinned: memory.pinned,
            uses: memory.access_count,
            state,
            scope: Some(&memory.scope)
                .filter(|scope| **scope != Scope::Global)
                .map(|scope| Label::cut(&describe_readers(scope), 60)),
            source: Some(memory.source.as_str())
                .filter(|source| !source.is_empty())
                .map(|source| Label::cut(source, 40)),
            tags: memory
                .tags
                .iter()
                .take(MAX_TAGS)
                .map(|tag| TagLink::new(tag))
                .collect(),
            has_actions: false,
            why: None,
        }
    }

    /// Returns the card with a check box and a button that deletes the memory.
    pub(crate) fn with_actions(self) -> Self {
        Self {
            has_actions: true,
            ..self
        }
    }

    /// Returns the card of a search hit, with the passage that matches and the explanation.
    ///
    /// The index knows the stems of words. `query` has the words as the person wrote them.
    pub(crate) fn of_hit(request: &WebRequest, hit: &Hit, query: &[QueryWord]) -> Self {
        let explanation = &hit.explanation;
        let spelled = |term: &str| {
            query
                .iter()
                .find(|word| word.term.text == term)
                .map(|word| word.spelled.clone())
        };
        let words = explanation.terms.iter().map(|term| {
            let word = spelled(&term.term).unwrap_or_else(|| term.term.clone());
            Label::cut(&word, 40)
        });
        let words = words.collect();
        let mut parts: Vec<_> = explanation.parts.iter().collect();
        parts.sort_by(|left, right| right.score.total_cmp(&left.score));
        let parts = parts
            .into_iter()
            .filter(|part| 0.0 < part.score && is_reason(part.part));
        let mut reasons: Vec<&'static str> =
            parts.map(|part| describe_feature(part.part)).collect();
        if explanation.is_part {
            reasons.insert(0, "parts of its words match");
        }
        if reasons.is_empty() {
            reasons.push(describe_feature(RankFeature::Words));
        }
        reasons.dedup();
        let card = Self::new(request, &hit.stored);
        let marked = Label::marked(&hit.snippet, &hit.marks);
        // A short memory is its own headline; its text is shown once.
        let is_headline = hit.snippet.trim() == hit.stored.memory.headline().trim();
        let (title, passage) = if is_headline {
            (marked, None)
        } else {
            (card.title, Some(marked))
        };
        Self {
            title,
            passage,
            why: Some(MatchExplanation { words, reasons }),
            ..card
        }
    }
}

impl TagLink {
    pub(crate) fn new(tag: &str) -> Self {
        let path = format!("/memories?{}", encode_pairs([("tag", tag)]));
        Self {
            name: tag.to_owned(),
            label: Label::cut(tag, 40),
            path,
        }
    }
}

/// Returns the path of the page of a memory.
pub(crate) fn memory_path(memory: &Memory) -> String {
    memory_path_of(&memory.id)
}

/// Returns the path of the page of the memory with this id.
pub(crate) fn memory_path_of(id: &MemoryId) -> String {
    format!("/memories/{}", encode(&id.to_string()))
}

/// Returns the title of a memory; never empty, so that links have a text.
pub(crate) fn title(memory: &Memory) -> Label {
    match memory.headline().trim() {
        "" => Label::new("(empty)"),
        headline => Label::cut(headline, MAX_TITLE),
    }
}

/// Returns the start of the text after the headline, as one line.
fn rest_of_text(memory: &Memory) -> String {
    let headline = memory.headline();
    let start = match memory.content.find(headline) {
        Some(at) if memory.title.is_none() => {
            // The title is cut, so a long first line continues in the passage.
            let is_cut = headline.chars().nth(MAX_TITLE).is_some();
            if is_cut { at } else { at + headline.len() }
        }
        _ => 0,
    };
    plain_text(&memory.content[start..], MAX_PASSAGE * 4)
}

/// Describes to a person who reads memories with this scope.
pub(crate) fn describe_readers(scope: &Scope) -> String {
    match scope {
        Scope::Global => "all agents".to_owned(),
        Scope::Agent(name) => format!("only the agent {name}"),
        Scope::Project(name) => format!("only in the project {name}"),
        Scope::Conversation(name) => format!("only in the conversation {name}"),
        Scope::Private(name) => format!("only {name} and the agents of {name}"),
        Scope::Team(name) => format!("only the team {name}"),
    }
}

/// Maximum number of reasons of a recall.
const MAX_REASONS: usize = 3;

/// Describes to a person which parts of a score of the recall ledger contributed most.
pub(crate) fn describe_parts(parts: &[(String, f32)]) -> String {
    let cosine = RecalledId::cosine(parts);
    let reasons = parts
        .iter()
        .filter(|(name, score)| 0.0 <= *score && name != RecalledId::COSINE)
        .filter_map(|(name, _)| {
            let reason = describe_part(name)?.to_owned();
            Some(
                match cosine.filter(|_| name == RankFeature::Vector.as_str()) {
                    Some(cosine) => format!("{reason} (cosine {cosine:.2})"),
                    None => reason,
                },
            )
        });
    reasons.take(MAX_REASONS).collect::<Vec<_>>().join(", ")
}

/// Describes a part of a score; `None` if it is no reason for a person.
fn describe_part(name: &str) -> Option<&str> {
    match PARTS.into_iter().find(|part| part.as_str() == name) {
        Some(part) => Some(describe_feature(part)).filter(|_| is_reason(part)),
        None if name == "standing" => Some("a standing instruction or preference"),
        None if name == "rerank" => Some("the reranking model"),
        None => Some(name),
    }
}

/// Returns whether a part of a score is a reason for a person. The others depend on the form of the text alone, or on statistics of a
/// whole conversation.
const fn is_reason(feature: RankFeature) -> bool {
    !matches!(
        feature,
        RankFeature::Length
            | RankFeature::Asking
            | RankFeature::Time
            | RankFeature::Assistant
            | RankFeature::Coverage
            | RankFeature::SessionWords
            | RankFeature::SessionSum
            | RankFeature::SessionVector
            | RankFeature::NeighbourVectors
    )
}

/// Describes a part of a score to a person.
const fn describe_feature(feature: RankFeature) -> &'static str {
    match feature {
        RankFeature::Words => "words of the query",
        RankFeature::Asides => "common words and dates of the query",
        RankFeature::Coverage => "share of the query's words",
        RankFeature::Likeness => "similar words",
        RankFeature::Named => "written by the person that the query names",
        RankFeature::FirstPerson => "that person speaks of themself",
        RankFeature::Date => "near the date in the query",
        RankFeature::TimeForWhen => "contains a time, as the query asks when",
        RankFeature::Time => "contains a time",
        RankFeature::CapitalsForWhich => "contains names, as the query asks who or where",
        RankFeature::Asking => "ends with a question",
        RankFeature::Length => "length",
        RankFeature::Answer => "answers a similar question",
        RankFeature::Neighbours => "neighbouring messages match",
        RankFeature::SessionWords | RankFeature::SessionSum => "the session matches",
        RankFeature::Vector => "means the same",
        RankFeature::SessionVector => "similar meaning within the session",
        RankFeature::NeighbourVectors => "neighbouring messages have a similar meaning",
        RankFeature::Links => "linked memories match",
        RankFeature::Assistant => "written by an assistant",
        RankFeature::AssistantAsked => "the query asks for the assistant's words",
        RankFeature::Characters => "single characters",
        RankFeature::Reply => "the next message matches",
    }
}
