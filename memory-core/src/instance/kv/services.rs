//! What the use cases of keys and values work with.

use std::sync::Arc;

use super::KeyValueStore;
use crate::instance::InstanceOperation;
use crate::{Clock, IdSource};

/// The values of one instance, and a clock.
#[derive(Debug, Clone)]
pub struct Values {
    /// Where they are kept.
    pub store: Arc<dyn KeyValueStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub ids: Arc<dyn IdSource>,
}

impl Values {
    pub(super) fn operation(&self) -> InstanceOperation {
        InstanceOperation::new(self.clock.as_ref(), self.ids.as_ref())
    }
}
