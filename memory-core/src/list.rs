//! Listing memories.

use crate::{Filter, Page, Services, Slice, StoreError};

/// Returns one slice of the memories that pass `filter`.
///
/// # Errors
/// If the files cannot be read.
pub fn list(services: &Services, filter: &Filter, slice: &Slice) -> Result<Page, StoreError> {
    services.store.refresh()?;
    services.store.list(filter, slice, services.clock.now())
}
