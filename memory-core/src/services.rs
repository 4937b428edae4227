//! The dependencies of the use cases.

use std::sync::Arc;

use crate::bank::Banks;
use crate::topic::Topics;
use crate::{
    ChangeSet, ChatModel, Clock, Embedder, History, IdSource, InboxTtl, MemoryStore,
    NeighbourFinder, Operation, PrincipalSource, RandomIds, Reranking, ReviewPolicy, Scope,
    SubmittedProposals, SystemClock, Verb,
};

/// The dependencies of the use cases, which abstract the machine.
#[derive(Debug, Clone)]
pub struct Services {
    /// The store of memories.
    pub store: Arc<dyn MemoryStore>,
    /// The journal and trash of the store.
    pub history: Arc<dyn History>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn IdSource>,
    /// The embedding model, if available.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The reranking model, if available.
    pub reranking: Option<Reranking>,
    /// The language model, if available. It enforces its budget itself.
    pub chat: Option<Arc<dyn ChatModel>>,
    /// The banks, if available.
    pub banks: Option<Banks>,
    /// The topics, if available.
    pub topics: Option<Topics>,
    /// The maximum time of a memory in the inbox.
    pub inbox_ttl: InboxTtl,
    /// The policy for changes by agents.
    pub review: ReviewPolicy,
    /// The proposals that were stored in place of changes.
    pub proposals: SubmittedProposals,
    /// The finder of memories that relate to another one, if available.
    pub neighbour_finder: Option<Arc<dyn NeighbourFinder>>,
    /// The actor to record in the journal: `cli`, or the name of an agent.
    pub actor: String,
    /// The project of the caller, if any. Its memories get a share of every context.
    pub project: Option<String>,
    /// The principal of a shared database who uses these services, if any.
    pub principal: Option<Arc<dyn PrincipalSource>>,
    /// The scope of new memories without a scope, if the user of the home chose one.
    pub chosen_scope: Option<Scope>,
}

impl Services {
    /// Returns services over `store` for a program, without models, banks and topics, and without restrictions.
    pub fn new<S: MemoryStore + History + 'static>(store: Arc<S>) -> Self {
        Self {
            store: Arc::clone(&store) as Arc<dyn MemoryStore>,
            history: store,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            embedder: None,
            reranking: None,
            chat: None,
            banks: None,
            topics: None,
            inbox_ttl: InboxTtl::default(),
            review: ReviewPolicy::default(),
            proposals: SubmittedProposals::default(),
            neighbour_finder: None,
            actor: "api".to_owned(),
            project: None,
            principal: None,
            chosen_scope: None,
        }
    }

    /// Returns the scope of new memories without a scope: the chosen one, and otherwise [`Self::own_scope`].
    pub fn default_scope(&self) -> Scope {
        self.chosen_scope
            .clone()
            .unwrap_or_else(|| self.own_scope())
    }

    /// Returns the scope of the user: `global`, or on the node of a principal, that of the principal. Imported notes get it.
    pub fn own_scope(&self) -> Scope {
        self.principal
            .as_ref()
            .map_or(Scope::Global, |source| source.principal().private_scope())
    }

    /// Returns the scopes that all agents of the principal see; none without a principal.
    pub fn principal_scopes(&self) -> Vec<Scope> {
        self.principal
            .as_ref()
            .map(|source| source.principal().agent_scopes().collect())
            .unwrap_or_default()
    }

    /// Returns a new operation of this actor at the current time.
    pub fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, &self.actor, self.clock.as_ref(), self.ids.as_ref())
    }

    /// Returns a new operation of this actor at the current time, without changes.
    pub fn change_set(&self, verb: Verb) -> ChangeSet {
        ChangeSet::new(self.operation(verb))
    }
}
