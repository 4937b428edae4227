//! What the use cases of history work with.

use std::sync::Arc;

use super::MessageStore;
use crate::instance::InstanceOperation;
use crate::{Clock, IdSource};

/// The sessions of one instance, and a clock.
#[derive(Debug, Clone)]
pub struct Messages {
    /// Where they are kept.
    pub store: Arc<dyn MessageStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub ids: Arc<dyn IdSource>,
}

impl Messages {
    pub(super) fn operation(&self) -> InstanceOperation {
        InstanceOperation::new(self.clock.as_ref(), self.ids.as_ref())
    }
}
