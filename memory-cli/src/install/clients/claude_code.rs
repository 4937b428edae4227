//! The configuration files of Claude Code.
//!
//! Servers are in `~/.claude.json` or a project's `.mcp.json`; hooks are in `settings.json` of `~/.claude` or of a
//! project's `.claude`. With `CLAUDE_CONFIG_DIR`, both user files are in that folder. Source:
//! <https://code.claude.com/docs/en/settings>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;
use crate::install::server::{Form, Server};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    files,
    project_note: Some("Claude Code asks whether to trust the server at its next start in this project"),
};

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let (servers, settings) = match (level, &folders.claude) {
        (Level::Project, _) => (folders.project.join(".mcp.json"), folders.project.join(".claude/settings.json")),
        (Level::User, Some(folder)) => (folder.join(".claude.json"), folder.join("settings.json")),
        (Level::User, None) => (folders.home.join(".claude.json"), folders.home.join(".claude/settings.json")),
    };
    let server = Part::Server(Server { under: "mcpServers", form: Form::Stdio });
    vec![Target::new(servers, server), Target::new(settings, Part::Hooks)]
}
