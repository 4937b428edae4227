//! The `memory resolve-links` command.

use clap::Args;
use memory_agent::json;
use memory_core::UnresolvedLink;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{OutputForm, Table, TableColumn};

/// Resolve the wikilinks of all memories, and store them as links in both directions
///
/// A wikilink is an id, a file name, a title or an alias in double square brackets.
///
/// JSON: {resolved, unresolved, updated, unresolved_links: [{id, link}]}: the number of wikilinks to a memory or to a topic
/// of the project, of wikilinks without a target, and of changed memories; and each wikilink without a target, with its
/// memory
#[derive(Debug, Args)]
pub(crate) struct ResolveLinksArgs {}

impl ResolveLinksArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(None)?;
        let report = memory_core::resolve_links(&home.services)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::link_report(&report))?);
        }
        let counts = [("resolved", report.resolved), ("unresolved", report.unresolved), ("updated", report.updated)];
        app.output.table(&Table::from_counts(counts))?;
        if report.unresolved_links.is_empty() {
            return Ok(());
        }
        let mut table = Table::new([TableColumn::Whole("id"), TableColumn::Text("unresolved")]);
        for UnresolvedLink { from, target } in &report.unresolved_links {
            let id = if app.output.form() == OutputForm::Tabbed { from.to_string() } else { from.short() };
            table.push([id.as_str(), &format!("[[{target}]]")]);
        }
        Ok(app.output.table(&table)?)
    }
}
