//! The `memory link` command, which adds, removes, lists and resolves links.

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::{ListOrder, UnresolvedLink};

use crate::app::App;
use crate::failure::Failure;
use crate::print::{OutputForm, Table, TableColumn, memories};

/// Link two memories in both directions; remove, list or resolve links
///
/// A memory with the title of a command below follows `--`.
///
/// JSON: {memories: [MEMORY, MEMORY]}, the updated memories
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct LinkArgs {
    #[command(subcommand)]
    command: Option<LinkCommand>,
    /// Id or file name of the first memory
    #[arg(value_name = "ID", required = true)]
    first: Option<String>,
    /// Id or file name of the second memory
    #[arg(value_name = "ID", required = true)]
    second: Option<String>,
}

#[derive(Debug, Subcommand)]
enum LinkCommand {
    Remove(UnlinkArgs),
    List(BacklinksArgs),
    Resolve(ResolveLinksArgs),
}

impl LinkArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            Some(LinkCommand::Remove(command)) => return command.run(app),
            Some(LinkCommand::List(command)) => return command.run(app),
            Some(LinkCommand::Resolve(command)) => return command.run(app),
            None => {}
        }
        let (Some(first), Some(second)) = (&self.first, &self.second) else {
            unreachable!("both arguments are required");
        };
        let home = app.open()?;
        let (first, second) = memory_core::link(&home.services, first, second)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json::memories([&first, &second], home.services.inbox_ttl));
        }
        memories::print_list(
            &mut app.output,
            &[first, second],
            ListOrder::Created,
            home.services.inbox_ttl,
        )?;
        app.output.note("linked in both directions")
    }
}

/// Remove the link between two memories, in both directions
///
/// A wikilink in the text of either memory stays and is reported; as long as it exists, `memory link resolve` and `memory tidy`
/// link the memories again.
///
/// JSON: {memories: [MEMORY, MEMORY], changed, wikilinks?: [{id, link}]}, the memories, whether they were linked, and the
/// remaining wikilinks between them
#[derive(Debug, Args)]
struct UnlinkArgs {
    /// Id or file name of the first memory
    #[arg(value_name = "ID")]
    first: String,
    /// Id or file name of the second memory
    #[arg(value_name = "ID")]
    second: String,
}

impl UnlinkArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let unlinked = memory_core::unlink(&home.services, &self.first, &self.second)?;
        let [first, second] = &unlinked.memories;
        let wikilinks = memory_core::wikilinks_between(&home.services, first, second)?;
        if app.output.is_json() {
            return app.output.json(&json::unlink_result(
                &unlinked,
                &wikilinks,
                home.services.inbox_ttl,
            ));
        }
        memories::print_list(
            &mut app.output,
            &unlinked.memories,
            ListOrder::Created,
            home.services.inbox_ttl,
        )?;
        app.output.note(if unlinked.changed {
            "link removed"
        } else {
            "they were not linked; nothing changed"
        })?;
        wikilinks.iter().try_for_each(|(id, link)| {
            let id = id.short();
            app.output.warning(&format!(
                "the text of {id} still contains [[{link}]], which will link them again; remove it with `memory edit {id}`"
            ))
        })
    }
}

/// List the memories that link to a memory, directly or by wikilink
///
/// JSON: {memories: [MEMORY…]}
#[derive(Debug, Args)]
struct BacklinksArgs {
    /// The memory: its id, file, title or an alias
    id: String,
}

impl BacklinksArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let referring = memory_core::backlinks(&home.services, &self.id)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json::memories(&referring, home.services.inbox_ttl));
        }
        memories::print_list(
            &mut app.output,
            &referring,
            ListOrder::Created,
            home.services.inbox_ttl,
        )?;
        if referring.is_empty() {
            app.output.note("no memory links to it")?;
        }
        Ok(())
    }
}

/// Resolve the wikilinks of all memories, and store them as links in both directions
///
/// A wikilink is an id, a file name, a title or an alias in double square brackets.
///
/// JSON: {resolved, unresolved, updated, unresolved_links: [{id, link}]}: the number of wikilinks to a memory or to a topic
/// of the project, of wikilinks without a target, and of changed memories; and each wikilink without a target, with its
/// memory
#[derive(Debug, Args)]
struct ResolveLinksArgs {}

impl ResolveLinksArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(None)?;
        let report = memory_core::resolve_links(&home.services)?;
        if app.output.is_json() {
            return app.output.json(&json::link_report(&report));
        }
        let counts = [
            ("resolved", report.resolved),
            ("unresolved", report.unresolved),
            ("updated", report.updated),
        ];
        app.output.table(&Table::from_counts(counts))?;
        if report.unresolved_links.is_empty() {
            return Ok(());
        }
        let mut table = Table::new([TableColumn::Whole("id"), TableColumn::Text("unresolved")]);
        for UnresolvedLink { from, target } in &report.unresolved_links {
            let id = if app.output.form() == OutputForm::Tabbed {
                from.to_string()
            } else {
                from.short()
            };
            table.push([id.as_str(), &format!("[[{target}]]")]);
        }
        app.output.table(&table)
    }
}
