//! Deleting a memory.

use crate::commit::commit;
use crate::{Change, MemoryStoreExt, SecretPolicy, Services, StoreError, StoredMemory, Verb};

/// Moves the memory that `reference` names to the trash, and returns its last version.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn delete(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let mut set = services.change_set(Verb::Delete);
    set.changes.push(Change::Remove { id: stored.memory.id, expected: None });
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(stored)
}
