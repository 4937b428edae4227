//! The dependencies of the history use cases.

use std::sync::Arc;

use super::MessageStore;
use crate::instance::InstanceOperation;
use crate::{Clock, IdSource};

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
    pub(super) fn operation(&self) -> InstanceOperation {
        InstanceOperation::new(self.clock.as_ref(), self.ids.as_ref())
    }
}
