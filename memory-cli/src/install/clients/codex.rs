//! The configuration file of Codex.
//!
//! Servers are the tables `mcp_servers.<name>` in `config.toml` of `~/.codex` (or `CODEX_HOME`), or of `.codex` in a
//! trusted project. Source: <https://developers.openai.com/codex/mcp>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;

pub(super) const CLIENT: Client =
    Client { name: "codex", title: "Codex", files, project_note: Some("Codex reads this file only in trusted projects") };

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let folder = match level {
        Level::Project => folders.project.join(".codex"),
        Level::User => folders.codex.clone().unwrap_or_else(|| folders.home.join(".codex")),
    };
    vec![Target::new(folder.join("config.toml"), Part::Toml)]
}
