//! Where clients keep their files.

use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::failure::Failure;

/// Where clients keep their files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The person's home.
    pub home: PathBuf,
    /// Where programs keep settings: `XDG_CONFIG_HOME`, else `~/.config`.
    pub config: PathBuf,
    /// Where applications with windows keep settings on this system.
    pub application: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`.
    pub gemini: Option<PathBuf>,
    /// The folder of the project: the one that the person is in.
    pub project: PathBuf,
}

impl Folders {
    /// Returns where clients keep their files in an environment.
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        let hint = "HOME says where it is";
        let home = environment.home.clone().ok_or_else(|| Failure::usage("there is no home folder", hint))?;
        let project = environment.folder.clone();
        let project = project.ok_or_else(|| Failure::usage("there is no current folder", "go into one that exists"))?;
        let whole = |path: &Option<PathBuf>| path.as_deref().map(|path| environment.whole(path));
        // The standard has it that a relative path there means nothing.
        let named = environment.config_folder.clone().filter(|folder| folder.is_absolute());
        let config = named.unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            application: application(&home, &config),
            claude: whole(&environment.claude),
            codex: whole(&environment.codex),
            gemini: whole(&environment.gemini),
            home,
            config,
            project,
        })
    }
}

fn application(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config.to_owned() }
}
