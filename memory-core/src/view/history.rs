//! Restricts the history of operations to those that an agent may see and undo.

use chrono::{DateTime, Utc};

use super::store::ScopedStore;
use crate::{
    ChangeOutcome, FileVersion, History, Memory, MemoryId, Operation, OperationId, OperationRecord,
    Recorded, RecordedChange, RevertedFiles, Scope, StoreError, StoreResults, TrashedFile, Verb,
};

/// Only operations of the agent that affect no memory outside its view are visible and can be undone.
impl History for ScopedStore {
    fn records(&self) -> StoreResults<'_, OperationRecord> {
        keep_if(self.history.records(), |record| self.is_own(record))
    }

    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange> {
        match self.is_known(id) {
            Ok(true) => self.history.changes(id),
            Ok(false) => Box::new(std::iter::empty()),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn trashed(&self) -> StoreResults<'_, TrashedFile> {
        let own: Result<Vec<OperationId>, StoreError> = self
            .records()
            .map(|record| record.map(|record| record.operation.id))
            .collect();
        match own {
            Ok(own) => Box::new(self.history.trashed().filter(move |trashed| {
                trashed
                    .as_ref()
                    .map_or(true, |own_one| own.contains(&own_one.operation.id))
            })),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn changes_to(&self, id: &MemoryId) -> StoreResults<'_, Recorded<RecordedChange>> {
        let changes = self.history.changes_to(id);
        keep_if(changes, |change| self.is_known(&change.operation.id))
    }

    fn all_changes(&self) -> StoreResults<'_, Recorded<RecordedChange>> {
        let changes = self.history.all_changes();
        keep_if(changes, |change| self.is_known(&change.operation.id))
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        let not_found = || StoreError::TrashNotFound {
            reference: trash.to_owned(),
            earlier: None,
        };
        match self.history.memory_in_trash(trash) {
            Ok(mut memory) if self.allows(&memory.scope) => {
                self.conceal([&mut memory])?;
                Ok(memory)
            }
            Ok(_) | Err(StoreError::TrashNotFound { .. } | StoreError::Damaged(_)) => {
                Err(not_found())
            }
            Err(error) => Err(error),
        }
    }

    fn trash_has_version(&self, trash: &str, expected: FileVersion) -> Result<bool, StoreError> {
        self.memory_in_trash(trash)?;
        self.history.trash_has_version(trash, expected)
    }

    fn recover(&self) -> Result<(), StoreError> {
        self.history.recover()
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        if !self.is_known(id)? {
            return Err(StoreError::OperationNotFound {
                wanted: format!("no operation has the id {id}"),
            });
        }
        for change in self.history.changes(id) {
            self.refuse_reviewed_revert(&change?)?;
        }
        self.history.revert(id, &self.with_actor(undo))
    }

    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError> {
        for own in self.trashed() {
            if own? == *trashed {
                let scope = self.history.memory_in_trash(&trashed.trash)?.scope;
                self.check_scope(&scope)?;
                if self.needs_review(&scope) {
                    let why = "the user must review changes in this scope, so an agent cannot restore memories in it".into();
                    return Err(StoreError::Invalid { why });
                }
                return self.history.restore(trashed, &self.with_actor(restore));
            }
        }
        Err(StoreError::TrashNotFound {
            reference: trashed.trash.clone(),
            earlier: None,
        })
    }

    fn changes_of(&self, verb: Verb) -> StoreResults<'_, RecordedChange> {
        let changes = self.history.changes_of(verb);
        keep_if(changes, |change| self.is_visible_change(change))
    }

    fn purge(&self, _: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        Err(StoreError::Invalid {
            why: "an agent may not purge the trash".into(),
        })
    }
}

impl ScopedStore {
    fn with_actor(&self, operation: &Operation) -> Operation {
        Operation {
            by: self.actor.clone(),
            ..operation.clone()
        }
    }

    /// Refuses to revert a change that a person would have to review. An agent may take back its own proposals.
    fn refuse_reviewed_revert(&self, change: &RecordedChange) -> Result<(), StoreError> {
        let scope = self.store.scopes(&[change.id])?.pop().flatten();
        let former = self.former_scope(change)?;
        for scope in scope.iter().chain(&former) {
            self.check_scope(scope)?;
        }
        if !scope
            .iter()
            .chain(&former)
            .any(|scope| self.needs_review(scope))
        {
            return Ok(());
        }
        match self.store.get(&change.id) {
            // The former text of a proposal may have been rejected, and the person may be looking at the current one.
            Ok(stored) if stored.memory.is_proposal_of(&self.actor) && change.before.is_none() => {
                Ok(())
            }
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {
                let why = "the user must review changes in this scope, so an agent cannot undo an operation in it".into();
                Err(StoreError::Invalid { why })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether an operation exists and is visible.
    fn is_known(&self, id: &OperationId) -> Result<bool, StoreError> {
        for record in self.history.records() {
            let record = record?;
            if record.operation.id == *id {
                return self.is_own(&record);
            }
        }
        Ok(false)
    }

    /// Returns whether the agent made the operation, and all its changes are in the view.
    ///
    /// The second condition is needed because the agent may have worked on another project before.
    fn is_own(&self, record: &OperationRecord) -> Result<bool, StoreError> {
        if record.operation.by != self.actor {
            return Ok(false);
        }
        for change in self.history.changes(&record.operation.id) {
            if !self.is_visible_change(&change?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the scope of the memory before a change; `None` if its file was purged or cannot be parsed.
    fn former_scope(&self, change: &RecordedChange) -> Result<Option<Scope>, StoreError> {
        let before = change.before.as_ref();
        let Some(trash) = before.and_then(|before| before.trash.as_ref()) else {
            return Ok(None);
        };
        match self.history.memory_in_trash(trash) {
            Ok(memory) => Ok(Some(memory.scope)),
            Err(StoreError::TrashNotFound { .. } | StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the view contains the memory of a change, both now and before.
    ///
    /// A memory that no longer exists and is not in the trash is outside the view, because its scope is unknown.
    fn is_visible_change(&self, change: &RecordedChange) -> Result<bool, StoreError> {
        let now = self.store.scopes(&[change.id])?.pop().flatten();
        if change.is_placeholder() {
            return Ok(now.is_none_or(|scope| self.allows(&scope)));
        }
        let before = self.former_scope(change)?;
        Ok((now.is_some() || before.is_some())
            && now.iter().chain(&before).all(|scope| self.allows(scope)))
    }
}

/// Returns the items for which `is_kept` holds, and all errors.
fn keep_if<'a, T: 'a>(
    items: StoreResults<'a, T>,
    is_kept: impl Fn(&T) -> Result<bool, StoreError> + 'a,
) -> StoreResults<'a, T> {
    Box::new(items.filter_map(move |item| {
        let kept = item.and_then(|item| Ok(is_kept(&item)?.then_some(item)));
        kept.transpose()
    }))
}
