//! Changing many memories as one operation.

use std::collections::BTreeMap;

use crate::commit::{Refused, commit_units};
use crate::{Change, MemoryId, Operation, OperationId, Services, StoreError, Verb};

/// Changes that belong together: all of them are made, or none.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    /// The changes.
    pub changes: Vec<Change>,
    /// Why, for those of which the verb does not say it.
    pub reasons: BTreeMap<MemoryId, String>,
}

/// An operation of many units, which the journal keeps as one and one `undo` takes back.
#[derive(Debug)]
pub struct Refinement<'s> {
    services: &'s Services,
    operation: Operation,
    has_changed: bool,
}

impl<'s> Refinement<'s> {
    /// Begins one; nothing is written yet.
    pub fn new(services: &'s Services, verb: Verb) -> Self {
        Self { services, operation: services.operation(verb), has_changed: false }
    }

    /// Returns its name in the journal.
    pub fn id(&self) -> &OperationId {
        &self.operation.id
    }

    /// Tells whether anything was changed so far.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Makes the changes of `units` with one sync. Returns the numbers of those that were refused, and why: somebody else has
    /// changed, or removed, one of their memories since the changes were thought out.
    ///
    /// The texts must be those of memories that are kept already: they are not searched for credentials.
    ///
    /// # Errors
    /// Whatever else the store says; then none was made.
    pub fn commit(&mut self, units: Vec<Unit>) -> Result<Vec<Refused>, StoreError> {
        self.operation.at = self.services.clock.now();
        let mut all = Vec::with_capacity(units.len());
        let mut reasons = BTreeMap::new();
        for unit in units {
            reasons.extend(unit.reasons);
            all.push(unit.changes);
        }
        let operation = Operation { reasons, ..self.operation.clone() };
        let wanted = all.iter().filter(|unit| !unit.is_empty()).count();
        let refused = commit_units(self.services, &operation, all)?;
        self.has_changed |= refused.len() < wanted;
        Ok(refused)
    }
}
