//! The `memory reminders` command.

use clap::Args;
use memory_agent::json;
use memory_core::{ReminderFilter, StoredMemory};

use crate::app::App;
use crate::datetime;
use crate::failure::Failure;
use crate::print::{OutputForm, Table, TableColumn};

/// List reminders, due ones first
///
/// JSON: {memories: [MEMORY…], total, degraded?}; each has `due`, and if set `reminds` (the id of its memory),
/// `notified_at` and `done_at`; `degraded` lists reminders that are omitted because their due time is unreadable
///
/// In a pipe: id, due time, state (waiting, due or done), and title or first line.
#[derive(Debug, Args)]
pub(crate) struct RemindersArgs {
    /// List only due reminders
    #[arg(long, conflicts_with = "all")]
    due: bool,
    /// Include reminders that are done
    #[arg(long)]
    all: bool,
    /// Maximum number of reminders; 0 means no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
}

impl RemindersArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let filter = match (self.due, self.all) {
            (true, _) => ReminderFilter::Due,
            (false, true) => ReminderFilter::All,
            (false, false) => ReminderFilter::Open,
        };
        let limit = Some(self.limit).filter(|limit| *limit != 0);
        let page = memory_core::reminders(&home.services, filter, limit)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::page(&page, home.services.inbox_ttl))?);
        }
        let now = home.services.clock.now();
        let mut table = Table::truncated([
            TableColumn::Whole("id"),
            TableColumn::Whole("due"),
            TableColumn::Text("state"),
            TableColumn::Text("text"),
        ]);
        for StoredMemory { memory, .. } in &page.memories {
            let Some(reminder) = memory.reminder else { continue };
            let (id, due) = match app.output.form() {
                OutputForm::Drawn(_) => (memory.id.short(), datetime::format_minute_in(reminder.due, home.zone)),
                OutputForm::Json | OutputForm::Tabbed => {
                    (memory.id.to_string(), reminder.due.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
                }
            };
            let state = match (reminder.is_open(), reminder.is_due(now)) {
                (false, _) => "done",
                (true, true) => "due",
                (true, false) => "waiting",
            };
            table.push([&id, &due, state, memory.headline()]);
        }
        app.output.table(&table)?;
        if let Some(why) = &page.degraded {
            app.output.warn_incomplete(why)?;
        }
        let shown = page.memories.len() as u64;
        // If some reminders could not be read, an empty list is no proof that there are no reminders.
        let is_sure = page.degraded.is_none();
        Ok(match (page.total, filter) {
            (0, _) if !is_sure => Ok(()),
            (0, ReminderFilter::Due) => app.output.note("no due reminders"),
            (0, ReminderFilter::Open | ReminderFilter::All) => app.output.note("no reminders"),
            (total, _) if total == shown => Ok(()),
            (total, _) => app.output.note(&format!("{shown} of {total} shown; use --limit 0 for all")),
        }?)
    }
}
