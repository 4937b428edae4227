//! The `memory mcp` command.

use clap::Args;
use memory_agent::mcp::{ClientIdentity, serve_stdio};

use crate::agent::{self, AgentOptions};
use crate::app::App;
use crate::args::SpeakerArgs;
use crate::embedding;
use crate::failure::Failure;
use crate::instances;

/// Serve an MCP client on the standard input and output
///
/// For clients of the Model Context Protocol: tools, resources (memory://index and memory://note/ID) and the prompts
/// recall, remember and review. Without --agent, the agent has the name of its client. `memory install` configures clients
/// for this command.
///
/// No daemon is needed. The server stops when the client closes the stream.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    speaker: SpeakerArgs,
}

impl McpArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_long_running()?;
        let settings = &home.settings;
        let embedder = embedding::open_via_daemon(settings);
        let instances = Some(instances::open_cached(settings)?);
        let parts = AgentOptions {
            selection: self.speaker.tool_selection(),
            embedder,
            topic_folder: self.speaker.topics(),
            instances,
            ..AgentOptions::default()
        };
        let agent = agent::build_agent(&home, parts)?;
        app.spawn_index_page_updates(&agent);
        let project = self.speaker.project(app.environment.folder.as_deref());
        let speaker = ClientIdentity { agent: self.speaker.agent(), project };
        serve_stdio(&agent, &speaker).map_err(Failure::file("serve the client on the standard streams"))
    }
}
