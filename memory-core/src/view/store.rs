//! The store as an agent sees it, and the filters of its scopes.

mod propose;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use self::propose::ReviewedSet;
use crate::commit::ATTEMPTS;
use crate::embed::{MAX_SCANNED, count_memories};
use crate::query_parser::TextQuery;
use crate::secret::Checked;
use crate::spelling::WordCorrection;
use crate::wikilink::{WikilinkCandidate, WikilinkTarget};
use crate::{
    AgentName, CachedAnalysis, Change, ChangeOutcome, ChangeSet, Clock, Connections, ContentHash,
    FacetCounts, FileVersion, Filter, History, HomeSection, IdSource, Memory, MemoryId, MemoryPage,
    MemoryStore, MemorySummary, NameMatch, Origin, PageRequest, ReminderQuery, ReviewPolicy, Scope,
    SearchRequest, SearchResults, StoreError, StoreResults, StoredMemory, SubmittedProposals,
    TextVector,
};

fn memory_id(target: &WikilinkTarget) -> Option<MemoryId> {
    match target {
        WikilinkTarget::Memory(id) => Some(*id),
        WikilinkTarget::Attachment => None,
    }
}

impl MemoryStore for ScopedStore {
    fn refresh(&self) -> Result<(), StoreError> {
        self.store.refresh()
    }

    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        let mut stored = self.get_whole(id)?;
        self.conceal([&mut stored.memory])?;
        Ok(stored)
    }

    fn find_matches(
        &self,
        reference: &str,
        within: Option<&[Scope]>,
    ) -> Result<Vec<NameMatch>, StoreError> {
        let mut found = self
            .store
            .find_matches(reference, Some(&self.restrict_scopes(within)))?;
        if 1 < found.len() {
            // A reference is not ambiguous because of the proposals of another agent. A damaged file remains.
            found.retain(|one| !matches!(self.get(&one.id), Err(StoreError::NotFound { .. })));
        }
        Ok(found)
    }

    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        let is_free = |change: &Change| matches!(change, Change::Remove { expected: None, .. });
        let mut left = if set.changes.iter().any(is_free) {
            ATTEMPTS
        } else {
            1
        };
        loop {
            left -= 1;
            let reviewed = self.check_operation(set.into_inner())?;
            let committed = match reviewed.set.changes.as_slice() {
                [] => Ok(Vec::new()),
                _ => self.store.commit(set.map(|_| &reviewed.set)),
            };
            match committed {
                // A removal without an expected version is retried after a conflict, once the view is checked again.
                Err(StoreError::Conflict { .. }) if 0 < left => {}
                committed => {
                    let (outcomes, proposals) = reviewed.outcomes(committed?);
                    self.proposals.add(proposals);
                    return Ok(outcomes);
                }
            }
        }
    }

    fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError> {
        self.visible_page(self.store.list(&self.narrow_filter(filter), slice, now)?)
    }

    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError> {
        let filter = self.narrow_filter(asked.filter);
        let mut found = self.store.search(
            &SearchRequest {
                filter: &filter,
                ..asked.clone()
            },
            now,
        )?;
        let (all, damaged) = (
            found.hits.len(),
            found
                .hits
                .iter()
                .filter(|hit| hit.stored.problem.is_some())
                .count(),
        );
        found.hits.retain(|hit| self.is_visible(&hit.stored));
        self.conceal(found.hits.iter_mut().map(|hit| &mut hit.stored.memory))?;
        found.total = found.total.saturating_sub((all - found.hits.len()) as u64);
        found.degraded = add_skipped(damaged, found.degraded);
        Ok(found)
    }

    fn speakers(
        &self,
        names: &[String],
        within: Option<&[Scope]>,
    ) -> Result<Vec<String>, StoreError> {
        self.store
            .speakers(names, Some(&self.restrict_scopes(within)))
    }

    fn correct_words(
        &self,
        question: &TextQuery,
        within: Option<&[Scope]>,
    ) -> Result<Vec<WordCorrection>, StoreError> {
        self.store
            .correct_words(question, Some(&self.restrict_scopes(within)))
    }

    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory> {
        let memories = self.store.memories(&self.narrow_filter(filter), now);
        Box::new(memories.filter_map(|stored| {
            let seen = stored.and_then(|stored| self.visible_part(vec![stored]));
            seen.map(|mut seen| seen.pop()).transpose()
        }))
    }

    fn by_origin(
        &self,
        origin: &Origin,
        scope: &Scope,
    ) -> Result<Option<StoredMemory>, StoreError> {
        let found = self.store.by_origin(origin, scope)?;
        Ok(self.visible_part(found.into_iter().collect())?.pop())
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError> {
        if self.allows(scope) {
            self.store.by_content(hash, scope)
        } else {
            Ok(Vec::new())
        }
    }

    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError> {
        self.visible_part(self.store.referring(id, keys)?)
    }

    fn reminders(
        &self,
        wanted: ReminderQuery,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<MemoryPage, StoreError> {
        self.visible_page(self.store.reminders(
            wanted,
            Some(&self.restrict_scopes(within)),
            limit,
        )?)
    }

    fn count_access(&self, ids: &[MemoryId]) {
        // Counts are not essential, so errors are ignored.
        if let Ok(own) = self.visible_items(ids, |id| *id) {
            self.store.count_access(&own);
        }
    }

    fn write_access_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError> {
        self.store.write_access_counts(now)
    }

    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError> {
        self.get_whole(id)?;
        self.store.has_version(id, expected)
    }

    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        let named = self.store.find_by_name(key)?;
        let ids: Vec<MemoryId> = named
            .iter()
            .filter_map(|candidate| memory_id(&candidate.target))
            .collect();
        let mut seen = self.visibility(&ids)?.into_iter();
        let is_seen = |candidate: &WikilinkCandidate| {
            memory_id(&candidate.target).is_some() && seen.next().unwrap_or(false)
        };
        Ok(named.into_iter().filter(is_seen).collect())
    }

    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        let lacking = self.store.memories_without_vector(identity)?;
        self.visible_items(&lacking, |id| *id)
    }

    /// Counts only in a small store, because it looks at each memory.
    fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError> {
        let store = self.store.as_ref();
        if store.count_without_vector(identity)? == 0
            || MAX_SCANNED < count_memories(store, DateTime::UNIX_EPOCH)?
        {
            return Ok(0);
        }
        Ok(self.memories_without_vector(identity)?.len() as u64)
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        self.store.has_vectors(identity)
    }

    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let own = self.visible_items(vectors, |own| own.id)?;
        self.store.store_vectors(identity, &own)
    }

    fn facets(
        &self,
        question: Option<&TextQuery>,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, StoreError> {
        self.store
            .facets(question, &self.narrow_filter(filter), now)
    }

    fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let tagged = self
            .store
            .tagged(tag, Some(&self.restrict_scopes(within)), limit, now)?;
        self.visible_part(tagged)
    }

    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let mut outlines = self.store.summaries()?;
        outlines.retain(|outline| self.allows(&outline.scope));
        Ok(outlines)
    }

    fn connections(&self, filter: &Filter, now: DateTime<Utc>) -> Result<Connections, StoreError> {
        self.store.connections(&self.narrow_filter(filter), now)
    }

    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        let scopes = self.store.scopes(ids)?;
        Ok(scopes
            .into_iter()
            .map(|scope| scope.filter(|scope| self.allows(scope)))
            .collect())
    }

    fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError> {
        let own = self.visible_items(impressions, |own| own.id)?;
        self.store.store_analyses(&own)
    }
}

/// Adds the number of omitted damaged files to the reason for incomplete results.
fn add_skipped(damaged: usize, said: Option<String>) -> Option<String> {
    let files = if damaged == 1 {
        "file was"
    } else {
        "files were"
    };
    let left_out = (0 < damaged).then(|| {
        format!("{damaged} damaged {files} skipped, because the scope cannot be determined")
    });
    said.into_iter()
        .chain(left_out)
        .reduce(|one, other| format!("{one}; {other}"))
}

impl ScopedStore {
    /// Returns the part of a page in the view.
    ///
    /// It is the whole page, unless a file is damaged or has changed since the store read it.
    fn visible_page(&self, mut page: MemoryPage) -> Result<MemoryPage, StoreError> {
        let (all, damaged) = (
            page.memories.len(),
            page.memories
                .iter()
                .filter(|stored| stored.problem.is_some())
                .count(),
        );
        page.memories = self.visible_part(page.memories)?;
        page.total = page
            .total
            .saturating_sub((all - page.memories.len()) as u64);
        page.degraded = add_skipped(damaged, page.degraded);
        Ok(page)
    }

    /// Returns the memories in the view, as it shows them.
    fn visible_part(
        &self,
        mut memories: Vec<StoredMemory>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        memories.retain(|stored| self.is_visible(stored));
        self.conceal(memories.iter_mut().map(|stored| &mut stored.memory))?;
        Ok(memories)
    }

    /// Returns a memory in the view with all its references.
    fn get_whole(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        let not_found = || StoreError::NotFound {
            reference: id.to_string(),
        };
        match self.store.get(id) {
            Ok(stored) if self.is_visible(&stored) => Ok(stored),
            Ok(_) | Err(StoreError::NotFound { .. }) => Err(not_found()),
            // The index contains the scope of an unreadable file.
            Err(error) if self.visibility(&[*id])? == [true] => Err(error),
            Err(_) => Err(not_found()),
        }
    }

    /// Removes references to memories that the view does not contain.
    pub(super) fn conceal<'m>(
        &self,
        memories: impl IntoIterator<Item = &'m mut Memory>,
    ) -> Result<(), StoreError> {
        let mut memories: Vec<_> = memories.into_iter().collect();
        let ids: Vec<_> = memories
            .iter()
            .flat_map(|memory| memory.references())
            .collect();
        let hidden = self.hidden(ids)?;
        for memory in &mut memories {
            let is_seen = |id: &MemoryId| !hidden.contains(id);
            memory.links.retain(is_seen);
            memory.supersedes.retain(is_seen);
            memory.superseded_by = memory.superseded_by.filter(is_seen);
            if let Some(reminder) = &mut memory.reminder {
                reminder.of = reminder.of.filter(is_seen);
            }
        }
        Ok(())
    }

    /// Adds the references of `before` that [`ScopedStore::conceal`] removes.
    fn restore_concealed(&self, memory: &mut Memory, before: &Memory) -> Result<(), StoreError> {
        let hidden = self.hidden(before.references())?;
        let merged = |former: &[MemoryId], new: &[MemoryId]| -> Vec<MemoryId> {
            let kept = former
                .iter()
                .filter(|id| hidden.contains(id) || new.contains(id));
            let added = new.iter().filter(|id| !former.contains(id));
            kept.chain(added).copied().collect()
        };
        memory.links = merged(&before.links, &memory.links);
        memory.supersedes = merged(&before.supersedes, &memory.supersedes);
        let is_hidden = |id: &MemoryId| hidden.contains(id);
        let former = before.superseded_by.filter(is_hidden);
        memory.superseded_by = memory.superseded_by.or(former);
        if let (Some(reminder), Some(former)) = (&mut memory.reminder, &before.reminder) {
            reminder.of = reminder.of.or(former.of.filter(is_hidden));
        }
        Ok(())
    }

    /// Returns those of `ids` that the view does not contain.
    fn hidden(&self, ids: Vec<MemoryId>) -> Result<BTreeSet<MemoryId>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let seen = self.visibility(&ids)?;
        let hidden = ids.into_iter().zip(seen).filter(|(_, is_seen)| !is_seen);
        Ok(hidden.map(|(id, _)| id).collect())
    }

    /// Returns `set` if the view permits it, with proposals in place of the changes that need a review.
    ///
    /// An operation must not take memories from other scopes, write to them, or link to memories in them. Each change
    /// receives the file version that was checked as the expected one.
    fn check_operation(&self, set: &ChangeSet) -> Result<ReviewedSet, StoreError> {
        let made: Vec<MemoryId> = set
            .changes
            .iter()
            .filter(|change| matches!(change, Change::Create { .. }))
            .map(Change::id)
            .collect();
        let mut checked = set.clone();
        checked.operation.by.clone_from(&self.actor);
        let mut former = Vec::with_capacity(checked.changes.len());
        for change in &mut checked.changes {
            former.push(match change {
                Change::Create { memory, .. } => {
                    self.check_scope(&memory.scope)?;
                    self.check_references(memory, None, &made)?;
                    if self
                        .store
                        .scopes(&[memory.id])?
                        .pop()
                        .flatten()
                        .is_some_and(|scope| !self.allows(&scope))
                    {
                        return Err(StoreError::Conflict {
                            what: memory.id.to_string(),
                        });
                    }
                    None
                }
                Change::Replace { expected, memory } => {
                    let before = self.get_whole(&memory.id)?;
                    if before.stamp != *expected
                        && !self.store.has_version(&memory.id, *expected)?
                    {
                        return Err(StoreError::Conflict { what: before.path });
                    }
                    self.restore_concealed(memory, &before.memory)?;
                    self.check_scope(&before.memory.scope)?;
                    self.check_scope(&memory.scope)?;
                    self.check_references(memory, Some(&before.memory), &made)?;
                    Some(before)
                }
                Change::Remove { id, expected } => {
                    let before = self.get_whole(id)?;
                    if let Some(expected) = *expected
                        && expected != before.stamp
                        && !self.store.has_version(id, expected)?
                    {
                        return Err(StoreError::Conflict { what: before.path });
                    }
                    self.check_scope(&before.memory.scope)?;
                    *expected = Some(before.stamp);
                    Some(before)
                }
            });
        }
        self.review(checked, &former)
    }
}

/// A store and its history, restricted to a view.
#[derive(Debug)]
pub(super) struct ScopedStore {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) history: Arc<dyn History>,
    /// The scopes of the view.
    pub(super) scopes: Vec<Scope>,
    /// Those of them whose memories the principal does not change.
    pub(super) read_only: Vec<Scope>,
    /// The only part of the home that lists and searches return, if restricted.
    pub(super) section: Option<HomeSection>,
    /// The name of the actor for the journal.
    pub(super) actor: String,
    /// The agent, if identified.
    pub(super) agent: Option<AgentName>,
    /// The policy for changes by agents.
    pub(super) policy: ReviewPolicy,
    /// The proposals that were stored in place of changes.
    pub(super) proposals: SubmittedProposals,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
}

impl ScopedStore {
    /// Returns whether the view contains `scope`.
    pub(super) fn allows(&self, scope: &Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// Returns whether the view contains a stored memory. It contains no proposals of other agents.
    pub(super) fn is_visible(&self, stored: &StoredMemory) -> bool {
        // The scope of a damaged file is not reliable.
        let is_in_scope = stored.problem.is_none() && self.allows(&stored.memory.scope);
        is_in_scope && (!stored.memory.is_proposal() || stored.memory.is_proposal_of(&self.actor))
    }

    /// Returns those of `scopes` that the view contains, or all scopes of the view if `scopes` is `None`.
    pub(super) fn restrict_scopes(&self, scopes: Option<&[Scope]>) -> Vec<Scope> {
        match scopes {
            None => self.scopes.clone(),
            Some(scopes) => scopes
                .iter()
                .filter(|scope| self.allows(scope))
                .cloned()
                .collect(),
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
        Ok(scopes
            .iter()
            .map(|scope| scope.as_ref().is_some_and(|scope| self.allows(scope)))
            .collect())
    }

    /// Returns those of `items` that belong to memories in the view.
    fn visible_items<T: Clone>(
        &self,
        items: &[T],
        id_of: impl Fn(&T) -> MemoryId,
    ) -> Result<Vec<T>, StoreError> {
        let ids: Vec<MemoryId> = items.iter().map(id_of).collect();
        let seen = self.visibility(&ids)?;
        let visible = items.iter().zip(seen).filter(|(_, is_seen)| *is_seen);
        Ok(visible.map(|(item, _)| item.clone()).collect())
    }

    /// Checks that the view contains `scope`.
    pub(super) fn check_scope(&self, scope: &Scope) -> Result<(), StoreError> {
        if self.allows(scope) && !self.read_only.contains(scope) {
            return Ok(());
        }
        let is_of_principal = self
            .scopes
            .iter()
            .any(|own| matches!(own, Scope::Private(_)));
        let allowed = if is_of_principal {
            let is_writable = |scope: &&Scope| !self.read_only.contains(scope);
            self.scopes.iter().filter(is_writable).cloned().collect()
        } else {
            Vec::new()
        };
        Err(StoreError::ScopeRefused {
            scope: scope.clone(),
            allowed,
        })
    }

    /// Checks that all memories that `memory` refers to are in the view.
    ///
    /// References that the memory already had `before` are allowed, and so are references to memories in `made`, which
    /// the same operation creates.
    pub(super) fn check_references(
        &self,
        memory: &Memory,
        before: Option<&Memory>,
        made: &[MemoryId],
    ) -> Result<(), StoreError> {
        let former = before.map(Memory::references).unwrap_or_default();
        let new: Vec<MemoryId> = memory
            .references()
            .into_iter()
            .filter(|id| !former.contains(id) && !made.contains(id))
            .collect();
        let not_found = |id: MemoryId| {
            Err(StoreError::NotFound {
                reference: id.to_string(),
            })
        };
        for (is_seen, id) in self.visibility(&new)?.into_iter().zip(new) {
            // Nothing refers to a proposal, because it may be rejected.
            if !is_seen
                || self
                    .store
                    .get(&id)
                    .is_ok_and(|stored| stored.memory.is_proposal())
            {
                return not_found(id);
            }
        }
        Ok(())
    }
}
