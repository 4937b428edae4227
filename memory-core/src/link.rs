//! Linking memories in both directions, and resolving wikilinks.

use std::collections::{HashMap, HashSet};

use crate::commit::{ATTEMPTS, commit, retry_conflicts};
use crate::topic::{self, TopicListing};
use crate::wikilink::{
    self, WikilinkCandidate, WikilinkNameKind, WikilinkRule, WikilinkTarget, choose_target,
};
use crate::{
    Change, ChangeSet, Filter, Memory, MemoryId, MemoryStore, MemoryStoreExt, Patch, Refinement,
    RefinementUnit, Scope, SecretPolicy, Services, StoreError, StoredMemory, Verb,
};

/// Links two memories in both directions.
///
/// # Errors
/// [`StoreError::Invalid`] if they are the same; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn link(
    services: &Services,
    first: &str,
    second: &str,
) -> Result<(StoredMemory, StoredMemory), StoreError> {
    let [first, second] = change_link(services, Verb::Link, first, second)?.memories;
    Ok((first, second))
}

/// The result of [`unlink`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlinked {
    /// The two memories.
    pub memories: [StoredMemory; 2],
    /// Whether there was a link.
    pub changed: bool,
}

/// Removes the links between two memories in both directions.
///
/// # Errors
/// As [`link`].
pub fn unlink(services: &Services, first: &str, second: &str) -> Result<Unlinked, StoreError> {
    change_link(services, Verb::Unlink, first, second)
}

fn change_link(
    services: &Services,
    verb: Verb,
    first: &str,
    second: &str,
) -> Result<Unlinked, StoreError> {
    let (first, second) = (find_named(services, first)?, find_named(services, second)?);
    if first == second {
        return Err(StoreError::Invalid {
            why: "a memory cannot be linked to itself".into(),
        });
    }
    for id in [first, second] {
        let stored = services.store.get(&id)?;
        if stored.memory.is_proposal() {
            return Err(StoreError::Invalid {
                why: format!(
                    "{} is a proposal, to which nothing can be linked",
                    stored.path
                ),
            });
        }
    }
    let patch = |other: MemoryId| match verb {
        Verb::Unlink => Patch {
            remove_links: vec![other],
            ..Patch::default()
        },
        _ => Patch {
            add_links: vec![other],
            ..Patch::default()
        },
    };
    let changed = retry_conflicts(|| {
        let mut set = services.change_set(verb);
        for (own, other) in [(first, second), (second, first)] {
            push_patched(&mut set, &services.store.get(&own)?, &patch(other));
        }
        if !set.changes.is_empty() {
            commit(services, &set, SecretPolicy::Keep)?;
        }
        Ok(!set.changes.is_empty())
    })?;
    Ok(Unlinked {
        memories: [services.store.get(&first)?, services.store.get(&second)?],
        changed,
    })
}

/// Returns the wikilinks in the text of either memory that lead to the other.
///
/// Each has the id of the memory that contains it.
///
/// # Errors
/// If the files cannot be read.
pub fn wikilinks_between(
    services: &Services,
    first: &StoredMemory,
    second: &StoredMemory,
) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let mut found = Vec::new();
    for (from, to) in [(first, second), (second, first)] {
        for link in wikilink::parse(&from.memory.content) {
            let is_new = !found
                .iter()
                .any(|(id, target)| *id == from.memory.id && *target == link.target);
            if is_new
                && resolve_wikilink(services.store.as_ref(), &link.target, from)?
                    == Some(to.memory.id)
            {
                found.push((from.memory.id, link.target));
            }
        }
    }
    Ok(found)
}

/// A wikilink without a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedLink {
    /// The memory that contains the link.
    pub from: MemoryId,
    /// The name in the brackets.
    pub target: String,
}

/// The result of resolving wikilinks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkReport {
    /// Number of wikilinks that lead to a memory or a topic.
    pub resolved: u64,
    /// Number of wikilinks without a target.
    pub unresolved: u64,
    /// Number of memories that received new links.
    pub updated: u64,
    /// The wikilinks without a target, in the order in which the memories were read.
    pub unresolved_links: Vec<UnresolvedLink>,
}

/// Maximum number of memories that are changed in one operation.
const BATCH: usize = 2_000;

/// Resolves the wikilinks of all memories and records each that leads to a memory, at both ends.
///
/// # Errors
/// Those of the store. The links of a memory with a damaged file remain unchanged.
pub fn resolve_links(services: &Services) -> Result<LinkReport, StoreError> {
    services.store.refresh()?;
    let topics = services
        .topics
        .as_ref()
        .and_then(|topics| topics.store.topics().ok())
        .unwrap_or_default();
    let mut links = LinkCollector {
        topics,
        ..LinkCollector::default()
    };
    for stored in services
        .store
        .memories(&Filter::all(), services.clock.now())
    {
        links.collect_from(services, &stored?)?;
    }
    links.record(services, &mut Refinement::new(services, Verb::ResolveLinks))
}

/// Resolves the wikilinks of the given memories, and the wikilinks of other memories to them.
///
/// Records the links as part of `refinement`; without it, only counts the memories that would receive links. The caller
/// refreshes the store before.
///
/// # Errors
/// Those of [`resolve_links`].
pub fn resolve_links_both_ways(
    services: &Services,
    ids: &[MemoryId],
    refinement: Option<&mut Refinement<'_>>,
) -> Result<LinkReport, StoreError> {
    let mut links = LinkCollector::default();
    for id in ids {
        let Some(stored) = get_existing(services.store.as_ref(), id)? else {
            continue;
        };
        links.collect_from(services, &stored)?;
        let mut names = wikilink::memory_keys(&stored.memory, &stored.path);
        // Links to a superseded id resolve to its replacement.
        names.extend(
            stored
                .memory
                .supersedes
                .iter()
                .flat_map(wikilink::id_prefixes),
        );
        for other in services.store.referring(id, &names)? {
            links.collect_to(services, &other, id)?;
        }
    }
    links.finish(services, refinement)
}

/// Resolves only the wikilinks of the given memories, otherwise like [`resolve_links_both_ways`].
///
/// If the caller resolves the wikilinks of all memories, the search for other memories that link to them is
/// superfluous.
///
/// # Errors
/// Those of [`resolve_links`].
pub fn resolve_own_links(
    services: &Services,
    ids: &[MemoryId],
    refinement: Option<&mut Refinement<'_>>,
) -> Result<LinkReport, StoreError> {
    let mut links = LinkCollector::default();
    for id in ids {
        if let Some(stored) = get_existing(services.store.as_ref(), id)? {
            links.collect_from(services, &stored)?;
        }
    }
    links.finish(services, refinement)
}

fn get_existing(
    store: &(impl MemoryStore + ?Sized),
    id: &MemoryId,
) -> Result<Option<StoredMemory>, StoreError> {
    match store.get(id) {
        Ok(stored) => Ok(Some(stored)),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The links to add, collected while resolving wikilinks.
#[derive(Default)]
struct LinkCollector {
    /// The topics in use. A wikilink to a topic is resolved, but not recorded.
    topics: TopicListing,
    links: HashMap<MemoryId, Vec<MemoryId>>,
    report: LinkReport,
}

impl LinkCollector {
    fn collect_from(
        &mut self,
        services: &Services,
        stored: &StoredMemory,
    ) -> Result<(), StoreError> {
        for found in wikilink::parse(&stored.memory.content) {
            match resolve_wikilink(services.store.as_ref(), &found.target, stored)? {
                Some(target) => {
                    self.report.resolved += 1;
                    self.add_link(stored.memory.id, target);
                }
                None if topic::resolve_wikilink(&self.topics, &found.target).is_some() => {
                    self.report.resolved += 1;
                }
                None => {
                    self.report.unresolved += 1;
                    self.report.unresolved_links.push(UnresolvedLink {
                        from: stored.memory.id,
                        target: found.target,
                    });
                }
            }
        }
        Ok(())
    }

    fn collect_to(
        &mut self,
        services: &Services,
        from: &StoredMemory,
        to: &MemoryId,
    ) -> Result<(), StoreError> {
        for found in wikilink::parse(&from.memory.content) {
            if resolve_wikilink(services.store.as_ref(), &found.target, from)? == Some(*to) {
                self.add_link(from.memory.id, *to);
            }
        }
        Ok(())
    }

    fn add_link(&mut self, one: MemoryId, other: MemoryId) {
        if one != other {
            self.links.entry(one).or_default().push(other);
            self.links.entry(other).or_default().push(one);
        }
    }

    fn finish(
        self,
        services: &Services,
        refinement: Option<&mut Refinement<'_>>,
    ) -> Result<LinkReport, StoreError> {
        match refinement {
            Some(refinement) => self.record(services, refinement),
            None => self.count_updates(services),
        }
    }

    /// Removes links between memories of different agents, principals and teams, and between theirs and shared ones.
    ///
    /// Links are recorded in both directions, and a shared memory must not name one that its readers may not read. The
    /// wikilink itself still resolves for its reader.
    fn drop_private_links(&mut self, services: &Services) -> Result<(), StoreError> {
        let ids: Vec<MemoryId> = self.links.keys().copied().collect();
        let scopes = services.store.scopes(&ids)?;
        let own = |scope: Option<Scope>| {
            scope.filter(|scope| {
                matches!(scope, Scope::Agent(_) | Scope::Private(_) | Scope::Team(_))
            })
        };
        let owners: HashMap<MemoryId, Option<Scope>> =
            ids.into_iter().zip(scopes.into_iter().map(own)).collect();
        if owners.values().all(Option::is_none) {
            return Ok(());
        }
        for (id, links) in &mut self.links {
            links.retain(|other| owners.get(id) == owners.get(other));
        }
        self.links.retain(|_, links| !links.is_empty());
        Ok(())
    }

    fn record(
        mut self,
        services: &Services,
        refinement: &mut Refinement<'_>,
    ) -> Result<LinkReport, StoreError> {
        self.drop_private_links(services)?;
        let mut report = self.report;
        let mut links: Vec<_> = self.links.into_iter().collect();
        links.sort_unstable();
        for batch in links.chunks(BATCH) {
            let mut left: Vec<usize> = (0..batch.len()).collect();
            for _ in 0..ATTEMPTS {
                let (mut numbers, mut units) = (Vec::new(), Vec::new());
                for number in left {
                    let (id, links) = &batch[number];
                    if let Some(change) = link_change(services, id, links)? {
                        numbers.push(number);
                        units.push(RefinementUnit {
                            changes: vec![change],
                            ..RefinementUnit::default()
                        });
                    }
                }
                let refused = refinement.commit(units)?;
                report.updated += (numbers.len() - refused.len()) as u64;
                left = refused
                    .into_iter()
                    .map(|refused| numbers[refused.unit])
                    .collect();
                if left.is_empty() {
                    break;
                }
            }
        }
        Ok(report)
    }

    fn count_updates(mut self, services: &Services) -> Result<LinkReport, StoreError> {
        self.drop_private_links(services)?;
        let mut report = self.report;
        for (id, links) in &self.links {
            report.updated += u64::from(link_change(services, id, links)?.is_some());
        }
        Ok(report)
    }
}

/// Returns the change that adds links to a memory.
///
/// Returns `None` if the memory has all of them, was deleted, or is damaged.
fn link_change(
    services: &Services,
    id: &MemoryId,
    links: &[MemoryId],
) -> Result<Option<Change>, StoreError> {
    let Some(stored) =
        get_existing(services.store.as_ref(), id)?.filter(|stored| stored.problem.is_none())
    else {
        return Ok(None);
    };
    let patch = Patch {
        add_links: links.to_vec(),
        ..Patch::default()
    };
    let memory = patch.apply(&stored.memory, services.clock.now());
    Ok(memory.map(|memory| Change::Replace {
        expected: stored.stamp,
        memory: Box::new(memory),
    }))
}

/// Finds the memory that `reference` names.
///
/// Tries [`MemoryStoreExt::find`], then the title and the aliases, ignoring case. The brackets of a wikilink are
/// optional.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
fn find_named(services: &Services, reference: &str) -> Result<MemoryId, StoreError> {
    let not_found = match services.store.find(reference) {
        Err(error @ StoreError::NotFound { .. }) => error,
        found => return found,
    };
    let inner = reference
        .trim()
        .strip_prefix("[[")
        .and_then(|inner| inner.strip_suffix("]]"));
    let name = inner.map_or(reference, |inner| {
        inner.split(['|', '#']).next().unwrap_or(inner)
    });
    let mut candidates = services
        .store
        .find_by_name(&wikilink::fold_link_name(name))?;
    retain_exact_names(services.store.as_ref(), name, &mut candidates)?;
    for by in [
        WikilinkNameKind::Id,
        WikilinkNameKind::Path,
        WikilinkNameKind::Title,
        WikilinkNameKind::Alias,
    ] {
        let found: Vec<_> = candidates
            .extract_if(.., |candidate| candidate.by == by)
            .collect();
        let mut memories: Vec<(MemoryId, String)> = found
            .into_iter()
            .filter_map(|candidate| match candidate.target {
                WikilinkTarget::Memory(id) => Some((id, candidate.path)),
                WikilinkTarget::Attachment => None,
            })
            .collect();
        memories.sort();
        memories.dedup_by_key(|(id, _)| *id);
        match memories.as_slice() {
            [] => {}
            [(id, _)] => return Ok(*id),
            several => {
                let candidates = several
                    .iter()
                    .take(5)
                    .map(|(id, path)| format!("{id} ({path})"))
                    .collect();
                return Err(StoreError::Ambiguous {
                    reference: reference.to_owned(),
                    candidates,
                });
            }
        }
    }
    Err(not_found)
}

/// Returns the memories that `stored` links to: first the recorded links, then the wikilinks of its text, each memory once.
///
/// Links without a target and damaged files are left out.
///
/// # Errors
/// If the files cannot be read.
pub fn outgoing_links(
    services: &Services,
    stored: &StoredMemory,
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut ids = stored.memory.links.clone();
    for found in wikilink::parse(&stored.memory.content) {
        ids.extend(resolve_wikilink(
            services.store.as_ref(),
            &found.target,
            stored,
        )?);
    }
    let mut seen = HashSet::from([stored.memory.id]);
    let mut linked = Vec::new();
    for id in ids {
        if seen.insert(id) {
            linked.extend(get_existing(services.store.as_ref(), &id)?);
        }
    }
    Ok(linked)
}

/// Returns the memory that a wikilink in `from` leads to; an empty target means `from` itself.
///
/// Of two memories whose titles or aliases differ only in case, it leads to the one with the name of the link.
///
/// # Errors
/// If the files cannot be read.
pub fn resolve_wikilink(
    store: &(impl MemoryStore + ?Sized),
    target: &str,
    from: &StoredMemory,
) -> Result<Option<MemoryId>, StoreError> {
    if target.trim().is_empty() {
        return Ok(Some(from.memory.id));
    }
    let mut candidates = Vec::new();
    for (index, key) in wikilink::lookup_keys(target).iter().enumerate() {
        // Only a path may be abbreviated to its last component; a title or an alias must match completely.
        let counts = |by: WikilinkNameKind| {
            index == 0 || matches!(by, WikilinkNameKind::Id | WikilinkNameKind::Path)
        };
        candidates.extend(
            store
                .find_by_name(key)?
                .into_iter()
                .filter(|candidate| counts(candidate.by)),
        );
    }
    retain_exact_names(store, target, &mut candidates)?;
    let place = link_base(&from.memory, &from.path);
    Ok(
        choose_target(target, Some(&place), &candidates, WikilinkRule::Paths).and_then(
            |candidate| match candidate.target {
                WikilinkTarget::Memory(id) => Some(id),
                WikilinkTarget::Attachment => None,
            },
        ),
    )
}

/// Removes the titles that differ from `name` in case if one does not, and the aliases alike.
fn retain_exact_names(
    store: &(impl MemoryStore + ?Sized),
    name: &str,
    candidates: &mut Vec<WikilinkCandidate>,
) -> Result<(), StoreError> {
    for by in [WikilinkNameKind::Title, WikilinkNameKind::Alias] {
        let mut exact = Vec::new();
        let named: Vec<_> = candidates.iter().filter(|own| own.by == by).collect();
        for candidate in named.iter().filter(|_| 1 < named.len()) {
            if let WikilinkTarget::Memory(id) = &candidate.target
                && let Some(stored) = get_existing(store, id)?
                && stored.memory.has_exact_name(name)
            {
                exact.push(candidate.target);
            }
        }
        candidates.retain(|own| own.by != by || exact.is_empty() || exact.contains(&own.target));
    }
    Ok(())
}

/// Returns the path that links of a memory are relative to: that of its origin, or else its own.
fn link_base(memory: &Memory, path: &str) -> String {
    memory
        .origin
        .as_ref()
        .map_or_else(|| path.to_owned(), |origin| origin.path.clone())
}

fn push_patched(set: &mut ChangeSet, stored: &StoredMemory, patch: &Patch) {
    if let Some(memory) = patch.apply(&stored.memory, set.operation.at) {
        set.changes.push(Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory),
        });
    }
}

/// Returns the memories that link to the one that `reference` names, sorted by path.
///
/// `reference` is an id, a file, a title or an alias. Both recorded links and wikilinks count.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn backlinks(services: &Services, reference: &str) -> Result<Vec<StoredMemory>, StoreError> {
    services.store.refresh()?;
    let stored = services.store.get(&find_named(services, reference)?)?;
    backlinks_of(services, &stored)
}

/// Returns the memories that link to `stored`, as [`backlinks()`] does, in the files that the last
/// [`crate::MemoryStore::refresh`] detected.
pub(crate) fn backlinks_of(
    services: &Services,
    stored: &StoredMemory,
) -> Result<Vec<StoredMemory>, StoreError> {
    let id = stored.memory.id;
    let mut referring = Vec::new();
    let mut keys = wikilink::memory_keys(&stored.memory, &stored.path);
    keys.extend(wikilink::id_prefixes(&id));
    keys.extend(
        stored
            .memory
            .supersedes
            .iter()
            .flat_map(wikilink::id_prefixes),
    );
    for candidate in services.store.referring(&id, &keys)? {
        if candidate.memory.id != id
            && (candidate.memory.links.contains(&id) || links_to(services, &candidate, stored)?)
        {
            referring.push(candidate);
        }
    }
    referring.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(referring)
}

fn links_to(
    services: &Services,
    from: &StoredMemory,
    to: &StoredMemory,
) -> Result<bool, StoreError> {
    for found in wikilink::parse(&from.memory.content) {
        if resolve_wikilink(services.store.as_ref(), &found.target, from)? == Some(to.memory.id) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, write};

    #[test]
    fn what_others_may_read_never_names_what_is_an_agents_own() {
        let services = services(Arc::new(MemStore::default()));
        let keep = |text: &str, title: &str, scope: &str| {
            let scope = scope.parse().expect("a scope");
            let draft = Draft {
                title: Some(title.into()),
                scope,
                ..Draft::new(text)
            };
            write(&services, draft, SecretPolicy::Refuse)
                .expect("it is kept")
                .id
        };
        let plan = keep("ours", "Plan", "agent:bob");
        let notes = keep("see [[Plan]] and [[Tea]]", "Notes", "agent:bob");
        let tea = keep("see [[Plan]] and [[Cups]]", "Tea", "global");
        let cups = keep("see [[Plan]]", "Cups", "project:kitchen");
        let spied = keep("see [[Plan]]", "Spied", "agent:alice");
        resolve_links(&services).expect("they are followed");
        let links = |id: MemoryId| services.store.get(&id).expect("it is there").memory.links;
        assert_eq!((links(plan), links(notes)), (vec![notes], vec![plan]));
        assert_eq!(
            (links(tea), links(cups), links(spied)),
            (vec![cups], vec![tea], vec![])
        );
    }
}
