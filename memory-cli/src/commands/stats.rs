//! The `memory stats` command.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::failure::Failure;
use crate::print::Table;
use memory_store::HomeStatistics;

/// Show statistics of the home
///
/// Facts and turns of conversations are counted only as `entries`.
///
/// JSON: {memories, inbox, organized, entries, categories: {NAME: N…}, scopes, sources, tags, links, pending, problems, file_bytes,
/// index_bytes, trash_files, trash_bytes}
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {}

impl StatsArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let statistics = home.store.statistics()?;
        if app.output.is_json() {
            return Ok(app.output.json(&statistics_json(&statistics))?);
        }
        let mut table = Table::from_counts(single_counts(&statistics));
        for (kind, counts) in grouped_counts(&statistics) {
            for (name, count) in counts {
                let name = if name.is_empty() { "(none)" } else { name };
                table.push([format!("{kind} {name}").as_str(), &count.to_string()]);
            }
        }
        Ok(app.output.table(&table)?)
    }
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
    let mut shape: Map<_, _> =
        single_counts(statistics).into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    for ((_, counts), name) in grouped_counts(statistics).into_iter().zip(["categories", "scopes", "sources", "tags"]) {
        let counts = counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
        shape.insert(name.to_owned(), Value::Object(counts));
    }
    Value::Object(shape)
}
