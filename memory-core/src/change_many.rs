//! Changing or deleting several memories in one operation.

use crate::commit::{commit, retry_conflicts};
use crate::update::adds_text;
use crate::{Change, MemoryId, Patch, SecretPolicy, Services, StoreError, Verb};

/// A change that applies to several memories.
#[derive(Debug, Clone, PartialEq)]
pub enum BulkChange {
    /// The memories move to the trash.
    Delete,
    /// The fields of the patch change; it has no new text.
    Update(Box<Patch>),
}

/// The result of [`change_many`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BulkResult {
    /// The number of memories that were changed or deleted.
    pub changed: usize,
    /// The number of memories that do not exist any more, or whose files are damaged.
    pub skipped: usize,
}

/// Applies `change` to the memories with these ids as one operation, which one undo reverts. A memory that already has the fields of
/// the patch is not changed.
///
/// # Errors
/// [`StoreError::Invalid`] if the patch replaces the text, [`StoreError::Secret`] if it contains a credential. No memory is changed then.
pub fn change_many(
    services: &Services,
    ids: &[MemoryId],
    change: &BulkChange,
) -> Result<BulkResult, StoreError> {
    let (verb, secrets) = match change {
        BulkChange::Delete => (Verb::Delete, SecretPolicy::Keep),
        BulkChange::Update(patch) if patch.content.is_some() => {
            return Err(StoreError::Invalid {
                why: "several memories cannot get the same text".into(),
            });
        }
        BulkChange::Update(patch) if adds_text(patch) => (Verb::Update, SecretPolicy::Refuse),
        BulkChange::Update(_) => (Verb::Update, SecretPolicy::Keep),
    };
    let mut unique = ids.to_vec();
    unique.sort_unstable();
    unique.dedup();
    retry_conflicts(|| {
        let mut set = services.change_set(verb);
        let mut skipped = 0;
        for id in &unique {
            let stored = match services.store.get(id) {
                Ok(stored) => stored,
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {
                    skipped += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            match change {
                BulkChange::Delete => set.changes.push(Change::Remove {
                    id: *id,
                    expected: Some(stored.stamp),
                }),
                BulkChange::Update(_) if stored.problem.is_some() => skipped += 1,
                BulkChange::Update(patch) => {
                    let changed = patch.apply(&stored.memory, set.operation.at);
                    let replace = |memory| Change::Replace {
                        expected: stored.stamp,
                        memory: Box::new(memory),
                    };
                    set.changes.extend(changed.map(replace));
                }
            }
        }
        let changed = set.changes.len();
        if 0 < changed {
            commit(services, &set, secrets)?;
        }
        Ok(BulkResult { changed, skipped })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Category, Code, Draft, MemStore, MemoryStoreExt, undo, write};

    #[test]
    fn one_undo_reverts_the_change_of_several_memories() {
        let services = services(Arc::new(MemStore::default()));
        let ids: Vec<MemoryId> = ["tea", "coffee", "milk"]
            .map(|text| {
                write(&services, Draft::new(text), SecretPolicy::Refuse)
                    .expect("it is written")
                    .id
            })
            .to_vec();
        let category = |id: &MemoryId| services.store.get(id).map(|stored| stored.memory.category);
        let patch = Patch {
            category: Some(Category::Preferences),
            pinned: Some(true),
            ..Patch::default()
        };
        let change = BulkChange::Update(Box::new(patch));
        let selected = [ids[0], ids[1], ids[1]];
        assert_eq!(
            change_many(&services, &selected, &change).expect("changed"),
            BulkResult {
                changed: 2,
                skipped: 0
            }
        );
        assert_eq!(
            (category(&ids[1]).ok(), category(&ids[2]).ok()),
            (Some(Category::Preferences), Some(Category::Inbox))
        );
        assert_eq!(
            change_many(&services, &selected, &change).expect("nothing to do"),
            BulkResult::default()
        );
        undo(&services, None).expect("undone");
        assert!(
            ids.iter()
                .all(|id| category(id).ok() == Some(Category::Inbox))
        );

        assert_eq!(
            change_many(&services, &ids[..2], &BulkChange::Delete)
                .expect("deleted")
                .changed,
            2
        );
        assert!(category(&ids[0]).is_err() && category(&ids[2]).is_ok());
        let result =
            change_many(&services, &ids, &BulkChange::Delete).expect("the last one is deleted");
        assert_eq!(
            result,
            BulkResult {
                changed: 1,
                skipped: 2
            }
        );
        undo(&services, None).expect("undone");
        undo(&services, None).expect("undone");
        assert!(
            ids.iter()
                .all(|id| services.store.get_by(&id.to_string()).is_ok())
        );

        let text = BulkChange::Update(Box::new(Patch {
            content: Some("same".into()),
            ..Patch::default()
        }));
        assert_eq!(
            change_many(&services, &ids, &text)
                .expect_err("refused")
                .code(),
            Code::InvalidInput
        );
    }
}
