//! Describes the configuration file of Cursor: its path, and the entry of this program.
//!
//! Servers are under `mcpServers` in `mcp.json` of `~/.cursor` or of a project's `.cursor`. Source: <https://cursor.com/docs/mcp>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;
use crate::install::server::{JsonServerEntry, ServerEntryFormat};

pub(super) const CLIENT: Client = Client { name: "cursor", title: "Cursor", files, project_note: None };

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = if level == InstallLevel::Project { &folders.project } else { &folders.home };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Stdio });
    vec![ClientFile::new(folder.join(".cursor/mcp.json"), server)]
}
