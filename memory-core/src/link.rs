//! Linking memories, both ways.

use std::collections::HashMap;

use crate::commit::{commit, persist};
use crate::wikilink::{self, By, Rule, Target, choose};
use crate::{Change, Filter, Memory, MemoryId, Names, Operation, Patch, Secrets, Services, StoreError, Stored, Verb};

/// Links two memories, both ways.
///
/// # Errors
/// [`StoreError::Invalid`] if they are the same; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn link(services: &Services, first: &str, second: &str) -> Result<(Stored, Stored), StoreError> {
    join(services, Verb::Link, first, second)
}

/// Parts two linked memories, both ways.
///
/// # Errors
/// As [`link`].
pub fn unlink(services: &Services, first: &str, second: &str) -> Result<(Stored, Stored), StoreError> {
    join(services, Verb::Unlink, first, second)
}

fn join(services: &Services, verb: Verb, first: &str, second: &str) -> Result<(Stored, Stored), StoreError> {
    let (first, second) = (services.store.find(first)?, services.store.find(second)?);
    if first == second {
        return Err(StoreError::Invalid { why: "a memory cannot be linked to itself".into() });
    }
    let patch = |other: MemoryId| match verb {
        Verb::Unlink => Patch { remove_links: vec![other], ..Patch::default() },
        _ => Patch { add_links: vec![other], ..Patch::default() },
    };
    persist(|| {
        let mut operation = services.operation(verb);
        for (own, other) in [(first, second), (second, first)] {
            push_patched(&mut operation, &services.store.get(&own)?, &patch(other));
        }
        if operation.changes.is_empty() { Ok(()) } else { commit(services, &operation, Secrets::Keep).map(drop) }
    })?;
    Ok((services.store.get(&first)?, services.store.get(&second)?))
}

/// What following all wikilinks led to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinksResolved {
    /// Wikilinks that lead to a memory.
    pub resolved: u64,
    /// Wikilinks that lead nowhere.
    pub unresolved: u64,
    /// Memories whose links grew.
    pub updated: u64,
}

/// How many memories are changed with one sync.
const BATCH: usize = 2_000;

/// Follows the wikilinks of all memories and records each that leads to a memory, at both ends.
///
/// # Errors
/// Whatever the store says. A memory whose file must not be changed keeps its links as they are.
pub fn resolve_links(services: &Services) -> Result<LinksResolved, StoreError> {
    services.store.refresh()?;
    let mut report = LinksResolved::default();
    let mut wanted = HashMap::<MemoryId, Vec<MemoryId>>::new();
    for stored in services.store.memories(&Filter::everything(), services.clock.now()) {
        let stored = stored?;
        for found in wikilink::parse(&stored.memory.content) {
            match follow(services.store.as_ref(), &found.target, &stored)? {
                Some(target) => {
                    report.resolved += 1;
                    if target != stored.memory.id {
                        wanted.entry(stored.memory.id).or_default().push(target);
                        wanted.entry(target).or_default().push(stored.memory.id);
                    }
                }
                None => report.unresolved += 1,
            }
        }
    }
    let mut wanted: Vec<_> = wanted.into_iter().collect();
    wanted.sort_unstable();
    let mut whole = services.operation(Verb::ResolveLinks);
    for batch in wanted.chunks(BATCH) {
        report.updated += persist(|| {
            let mut operation = Operation { changes: Vec::new(), ..whole.clone() };
            for (id, links) in batch {
                let stored = services.store.get(id)?;
                if stored.problem.is_none() {
                    push_patched(&mut operation, &stored, &Patch { add_links: links.clone(), ..Patch::default() });
                }
            }
            if !operation.changes.is_empty() {
                commit(services, &operation, Secrets::Keep)?;
            }
            Ok(operation.changes.len() as u64)
        })?;
        whole.at = services.clock.now();
    }
    Ok(report)
}

/// Returns the memory that a wikilink in `from` leads to; an empty target is the memory itself.
pub(crate) fn follow(names: &(impl Names + ?Sized), target: &str, from: &Stored) -> Result<Option<MemoryId>, StoreError> {
    if target.trim().is_empty() {
        return Ok(Some(from.memory.id));
    }
    let mut candidates = Vec::new();
    for (index, key) in wikilink::keys(target).iter().enumerate() {
        // Only a path may be named by its last part; a title or an alias is named whole.
        let counts = |by: By| index == 0 || matches!(by, By::Id | By::Path);
        candidates.extend(names.named(key)?.into_iter().filter(|candidate| counts(candidate.by)));
    }
    let place = place(&from.memory, &from.path);
    Ok(choose(target, Some(&place), &candidates, Rule::Paths).and_then(|candidate| match candidate.target {
        Target::Memory(id) => Some(id),
        Target::Attachment => None,
    }))
}

/// Returns the path from which a memory's links look around: that of the file it was taken in from, else its own.
fn place(memory: &Memory, path: &str) -> String {
    memory.origin.as_ref().map_or_else(|| path.to_owned(), |origin| origin.path.clone())
}

fn push_patched(operation: &mut Operation, stored: &Stored, patch: &Patch) {
    if let Some(memory) = patch.apply(&stored.memory, operation.at) {
        operation.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
    }
}
