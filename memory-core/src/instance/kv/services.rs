//! The dependencies of the key-value use cases.

use std::sync::Arc;

use super::KeyValueStore;
use crate::instance::InstanceOperation;
use crate::{Clock, IdSource};

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
    pub(super) fn operation(&self) -> InstanceOperation {
        InstanceOperation::new(self.clock.as_ref(), self.ids.as_ref())
    }
}
