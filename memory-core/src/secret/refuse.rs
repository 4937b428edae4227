//! Keeping credentials out.

use super::find;
use crate::StoreError;

/// Refuses texts that hold credentials: the one choke point of all that is written.
///
/// # Errors
/// [`StoreError::Secret`], which says of which kinds.
pub fn refuse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    let mut kinds: Vec<_> = texts.into_iter().flat_map(find).map(|found| found.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() { Ok(()) } else { Err(StoreError::Secret { kinds }) }
}
