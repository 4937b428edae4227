//! The text output of memories.

use memory_core::{
    InboxTtl, ListOrder, Memory, MemoryId, MergedFields, Phase, StoredMemory, WriteResult,
};

use super::{Output, OutputForm, Palette, Table, TableColumn, counted, escape_line, escape_text};
use crate::datetime;
use crate::failure::Failure;

/// Prints the id and the path of a changed memory.
pub(crate) fn print_receipt(output: &mut Output, id: MemoryId, path: &str) -> Result<(), Failure> {
    match output.form() {
        OutputForm::Drawn(_) => {
            let id = Palette::paint(output.palette().id, id.short());
            output.parts(&[&id, &escape_line(path)])
        }
        OutputForm::Json | OutputForm::Tabbed => output.fields(&[&id.to_string(), path]),
    }
}

/// Prints the id and the path of a written memory; on a terminal also its expiry.
pub(crate) fn print_written(output: &mut Output, written: &WriteResult) -> Result<(), Failure> {
    match (output.form(), written.expires_at) {
        (OutputForm::Drawn(_), Some(end)) => {
            let id = Palette::paint(output.palette().id, written.id.short());
            let clause = Palette::paint(
                output.palette().dim,
                format!("expires {}", datetime::format_day(end, output.zone())),
            );
            output.parts(&[&id, &escape_line(&written.path), &clause])
        }
        _ => print_receipt(output, written.id, &written.path),
    }
}

/// Prints memories, one per line.
///
/// Piped lines have the id, phase, category, scope, creation time, tags and headline. A terminal shows a table in which
/// the category includes the inbox phase. The expiry is shown if any memory has one, and the number of reads if the
/// order is by access.
pub(crate) fn print_list(
    output: &mut Output,
    memories: &[StoredMemory],
    order: ListOrder,
    inbox_ttl: InboxTtl,
) -> Result<(), Failure> {
    if output.form() == OutputForm::Tabbed {
        return memories
            .iter()
            .try_for_each(|stored| print_tabbed(output, &stored.memory));
    }
    let when = match order {
        ListOrder::Updated => "updated",
        ListOrder::Created
        | ListOrder::Oldest
        | ListOrder::Accessed
        | ListOrder::Title
        | ListOrder::Useful => "created",
    };
    let reads = (order == ListOrder::Accessed).then_some(TableColumn::Number("read"));
    let mut columns = vec![
        TableColumn::Whole("id"),
        TableColumn::Text("category"),
        TableColumn::Whole(when),
    ];
    let expiries: Vec<_> = memories
        .iter()
        .map(|stored| inbox_ttl.expires_at(stored))
        .collect();
    let has_expiry = expiries.iter().any(Option::is_some);
    columns.extend(has_expiry.then_some(TableColumn::Whole("expires")));
    columns.extend(reads);
    columns.extend([TableColumn::Text("tags"), TableColumn::Text("text")]);
    let zone = output.zone();
    let mut table = Table::truncated(columns);
    for (StoredMemory { memory, .. }, expiry) in memories.iter().zip(expiries) {
        let moment = if order == ListOrder::Updated {
            memory.updated_at
        } else {
            memory.created_at
        };
        let (id, place, day) = (
            memory.id.short(),
            category_text(memory),
            datetime::format_day(moment, zone),
        );
        let mut row = vec![id, place, day];
        row.extend(has_expiry.then(|| {
            expiry
                .map(|end| datetime::format_day(end, zone))
                .unwrap_or_default()
        }));
        row.extend(reads.map(|_| memory.access_count.to_string()));
        row.extend([tags_text(memory), memory.headline().to_owned()]);
        table.push(row.iter().map(String::as_str));
    }
    output.table(&table)
}

/// Prints one memory with its metadata and text; only the text if the output is not a terminal.
pub(crate) fn print_memory(
    output: &mut Output,
    stored: &StoredMemory,
    inbox_ttl: InboxTtl,
) -> Result<(), Failure> {
    let memory = &stored.memory;
    let OutputForm::Drawn(_) = output.form() else {
        return output.line(&escape_text(&memory.content));
    };
    let palette = output.palette();
    let zone = output.zone();
    let time = |moment| datetime::format_minute(moment, zone);
    let ids = |ids: &[MemoryId]| {
        ids.iter()
            .map(MemoryId::short)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let facts = [
        ("id", memory.id.to_string()),
        ("file", stored.path.clone()),
        ("title", memory.title.clone().unwrap_or_default()),
        ("aliases", memory.aliases.join(", ")),
        ("category", category_text(memory)),
        ("scope", memory.scope.to_string()),
        ("tags", tags_text(memory)),
        ("source", memory.source.clone()),
        (
            "role",
            memory.role.map(|role| role.to_string()).unwrap_or_default(),
        ),
        (
            "origin",
            memory
                .origin
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        (
            "also from",
            memory
                .other_origins
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("created", time(memory.created_at)),
        (
            "updated",
            format!("{}, version {}", time(memory.updated_at), memory.version),
        ),
        ("used", counted(memory.access_count, "time")),
        (
            "pinned",
            if memory.pinned {
                "yes".into()
            } else {
                String::new()
            },
        ),
        (
            "due",
            memory
                .reminder
                .as_ref()
                .map(|reminder| time(reminder.due))
                .unwrap_or_default(),
        ),
        (
            "repeats",
            memory
                .recurrence()
                .map(|repeats| repeats.expression.clone())
                .unwrap_or_default(),
        ),
        (
            "reminder for",
            memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.of)
                .map(|id| id.short())
                .unwrap_or_default(),
        ),
        (
            "shown",
            memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.notified_at)
                .map(time)
                .unwrap_or_default(),
        ),
        (
            "done",
            memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.done_at)
                .map(time)
                .unwrap_or_default(),
        ),
        (
            "expires",
            inbox_ttl.expires_at(stored).map(time).unwrap_or_default(),
        ),
        (
            "valid from",
            memory.valid_from.map(time).unwrap_or_default(),
        ),
        (
            "valid until",
            memory.valid_until.map(time).unwrap_or_default(),
        ),
        ("links", ids(&memory.links)),
        ("supersedes", ids(&memory.supersedes)),
        (
            "summary",
            memory
                .summarised_by
                .as_ref()
                .map(|id| format!("by operation {id}"))
                .unwrap_or_default(),
        ),
        ("proposed", proposal_text(memory)),
        (
            "superseded",
            memory
                .superseded_by
                .map(|id| format!("by {}", id.short()))
                .unwrap_or_default(),
        ),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        let name = Palette::paint(palette.dim, format!("{name:<11}"));
        output.hanging_line(&format!("{name} {}", escape_line(fact)), 12)?;
    }
    output.line("")?;
    // The terminal wraps the text, so that a copy of it has the same line breaks.
    output.raw_line(&memory.content)
}

/// Describes the proposal in a memory; empty if there is none.
fn proposal_text(memory: &Memory) -> String {
    let Some(proposal) = &memory.proposal else {
        return String::new();
    };
    let of = proposal
        .action
        .target()
        .map(|target| format!(" of {}", target.id.short()))
        .unwrap_or_default();
    format!(
        "by {}: {}{of}; it is not used until you accept it",
        proposal.by,
        proposal.action.as_str()
    )
}

/// Returns the contribution of the meaning to a score, with the cosine of the vectors.
pub(crate) fn meaning_text(score: f32, cosine: f32) -> String {
    let what = if score < 0.0 {
        "means something else"
    } else {
        "means the same"
    };
    format!("{what} {score:.2} (cosine {cosine:.2})")
}

/// Returns the tags with `#` signs.
pub(crate) fn tags_text(memory: &Memory) -> String {
    memory
        .tags
        .iter()
        .map(|tag| format!("#{tag}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the category, and `inbox` for a memory that is not filed.
pub(crate) fn category_text(memory: &Memory) -> String {
    match memory.phase {
        Phase::Inbox if memory.category == memory_core::Category::Inbox => "inbox".into(),
        Phase::Inbox => format!("inbox: {}", memory.category),
        Phase::Organized => memory.category.to_string(),
    }
}

fn print_tabbed(output: &mut Output, memory: &Memory) -> Result<(), Failure> {
    output.fields(&[
        &memory.id.to_string(),
        memory.phase.as_str(),
        memory.category.as_str(),
        &memory.scope.to_string(),
        &memory
            .created_at
            .to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        &memory.tags.as_slice().join(","),
        memory.headline(),
    ])
}

/// Warns of the given fields that differ from those of an existing memory and do not change it.
pub(crate) fn warn_of_ignored(ignored: &[&str], output: &mut Output) -> Result<(), Failure> {
    if ignored.is_empty() {
        return Ok(());
    }
    let ignored = ignored.join(", ");
    output.warning(&format!("ignored, because the existing memory has other values: {ignored}; use `memory edit` to change them"))
}

/// Describes what a repeated write adds to the existing memory.
pub(crate) fn merge_summary(merged: &MergedFields) -> String {
    let MergedFields {
        tags,
        category,
        title,
        pinned,
        role,
        stated_at,
    } = merged;
    let tags = (!tags.is_empty()).then(|| format!("tags {}", tags.join(", ")));
    let category = category.map(|category| format!("category {category}"));
    let title = title.as_ref().map(|title| format!("title {title}"));
    let pinned = pinned.then(|| "pinned".to_owned());
    let role = role.map(|role| format!("role {role}"));
    let all: Vec<String> = [tags, category, title, pinned, role]
        .into_iter()
        .flatten()
        .collect();
    let added = (!all.is_empty()).then(|| format!("added to it: {}", all.join("; ")));
    let restated = stated_at.map(|_| "it is in effect again".to_owned());
    let changes: Vec<String> = added.into_iter().chain(restated).collect();
    if changes.is_empty() {
        "nothing was written".to_owned()
    } else {
        changes.join("; ")
    }
}
