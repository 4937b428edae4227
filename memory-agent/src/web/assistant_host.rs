//! What the page needs of the program about assistants and projects: their settings on this machine.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use memory_core::topic::Topics;
use memory_core::{AgentName, Embedder, ReviewPolicy, ToolError, WritePolicy};

/// The assistants on this machine, the review of their changes, and the projects in which they work.
pub trait AssistantHost: Debug + Send + Sync {
    /// Returns the assistants that the program can connect, in a fixed order.
    ///
    /// # Errors
    /// If the folders of their settings are unknown.
    fn assistants(&self) -> Result<Vec<Assistant>, ToolError>;

    /// Returns what a change of the connection of an assistant would write. Nothing is written.
    ///
    /// # Errors
    /// [`memory_core::Code::Conflict`] if another program has an entry of the same name; or if a file cannot be read.
    fn plan_connection(
        &self,
        assistant: &str,
        change: ConnectionChange,
    ) -> Result<ConnectionPlan, ToolError>;

    /// Changes the connection of an assistant as the plan with this fingerprint says.
    ///
    /// Returns `false` and changes nothing if the plan would be another one now.
    ///
    /// # Errors
    /// Those of [`Self::plan_connection`], or if a file cannot be written.
    fn change_connection(
        &self,
        assistant: &str,
        change: ConnectionChange,
        fingerprint: &str,
    ) -> Result<bool, ToolError>;

    /// Returns the model with which a client searches for a prompt; it is there without a delay.
    fn client_embedder(&self) -> Option<Arc<dyn Embedder>>;

    /// Returns the review of changes by agents, as the settings file says now.
    ///
    /// # Errors
    /// If the settings cannot be read.
    fn review(&self) -> Result<ReviewPolicy, ToolError>;

    /// Sets the treatment of all changes by an agent, or of the changes that no rule covers, in the settings file.
    ///
    /// # Errors
    /// If the file cannot be written, or has a layout that requires manual editing.
    fn set_review(&self, agent: Option<&AgentName>, policy: WritePolicy) -> Result<(), ToolError>;

    /// Returns the projects with their repositories.
    ///
    /// # Errors
    /// If they cannot be read.
    fn projects(&self) -> Result<Vec<ProjectRepositories>, ToolError>;

    /// Lets agents in a repository receive the memories of a project. The repository is one of [`ProjectRepositories`].
    ///
    /// # Errors
    /// If the repository is none of the project, or the file of projects cannot be written.
    fn confirm_repository(&self, project: &str, repository: &str) -> Result<(), ToolError>;

    /// Returns the topics of a project, if they are in the home or in the folder from which the page was started.
    ///
    /// # Errors
    /// If they cannot be opened.
    fn project_topics(&self, project: &str) -> Result<Option<Topics>, ToolError>;
}

/// An assistant that can use the memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assistant {
    /// Its name, which is also the name of its agent.
    pub name: String,
    /// The name that its vendor uses.
    pub title: String,
    /// Whether it is found on this machine.
    pub is_present: bool,
    /// The state of its connection, or why its settings cannot be read.
    pub connection: Result<Connection, String>,
}

/// Whether an assistant uses the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Its settings have no entry of this program.
    Absent,
    /// Its settings have all entries of this program.
    Complete,
    /// Its settings have entries that differ from those of this program.
    Different,
}

/// A change of the connection of an assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionChange {
    /// Adds or updates the entries.
    Connect {
        /// Whether entries of other programs with the same name are replaced.
        replaces: bool,
    },
    /// Removes the entries.
    Disconnect,
}

/// What a change of a connection writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionPlan {
    /// The files.
    pub files: Vec<ChangedSettingsFile>,
    /// What the person must do in addition to a restart of the assistant.
    pub note: Option<String>,
    /// A text that differs if the plan differs.
    pub fingerprint: String,
}

/// The change of a file of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSettingsFile {
    /// Its path.
    pub path: PathBuf,
    /// The change: `created`, `changed`, `restored`, `removed` or `unchanged`.
    pub change: &'static str,
    /// The difference of the lines, without credentials.
    pub diff: String,
}

/// A project and its repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectRepositories {
    /// The name of the project.
    pub name: String,
    /// The repositories in which agents receive the memories of the project.
    pub repositories: Vec<String>,
    /// The repositories with the name of the project in which agents did not receive them, because nobody confirmed it.
    pub candidates: Vec<String>,
}
