//! Describes the configuration file of Gemini CLI: its path, and the entry of this program.
//!
//! Servers are under `mcpServers` in `.gemini/settings.json` of the home folder (or `GEMINI_CLI_HOME`) or of a project.
//! Source: <https://geminicli.com/docs/tools/mcp-server/>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;
use crate::install::server::{JsonServerEntry, ServerEntryFormat};

pub(super) const CLIENT: Client = Client { name: "gemini", title: "Gemini CLI", files, project_note: None };

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => &folders.project,
        InstallLevel::User => folders.gemini.as_ref().unwrap_or(&folders.home),
    };
    let server = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Command });
    vec![ClientFile::new(folder.join(".gemini/settings.json"), server)]
}
