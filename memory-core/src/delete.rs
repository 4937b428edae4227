//! Deleting a memory.

use crate::commit::commit;
use crate::{Change, MemoryStoreExt, Secrets, Services, StoreError, Stored, Verb};

/// Moves the memory that `reference` names to the trash, and returns its last version.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn delete(services: &Services, reference: &str) -> Result<Stored, StoreError> {
    let stored = services.store.get_by(reference)?;
    let mut operation = services.operation(Verb::Delete);
    operation.changes.push(Change::Remove { id: stored.memory.id, expected: None });
    commit(services, &operation, Secrets::Keep)?;
    Ok(stored)
}
