//! The `memory list` command.

use std::time::Duration;

use chrono::{SecondsFormat, TimeDelta};
use clap::Args;
use memory_agent::json;
use memory_core::{ExpiringMemory, Lifetime, ListOrder, PageRequest};
use serde_json::json;

use crate::app::App;
use crate::args::{self, FilterArgs};
use crate::conversations;
use crate::datetime::{self, parse_duration};
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Table, TableColumn, escape_hidden, memories};

/// List memories, newest first
///
/// Facts and turns of conversations are listed only with `--scope conversation:ID`; `memory conversations` lists the
/// conversations.
///
/// JSON: {memories: [MEMORY…], total, degraded?}; with --expiring: {expiring: [{id, at, why, text}], total}
///
/// In a pipe: id, phase, category, scope, creation time, tags, and title or first line.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Include expired and superseded memories
    #[arg(long)]
    all: bool,
    /// List only what automatic work will move to the trash within this time (default: 7d), with the day and the reason
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "7d", value_parser = parse_duration,
        conflicts_with_all = ["all", "sort", "offset", "FilterArgs"])]
    expiring: Option<Duration>,
    /// Sort order: created, updated, accessed (most often read first) or title
    #[arg(long, value_parser = args::order_parser(), default_value = "created", hide_possible_values = true)]
    sort: ListOrder,
    /// Maximum number of memories; 0 means no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Number of memories to skip at the start
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: usize,
}

impl ListArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        if let Some(time) = self.expiring {
            return self.list_expiring(&home, time, app);
        }
        let settings = &home.settings;
        let lifetime = if self.all {
            Lifetime::All
        } else {
            Lifetime::Current
        };
        let slice = PageRequest {
            order: self.sort,
            offset: self.offset,
            limit: Some(self.limit).filter(|limit| *limit != 0),
        };
        let page = memory_core::list(
            &home.services,
            &self.filter.notes_filter(lifetime, &home.now())?,
            &slice,
        )?;
        if app.output.is_json() {
            return app.output.json(&json::page(&page, home.services.inbox_ttl));
        }
        memories::print_list(
            &mut app.output,
            &page.memories,
            self.sort,
            home.services.inbox_ttl,
        )?;
        if let Some(why) = &page.degraded {
            app.output.warn_incomplete(why)?;
        }
        if let Some(note) = rest_note(self.offset as u64, page.memories.len() as u64, page.total) {
            let more = if page.total == 0 && conversations::has_conversations(settings) {
                "; list conversations with `memory conversations`"
            } else {
                ""
            };
            app.output.note(&format!("{note}{more}"))?;
        }
        Ok(())
    }

    fn list_expiring(&self, home: &Home, time: Duration, app: &mut App) -> Result<(), Failure> {
        let time = TimeDelta::from_std(time).unwrap_or(TimeDelta::MAX);
        let mut found = home.expiring(time)?;
        let total = found.len();
        found.truncate(
            Some(self.limit)
                .filter(|limit| *limit != 0)
                .unwrap_or(total),
        );
        if app.output.is_json() {
            let shape = |own: &ExpiringMemory| json!({ "id": own.id.to_string(), "at": own.at.to_rfc3339_opts(SecondsFormat::AutoSi, true), "why": own.why, "text": own.headline });
            let expiring: Vec<_> = found.iter().map(shape).collect();
            return app
                .output
                .json(&json!({ "expiring": expiring, "total": total }));
        }
        let columns = [
            TableColumn::Whole("id"),
            TableColumn::Whole("goes on"),
            TableColumn::Text("because"),
            TableColumn::Text("text"),
        ];
        let mut table = Table::truncated(columns);
        for own in &found {
            let day = datetime::format_day(own.at, home.zone);
            let id = app.output.id(own.id);
            table.push([id.as_str(), &day, own.why, &escape_hidden(&own.headline)]);
        }
        app.output.table(&table)?;
        if total == 0 {
            app.output.note("no memory will be removed by then")?;
        } else if found.len() < total {
            app.output.note(&format!(
                "{} of {total} shown; --limit 0 shows all",
                found.len()
            ))?;
        }
        Ok(())
    }
}

/// Returns a note on the memories that are not shown; `None` if all are shown.
///
/// The page has `shown` of `total` memories, from `offset` on.
fn rest_note(offset: u64, shown: u64, total: u64) -> Option<String> {
    let next = offset.saturating_add(shown);
    match () {
        () if total == 0 => Some("no matching memories".into()),
        () if shown == total => None,
        () if shown == 0 => Some(format!(
            "none of {total} shown: --offset {offset} skips all"
        )),
        () if total <= next => Some(format!("the last {shown} of {total} shown")),
        () => Some(format!(
            "{shown} of {total} shown; use --offset {next} for the next page, --limit 0 for all"
        )),
    }
}
