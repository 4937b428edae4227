//! Deleting a memory.

use crate::commit::commit;
use crate::{Change, MemoryStoreExt, SecretPolicy, Services, StoreError, StoredMemory, Verb};

/// Moves the memory that `reference` names to the trash, and returns its last version.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn delete(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let mut operation = services.change_set(Verb::Delete);
    operation.changes.push(Change::Remove { id: stored.memory.id, expected: None });
    commit(services, &operation, SecretPolicy::Keep)?;
    Ok(stored)
}
