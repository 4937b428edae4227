//! The `memory install` and `memory uninstall` commands.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_core::Code;
use memory_store::{DaemonLock, DaemonProcess};
use serde_json::{Value, json};

use super::{print_note, service};
use crate::app::App;
use crate::args::client_parser;
use crate::config::{Environment, Settings};
use crate::failure::{Failure, ProgramError};
use crate::install::{
    Client, ClientFileChange, ClientFolders, ClientSetup, EntryOptions, InstallLevel,
    PlannedChange, ServerName,
};
use crate::print::{escape_text, select_several};
use crate::report::{error_json, write_text_error};
use crate::topics;

/// Configure coding assistants to use the memories
///
/// Without a name, those that are found on this machine are listed at a terminal to select from; --all configures all of them.
///
/// Adds an MCP server named `memory` to the settings of the assistant and, for Claude Code, Codex, Cursor and Gemini CLI,
/// hooks that show memories at the start of a session and with each prompt. All other content of these files stays
/// unchanged, and a backup is written next to each changed file (`….before-memory`). A second run changes nothing;
/// `memory uninstall` removes the entries. With --root or MEMORY_ROOT, the assistant uses that home. With --project, the files
/// call `memory` from the PATH and name no home.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is created, changed or unchanged,
/// `diff` is given with --dry-run; with --all {clients: [{client, …}…]}, where one that failed is {client, error}
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
const PROJECT_NOTE: &str =
    "each user of the project needs `memory` on the PATH, and uses their own home";

/// A note for the user if there is nothing to do.
const NONE_SELECTED: &str = "no assistant was found or selected; nothing was changed";

/// The client to configure, and how.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// The assistant
    #[arg(value_parser = client_parser())]
    client: Option<&'static Client>,
    /// All assistants that are found on this machine
    #[arg(long, conflicts_with_all = ["client", "project"])]
    all: bool,
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
        if self.arguments.project && app.root.is_some() {
            let why = "the files of a project are shared and cannot name a home";
            return Err(Failure::usage(why, "omit --root or --project"));
        }
        let mut topics = None;
        if self.topics {
            let settings = app.settings()?;
            let missing = || {
                Failure::usage(
                    "the current folder has no topics",
                    "change to the folder of a project",
                )
            };
            topics = Some(topics::project_folder(&settings).ok_or_else(missing)?);
        }
        let none_found = Some("no assistant was found on this machine");
        let clients = self
            .arguments
            .clients("set up", none_found, Client::is_present, app)?;
        if clients.is_empty() {
            print_note(app, NONE_SELECTED)?;
        }
        let results = self.arguments.run_each(&clients, app, |client, app| {
            self.install(client, topics.as_deref(), app)
        })?;
        results.finish(self.arguments.client.is_some(), app)
    }

    /// Installs the entries, and sets the folder of the client's own memory to `topics`.
    fn install(
        &self,
        client: &'static Client,
        topics: Option<&Path>,
        app: &mut App,
    ) -> Result<Value, Failure> {
        let SetupArgs {
            dry_run, project, ..
        } = self.arguments;
        let mut setup = self.arguments.setup(client, app, self.replace)?;
        let mut watched = None;
        if let Some(folder) = topics.filter(|_| client.has_topics_setting() || !self.arguments.all)
        {
            setup = setup.with_topics(folder)?;
            watched = Some(folder).filter(|_| !dry_run);
        }
        let outcome = self
            .arguments
            .run(app, client, &setup, ClientSetup::plan_install)?;
        watched.map_or(Ok(()), topics::watch)?;
        let note = match (outcome.is_changed, dry_run) {
            (false, _) => format!(
                "{} is already configured; nothing was changed",
                client.title
            ),
            (true, true) => "nothing was written".to_owned(),
            (true, false) => format!(
                "restart {}, and tell it something to remember; `memory why` then shows what it received",
                client.title
            ),
        };
        print_note(app, &note)?;
        let project_notes =
            [Some(PROJECT_NOTE), client.project_note].map(|note| note.filter(|_| project));
        let notes = [client.note].into_iter().chain(project_notes);
        notes
            .flatten()
            .filter(|_| outcome.is_changed && !dry_run)
            .try_for_each(|note| print_note(app, note))?;
        Ok(outcome.json)
    }
}

/// The results of several setups.
#[derive(Default)]
struct ClientResults {
    /// The JSON of each client.
    shapes: Vec<Value>,
    /// Further fields of the JSON.
    fields: Vec<(&'static str, Value)>,
    /// The number of parts: clients, and the service.
    total: u64,
    /// The codes of the failures.
    failures: Vec<Code>,
}

impl ClientResults {
    /// Counts and prints a failure, and returns its JSON.
    fn add_failure(&mut self, failure: &Failure, app: &mut App) -> Result<Value, Failure> {
        self.failures.push(failure.core_code());
        if !app.output.is_json() {
            write_text_error(failure, &mut app.output)?;
        }
        Ok(error_json(failure, None, &app.output))
    }

    /// Prints the JSON: that of the only client if `is_single`, else a list. Fails if a part failed.
    fn finish(mut self, is_single: bool, app: &mut App) -> Result<(), Failure> {
        if app.output.is_json() {
            let mut shape = match self.shapes.pop() {
                Some(shape) if is_single => shape,
                last => {
                    json!({ "clients": self.shapes.into_iter().chain(last).collect::<Vec<_>>() })
                }
            };
            for (key, value) in self.fields {
                shape[key] = value;
            }
            app.output.json(&shape)?;
        }
        let count = self.failures.len() as u64;
        let first = self.failures.first().copied().unwrap_or(Code::Internal);
        Failure::unless_all_done("client", count, self.total, first)
    }
}

/// The result of a setup.
struct SetupOutcome {
    is_changed: bool,
    json: Value,
}

impl SetupArgs {
    /// Returns the clients to configure: the named one, all that satisfy `is_candidate`, or those of them that the user selects.
    ///
    /// # Errors
    /// If the user must name one, or with the message `none_found` if there is one and no client satisfies `is_candidate`.
    fn clients(
        &self,
        action: &str,
        none_found: Option<&str>,
        is_candidate: impl Fn(&Client, &ClientFolders) -> bool,
        app: &mut App,
    ) -> Result<Vec<&'static Client>, Failure> {
        if let Some(client) = self.client {
            return Ok(vec![client]);
        }
        let folders = ClientFolders::of(app.environment)?;
        let found: Vec<_> = Client::ALL
            .into_iter()
            .filter(|client| is_candidate(client, &folders))
            .collect();
        if self.all {
            return Ok(found);
        }
        let names = Client::ALL.map(|client| client.name).join(", ");
        if found.is_empty() {
            let none = |why: &str| Err(Failure::usage(why, format!("specify one of {names}")));
            return none_found.map_or(Ok(found), none);
        }
        if !app.output.can_ask() {
            let found: Vec<_> = found.iter().map(|client| client.name).collect();
            let why = format!(
                "no assistant is specified; found on this machine: {}",
                found.join(", ")
            );
            return Err(Failure::usage(
                why,
                format!("specify one of {names}, or --all"),
            ));
        }
        let items: Vec<_> = found
            .iter()
            .map(|client| (client.title.to_owned(), true))
            .collect();
        let question = format!("Assistants to {action}");
        let chosen = select_several(&question, &items)
            .map_err(Failure::file("read the selection"))?
            .unwrap_or_default();
        Ok(found
            .into_iter()
            .enumerate()
            .filter(|(index, _)| chosen.contains(index))
            .map(|(_, client)| client)
            .collect())
    }

    /// Runs `work` for each client. If one of several fails, its error is printed, and the others are not affected.
    fn run_each(
        &self,
        clients: &[&'static Client],
        app: &mut App,
        work: impl Fn(&'static Client, &mut App) -> Result<Value, Failure>,
    ) -> Result<ClientResults, Failure> {
        let mut results = ClientResults::default();
        for client in clients {
            results.total += 1;
            match work(client, app) {
                Ok(shape) => results.shapes.push(shape),
                Err(failure) if self.client.is_some() || matches!(failure, Failure::Output(_)) => {
                    return Err(failure);
                }
                Err(failure) => {
                    let mut shape = results.add_failure(&failure, app)?;
                    shape["client"] = client.name.into();
                    results.shapes.push(shape);
                }
            }
        }
        Ok(results)
    }

    fn level(&self) -> InstallLevel {
        if self.project {
            InstallLevel::Project
        } else {
            InstallLevel::User
        }
    }

    /// Returns the setup of a client.
    fn setup(
        &self,
        client: &'static Client,
        app: &App,
        replace: bool,
    ) -> Result<ClientSetup, Failure> {
        let options = EntryOptions {
            name: self.name.clone(),
            replace,
        };
        Ok(
            ClientSetup::new(client, self.level(), app.root.as_deref(), app.environment)?
                .with_options(&options),
        )
    }

    /// Plans the changes of the files, applies them unless this is a dry run, and prints them except in JSON mode.
    fn run(
        &self,
        app: &mut App,
        client: &Client,
        setup: &ClientSetup,
        plan: impl FnOnce(&ClientSetup) -> Result<Vec<PlannedChange>, ProgramError>,
    ) -> Result<SetupOutcome, Failure> {
        let mut outcomes = plan(setup)?;
        let is_changed = outcomes
            .iter()
            .any(|outcome| outcome.change != ClientFileChange::Unchanged);
        if !self.dry_run {
            setup.apply(&mut outcomes)?;
        }
        let files: Vec<Value> = outcomes
            .iter()
            .map(|outcome| change_json(outcome, self.dry_run))
            .collect();
        let json = json!({
            "client": client.name, "level": self.level().as_str(), "dry_run": self.dry_run, "changed": is_changed, "files": files,
        });
        if !app.output.is_json() {
            outcomes
                .iter()
                .try_for_each(|outcome| print_change(outcome, self.dry_run, app))?;
        }
        Ok(SetupOutcome { is_changed, json })
    }
}

fn print_change(outcome: &PlannedChange, is_rehearsal: bool, app: &mut App) -> Result<(), Failure> {
    if is_rehearsal && outcome.change != ClientFileChange::Unchanged {
        for line in outcome.diff().lines() {
            app.output.diff(&escape_text(line.trim_end_matches('\r')))?;
        }
        for backup in &outcome.obsolete {
            let backup = app.output.display_path(backup);
            app.output
                .note(&format!("would delete the backup {backup}"))?;
        }
        return Ok(());
    }
    let place = app.output.display_path(&outcome.path);
    app.output.fields(&[outcome.change.as_str(), &place])?;
    for (title, backups) in [
        ("backup", outcome.backup.as_slice()),
        ("deleted backup", &outcome.obsolete),
    ] {
        for backup in backups {
            let backup = app.output.display_path(backup);
            app.output.note(&format!("{title}: {backup}"))?;
        }
    }
    Ok(())
}

fn change_json(outcome: &PlannedChange, is_rehearsal: bool) -> Value {
    let PlannedChange {
        path,
        change,
        backup,
        obsolete,
        ..
    } = outcome;
    let diff = (is_rehearsal && *change != ClientFileChange::Unchanged).then(|| outcome.diff());
    let mut shape =
        json!({ "path": path, "change": change.as_str(), "backup": backup, "diff": diff });
    if !obsolete.is_empty() {
        shape["deleted_backups"] = json!(obsolete);
    }
    shape
}

/// Remove the entries of `memory install` from the settings of coding assistants
///
/// A file that is unchanged since the installation is restored exactly; in any other file, only the entries of this program are
/// removed. Backups (`….before-memory`) are deleted if the file has all of their content. A file that the installation created
/// and that contains nothing else is deleted. No memory is changed. The setting for topics is removed from the current folder
/// and those above it in the project; with --project, only without an installation for the user.
///
/// Without a name, those that have entries are listed at a terminal to select from; with --all, the entries of all are removed,
/// and the service of `memory daemon`.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff, deleted_backups?}]}; `change` is restored,
/// changed, removed or unchanged, `diff` is given with --dry-run; with --all {clients: [{client, …}…], service?: [FILE…],
/// daemon?: {pid}}, where one that failed is {client, error}, `service` are the files of the service or {error}, and `daemon`
/// still runs
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    arguments: SetupArgs,
}

impl UninstallArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let (root, environment) = (app.root.clone(), app.environment);
        let has_entries = |client: &Client, folders: &ClientFolders| {
            has_entries(client, folders, root.as_deref(), environment)
        };
        let clients = self
            .arguments
            .clients("remove the entries from", None, has_entries, app)?;
        let service = if self.arguments.all {
            service::uninstall_if_installed(self.arguments.dry_run, app)
        } else {
            Ok(Vec::new())
        };
        if clients.is_empty() && service.as_ref().is_ok_and(Vec::is_empty) {
            print_note(app, NONE_SELECTED)?;
        }
        let mut results = self
            .arguments
            .run_each(&clients, app, |client, app| self.uninstall(client, app))?;
        let has_service = match service {
            Ok(files) if files.is_empty() => false,
            Ok(files) => {
                results.fields.push(("service", json!(files)));
                true
            }
            Err(failure) => {
                results.total += 1;
                let shape = results.add_failure(&failure, app)?;
                results.fields.push(("service", shape));
                false
            }
        };
        // The removal of the service stops its daemon.
        if self.arguments.all
            && !(has_service && self.arguments.dry_run)
            && let Some(process) = find_daemon(app)?
        {
            results
                .fields
                .push(("daemon", json!({ "pid": process.pid })));
        }
        results.finish(self.arguments.client.is_some(), app)
    }

    fn uninstall(&self, client: &'static Client, app: &mut App) -> Result<Value, Failure> {
        let mut setup = self.arguments.setup(client, app, false)?;
        let folder = self.topics_folder(client, app)?;
        let mut has_setting = false;
        if let Some(folder) = &folder {
            setup = setup.with_topics(folder)?;
            has_setting = !setup.plan_topics_uninstall()?.is_empty();
        }
        let outcome = self
            .arguments
            .run(app, client, &setup, ClientSetup::plan_uninstall)?;
        // Without the setting in this folder or above it, a folder below may have it, and needs the watch.
        if let Some(folder) = folder.filter(|_| has_setting && !self.arguments.dry_run) {
            topics::unwatch(&folder)?;
        }
        match (outcome.is_changed, self.arguments.dry_run) {
            (false, _) => print_note(app, "no entries found; nothing was changed"),
            (true, true) => print_note(app, "nothing was written"),
            (true, false) => Ok(()),
        }?;
        Ok(outcome.json)
    }

    /// Returns the topics of the current project, if their setting is removed too.
    fn topics_folder(
        &self,
        client: &'static Client,
        app: &mut App,
    ) -> Result<Option<PathBuf>, Failure> {
        if !client.has_topics_setting() {
            return Ok(None);
        }
        // The setting belongs to the installation for the user, if there is one.
        if self.arguments.project {
            let user = ClientSetup::new(
                client,
                InstallLevel::User,
                app.root.as_deref(),
                app.environment,
            )?;
            if user
                .plan_uninstall()?
                .iter()
                .any(|outcome| outcome.change != ClientFileChange::Unchanged)
            {
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

/// Returns the daemon that still uses the home, and notes it. Without valid settings, it is not known.
fn find_daemon(app: &mut App) -> Result<Option<DaemonProcess>, Failure> {
    let Ok(settings) = app.settings() else {
        return Ok(None);
    };
    let Ok(Some(process)) = DaemonLock::find_running(&settings.root.value) else {
        return Ok(None);
    };
    let home = app.output.display_path(&settings.root.value);
    let id = process
        .pid
        .map_or_else(String::new, |pid| format!(" (process {pid})"));
    print_note(
        app,
        &format!("a daemon still runs for {home}{id}; stop it before you remove the program"),
    )?;
    Ok(Some(process))
}

/// Returns whether a removal would change a file of a client, or cannot read a file that names this program.
fn has_entries(
    client: &Client,
    folders: &ClientFolders,
    root: Option<&Path>,
    environment: &Environment,
) -> bool {
    let Some(client) = Client::named(client.name) else {
        return false;
    };
    let Ok(setup) = ClientSetup::new(client, InstallLevel::User, root, environment) else {
        return false;
    };
    match setup.plan_uninstall() {
        Ok(changes) => changes
            .iter()
            .any(|change| change.change != ClientFileChange::Unchanged),
        Err(error) if error.code() == Code::FileDamaged.as_str() => {
            client.may_have_entries(folders)
        }
        Err(_) => true,
    }
}
