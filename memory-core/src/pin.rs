//! Letting a memory stay, whatever its age.

use crate::update::change;
use crate::{Patch, Secrets, Services, StoreError, Stored, Verb};

/// Lets the memory that a person means by `reference` stay, however old it is and however seldom it is read; returns it as it
/// is then.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`]; [`StoreError::Damaged`] if its file must not be changed.
pub fn pin(services: &Services, reference: &str) -> Result<Stored, StoreError> {
    let patch = Patch { pinned: Some(true), ..Patch::default() };
    change(services, Verb::Update, reference, &patch, None, Secrets::Keep)
}

/// Lets the memory that a person means by `reference` go the way of all others again; returns it as it is then.
///
/// # Errors
/// As [`pin`].
pub fn unpin(services: &Services, reference: &str) -> Result<Stored, StoreError> {
    let patch = Patch { pinned: Some(false), ..Patch::default() };
    change(services, Verb::Update, reference, &patch, None, Secrets::Keep)
}
