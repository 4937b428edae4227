//! Describes the configuration file of Visual Studio Code: its path, and the entry of this program.
//!
//! Servers are under `servers` in `mcp.json` of the user profile or of a project's `.vscode`. Source:
//! <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;
use crate::install::server::{JsonServerEntry, ServerEntryFormat};

pub(super) const CLIENT: Client = Client { name: "vscode", title: "Visual Studio Code", files, project_note: None };

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let path = match level {
        InstallLevel::Project => folders.project.join(".vscode/mcp.json"),
        InstallLevel::User => folders.application.join("Code/User/mcp.json"),
    };
    vec![ClientFile::new(path, ClientEntry::Server(JsonServerEntry { under: "servers", form: ServerEntryFormat::Stdio }))]
}
