//! What the use cases work with.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bank::Banks;
use crate::topic::Topics;
use crate::{ChatModel, Clock, Duplicates, Embedder, History, IdSource, InboxTtl, MemoryStore, Operation, Reranking, Verb};

/// What the use cases work with: the machine, behind traits.
#[derive(Debug, Clone)]
pub struct Services {
    /// Where memories are kept.
    pub store: Arc<dyn MemoryStore>,
    /// What was done to them.
    pub history: Arc<dyn History>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New names.
    pub ids: Arc<dyn IdSource>,
    /// The model that turns texts into vectors, if there is one.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The model that reads the best hits of a search again, if there is one.
    pub reranking: Option<Reranking>,
    /// The language model, if there is one; it keeps to its budget by itself.
    pub chat: Option<Arc<dyn ChatModel>>,
    /// The banks, if there are any here.
    pub banks: Option<Banks>,
    /// The topics at hand, if there is a place for some.
    pub topics: Option<Topics>,
    /// How long a memory may stay in the inbox.
    pub inbox_ttl: InboxTtl,
    /// Who is asking, for the journal: `cli`, or an agent's name.
    pub actor: String,
}

impl Services {
    /// Returns an operation of this actor, now, with no changes yet.
    pub fn operation(&self, verb: Verb) -> Operation {
        Operation {
            id: self.ids.operation_id(),
            verb,
            by: self.actor.clone(),
            at: self.clock.now(),
            duplicates: Duplicates::Keep,
            changes: Vec::new(),
            reasons: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }
}
