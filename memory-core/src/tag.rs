//! Adding labels to a memory and taking them away.

use crate::update::change;
use crate::{Patch, Secrets, Services, StoreError, Stored, Tags, Verb};

/// Adds labels to the memory that a person means by `reference`, then takes others away, and returns it as it is then.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`]; [`StoreError::Damaged`] if its file must not be changed.
pub fn tag(services: &Services, reference: &str, add: Tags, remove: Tags) -> Result<Stored, StoreError> {
    let patch = Patch { add_tags: add, remove_tags: remove, ..Patch::default() };
    change(services, Verb::Tag, reference, &patch, None, Secrets::Refuse)
}
