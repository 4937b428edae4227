//! The `memory remind` command.

use chrono::{DateTime, Utc};
use clap::Args;
use memory_agent::json;
use memory_core::{Draft, MemoryId, RemindReport, Scope, SecretPolicy, StoreError};

use crate::app::App;
use crate::args;
use crate::datetime;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Output, memories};
use crate::zone::UserTimeZone;

/// Create a reminder
///
/// The due time is in the text or in --at, in English or Chinese, in the configured time zone or else that of the machine:
/// tomorrow at 3pm, in two weeks, by Friday, 下周二下午三点. A day without a time means 9:00. The same text is stored once per due
/// time. `memory notify` shows due reminders; `memory when` shows how a text is parsed.
///
/// With --of, the reminder refers to a memory and is deleted with it; relative times count from the creation of that
/// memory.
///
/// JSON: {id, path, created, due, assumed?, merged?, ignored?}; `assumed` explains how an ambiguous time was resolved
#[derive(Debug, Args)]
pub(crate) struct RemindArgs {
    /// Text, one or more words; `-`, or piped input, is the standard input
    text: Vec<String>,
    /// Due time: words such as `tomorrow at 3pm`, a duration such as 30m, a day, or a time (RFC 3339)
    #[arg(long, value_name = "WHEN")]
    at: Option<String>,
    /// Create the reminder for this memory
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "tags", "scope", "source"])]
    of: Option<String>,
    /// Comma-separated tags
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// Scope that can see it: global, agent:NAME, project:NAME or conversation:ID
    #[arg(long, default_value_t = Scope::Global)]
    scope: Scope,
    /// Source program
    #[arg(long, default_value = "", hide_default_value = true)]
    source: String,
    /// Store the reminder even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl RemindArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let text = if self.of.is_some() { String::new() } else { self.read_text(app)? };
        let home = app.open()?;
        let now = home.services.clock.now().with_timezone(&home.zone);
        let at = self.at.as_deref().map(|at| datetime::parse_due_time(at, &now)).transpose()?;
        let (at, assumed) = at.map_or((None, None), |(at, assumed)| (Some(at), assumed));
        let mut reminded = self.create_reminder(&text, at, &home)?;
        reminded.assumed = reminded.assumed.or(assumed);
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::reminder(&reminded))?);
        }
        print_reminder(&reminded, home.zone, &mut app.output)
    }

    fn read_text(&self, app: &mut App) -> Result<String, Failure> {
        let text = args::join_words(&self.text);
        let given = args::or_stdin(text.as_deref(), &app.output).ok_or_else(|| {
            Failure::usage("no reminder text specified", "pass it as an argument: `memory remind \"call Anna tomorrow at 3pm\"`")
        })?;
        args::read_content(given, &mut app.output)
    }

    fn create_reminder(&self, text: &str, at: Option<DateTime<Utc>>, home: &Home) -> Result<RemindReport, StoreError> {
        if let Some(reference) = &self.of {
            return memory_core::remind_of_memory(&home.services, reference, at, &home.zone);
        }
        let (tags, source) = (self.tags.iter().collect(), self.source.clone());
        let draft = Draft { tags, source, scope: self.scope.clone(), ..Draft::new(text) };
        let secrets = if self.allow_secret { SecretPolicy::Keep } else { SecretPolicy::Refuse };
        memory_core::remind(&home.services, draft, at, &home.zone, secrets)
    }
}

/// Prints the reminder that was created, and its due time.
pub(super) fn print_reminder(reminded: &RemindReport, zone: UserTimeZone, output: &mut Output) -> Result<(), Failure> {
    let memory = &reminded.stored.memory;
    memories::print_receipt(output, memory.id, &reminded.stored.path)?;
    let due = memory.reminder.map(|reminder| datetime::format_minute_in(reminder.due, zone)).unwrap_or_default();
    let known = match (reminded.created, reminded.merged.is_empty()) {
        (true, _) => String::new(),
        (false, true) => "; the reminder already existed".to_owned(),
        (false, false) => format!("; the reminder already existed; {}", memories::merge_summary(&reminded.merged)),
    };
    let assumed = reminded.assumed.as_ref().map(|assumed| format!(" ({assumed})")).unwrap_or_default();
    output.note(&format!("due {due}{known}{assumed}"))?;
    Ok(memories::warn_of_ignored(&reminded.ignored, output)?)
}

/// Returns the command that turns a memory into a reminder.
pub(super) fn remind_hint(id: MemoryId) -> String {
    format!("create one with `memory remind --of {} --at WHEN`", id.short())
}

/// Returns a warning that a memory is not a reminder, with the command that makes it one.
pub(super) fn add_remind_hint(warning: &str, id: MemoryId) -> String {
    format!("{warning}; {}", remind_hint(id))
}
