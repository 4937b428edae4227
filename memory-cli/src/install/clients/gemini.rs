//! The configuration file of Gemini CLI.
//!
//! Servers are under `mcpServers` in `.gemini/settings.json` of the home folder (or `GEMINI_CLI_HOME`) or of a project.
//! Source: <https://geminicli.com/docs/tools/mcp-server/>.

use super::{Client, Level, Target};
use crate::install::Folders;
use crate::install::plan::Part;
use crate::install::server::{Form, Server};

pub(super) const CLIENT: Client = Client { name: "gemini", title: "Gemini CLI", files, project_note: None };

fn files(folders: &Folders, level: Level) -> Vec<Target> {
    let folder = match level {
        Level::Project => &folders.project,
        Level::User => folders.gemini.as_ref().unwrap_or(&folders.home),
    };
    let server = Part::Server(Server { under: "mcpServers", form: Form::Command });
    vec![Target::new(folder.join(".gemini/settings.json"), server)]
}
