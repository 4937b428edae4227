//! The dependencies of the topic use cases.

use std::sync::Arc;

use super::TopicStore;
use crate::{Clock, IdSource, Operation, Verb};

/// A folder of topics, with the clock, the id source and the actor of its operations.
#[derive(Debug, Clone)]
pub struct Topics {
    /// The storage of the topics.
    pub store: Arc<dyn TopicStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Generates operation ids.
    pub ids: Arc<dyn IdSource>,
    /// The actor that is recorded with operations: `cli`, or the name of an agent.
    pub actor: String,
}

impl Topics {
    /// Returns a new operation of this actor at the current time.
    pub fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, &self.actor, self.clock.as_ref(), self.ids.as_ref())
    }
}
