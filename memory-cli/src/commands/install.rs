//! The `memory install` and `memory uninstall` commands.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::app::App;
use crate::args::client_parser;
use crate::config::Settings;
use crate::failure::{Failure, ProgramError};
use crate::install::{Client, ClientFileChange, ClientSetup, EntryOptions, InstallLevel, PlannedChange, ServerName};
use crate::print::escape_text;
use crate::topics;

/// Configure a coding assistant to use the memories
///
/// Adds an MCP server named `memory` to the settings of the assistant and, for Claude Code, Codex, Cursor and Gemini CLI,
/// hooks that show memories at the start of a session and with each prompt. All other content of these files stays
/// unchanged, and a backup is written next to each changed file (`….before-memory`). A second run changes nothing;
/// `memory uninstall` removes the entries. With --root or MEMORY_ROOT, the assistant uses that home. With --project, the files
/// call `memory` from the PATH and name no home.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is created, changed or unchanged,
/// `diff` is given with --dry-run
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    arguments: SetupArgs,
    /// Replace an entry of another program that has the same name
    #[arg(long)]
    replace: bool,
    /// Let Claude Code store its own memory in the topics of the current project
    ///
    /// Sets `autoMemoryDirectory` in .claude/settings.local.json of the current folder.
    #[arg(long)]
    topics: bool,
}

/// A note for the user about changes in the files of a project.
const PROJECT_NOTE: &str = "each user of the project needs `memory` on the PATH, and uses their own home";

/// The client to configure, and how.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// The assistant
    #[arg(value_parser = client_parser())]
    client: &'static Client,
    /// Use the files of the project in the current folder instead of your own
    #[arg(long)]
    project: bool,
    /// Name of the server in the settings of the assistant [default: memory]
    #[arg(long, value_name = "NAME")]
    name: Option<ServerName>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl InstallArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let SetupArgs { client, dry_run, project, .. } = self.arguments;
        if project && app.root.is_some() {
            let why = "the files of a project are shared and cannot name a home";
            return Err(Failure::usage(why, "omit --root or --project"));
        }
        let mut setup = self.arguments.setup(app, self.replace)?;
        let mut watched = None;
        if self.topics {
            let settings = app.settings()?;
            let missing = || Failure::usage("the current folder has no topics", "change to the folder of a project");
            let folder = topics::project_folder(&settings).ok_or_else(missing)?;
            setup = setup.with_topics(&folder)?;
            watched = Some(folder).filter(|_| !dry_run);
        }
        let is_changed = self.arguments.run(app, &setup, ClientSetup::plan_install)?;
        watched.map_or(Ok(()), |folder| topics::watch(&folder))?;
        let note = match (is_changed, dry_run) {
            (false, _) => format!("{} is already configured; nothing was changed", client.title),
            (true, true) => "nothing was written".to_owned(),
            (true, false) => format!("restart {} to use the memories", client.title),
        };
        print_note(app, &note)?;
        let project_notes = [Some(PROJECT_NOTE), client.project_note].map(|note| note.filter(|_| project));
        let notes = [client.note].into_iter().chain(project_notes);
        notes.flatten().filter(|_| is_changed && !dry_run).try_for_each(|note| print_note(app, note))
    }
}

impl SetupArgs {
    /// Returns the setup of the client.
    fn setup(&self, app: &App, replace: bool) -> Result<ClientSetup, Failure> {
        let level = if self.project { InstallLevel::Project } else { InstallLevel::User };
        let options = EntryOptions { name: self.name.clone(), replace };
        Ok(ClientSetup::new(self.client, level, app.root.as_deref(), app.environment)?.with_options(&options))
    }

    /// Plans the changes of the files, applies them unless this is a dry run, and prints them.
    ///
    /// Returns whether anything changes.
    fn run(
        &self,
        app: &mut App,
        setup: &ClientSetup,
        plan: impl FnOnce(&ClientSetup) -> Result<Vec<PlannedChange>, ProgramError>,
    ) -> Result<bool, Failure> {
        let mut outcomes = plan(setup)?;
        let is_changed = outcomes.iter().any(|outcome| outcome.change != ClientFileChange::Unchanged);
        if !self.dry_run {
            setup.apply(&mut outcomes)?;
        }
        if app.output.is_json() {
            let files: Vec<Value> = outcomes.iter().map(|outcome| change_json(outcome, self.dry_run)).collect();
            let level = if self.project { InstallLevel::Project } else { InstallLevel::User };
            app.output.json(&json!({
                "client": self.client.name, "level": level.as_str(), "dry_run": self.dry_run, "changed": is_changed, "files": files,
            }))?;
            return Ok(is_changed);
        }
        for outcome in &outcomes {
            print_change(outcome, self.dry_run, app)?;
        }
        Ok(is_changed)
    }
}

/// Prints a note, except in JSON mode.
pub(super) fn print_note(app: &mut App, note: &str) -> Result<(), Failure> {
    if app.output.is_json() { Ok(()) } else { Ok(app.output.note(note)?) }
}

fn print_change(outcome: &PlannedChange, is_rehearsal: bool, app: &mut App) -> Result<(), Failure> {
    if is_rehearsal && outcome.change != ClientFileChange::Unchanged {
        for line in outcome.diff().lines() {
            app.output.line(&escape_text(line.trim_end_matches('\r')))?;
        }
        return Ok(());
    }
    let place = app.output.display_path(&outcome.path);
    app.output.fields(&[outcome.change.as_str(), &place])?;
    if let Some(backup) = &outcome.backup {
        let backup = app.output.display_path(backup);
        app.output.note(&format!("backup: {backup}"))?;
    }
    Ok(())
}

fn change_json(outcome: &PlannedChange, is_rehearsal: bool) -> Value {
    let PlannedChange { path, change, backup, .. } = outcome;
    let diff = (is_rehearsal && *change != ClientFileChange::Unchanged).then(|| outcome.diff());
    json!({ "path": path, "change": change.as_str(), "backup": backup, "diff": diff })
}

/// Remove the entries of `memory install` from a coding assistant's settings
///
/// A file that is unchanged since the installation is restored exactly; in any other file, only the entries of this program
/// are removed. A file that the installation created and that contains nothing else is deleted. No memory is changed. The
/// setting for topics is removed from the current folder and those above it in the project; with --project, only without an
/// installation for the user.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is restored, changed, removed or
/// unchanged, `diff` is given with --dry-run
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    arguments: SetupArgs,
}

impl UninstallArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut setup = self.arguments.setup(app, false)?;
        let folder = self.topics_folder(app)?;
        let mut has_setting = false;
        if let Some(folder) = &folder {
            setup = setup.with_topics(folder)?;
            has_setting = !setup.plan_topics_uninstall()?.is_empty();
        }
        let is_changed = self.arguments.run(app, &setup, ClientSetup::plan_uninstall)?;
        // Without the setting in this folder or above it, a folder below may have it, and needs the watch.
        if let Some(folder) = folder.filter(|_| has_setting && !self.arguments.dry_run) {
            topics::unwatch(&folder)?;
        }
        match (is_changed, self.arguments.dry_run) {
            (false, _) => print_note(app, "no entries found; nothing was changed"),
            (true, true) => print_note(app, "nothing was written"),
            (true, false) => Ok(()),
        }
    }

    /// Returns the topics of the current project, if their setting is removed too.
    fn topics_folder(&self, app: &mut App) -> Result<Option<PathBuf>, Failure> {
        let client = self.arguments.client;
        if !client.has_topics_setting() {
            return Ok(None);
        }
        // The setting belongs to the installation for the user, if there is one.
        if self.arguments.project {
            let user = ClientSetup::new(client, InstallLevel::User, app.root.as_deref(), app.environment)?;
            if user.plan_uninstall()?.iter().any(|outcome| outcome.change != ClientFileChange::Unchanged) {
                return Ok(None);
            }
        }
        let Ok(settings) = Settings::load(app.root.as_deref(), app.environment) else {
            let why = "the settings are invalid, so the setting of the topics was not removed; see `memory config`";
            app.output.warning(why)?;
            return Ok(None);
        };
        Ok(topics::project_folder(&settings))
    }
}
