//! Describes the configuration files of Claude Code: their paths, and the entry of this program.
//!
//! Servers are in `~/.claude.json` or a project's `.mcp.json`; hooks are in `settings.json` of `~/.claude` or of a
//! project's `.claude`. With `CLAUDE_CONFIG_DIR`, both user files are in that folder. Source:
//! <https://code.claude.com/docs/en/settings>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;
use crate::install::server::{JsonServerEntry, ServerEntryFormat};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    files,
    project_note: Some("Claude Code asks whether to trust the server at its next start in this project"),
};

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let (servers, settings) = match (level, &folders.claude) {
        (InstallLevel::Project, _) => (folders.project.join(".mcp.json"), folders.project.join(".claude/settings.json")),
        (InstallLevel::User, Some(folder)) => (folder.join(".claude.json"), folder.join("settings.json")),
        (InstallLevel::User, None) => (folders.home.join(".claude.json"), folders.home.join(".claude/settings.json")),
    };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Stdio });
    vec![ClientFile::new(servers, server), ClientFile::new(settings, ClientEntry::Hooks)]
}
