//! Writes the files of services, and runs the commands of the service manager.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use memory_core::text::to_one_line;

use super::{MARKER, Sandbox, Service, ServiceFile, launchd, systemd};
use crate::config::Environment;
use crate::failure::Failure;
use memory_store::system::user_id_of_owner;

/// Maximum length of the output of a failed command in a message, in bytes.
const MAX_OUTPUT: usize = 300;

/// The service manager of the user.
#[derive(Debug)]
pub(crate) struct ServiceManager {
    kind: ManagerKind,
    /// The folder of the user's services.
    folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ManagerKind {
    Systemd,
    /// The id of the user is part of the commands.
    Launchd(u32),
}

/// An installed service.
#[derive(Debug)]
pub(crate) struct ServiceStatus {
    /// The files of the service.
    pub files: Vec<PathBuf>,
    /// The state, in the words of the service manager, such as `active (running)`.
    pub state: String,
    /// Whether the system supports all restrictions of the service.
    pub is_sandboxed: bool,
}

impl ServiceManager {
    /// Returns the service manager of this system.
    ///
    /// # Errors
    /// If the system has none that is supported, or the home folder of the user is not known.
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        let hint = "start `memory daemon run` when you log in";
        let home = environment
            .home
            .as_ref()
            .ok_or_else(|| Failure::usage("the home folder of the user is not known", hint))?;
        if cfg!(target_os = "linux") {
            let config = environment
                .config_folder
                .clone()
                .unwrap_or_else(|| home.join(".config"));
            return Ok(Self {
                kind: ManagerKind::Systemd,
                folder: config.join("systemd/user"),
            });
        }
        let Some(user) = user_id_of_owner(home).filter(|_| cfg!(target_os = "macos")) else {
            return Err(Failure::usage(
                "services are supported only on Linux and macOS",
                hint,
            ));
        };
        Ok(Self {
            kind: ManagerKind::Launchd(user),
            folder: home.join("Library/LaunchAgents"),
        })
    }

    /// Returns whether this system has a service manager that accepts commands of the user.
    pub(crate) fn is_available() -> bool {
        let command = if cfg!(target_os = "macos") {
            ["launchctl", "version"]
        } else {
            ["systemctl", "--user"]
        };
        run(&command.map(str::to_owned)).is_ok()
    }

    /// Installs a service, or updates it, and starts it.
    ///
    /// # Errors
    /// If a file belongs to another program, or the service cannot be started. Then nothing is installed.
    pub(crate) fn install(&self, service: &Service) -> Result<ServiceStatus, Failure> {
        let mut sandbox = Sandbox::Full;
        loop {
            let files = self.files(service, sandbox);
            files.iter().try_for_each(check_own)?;
            files.iter().try_for_each(write)?;
            let started = self
                .start_commands(service, &files)
                .iter()
                .try_for_each(|command| run(command).map(drop));
            let Err(error) = started else {
                let status = self.status(&service.name)?;
                return status.ok_or_else(|| {
                    manager_error("start the service", "its files were deleted meanwhile")
                });
            };
            let is_refused = self
                .state(&service.name)
                .is_ok_and(|(_, is_refused)| is_refused);
            if !is_refused || sandbox == Sandbox::WithoutNamespaces {
                // The first error is reported.
                let _ = self.uninstall(&service.name);
                return Err(error);
            }
            sandbox = Sandbox::WithoutNamespaces;
        }
    }

    /// Stops a service, and deletes its files. Returns the deleted files.
    ///
    /// # Errors
    /// If the service manager or a file cannot be used.
    pub(crate) fn uninstall(&self, name: &str) -> Result<Vec<PathBuf>, Failure> {
        let files = self.installed_files(name);
        if files.is_empty() {
            return Ok(files);
        }
        let (stop, cleanup) = match self.kind {
            ManagerKind::Systemd => (systemd::stop_commands(name), systemd::cleanup_commands()),
            ManagerKind::Launchd(user) => (launchd::stop_commands(name, user), Vec::new()),
        };
        let stopped = stop.iter().try_for_each(|command| run(command).map(drop));
        for file in &files {
            fs::remove_file(file).map_err(Failure::file(format!("delete {}", file.display())))?;
        }
        // The service manager may not know the service.
        let _ = cleanup
            .iter()
            .try_for_each(|command| run(command).map(drop));
        stopped.map(|()| files)
    }

    /// Returns the state of a service, or `None` if it is not installed.
    ///
    /// # Errors
    /// If the service manager cannot be used.
    pub(crate) fn status(&self, name: &str) -> Result<Option<ServiceStatus>, Failure> {
        let files = self.installed_files(name);
        let Some(first) = files.first() else {
            return Ok(None);
        };
        let is_sandboxed =
            fs::read_to_string(first).is_ok_and(|text| text.contains("ProtectSystem"));
        let (state, _) = self.state(name)?;
        Ok(Some(ServiceStatus {
            files,
            state,
            is_sandboxed,
        }))
    }

    fn files(&self, service: &Service, sandbox: Sandbox) -> Vec<ServiceFile> {
        match self.kind {
            ManagerKind::Systemd => systemd::files(service, &self.folder, sandbox),
            ManagerKind::Launchd(_) => launchd::files(service, &self.folder),
        }
    }

    fn start_commands(&self, service: &Service, files: &[ServiceFile]) -> Vec<Vec<String>> {
        match self.kind {
            ManagerKind::Systemd => systemd::start_commands(service),
            ManagerKind::Launchd(user) => files
                .iter()
                .flat_map(|file| launchd::start_commands(&file.path, &service.name, user))
                .collect(),
        }
    }

    /// Returns the state of a service, and whether the system refused its restrictions.
    fn state(&self, name: &str) -> Result<(String, bool), Failure> {
        match self.kind {
            ManagerKind::Systemd => Ok(systemd::parse_state(&run(&systemd::state_command(name))?)),
            ManagerKind::Launchd(user) => Ok((
                launchd::parse_state(&run(&launchd::state_command(name, user))?),
                false,
            )),
        }
    }

    /// Returns the files of a service that exist and that this program wrote.
    pub(crate) fn installed_files(&self, name: &str) -> Vec<PathBuf> {
        let service = Service {
            name: name.to_owned(),
            program: PathBuf::new(),
            root: PathBuf::new(),
            http: None,
        };
        let files = self
            .files(&service, Sandbox::Full)
            .into_iter()
            .map(|file| file.path);
        files
            .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(MARKER)))
            .collect()
    }
}

/// Writes the units of systemd for a package, with the default home of each user.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_units(program: &Path, folder: &Path) -> Result<(), Failure> {
    // systemd replaces `%h` by the home folder of the user. A path cannot contain it, since `%` is quoted.
    const HOME: &str = "/HOME-OF-THE-USER";
    let service = Service {
        name: "memory".into(),
        program: program.to_owned(),
        root: Path::new(HOME).join(".memory"),
        http: None,
    };
    systemd::files(&service, folder, Sandbox::Full)
        .into_iter()
        .map(|file| ServiceFile {
            text: file
                .text
                .replace(HOME, "%h")
                .replace(MARKER, "From the package"),
            ..file
        })
        .try_for_each(|file| write(&file))
}

/// Returns an error if a file exists that this program did not write.
fn check_own(file: &ServiceFile) -> Result<(), Failure> {
    match fs::read_to_string(&file.path) {
        Ok(text) if !text.contains(MARKER) => {
            let why = format!(
                "{} exists, and was not written by `memory daemon`",
                file.path.display()
            );
            Err(Failure::usage(
                why,
                "nothing was changed; delete or rename the file, and try again",
            ))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::file(format!("read {}", file.path.display()))(
            error,
        )),
    }
}

/// Replaces a file atomically.
fn write(file: &ServiceFile) -> Result<(), Failure> {
    let replace = || {
        let folder = file.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(file.text.as_bytes())?;
        draft.persist(&file.path).map_err(|error| error.error)?;
        Ok(())
    };
    replace().map_err(Failure::file(format!("write {}", file.path.display())))
}

/// Runs a command, and returns its output.
fn run(command: &[String]) -> Result<String, Failure> {
    let action = || format!("run `{}`", command.join(" "));
    let [program, arguments @ ..] = command else {
        unreachable!("a command has a program")
    };
    let done = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| manager_error(action(), error.to_string()))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let output = to_one_line(&String::from_utf8_lossy(&done.stderr), MAX_OUTPUT);
    Err(manager_error(
        action(),
        if output.is_empty() {
            done.status.to_string()
        } else {
            output
        },
    ))
}

fn manager_error(action: impl Into<String>, why: impl Into<String>) -> Failure {
    Failure::ServiceManager {
        action: action.into(),
        why: why.into(),
    }
}
