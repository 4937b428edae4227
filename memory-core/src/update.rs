//! Updating a memory.

use crate::commit::{commit, retry_conflicts};
use crate::{Change, FileVersion, MemoryStoreExt, Patch, SecretPolicy, Services, StoreError, StoredMemory, Verb};

/// Applies `patch` to the memory that `reference` names, and returns its new version.
///
/// With `expected`, the patch applies only to that version of the file. Without it, a patch that does not replace the
/// text is applied again after a conflict with another writer.
///
/// # Errors
/// [`StoreError::Conflict`] if the file has another version, [`StoreError::Secret`] if a new text contains a
/// credential.
pub fn update(
    services: &Services,
    reference: &str,
    patch: &Patch,
    expected: Option<FileVersion>,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    apply_patch(services, Verb::Update, reference, patch, expected, secrets)
}

/// Applies a patch as [`update`] does, and records it with `verb`.
pub(crate) fn apply_patch(
    services: &Services,
    verb: Verb,
    reference: &str,
    patch: &Patch,
    expected: Option<FileVersion>,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    if patch.content.as_ref().is_some_and(|content| content.trim().is_empty()) {
        return Err(StoreError::Invalid { why: "the new text is empty".into() });
    }
    let id = services.store.find(reference)?;
    if patch.superseded_by == Some(Some(id)) {
        return Err(StoreError::Invalid { why: "a memory cannot supersede itself".into() });
    }
    // Only a new text can add a credential.
    let secrets = if adds_text(patch) { secrets } else { SecretPolicy::Keep };
    let attempt = || {
        let stored = services.store.get(&id)?;
        if expected.is_some_and(|expected| expected != stored.stamp) {
            return Err(StoreError::Conflict { what: stored.path });
        }
        let mut set = services.change_set(verb);
        let Some(memory) = patch.apply(&stored.memory, set.operation.at) else { return Ok(()) };
        set.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
        commit(services, &set, secrets).map(drop)
    };
    let is_for_one_state = expected.is_some() || patch.content.is_some();
    let done = if is_for_one_state { attempt() } else { retry_conflicts(attempt) };
    done?;
    services.store.get_by(&id.to_string())
}

fn adds_text(patch: &Patch) -> bool {
    let Patch { content, title, aliases, scope, add_tags, source, origin, .. } = patch;
    let says = content.is_some() || title.is_some() || source.is_some() || !add_tags.is_empty();
    says || aliases.is_some() || scope.is_some() || origin.is_some()
}
