//! The daemon as a service of the user: a systemd unit on Linux, and a launch agent on macOS.
//!
//! A service is data: its files, and the commands that start and stop it. `manager.rs` writes the files and runs the commands.

mod launchd;
mod manager;
mod systemd;

use std::path::PathBuf;

pub(crate) use manager::{ServiceManager, ServiceStatus, write_units};

/// The first line of the files, by which they are recognized, those of earlier versions too; so it never changes.
const MARKER: &str = "Written by `memory service install`; `memory service uninstall` deletes it.";

/// Exit code of the daemon with which the service manager starts it again.
pub(crate) const RESTART_EXIT_CODE: i32 = 75;

/// The daemon of a home, as a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    /// The name of the unit, without extension: `memory` for the default home.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// The home of the memories.
    pub root: PathBuf,
    /// The address for HTTP, if it is served.
    pub http: Option<String>,
}

impl Service {
    /// Returns the command line of the daemon.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            self.program.display().to_string(),
            "daemon".into(),
            "run".into(),
            "--log".into(),
            "-".into(),
        ];
        arguments.extend(["--root".into(), self.root.display().to_string()]);
        if let Some(address) = &self.http {
            arguments.extend(["--http".into(), address.clone()]);
        }
        arguments
    }
}

/// A file of a service.
#[derive(Debug, PartialEq, Eq)]
struct ServiceFile {
    path: PathBuf,
    text: String,
}

/// Restrictions of the service by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sandbox {
    /// All restrictions, including those that need namespaces of the user.
    Full,
    /// Only the restrictions that every system supports.
    WithoutNamespaces,
}
