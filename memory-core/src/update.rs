//! Updating, pinning and revising a memory.

use crate::commit::{commit, retry_conflicts};
use crate::review::decide::check_version;
use crate::supersede::add_superseded;
use crate::{
    Change, FileVersion, MemoryId, MemoryStoreExt, Patch, SecretPolicy, Services, StoreError,
    StoredMemory, Verb,
};

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
    if patch
        .content
        .as_ref()
        .is_some_and(|content| content.trim().is_empty())
    {
        return Err(StoreError::Invalid {
            why: "the new text is empty".into(),
        });
    }
    let id = services.store.find(reference)?;
    if patch.superseded_by == Some(Some(id)) {
        return Err(StoreError::Invalid {
            why: "a memory cannot supersede itself".into(),
        });
    }
    // Only a new text can add a credential.
    let secrets = if adds_text(patch) {
        secrets
    } else {
        SecretPolicy::Keep
    };
    let attempt = || {
        let stored = services.store.get(&id)?;
        check_version(services, &stored, expected)?;
        let mut set = services.change_set(verb);
        let Some(memory) = patch.apply(&stored.memory, set.operation.at) else {
            return Ok(());
        };
        let superseded: Vec<MemoryId> = memory.supersedes[stored.memory.supersedes.len()..].into();
        set.changes.push(Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory.clone()),
        });
        add_superseded(services, &memory, &superseded, &mut set)?;
        commit(services, &set, secrets).map(drop)
    };
    let is_for_one_state = expected.is_some() || patch.content.is_some();
    let done = if is_for_one_state {
        attempt()
    } else {
        retry_conflicts(attempt)
    };
    done?;
    services.store.get_by(&id.to_string())
}

pub(crate) fn adds_text(patch: &Patch) -> bool {
    let Patch {
        content,
        title,
        aliases,
        scope,
        add_tags,
        source,
        origin,
        ..
    } = patch;
    let says = content.is_some() || title.is_some() || source.is_some() || !add_tags.is_empty();
    says || aliases.is_some() || scope.is_some() || origin.is_some()
}

/// Pins the memory that `reference` names, and returns its new version.
///
/// A pinned memory is retained however old it is and however rarely it is read.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`]; [`StoreError::Damaged`] if its file is damaged.
pub fn pin(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let patch = Patch {
        pinned: Some(true),
        ..Patch::default()
    };
    apply_patch(
        services,
        Verb::Update,
        reference,
        &patch,
        None,
        SecretPolicy::Keep,
    )
}

/// Unpins the memory that `reference` names, and returns its new version.
///
/// # Errors
/// Those of [`pin`].
pub fn unpin(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let patch = Patch {
        pinned: Some(false),
        ..Patch::default()
    };
    apply_patch(
        services,
        Verb::Update,
        reference,
        &patch,
        None,
        SecretPolicy::Keep,
    )
}

/// A passage and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The exact passage, which must occur once.
    pub old: String,
    /// The replacement.
    pub new: String,
    /// The version of the memory that the revision is based on, if available.
    pub version: Option<u64>,
}

/// Replaces one passage of the memory that `reference` names, applies `patch` to its other fields, and returns its new version.
///
/// # Errors
/// [`StoreError::Conflict`] if the memory has another version or changes concurrently, [`StoreError::Invalid`] if the
/// passage does not occur exactly once, [`StoreError::Secret`] if the new text contains a credential.
pub fn revise(
    services: &Services,
    reference: &str,
    revision: &Revision,
    patch: &Patch,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    if revision
        .version
        .is_some_and(|version| version != stored.memory.version)
    {
        return Err(StoreError::Conflict { what: stored.path });
    }
    if revision.old.is_empty() {
        return Err(StoreError::Invalid {
            why: "the passage to replace is empty".into(),
        });
    }
    let content = match stored.memory.content.matches(&revision.old).count() {
        1 => stored
            .memory
            .content
            .replacen(&revision.old, &revision.new, 1),
        0 => {
            return Err(StoreError::Invalid {
                why: format!("{} does not contain that passage", stored.path),
            });
        }
        count => {
            return Err(StoreError::Invalid {
                why: format!("{} contains that passage {count} times", stored.path),
            });
        }
    };
    let patch = Patch {
        content: Some(content),
        ..patch.clone()
    };
    update(
        services,
        &stored.memory.id.to_string(),
        &patch,
        Some(stored.stamp),
        secrets,
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Code, Draft, MemStore, write};

    #[test]
    fn a_passage_is_replaced_where_it_stands_once_and_in_the_version_that_was_read() {
        let services = services(Arc::new(MemStore::default()));
        let written = write(
            &services,
            Draft::new("tea at nine, cake at nine"),
            SecretPolicy::Refuse,
        )
        .expect("it is kept");
        let id = written.id.to_string();
        let revise = |old: &str, new: &str, version| {
            let revision = Revision {
                old: old.into(),
                new: new.into(),
                version,
            };
            let revised = revise(
                &services,
                &id,
                &revision,
                &Patch::default(),
                SecretPolicy::Refuse,
            );
            revised
                .map(|stored| stored.memory.content)
                .map_err(|error| (error.code(), error.to_string()))
        };
        assert_eq!(
            revise("tea at nine", "tea at ten", Some(1)).as_deref(),
            Ok("tea at ten, cake at nine")
        );
        assert_eq!(
            revise("tea", "coffee", Some(1))
                .expect_err("it is of version 2")
                .0,
            Code::Conflict
        );
        let (code, why) = revise("at", "by", None).expect_err("it stands there twice");
        assert_eq!(
            (code, why.ends_with("contains that passage 2 times")),
            (Code::InvalidInput, true)
        );
        assert_eq!(
            revise("milk", "", None)
                .expect_err("it does not stand there")
                .0,
            Code::InvalidInput
        );
    }
}
