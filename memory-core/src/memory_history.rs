//! The history of one memory: its recorded changes, with its versions before and after each.

use crate::{Memory, MemoryId, Operation, OperationId, Recorded, RecordedChange, Services, StoreError, StoredMemory};

/// The changes of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryHistory {
    /// The changes, newest first.
    pub steps: Vec<MemoryStep>,
    /// Whether there are older changes.
    pub has_more: bool,
}

/// A recorded change of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryStep {
    /// The operation that made the change.
    pub operation: Operation,
    /// The operation that this one undid, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, if any.
    pub undone_by: Option<OperationId>,
    /// The reason, if the verb does not explain it.
    pub why: Option<String>,
    /// The path in the trash of the version before the change; `None` if the memory was created, or the version was purged.
    pub trash: Option<String>,
    /// The version before the change, if it is in the trash and can be read.
    pub before: Option<Memory>,
    /// The version after the change, or `None` if the memory was deleted or the version cannot be read.
    pub after: Option<Memory>,
    /// Whether the change deleted the memory.
    pub is_deletion: bool,
    /// Whether another program changed the file after this step, so that `after` contains that change too.
    pub is_edited_after: bool,
}

/// Returns the newest `limit` changes of the memory `id`, which may be deleted.
///
/// # Errors
/// If the journal cannot be read. A version that cannot be read is left out.
pub fn memory_history(services: &Services, id: &MemoryId, limit: usize) -> Result<MemoryHistory, StoreError> {
    let current = match services.store.get(id) {
        Ok(stored) => Some(stored),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
        Err(error) => return Err(error),
    };
    let mut changes = Vec::new();
    for change in services.history.changes_to(id).take(limit.saturating_add(1)) {
        changes.push(change?);
    }
    let has_more = limit < changes.len();
    changes.truncate(limit);
    let mut read = |trash: &str| services.history.memory_in_trash(trash).ok();
    Ok(MemoryHistory { steps: build_steps(changes, current.as_ref(), &mut read), has_more })
}

/// Adds the versions to the changes, which are ordered newest first. `read` reads a version from the trash.
fn build_steps(
    changes: Vec<Recorded<RecordedChange>>,
    current: Option<&StoredMemory>,
    read: &mut dyn FnMut(&str) -> Option<Memory>,
) -> Vec<MemoryStep> {
    let mut next_hash = current.map(|stored| stored.stamp.0);
    let mut next = current.map(|stored| stored.memory.clone());
    let mut steps = Vec::with_capacity(changes.len());
    for Recorded { operation, subject, undoes, undone_by } in changes {
        let RecordedChange { before, after, why, .. } = subject;
        let trash = before.as_ref().and_then(|before| before.trash.clone());
        let former = trash.as_deref().and_then(&mut *read);
        let is_edited_after = after.as_ref().zip(next_hash).is_some_and(|(after, next)| after.hash != next);
        steps.push(MemoryStep {
            operation,
            undoes,
            undone_by,
            why,
            trash: trash.filter(|_| former.is_some()),
            before: former.clone(),
            after: next.take().filter(|_| after.is_some()),
            is_deletion: after.is_none(),
            is_edited_after,
        });
        next_hash = before.map(|before| before.hash);
        next = former;
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, Patch, SecretPolicy, Verb, delete, restore, undo, update, write};

    #[test]
    fn each_step_has_the_versions_before_and_after_it() {
        let services = services(Arc::new(MemStore::default()));
        let id = write(&services, Draft::new("tea"), SecretPolicy::Refuse).unwrap().id;
        let name = id.to_string();
        let set = |text: &str| {
            let patch = Patch { content: Some(text.into()), ..Patch::default() };
            update(&services, &name, &patch, None, SecretPolicy::Refuse).unwrap()
        };
        set("green tea");
        write(&services, Draft::new("another"), SecretPolicy::Refuse).unwrap();
        set("black tea");
        let report = undo(&services, None).unwrap();
        delete(&services, &name).unwrap();
        let steps = |limit| memory_history(&services, &id, limit).unwrap();
        let texts: Vec<_> = steps(9)
            .steps
            .iter()
            .map(|step| {
                let text =
                    |memory: &Option<Memory>| memory.as_ref().map_or_else(|| "-".to_owned(), |memory| memory.content.clone());
                (step.operation.verb, text(&step.before), text(&step.after))
            })
            .collect();
        let expected = [
            (Verb::Delete, "green tea", "-"),
            (Verb::Undo, "black tea", "green tea"),
            (Verb::Update, "green tea", "black tea"),
            (Verb::Update, "tea", "green tea"),
            (Verb::Write, "-", "tea"),
        ];
        assert_eq!(texts, expected.map(|(verb, before, after)| (verb, before.to_owned(), after.to_owned())));
        let all = steps(9);
        assert_eq!((all.steps[2].undone_by.clone(), all.has_more), (Some(report.undo), false));
        assert!(all.steps[0].is_deletion && all.steps.iter().all(|step| !step.is_edited_after));
        assert!(steps(2).has_more && steps(2).steps.len() == 2);
        restore(&services, all.steps[3].trash.as_deref().unwrap()).unwrap();
        assert_eq!(steps(1).steps[0].after.as_ref().map(|memory| memory.content.as_str()), Some("tea"));
    }
}
