//! The dependencies of the history use cases.

use std::sync::Arc;

use super::MessageStore;
use crate::{Clock, IdSource, Operation, Verb};

/// The sessions of one instance, with the clock and the id source of its operations.
#[derive(Debug, Clone)]
pub struct Messages {
    /// The storage of the sessions.
    pub store: Arc<dyn MessageStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Generates operation ids.
    pub ids: Arc<dyn IdSource>,
}

impl Messages {
    pub(super) fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, "", self.clock.as_ref(), self.ids.as_ref())
    }
}
