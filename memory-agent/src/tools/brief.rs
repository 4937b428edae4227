//! Brief results for language models, see [`memory_core::AnswerDetail::Brief`].
//!
//! | result | shape |
//! |---|---|
//! | a memory of a list | `{id, title?, date, category?, scope?, tags?, due?, done?, text, more?, at?, problem?}` |
//! | a list | `{hits or memories: […], total, more?, cursor?, next?, degraded?}` |
//! | a read memory | as in a list, with `scope`, `version`, `cursor?`, `next?` |
//! | a changed memory | `{id, text, category?, scope, …}` with the first words as text |
//!
//! `id` is a short id, `date` a local day, and `text` the matching passage, or the whole text. `more` is the number of further
//! characters of a text, or of further items of a list; `next` states how to get them. `at` is the number
//! of characters before the passage, which `memory_read` accepts as `cursor`. The category of the inbox and the scope `global` are left
//! out.

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::standing::standing_kind;
use memory_core::text::to_one_line;
use memory_core::{
    Category, Hit, MemoryId, PassageSelector, RecalledId, RemindReport, Scope, SelectedPassage,
    StoredMemory, ToolContext, WriteResult, subtract_time,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::cursor::ListCursor;
use crate::answer_text::answer_text;
use crate::json::add_field;

/// Default maximum number of tokens of a brief result.
const DEFAULT_BUDGET: usize = 2_000;

/// Minimum of a budget; a smaller one holds no useful result.
const MIN_BUDGET: usize = 200;

/// Maximum of the budget of a brief result.
const MAX_BUDGET: usize = 8_000;

/// Approximate number of tokens of a hit.
const HIT_TOKENS: usize = 100;

/// Tokens for the fields of a list apart from its items.
const LIST_TOKENS: usize = 80;

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 120;

/// Maximum number of tags that a list shows for a memory.
const MAX_TAGS: usize = 8;

/// Maximum number of characters of the first words of a changed memory.
pub(super) const MAX_WORDS: usize = 120;

/// The maximum size of a brief result in tokens: of its JSON or its text, whichever is larger.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerBudget(usize);

impl AnswerBudget {
    /// Returns the budget of a call; a value outside the range is replaced by the nearest one.
    pub(super) fn new(tokens: Option<usize>) -> Self {
        Self(
            tokens
                .unwrap_or(DEFAULT_BUDGET)
                .clamp(MIN_BUDGET, MAX_BUDGET),
        )
    }

    /// Returns the number of hits that about fit.
    pub(super) fn hits(self) -> usize {
        self.0 / HIT_TOKENS
    }

    /// Returns the tokens for items of a list.
    fn for_items(self) -> usize {
        (self.0 * 9 / 10).saturating_sub(LIST_TOKENS)
    }
}

/// Estimates the number of tokens of `text` from above, for text with ids, links and JSON punctuation.
///
/// [`memory_core::text::token_count`] estimates prose; the vocabularies of models divide digits and punctuation into more tokens.
fn upper_token_count(text: &str) -> usize {
    let twentieths = |character: char| match character {
        'a'..='z' | 'A'..='Z' | ' ' => 5,
        '0'..='9' | '\u{80}'..'\u{2e80}' => 10,
        '\0'..'\u{80}' => 12,
        _ => 20,
    };
    text.chars().map(twentieths).sum::<usize>().div_ceil(20)
}

/// Returns the tokens of a part of a result in the larger of its forms, since a client passes one of them to its model.
fn larger_form(part: &Value) -> usize {
    upper_token_count(&part.to_string()).max(upper_token_count(&answer_text(part)))
}

#[derive(Serialize)]
struct BriefMemory {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    done: bool,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl BriefMemory {
    fn of(context: &ToolContext, stored: &StoredMemory, passage: SelectedPassage) -> Self {
        let memory = &stored.memory;
        let title = memory
            .title
            .as_deref()
            .filter(|title| !title.trim().is_empty() && !passage.text.contains(title.trim()));
        Self {
            id: short_id(context, &memory.id),
            title: title.map(|title| to_one_line(title, MAX_TITLE)),
            date: local_day(context, memory.last_stated_at()),
            category: category(memory.category),
            scope: (memory.scope != Scope::Global).then(|| memory.scope.to_string()),
            tags: memory
                .tags
                .as_slice()
                .iter()
                .take(MAX_TAGS)
                .map(|tag| to_one_line(tag, MAX_TITLE))
                .collect(),
            replaced_by: memory.superseded_by.map(|id| short_id(context, &id)),
            due: memory
                .reminder
                .as_ref()
                .map(|reminder| local_minute(context, reminder.due)),
            done: memory
                .reminder
                .as_ref()
                .is_some_and(|reminder| reminder.done_at.is_some()),
            text: passage.text,
            more: Some(passage.omitted).filter(|omitted| 0 < *omitted),
            at: Some(passage.start).filter(|start| 0 < *start),
            problem: stored
                .problem
                .as_ref()
                .map(|problem| to_one_line(&problem.what, MAX_WORDS)),
        }
    }
}

/// Returns the first 8 digits of an id; more if other visible memories have the same ones.
pub(super) fn short_id(context: &ToolContext, id: &MemoryId) -> String {
    let whole = id.to_string();
    let is_unique = |length: &usize| {
        context
            .services
            .store
            .find_matches(&whole[..*length], None)
            .is_ok_and(|found| found.len() < 2)
    };
    let length = [8, 13, 18, 23]
        .into_iter()
        .find(is_unique)
        .unwrap_or(whole.len());
    whole[..length].to_owned()
}

/// Returns the name of a category; the inbox is none.
fn category(category: Category) -> Option<&'static str> {
    (category != Category::Inbox).then(|| category.as_str())
}

fn local_day(context: &ToolContext, moment: DateTime<Utc>) -> String {
    moment
        .with_timezone(&context.zone)
        .fixed_offset()
        .format("%Y-%m-%d")
        .to_string()
}

/// Returns the last day of a memory that expires at `end`, which may be the start of the next day.
fn last_day(context: &ToolContext, end: DateTime<Utc>) -> String {
    local_day(context, subtract_time(end, TimeDelta::microseconds(1)))
}

fn local_minute(context: &ToolContext, moment: DateTime<Utc>) -> String {
    moment
        .with_timezone(&context.zone)
        .fixed_offset()
        .format("%Y-%m-%d %H:%M")
        .to_string()
}

/// A memory of a list, with the passage to show.
pub(super) struct BriefItem<'a> {
    stored: &'a StoredMemory,
    passage: SelectedPassage,
    /// The newer item that replaces the memory, if any.
    replaced_by: Option<MemoryId>,
    recalled: RecalledId,
}

/// A list of memories, of which a result shows as many as fit.
pub(super) struct BriefList<'a> {
    /// The key of the items.
    pub key: &'static str,
    /// The tool that returns the list, for advice.
    pub tool: &'static str,
    /// The query that found the items, for the recall ledger.
    pub query: Option<&'a str>,
    /// The items from `offset` on.
    pub items: Vec<BriefItem<'a>>,
    /// Whether the items are in the order of their creation, newest first.
    pub is_by_creation: bool,
    /// The number of items before them.
    pub offset: usize,
    /// The number of all items.
    pub total: u64,
    /// The reason why items may be missing.
    pub degraded: Option<&'a str>,
}

impl<'a> BriefList<'a> {
    /// Returns the passages of hits that match `query`.
    pub(super) fn passages_of_hits(hits: &'a [Hit], query: &str) -> Vec<BriefItem<'a>> {
        let selector = PassageSelector::new(query);
        let item = |hit: &'a Hit| BriefItem {
            stored: &hit.stored,
            passage: selector.select_hit(hit),
            replaced_by: hit.explanation.replaced_by,
            recalled: hit.into(),
        };
        hits.iter().map(item).collect()
    }

    /// Returns the first passages of memories.
    pub(super) fn first_passages(memories: &'a [StoredMemory]) -> Vec<BriefItem<'a>> {
        let selector = PassageSelector::default();
        let passage = |stored: &StoredMemory| selector.select(&stored.memory.content);
        memories
            .iter()
            .map(|stored| BriefItem {
                stored,
                passage: passage(stored),
                replaced_by: None,
                recalled: stored.into(),
            })
            .collect()
    }

    /// Returns the JSON of the items that fit into `budget`, at least one, and how to get the others.
    ///
    /// The recall ledger gets the shown items.
    pub(super) fn to_json(&self, context: &ToolContext, budget: AnswerBudget) -> Value {
        let degraded = self
            .degraded
            .map(|reason| to_one_line(reason, MAX_WORDS * 4));
        let mut left = budget
            .for_items()
            .saturating_sub(degraded.as_deref().map_or(0, upper_token_count));
        let mut shown: Vec<Value> = Vec::new();
        for BriefItem {
            stored,
            passage,
            replaced_by,
            ..
        } in &self.items
        {
            let mut item = BriefMemory::of(context, stored, passage.clone());
            if let Some(id) = replaced_by {
                item.replaced_by = Some(short_id(context, id));
            }
            let item = crate::json::value(&item);
            let tokens = larger_form(&item);
            if left < tokens && !shown.is_empty() {
                break;
            }
            left = left.saturating_sub(tokens);
            shown.push(item);
        }
        context.recalled.add(
            self.query,
            self.items
                .iter()
                .take(shown.len())
                .map(|item| item.recalled.clone()),
        );
        let end = self.offset + shown.len();
        let more = self.total.saturating_sub(end as u64);
        let mut next: Vec<String> = Vec::new();
        if shown.iter().any(|item| item.get("more").is_some()) {
            next.push("memory_read with an id returns the whole text".into());
        }
        if shown.iter().any(|item| item.get("at").is_some()) {
            next.push("with `at` as cursor, it begins at the passage".into());
        }
        let is_continued = 0 < more && !shown.is_empty();
        if is_continued {
            next.push(format!(
                "{} with this cursor returns further {}",
                self.tool, self.key
            ));
        }
        let mut answer = json!({ self.key: shown, "total": self.total });
        if is_continued {
            answer["more"] = more.into();
            // Only the order by creation time has a place that other changes do not move.
            let last = self.items[..shown.len()]
                .last()
                .filter(|_| self.is_by_creation);
            let cursor = last.map(|last| ListCursor::after(end, &last.stored.memory).to_string());
            answer["cursor"] = cursor.unwrap_or_else(|| end.to_string()).into();
        }
        if !next.is_empty() {
            answer["next"] = next.join("; ").into();
        }
        add_field(&mut answer, "degraded", degraded);
        answer
    }
}

/// Returns a memory with its text from the character `offset` on, in at most `budget` tokens.
pub(super) fn read_memory(
    context: &ToolContext,
    stored: &StoredMemory,
    offset: usize,
    budget: AnswerBudget,
) -> Value {
    let memory = &stored.memory;
    let whole_text = memory.content.trim_end();
    let whole = SelectedPassage {
        text: String::new(),
        omitted: 0,
        start: 0,
    };
    let head = BriefMemory {
        text: String::new(),
        ..BriefMemory::of(context, stored, whole)
    };
    let mut answer = crate::json::value(&head);
    answer["scope"] = memory.scope.to_string().into();
    if let Some(end) = context.services.inbox_ttl.expires_at(stored) {
        answer["expires"] = last_day(context, end).into();
    }
    if memory.pinned {
        answer["pinned"] = true.into();
    }
    answer["version"] = memory.version.into();
    if memory
        .title
        .as_deref()
        .is_some_and(|title| whole_text.contains(title))
    {
        drop(
            answer
                .as_object_mut()
                .and_then(|fields| fields.shift_remove("title")),
        );
    }
    // The text is escaped in one of the forms.
    let most = budget.for_items().saturating_sub(larger_form(&answer)) * 9 / 10;
    let rest = whole_text
        .char_indices()
        .nth(offset)
        .map_or("", |(start, _)| &whole_text[start..]);
    let part = start_of(rest, most.max(MIN_BUDGET / 4));
    let shown = offset.min(whole_text.chars().count()) + part.chars().count();
    let more = rest.chars().count() - part.chars().count();
    // The text and what follows it come last.
    drop(
        answer
            .as_object_mut()
            .and_then(|fields| fields.shift_remove("text")),
    );
    answer["text"] = part.into();
    if 0 < more {
        answer["more"] = more.into();
        answer["cursor"] = shown.to_string().into();
        answer["next"] = "memory_read with this id and cursor returns the next part".into();
    }
    answer
}

/// Returns the longest start of `text` with at most `tokens` tokens, which ends at a word boundary if possible.
pub(crate) fn start_of(text: &str, tokens: usize) -> &str {
    if upper_token_count(text) <= tokens {
        return text;
    }
    let mut ends: Vec<usize> = text
        .char_indices()
        .map(|(start, _)| start)
        .take(tokens.saturating_mul(4) + 1)
        .collect();
    ends.push(text.len());
    let fits = ends.partition_point(|end| upper_token_count(&text[..*end]) <= tokens);
    let part = &text[..ends[fits.saturating_sub(1)]];
    let last_word = part.trim_end_matches(|character: char| !character.is_whitespace());
    if part.len() / 2 < last_word.len() {
        last_word
    } else {
        part
    }
}

/// Returns the fields of a memory that confirm a change of it.
pub(super) fn changed_memory(context: &ToolContext, stored: &StoredMemory) -> Map<String, Value> {
    let memory = &stored.memory;
    let mut fields = Map::new();
    fields.insert("id".into(), short_id(context, &memory.id).into());
    fields.insert(
        "text".into(),
        to_one_line(memory.headline(), MAX_WORDS).into(),
    );
    if let Some(category) = category(memory.category) {
        fields.insert("category".into(), category.into());
    }
    fields.insert("scope".into(), memory.scope.to_string().into());
    if memory.pinned {
        fields.insert("pinned".into(), true.into());
    }
    if let Some(end) = context.services.inbox_ttl.expires_at(stored) {
        fields.insert("expires".into(), last_day(context, end).into());
    }
    if let Some(reminder) = &memory.reminder {
        fields.insert("due".into(), local_minute(context, reminder.due).into());
        if let Some(repeats) = &reminder.repeats {
            let repeats = to_one_line(&repeats.expression, MAX_WORDS);
            fields.insert("repeats".into(), repeats.into());
        }
    }
    if let Some(newer) = memory.superseded_by {
        let newer = short_id(context, &newer);
        let advice = format!("no search returns this memory; {newer} replaced it");
        fields.insert("replaced_by".into(), newer.into());
        fields.insert("warning".into(), advice.into());
    }
    fields
}

/// Returns the fields that confirm a write.
pub(super) fn written_memory(context: &ToolContext, written: &WriteResult) -> Map<String, Value> {
    let mut fields = match context.services.store.get(&written.id) {
        Ok(stored) => {
            let mut fields = changed_memory(context, &stored);
            if let Some(kind) = standing_kind(&stored.memory) {
                fields.insert("standing".into(), kind.as_str().into());
            }
            fields
        }
        // The write succeeded, so a failure to read is not reported.
        Err(_) => Map::from_iter([("id".to_owned(), short_id(context, &written.id).into())]),
    };
    fields.insert("created".into(), written.created.into());
    if let Some(end) = written.expires_at {
        fields.insert("expires".into(), last_day(context, end).into());
    }
    add_ignored(&mut fields, &written.ignored);
    fields
}

/// Returns the JSON that confirms a reminder.
pub(super) fn brief_reminder(context: &ToolContext, report: &RemindReport) -> Value {
    let mut fields = changed_memory(context, &report.stored);
    fields.insert("created".into(), report.created.into());
    if let Some(assumed) = &report.assumed {
        fields.insert("assumed".into(), assumed.as_str().into());
    }
    add_ignored(&mut fields, &report.ignored);
    fields.into()
}

/// Adds the names of fields that a memory with the same text did not take over.
fn add_ignored(fields: &mut Map<String, Value>, ignored: &[&'static str]) {
    if !ignored.is_empty() {
        fields.insert("ignored".into(), ignored.into());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_of_a_text_are_the_whole_text(text in "([a-z]{1,12}|茶|界面|\n| ){0,400}", tokens in 1_usize..60) {
            let (mut rest, mut joined) = (text.as_str(), String::new());
            while !rest.is_empty() {
                let part = start_of(rest, tokens);
                prop_assert!(!part.is_empty() && upper_token_count(part) <= tokens);
                joined.push_str(part);
                rest = &rest[part.len()..];
            }
            prop_assert_eq!(joined, text);
        }
    }

    #[test]
    fn a_budget_outside_the_range_is_replaced_by_the_nearest_one() {
        assert_eq!(
            [None, Some(1), Some(3_000), Some(100_000)].map(|tokens| AnswerBudget::new(tokens).0),
            [2_000, 200, 3_000, 8_000]
        );
    }
}
