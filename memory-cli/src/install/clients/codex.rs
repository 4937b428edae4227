//! Describes the configuration file of Codex: its path, and the entry of this program.
//!
//! Servers are the tables `mcp_servers.<name>` in `config.toml` of `~/.codex` (or `CODEX_HOME`), or of `.codex` in a
//! trusted project. Source: <https://developers.openai.com/codex/mcp>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;

pub(super) const CLIENT: Client =
    Client { name: "codex", title: "Codex", files, project_note: Some("Codex reads this file only in trusted projects") };

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => folders.project.join(".codex"),
        InstallLevel::User => folders.codex.clone().unwrap_or_else(|| folders.home.join(".codex")),
    };
    vec![ClientFile::new(folder.join("config.toml"), ClientEntry::Toml)]
}
