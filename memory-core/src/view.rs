//! Views that restrict an agent to the memories that it may access.
//!
//! The restriction wraps the store and its history. An error for a memory outside the view equals that for a
//! memory that never existed, a name is not ambiguous because of it, totals do not count it, and a search does
//! not know its words: the scopes are part of the filter (`Filter::within`) that the index applies. A memory
//! cannot be written, moved or linked outside the view. An agent can undo only its own operations on memories in
//! its view. `testing::view_suite` compares every use case with a home that does not contain the other memories
//! at all.

mod history;
mod store;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use self::store::ScopedStore;
use crate::conversation::ConversationId;
use crate::{
    AgentName, HomeSection, PrincipalAccess, ReviewPolicy, Scope, Services, SubmittedProposals,
};

/// The view of an agent that works on a project.
///
/// It contains the scopes `global`, that of the agent and that of the project. It does not contain the scopes of other
/// agents and projects, or conversations. On the node of a principal, [`Services::restrict_to`] adds the scopes of the principal and of its
/// teams.
///
/// The view of a principal on the node of another one, such as a server for several principals, contains `global` and the scopes of the
/// principal. It contains no scope of an agent, because agents of different principals may have the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The agent, if identified.
    pub agent: Option<AgentName>,
    /// The name of the project, if any.
    pub project: Option<String>,
    /// The principal, if the view is that of a principal who does not use the node itself.
    pub principal: Option<PrincipalAccess>,
}

impl View {
    /// Returns the scopes of the view.
    pub fn scopes(&self) -> Vec<Scope> {
        if let Some(principal) = &self.principal {
            let own = [Scope::Global, principal.private_scope()];
            return own
                .into_iter()
                .chain(principal.scopes.iter().cloned())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect();
        }
        let agent = self
            .agent
            .iter()
            .map(|agent| Scope::Agent(agent.as_str().to_owned()));
        let project = self
            .project
            .iter()
            .map(|project| Scope::Project(project.clone()));
        [Scope::Global]
            .into_iter()
            .chain(agent)
            .chain(project)
            .collect()
    }

    /// Returns whether the view contains `scope`.
    pub fn allows(&self, scope: &Scope) -> bool {
        if self.principal.is_some() {
            return self.scopes().contains(scope);
        }
        match scope {
            Scope::Global => true,
            Scope::Agent(name) => self
                .agent
                .as_ref()
                .is_some_and(|agent| agent.as_str() == name),
            Scope::Project(name) => self.project.as_ref() == Some(name),
            Scope::Conversation(_) | Scope::Private(_) | Scope::Team(_) => false,
        }
    }

    /// Returns the name of the actor for the journal: that of the agent, or `PRINCIPAL/AGENT`, or that of a principal without an agent.
    pub fn actor(&self) -> Cow<'_, str> {
        match (&self.principal, &self.agent) {
            (Some(principal), Some(agent)) => Cow::Owned(format!("{}/{agent}", principal.name)),
            (Some(principal), None) => Cow::Borrowed(&principal.name),
            (None, agent) => Cow::Borrowed(
                agent
                    .as_ref()
                    .map_or(AgentName::NAMELESS, AgentName::as_str),
            ),
        }
    }

    /// Returns the name of the project, if the view contains its memories.
    fn visible_project(&self) -> Option<String> {
        self.project
            .clone()
            .filter(|project| self.allows(&Scope::Project(project.clone())))
    }
}

impl Services {
    /// Returns the services restricted to `view`.
    ///
    /// Memories outside the view behave as nonexistent: they cannot be read, found, linked to, changed or restored, and
    /// no output reveals their existence. This is the only place that enforces it; use cases work with these services
    /// as with any other.
    ///
    /// Changes that need a review according to [`Services::review`] become proposals. The returned services have a new list
    /// of proposals.
    #[must_use]
    pub fn restrict_to(&self, view: &View) -> Self {
        let (mut scopes, mut restricted) = (view.scopes(), self.clone());
        match &view.principal {
            Some(own) => {
                restricted.principal = Some(Arc::new(own.clone()));
                // It is the choice of the user of the home.
                restricted.chosen_scope = None;
            }
            None => scopes.extend(self.principal_scopes()),
        }
        Self {
            project: view.visible_project(),
            ..restricted.with_scopes(scopes, None, &view.actor(), view.agent.as_ref())
        }
    }

    /// Returns the services restricted to the notes that a chat in a conversation may see.
    ///
    /// These are the notes in the scopes `global`, that of the conversation and that of the global conversation. The stored turns and facts
    /// are left out, because the recall of the conversation returns them.
    #[must_use]
    pub fn restrict_to_chat(&self, conversation: &ConversationId) -> Self {
        let mut scopes = vec![
            Scope::Global,
            conversation.scope(),
            ConversationId::global().scope(),
        ];
        scopes.extend(self.principal_scopes());
        let unreviewed = Self {
            review: ReviewPolicy::default(),
            ..self.clone()
        };
        unreviewed.with_scopes(scopes, Some(HomeSection::Notes), &self.actor, None)
    }

    fn with_scopes(
        &self,
        scopes: Vec<Scope>,
        section: Option<HomeSection>,
        actor: &str,
        agent: Option<&AgentName>,
    ) -> Self {
        let proposals = SubmittedProposals::default();
        let view = Arc::new(ScopedStore {
            store: Arc::clone(&self.store),
            history: Arc::clone(&self.history),
            scopes,
            read_only: self
                .principal
                .as_ref()
                .map_or_else(Vec::new, |source| source.principal().read_only),
            section,
            actor: actor.to_owned(),
            agent: agent.cloned(),
            policy: self.review.clone(),
            proposals: proposals.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
        });
        Self {
            store: Arc::clone(&view) as _,
            history: view,
            proposals,
            actor: actor.to_owned(),
            ..self.clone()
        }
    }
}
