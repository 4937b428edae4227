//! Listing memories.

use crate::{Filter, MemoryPage, PageRequest, Services, StoreError};

/// Returns one slice of the memories that pass `filter`.
///
/// # Errors
/// If the files cannot be read.
pub fn list(services: &Services, filter: &Filter, slice: &PageRequest) -> Result<MemoryPage, StoreError> {
    services.store.refresh()?;
    services.store.list(filter, slice, services.clock.now())
}
