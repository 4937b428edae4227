//! The `memory topic list` command.

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::text::to_one_line;
use memory_core::topic::Topics;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// List the topics with their metadata
///
/// JSON: {files: [{file, name, description, type, updated?, size, problem?}], misnamed?: [{file, problem}]}
#[derive(Debug, Args)]
pub(super) struct TopicListArgs {}

impl TopicListArgs {
    #[expect(clippy::unused_self, reason = "it has no flags yet")]
    pub(super) fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let listing = memory_core::topic::list(topics)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::listing(&listing))?);
        }
        let columns = [
            TableColumn::Whole("file"),
            TableColumn::Text("type"),
            TableColumn::Text("updated"),
            TableColumn::Number("bytes"),
            TableColumn::Text("name"),
            TableColumn::Text("description"),
        ];
        let mut table = Table::new(columns);
        for topic in &listing.topics {
            let kind = topic.said_kind.as_deref().unwrap_or(topic.kind.as_str());
            let updated = topic.updated.map_or_else(|| "-".to_owned(), |day| day.to_string());
            table.push([topic.name.as_str(), kind, &updated, &topic.size.to_string(), &topic.title, &topic.description]);
        }
        app.output.table(&table)?;
        if listing.topics.is_empty() {
            app.output.note(&format!("no topics in {}", topics.store.location()))?;
        }
        let problems = listing.topics.iter().filter_map(|topic| Some((topic.name.as_str(), topic.problem.as_deref()?)));
        let misnamed = listing.misnamed.iter().map(|(file, why)| (file.as_str(), why.as_str()));
        problems
            .chain(misnamed)
            .try_for_each(|(file, why)| Ok(app.output.warn_incomplete(&format!("{}: {why}", to_one_line(file, usize::MAX)))?))
    }
}
