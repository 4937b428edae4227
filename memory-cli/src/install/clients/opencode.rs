//! Describes the configuration file of opencode: its path, and the entry of this program.
//!
//! Servers are under `mcp` in `opencode.jsonc` or `opencode.json`, in `~/.config/opencode` (or below `XDG_CONFIG_HOME`) or
//! in a project. Source: <https://opencode.ai/docs/config/>.

use super::{Client, ClientFile, InstallLevel};
use crate::install::ClientFolders;
use crate::install::plan::ClientEntry;
use crate::install::server::{JsonServerEntry, ServerEntryFormat};

pub(super) const CLIENT: Client = Client { name: "opencode", title: "opencode", files, project_note: None };

fn files(folders: &ClientFolders, level: InstallLevel) -> Vec<ClientFile> {
    let folder = match level {
        InstallLevel::Project => folders.project.clone(),
        InstallLevel::User => folders.config.join("opencode"),
    };
    // opencode reads both files, and the first takes precedence.
    let paths = ["opencode.jsonc", "opencode.json"].map(|name| folder.join(name)).to_vec();
    vec![ClientFile { paths, part: ClientEntry::Server(JsonServerEntry { under: "mcp", form: ServerEntryFormat::Local }) }]
}
