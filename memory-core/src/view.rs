//! What an agent sees, and nothing else.

mod history;
mod scoped;
mod store;

use std::sync::Arc;

use self::scoped::Scoped;
use crate::{AgentName, Scope, Services};

/// Whose eyes the memories are seen with: those of an agent that works on a project.
///
/// It sees what is for everybody, what is its own, and what is of its project; not what is another's, and no conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The agent, if it says who it is.
    pub agent: Option<AgentName>,
    /// The name of the project, if it works on one.
    pub project: Option<String>,
}

impl View {
    /// Returns the scopes that are seen.
    pub fn scopes(&self) -> Vec<Scope> {
        let agent = self.agent.iter().map(|agent| Scope::Agent(agent.as_str().to_owned()));
        let project = self.project.iter().map(|project| Scope::Project(project.clone()));
        [Scope::Global].into_iter().chain(agent).chain(project).collect()
    }

    /// Tells whether what lies in `scope` is seen.
    pub fn allows(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Global => true,
            Scope::Agent(name) => self.agent.as_ref().is_some_and(|agent| agent.as_str() == name),
            Scope::Project(name) => self.project.as_ref() == Some(name),
            Scope::Conversation(_) => false,
        }
    }

    /// Returns what the journal calls whoever sees this.
    pub fn actor(&self) -> &str {
        self.agent.as_ref().map_or(AgentName::NAMELESS, AgentName::as_str)
    }
}

impl Services {
    /// Returns the services as they are seen with `view`: whatever is not seen is not there. It cannot be read, found, linked
    /// to, changed or brought back, and nothing that is said differs from what would be said if it did not exist.
    ///
    /// This is the one place where that is seen to: every use case works with such services as with any other.
    #[must_use]
    pub fn seen_by(&self, view: View) -> Self {
        let actor = view.actor().to_owned();
        let scoped = Arc::new(Scoped::new(Arc::clone(&self.store), Arc::clone(&self.history), view));
        Self { store: Arc::clone(&scoped) as _, history: scoped, actor, ..self.clone() }
    }
}
