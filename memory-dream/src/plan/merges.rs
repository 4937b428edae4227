//! Plans which memories are merged.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use memory_core::{ContentHash, Memory, MemoryId, Services, StoreError};

use super::analysis::AnalysedMemories;
use super::{DreamPlan, Merge};
use crate::merge::{
    MergePrecedence, check_conserved, check_mergeable, merge_memories, merge_precedence,
};
use crate::similar::{MinHash, TextFingerprint, WordCasing, candidate_pairs, group_duplicates};

/// Maximum number of analysed texts in memory during comparison.
const MAX_FINGERPRINTS: usize = 8_192;

/// A memory that is a candidate duplicate of another.
struct MergeCandidate {
    /// The memory, with its content cut to the first character.
    memory: Memory,
    standing: MergePrecedence,
}

/// Adds to `plan` the merges among the memories at `places`, and the duplicates that remain separate.
///
/// Each merged memory contains every sentence of the others or is contained in them, unless `merges_similar`.
pub(super) fn plan_merges(
    services: &Services,
    looked: &AnalysedMemories,
    places: &[usize],
    merges_similar: bool,
    now: DateTime<Utc>,
    plan: &mut DreamPlan,
) -> Result<(), StoreError> {
    let glance = |number: u32| {
        looked.glances[places[number as usize]]
            .as_ref()
            .expect("only what was looked at is compared")
    };
    let sketches: Vec<MinHash> = places
        .iter()
        .filter_map(|place| Some(looked.glances[*place].as_ref()?.sketch))
        .collect();
    let mut pairs = candidate_pairs(&sketches);
    drop(sketches);
    // Pairs that an earlier dream compared are skipped.
    pairs.retain(|(one, other)| !(glance(*one).is_compared && glance(*other).is_compared));
    let numbers: BTreeSet<u32> = pairs
        .iter()
        .flat_map(|(one, other)| [*one, *other])
        .collect();
    let id = |number: u32| looked.outlines[places[number as usize]].id;
    let mut suspects = HashMap::with_capacity(numbers.len());
    for number in numbers {
        if let Some(mut memory) = read_current(services, looked, &id(number))? {
            let standing = merge_precedence(&memory);
            // The only further check on the content is whether it is empty.
            memory.content = memory.content.trim().chars().take(1).collect();
            suspects.insert(number, MergeCandidate { memory, standing });
        }
    }
    pairs.retain(|(one, other)| suspects.contains_key(one) && suspects.contains_key(other));
    let mut order: Vec<u32> = suspects.keys().copied().collect();
    order.sort_by(|one, other| suspects[one].standing.cmp(&suspects[other].standing));
    let mut readings = FingerprintCache {
        services,
        looked,
        known: HashMap::new(),
        trouble: None,
    };
    let mut accepts = |group: &[u32], next: u32| {
        let own = &suspects[&next].memory;
        if group
            .iter()
            .any(|member| check_mergeable(&suspects[member].memory, own, now).is_err())
        {
            return false;
        }
        if !readings.are_duplicates(&id(group[0]), &id(next)) {
            return false;
        }
        // Merging two ingested memories is pointless: the next ingest would create both again.
        let is_taken_in = |number: &u32| suspects[number].memory.origin.is_some();
        if is_taken_in(&next) && group.iter().any(is_taken_in) {
            plan.alike.push((id(group[0]), id(next)));
            return false;
        }
        let contains = |member: &u32| readings.contains(&id(*member), &id(next));
        if !merges_similar && !group.iter().all(contains) {
            plan.similar.push((id(group[0]), id(next)));
            return false;
        }
        true
    };
    let found = group_duplicates(&order, &pairs, &mut accepts);
    if let Some(trouble) = readings.trouble {
        return Err(trouble);
    }
    for group in found {
        let ids: Vec<MemoryId> = group.into_iter().map(id).collect();
        plan.merges.extend(plan_merge(services, looked, &ids)?);
    }
    for pairs in [&mut plan.alike, &mut plan.similar] {
        pairs.sort_unstable();
        pairs.dedup();
    }
    Ok(())
}

/// Plans the merge of duplicates; `None` if a sentence would be lost or fewer than two are unchanged.
fn plan_merge(
    services: &Services,
    looked: &AnalysedMemories,
    ids: &[MemoryId],
) -> Result<Option<Merge>, StoreError> {
    let mut memories = Vec::with_capacity(ids.len());
    for id in ids {
        memories.extend(read_current(services, looked, id)?);
    }
    let all: Vec<&Memory> = memories.iter().collect();
    let Some(one) = merge_memories(&all).filter(|one| !one.gone.is_empty()) else {
        return Ok(None);
    };
    let texts: Vec<&str> = all.iter().map(|memory| memory.content.as_str()).collect();
    if check_conserved(&texts, &[&one.memory.content]).is_err() {
        return Ok(None);
    }
    let text = |id: &MemoryId| looked.position(id).map(|place| looked.outlines[place].text);
    let texts: Option<Vec<ContentHash>> = std::iter::once(&one.memory.id)
        .chain(&one.gone)
        .map(text)
        .collect();
    let headline = |id: &MemoryId| {
        memories
            .iter()
            .find(|memory| memory.id == *id)
            .map(|memory| memory.headline().to_owned())
    };
    let headlines = one
        .gone
        .iter()
        .map(|id| headline(id).unwrap_or_default())
        .collect();
    let (kept, content) = (one.memory.id, one.memory.content);
    Ok(texts.map(|texts| Merge {
        kept,
        gone: one.gone,
        headlines,
        texts,
        added: one.added,
        content,
    }))
}

/// Returns the memory if its text is unchanged since it was analysed and its file may be changed.
fn read_current(
    services: &Services,
    looked: &AnalysedMemories,
    id: &MemoryId,
) -> Result<Option<Memory>, StoreError> {
    let text = looked.position(id).map(|place| looked.outlines[place].text);
    match services.store.get(id) {
        Ok(stored) if stored.problem.is_none() => {
            let own = ContentHash::of(&memory_core::embedded_text(&stored.memory));
            Ok(Some(stored.memory).filter(|_| text == Some(own)))
        }
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A cache of the texts that are being compared.
struct FingerprintCache<'a> {
    services: &'a Services,
    looked: &'a AnalysedMemories,
    known: HashMap<MemoryId, (TextFingerprint, WordCasing)>,
    trouble: Option<StoreError>,
}

impl FingerprintCache<'_> {
    fn are_duplicates(&mut self, one: &MemoryId, other: &MemoryId) -> bool {
        if MAX_FINGERPRINTS <= self.known.len() {
            self.known.retain(|id, _| id == one);
        }
        let is_duplicate = |this: &Self| this.known[one].0.is_duplicate_of(&this.known[other].0);
        self.load(one)
            && self.load(other)
            && is_duplicate(self)
            && self.known[one].1.agrees_with(&self.known[other].1)
    }

    /// Returns whether one of two memories contains every sentence of the other.
    fn contains(&mut self, one: &MemoryId, other: &MemoryId) -> bool {
        self.load(one)
            && self.load(other)
            && self.known[one].0.contains_in_order(&self.known[other].0)
    }

    fn load(&mut self, id: &MemoryId) -> bool {
        if self.known.contains_key(id) {
            return true;
        }
        match read_current(self.services, self.looked, id) {
            Ok(Some(memory)) => {
                self.known.insert(
                    *id,
                    (
                        TextFingerprint::of(&memory.content),
                        WordCasing::of(&memory.content),
                    ),
                );
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.trouble = Some(error);
                false
            }
        }
    }
}
