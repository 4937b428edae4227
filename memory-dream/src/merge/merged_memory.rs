//! Merges memories: their fields, and the content of the result.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use memory_core::standing::is_standing;
use memory_core::{Memory, MemoryId, Phase, wikilink};

use super::addition::Addition;
use super::conservation::{SentenceSet, passage_topic};
use super::passage::parse_passages;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedMemory {
    /// The remaining memory with its new content. Its version and `updated_at` are still the old ones.
    pub memory: Memory,
    /// The ids of the memories that it replaces, in the order in which they were added.
    pub gone: Vec<MemoryId>,
    /// The text that was added, one element per paragraph.
    pub added: Vec<String>,
}

/// Merges memories, given in any order; `None` if `memories` is empty.
///
/// The first memory by [`compare_precedence`] remains. Its text is the start of the result, followed by every sentence of the others that it lacks.
///
/// - It gets the tags, aliases and links of all, the highest access count and the earliest `created_at`, and supersedes the others.
/// - The titles of the others become aliases, so that links to them still resolve.
/// - If one memory is filed, the result is filed in the same category; if one is pinned, the result is pinned.
/// - It expires at the latest expiry of all, or never if one has no expiry.
/// - Its origin is the first origin in the order of [`compare_precedence`].
///
/// Each pair of memories should pass [`super::check_mergeable`].
pub fn merge_memories(memories: &[&Memory]) -> Option<MergedMemory> {
    let mut sources = memories.to_vec();
    sources.sort_by(|one, other| compare_precedence(one, other));
    let mut seen = HashSet::new();
    sources.retain(|source| seen.insert(source.id));
    let (first, others) = sources.split_first()?;
    let texts: Vec<_> = others.iter().map(|other| other.content.as_str()).collect();
    let (content, added) = merge_texts(&first.content, &texts);
    let gone: Vec<_> = others.iter().map(|other| other.id).collect();
    let all = || sources.iter().copied();
    let filed = all()
        .find(|source| source.phase == Phase::Organized)
        .unwrap_or(first);
    let is_other = |id: &MemoryId| !seen.contains(id);
    let names = all().flat_map(|source| {
        source
            .aliases
            .iter()
            .chain(source.title.iter().filter(|_| source.id != first.id))
    });
    let own_title = first.title.as_deref().map(wikilink::fold_link_name);
    let is_new_name = |name: &&String| {
        first.aliases.contains(name) || Some(wikilink::fold_link_name(name)) != own_title
    };
    let expires_at = all()
        .map(|source| source.expires_at)
        .collect::<Option<Vec<_>>>();
    let superseded = all()
        .flat_map(|source| &source.supersedes)
        .copied()
        .filter(|id| *id != first.id);
    let mut memory = Memory {
        content,
        phase: filed.phase,
        category: filed.category,
        tags: all().flat_map(|source| source.tags.iter()).collect(),
        aliases: unique_by_key(names.filter(is_new_name).cloned(), |name| {
            wikilink::fold_link_name(name)
        }),
        links: unique_by_key(
            all()
                .flat_map(|source| &source.links)
                .copied()
                .filter(is_other),
            |id| *id,
        ),
        created_at: all()
            .map(|source| source.created_at)
            .min()
            .unwrap_or(first.created_at),
        expires_at: expires_at.and_then(|moments| moments.into_iter().max()),
        supersedes: unique_by_key(superseded.chain(gone.iter().copied()), |id| *id),
        origin: all().find_map(|source| source.origin.clone()),
        other_origins: unique_by_key(
            all().flat_map(|source| &source.other_origins).cloned(),
            memory_core::Origin::to_text,
        ),
        pinned: all().any(|source| source.pinned),
        ..(*first).clone()
    };
    memory.stated_at = stated_at(&memory, &sources);
    Some(MergedMemory {
        memory,
        gone,
        added,
    })
}

/// Returns the time of the last statement of the sources, if the merged memory counts from it.
fn stated_at(merged: &Memory, sources: &[&Memory]) -> Option<DateTime<Utc>> {
    let last = sources.iter().map(|source| source.last_stated_at()).max()?;
    let counts = is_standing(merged) || sources.iter().any(|source| source.stated_at.is_some());
    (counts && merged.created_at < last).then_some(last)
}

/// Compares memories by their precedence in a merge; the lesser one remains.
///
/// The order is: most reads, filed, pinned, longest text, oldest, lowest id. Two different memories are never equal.
pub fn compare_precedence(one: &Memory, other: &Memory) -> Ordering {
    merge_precedence(one).cmp(&merge_precedence(other))
}

/// The sort key of [`compare_precedence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MergePrecedence {
    accesses: Reverse<u64>,
    is_waiting: bool,
    is_loose: bool,
    length: Reverse<usize>,
    created_at: DateTime<Utc>,
    id: MemoryId,
}

/// Returns the sort key of [`compare_precedence`].
pub fn merge_precedence(memory: &Memory) -> MergePrecedence {
    MergePrecedence {
        accesses: Reverse(memory.access_count),
        is_waiting: memory.phase != Phase::Organized,
        is_loose: !memory.pinned,
        length: Reverse(memory.content.len()),
        created_at: memory.created_at,
        id: memory.id,
    }
}

/// Returns the first item for each key.
fn unique_by_key<T, K: Eq + Hash>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(key(item))).collect()
}

/// Returns `kept` with the sentences of `others` that it lacks, and the pieces that were added.
///
/// The result starts with `kept`, byte for byte. New sentences follow in separate paragraphs. List items, quotes, tables and code are added
/// as a whole. Each piece is placed under its heading or announcement.
pub(super) fn merge_texts(kept: &str, others: &[&str]) -> (String, Vec<String>) {
    let mut known = SentenceSet::default();
    known.add(kept);
    let (mut text, mut added) = (kept.to_owned(), Vec::new());
    for other in others {
        let pieces = take_new_pieces(&mut known, other);
        if added.is_empty() && !pieces.is_empty() {
            close_block(&mut text);
        }
        for piece in &pieces {
            append_paragraph(&mut text, piece);
        }
        added.extend(pieces);
    }
    (text, added)
}

/// Returns the pieces of `source` that are not in `known`, and adds them to `known`.
fn take_new_pieces(known: &mut SentenceSet, source: &str) -> Vec<String> {
    let passages = parse_passages(source);
    let mut addition = Addition::of(&passages);
    let mut next = 0;
    while let Some(passage) = passages.get(next) {
        let under = passage_topic(&passages, passage);
        let is_new: Vec<_> = passage
            .keys
            .iter()
            .map(|key| !known.contains(under, key))
            .collect();
        if is_new.contains(&true) {
            let from = next;
            next = addition.add_passage(from, &is_new);
            for own in &passages[from..next] {
                known.add_sentences(passage_topic(&passages, own), &own.keys);
            }
        } else {
            next += 1;
        }
    }
    addition.into_pieces()
}

/// Closes an open code block, comment or formula at the end of a text.
///
/// Appended pieces are always closed.
fn close_block(text: &mut String) {
    if let Some(closing) = parse_passages(text).pop().and_then(|last| last.unclosed) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&closing);
    }
}

/// Appends `piece` as a separate paragraph.
fn append_paragraph(text: &mut String, piece: &str) {
    while !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(piece);
}
