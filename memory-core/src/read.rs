//! Reading one memory, and listing memories.

use crate::{
    Filter, Memory, MemoryId, MemoryPage, MemoryStoreExt, PageRequest, RecalledId, Scope, Services,
    StoreError, StoredMemory,
};

/// Returns the memory that `reference` names, from its current file, and counts the read.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn read(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    services.store.count_access(&[stored.memory.id]);
    Ok(stored)
}

/// Counts an access to each of the memories that a person received. Entries of conversations are left out, since they have no age.
pub fn count_accesses(services: &Services, received: &[&Memory]) {
    let is_note = |memory: &&&Memory| !matches!(memory.scope, Scope::Conversation(_));
    let ids: Vec<MemoryId> = received
        .iter()
        .filter(is_note)
        .map(|memory| memory.id)
        .collect();
    if !ids.is_empty() {
        services.store.count_access(&ids);
    }
}

/// Counts an access to each of the memories that an agent received.
pub fn count_received(services: &Services, received: &[RecalledId]) {
    let ids: Vec<MemoryId> = received
        .iter()
        .filter_map(|memory| memory.id.parse().ok())
        .collect();
    if !ids.is_empty() {
        services.store.count_access(&ids);
    }
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
