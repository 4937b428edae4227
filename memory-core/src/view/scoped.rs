//! A store and its history, of which only some scopes are seen.

use std::sync::Arc;

use super::View;
use crate::{Filter, History, Memory, MemoryId, MemoryStore, Reminder, Scope, StoreError, Stored};

/// A store and its history, of which only what a view allows is seen.
#[derive(Debug)]
pub(super) struct Scoped {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) history: Arc<dyn History>,
    pub(super) view: View,
    pub(super) scopes: Vec<Scope>,
}

impl Scoped {
    pub(super) fn new(store: Arc<dyn MemoryStore>, history: Arc<dyn History>, view: View) -> Self {
        Self { store, history, scopes: view.scopes(), view }
    }

    /// Tells whether a memory is seen.
    pub(super) fn sees(&self, stored: &Stored) -> bool {
        // Of a file that cannot be understood nobody can tell whose it is.
        stored.problem.is_none() && self.view.allows(&stored.memory.scope)
    }

    /// Returns those of the scopes that are seen, or all that are if none are given.
    pub(super) fn within(&self, scopes: Option<&[Scope]>) -> Vec<Scope> {
        match scopes {
            None => self.scopes.clone(),
            Some(scopes) => scopes.iter().filter(|scope| self.view.allows(scope)).cloned().collect(),
        }
    }

    /// Returns the filter that lets pass what `filter` does and is seen.
    pub(super) fn narrowed(&self, filter: &Filter) -> Filter {
        Filter { within: Some(self.within(filter.within.as_deref())), ..filter.clone() }
    }

    /// Tells of each of `ids` whether it is there and seen, as far as is known without a look at its file.
    pub(super) fn are_seen(&self, ids: &[MemoryId]) -> Result<Vec<bool>, StoreError> {
        let scopes = self.store.scopes(ids)?;
        Ok(scopes.iter().map(|scope| scope.as_ref().is_some_and(|scope| self.view.allows(scope))).collect())
    }

    /// Refuses what would lie in a scope that is not seen.
    pub(super) fn may_hold(&self, scope: &Scope) -> Result<(), StoreError> {
        if self.view.allows(scope) { Ok(()) } else { Err(StoreError::ScopeRefused { scope: scope.clone() }) }
    }

    /// Refuses a memory that leads somewhere where nothing is seen, unless it did so `before` or that is `made` along with it.
    pub(super) fn may_lead(&self, memory: &Memory, before: Option<&Memory>, made: &[MemoryId]) -> Result<(), StoreError> {
        let former = before.map(leads).unwrap_or_default();
        let new: Vec<MemoryId> = leads(memory).into_iter().filter(|id| !former.contains(id) && !made.contains(id)).collect();
        let unseen = self.are_seen(&new)?.into_iter().zip(new).find(|(is_seen, _)| !is_seen);
        match unseen {
            Some((_, id)) => Err(StoreError::NotFound { reference: id.to_string() }),
            None => Ok(()),
        }
    }
}

/// Returns the memories that one leads to, other than by wikilinks.
fn leads(memory: &Memory) -> Vec<MemoryId> {
    let of = memory.reminder.and_then(|Reminder { of, .. }| of);
    memory.links.iter().chain(&memory.supersedes).chain(&memory.superseded_by).chain(&of).copied().collect()
}
