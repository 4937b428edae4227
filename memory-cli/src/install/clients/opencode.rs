//! The configuration file of opencode.
//!
//! Servers are under `mcp` in `opencode.jsonc` or `opencode.json`, in `~/.config/opencode` (or below `XDG_CONFIG_HOME`) or
//! in a project. Source: <https://opencode.ai/docs/config/>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;
use crate::install::server::{Form, Server};

pub(super) const CLIENT: Client = Client { name: "opencode", title: "opencode", files, project_note: None };

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let folder = match level {
        Level::Project => folders.project.clone(),
        Level::User => folders.config.join("opencode"),
    };
    // opencode reads both files, and the first takes precedence.
    let paths = ["opencode.jsonc", "opencode.json"].map(|name| folder.join(name)).to_vec();
    vec![Target { paths, part: Part::Server(Server { under: "mcp", form: Form::Local }) }]
}
