//! The values of the front matter keys.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::{Memory, MemoryId, Origin, Proposal, ProposalTarget, Reminder};

/// The key for the memory's version in files where `version` is the user's own, such as `1.10`.
pub(super) const VERSION_BESIDE: &str = "memory_version";

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FrontMatterValue {
    /// No value; the key is omitted.
    Absent,
    /// An explicit `null`.
    Null,
    /// A word that needs no quotes.
    Word(String),
    /// Any text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A map of texts.
    Map(Vec<(&'static str, String)>),
}

/// Returns the value of a memory's key.
pub(super) fn value(key: &str, memory: &Memory) -> FrontMatterValue {
    match key {
        "id" => FrontMatterValue::Word(memory.id.to_string()),
        "content_hash" => FrontMatterValue::Word(memory.content_hash().to_string()),
        "phase" => FrontMatterValue::Word(memory.phase.to_string()),
        "category" => FrontMatterValue::Word(memory.category.to_string()),
        "scope" => FrontMatterValue::Text(memory.scope.to_string()),
        "tags" => FrontMatterValue::List(memory.tags.as_slice().to_vec()),
        "source" => FrontMatterValue::Text(memory.source.clone()),
        "created_at" => FrontMatterValue::Word(format_time(memory.created_at)),
        "updated_at" => FrontMatterValue::Word(format_time(memory.updated_at)),
        "expires_at" => memory.expires_at.map_or(FrontMatterValue::Null, |end| {
            FrontMatterValue::Word(format_time(end))
        }),
        "access_count" => FrontMatterValue::Word(memory.access_count.to_string()),
        "links" => FrontMatterValue::List(memory.links.iter().map(MemoryId::to_string).collect()),
        "version" => FrontMatterValue::Word(memory.version.to_string()),
        "role" => memory.role.map_or(FrontMatterValue::Absent, |role| {
            FrontMatterValue::Word(role.to_string())
        }),
        "title" => memory
            .title
            .clone()
            .map_or(FrontMatterValue::Absent, FrontMatterValue::Text),
        "aliases" => list_or_absent(memory.aliases.clone()),
        "stated_at" => memory.stated_at.map_or(FrontMatterValue::Absent, |time| {
            FrontMatterValue::Word(format_time(time))
        }),
        "valid_from" => memory.valid_from.map_or(FrontMatterValue::Absent, |start| {
            FrontMatterValue::Word(format_time(start))
        }),
        "valid_until" => memory.valid_until.map_or(FrontMatterValue::Absent, |end| {
            FrontMatterValue::Word(format_time(end))
        }),
        "supersedes" => list_or_absent(memory.supersedes.iter().map(MemoryId::to_string).collect()),
        "superseded_by" => memory.superseded_by.map_or(FrontMatterValue::Absent, |id| {
            FrontMatterValue::Word(id.to_string())
        }),
        "summarised_by" => memory
            .summarised_by
            .as_ref()
            .map_or(FrontMatterValue::Absent, |id| {
                FrontMatterValue::Text(id.to_string())
            }),
        "pinned" if memory.pinned => FrontMatterValue::Word("true".into()),
        "due" => reminder_value(memory, |reminder| Some(format_time(reminder.due))),
        "reminds" => reminder_value(memory, |reminder| reminder.of.map(|id| id.to_string())),
        "notified_at" => reminder_value(memory, |reminder| reminder.notified_at.map(format_time)),
        "done_at" => reminder_value(memory, |reminder| reminder.done_at.map(format_time)),
        "repeats" => memory
            .recurrence()
            .map_or(FrontMatterValue::Absent, |repeats| {
                FrontMatterValue::Text(repeats.expression.clone())
            }),
        "snoozed_from" => reminder_value(memory, |reminder| {
            reminder.repeats.as_ref()?.snoozed_from.map(format_time)
        }),
        "origin" => memory
            .origin
            .as_ref()
            .map_or(FrontMatterValue::Absent, |origin| {
                FrontMatterValue::Map(origin_map(origin))
            }),
        "other_origins" => {
            list_or_absent(memory.other_origins.iter().map(Origin::to_text).collect())
        }
        "proposed_by" => {
            let by = |proposal: &Proposal| FrontMatterValue::Text(proposal.by.clone());
            memory
                .proposal
                .as_ref()
                .map_or(FrontMatterValue::Absent, by)
        }
        "proposed_action" => {
            let action =
                |proposal: &Proposal| FrontMatterValue::Word(proposal.action.as_str().to_owned());
            memory
                .proposal
                .as_ref()
                .map_or(FrontMatterValue::Absent, action)
        }
        "proposed_for" => proposal_value(memory, |target| target.id.to_string()),
        "proposed_base" => proposal_value(memory, |target| target.base.0.to_string()),
        _ => FrontMatterValue::Absent,
    }
}

fn reminder_value(
    memory: &Memory,
    word: impl FnOnce(&Reminder) -> Option<String>,
) -> FrontMatterValue {
    memory
        .reminder
        .as_ref()
        .and_then(word)
        .map_or(FrontMatterValue::Absent, FrontMatterValue::Word)
}

/// Returns a value of a proposal that changes another memory.
fn proposal_value(
    memory: &Memory,
    word: impl FnOnce(ProposalTarget) -> String,
) -> FrontMatterValue {
    let target = memory
        .proposal
        .as_ref()
        .and_then(|proposal| proposal.action.target());
    target.map_or(FrontMatterValue::Absent, |target| {
        FrontMatterValue::Word(word(target))
    })
}

fn list_or_absent(items: Vec<String>) -> FrontMatterValue {
    if items.is_empty() {
        FrontMatterValue::Absent
    } else {
        FrontMatterValue::List(items)
    }
}

fn origin_map(origin: &Origin) -> Vec<(&'static str, String)> {
    let place = [
        ("source", &origin.source),
        ("root", &origin.root),
        ("path", &origin.path),
    ];
    let hash = origin.hash.map(|hash| ("hash", hash.to_string()));
    place
        .into_iter()
        .map(|(key, text)| (key, text.clone()))
        .chain(hash)
        .collect()
}

fn format_time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
