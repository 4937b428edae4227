//! Finding memories by what they say.

use crate::{Found, Query, Services, StoreError};

/// Returns the memories that answer `query`, best first.
///
/// # Errors
/// When the question cannot be answered; an empty answer always means that nothing matches.
pub fn search(services: &Services, query: &Query) -> Result<Found, StoreError> {
    services.store.refresh()?;
    services.store.search(query, services.clock.now())
}
