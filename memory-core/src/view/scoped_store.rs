//! A store and its history, restricted to some scopes.

use std::sync::Arc;

use crate::{Filter, History, HomeSection, Memory, MemoryId, MemoryStore, Reminder, Scope, StoreError, StoredMemory};

/// A store and its history, restricted to a view.
#[derive(Debug)]
pub(super) struct ScopedStore {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) history: Arc<dyn History>,
    /// The scopes of the view.
    pub(super) scopes: Vec<Scope>,
    /// The only part of the home that lists and searches return, if restricted.
    pub(super) section: Option<HomeSection>,
    /// The name of the actor for the journal.
    pub(super) actor: String,
}

impl ScopedStore {
    /// Returns whether the view contains `scope`.
    pub(super) fn allows(&self, scope: &Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// Returns whether the view contains a stored memory.
    pub(super) fn is_visible(&self, stored: &StoredMemory) -> bool {
        // The scope of a damaged file is not reliable.
        stored.problem.is_none() && self.allows(&stored.memory.scope)
    }

    /// Returns those of `scopes` that the view contains, or all scopes of the view if `scopes` is `None`.
    pub(super) fn restrict_scopes(&self, scopes: Option<&[Scope]>) -> Vec<Scope> {
        match scopes {
            None => self.scopes.clone(),
            Some(scopes) => scopes.iter().filter(|scope| self.allows(scope)).cloned().collect(),
        }
    }

    /// Returns `filter`, restricted to the view.
    pub(super) fn narrow_filter(&self, filter: &Filter) -> Filter {
        Filter {
            within: Some(self.restrict_scopes(filter.within.as_deref())),
            place: self.section.or(filter.place),
            ..filter.clone()
        }
    }

    /// Returns for each of `ids` whether the memory exists in the view, without reading its file.
    pub(super) fn visibility(&self, ids: &[MemoryId]) -> Result<Vec<bool>, StoreError> {
        let scopes = self.store.scopes(ids)?;
        Ok(scopes.iter().map(|scope| scope.as_ref().is_some_and(|scope| self.allows(scope))).collect())
    }

    /// Checks that the view contains `scope`.
    pub(super) fn check_scope(&self, scope: &Scope) -> Result<(), StoreError> {
        if self.allows(scope) { Ok(()) } else { Err(StoreError::ScopeRefused { scope: scope.clone() }) }
    }

    /// Checks that all memories that `memory` refers to are in the view.
    ///
    /// References that the memory already had `before` are allowed, and so are references to memories in `made`, which
    /// the same operation creates.
    pub(super) fn check_references(&self, memory: &Memory, before: Option<&Memory>, made: &[MemoryId]) -> Result<(), StoreError> {
        let former = before.map(references).unwrap_or_default();
        let new: Vec<MemoryId> = references(memory).into_iter().filter(|id| !former.contains(id) && !made.contains(id)).collect();
        let unseen = self.visibility(&new)?.into_iter().zip(new).find(|(is_seen, _)| !is_seen);
        match unseen {
            Some((_, id)) => Err(StoreError::NotFound { reference: id.to_string() }),
            None => Ok(()),
        }
    }
}

/// Returns the memories that a memory refers to other than by wikilinks.
fn references(memory: &Memory) -> Vec<MemoryId> {
    let of = memory.reminder.and_then(|Reminder { of, .. }| of);
    memory.links.iter().chain(&memory.supersedes).chain(&memory.superseded_by).chain(&of).copied().collect()
}
