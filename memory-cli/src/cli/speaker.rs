//! Command-line flags that name the agent, its project and its tools.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::Offer;
use memory_core::{AgentName, ParseError, ToolError};

/// Who is speaking, as flags.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpeakerArgs {
    /// The agent that speaks: it sees what is global, what is its own (agent:NAME), and what is of its project
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// The project it works on; if not given, the folder of the git repository it was started in
    #[arg(long, value_name = "NAME", value_parser = project)]
    project: Option<String>,
    /// The tools it may use, and no others: usual, all, a set (memory, bank, topic, memory_20250818, history, kv), a set under another prefix
    /// (bank=memory_), or names, with commas between them [default: the usual are listed, and all of memories and banks may be called]
    #[arg(long, value_name = "TOOLS", value_parser = offer)]
    tools: Option<Offer>,
    /// The folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    topics: Option<PathBuf>,
}

impl SpeakerArgs {
    /// Returns the agent from `--agent`.
    pub(crate) fn agent(&self) -> Option<AgentName> {
        self.agent.clone()
    }

    /// Returns whether `--agent` or `--project` is set.
    pub(crate) fn names_somebody(&self) -> bool {
        self.agent.is_some() || self.project.is_some()
    }

    /// Returns the project from `--project`, else that of `folder`.
    pub(crate) fn project(&self, folder: Option<&Path>) -> Option<String> {
        self.project.clone().or_else(|| project_of(folder?))
    }

    /// Returns the folder of the topics from its flag.
    pub(crate) fn topics(&self) -> Option<PathBuf> {
        self.topics.clone()
    }

    /// Returns the tools that the agent may use.
    pub(crate) fn offer(&self) -> Offer {
        self.tools.clone().map_or_else(Offer::usual, Offer::listed_only)
    }
}

/// Returns the name of the git repository that contains a folder, as the project of the folder.
pub(crate) fn project_of(folder: &Path) -> Option<String> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    project(root.file_name()?.to_str()?).ok()
}

fn project(text: &str) -> Result<String, ParseError> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(ParseError::new(text, "the name of a project"));
    }
    Ok(name.to_owned())
}

fn offer(text: &str) -> Result<Offer, String> {
    text.parse().map_err(|error: ToolError| match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    })
}
