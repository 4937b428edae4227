//! The `memory install` command.

use clap::Args;
use serde_json::{Value, json};

use crate::app::App;
use crate::cli::client;
use crate::failure::Failure;
use crate::install::{Change, Client, Level, Outcome, Setup, diff};
use crate::print::visible_text;

/// Set up a coding assistant, so that it uses the memories
///
/// Writes an MCP server named `memory` into the assistant's own settings and, for Claude Code, the hooks that show it memories
/// when a session begins and with each prompt. All else in these files stays as it is, and the former file is kept beside it
/// (`….before-memory`). A second run changes nothing; `memory uninstall` takes out what is ours. With --root or MEMORY_ROOT,
/// the assistant uses that home.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is created, changed or unchanged,
/// `diff` is given with --dry-run
#[derive(Debug, Args)]
pub(crate) struct Install {
    #[command(flatten)]
    arguments: SetupArgs,
}

/// What is to be set up.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// Which assistant
    #[arg(value_parser = client())]
    client: &'static Client,
    /// In the files of the project in this folder, not in your own
    #[arg(long)]
    project: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

impl Install {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let SetupArgs { client, .. } = self.arguments;
        let is_changed = self.arguments.run(app, Setup::install)?;
        let note = match (is_changed, self.arguments.dry_run) {
            (false, _) => format!("{} is set up already; nothing was changed", client.title),
            (true, true) => "nothing was written".to_owned(),
            (true, false) => format!("{} sees the memories when it is next started", client.title),
        };
        said(app, &note)?;
        match client.project_note.filter(|_| self.arguments.project && is_changed) {
            Some(note) => said(app, note),
            None => Ok(()),
        }
    }
}

impl SetupArgs {
    /// Returns whether `--dry-run` is set, so that nothing is written.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.dry_run
    }

    /// Plans the changes of the files, applies them unless this is a dry run, and prints them.
    ///
    /// Returns whether anything changes.
    pub(super) fn run(&self, app: &mut App, plan: impl FnOnce(&Setup) -> Result<Vec<Outcome>, Failure>) -> Result<bool, Failure> {
        let level = if self.project { Level::Project } else { Level::User };
        let setup = Setup::new(self.client, level, app.globals.root.as_deref(), app.environment)?;
        let mut outcomes = plan(&setup)?;
        let is_changed = outcomes.iter().any(|outcome| outcome.change != Change::Unchanged);
        if !self.dry_run {
            setup.apply(&mut outcomes)?;
        }
        if app.output.is_json() {
            let files: Vec<Value> = outcomes.iter().map(|outcome| shape(outcome, self.dry_run)).collect();
            let (client, level, dry_run) = (self.client.name, level.as_str(), self.dry_run);
            app.output.json(&json!({
                "client": client, "level": level, "dry_run": dry_run, "changed": is_changed, "files": files,
            }))?;
            return Ok(is_changed);
        }
        for outcome in &outcomes {
            show(outcome, self.dry_run, app)?;
        }
        Ok(is_changed)
    }
}

/// Prints a note, except in JSON mode.
pub(super) fn said(app: &mut App, note: &str) -> Result<(), Failure> {
    if app.output.is_json() { Ok(()) } else { Ok(app.output.note(note)?) }
}

fn show(outcome: &Outcome, is_rehearsal: bool, app: &mut App) -> Result<(), Failure> {
    if is_rehearsal && outcome.change != Change::Unchanged {
        for line in difference(outcome).lines() {
            app.output.line(&visible_text(line.trim_end_matches('\r')))?;
        }
        return Ok(());
    }
    let place = app.output.place(&outcome.path);
    app.output.fields(&[outcome.change.as_str(), &place])?;
    if let Some(backup) = &outcome.backup {
        let backup = app.output.place(backup);
        app.output.note(&format!("the former file is {backup}"))?;
    }
    Ok(())
}

fn shape(outcome: &Outcome, is_rehearsal: bool) -> Value {
    let Outcome { path, change, backup, .. } = outcome;
    let diff = (is_rehearsal && *change != Change::Unchanged).then(|| difference(outcome));
    json!({ "path": path, "change": change.as_str(), "backup": backup, "diff": diff })
}

fn difference(outcome: &Outcome) -> String {
    diff(&outcome.path, outcome.before.as_deref(), outcome.after.as_deref())
}
