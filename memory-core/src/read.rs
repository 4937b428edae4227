//! Reading one memory, and listing memories.

use crate::{Filter, MemoryPage, MemoryStoreExt, PageRequest, Services, StoreError, StoredMemory};

/// Returns the memory that `reference` names, from its current file, and counts the read.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn read(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    services.store.count_access(&[stored.memory.id]);
    Ok(stored)
}

/// Returns one slice of the memories that pass `filter`.
///
/// # Errors
/// If the files cannot be read.
pub fn list(
    services: &Services,
    filter: &Filter,
    slice: &PageRequest,
) -> Result<MemoryPage, StoreError> {
    services.store.refresh()?;
    services.store.list(filter, slice, services.clock.now())
}
