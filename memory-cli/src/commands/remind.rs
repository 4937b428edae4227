//! The `memory remind` command, which creates, lists, finishes and snoozes reminders.

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::{
    Category, Draft, DueTime, Filter, MemoryId, RemindReport, Reminder, ReminderFilter, Scope,
    SecretPolicy, StoreError, StoredMemory,
};

use crate::app::App;
use crate::args;
use crate::datetime;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Output, Table, TableColumn, memories};
use crate::zone::UserTimeZone;

/// Create a reminder; list, finish or snooze reminders
///
/// The due time is in the text or in --at, in English or Chinese, in the configured time zone or else that of the machine:
/// tomorrow at 3pm, in two weeks, by Friday, every weekday at 9, 下周二下午三点. A day without a time means 9:00. The same text is
/// stored once per due time. `memory notify` shows due reminders; `memory when` shows how a text is parsed.
///
/// A recurring reminder is due again after `memory remind done`. A text whose first word is that of a command below follows `--`.
///
/// With --of, the reminder refers to a memory and is deleted with it; relative times count from the creation of that
/// memory.
///
/// JSON: {id, path, created, due, repeats?, assumed?, merged?, ignored?}; `repeats` has the words of a recurring time, and
/// `assumed` explains how an ambiguous time was resolved
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RemindArgs {
    #[command(subcommand)]
    command: Option<RemindCommand>,
    /// Text, one or more words; `-`, or piped input, is the standard input
    text: Vec<String>,
    /// Due time: words such as `tomorrow at 3pm`, a duration such as 30m, a day, or a time (RFC 3339)
    #[arg(long, value_name = "WHEN")]
    at: Option<String>,
    /// Create the reminder for this memory
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "tags", "scope", "source"])]
    of: Option<String>,
    /// Comma-separated tags
    #[arg(long, value_delimiter = ',', value_parser = args::list_item)]
    tags: Vec<String>,
    /// Scope that can see it: global, agent:NAME, project:NAME, private:NAME, team:NAME or conversation:ID [default: as
    /// for `memory write`]
    #[arg(long)]
    scope: Option<Scope>,
    /// Source program
    #[arg(long, default_value = "", hide_default_value = true)]
    source: String,
    /// Store the reminder even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

#[derive(Debug, Subcommand)]
enum RemindCommand {
    List(RemindersArgs),
    Done(DoneArgs),
    Snooze(SnoozeArgs),
}

impl RemindArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            Some(RemindCommand::List(command)) => return command.run(app),
            Some(RemindCommand::Done(command)) => return command.run(app),
            Some(RemindCommand::Snooze(command)) => return command.run(app),
            None => {}
        }
        let text = if self.of.is_some() {
            String::new()
        } else {
            self.read_text(app)?
        };
        let home = app.open()?;
        let now = home.services.clock.now().with_timezone(&home.zone);
        let at = self
            .at
            .as_deref()
            .map(|at| datetime::parse_due_time(at, &now))
            .transpose()?;
        let reminded = self.create_reminder(&text, at, &home)?;
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return app.output.json(&json::reminder(&reminded));
        }
        print_reminder(&reminded, home.zone, &mut app.output)
    }

    fn read_text(&self, app: &mut App) -> Result<String, Failure> {
        let text = args::join_words(&self.text);
        let given = args::or_stdin(text.as_deref(), &app.output).ok_or_else(|| {
            Failure::usage(
                "no reminder text specified",
                "pass it as an argument: `memory remind \"call Anna tomorrow at 3pm\"`",
            )
        })?;
        args::read_content(given, &mut app.output)
    }

    fn create_reminder(
        &self,
        text: &str,
        at: Option<DueTime>,
        home: &Home,
    ) -> Result<RemindReport, StoreError> {
        if let Some(reference) = &self.of {
            return memory_core::remind_of_memory(&home.services, reference, at, &home.zone);
        }
        let (tags, source) = (self.tags.iter().collect(), self.source.clone());
        let scope = self
            .scope
            .clone()
            .unwrap_or_else(|| home.services.default_scope());
        let draft = Draft {
            tags,
            source,
            scope,
            ..Draft::new(text)
        };
        let secrets = SecretPolicy::allowing(self.allow_secret);
        memory_core::remind(&home.services, draft, at, &home.zone, secrets)
    }
}

/// Prints the reminder that was created, and its due time.
pub(super) fn print_reminder(
    reminded: &RemindReport,
    zone: UserTimeZone,
    output: &mut Output,
) -> Result<(), Failure> {
    let memory = &reminded.stored.memory;
    memories::print_receipt(output, memory.id, &reminded.stored.path)?;
    let due = memory
        .reminder
        .as_ref()
        .as_ref()
        .map(|reminder| due_text(reminder, zone))
        .unwrap_or_default();
    let known = match (reminded.created, reminded.merged.is_empty()) {
        (true, _) => String::new(),
        (false, true) => "; the reminder already existed".to_owned(),
        (false, false) => format!(
            "; the reminder already existed; {}",
            memories::merge_summary(&reminded.merged)
        ),
    };
    let assumed = reminded
        .assumed
        .as_ref()
        .map(|assumed| format!(" ({assumed})"))
        .unwrap_or_default();
    output.note(&format!("due {due}{known}{assumed}"))?;
    memories::warn_of_ignored(&reminded.ignored, output)
}

/// Returns the due time of a reminder and the words of its recurrence.
fn due_text(reminder: &Reminder, zone: UserTimeZone) -> String {
    let due = datetime::format_minute(reminder.due, zone);
    match &reminder.repeats {
        Some(repeats) => format!("{due}; repeats: {}", repeats.expression),
        None => due,
    }
}

/// Returns the command that turns a memory into a reminder.
pub(super) fn remind_hint(id: MemoryId) -> String {
    format!(
        "create one with `memory remind --of {} --at WHEN`",
        id.short()
    )
}

/// Returns a warning that a memory is not a reminder, with the command that makes it one.
pub(super) fn add_remind_hint(warning: &str, id: MemoryId) -> String {
    format!("{warning}; {}", remind_hint(id))
}

/// List reminders, due ones first
///
/// JSON: {memories: [MEMORY…], total, degraded?}; each has `due`, and if set `reminds` (the id of its memory),
/// `notified_at`, `done_at`, `repeats` and `snoozed_from`; `degraded` lists reminders that are omitted because their due time is unreadable
///
/// In a pipe: id, due time, state (waiting, due or done), and title or first line.
#[derive(Debug, Args)]
struct RemindersArgs {
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
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let filter = match (self.due, self.all) {
            (true, _) => ReminderFilter::Due,
            (false, true) => ReminderFilter::All,
            (false, false) => ReminderFilter::Open,
        };
        let limit = Some(self.limit).filter(|limit| *limit != 0);
        let page = memory_core::reminders(&home.services, filter, limit)?;
        if app.output.is_json() {
            return app.output.json(&json::page(&page, home.services.inbox_ttl));
        }
        let now = home.services.clock.now();
        let mut table = Table::truncated([
            TableColumn::Whole("id"),
            TableColumn::Whole("due"),
            TableColumn::Text("state"),
            TableColumn::Text("text"),
        ]);
        for StoredMemory { memory, .. } in &page.memories {
            let Some(reminder) = &memory.reminder else {
                continue;
            };
            let id = app.output.id(memory.id);
            let due = if app.output.is_drawn() {
                due_text(reminder, home.zone)
            } else {
                app.output.time(reminder.due)
            };
            let state = match (reminder.is_open(), reminder.is_due(now)) {
                (false, _) => "done",
                (true, true) => "due",
                (true, false) => "waiting",
            };
            table.push([&id, &due, state, memory.headline()]);
        }
        app.output.table(&table)?;
        let without_time = count_without_time(&home);
        if 0 < without_time {
            let text = format!(
                "memories in categories/reminders/ without a time: {without_time}; `memory doctor` names them"
            );
            app.output.note(&text)?;
        }
        if let Some(why) = &page.degraded {
            app.output.warn_incomplete(why)?;
        }
        let shown = page.memories.len() as u64;
        // If some reminders could not be read, an empty list is no proof that there are no reminders.
        let is_sure = page.degraded.is_none();
        match (page.total, filter) {
            (0, _) if !is_sure => Ok(()),
            (0, ReminderFilter::Due) => app.output.note("no due reminders"),
            (0, ReminderFilter::Open | ReminderFilter::All) => app.output.note("no reminders"),
            (total, _) if total == shown => Ok(()),
            (total, _) => app
                .output
                .note(&format!("{shown} of {total} shown; use --limit 0 for all")),
        }
    }
}

/// Mark a reminder as done
///
/// `memory remind list --all` still lists it; `memory remind snooze` reopens it. A recurring reminder is due again at its next time.
///
/// JSON: the updated memory
#[derive(Debug, Args)]
struct DoneArgs {
    /// Id or file name of the reminder
    id: String,
    /// End a recurring reminder
    #[arg(long)]
    series: bool,
}

impl DoneArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = if self.series {
            memory_core::end_series(&home.services, &self.id)?
        } else {
            memory_core::done(&home.services, &self.id, &home.zone)?
        };
        app.update_pending_page(&home)?;
        let note = match stored.memory.reminder.as_ref().filter(|own| own.is_open()) {
            Some(next) => format!(
                "marked as done; next due {}; `memory remind done {} --series` ends it",
                due_text(next, home.zone),
                stored.memory.id.short()
            ),
            None => "marked as done".to_owned(),
        };
        app.print_changed(&home, &stored, &note)
    }
}

/// Returns the number of memories of the category reminders that have no time and are therefore never shown.
fn count_without_time(home: &Home) -> usize {
    let filter = Filter {
        category: Some(Category::Reminders),
        ..Filter::all()
    };
    let now = home.services.clock.now();
    let all = home.services.store.memories(&filter, now);
    all.filter_map(Result::ok)
        .filter(|stored| stored.problem.is_none() && stored.memory.reminder.is_none())
        .count()
}

/// Snooze a reminder until a later time
///
/// Of a recurring reminder, only the present occurrence moves; a recurring time replaces the recurrence.
///
/// JSON: the updated memory
#[derive(Debug, Args)]
struct SnoozeArgs {
    /// Id or file name of the reminder
    id: String,
    /// New due time: words such as `tomorrow at 3pm` or 明天, a duration such as 30m, a day, or a time (RFC 3339)
    #[arg(required = true)]
    when: Vec<String>,
}

impl SnoozeArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let until = datetime::parse_due_time(
            &self.when.join(" "),
            &home.services.clock.now().with_timezone(&home.zone),
        )?;
        let assumed = until.assumed.clone();
        let stored = memory_core::snooze(&home.services, &self.id, until)?;
        app.update_pending_page(&home)?;
        let assumed = assumed
            .map(|assumed| format!(" ({assumed})"))
            .unwrap_or_default();
        let due = stored.memory.reminder.as_ref();
        let due = due.map(|reminder| due_text(reminder, home.zone));
        let note = format!("due {}{assumed}", due.unwrap_or_default());
        app.print_changed(&home, &stored, &note)
    }
}
