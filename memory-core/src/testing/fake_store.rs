//! An in-memory store of memories.

mod analyses;
mod history;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::text::tokenize;
use crate::wikilink::{self, WikilinkCandidate, WikilinkNameKind, WikilinkTarget};
use crate::{
    Change, ChangeOutcome, ChangeSet, ContentHash, Duplicates, FileVersion, Filter, Hit, ListOrder, Memory, MemoryId, MemoryPage,
    MemoryStore, NameIndex, NameMatch, Operation, OperationId, Origin, PageRequest, ReminderQuery, Scope, ScoreExplanation,
    SearchRequest, SearchResults, StoreError, StoredMemory, TextVector, embedded_text,
};

/// An in-memory implementation of [`MemoryStore`] and [`crate::History`], without durability.
///
/// Tests also use it as the reference model of real stores.
#[derive(Debug, Default)]
pub struct FakeStore(Mutex<FakeStoreState>);

#[derive(Debug, Default)]
struct FakeStoreState {
    memories: BTreeMap<MemoryId, (String, Memory)>,
    accesses: HashMap<MemoryId, u64>,
    journal: Vec<FakeJournalEntry>,
    /// The vectors by identity of the embedding model.
    vectors: HashMap<String, HashMap<MemoryId, TextVector>>,
    impressions: HashMap<MemoryId, (ContentHash, Vec<u8>)>,
}

/// A file: its path and its content.
type FakeFile = (String, Memory);

#[derive(Debug, Clone)]
struct FakeJournalEntry {
    operation: Operation,
    reasons: BTreeMap<MemoryId, String>,
    undoes: Option<OperationId>,
    changes: Vec<(MemoryId, Option<FakeFile>, Option<FakeFile>)>,
}

impl FakeStore {
    fn state(&self) -> MutexGuard<'_, FakeStoreState> {
        self.0.lock().expect("no test panics while it holds this")
    }
}

fn file_version(memory: &Memory) -> FileVersion {
    FileVersion(ContentHash::of(&format!("{memory:?}")))
}

fn is_within(scopes: Option<&[Scope]>, memory: &Memory) -> bool {
    scopes.is_none_or(|scopes| scopes.contains(&memory.scope))
}

fn path_of(memory: &Memory) -> String {
    format!("categories/{}/{}.md", memory.category, memory.id)
}

impl FakeStoreState {
    fn stored(&self, id: &MemoryId) -> Option<StoredMemory> {
        let (path, memory) = self.memories.get(id)?;
        let mut shown = memory.clone();
        shown.access_count += self.accesses.get(id).copied().unwrap_or_default();
        Some(StoredMemory { stamp: file_version(memory), memory: shown, path: path.clone(), problem: None })
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Option<&FakeFile> {
        self.memories.values().find(|(_, memory)| memory.content_hash() == *hash && memory.scope == *scope)
    }

    fn apply(&mut self, set: &ChangeSet, undoes: Option<OperationId>, wanted: Vec<(MemoryId, Option<FakeFile>)>) {
        if wanted.is_empty() {
            return;
        }
        let mut changes = Vec::new();
        for (id, after) in wanted {
            let before = match &after {
                Some(file) => self.memories.insert(id, file.clone()),
                None => self.memories.remove(&id),
            };
            self.accesses.remove(&id);
            changes.push((id, before, after));
        }
        let (operation, reasons) = (set.operation.clone(), set.reasons.clone());
        self.journal.push(FakeJournalEntry { operation, reasons, undoes, changes });
    }

    fn filtered(&self, filter: &Filter, now: DateTime<Utc>) -> Vec<StoredMemory> {
        self.memories.keys().filter_map(|id| self.stored(id)).filter(|stored| filter.matches(stored, now)).collect()
    }
}

impl NameIndex for FakeStore {
    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        let state = self.state();
        let mut found = Vec::new();
        for (path, memory) in state.memories.values() {
            let candidate = |by| WikilinkCandidate { target: WikilinkTarget::Memory(memory.id), path: path.clone(), by };
            let is_called = |name: &str| wikilink::lookup_keys(name).iter().any(|own| own == key);
            let is_former = |id: &MemoryId| id.to_string() == key && !state.memories.contains_key(id);
            if memory.id.to_string() == key {
                found.push(candidate(WikilinkNameKind::Id));
            } else if memory.supersedes.iter().any(is_former) {
                found.push(candidate(WikilinkNameKind::Former));
            } else if is_called(path) {
                found.push(candidate(WikilinkNameKind::Path));
            } else if memory.title.as_deref().is_some_and(is_called) {
                found.push(candidate(WikilinkNameKind::Title));
            } else if memory.aliases.iter().any(|alias| is_called(alias)) {
                found.push(candidate(WikilinkNameKind::Alias));
            }
        }
        Ok(found)
    }
}

impl FakeStoreState {
    /// Returns the vector of a memory's current text.
    fn vector(&self, identity: &str, memory: &Memory) -> Option<&TextVector> {
        let vector = self.vectors.get(identity)?.get(&memory.id)?;
        (vector.text == ContentHash::of(&embedded_text(memory))).then_some(vector)
    }

    /// Returns the cosine of each memory with the query, in standard deviations above the mean.
    fn cosines(&self, asked: &SearchRequest<'_>) -> BTreeMap<MemoryId, f32> {
        let Some(question) = asked.vector else { return BTreeMap::new() };
        let vectors = self.memories.values().filter_map(|(_, memory)| self.vector(question.identity, memory));
        let cosine = |own: &TextVector| own.vector.iter().zip(question.vector).map(|(one, other)| one * other).sum();
        // The order is fixed, so that floating-point sums are reproducible.
        let cosines: BTreeMap<MemoryId, f32> = vectors.map(|own| (own.id, cosine(own))).collect();
        #[expect(clippy::cast_precision_loss, reason = "tests have few memories")]
        let count = cosines.len().max(1) as f32;
        let mean = cosines.values().sum::<f32>() / count;
        let deviation = (cosines.values().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / count).sqrt().max(1e-6);
        // A small sample has no meaningful mean and deviation.
        let (mean, deviation) = if cosines.len() < 16 { (0.1, 0.12) } else { (mean, deviation) };
        cosines.into_iter().map(|(id, cosine)| (id, (cosine - mean) / deviation)).collect()
    }
}

impl MemoryStore for FakeStore {
    fn refresh(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        self.state().stored(id).ok_or_else(|| StoreError::NotFound { reference: id.to_string() })
    }

    fn find_matches(&self, reference: &str, within: Option<&[Scope]>) -> Result<Vec<NameMatch>, StoreError> {
        let state = self.state();
        let is_prefix = |id: &MemoryId| 4 <= reference.len() && id.to_string().starts_with(reference);
        let is_meant = |(_, memory): &&FakeFile| is_prefix(&memory.id) && is_within(within, memory);
        let matching = state.memories.values().filter(is_meant);
        Ok(matching.map(|(path, memory)| NameMatch { id: memory.id, path: path.clone() }).collect())
    }

    fn commit(&self, set: &ChangeSet) -> Result<Vec<ChangeOutcome>, StoreError> {
        let mut state = self.state();
        let mut wanted = Vec::<(MemoryId, Option<FakeFile>)>::new();
        let mut outcomes = Vec::new();
        for change in &set.changes {
            let current = state.memories.get(&change.id());
            match change {
                Change::Create { memory, .. } => {
                    let is_same = |file: &&FakeFile| file.1.content == memory.content && file.1.scope == memory.scope;
                    let new = wanted.iter().filter_map(|(_, file)| file.as_ref()).find(is_same);
                    let kept = new.or_else(|| state.by_content(&memory.content_hash(), &memory.scope));
                    if let Some((path, kept)) = kept.filter(|_| set.duplicates == Duplicates::Skip) {
                        outcomes.push(ChangeOutcome::Duplicate { id: kept.id, path: path.clone() });
                        continue;
                    }
                    if let Some((path, _)) = current {
                        return Err(StoreError::Conflict { what: path.clone() });
                    }
                    let path = path_of(memory);
                    outcomes.push(ChangeOutcome::Kept { id: memory.id, path: path.clone() });
                    wanted.push((memory.id, Some((path, (**memory).clone()))));
                }
                Change::Replace { expected, memory } => {
                    let (path, old) = current.ok_or_else(|| StoreError::NotFound { reference: memory.id.to_string() })?;
                    if file_version(old) != *expected {
                        return Err(StoreError::Conflict { what: path.clone() });
                    }
                    let mut memory = (**memory).clone();
                    let unfolded = state.accesses.get(&memory.id).copied().unwrap_or_default();
                    memory.access_count = memory.access_count.max(old.access_count + unfolded);
                    let path = path_of(&memory);
                    outcomes.push(ChangeOutcome::Kept { id: memory.id, path: path.clone() });
                    wanted.push((memory.id, Some((path, memory))));
                }
                Change::Remove { id, expected } => {
                    let (path, old) = current.ok_or_else(|| StoreError::NotFound { reference: id.to_string() })?;
                    if expected.is_some_and(|expected| file_version(old) != expected) {
                        return Err(StoreError::Conflict { what: path.clone() });
                    }
                    outcomes.push(ChangeOutcome::Removed { id: *id, path: path.clone() });
                    wanted.push((*id, None));
                }
            }
        }
        state.apply(set, None, wanted);
        Ok(outcomes)
    }

    fn list(&self, filter: &Filter, slice: &PageRequest, now: DateTime<Utc>) -> Result<MemoryPage, StoreError> {
        let mut memories = self.state().filtered(filter, now);
        memories.sort_by(|left, right| {
            let (left, right) = (&left.memory, &right.memory);
            let order = match slice.order {
                ListOrder::Created => right.created_at.cmp(&left.created_at),
                ListOrder::Updated => right.updated_at.cmp(&left.updated_at),
                ListOrder::Accessed => right.access_count.cmp(&left.access_count),
                ListOrder::Title => left.headline().to_lowercase().cmp(&right.headline().to_lowercase()),
                ListOrder::Useful => {
                    let use_of = |memory: &Memory| (memory.pinned, memory.access_count, memory.updated_at);
                    use_of(right).cmp(&use_of(left))
                }
            };
            order.then_with(|| left.id.cmp(&right.id))
        });
        let total = memories.len() as u64;
        let memories = memories.into_iter().skip(slice.offset).take(slice.limit.unwrap_or(usize::MAX)).collect();
        Ok(MemoryPage { memories, total, degraded: None })
    }

    fn search(&self, asked: &SearchRequest<'_>, now: DateTime<Utc>) -> Result<SearchResults, StoreError> {
        let mut hits = Vec::new();
        let state = self.state();
        let cosines = state.cosines(asked);
        for stored in state.filtered(asked.filter, now) {
            let mut score = 0.0;
            for text in [Some(stored.memory.content.as_str()), stored.memory.title.as_deref()].into_iter().flatten() {
                tokenize(text, &mut |token| {
                    if asked.question.words.iter().any(|word| word.term.text == token.text && word.term.kind == token.kind) {
                        score += 1.0;
                    }
                });
            }
            score += cosines.get(&stored.memory.id).copied().filter(|cosine| 2.0 <= *cosine).unwrap_or_default();
            if 0.0 < score {
                let relevance = score / (1.0 + score);
                let (snippet, marks) = (stored.memory.headline().to_owned(), Vec::new());
                let explanation = ScoreExplanation { relevance, ..ScoreExplanation::default() };
                hits.push(Hit { stored, score: relevance, snippet, marks, explanation });
            }
        }
        hits.retain(|hit| asked.ranking.threshold.unwrap_or_default() <= hit.explanation.relevance);
        hits.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then_with(|| left.stored.memory.id.cmp(&right.stored.memory.id))
        });
        let total = hits.len() as u64;
        hits.truncate(asked.limit);
        Ok(SearchResults { hits, total, degraded: None })
    }

    fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError> {
        let mut all = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        all.retain(|stored| is_within(within, &stored.memory));
        let name = |memory: &Memory| match &memory.scope {
            Scope::Conversation(_) => memory.source.to_lowercase(),
            Scope::Agent(name) => name.to_lowercase(),
            Scope::Global | Scope::Project(_) => String::new(),
        };
        let speaking: HashSet<String> = all
            .iter()
            .flat_map(|stored| {
                name(&stored.memory).split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        Ok(names.iter().filter(|name| speaking.contains(*name)).cloned().collect())
    }

    fn memories<'a>(
        &'a self,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Box<dyn Iterator<Item = Result<StoredMemory, StoreError>> + 'a> {
        let mut memories = self.state().filtered(filter, now);
        memories.sort_by_key(|stored| (stored.memory.created_at, stored.memory.id));
        Box::new(memories.into_iter().map(Ok))
    }

    fn by_origin(&self, origin: &Origin) -> Result<Option<StoredMemory>, StoreError> {
        let state = self.state();
        let is_same = |memory: &Memory| memory.origin.iter().chain(&memory.other_origins).any(|own| own.is_same_place(origin));
        let id = state.memories.values().find(|(_, memory)| is_same(memory)).map(|(_, memory)| memory.id);
        Ok(id.and_then(|id| state.stored(&id)))
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Option<MemoryId>, StoreError> {
        Ok(self.state().by_content(hash, scope).map(|(_, memory)| memory.id))
    }

    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError> {
        let uses = |memory: &Memory| {
            wikilink::parse(&memory.content)
                .iter()
                .any(|link| wikilink::lookup_keys(&link.target).iter().any(|key| keys.contains(key)))
        };
        let all = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        Ok(all.into_iter().filter(|stored| stored.memory.links.contains(id) || uses(&stored.memory)).collect())
    }

    fn reminders(&self, wanted: ReminderQuery, within: Option<&[Scope]>, limit: Option<usize>) -> Result<MemoryPage, StoreError> {
        let mut memories = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        memories.retain(|stored| wanted.includes(&stored.memory) && is_within(within, &stored.memory));
        memories.sort_by_key(|stored| (stored.memory.reminder.map(|reminder| reminder.due), stored.memory.id));
        let total = memories.len() as u64;
        memories.truncate(limit.unwrap_or(usize::MAX));
        Ok(MemoryPage { memories, total, degraded: None })
    }

    fn count_access(&self, ids: &[MemoryId]) {
        let mut state = self.state();
        for id in ids {
            *state.accesses.entry(*id).or_default() += 1;
        }
    }
}
