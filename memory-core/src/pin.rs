//! Exempting memories from expiry and decay.

use crate::update::apply_patch;
use crate::{Patch, SecretPolicy, Services, StoreError, StoredMemory, Verb};

/// Pins the memory that `reference` names, and returns its new version.
///
/// A pinned memory is retained however old it is and however rarely it is read.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`]; [`StoreError::Damaged`] if its file is damaged.
pub fn pin(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let patch = Patch { pinned: Some(true), ..Patch::default() };
    apply_patch(services, Verb::Update, reference, &patch, None, SecretPolicy::Keep)
}

/// Unpins the memory that `reference` names, and returns its new version.
///
/// # Errors
/// Those of [`pin`].
pub fn unpin(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let patch = Patch { pinned: Some(false), ..Patch::default() };
    apply_patch(services, Verb::Update, reference, &patch, None, SecretPolicy::Keep)
}
