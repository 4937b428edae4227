//! Reconciles new facts with existing ones.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::add::redact_secrets;
use super::facts::{AnswerParseError, MAX_FACTS, single_list};
use super::{ConversationEntry, ConversationId, EntryChange, EntryId, EntryRole};
use crate::parse_json_answer;
use crate::text::{fold, to_one_line, tokenize};

/// A fact that a model extracted from a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedFact {
    /// The fact.
    pub text: String,
    /// The turn that contains it.
    pub source: Option<EntryId>,
}

/// The decision of a model about one fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactDecision {
    /// Adds a new fact.
    Add {
        /// The fact.
        text: String,
    },
    /// Replaces an existing fact by a better text.
    Update {
        /// The number of the existing fact.
        number: usize,
        /// The new text.
        text: String,
    },
    /// Deletes an existing fact that is no longer true.
    Delete {
        /// The number of the existing fact.
        number: usize,
    },
    /// Leaves an existing fact unchanged, because it already covers the new one.
    Keep {
        /// The number of the existing fact.
        number: usize,
    },
}

/// Parses a response about `known` existing facts, numbered from 0.
///
/// The response is a JSON list of `{"event": "ADD", "text": …}`, `{"event": "UPDATE", "id": 0, "text": …}`, `{"event": "DELETE", "id": 0}`
/// and `{"event": "NONE", "id": 0}`. Additions and updates with an empty text are skipped.
///
/// # Errors
/// If there is no such list, or a decision names an unknown fact. Then the caller may repeat the request.
pub fn parse_decisions(answer: &str, known: usize) -> Result<Vec<FactDecision>, AnswerParseError> {
    let misread = |why: String| AnswerParseError { why };
    let value = parse_json_answer(answer).map_err(|why| misread(why.to_string()))?;
    let list = single_list(value).ok_or_else(|| misread("it is no list of decisions".into()))?;
    let mut decisions = Vec::new();
    let mut faults = Vec::new();
    for item in &list {
        match parse_decision(item, known) {
            Ok(decision) => decisions.extend(decision),
            Err(why) => faults.push(why),
        }
    }
    if faults.is_empty() {
        Ok(decisions)
    } else {
        Err(misread(faults.join("; ")))
    }
}

fn parse_decision(item: &Value, known: usize) -> Result<Option<FactDecision>, String> {
    let event = item
        .get("event")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
        .to_ascii_uppercase();
    let text = item
        .get("text")
        .and_then(Value::as_str)
        .map(|text| to_one_line(&redact_secrets(text), usize::MAX));
    let text = text.filter(|text| text.contains(char::is_alphanumeric));
    let number = || {
        let id = item.get("id").unwrap_or(&Value::Null);
        let number = id.as_u64().or_else(|| id.as_str()?.trim().parse().ok());
        let number = number
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| *number < known);
        let range = if known == 0 {
            "there are none".to_owned()
        } else {
            format!("they go from 0 to {}", known - 1)
        };
        number.ok_or_else(|| format!("{event} names the id {id}, which is none of those given; {range}; what is new is an ADD"))
    };
    Ok(match event.as_str() {
        "ADD" => text.map(|text| FactDecision::Add { text }),
        "UPDATE" => {
            let number = number()?;
            text.map(|text| FactDecision::Update { number, text })
        }
        "DELETE" => Some(FactDecision::Delete { number: number()? }),
        "NONE" => Some(FactDecision::Keep { number: number()? }),
        _ => {
            return Err(format!(
                "the event \"{}\" is none of ADD, UPDATE, DELETE and NONE",
                to_one_line(&event, 40)
            ));
        }
    })
}

/// Returns the changes that reconcile the new `facts` with the `known` ones, following `decisions`.
///
/// No fact is lost: if the decisions only delete facts, or do not mention the new facts, these are added anyway. An update is a deletion
/// and an addition, and the tombstone names the replacement. A fact that equals an existing one word for word is not added again. Each turn
/// adds at most [`MAX_FACTS`] facts; decisions beyond this limit have no effect. `next_id` returns unused ids.
pub fn plan_facts(
    conversation: &ConversationId,
    known: &[Arc<ConversationEntry>],
    facts: &[ExtractedFact],
    decisions: &[FactDecision],
    now: DateTime<Utc>,
    next_id: &mut dyn FnMut() -> EntryId,
) -> Vec<EntryChange> {
    let mut goes: Vec<Option<Option<EntryId>>> = vec![None; known.len()];
    let mut added: Vec<ConversationEntry> = Vec::new();
    let mut new = |text: &str, added: &mut Vec<ConversationEntry>| {
        let source_id = find_source_turn(text, facts);
        let is_full = MAX_FACTS
            <= added
                .iter()
                .filter(|entry| entry.source_id == source_id)
                .count();
        (!is_full).then(|| {
            let entry =
                ConversationEntry::new(next_id(), conversation, EntryRole::Memory, text, now);
            added.push(ConversationEntry {
                source_id,
                ..entry.clone()
            });
            entry.id
        })
    };
    let is_known = |text: &str, number: usize| {
        known
            .get(number)
            .is_some_and(|entry| is_same_text(&entry.content, text))
    };
    let (mut tells, mut keeps, mut deletes) = (false, false, false);
    for decision in decisions {
        match decision {
            FactDecision::Update { number, text } if is_known(text, *number) => keeps = true,
            FactDecision::Update { number, text } => {
                tells = true;
                let place = goes
                    .get_mut(*number)
                    .filter(|place| !matches!(place, Some(Some(_))));
                if let Some(id) = new(text, &mut added)
                    && let Some(place) = place
                {
                    *place = Some(Some(id));
                }
            }
            FactDecision::Add { text } => {
                tells = true;
                if !added.iter().any(|entry| is_same_text(&entry.content, text)) {
                    new(text, &mut added);
                }
            }
            FactDecision::Delete { number } => {
                deletes = true;
                if let Some(place) = goes.get_mut(*number) {
                    place.get_or_insert(None);
                }
            }
            FactDecision::Keep { .. } => keeps = true,
        }
    }
    if !tells && (deletes || !keeps) {
        for fact in facts.iter().filter(|fact| !fact.text.trim().is_empty()) {
            if !added
                .iter()
                .any(|entry| is_same_text(&entry.content, &fact.text))
            {
                new(&fact.text, &mut added);
            }
        }
    }
    let stays = |text: &str| {
        known
            .iter()
            .zip(&goes)
            .any(|(entry, goes)| goes.is_none() && is_same_text(&entry.content, text))
    };
    let replacing = |id: &EntryId| goes.iter().flatten().flatten().any(|by| by == id);
    added.retain(|entry| replacing(&entry.id) || !stays(&entry.content));
    let deletions = known.iter().zip(goes.iter().cloned());
    let deletions = deletions.filter_map(|(entry, goes)| {
        Some(EntryChange::Delete {
            id: entry.id.clone(),
            replaced_by: goes?,
        })
    });
    let deletions: Vec<EntryChange> = deletions.collect();
    added
        .into_iter()
        .map(EntryChange::Add)
        .chain(deletions)
        .collect()
}

/// Returns the most likely source turn of a text.
///
/// It is the turn of the same fact, otherwise of the fact with the most common words.
fn find_source_turn(text: &str, facts: &[ExtractedFact]) -> Option<EntryId> {
    let words = |text: &str| {
        let mut words = HashSet::new();
        tokenize(text, &mut |token| {
            words.insert(token.text.to_string());
        });
        words
    };
    let own = words(text);
    let likeness = |fact: &ExtractedFact| {
        (
            is_same_text(&fact.text, text),
            words(&fact.text).intersection(&own).count(),
        )
    };
    facts
        .iter()
        .max_by_key(|fact| likeness(fact))?
        .source
        .clone()
}

/// Returns whether two texts are equal up to case, whitespace and final punctuation.
fn is_same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let trimmed = |text: String| text.trim_end_matches(['.', '。', '!', '！']).to_owned();
    trimmed(plain(one)) == trimmed(plain(other))
}

#[cfg(test)]
mod tests;
