//! Command-line flags that name the agent, its project and its tools.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::ToolSelection;
use memory_core::{AgentName, ToolError};

use crate::project::{parse_project, project_name};

/// The flags that name the agent, its project and its tools.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpeakerArgs {
    /// Name of the calling agent; it sees global memories, its own (agent:NAME) and those of its project
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Project of the agent [default: the git repository around the current folder]
    #[arg(long, value_name = "NAME", value_parser = parse_project)]
    project: Option<String>,
    /// Restrict the agent to these comma-separated tools
    ///
    /// usual, all, a set (memory, bank, topic, memory_20250818, history, kv), a set with another prefix (bank=memory_), or
    /// tool names. By default the usual tools are listed, and all tools of memories and banks can be called.
    #[arg(long, value_name = "TOOLS", value_parser = parse_tool_selection)]
    tools: Option<ToolSelection>,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    topics: Option<PathBuf>,
}

impl SpeakerArgs {
    /// Returns the agent from `--agent`.
    pub(crate) fn agent(&self) -> Option<AgentName> {
        self.agent.clone()
    }

    /// Returns whether `--agent` or `--project` is set.
    pub(crate) fn is_given(&self) -> bool {
        self.agent.is_some() || self.project.is_some()
    }

    /// Returns the project from `--project`, else that of `folder`.
    pub(crate) fn project(&self, folder: Option<&Path>) -> Option<String> {
        self.project.clone().or_else(|| project_name(folder?))
    }

    /// Returns the folder of the topics from its flag.
    pub(crate) fn topics(&self) -> Option<PathBuf> {
        self.topics.clone()
    }

    /// Returns the tools that the agent may use.
    pub(crate) fn tool_selection(&self) -> ToolSelection {
        self.tools.clone().map_or_else(ToolSelection::default_tools, ToolSelection::listed_only)
    }
}

fn parse_tool_selection(text: &str) -> Result<ToolSelection, String> {
    text.parse().map_err(|error: ToolError| match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    })
}
