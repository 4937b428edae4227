//! The dependencies of the key-value use cases.

use std::sync::Arc;

use super::KeyValueStore;
use crate::{Clock, IdSource, Operation, Verb};

/// The values of one instance, with the clock and the id source of its operations.
#[derive(Debug, Clone)]
pub struct KeyValues {
    /// The storage of the values.
    pub store: Arc<dyn KeyValueStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Generates operation ids.
    pub ids: Arc<dyn IdSource>,
}

impl KeyValues {
    pub(super) fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, "", self.clock.as_ref(), self.ids.as_ref())
    }
}
