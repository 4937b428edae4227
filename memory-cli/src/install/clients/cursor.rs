//! The configuration file of Cursor.
//!
//! Servers are under `mcpServers` in `mcp.json` of `~/.cursor` or of a project's `.cursor`. Source: <https://cursor.com/docs/mcp>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;
use crate::install::server::{Form, Server};

pub(super) const CLIENT: Client = Client { name: "cursor", title: "Cursor", files, project_note: None };

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let folder = if level == Level::Project { &folders.project } else { &folders.home };
    let server = Part::Server(Server { under: "mcpServers", form: Form::Stdio });
    vec![Target::new(folder.join(".cursor/mcp.json"), server)]
}
