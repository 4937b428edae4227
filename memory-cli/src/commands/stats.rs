//! The `memory stats` command.

use clap::Args;
use memory_agent::json as shapes;
use memory_core::{StoredMemory, UNUSED_AFTER, UnusedMemories, unused_memories};
use memory_store::HomeStatistics;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::datetime;
use crate::failure::Failure;
use crate::print::{OutputForm, Table, TableColumn};

/// Show statistics of the home
///
/// Facts and turns of conversations are counted only as `entries`. `unused` is the number of memories that no agent received
/// and nobody read in the last 90 days; it is counted once recalls are recorded for 90 days. A terminal lists the oldest of
/// them.
///
/// JSON: {memories, inbox, organized, entries, categories: {NAME: N…}, scopes, sources, tags, links, pending, problems, file_bytes,
/// index_bytes, trash_files, trash_bytes, unused: {count, oldest: [{id, title, created_at}]}}; `unused` is {since?} until it is
/// counted, where `since` is the start of the record of recalls, and null if recalls are not recorded
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {}

impl StatsArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let statistics = home.store.statistics()?;
        let is_enabled = home.settings.recalls.enabled.value;
        let unused = is_enabled
            .then(|| unused_memories(&home.services, &home.recalls(), MAX_UNUSED))
            .transpose()?;
        if app.output.is_json() {
            let mut shape = statistics_json(&statistics);
            shape["unused"] = unused.as_ref().map_or(Value::Null, shapes::unused);
            return app.output.json(&shape);
        }
        let mut table = Table::from_counts(single_counts(&statistics));
        for (kind, counts) in grouped_counts(&statistics) {
            for (name, count) in counts {
                let name = if name.is_empty() { "(none)" } else { name };
                table.push([format!("{kind} {name}").as_str(), &count.to_string()]);
            }
        }
        if let Some(UnusedMemories::Known { count, .. }) = &unused {
            table.push(["unused", &count.to_string()]);
        }
        app.output.table(&table)?;
        print_unused(unused.as_ref(), app)
    }
}

/// Number of unused memories that a terminal lists.
const MAX_UNUSED: usize = 5;

/// Lists the oldest unused memories in a terminal, or prints why they are not counted.
fn print_unused(unused: Option<&UnusedMemories>, app: &mut App) -> Result<(), Failure> {
    let note = match unused {
        None => "unused memories are not counted: recalls.enabled is false".to_owned(),
        Some(UnusedMemories::Unknown(None)) => {
            "unused memories are not counted: no recalls are recorded yet".to_owned()
        }
        Some(UnusedMemories::Unknown(Some(since))) => {
            let from = since.checked_add_signed(UNUSED_AFTER).unwrap_or(*since);
            let days = [*since, from].map(|time| datetime::format_day(time, app.output.zone()));
            format!(
                "unused memories are counted from {} on, 90 days after the first record of a recall on {}",
                days[1], days[0]
            )
        }
        Some(UnusedMemories::Known { oldest, .. }) => {
            if matches!(app.output.form(), OutputForm::Drawn(_)) && !oldest.is_empty() {
                let mut table = Table::truncated(
                    ["id", "created"]
                        .map(TableColumn::Whole)
                        .into_iter()
                        .chain([TableColumn::Text("unused for 90 days")])
                        .collect::<Vec<_>>(),
                );
                for StoredMemory { memory, .. } in oldest {
                    let (id, day) = (
                        memory.id.short(),
                        datetime::format_day(memory.created_at, app.output.zone()),
                    );
                    table.push([id.as_str(), &day, memory.headline()]);
                }
                app.output.table(&table)?;
            }
            return Ok(());
        }
    };
    app.output.note(&note)
}

fn single_counts(statistics: &HomeStatistics) -> [(&'static str, u64); 11] {
    [
        ("memories", statistics.memories),
        ("inbox", statistics.inbox),
        ("organized", statistics.organized),
        ("entries", statistics.entries),
        ("links", statistics.links),
        ("pending", statistics.pending),
        ("problems", statistics.problems),
        ("file_bytes", statistics.file_bytes),
        ("index_bytes", statistics.index_bytes),
        ("trash_files", statistics.trash_files),
        ("trash_bytes", statistics.trash_bytes),
    ]
}

fn grouped_counts(statistics: &HomeStatistics) -> [(&'static str, &[(String, u64)]); 4] {
    [
        ("category", &statistics.by_category),
        ("scope", &statistics.by_scope),
        ("source", &statistics.by_source),
        ("tag", &statistics.tags),
    ]
}

fn statistics_json(statistics: &HomeStatistics) -> Value {
    let mut shape: Map<_, _> = single_counts(statistics)
        .into_iter()
        .map(|(name, count)| (name.to_owned(), json!(count)))
        .collect();
    for ((_, counts), name) in
        grouped_counts(statistics)
            .into_iter()
            .zip(["categories", "scopes", "sources", "tags"])
    {
        let counts = counts
            .iter()
            .map(|(name, count)| (name.clone(), json!(count)))
            .collect();
        shape.insert(name.to_owned(), Value::Object(counts));
    }
    Value::Object(shape)
}
