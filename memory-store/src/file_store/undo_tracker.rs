//! Determines which changes of operations were reverted.

use std::collections::HashMap;

use memory_core::{MemoryId, OperationId, Recorded};

use crate::journal::JournalPayload;

/// The effect of later undos on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoState {
    /// No undo had an effect on it.
    Open,
    /// It was reverted.
    Reverted,
    /// An undo of its operation left it, because the file was changed since.
    LeftOut,
}

/// The changes that undos have reverted, while operations are read from the newest to the oldest.
///
/// A node may have only a part of an undo, and an undo may be interrupted. So each change is reverted by itself: the last changes of a memory
/// by as many changes of this memory in undos that were not reverted.
#[derive(Debug, Default)]
pub(super) struct UndoTracker(HashMap<OperationId, RevertedOperation>);

#[derive(Debug)]
struct RevertedOperation {
    /// The newest undo.
    by: OperationId,
    changes: HashMap<MemoryId, Vec<UndoState>>,
}

impl UndoTracker {
    /// Adds an operation, or a part of one, and returns the states of its changes in their order.
    pub(super) fn add(&mut self, record: &Recorded<JournalPayload>) -> Vec<UndoState> {
        let id = &record.operation.id;
        let mut states = vec![UndoState::Open; record.subject.changes.len()];
        for (change, state) in record.subject.changes.iter().zip(&mut states).rev() {
            if let Some(undone) = self.0.get_mut(id) {
                if change.is_placeholder() {
                    // It is no change, and has no effect without the rest of its operation.
                    *state = UndoState::Reverted;
                } else if change.is_own_change()
                    && let Some(next) = undone.changes.get_mut(&change.id).and_then(Vec::pop)
                {
                    *state = next;
                }
            }
            if let (UndoState::Open, Some(other)) = (*state, &record.undoes) {
                let undone = self.0.entry(other.clone());
                let undone = undone.or_insert_with(|| RevertedOperation {
                    by: id.clone(),
                    changes: HashMap::new(),
                });
                let effect = if change.is_placeholder() {
                    UndoState::LeftOut
                } else {
                    UndoState::Reverted
                };
                undone.changes.entry(change.id).or_default().push(effect);
            }
        }
        states
    }

    /// Returns the newest undo with an effect on an operation, if there is one.
    pub(super) fn undo_of(&self, id: &OperationId) -> Option<&OperationId> {
        self.0.get(id).map(|undone| &undone.by)
    }

    /// Returns the number of changes of each memory by an operation that were reverted or left out. The operation itself was not added.
    pub(super) fn done(&self, id: &OperationId) -> HashMap<MemoryId, usize> {
        let changes = self.0.get(id).map(|undone| undone.changes.iter());
        changes
            .into_iter()
            .flatten()
            .map(|(memory, states)| (*memory, states.len()))
            .collect()
    }
}
