//! Changing multiple memories in one operation.

use std::collections::BTreeMap;

use crate::commit::{RefusedUnit, commit_units};
use crate::{Change, ChangeSet, MemoryId, OperationId, Services, StoreError, Verb};

/// Changes that are made together or not at all.
#[derive(Debug, Clone, Default)]
pub struct RefinementUnit {
    /// The changes.
    pub changes: Vec<Change>,
    /// Reasons for changes that the verb does not explain.
    pub reasons: BTreeMap<MemoryId, String>,
}

/// An operation of multiple units, with one journal entry and one `undo`.
#[derive(Debug)]
pub struct Refinement<'s> {
    services: &'s Services,
    operation: ChangeSet,
    has_changed: bool,
}

impl<'s> Refinement<'s> {
    /// Returns a new operation without changes.
    pub fn new(services: &'s Services, verb: Verb) -> Self {
        Self { services, operation: services.change_set(verb), has_changed: false }
    }

    /// Returns the id in the journal.
    pub fn id(&self) -> &OperationId {
        &self.operation.operation.id
    }

    /// Returns whether anything was changed so far.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Commits `units` and returns those that were refused.
    ///
    /// A unit is refused if another writer has changed or removed one of its memories since the unit was computed.
    /// Without a conflict all units share one sync. The texts must come from stored memories, because they are not
    /// checked for credentials.
    ///
    /// # Errors
    /// Any other error of the store. Some of the units may then be committed.
    pub fn commit(&mut self, units: Vec<RefinementUnit>) -> Result<Vec<RefusedUnit>, StoreError> {
        self.operation.operation.at = self.services.clock.now();
        let mut all = Vec::with_capacity(units.len());
        let mut reasons = BTreeMap::new();
        for unit in units {
            reasons.extend(unit.reasons);
            all.push(unit.changes);
        }
        let operation = ChangeSet { reasons, ..self.operation.clone() };
        let wanted = all.iter().filter(|unit| !unit.is_empty()).count();
        let refused = commit_units(self.services, &operation, all)?;
        self.has_changed |= refused.len() < wanted;
        Ok(refused)
    }
}
