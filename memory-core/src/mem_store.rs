//! A store of memories in main memory.

mod history;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::secret::Checked;
use crate::store::scan;
use crate::{
    CachedAnalysis, Change, ChangeOutcome, ChangeSet, ContentHash, Duplicates, FileVersion, Filter,
    Memory, MemoryId, MemoryStore, MemorySummary, Operation, OperationId, Scope, SearchRequest,
    SearchResults, StoreError, StoreResults, StoredMemory, TextVector, embedded_text, is_nonzero,
};

/// Number of vectors from which their mean and deviation are meaningful.
const MIN_SAMPLE: usize = 16;

/// The mean and deviation of the cosines of unrelated texts, for fewer vectors.
const USUAL_COSINES: (f32, f32) = (0.1, 0.12);

/// A store of memories in main memory, with a history and with vectors, for tests and for programs that store nothing.
///
/// It passes the same conformance suites as a store of files: duplicates, compare-and-swap, undo, the trash, search, reminders
/// and vectors. A clone shares the content, which is lost with the last clone. Lists and searches read all memories, which is
/// fast up to some ten thousand; a search ranks by matching words and vectors alone. The history retains all former versions
/// until [`crate::History::purge`].
///
/// ```
/// use memory_core::{MemStore, Memories};
///
/// let memories = Memories::builder(MemStore::default()).actor("my-program").build();
/// memories.write("The user prefers dark mode")?;
/// assert_eq!(memories.search("dark mode")?.hits[0].memory.content, "The user prefers dark mode");
/// memories.undo()?;
/// assert_eq!(memories.search("dark mode")?.total, 0);
/// # Ok::<(), memory_core::StoreError>(())
/// ```
///
/// `examples/custom_store.rs` wraps it in a store of its own.
#[derive(Debug, Clone, Default)]
pub struct MemStore(Arc<Mutex<MemState>>);

#[derive(Debug, Default)]
struct MemState {
    files: BTreeMap<MemoryId, MemFile>,
    /// The memories by text and scope.
    texts: HashMap<(ContentHash, Scope), BTreeSet<MemoryId>>,
    /// The accesses since the last change of a memory.
    accesses: HashMap<MemoryId, u64>,
    journal: Vec<JournalEntry>,
    /// The vectors by identity of the embedding model.
    vectors: HashMap<String, HashMap<MemoryId, TextVector>>,
    analyses: HashMap<MemoryId, (ContentHash, Vec<u8>)>,
}

/// One version of a memory, without the accesses since.
type MemFile = Arc<StoredMemory>;

#[derive(Debug)]
struct JournalEntry {
    operation: Operation,
    reasons: BTreeMap<MemoryId, String>,
    undoes: Option<OperationId>,
    /// The memories whose former files were purged.
    purged: BTreeSet<MemoryId>,
    /// The memory, its former file and its new file.
    changes: Vec<(MemoryId, Option<MemFile>, Option<MemFile>)>,
}

impl MemStore {
    fn state(&self) -> MutexGuard<'_, MemState> {
        self.0
            .lock()
            .expect("nothing panics while it holds the lock")
    }
}

fn new_file(memory: Memory, other_fields: Vec<(String, String)>) -> MemFile {
    let path = format!("categories/{}/{}.md", memory.category, memory.id);
    let stamp = FileVersion(ContentHash::of(&format!("{memory:?}{other_fields:?}")));
    Arc::new(StoredMemory {
        memory,
        path,
        stamp,
        problem: None,
        other_fields,
    })
}

/// Returns the keys of front matter with their values on the same line.
fn other_fields(front_matter: &str) -> Vec<(String, String)> {
    let fields = front_matter
        .lines()
        .filter(|line| !line.starts_with([' ', '\t', '#', '-']));
    fields
        .filter_map(|line| line.split_once(": "))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Returns the cosine of the passage that is most similar to a vector; `None` if all of them, or the vector, are zero.
fn best_cosine(own: &TextVector, vector: &[f32]) -> Option<f32> {
    let passages = own.vectors.iter().filter(|passage| is_nonzero(passage));
    let cosine = |passage: &Vec<f32>| {
        passage
            .iter()
            .zip(vector)
            .map(|(one, other)| one * other)
            .sum()
    };
    passages
        .map(cosine)
        .filter(|_| is_nonzero(vector))
        .reduce(f32::max)
}

impl MemState {
    /// Returns the version of a file with all accesses.
    fn with_accesses(&self, file: &StoredMemory) -> StoredMemory {
        let mut stored = file.clone();
        stored.memory.access_count += self
            .accesses
            .get(&stored.memory.id)
            .copied()
            .unwrap_or_default();
        stored
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> impl Iterator<Item = &MemFile> {
        let ids = self.texts.get(&(*hash, scope.clone()));
        ids.into_iter()
            .flatten()
            .filter_map(|id| self.files.get(id))
    }

    /// Replaces, adds or removes a file, and returns the former one.
    fn put(&mut self, id: MemoryId, file: Option<MemFile>) -> Option<MemFile> {
        let texts = |file: &MemFile| {
            let Memory { scope, .. } = &file.memory;
            // The text of a proposal does not exist until a person accepts it.
            (!file.memory.is_proposal()).then(|| {
                [file.memory.content_hash(), file.memory.words_hash()]
                    .map(|hash| (hash, scope.clone()))
            })
        };
        let new_texts = file.as_ref().and_then(texts);
        let former = match file {
            Some(file) => self.files.insert(id, file),
            None => self.files.remove(&id),
        };
        for text in former.as_ref().and_then(texts).into_iter().flatten() {
            if let Some(ids) = self.texts.get_mut(&text) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.texts.remove(&text);
                }
            }
        }
        for text in new_texts.into_iter().flatten() {
            self.texts.entry(text).or_default().insert(id);
        }
        self.accesses.remove(&id);
        former
    }

    /// Applies the changes of an operation, and records them.
    fn apply(
        &mut self,
        set: &ChangeSet,
        undoes: Option<OperationId>,
        files: Vec<(MemoryId, Option<MemFile>)>,
    ) {
        if files.is_empty() {
            return;
        }
        let changes = files
            .into_iter()
            .map(|(id, after)| (id, self.put(id, after.clone()), after))
            .collect();
        let (operation, reasons) = (set.operation.clone(), set.reasons.clone());
        self.journal.push(JournalEntry {
            operation,
            reasons,
            undoes,
            purged: BTreeSet::new(),
            changes,
        });
    }

    /// Returns the memories that are not proposals.
    fn accepted(&self) -> impl Iterator<Item = &MemFile> {
        self.files
            .values()
            .filter(|file| !file.memory.is_proposal())
    }

    fn filtered(&self, filter: &Filter, now: DateTime<Utc>) -> Vec<StoredMemory> {
        self.files
            .values()
            .filter(|file| filter.matches(file, now))
            .map(|file| self.with_accesses(file))
            .collect()
    }

    /// Returns the vector of a memory's current text.
    fn vector(&self, identity: &str, memory: &Memory) -> Option<&TextVector> {
        let vector = self.vectors.get(identity)?.get(&memory.id)?;
        (vector.text == ContentHash::of(&embedded_text(memory))).then_some(vector)
    }

    /// Returns the cosine of each memory with the query, in standard deviations above the mean.
    fn cosines(&self, asked: &SearchRequest<'_>) -> BTreeMap<MemoryId, f32> {
        let Some(question) = asked.vector else {
            return BTreeMap::new();
        };
        let visible = self
            .files
            .values()
            .filter(|file| asked.filter.includes_scope(&file.memory.scope));
        let vectors = visible.filter_map(|file| self.vector(question.identity, &file.memory));
        // The order is fixed, so that floating-point sums are reproducible.
        let cosines: BTreeMap<MemoryId, f32> = vectors
            .filter_map(|own| Some((own.id, best_cosine(own, question.vector)?)))
            .collect();
        #[expect(
            clippy::cast_precision_loss,
            reason = "the mean needs no more than seven digits"
        )]
        let count = cosines.len().max(1) as f32;
        let mean = cosines.values().sum::<f32>() / count;
        let deviation = (cosines
            .values()
            .map(|cosine| (cosine - mean).powi(2))
            .sum::<f32>()
            / count)
            .sqrt()
            .max(1e-6);
        let (mean, deviation) = if cosines.len() < MIN_SAMPLE {
            USUAL_COSINES
        } else {
            (mean, deviation)
        };
        cosines
            .into_iter()
            .map(|(id, cosine)| (id, (cosine - mean) / deviation))
            .collect()
    }
}

impl MemoryStore for MemStore {
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        let state = self.state();
        let file = state.files.get(id).ok_or_else(|| StoreError::NotFound {
            reference: id.to_string(),
        })?;
        Ok(state.with_accesses(file))
    }

    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory> {
        let mut memories = self.state().filtered(filter, now);
        memories.sort_by_key(|stored| (stored.memory.created_at, stored.memory.id));
        Box::new(memories.into_iter().map(Ok))
    }

    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        let mut state = self.state();
        let mut files = Vec::<(MemoryId, Option<MemFile>)>::new();
        let mut outcomes = Vec::new();
        for change in &set.changes {
            let current = state.files.get(&change.id());
            match change {
                Change::Create {
                    memory,
                    front_matter,
                } => {
                    let is_same = |file: &&MemFile| {
                        file.memory.content == memory.content && file.memory.scope == memory.scope
                    };
                    let new = files
                        .iter()
                        .filter_map(|(_, file)| file.as_ref())
                        .find(is_same);
                    let same = new.or_else(|| {
                        state
                            .by_content(&memory.content_hash(), &memory.scope)
                            .next()
                    });
                    if let Some(same) = same.filter(|_| set.duplicates == Duplicates::Skip) {
                        outcomes.push(ChangeOutcome::Duplicate {
                            id: same.memory.id,
                            path: same.path.clone(),
                        });
                        continue;
                    }
                    if let Some(current) = current {
                        return Err(StoreError::Conflict {
                            what: current.path.clone(),
                        });
                    }
                    let file = new_file((**memory).clone(), other_fields(front_matter));
                    outcomes.push(ChangeOutcome::Kept {
                        id: memory.id,
                        path: file.path.clone(),
                    });
                    files.push((memory.id, Some(file)));
                }
                Change::Replace { expected, memory } => {
                    let old = current.ok_or_else(|| StoreError::NotFound {
                        reference: memory.id.to_string(),
                    })?;
                    if old.stamp != *expected {
                        return Err(StoreError::Conflict {
                            what: old.path.clone(),
                        });
                    }
                    let mut memory = (**memory).clone();
                    memory.access_count = memory
                        .access_count
                        .max(state.with_accesses(old).memory.access_count);
                    let front_matter = set.front_matter.get(&memory.id);
                    let fields = front_matter
                        .map_or_else(|| old.other_fields.clone(), |lines| other_fields(lines));
                    let file = new_file(memory, fields);
                    outcomes.push(ChangeOutcome::Kept {
                        id: file.memory.id,
                        path: file.path.clone(),
                    });
                    files.push((file.memory.id, Some(file)));
                }
                Change::Remove { id, expected } => {
                    let old = current.ok_or_else(|| StoreError::NotFound {
                        reference: id.to_string(),
                    })?;
                    if expected.is_some_and(|expected| old.stamp != expected) {
                        return Err(StoreError::Conflict {
                            what: old.path.clone(),
                        });
                    }
                    outcomes.push(ChangeOutcome::Removed {
                        id: *id,
                        path: old.path.clone(),
                    });
                    files.push((*id, None));
                }
            }
        }
        state.apply(&set, None, files);
        Ok(outcomes)
    }

    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError> {
        let state = self.state();
        let memories = state.filtered(asked.filter, now);
        Ok(scan::search(memories, asked, &state.cosines(asked)))
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError> {
        let state = self.state();
        let found = state.by_content(hash, scope);
        Ok(found.map(|file| file.memory.id).collect())
    }

    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let state = self.state();
        let summary = |stored: &StoredMemory| {
            let summary = MemorySummary::new(stored);
            let analysis = state.analyses.get(&summary.id);
            MemorySummary {
                impression: analysis
                    .filter(|(text, _)| *text == summary.text)
                    .map(|(_, bytes)| bytes.clone()),
                ..summary
            }
        };
        let memories = state.filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        Ok(memories.iter().map(summary).collect())
    }

    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        let state = self.state();
        Ok(ids
            .iter()
            .map(|id| state.files.get(id).map(|file| file.memory.scope.clone()))
            .collect())
    }

    fn store_analyses(&self, analyses: &[CachedAnalysis]) -> Result<(), StoreError> {
        let mut state = self.state();
        for CachedAnalysis { id, text, bytes } in analyses {
            let current = state
                .files
                .get(id)
                .map(|file| ContentHash::of(&embedded_text(&file.memory)));
            if current == Some(*text) {
                state.analyses.insert(*id, (*text, bytes.clone()));
            }
        }
        Ok(())
    }

    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        let state = self.state();
        let memories = state.accepted().map(|file| &file.memory);
        let mut lacking: Vec<&Memory> = memories
            .filter(|memory| state.vector(identity, memory).is_none())
            .collect();
        lacking.sort_by_key(|memory| (std::cmp::Reverse(memory.created_at), memory.id));
        Ok(lacking.into_iter().map(|memory| memory.id).collect())
    }

    fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError> {
        Ok(self.memories_without_vector(identity)?.len() as u64)
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        let is_wanted = |own: &str| identity.is_none_or(|identity| identity == own);
        Ok(self
            .state()
            .vectors
            .iter()
            .any(|(own, vectors)| is_wanted(own) && !vectors.is_empty()))
    }

    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let is_current = |own: &&TextVector| {
            state
                .files
                .get(&own.id)
                .is_some_and(|file| ContentHash::of(&embedded_text(&file.memory)) == own.text)
        };
        let current: Vec<TextVector> = vectors.iter().filter(is_current).cloned().collect();
        let count = current.len() as u64;
        state
            .vectors
            .entry(identity.to_owned())
            .or_default()
            .extend(current.into_iter().map(|own| (own.id, own)));
        Ok(count)
    }

    fn count_access(&self, ids: &[MemoryId]) {
        let mut state = self.state();
        for id in ids {
            *state.accesses.entry(*id).or_default() += 1;
        }
    }
}
