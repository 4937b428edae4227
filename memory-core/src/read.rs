//! Reading one memory.

use crate::{MemoryStoreExt, Services, StoreError, Stored};

/// Returns the memory that a person means by `reference`, as its file stands now, and counts the access.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn read(services: &Services, reference: &str) -> Result<Stored, StoreError> {
    let stored = services.store.get_by(reference)?;
    services.store.count_access(&[stored.memory.id]);
    Ok(stored)
}
