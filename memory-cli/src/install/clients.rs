//! The supported clients, their folders and their configuration files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::hooks::{HookFormat, HookStyle};
use super::plan::ClientEntry;
use super::server::{NAME, ServerEntryFormat, ServerFormat};
use crate::config::Environment;
use crate::failure::Failure;
use crate::notification::find_program;

/// A program that can be configured to use the memories.
#[derive(Debug)]
pub struct Client {
    /// The name on the command line, and the agent name for memories that the client writes.
    pub name: &'static str,
    /// The name that its vendor uses.
    pub title: &'static str,
    /// Its command, if it has one.
    pub(crate) program: Option<&'static str>,
    /// Its configuration files.
    files: &'static [ClientFileSpec],
    /// A note for the user about each change; a restart of the client is always needed.
    pub note: Option<&'static str>,
    /// A note for the user about changes in project files.
    pub project_note: Option<&'static str>,
}

/// A configuration file of a client at each level.
#[derive(Debug)]
struct ClientFileSpec {
    /// The possible places for the user, each as a folder and a path in it: the first that exists is used, else the last.
    user: &'static [(ClientFolder, &'static str)],
    /// The possible paths in a project; empty if the client has no such file.
    project: &'static [&'static str],
    /// The kinds of entries in the file.
    entries: &'static [ClientEntry],
}

const fn file(
    user: &'static [(ClientFolder, &'static str)],
    project: &'static [&'static str],
    entries: &'static [ClientEntry],
) -> ClientFileSpec {
    ClientFileSpec {
        user,
        project,
        entries,
    }
}

/// A folder with configuration files of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientFolder {
    /// The home folder.
    Home,
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// `~/.config`, and on Linux `XDG_CONFIG_HOME`.
    UnixConfig,
    /// The folder of applications with windows.
    Application,
    /// The folder of the servers of Claude Code: `CLAUDE_CONFIG_DIR`, else the home folder.
    ClaudeServers,
    /// The folder of Claude Code: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    Claude,
    /// The folder of Codex: `CODEX_HOME`, else `~/.codex`.
    Codex,
    /// The folder of Gemini CLI: `.gemini` in `GEMINI_CLI_HOME`, else in the home folder.
    Gemini,
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
    /// The kinds of entries in the file.
    pub entries: Vec<ClientEntry>,
    /// The folder of the project that the file belongs to; `None` for a file of the user.
    pub project: Option<PathBuf>,
}

impl Client {
    /// All clients, in the order of the help.
    pub const ALL: [&'static Self; 12] = [
        &CLAUDE_CODE,
        &CODEX,
        &CURSOR,
        &GEMINI,
        &VSCODE,
        &OPENCODE,
        &CLAUDE_DESKTOP,
        &WINDSURF,
        &ZED,
        &CLINE,
        &ROO_CODE,
        &GOOSE,
    ];

    /// Returns the configuration files of the client; none if it has no files at the level.
    pub(crate) fn files(&self, folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
        let specs = self.files.iter().map(|spec| ClientFile {
            paths: match level {
                InstallLevel::User => {
                    let places = spec.user.iter();
                    places
                        .map(|(folder, path)| folders.path(*folder).join(path))
                        .collect()
                }
                InstallLevel::Project => {
                    let paths = spec.project.iter();
                    paths.map(|path| folders.project.join(path)).collect()
                }
            },
            entries: spec.entries.to_vec(),
            project: (level == InstallLevel::Project).then(|| folders.project.clone()),
        });
        specs.filter(|file| !file.paths.is_empty()).collect()
    }

    /// Returns the clients that are found on this machine.
    pub(crate) fn present(environment: &Environment) -> impl Iterator<Item = &'static Self> {
        let folders = ClientFolders::of(environment).ok();
        let is_present = move |client: &&Self| {
            let folders = folders.as_ref();
            folders.is_some_and(|folders| client.is_present(folders))
        };
        Self::ALL.into_iter().filter(is_present)
    }

    /// Returns whether the client has files or a folder of its own in the home folder, or its command is on the `PATH`.
    pub(crate) fn is_present(&self, folders: &ClientFolders) -> bool {
        if self
            .program
            .is_some_and(|program| find_program(program, folders.path.as_deref()).is_some())
        {
            return true;
        }
        let shared = [&folders.home, &folders.config, &folders.application];
        self.files(folders, InstallLevel::User)
            .iter()
            .flat_map(|file| &file.paths)
            .any(|path| {
                let own = path
                    .parent()
                    .filter(|folder| !shared.iter().any(|shared| shared == folder));
                path.exists() || own.is_some_and(Path::exists)
            })
    }

    /// Returns whether a file of the client, which may be damaged, contains the name of this program.
    pub(crate) fn may_have_entries(&self, folders: &ClientFolders) -> bool {
        let files = self
            .files(folders, InstallLevel::User)
            .into_iter()
            .flat_map(|file| file.paths);
        let contents = files.filter_map(|path| fs::read(path).ok());
        contents
            .into_iter()
            .any(|bytes| String::from_utf8_lossy(&bytes).contains(NAME))
    }

    /// Returns whether the folder of the client's own memory can be set.
    pub(crate) fn has_topics_setting(&self) -> bool {
        self.name == CLAUDE_CODE.name
    }

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
    /// The value of `PATH`.
    pub path: Option<OsString>,
}

impl ClientFolders {
    /// Returns the folders for an environment.
    ///
    /// # Errors
    /// If there is no home folder or no current folder.
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        let hint = "set HOME";
        let home = environment
            .home
            .clone()
            .ok_or_else(|| Failure::usage("cannot determine the home folder", hint))?;
        let project = environment.folder.clone();
        let project = project.ok_or_else(|| {
            Failure::usage(
                "the current folder does not exist",
                "change to an existing folder",
            )
        })?;
        let whole =
            |path: &Option<PathBuf>| path.as_deref().map(|path| environment.absolute_path(path));
        // The XDG base directory specification ignores a relative path.
        let named = environment
            .config_folder
            .clone()
            .filter(|folder| folder.is_absolute());
        let config = named.unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            application: application_folder(&home, &config),
            claude: whole(&environment.claude),
            codex: whole(&environment.codex),
            gemini: whole(&environment.gemini),
            path: environment.path.clone(),
            home,
            config,
            project,
        })
    }
}

impl ClientFolders {
    /// Returns the path of a folder.
    pub(super) fn path(&self, folder: ClientFolder) -> PathBuf {
        let own = |named: &Option<PathBuf>, name: &str| {
            named.clone().unwrap_or_else(|| self.home.join(name))
        };
        match folder {
            ClientFolder::Home => self.home.clone(),
            ClientFolder::UnixConfig if cfg!(target_os = "macos") => self.home.join(".config"),
            ClientFolder::Config | ClientFolder::UnixConfig => self.config.clone(),
            ClientFolder::Application => self.application.clone(),
            ClientFolder::ClaudeServers => own(&self.claude, ""),
            ClientFolder::Claude => own(&self.claude, ".claude"),
            ClientFolder::Codex => own(&self.codex, ".codex"),
            ClientFolder::Gemini => own(&self.gemini, "").join(".gemini"),
        }
    }
}

fn application_folder(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        config.to_owned()
    }
}

/// Servers below `mcpServers`, with `type`.
const STDIO_SERVERS: ClientEntry = json_servers("mcpServers", ServerEntryFormat::Stdio);

/// Servers below `mcpServers`, without `type`.
pub(super) const SERVERS: ClientEntry = json_servers("mcpServers", ServerEntryFormat::Command);

const fn json_servers(under: &'static str, form: ServerEntryFormat) -> ClientEntry {
    ClientEntry::Server(ServerFormat::Json { under, form })
}

/// Claude Code.
///
/// Servers are in `~/.claude.json` or a project's `.mcp.json`; hooks are in `settings.json` of `~/.claude` or of a
/// project's `.claude`. With `CLAUDE_CONFIG_DIR`, both user files are in that folder. Source:
/// <https://code.claude.com/docs/en/settings>, <https://code.claude.com/docs/en/hooks>.
const CLAUDE_CODE: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    program: Some("claude"),
    files: &[
        file(
            &[(ClientFolder::ClaudeServers, ".claude.json")],
            &[".mcp.json"],
            &[STDIO_SERVERS],
        ),
        file(
            &[(ClientFolder::Claude, "settings.json")],
            &[".claude/settings.json"],
            &[ClientEntry::Hooks(CLAUDE_CODE_HOOKS)],
        ),
    ],
    note: None,
    project_note: Some(
        "Claude Code asks whether to trust the server at its next start in this project",
    ),
};

/// The hooks of Claude Code, which has arguments of hooks since version 2.1.139.
pub(super) const CLAUDE_CODE_HOOKS: HookFormat = HookFormat {
    events: ["SessionStart", "UserPromptSubmit"],
    style: HookStyle::Exec,
    timeout: 5,
};

/// Returns the file for the memory folder of Claude Code in a project.
///
/// The path depends on the machine, so it is in the settings that are not shared.
pub(super) fn claude_code_topics_file(project: &Path) -> ClientFile {
    ClientFile {
        paths: vec![project.join(".claude/settings.local.json")],
        entries: vec![ClientEntry::Topics],
        project: Some(project.to_owned()),
    }
}

/// Codex.
///
/// Servers are the tables `mcp_servers.<name>` in `config.toml` of `~/.codex` (or `CODEX_HOME`), or of `.codex` in a
/// trusted project; hooks are in `hooks.json` of the same folder. Source: <https://developers.openai.com/codex/mcp>,
/// <https://developers.openai.com/codex/hooks>.
const CODEX: Client = Client {
    name: "codex",
    title: "Codex",
    program: Some("codex"),
    files: &[
        file(
            &[(ClientFolder::Codex, "config.toml")],
            &[".codex/config.toml"],
            &[ClientEntry::Server(ServerFormat::Toml)],
        ),
        file(
            &[(ClientFolder::Codex, "hooks.json")],
            &[".codex/hooks.json"],
            &[ClientEntry::Hooks(CODEX_HOOKS)],
        ),
    ],
    note: Some("Codex runs the hooks after you approve them with /hooks"),
    project_note: Some("Codex reads these files only in trusted projects"),
};

/// The hooks of Codex.
pub(super) const CODEX_HOOKS: HookFormat = HookFormat {
    events: ["SessionStart", "UserPromptSubmit"],
    style: HookStyle::Shell,
    timeout: 5,
};

/// Cursor.
///
/// Servers are under `mcpServers` in `mcp.json`, hooks in `hooks.json` of `~/.cursor` or of a project's `.cursor`. Source:
/// <https://cursor.com/docs/mcp>, <https://cursor.com/docs/hooks>.
const CURSOR: Client = Client {
    name: "cursor",
    title: "Cursor",
    program: Some("cursor"),
    files: &[
        file(
            &[(ClientFolder::Home, ".cursor/mcp.json")],
            &[".cursor/mcp.json"],
            &[STDIO_SERVERS],
        ),
        file(
            &[(ClientFolder::Home, ".cursor/hooks.json")],
            &[".cursor/hooks.json"],
            &[ClientEntry::Hooks(CURSOR_HOOKS)],
        ),
    ],
    note: None,
    project_note: None,
};

/// The hooks of Cursor.
pub(super) const CURSOR_HOOKS: HookFormat = HookFormat {
    events: ["sessionStart", "beforeSubmitPrompt"],
    style: HookStyle::Flat,
    timeout: 5,
};

/// Gemini CLI.
///
/// Servers are under `mcpServers` and hooks under `hooks` in `.gemini/settings.json` of the home folder (or
/// `GEMINI_CLI_HOME`) or of a project. Source: <https://geminicli.com/docs/tools/mcp-server/>,
/// <https://geminicli.com/docs/hooks/reference/>.
const GEMINI: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    program: Some("gemini"),
    files: &[file(
        &[(ClientFolder::Gemini, "settings.json")],
        &[".gemini/settings.json"],
        &[SERVERS, ClientEntry::Hooks(GEMINI_HOOKS)],
    )],
    note: None,
    project_note: None,
};

/// The hooks of Gemini CLI; its timeouts are in milliseconds.
pub(super) const GEMINI_HOOKS: HookFormat = HookFormat {
    events: ["SessionStart", "BeforeAgent"],
    style: HookStyle::Shell,
    timeout: 5_000,
};

/// Visual Studio Code.
///
/// Servers are under `servers` in `mcp.json` of the user profile or of a project's `.vscode`. Source:
/// <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>.
const VSCODE: Client = Client {
    name: "vscode",
    title: "Visual Studio Code",
    program: Some("code"),
    files: &[file(
        &[(ClientFolder::Application, "Code/User/mcp.json")],
        &[".vscode/mcp.json"],
        &[json_servers("servers", ServerEntryFormat::Stdio)],
    )],
    note: None,
    project_note: None,
};

/// opencode.
///
/// Servers are under `mcp` in `opencode.jsonc` or `opencode.json`, in `~/.config/opencode` (or below `XDG_CONFIG_HOME`) or
/// in a project. Source: <https://opencode.ai/docs/config/>.
const OPENCODE: Client = Client {
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    // opencode reads both files, and the first takes precedence.
    files: &[file(
        &[
            (ClientFolder::Config, "opencode/opencode.jsonc"),
            (ClientFolder::Config, "opencode/opencode.json"),
        ],
        &["opencode.jsonc", "opencode.json"],
        &[json_servers("mcp", ServerEntryFormat::Local)],
    )],
    note: None,
    project_note: None,
};

/// Claude Desktop.
///
/// Servers are under `mcpServers` in `claude_desktop_config.json`. Source:
/// <https://modelcontextprotocol.io/docs/develop/connect-local-servers>.
const CLAUDE_DESKTOP: Client = Client {
    name: "claude-desktop",
    title: "Claude Desktop",
    program: None,
    files: &[file(
        &[(
            ClientFolder::Application,
            "Claude/claude_desktop_config.json",
        )],
        &[],
        &[SERVERS],
    )],
    note: None,
    project_note: None,
};

/// Windsurf.
///
/// Servers are under `mcpServers` in `~/.codeium/windsurf/mcp_config.json`. Source:
/// <https://docs.windsurf.com/windsurf/cascade/mcp>.
const WINDSURF: Client = Client {
    name: "windsurf",
    title: "Windsurf",
    program: None,
    files: &[file(
        &[(ClientFolder::Home, ".codeium/windsurf/mcp_config.json")],
        &[],
        &[SERVERS],
    )],
    note: None,
    project_note: None,
};

/// Zed.
///
/// Servers are under `context_servers` in `settings.json` of `~/.config/zed` (on Linux below `XDG_CONFIG_HOME`) or of a
/// project's `.zed`. Source: <https://zed.dev/docs/ai/mcp>, <https://zed.dev/docs/configuring-zed>.
const ZED: Client = Client {
    name: "zed",
    title: "Zed",
    program: None,
    files: &[file(
        &[(ClientFolder::UnixConfig, "zed/settings.json")],
        &[".zed/settings.json"],
        &[json_servers("context_servers", ServerEntryFormat::Command)],
    )],
    note: None,
    project_note: None,
};

/// Cline.
///
/// Servers are under `mcpServers` in `~/.cline/data/settings/cline_mcp_settings.json`; older versions of the extension have
/// this file in the storage of Visual Studio Code. Source: <https://docs.cline.bot/mcp/mcp-overview>.
const CLINE: Client = Client {
    name: "cline",
    title: "Cline",
    program: None,
    files: &[file(
        &[
            (ClientFolder::Home, CLINE_FILE),
            (
                ClientFolder::Application,
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            (ClientFolder::Home, CLINE_FILE),
        ],
        &[],
        &[SERVERS],
    )],
    note: None,
    project_note: None,
};

const CLINE_FILE: &str = ".cline/data/settings/cline_mcp_settings.json";

/// Roo Code.
///
/// Servers are under `mcpServers` in `mcp_settings.json` in the storage of Visual Studio Code, or in `.roo/mcp.json` of a
/// project. Source: <https://docs.roocode.com/features/mcp/using-mcp-in-roo>.
const ROO_CODE: Client = Client {
    name: "roo-code",
    title: "Roo Code",
    program: None,
    files: &[file(
        &[(
            ClientFolder::Application,
            "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        )],
        &[".roo/mcp.json"],
        &[SERVERS],
    )],
    note: None,
    project_note: None,
};

/// goose.
///
/// Servers are under `extensions` in `~/.config/goose/config.yaml` (on Linux below `XDG_CONFIG_HOME`). Source:
/// <https://goose-docs.ai/docs/guides/config-files>.
const GOOSE: Client = Client {
    name: "goose",
    title: "goose",
    program: Some("goose"),
    files: &[file(
        &[(ClientFolder::UnixConfig, "goose/config.yaml")],
        &[],
        &[ClientEntry::Server(ServerFormat::Yaml)],
    )],
    note: None,
    project_note: None,
};

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
            path: None,
        }
    }

    fn paths(folders: &ClientFolders, level: InstallLevel) -> Vec<String> {
        let line = |client: &&Client| {
            let files = client.files(folders, level);
            let paths = files
                .iter()
                .flat_map(|target| &target.paths)
                .map(|path| path.display().to_string());
            format!("{} {}", client.name, paths.collect::<Vec<_>>().join(" "))
        };
        Client::ALL.iter().map(line).collect()
    }

    #[test]
    fn each_client_has_its_files() {
        let of_person = [
            "claude-code /home/.claude.json /home/.claude/settings.json",
            "codex /home/.codex/config.toml /home/.codex/hooks.json",
            "cursor /home/.cursor/mcp.json /home/.cursor/hooks.json",
            "gemini /home/.gemini/settings.json",
            "vscode /home/apps/Code/User/mcp.json",
            "opencode /home/.config/opencode/opencode.jsonc /home/.config/opencode/opencode.json",
            "claude-desktop /home/apps/Claude/claude_desktop_config.json",
            "windsurf /home/.codeium/windsurf/mcp_config.json",
            "zed /home/.config/zed/settings.json",
            "cline /home/.cline/data/settings/cline_mcp_settings.json \
             /home/apps/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json \
             /home/.cline/data/settings/cline_mcp_settings.json",
            "roo-code /home/apps/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            "goose /home/.config/goose/config.yaml",
        ];
        assert_eq!(paths(&folders(), InstallLevel::User), of_person);
        let of_project = [
            "claude-code /work/.mcp.json /work/.claude/settings.json",
            "codex /work/.codex/config.toml /work/.codex/hooks.json",
            "cursor /work/.cursor/mcp.json /work/.cursor/hooks.json",
            "gemini /work/.gemini/settings.json",
            "vscode /work/.vscode/mcp.json",
            "opencode /work/opencode.jsonc /work/opencode.json",
            "claude-desktop ",
            "windsurf ",
            "zed /work/.zed/settings.json",
            "cline ",
            "roo-code /work/.roo/mcp.json",
            "goose ",
        ];
        assert_eq!(paths(&folders(), InstallLevel::Project), of_project);
    }

    #[test]
    fn a_client_may_have_its_own_folder() {
        let own = ClientFolders {
            claude: Some("/c".into()),
            codex: Some("/x".into()),
            gemini: Some("/g".into()),
            ..folders()
        };
        let paths = paths(&own, InstallLevel::User);
        assert_eq!(paths[0], "claude-code /c/.claude.json /c/settings.json");
        assert_eq!(paths[1], "codex /x/config.toml /x/hooks.json");
        assert_eq!(paths[3], "gemini /g/.gemini/settings.json");
        assert_eq!(
            super::tests::paths(&own, InstallLevel::Project),
            super::tests::paths(&folders(), InstallLevel::Project)
        );
    }
}
