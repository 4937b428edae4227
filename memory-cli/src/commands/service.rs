//! The `memory daemon` command.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memory_store::DaemonLock;
use serde_json::json;

use super::print_note;
use super::serve::ServeArgs;
use crate::app::App;
use crate::failure::Failure;
use crate::http::parse_address;
use crate::print::{Table, TableColumn};
use crate::service::{self, Service, ServiceManager, ServiceStatus};

/// Run the daemon, which works in the background, or install it as a service
///
/// The service starts when you log in. On Linux the service is a unit of systemd, on macOS a launch agent. Each home has its own service; --root selects the home.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    command: DaemonCommand,
}

#[derive(Debug, Subcommand)]
enum DaemonCommand {
    Run(ServeArgs),
    Install(ServiceInstallArgs),
    /// Stop the service, and delete its files
    ///
    /// No memory is changed.
    ///
    /// JSON: {name, home, deleted}
    Uninstall,
    /// Show the state of the service
    ///
    /// JSON: {name, home, installed, state?, sandboxed?, files?}
    Status,
    #[command(hide = true)]
    Units(ServiceUnitsArgs),
}

/// Install the service, or update it, and start it
///
/// An agent that connects to the socket of the home starts the service too. On systems that support it, the service can write
/// only to your home folder and to the home of the memories.
///
/// JSON: {name, home, installed, state, sandboxed, files}
#[derive(Debug, Args)]
struct ServiceInstallArgs {
    /// Also serve tools, instances and MCP (at /mcp) over HTTP, only to your own programs
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8717", value_parser = check_address)]
    http: Option<String>,
}

/// Write the units of systemd for a package, with the default home of each user
#[derive(Debug, Args)]
struct ServiceUnitsArgs {
    /// Path of the program in the package
    #[arg(long, value_name = "PATH")]
    program: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
}

impl DaemonArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            DaemonCommand::Run(command) => return command.run(app),
            DaemonCommand::Units(arguments) => {
                return service::write_units(&arguments.program, &arguments.output);
            }
            DaemonCommand::Install(_) | DaemonCommand::Uninstall | DaemonCommand::Status => {}
        }
        let manager = ServiceManager::of(app.environment)?;
        let service = find_service(app)?;
        match &self.command {
            DaemonCommand::Install(arguments) => arguments.run(&manager, service, app),
            DaemonCommand::Uninstall => uninstall(&manager, &service, app),
            DaemonCommand::Run(_) | DaemonCommand::Status | DaemonCommand::Units(_) => {
                print_status(&manager, &service, app)
            }
        }
    }
}

impl ServiceInstallArgs {
    fn run(
        &self,
        manager: &ServiceManager,
        service: Service,
        app: &mut App,
    ) -> Result<(), Failure> {
        let service = Service {
            http: self.http.clone(),
            ..service
        };
        let is_installed = manager
            .status(&service.name)
            .is_ok_and(|status| status.is_some());
        if let (Some(process), false) = (DaemonLock::find_running(&service.root)?, is_installed) {
            let id = process
                .pid
                .map_or_else(String::new, |pid| format!(" (process {pid})"));
            let why = format!(
                "a daemon already runs for {}{id}",
                app.output.display_path(&service.root)
            );
            return Err(Failure::usage(why, "stop it, and try again"));
        }
        if !ServiceManager::is_available() {
            let why = "no service manager runs for this user, so nothing was installed";
            return Err(Failure::usage(
                why,
                "start `memory daemon run` when you log in; `memory doctor --system` checks the system",
            ));
        }
        let status = manager.install(&service)?;
        print(&service, &status, app)?;
        print_note(
            app,
            "the service starts when you log in; `memory daemon uninstall` deletes it",
        )
    }
}

/// Stops the service of the home and deletes its files, if it is installed. Returns the files; with `is_rehearsal`, it only lists them.
pub(super) fn uninstall_if_installed(
    is_rehearsal: bool,
    app: &mut App,
) -> Result<Vec<PathBuf>, Failure> {
    let Ok(manager) = ServiceManager::of(app.environment) else {
        return Ok(Vec::new());
    };
    let service = find_service(app)?;
    let files = if is_rehearsal {
        manager.installed_files(&service.name)
    } else {
        manager.uninstall(&service.name)?
    };
    let action = if is_rehearsal {
        "would delete"
    } else {
        "deleted"
    };
    for file in &files {
        let file = app.output.display_path(file);
        print_note(app, &format!("{action} {file}"))?;
    }
    Ok(files)
}

fn uninstall(manager: &ServiceManager, service: &Service, app: &mut App) -> Result<(), Failure> {
    let deleted = manager.uninstall(&service.name)?;
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "name": service.name, "home": service.root, "deleted": deleted }));
    }
    if deleted.is_empty() {
        let home = app.output.display_path(&service.root);
        return print_note(
            app,
            &format!("no service is installed for {home}; nothing was changed"),
        );
    }
    for file in &deleted {
        let file = app.output.display_path(file);
        app.output.fields(&["deleted", &file])?;
    }
    Ok(())
}

fn print_status(manager: &ServiceManager, service: &Service, app: &mut App) -> Result<(), Failure> {
    let Some(status) = manager.status(&service.name)? else {
        if app.output.is_json() {
            return app
                .output
                .json(&json!({ "name": service.name, "home": service.root, "installed": false }));
        }
        let home = app.output.display_path(&service.root);
        return print_note(
            app,
            &format!("no service is installed for {home}; `memory daemon install` installs it"),
        );
    };
    print(service, &status, app)
}

fn print(service: &Service, status: &ServiceStatus, app: &mut App) -> Result<(), Failure> {
    let ServiceStatus {
        files,
        state,
        is_sandboxed,
    } = status;
    if app.output.is_json() {
        return app.output.json(&json!({
            "name": service.name, "home": service.root, "installed": true, "state": state, "sandboxed": is_sandboxed,
            "files": files,
        }));
    }
    let mut table = Table::new([TableColumn::Text("what"), TableColumn::Text("value")]);
    table.push(["service", &service.name]);
    table.push(["home", &app.output.display_path(&service.root)]);
    table.push(["state", state]);
    table.push([
        "sandbox",
        if *is_sandboxed {
            "all restrictions"
        } else {
            "without namespaces, which this system does not allow"
        },
    ]);
    for file in files {
        table.push(["file", &app.output.display_path(file)]);
    }
    app.output.table(&table)
}

/// Checks an address, which the service resolves when it starts.
fn check_address(text: &str) -> Result<String, String> {
    parse_address(text).map(|_| text.to_owned())
}

/// Returns the service of the home that the settings specify.
fn find_service(app: &mut App) -> Result<Service, Failure> {
    let settings = app.settings()?;
    let environment = app.environment;
    let root = environment.absolute_path(&settings.root.value);
    let missing = || {
        Failure::usage(
            "the path of this program is not known",
            "start it by its path",
        )
    };
    let program = environment.program.clone().ok_or_else(missing)?;
    let usual = environment.home.as_ref().map(|home| home.join(".memory"));
    let name = if usual.as_ref() == Some(&root) {
        "memory".to_owned()
    } else {
        service_name(&root)
    };
    Ok(Service {
        name,
        program,
        root,
        http: None,
    })
}

/// Returns the name of the service of another home than the default one: the name of its folder and a checksum of its path.
fn service_name(root: &Path) -> String {
    let folder = root.file_name().unwrap_or_default().to_string_lossy();
    let folder: String = folder.chars().filter(char::is_ascii_alphanumeric).collect();
    format!(
        "memory-{folder}-{:08x}",
        crc32fast::hash(root.as_os_str().as_encoded_bytes())
    )
}
