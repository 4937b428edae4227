//! The folders with the configuration files of clients.

use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::failure::Failure;

/// The folders with the configuration files of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFolders {
    /// The home folder of the user.
    pub home: PathBuf,
    /// The folder for settings: `XDG_CONFIG_HOME`, else `~/.config`.
    pub config: PathBuf,
    /// The folder for settings of desktop applications on this system.
    pub application: PathBuf,
    /// The value of `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// The value of `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// The value of `GEMINI_CLI_HOME`.
    pub gemini: Option<PathBuf>,
    /// The folder of the project, which is the current folder.
    pub project: PathBuf,
}

impl ClientFolders {
    /// Returns the folders for an environment.
    ///
    /// # Errors
    /// If there is no home folder or no current folder.
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        let hint = "set HOME";
        let home = environment.home.clone().ok_or_else(|| Failure::usage("cannot determine the home folder", hint))?;
        let project = environment.folder.clone();
        let project =
            project.ok_or_else(|| Failure::usage("the current folder does not exist", "change to an existing folder"))?;
        let whole = |path: &Option<PathBuf>| path.as_deref().map(|path| environment.absolute_path(path));
        // The XDG base directory specification ignores a relative path.
        let named = environment.config_folder.clone().filter(|folder| folder.is_absolute());
        let config = named.unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            application: application_folder(&home, &config),
            claude: whole(&environment.claude),
            codex: whole(&environment.codex),
            gemini: whole(&environment.gemini),
            home,
            config,
            project,
        })
    }
}

fn application_folder(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config.to_owned() }
}
