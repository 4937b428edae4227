//! The supported clients, their folders and their configuration files.

use std::path::{Path, PathBuf};

use super::plan::ClientEntry;
use super::server::{JsonServerEntry, ServerEntryFormat};
use crate::config::Environment;
use crate::failure::Failure;

/// A program that can be configured to use the memories.
#[derive(Debug)]
pub struct Client {
    /// The name on the command line, and the agent name for memories that the client writes.
    pub name: &'static str,
    /// The name that its vendor uses.
    pub title: &'static str,
    /// Returns the configuration files of the client.
    pub(crate) files: fn(&ClientFolders, InstallLevel) -> Vec<ClientFile>,
    /// A note for the user about changes in project files; a restart of the client is always needed.
    pub project_note: Option<&'static str>,
}

/// Where the client is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallLevel {
    /// For the user, in all projects.
    User,
    /// For one project and all its users.
    Project,
}

/// A configuration file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFile {
    /// The possible paths: the first that exists is used, else the last.
    pub paths: Vec<PathBuf>,
    /// The kind of entry in the file.
    pub part: ClientEntry,
}

impl Client {
    /// All clients, in the order of the help.
    pub const ALL: [&'static Self; 6] = [&CLAUDE_CODE, &CODEX, &CURSOR, &GEMINI, &VSCODE, &OPENCODE];

    /// Returns the client with this name on the command line, such as `codex`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|client| client.name == name)
    }
}

impl InstallLevel {
    /// Returns the name of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl ClientFile {
    fn new(path: PathBuf, part: ClientEntry) -> Self {
        Self { paths: vec![path], part }
    }
}

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

/// Claude Code.
///
/// Servers are in `~/.claude.json` or a project's `.mcp.json`; hooks are in `settings.json` of `~/.claude` or of a
/// project's `.claude`. With `CLAUDE_CONFIG_DIR`, both user files are in that folder. Source:
/// <https://code.claude.com/docs/en/settings>.
const CLAUDE_CODE: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    files: claude_code_files,
    project_note: Some("Claude Code asks whether to trust the server at its next start in this project"),
};

fn claude_code_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let (servers, settings) = match (level, &folders.claude) {
        (InstallLevel::Project, _) => (folders.project.join(".mcp.json"), folders.project.join(".claude/settings.json")),
        (InstallLevel::User, Some(folder)) => (folder.join(".claude.json"), folder.join("settings.json")),
        (InstallLevel::User, None) => (folders.home.join(".claude.json"), folders.home.join(".claude/settings.json")),
    };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Stdio });
    vec![ClientFile::new(servers, server), ClientFile::new(settings, ClientEntry::Hooks)]
}

/// Codex.
///
/// Servers are the tables `mcp_servers.<name>` in `config.toml` of `~/.codex` (or `CODEX_HOME`), or of `.codex` in a
/// trusted project. Source: <https://developers.openai.com/codex/mcp>.
const CODEX: Client = Client {
    name: "codex",
    title: "Codex",
    files: codex_files,
    project_note: Some("Codex reads this file only in trusted projects"),
};

fn codex_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => folders.project.join(".codex"),
        InstallLevel::User => folders.codex.clone().unwrap_or_else(|| folders.home.join(".codex")),
    };
    vec![ClientFile::new(folder.join("config.toml"), ClientEntry::Toml)]
}

/// Cursor.
///
/// Servers are under `mcpServers` in `mcp.json` of `~/.cursor` or of a project's `.cursor`. Source: <https://cursor.com/docs/mcp>.
const CURSOR: Client = Client { name: "cursor", title: "Cursor", files: cursor_files, project_note: None };

fn cursor_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = if level == InstallLevel::Project { &folders.project } else { &folders.home };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Stdio });
    vec![ClientFile::new(folder.join(".cursor/mcp.json"), server)]
}

/// Gemini CLI.
///
/// Servers are under `mcpServers` in `.gemini/settings.json` of the home folder (or `GEMINI_CLI_HOME`) or of a project.
/// Source: <https://geminicli.com/docs/tools/mcp-server/>.
const GEMINI: Client = Client { name: "gemini", title: "Gemini CLI", files: gemini_files, project_note: None };

fn gemini_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => &folders.project,
        InstallLevel::User => folders.gemini.as_ref().unwrap_or(&folders.home),
    };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Command });
    vec![ClientFile::new(folder.join(".gemini/settings.json"), server)]
}

/// Visual Studio Code.
///
/// Servers are under `servers` in `mcp.json` of the user profile or of a project's `.vscode`. Source:
/// <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>.
const VSCODE: Client = Client { name: "vscode", title: "Visual Studio Code", files: vscode_files, project_note: None };

fn vscode_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let path = match level {
        InstallLevel::Project => folders.project.join(".vscode/mcp.json"),
        InstallLevel::User => folders.application.join("Code/User/mcp.json"),
    };
    vec![ClientFile::new(path, ClientEntry::Server(JsonServerEntry { under: "servers", form: ServerEntryFormat::Stdio }))]
}

/// opencode.
///
/// Servers are under `mcp` in `opencode.jsonc` or `opencode.json`, in `~/.config/opencode` (or below `XDG_CONFIG_HOME`) or
/// in a project. Source: <https://opencode.ai/docs/config/>.
const OPENCODE: Client = Client { name: "opencode", title: "opencode", files: opencode_files, project_note: None };

fn opencode_files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => folders.project.clone(),
        InstallLevel::User => folders.config.join("opencode"),
    };
    // opencode reads both files, and the first takes precedence.
    let paths = ["opencode.jsonc", "opencode.json"].map(|name| folder.join(name)).to_vec();
    vec![ClientFile { paths, part: ClientEntry::Server(JsonServerEntry { under: "mcp", form: ServerEntryFormat::Local }) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> ClientFolders {
        ClientFolders {
            home: "/home".into(),
            config: "/home/.config".into(),
            application: "/home/apps".into(),
            claude: None,
            codex: None,
            gemini: None,
            project: "/work".into(),
        }
    }

    fn paths(folders: &ClientFolders, level: InstallLevel) -> Vec<String> {
        let line = |client: &&Client| {
            let files = (client.files)(folders, level);
            let paths = files.iter().flat_map(|target| &target.paths).map(|path| path.display().to_string());
            format!("{} {}", client.name, paths.collect::<Vec<_>>().join(" "))
        };
        Client::ALL.iter().map(line).collect()
    }

    #[test]
    fn each_client_has_its_files() {
        let of_person = [
            "claude-code /home/.claude.json /home/.claude/settings.json",
            "codex /home/.codex/config.toml",
            "cursor /home/.cursor/mcp.json",
            "gemini /home/.gemini/settings.json",
            "vscode /home/apps/Code/User/mcp.json",
            "opencode /home/.config/opencode/opencode.jsonc /home/.config/opencode/opencode.json",
        ];
        assert_eq!(paths(&folders(), InstallLevel::User), of_person);
        let of_project = [
            "claude-code /work/.mcp.json /work/.claude/settings.json",
            "codex /work/.codex/config.toml",
            "cursor /work/.cursor/mcp.json",
            "gemini /work/.gemini/settings.json",
            "vscode /work/.vscode/mcp.json",
            "opencode /work/opencode.jsonc /work/opencode.json",
        ];
        assert_eq!(paths(&folders(), InstallLevel::Project), of_project);
    }

    #[test]
    fn a_client_may_have_its_own_folder() {
        let own = ClientFolders { claude: Some("/c".into()), codex: Some("/x".into()), gemini: Some("/g".into()), ..folders() };
        let paths = paths(&own, InstallLevel::User);
        assert_eq!(paths[0], "claude-code /c/.claude.json /c/settings.json");
        assert_eq!(paths[1], "codex /x/config.toml");
        assert_eq!(paths[3], "gemini /g/.gemini/settings.json");
        assert_eq!(super::tests::paths(&own, InstallLevel::Project), super::tests::paths(&folders(), InstallLevel::Project));
    }
}
