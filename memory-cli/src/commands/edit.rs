//! The `memory edit` command.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use clap::Args;
use memory_agent::json::{self, add_field};
use memory_core::{
    Category, Memory, MemoryId, MemoryStoreExt, ParseError, Patch, Reminder, Scope, SecretPolicy,
    Services, SpeakerRole, StoreError, StoredMemory,
};
use tempfile::NamedTempFile;

use super::remind;
use crate::app::App;
use crate::args;
use crate::datetime::{self, Deadline};
use crate::failure::Failure;
use crate::home::Home;
use crate::print::memories;

/// Edit a memory in an editor or by fields
///
/// Without flags, the text opens in $VISUAL or $EDITOR. If another process changed the memory meanwhile, nothing is
/// overwritten: the edited text stays in a temporary file, and the exit code is 4.
///
/// With --category reminders the memory becomes a reminder for the time in its text; a warning is printed if the text has
/// no future time.
///
/// JSON: the updated memory, with a `warning` if it could not become a reminder
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Id or file name of the memory
    id: String,
    #[command(flatten)]
    fields: EditFieldsArgs,
    /// Fail unless the memory has this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
    /// Store the memory even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

/// The fields to change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Args)]
#[command(next_help_heading = "Fields")]
struct EditFieldsArgs {
    /// New text; `-` reads the standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// New title; an empty value removes it
    #[arg(long)]
    title: Option<String>,
    /// New aliases for wikilinks, comma-separated; they replace the present ones
    #[arg(long, value_delimiter = ',')]
    aliases: Option<Vec<String>>,
    /// File the memory under this category; inbox moves it back to the inbox
    #[arg(long, value_parser = args::category_parser(), ignore_case = true)]
    category: Option<Category>,
    /// Scope that can see it: global, agent:NAME, project:NAME, private:NAME, team:NAME or conversation:ID
    #[arg(long)]
    scope: Option<Scope>,
    /// Source program
    #[arg(long)]
    source: Option<String>,
    /// Role of the author: person, assistant, tool, author, or none
    #[arg(long, value_parser = author_role)]
    role: Option<AuthorRole>,
    /// Expiry: a duration such as 30d, a day, a time (RFC 3339), words such as "next friday", or never
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,
    /// Memories that it supersedes, which are no longer true
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = args::list_item)]
    supersedes: Vec<String>,
    /// Memory that supersedes it, or none
    #[arg(long, value_name = "ID")]
    superseded_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expiry {
    Never,
    At(Deadline),
}

/// A role, or none to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AuthorRole(Option<SpeakerRole>);

fn author_role(text: &str) -> Result<AuthorRole, ParseError> {
    if text == "none" {
        Ok(AuthorRole(None))
    } else {
        text.parse().map(|role| AuthorRole(Some(role)))
    }
}

impl From<String> for Expiry {
    fn from(text: String) -> Self {
        if text == "never" {
            Self::Never
        } else {
            Self::At(text.into())
        }
    }
}

impl EditArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let services = home.services.clone();
        services.store.refresh()?;
        let stored = services.store.get_by(&self.id)?;
        if self
            .if_version
            .is_some_and(|version| version != stored.memory.version)
        {
            return Err(StoreError::Conflict { what: stored.path }.into());
        }
        let mut warning = None;
        let changed = if self.fields == EditFieldsArgs::default() {
            let (id, expected, secrets) = (
                stored.memory.id.to_string(),
                Some(stored.stamp),
                SecretPolicy::allowing(self.allow_secret),
            );
            edit_in_editor(&editor_command(app)?, &stored, &|text| {
                let patch = Patch {
                    content: Some(text.to_owned()),
                    ..Patch::default()
                };
                memory_core::update(&services, &id, &patch, expected, secrets)
            })?
        } else {
            let mut patch = self.fields.patch(&services, app)?;
            if self.fields.category == Some(Category::Reminders) && stored.memory.reminder.is_none()
            {
                match reminder_of(&patch, &stored.memory, &home) {
                    Ok(reminder) => patch.reminder = Some(reminder),
                    Err(why) => warning = Some(remind::add_remind_hint(&why, stored.memory.id)),
                }
            }
            let expected = self.if_version.map(|_| stored.stamp);
            memory_core::update(
                &services,
                &stored.memory.id.to_string(),
                &patch,
                expected,
                SecretPolicy::allowing(self.allow_secret),
            )?
        };
        if changed.memory.reminder.is_some() {
            app.update_pending_page(&home)?;
        }
        if app.output.is_json() {
            let mut shape = json::memory(&changed, services.inbox_ttl);
            add_field(&mut shape, "warning", warning);
            return app.output.json(&shape);
        }
        memories::print_receipt(&mut app.output, changed.memory.id, &changed.path)?;
        if let Some(warning) = warning {
            app.output.warning(&warning)?;
        }
        let version = changed.memory.version;
        let what = if version == stored.memory.version {
            "unchanged;"
        } else {
            "updated to"
        };
        let due = changed
            .memory
            .reminder
            .as_ref()
            .filter(|_| stored.memory.reminder.is_none());
        let due = due
            .map(|reminder| format!(", due {}", datetime::format_minute(reminder.due, home.zone)))
            .unwrap_or_default();
        app.output.note(&format!("{what} version {version}{due}"))
    }
}

/// Returns the command of the configured editor.
///
/// # Errors
/// If no editor is configured and the standard input is not a terminal.
pub(super) fn editor_command(app: &App) -> Result<String, Failure> {
    app.output.stop_waiting();
    match &app.environment.editor {
        Some(editor) => Ok(editor.clone()),
        None if app.output.input_is_terminal() => Ok("vi".to_owned()),
        None => Err(Failure::usage(
            "no editor configured",
            "set EDITOR, or pass the text with --content TEXT or --content -",
        )),
    }
}

/// Opens the text of a memory in the editor, and passes the edited text to `store`.
///
/// If the text cannot be stored, it stays in a temporary file.
pub(super) fn edit_in_editor(
    editor: &str,
    stored: &StoredMemory,
    store: &dyn Fn(&str) -> Result<StoredMemory, StoreError>,
) -> Result<StoredMemory, Failure> {
    if let Some(problem) = &stored.problem {
        return Err(StoreError::Damaged(problem.clone()).into());
    }
    let content = &stored.memory.content;
    let draft =
        write_draft(content).map_err(Failure::file("create a temporary file for the editor"))?;
    let ended = run_editor(editor, draft.path());
    let left = std::fs::read(draft.path());
    let failed = |why: String, draft| Failure::Editor {
        command: editor.to_owned(),
        why,
        draft,
    };
    if let Err(why) = ended {
        let is_changed = left.is_ok_and(|bytes| strip_final_newline(&bytes) != content.as_bytes());
        return Err(failed(
            why,
            is_changed.then(|| keep_draft(draft)).transpose()?,
        ));
    }
    let bytes = match left {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(failed("deleted its file".into(), None));
        }
        Err(error) => return Err(Failure::file("read the edited file")(error)),
    };
    let Ok(text) = std::str::from_utf8(strip_final_newline(&bytes)) else {
        return Err(failed(
            "wrote a file that is not valid UTF-8".into(),
            Some(keep_draft(draft)?),
        ));
    };
    match store(text) {
        Ok(changed) => Ok(changed),
        Err(source) if text == content => Err(source.into()),
        Err(source) => Err(Failure::Draft {
            draft: keep_draft(draft)?,
            source,
        }),
    }
}

impl EditFieldsArgs {
    fn patch(&self, services: &Services, app: &mut App) -> Result<Patch, Failure> {
        let content = self
            .content
            .as_deref()
            .map(|given| args::read_content(given, &mut app.output))
            .transpose()?;
        let now = services.clock.now().with_timezone(&app.output.zone());
        let end = |expiry: &Expiry| match expiry {
            Expiry::Never => Ok(None),
            Expiry::At(deadline) => deadline.resolve(&now).map(Some),
        };
        let expires_at = self.expires.as_ref().map(end).transpose();
        let expires_at = expires_at.map_err(|error| args::wrong_value("--expires", &error))?;
        let heir = |reference: &String| -> Result<Option<MemoryId>, StoreError> {
            if reference == "none" {
                Ok(None)
            } else {
                services.store.find(reference).map(Some)
            }
        };
        Ok(Patch {
            content,
            title: self
                .title
                .clone()
                .map(|title| Some(title).filter(|title| !title.is_empty())),
            aliases: self.aliases.clone().map(|aliases| {
                aliases
                    .into_iter()
                    .filter(|alias| !alias.is_empty())
                    .collect()
            }),
            category: self.category,
            scope: self.scope.clone(),
            source: self.source.clone(),
            role: self.role.map(|AuthorRole(role)| role),
            expires_at,
            supersedes: args::find_all(&self.supersedes, services)?,
            superseded_by: self.superseded_by.as_ref().map(heir).transpose()?,
            ..Patch::default()
        })
    }
}

/// Returns the reminder that an edited memory becomes.
///
/// Relative dates in a new text count from now; those in an unchanged text count from the creation of the memory.
fn reminder_of(patch: &Patch, memory: &Memory, home: &Home) -> Result<Reminder, String> {
    let now = home.services.clock.now();
    let (text, written_at) = patch
        .content
        .as_deref()
        .map_or((memory.content.as_str(), memory.created_at), |text| {
            (text, now)
        });
    memory_core::parse_reminder(text, written_at, now, &home.zone).map(|due| due.reminder())
}

/// Writes the text to a temporary file that only its owner can read.
fn write_draft(content: &str) -> io::Result<NamedTempFile> {
    let mut draft = tempfile::Builder::new()
        .prefix("memory-")
        .suffix(".md")
        .tempfile()?;
    draft.write_all(content.as_bytes())?;
    draft.write_all(b"\n")?;
    draft.flush()?;
    Ok(draft)
}

/// Returns the content of the draft without the final line break that editors add.
fn strip_final_newline(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_suffix(b"\n")
        .map_or(bytes, |bytes| bytes.strip_suffix(b"\r").unwrap_or(bytes))
}

/// Prevents the deletion of the draft when the program ends; returns its path.
fn keep_draft(draft: NamedTempFile) -> Result<std::path::PathBuf, Failure> {
    let kept = draft
        .keep()
        .map_err(|error| error.error)
        .map_err(Failure::file("save the draft"))?;
    Ok(kept.1)
}

/// Opens the editor and waits until it exits.
///
/// Like git, it runs the command in a shell, since the command may have arguments.
fn run_editor(editor: &str, file: &Path) -> Result<(), String> {
    let mut command = if cfg!(windows) {
        Command::new("cmd")
    } else {
        Command::new("sh")
    };
    if cfg!(windows) {
        command.arg("/C").arg(editor).arg(file);
    } else {
        command
            .arg("-c")
            .arg(format!("{editor} \"$@\""))
            .arg(editor)
            .arg(file);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("failed ({status})")),
        Err(error) => Err(format!("could not be started: {error}")),
    }
}
