//! Adding and removing tags of a memory.

use crate::update::apply_patch;
use crate::{Patch, SecretPolicy, Services, StoreError, StoredMemory, Tags, Verb};

/// Adds tags to the memory that `reference` names, then removes others, and returns its new version.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`]; [`StoreError::Damaged`] if its file is damaged.
pub fn tag(
    services: &Services,
    reference: &str,
    add: Tags,
    remove: Tags,
) -> Result<StoredMemory, StoreError> {
    let patch = Patch {
        add_tags: add,
        remove_tags: remove,
        ..Patch::default()
    };
    apply_patch(
        services,
        Verb::Tag,
        reference,
        &patch,
        None,
        SecretPolicy::Refuse,
    )
}
