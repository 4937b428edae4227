//! What the use cases of topics work with.

use std::sync::Arc;

use super::{TopicOperation, TopicStore, TopicVerb};
use crate::{Clock, IdSource};

/// A folder of topics, and who works on it.
#[derive(Debug, Clone)]
pub struct Topics {
    /// Where they are kept.
    pub store: Arc<dyn TopicStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New names.
    pub ids: Arc<dyn IdSource>,
    /// Who is asking: `cli`, or an agent's name.
    pub actor: String,
}

impl Topics {
    /// Returns an operation of this actor, now.
    pub fn operation(&self, verb: TopicVerb) -> TopicOperation {
        TopicOperation { id: self.ids.operation_id(), verb, by: self.actor.clone(), at: self.clock.now() }
    }
}
