//! Reading one memory.

use crate::{MemoryStoreExt, Services, StoreError, StoredMemory};

/// Returns the memory that `reference` names, from its current file, and counts the read.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn read(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    services.store.count_access(&[stored.memory.id]);
    Ok(stored)
}
