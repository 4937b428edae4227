//! The configuration file of Visual Studio Code.
//!
//! Servers are under `servers` in `mcp.json` of the user profile or of a project's `.vscode`. Source:
//! <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;
use crate::install::server::{Form, Server};

pub(super) const CLIENT: Client = Client { name: "vscode", title: "Visual Studio Code", files, project_note: None };

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let path = match level {
        Level::Project => folders.project.join(".vscode/mcp.json"),
        Level::User => folders.application.join("Code/User/mcp.json"),
    };
    vec![Target::new(path, Part::Server(Server { under: "servers", form: Form::Stdio }))]
}
