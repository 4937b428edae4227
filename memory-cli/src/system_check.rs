//! Checks of the environment: programs, clients, models, permissions and the file system.

use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::config::{Environment, Settings};
use crate::embedding;
use crate::failure::{Failure, ProgramError};
use crate::install::{
    Client, ClientFileChange, ClientSetup, InstallLevel, PlannedChange, outdated_plugins,
};
use crate::service::ServiceManager;
use memory_core::io_hint;
use memory_store::check_writable;
use memory_store::conversation::GitVersions;
use memory_store::system::{free_space, is_accessible_to_others, private_temp_folder, sync_folder};

/// Free space from which writes are not at risk, in bytes.
const ENOUGH_SPACE: u64 = 100 << 20;

/// The name of the checks of assistants.
const ASSISTANT: &str = "assistant";

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemFinding {
    /// The subject, such as `git`.
    pub name: &'static str,
    pub state: SystemState,
    /// The details.
    pub what: String,
    /// The next step, if there is one.
    pub hint: Option<String>,
}

/// The state of a part of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemState {
    /// It works.
    Ok,
    /// It is optional, and not set up.
    Unused,
    /// It does not work.
    Problem,
}

impl SystemState {
    /// Returns the name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unused => "unused",
            Self::Problem => "problem",
        }
    }
}

impl SystemFinding {
    fn ok(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, SystemState::Ok, what)
    }

    fn unused(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, SystemState::Unused, what)
    }

    fn problem(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, SystemState::Problem, what)
    }

    fn new(name: &'static str, state: SystemState, what: impl Into<String>) -> Self {
        Self {
            name,
            state,
            what: what.into(),
            hint: None,
        }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// Checks the environment of a home.
pub(crate) fn check_system(settings: &Settings) -> Vec<SystemFinding> {
    let environment = &settings.environment;
    let root = &settings.root.value;
    let mut findings = vec![check_program(environment), check_permissions(root)];
    findings.extend(check_format(root));
    findings.push(check_file_system(root).unwrap_or_else(|error| {
        SystemFinding::problem("file system", format!("{}: {error}", root.display())).hint(
            io_hint(&error)
                .unwrap_or("use a local file system for the home, with --root or MEMORY_ROOT"),
        )
    }));
    findings.extend([
        check_space(root),
        check_git(settings),
        check_embedding(settings),
        check_language_model(settings),
    ]);
    findings.push(check_service());
    findings.extend(check_clients(environment));
    findings
}

/// Returns what to do next, for these findings and a home that exists or not.
pub(crate) fn next_step(findings: &[SystemFinding], has_home: bool) -> String {
    let of_state = |state| {
        findings
            .iter()
            .filter(move |finding| finding.state == state)
    };
    if let Some(problem) = of_state(SystemState::Problem).next() {
        let otherwise = || format!("solve the problem with the {}", problem.name);
        return problem.hint.clone().unwrap_or_else(otherwise);
    }
    let mut works = of_state(SystemState::Ok);
    if let Some(hint) = works.clone().find_map(|finding| finding.hint.clone()) {
        return hint;
    }
    if works.any(|finding| finding.name == ASSISTANT) {
        let next = if has_home {
            "nothing; `memory ui` shows what is remembered"
        } else {
            "restart your assistant and tell it what to remember, or run `memory write TEXT`"
        };
        return next.to_owned();
    }
    let mut present = of_state(SystemState::Unused).filter(|finding| finding.name == ASSISTANT);
    present.find_map(|finding| finding.hint.clone()).unwrap_or_else(|| {
        "no assistant was found on this machine; `memory help install` lists those that can be set up".to_owned()
    })
}

/// Checks the environment of a home whose settings cannot be used because of `failure`.
pub(crate) fn check_without_settings(
    failure: &Failure,
    environment: &Environment,
) -> Vec<SystemFinding> {
    let cause = failure
        .source()
        .map_or_else(String::new, |cause| format!(": {cause}"));
    let settings = SystemFinding::problem("settings", format!("{failure}{cause}"));
    let mut findings = vec![
        check_program(environment),
        SystemFinding {
            hint: failure.hint(),
            ..settings
        },
        check_service(),
    ];
    findings.extend(check_clients(environment));
    findings
}

fn check_program(environment: &Environment) -> SystemFinding {
    let version = env!("CARGO_PKG_VERSION");
    let Some(program) = &environment.program else {
        return SystemFinding::problem("program", "the path of this program is not known");
    };
    let what = format!("memory {version} at {}", program.display());
    let folder = program.parent();
    let is_on_path = environment.path.as_ref().is_some_and(|paths| {
        std::env::split_paths(paths).any(|path| Some(path.as_path()) == folder)
    });
    let finding = SystemFinding::ok("program", what);
    if is_on_path {
        finding
    } else {
        let folder = folder.unwrap_or(program).display();
        finding.hint(format!("add {folder} to the PATH"))
    }
}

fn check_permissions(root: &Path) -> SystemFinding {
    match fs::metadata(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => SystemFinding::ok(
            "permissions",
            format!(
                "{} does not exist yet; the first write creates it",
                root.display()
            ),
        ),
        Err(error) => {
            let finding =
                SystemFinding::problem("permissions", format!("{}: {error}", root.display()));
            SystemFinding {
                hint: io_hint(&error).map(str::to_owned),
                ..finding
            }
        }
        Ok(found) if is_accessible_to_others(&found) => SystemFinding::problem(
            "permissions",
            format!("other users of this machine can open {}", root.display()),
        )
        .hint(format!("run `chmod 700 {}`", root.display())),
        Ok(_) if cfg!(unix) => SystemFinding::ok(
            "permissions",
            format!("only you can open {}", root.display()),
        ),
        Ok(_) => SystemFinding::ok(
            "permissions",
            format!("{} has the permissions of its folder", root.display()),
        ),
    }
}

/// Checks that this version can change the home; `None` if it can.
fn check_format(root: &Path) -> Option<SystemFinding> {
    let error = check_writable(root).err()?;
    Some(SystemFinding {
        hint: error.hint(),
        ..SystemFinding::problem("format", error.to_string())
    })
}

/// Uses the operations on files that a write needs.
fn check_file_system(root: &Path) -> io::Result<SystemFinding> {
    let existing = root
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(Path::new("/"));
    let folder = private_temp_folder(existing, ".memory-check")?;
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&first, "a")?;
    let file = File::options().read(true).write(true).open(&first)?;
    let attempt = |what: &str, done: io::Result<()>| {
        done.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
    };
    attempt(
        "cannot lock files",
        file.try_lock().map_err(io::Error::from),
    )?;
    attempt("cannot sync files", file.sync_all())?;
    attempt("cannot sync folders", sync_folder(folder.path()))?;
    attempt("cannot rename files", fs::rename(&first, &second))?;
    let links = fs::hard_link(&second, &first).is_ok();
    let what = if links {
        "locks, syncs, renames and hard links work"
    } else {
        "locks, syncs and renames work; files are copied to the trash"
    };
    Ok(SystemFinding::ok("file system", what))
}

fn check_space(root: &Path) -> SystemFinding {
    let existing = root
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(Path::new("/"));
    match free_space(existing) {
        Ok(Some(free)) => {
            let what = format!("{} MB free", free / 1_000_000);
            let state = if free < ENOUGH_SPACE {
                SystemState::Problem
            } else {
                SystemState::Ok
            };
            SystemFinding::new("disk space", state, what)
        }
        Ok(None) => {
            let what = format!("not checked on this system; {ENOUGH_SPACE} bytes are enough");
            SystemFinding::unused("disk space", what)
        }
        Err(error) => SystemFinding::problem("disk space", error.to_string()),
    }
}

fn check_git(settings: &Settings) -> SystemFinding {
    let root = &settings.root.value;
    let is_used = settings.git.value;
    match (GitVersions::installed_version(), is_used) {
        (Ok(version), false) => {
            SystemFinding::ok("git", format!("{version}; not used by this home"))
        }
        (Ok(version), true) => match GitVersions::check(root) {
            Ok(()) => SystemFinding::ok("git", format!("{version}; the home is versioned")),
            Err(error) => SystemFinding::problem("git", error.to_string()),
        },
        (Err(_), true) => {
            SystemFinding::problem("git", "git.enabled is set, but git is not installed")
                .hint("install git, or run `memory config set git.enabled false`")
        }
        (Err(_), false) => SystemFinding::unused(
            "git",
            "not installed; only the git history of a home needs it",
        ),
    }
}

fn check_embedding(settings: &Settings) -> SystemFinding {
    match embedding::open(settings) {
        Ok(Some(model)) => SystemFinding::ok("embedding model", model.identity().to_owned()),
        Ok(None) => SystemFinding::unused("embedding model", "not configured; search uses words")
            .hint("see `memory help model` to search by meaning"),
        Err(error) => SystemFinding {
            hint: error.hint.clone(),
            ..SystemFinding::problem("embedding model", error.to_string())
        },
    }
}

fn check_language_model(settings: &Settings) -> SystemFinding {
    match &settings.llm.base_url.value {
        Some(address) => SystemFinding::ok(
            "language model",
            format!("{address} is configured; it was not contacted"),
        ),
        None => SystemFinding::unused(
            "language model",
            "not configured; only --smart, --extract and dreams of level 3 use one",
        ),
    }
}

fn check_service() -> SystemFinding {
    if ServiceManager::is_available() {
        return SystemFinding::ok(
            "service manager",
            "`memory daemon install` runs the daemon when you log in",
        );
    }
    SystemFinding::unused(
        "service manager",
        "none was found for this user; start `memory daemon run` when you log in",
    )
}

/// Checks the clients on this machine: whether they are set up, with a program that exists, and with plugins of this version.
fn check_clients(environment: &Environment) -> Vec<SystemFinding> {
    let plugins = outdated_plugins(environment);
    let plugins = plugins
        .iter()
        .map(|plugin| SystemFinding::problem("plugin", plugin.describe()));
    Client::present(environment)
        .map(|client| check_client(client, environment))
        .chain(plugins)
        .collect()
}

/// Whether a client is set up for this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientState {
    Current,
    /// It uses another program, or entries of another version.
    Outdated,
    Absent,
}

/// Returns the clients on this machine of which the settings can be read, and whether each is set up.
///
/// `memory doctor --system` reports settings that cannot be read.
pub(crate) fn client_states(
    environment: &Environment,
) -> impl Iterator<Item = (&'static Client, ClientState)> {
    Client::present(environment)
        .filter_map(|client| Some((client, client_state(client, environment).ok()?)))
}

/// Returns the clients that use another program or entries of another version.
pub(crate) fn outdated_clients(environment: &Environment) -> Vec<&'static Client> {
    client_states(environment)
        .filter(|(_, state)| *state == ClientState::Outdated)
        .map(|(client, _)| client)
        .collect()
}

fn client_state(
    client: &'static Client,
    environment: &Environment,
) -> Result<ClientState, ProgramError> {
    let setup = ClientSetup::new(client, InstallLevel::User, None, environment)?;
    let changes = |plan: Vec<PlannedChange>| {
        plan.iter()
            .any(|one| one.change != ClientFileChange::Unchanged)
    };
    Ok(
        match (
            changes(setup.plan_install()?),
            changes(setup.plan_uninstall()?),
        ) {
            (false, _) => ClientState::Current,
            (true, true) => ClientState::Outdated,
            (true, false) => ClientState::Absent,
        },
    )
}

fn check_client(client: &'static Client, environment: &Environment) -> SystemFinding {
    let title = client.title;
    let hint = format!("run `memory install {}`", client.name);
    match client_state(client, environment) {
        Err(error) => SystemFinding::problem(ASSISTANT, format!("{title}: {error}")),
        Ok(ClientState::Current) => SystemFinding::ok(ASSISTANT, format!("{title} is set up")),
        Ok(ClientState::Outdated) => SystemFinding::problem(
            "assistant",
            format!("{title} uses another program or another version of the entries"),
        )
        .hint(hint),
        Ok(ClientState::Absent) => {
            SystemFinding::unused(ASSISTANT, format!("{title} is not set up")).hint(hint)
        }
    }
}
