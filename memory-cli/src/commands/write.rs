//! The `memory write` command.

use clap::Args;
use memory_agent::json;
use memory_core::text::to_one_line;
use memory_core::{
    Category, Draft, Filter, ListOrder, MemoryId, Neighbour, NeighbourRelation, PageRequest, Phase,
    Scope, SecretPolicy, SpeakerRole, WriteResult, WrittenReminder,
};

use super::remind;
use crate::app::App;
use crate::args;
use crate::datetime::Deadline;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Output, memories};

/// Write a memory
///
/// Without --category it is in the inbox until it is filed, and expires there after 7 days; --pinned keeps it for ever.
///
/// A text that already exists in the same scope is not stored twice: the existing memory gets the new tags, the
/// category, title and pin if it has none, and the role person. A text with a credential, such as a private key or a token, is refused.
///
/// With --category reminders, the text becomes a reminder for the time in it (see `memory remind`); if it has no time, a
/// warning is printed.
///
/// JSON: {id, path, created, expires_at?, merged?: {tags?, category?, title?, pinned?, role?, stated_at?}, ignored?,
/// superseded?: [id], similar?: [{relation, id, text}]}; with --category reminders also due and assumed?, or warning
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// Text, one or more words; `-`, or piped input, is the standard input
    content: Vec<String>,
    /// File the memory under this category instead of the inbox
    #[arg(long, value_parser = args::category_parser(), ignore_case = true)]
    category: Option<Category>,
    /// Comma-separated tags
    #[arg(long, value_delimiter = ',', value_parser = args::list_item)]
    tags: Vec<String>,
    /// Scope that can see it: global, agent:NAME, project:NAME, private:NAME, team:NAME or conversation:ID [default: the setting
    /// storage.default_scope; without it global, or with the token of a shared database, private:NAME, so only you]
    #[arg(long)]
    scope: Option<Scope>,
    /// Source program
    #[arg(long, default_value = "", hide_default_value = true)]
    source: String,
    /// Role of the author: person, assistant, tool or author
    #[arg(long)]
    role: Option<SpeakerRole>,
    /// Title of the memory
    #[arg(long)]
    title: Option<String>,
    /// Expiry: a duration such as 30d, a day, a time (RFC 3339), or words such as "next friday"
    #[arg(long, value_name = "WHEN")]
    expires: Option<Deadline>,
    /// Pin the memory, so that it is never removed because of its age
    #[arg(long)]
    pinned: bool,
    /// Memories that are no longer true, by id or file name; no search returns them
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = args::list_item)]
    supersedes: Vec<String>,
    /// Store the memory even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl WriteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let words = args::join_words(&self.content);
        let given = args::or_stdin(words.as_deref(), &app.output).ok_or_else(|| {
            Failure::usage(
                "no text specified",
                "pass it as an argument: `memory write \"…\"`; or pipe it: `… | memory write`",
            )
        })?;
        let content = args::read_content(given, &mut app.output)?;
        let home = app.open()?;
        let now = home.services.clock.now();
        let expires_at = self
            .expires
            .as_ref()
            .map(|deadline| deadline.resolve(&home.now()))
            .transpose()
            .map_err(|error| args::wrong_value("--expires", &error))?;
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Failure::usage(
                "--expires is in the past",
                "specify a future time, such as 30d",
            ));
        }
        let draft = Draft {
            title: self.title.clone(),
            category: self.category,
            scope: self
                .scope
                .clone()
                .unwrap_or_else(|| home.services.default_scope()),
            tags: self.tags.iter().collect(),
            source: self.source.clone(),
            role: self.role,
            expires_at,
            pinned: self.pinned,
            supersedes: args::find_all(&self.supersedes, &home.services)?,
            ..Draft::new(&content)
        };
        let secrets = SecretPolicy::allowing(self.allow_secret);
        if draft.category == Some(Category::Reminders) {
            return write_reminder(draft, secrets, &home, app);
        }
        let written = memory_core::write(&home.services, draft, secrets)?;
        let similar = home.services.neighbours_of_written(&written);
        if app.output.is_json() {
            return app.output.json(&json::write_result(&written, &similar));
        }
        memories::print_written(&mut app.output, &written)?;
        if app.output.is_drawn() && self.expires.is_none() && is_first_of_inbox(&written, &home)? {
            app.output.note(&format!(
                "it is in the inbox until then; `memory edit {} --category NAME` files it, and `memory pin {0}` keeps it",
                written.id.short()
            ))?;
        }
        print_similar(written.id, &similar, &mut app.output)?;
        if !written.created {
            app.output.note(&format!(
                "the same text already exists in this scope; {}",
                memories::merge_summary(&written.merged)
            ))?;
        }
        memories::warn_of_ignored(&written.ignored, &mut app.output)
    }
}

/// Returns whether the memory is new, and the only one in the inbox that will expire.
fn is_first_of_inbox(written: &WriteResult, home: &Home) -> Result<bool, Failure> {
    if !written.created || written.expires_at.is_none() {
        return Ok(false);
    }
    let inbox = Filter {
        phase: Some(Phase::Inbox),
        ..Filter::all()
    };
    let page = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(0),
    };
    let now = home.services.clock.now();
    Ok(home.services.store.list(&inbox, &page, now)?.total == 1)
}

/// Names the memories that a new one may replace.
fn print_similar(new: MemoryId, similar: &[Neighbour], output: &mut Output) -> Result<(), Failure> {
    let replaceable = |own: &&Neighbour| own.relation < NeighbourRelation::Duplicate;
    for Neighbour { relation, id, text } in similar.iter().filter(replaceable) {
        let relation = relation.as_str();
        output.note(&format!(
            "it {relation} {}: {}; `memory edit {} --supersedes {}` replaces that memory",
            id.short(),
            to_one_line(text, MAX_SIMILAR),
            new.short(),
            id.short()
        ))?;
    }
    Ok(())
}

/// Maximum number of characters of a similar memory.
const MAX_SIMILAR: usize = 80;

/// Writes a text of the category of reminders as a reminder; warns if the text contains no time.
fn write_reminder(
    draft: Draft,
    secrets: SecretPolicy,
    home: &Home,
    app: &mut App,
) -> Result<(), Failure> {
    let written = memory_core::write_reminder(&home.services, draft, &home.zone, secrets)?;
    app.update_pending_page(home)?;
    let id = match &written {
        WrittenReminder::Reminder(reminded) => reminded.stored.memory.id,
        WrittenReminder::Memory { written, .. } => written.id,
    };
    let hint = remind::remind_hint(id);
    if app.output.is_json() {
        return app.output.json(&json::reminder_or_memory(&written, &hint));
    }
    match &written {
        WrittenReminder::Reminder(reminded) => {
            remind::print_reminder(reminded, home.zone, &mut app.output)
        }
        WrittenReminder::Memory { written, warning } => {
            memories::print_receipt(&mut app.output, written.id, &written.path)?;
            app.output.warning(&format!("{warning}; {hint}"))
        }
    }
}
