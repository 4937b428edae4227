//! Making one memory of several.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use memory_core::wikilink;
use memory_core::{Memory, MemoryId, Phase};

use super::content::joined;

/// What becomes of memories that are made one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The one that is kept, as it is to be. Its version and the time of its last change are still the former ones.
    pub memory: Memory,
    /// Those whose place it takes, in the order in which they were added.
    pub gone: Vec<MemoryId>,
    /// What was added to its text, paragraph by paragraph.
    pub added: Vec<String>,
}

/// Makes one memory of several, in whatever order they are given; `None` if there are none.
///
/// The one that comes first by [`precedence`] is kept. Its text stays, followed by every sentence of the others that it does
/// not have. It has the tags, aliases and links of all, the highest access count and the earliest date, and supersedes the
/// others. The titles of the others become aliases, so that links to them still lead somewhere. If one of them is filed, it is
/// filed there, and if one is pinned, it is; it expires when the last of them would have. A place that it was taken in from is inherited where it has none.
///
/// Each two of them should pass [`super::may_merge`].
pub fn merged(memories: &[&Memory]) -> Option<Merged> {
    let mut sources = memories.to_vec();
    sources.sort_by(|one, other| precedence(one, other));
    let mut seen = HashSet::new();
    sources.retain(|source| seen.insert(source.id));
    let (first, others) = sources.split_first()?;
    let texts: Vec<_> = others.iter().map(|other| other.content.as_str()).collect();
    let (content, added) = joined(&first.content, &texts);
    let gone: Vec<_> = others.iter().map(|other| other.id).collect();
    let all = || sources.iter().copied();
    let filed = all().find(|source| source.phase == Phase::Organized).unwrap_or(first);
    let is_other = |id: &MemoryId| !seen.contains(id);
    let names = all().flat_map(|source| source.aliases.iter().chain(source.title.iter().filter(|_| source.id != first.id)));
    let own_title = first.title.as_deref().map(wikilink::fold);
    let is_new_name = |name: &&String| first.aliases.contains(name) || Some(wikilink::fold(name)) != own_title;
    let expires_at = all().map(|source| source.expires_at).collect::<Option<Vec<_>>>();
    let superseded = all().flat_map(|source| &source.supersedes).copied().filter(|id| *id != first.id);
    let memory = Memory {
        content,
        phase: filed.phase,
        category: filed.category,
        tags: all().flat_map(|source| source.tags.iter()).collect(),
        aliases: unique(names.filter(is_new_name).cloned(), |name| wikilink::fold(name)),
        links: unique(all().flat_map(|source| &source.links).copied().filter(is_other), |id| *id),
        created_at: all().map(|source| source.created_at).min().unwrap_or(first.created_at),
        expires_at: expires_at.and_then(|moments| moments.into_iter().max()),
        supersedes: unique(superseded.chain(gone.iter().copied()), |id| *id),
        origin: all().find_map(|source| source.origin.clone()),
        other_origins: unique(all().flat_map(|source| &source.other_origins).cloned(), memory_core::Origin::to_text),
        pinned: all().any(|source| source.pinned),
        ..(*first).clone()
    };
    Some(Merged { memory, gone, added })
}

/// Orders memories by which is kept when they become one: the one that was read most often, then one that is filed, then
/// one that is pinned, then the longest, then the oldest, then by id. No two different memories are equal.
pub fn precedence(one: &Memory, other: &Memory) -> Ordering {
    standing(one).cmp(&standing(other))
}

/// What [`precedence`] goes by: the lesser is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    accesses: Reverse<u64>,
    is_waiting: bool,
    is_loose: bool,
    length: Reverse<usize>,
    created_at: DateTime<Utc>,
    id: MemoryId,
}

/// Returns what [`precedence`] goes by.
pub fn standing(memory: &Memory) -> Standing {
    Standing {
        accesses: Reverse(memory.access_count),
        is_waiting: memory.phase != Phase::Organized,
        is_loose: !memory.pinned,
        length: Reverse(memory.content.len()),
        created_at: memory.created_at,
        id: memory.id,
    }
}

/// Returns the first of those with the same key.
fn unique<T, K: Eq + Hash>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(key(item))).collect()
}
