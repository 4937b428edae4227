//! Installs and uninstalls the entries of this program in a client.

use std::path::{Path, PathBuf};

use memory_core::secret::redact;
use memory_core::{Code, ParseError, Problem, StoreError};
use similar::TextDiff;

use super::clients::{self, Client, ClientFile, ClientFolders, InstallLevel};
use super::command::Invocation;
use super::edit::{ClientFileError, ClientFileReason};
use super::file::{self, ClientFileSnapshot, ReplaceError};
use super::plan::{self, UninstallResult};
use crate::config::Environment;
use crate::failure::{Failure, ProgramError};

/// The setup of a client: it plans the changes of the client's files, and applies them.
///
/// ```
/// use memory_cli::Environment;
/// use memory_cli::install::{Client, ClientSetup, InstallLevel};
///
/// # let folder = tempfile::tempdir()?;
/// # let (home, project) = (folder.path(), folder.path());
/// let environment = Environment::default().with_home(home).with_folder(project).with_program("/usr/bin/memory".as_ref());
/// let client = Client::named("codex").expect("a supported client");
/// let setup = ClientSetup::new(client, InstallLevel::User, None, &environment)?;
/// let mut changes = setup.plan_install()?;
/// for change in &changes {
///     println!("{}", change.diff());
/// }
/// // So far nothing is written. This writes the changes:
/// setup.apply(&mut changes)?;
/// # assert!(home.join(".codex/config.toml").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ClientSetup {
    client: &'static Client,
    level: InstallLevel,
    folders: ClientFolders,
    own: Invocation,
}

/// The name of this program in the files of a project.
const PROGRAM: &str = "memory";

/// Options of the entries of this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryOptions {
    /// The name of the server entry; by default that of an existing entry of this program, else `memory`.
    pub name: Option<ServerName>,
    /// Whether entries of other programs with the same name are replaced; a backup contains them.
    pub replace: bool,
}

/// The name of a server entry: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(String);

/// Maximum number of characters in a [`ServerName`]; clients put the name in front of tool names.
const MAX_SERVER_NAME: usize = 32;

impl std::str::FromStr for ServerName {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        let is_valid =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if name.is_empty() || MAX_SERVER_NAME < name.len() || !name.chars().all(is_valid) {
            return Err(ParseError::new(
                name,
                "a name of up to 32 letters, digits, - and _",
            ));
        }
        Ok(Self(name.to_owned()))
    }
}

/// The planned change of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedChange {
    /// The path of the file.
    pub path: PathBuf,
    /// The kind of change.
    pub change: ClientFileChange,
    /// The old text; `None` if there is no file.
    pub before: Option<String>,
    /// The new text; `None` if the file is deleted.
    pub after: Option<String>,
    /// The path of the backup.
    pub backup: Option<PathBuf>,
    /// The backups that are deleted, because the new file has all of their content.
    pub obsolete: Vec<PathBuf>,
    seen: ClientFileSnapshot,
    /// Whether a backup is written first.
    needs_backup: bool,
}

/// The kind of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientFileChange {
    /// The file is created.
    Created,
    /// The entry is added, updated or removed.
    Changed,
    /// The file is restored to its state before the installation.
    Restored,
    /// The file is deleted, since the installation created it.
    Removed,
    /// The file is unchanged.
    Unchanged,
}

impl ClientSetup {
    /// Prepares the setup of a client; `root` is the home of the memories, if it differs from that of the environment.
    ///
    /// The files are those of the home folder or of the current folder of `environment`. The files of a project contain no
    /// path of this machine: they call `memory` from the `PATH` with the home of each user.
    ///
    /// # Errors
    /// If the client has no files at the level, or if the home folder, the current folder or the path of the program is
    /// unknown or not UTF-8.
    pub fn new(
        client: &'static Client,
        level: InstallLevel,
        root: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ProgramError> {
        let folders = ClientFolders::of(environment)?;
        if client.files(&folders, level).is_empty() {
            let why = format!("{} has no configuration files in projects", client.title);
            return Err(Failure::usage(why, "omit --project").into());
        }
        let (program, root) = match level {
            InstallLevel::User => user_command(root, &folders, environment)?,
            // The files are shared with users of other machines.
            InstallLevel::Project => (PROGRAM.to_owned(), None),
        };
        let own = Invocation {
            program,
            agent: client.name.to_owned(),
            root,
            server_name: None,
            replaces: false,
            topics: None,
        };
        Ok(Self {
            client,
            level,
            folders,
            own,
        })
    }

    /// Sets the options of the entries.
    #[must_use]
    pub fn with_options(mut self, options: &EntryOptions) -> Self {
        self.own.server_name = options.name.as_ref().map(|name| name.0.clone());
        self.own.replaces = options.replace;
        self
    }

    /// Includes the setting for the folder of the client's own memory. Only Claude Code has it.
    ///
    /// An installation sets it in the current folder. A removal looks for it there and above, up to the folder that contains
    /// `folder`.
    ///
    /// # Errors
    /// If the client has no such setting, or the path is not UTF-8.
    pub fn with_topics(mut self, folder: &Path) -> Result<Self, ProgramError> {
        if !self.client.has_topics_setting() {
            let why = format!(
                "{} has no setting for the folder of its memory",
                self.client.title
            );
            return Err(Failure::usage(why, "omit --topics").into());
        }
        self.own.topics = Some(utf8_path(folder)?);
        Ok(self)
    }

    /// Plans the installation. Nothing is written.
    ///
    /// # Errors
    /// If a file cannot be read or parsed, or another program has an entry of the same name.
    pub fn plan_install(&self) -> Result<Vec<PlannedChange>, ProgramError> {
        let topics = self
            .own
            .topics
            .is_some()
            .then(|| clients::claude_code_topics_file(&self.folders.project));
        let targets = self
            .client
            .files(&self.folders, self.level)
            .into_iter()
            .chain(topics);
        Ok(targets
            .map(|target| self.plan_file_install(target))
            .collect::<Result<_, _>>()?)
    }

    /// Plans the removal. Nothing is written.
    ///
    /// # Errors
    /// If a file cannot be read or parsed.
    pub fn plan_uninstall(&self) -> Result<Vec<PlannedChange>, ProgramError> {
        let mut changes = Vec::new();
        for target in self.client.files(&self.folders, self.level) {
            changes.push(self.plan_file_uninstall(target)?);
        }
        changes.extend(self.plan_topics_uninstall()?);
        Ok(changes)
    }

    /// Plans the removal of the setting for the folder of the client's own memory; without a plan for unchanged files.
    ///
    /// # Errors
    /// If a file cannot be read or parsed.
    pub(crate) fn plan_topics_uninstall(&self) -> Result<Vec<PlannedChange>, ProgramError> {
        let Some(end) = self
            .own
            .topics
            .as_deref()
            .map(Path::new)
            .and_then(Path::parent)
        else {
            return Ok(Vec::new());
        };
        let mut changes = Vec::new();
        for folder in self
            .folders
            .project
            .ancestors()
            .take_while(|folder| folder.starts_with(end))
        {
            let change = self.plan_file_uninstall(clients::claude_code_topics_file(folder))?;
            changes
                .extend(Some(change).filter(|change| change.change != ClientFileChange::Unchanged));
        }
        Ok(changes)
    }

    /// Writes the planned changes.
    ///
    /// All files are checked for write permission before the first one is changed. An installation writes a backup next to each
    /// changed file. A removal writes one if the file loses content of the user, and deletes those whose content is in the file.
    ///
    /// # Errors
    /// If a file was changed since it was read, or cannot be written.
    pub fn apply(&self, outcomes: &mut [PlannedChange]) -> Result<(), ProgramError> {
        let is_changed =
            |outcome: &&mut PlannedChange| outcome.change != ClientFileChange::Unchanged;
        for outcome in outcomes.iter_mut().filter(is_changed) {
            outcome
                .seen
                .check_writable()
                .map_err(Failure::file(format!("write {}", outcome.path.display())))?;
        }
        for outcome in outcomes.iter_mut().filter(is_changed) {
            if outcome.needs_backup {
                let action = format!("write a backup of {}", outcome.path.display());
                outcome.backup = outcome.seen.back_up().map_err(Failure::file(action))?;
            }
            let changed = outcome
                .seen
                .replace(outcome.after.as_deref().map(str::as_bytes), self.level);
            changed.map_err(|stopped| match stopped {
                ReplaceError::Changed => Failure::Store(StoreError::Conflict {
                    what: outcome.path.display().to_string(),
                }),
                ReplaceError::Refused(source) => Failure::File {
                    action: format!("write {}", outcome.path.display()),
                    source,
                },
            })?;
        }
        for outcome in outcomes {
            // A backup that cannot be deleted is not listed.
            outcome
                .obsolete
                .retain(|backup| file::delete_backup(backup).is_ok());
        }
        Ok(())
    }

    fn plan_file_install(&self, target: ClientFile) -> Result<PlannedChange, Failure> {
        let entries = target.entries.clone();
        let (seen, before) = read_target(target)?;
        let after = plan::install(before.as_deref(), &entries, &self.own)
            .map_err(client_file_failure(&seen.path))?;
        let change = match &before {
            None => ClientFileChange::Created,
            Some(before) if *before == after => ClientFileChange::Unchanged,
            Some(_) => ClientFileChange::Changed,
        };
        let (path, needs_backup) = (seen.path.clone(), change == ClientFileChange::Changed);
        Ok(PlannedChange {
            path,
            change,
            before,
            after: Some(after),
            backup: None,
            seen,
            obsolete: Vec::new(),
            needs_backup,
        })
    }

    fn plan_file_uninstall(&self, target: ClientFile) -> Result<PlannedChange, Failure> {
        let entries = target.entries.clone();
        let (seen, before) = read_target(target)?;
        let (path, after) = (seen.path.clone(), before.clone());
        let change = ClientFileChange::Unchanged;
        let outcome = PlannedChange {
            path,
            change,
            before,
            after,
            backup: None,
            seen,
            obsolete: Vec::new(),
            needs_backup: false,
        };
        let Some(text) = &outcome.before else {
            return Ok(outcome);
        };
        let action = format!("list the backups of {}", outcome.path.display());
        let backups = outcome.seen.backups().map_err(Failure::file(action))?;
        let former = |path: PathBuf| std::fs::read_to_string(&path).ok().map(|text| (path, text));
        let formers: Vec<(PathBuf, String)> =
            backups.into_iter().rev().filter_map(former).collect();
        let texts: Vec<&str> = formers.iter().map(|(_, text)| text.as_str()).collect();
        let rest = plan::uninstall(text, &entries, &self.own, &texts)
            .map_err(client_file_failure(&outcome.path))?;
        let (change, after) = match rest {
            UninstallResult::Same => return Ok(outcome),
            UninstallResult::Text(text) => (ClientFileChange::Changed, Some(text)),
            UninstallResult::Nothing => (ClientFileChange::Removed, None),
            UninstallResult::Former(index) => {
                (ClientFileChange::Restored, Some(formers[index].1.clone()))
            }
        };
        // The user may have added values to the entries.
        let needs_backup = change != ClientFileChange::Restored
            && !plan::is_complete(after.as_deref(), text, &entries, &self.own);
        let is_obsolete =
            |text: &str| plan::is_obsolete(text, after.as_deref(), &entries, &self.own);
        let obsolete = formers
            .iter()
            .filter(|(_, text)| is_obsolete(text))
            .map(|(path, _)| path.clone())
            .collect();
        Ok(PlannedChange {
            change,
            after,
            obsolete,
            needs_backup,
            ..outcome
        })
    }
}

impl PlannedChange {
    /// Returns the change as a unified diff with three lines of context; empty if nothing changes.
    ///
    /// Credentials are redacted.
    pub fn diff(&self) -> String {
        let name = |text: Option<&str>| {
            if text.is_some() {
                self.path.display().to_string()
            } else {
                "/dev/null".to_owned()
            }
        };
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        let lines = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
        let lines = lines
            .unified_diff()
            .header(&name(before), &name(after))
            .to_string();
        redact(&lines).map_or(lines, |redacted| redacted.text)
    }
}

impl ClientFileChange {
    /// Returns the name of the change.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Restored => "restored",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

fn read_target(target: ClientFile) -> Result<(ClientFileSnapshot, Option<String>), Failure> {
    let ClientFile {
        mut paths, project, ..
    } = target;
    let index = paths
        .iter()
        .position(|path| path.exists())
        .unwrap_or(paths.len() - 1);
    let path = paths.swap_remove(index);
    let seen = ClientFileSnapshot::read(&path, project.as_deref())
        .map_err(Failure::file(format!("read {}", path.display())))?;
    let text = seen.bytes.as_deref().map(|bytes| {
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|error| {
                let start = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                client_file_failure(&path)(ClientFileError::malformed(
                    &start,
                    start.len(),
                    "the file is not valid UTF-8",
                ))
            })
    });
    let text = text.transpose()?;
    Ok((seen, text))
}

fn client_file_failure(path: &Path) -> impl Fn(ClientFileError) -> Failure {
    let path = path.display().to_string();
    move |refusal| match refusal.reason {
        ClientFileReason::Unreadable(what) => Failure::Store(StoreError::Damaged(Problem {
            code: Code::FileDamaged,
            path: path.clone(),
            line: Some(refusal.line),
            what,
            hint: Some("the file was not changed; correct it and try again"),
        })),
        ClientFileReason::OtherName { name } => Failure::usage(
            format!(
                "{path}:{}: this program already has the entry {name}",
                refusal.line
            ),
            "omit --name, or remove the entry with `memory uninstall` first",
        ),
        ClientFileReason::Taken { key, content } => Failure::Taken {
            place: format!("{path}:{}", refusal.line),
            key,
            content: redact(&content).map_or(content, |redacted| redacted.text),
        },
    }
}

/// Returns the path of the program and of the home, which is `None` if it is the default.
fn user_command(
    root: Option<&Path>,
    folders: &ClientFolders,
    environment: &Environment,
) -> Result<(String, Option<String>), Failure> {
    let program = environment
        .program
        .as_deref()
        .map(|program| stable_program_path(program, environment));
    let program = program.ok_or_else(|| {
        Failure::usage(
            "cannot determine the path of this program",
            "run it by its full path",
        )
    })?;
    let root = root
        .or(environment.root.as_deref())
        .map(|root| environment.absolute_path(root));
    let root = root.filter(|root| *root != folders.home.join(".memory"));
    Ok((
        utf8_path(&program)?,
        root.as_deref().map(utf8_path).transpose()?,
    ))
}

/// Returns the path at which `PATH` finds the program, else `program`.
///
/// That path remains valid after an upgrade, while its target may be in a folder with a version.
fn stable_program_path(program: &Path, environment: &Environment) -> PathBuf {
    let (Some(paths), Some(name)) = (&environment.path, program.file_name()) else {
        return program.to_owned();
    };
    let found = std::env::split_paths(paths)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    let Ok(own) = program.canonicalize() else {
        return program.to_owned();
    };
    let mut same = found.filter(|found| found.canonicalize().is_ok_and(|found| found == own));
    same.next().unwrap_or_else(|| program.to_owned())
}

fn utf8_path(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::usage(
            format!("the path {} is not valid UTF-8", path.display()),
            "use a path in UTF-8",
        )
    })
}
