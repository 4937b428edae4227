//! A store of memories in main memory.

mod history;
mod search;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::query_parser::TextQuery;
use crate::secret::Checked;
use crate::wikilink::{self, WikilinkCandidate, WikilinkNameKind, WikilinkTarget};
use crate::{
    CachedAnalysis, Change, ChangeOutcome, ChangeSet, ContentHash, Duplicates, Embeddings,
    FacetCounter, FacetCounts, FileVersion, Filter, ListOrder, MatchCoverage, Memory, MemoryFacets,
    MemoryId, MemoryPage, MemoryStore, MemorySummaries, MemorySummary, NameIndex, NameMatch,
    Operation, OperationId, Origin, PageRequest, Ranking, ReminderQuery, Scope, SearchRequest,
    SearchResults, StoreError, StoredMemory, TextVector, embedded_text,
};

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

fn is_within(scopes: Option<&[Scope]>, memory: &Memory) -> bool {
    scopes.is_none_or(|scopes| scopes.contains(&memory.scope))
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
}

impl NameIndex for MemStore {
    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        let state = self.state();
        let mut found = Vec::new();
        for file in state.accepted() {
            let (path, memory) = (&file.path, &file.memory);
            let candidate = |by| WikilinkCandidate {
                target: WikilinkTarget::Memory(memory.id),
                path: path.clone(),
                by,
            };
            let is_called = |name: &str| wikilink::lookup_keys(name).iter().any(|own| own == key);
            let is_former = |id: &MemoryId| id.to_string() == key && !state.files.contains_key(id);
            if memory.id.to_string() == key {
                found.push(candidate(WikilinkNameKind::Id));
            } else if memory.supersedes.iter().any(is_former) {
                found.push(candidate(WikilinkNameKind::Former));
            } else if is_called(path) {
                found.push(candidate(WikilinkNameKind::Path));
            } else if memory.origins_named(key).next().is_some() {
                found.extend(memory.origins_named(key).map(|origin| WikilinkCandidate {
                    path: origin.path.clone(),
                    ..candidate(WikilinkNameKind::Path)
                }));
            } else if memory.title_or_heading().is_some_and(is_called) {
                found.push(candidate(WikilinkNameKind::Title));
            } else if memory.aliases.iter().any(|alias| is_called(alias)) {
                found.push(candidate(WikilinkNameKind::Alias));
            }
        }
        Ok(found)
    }
}

impl MemoryStore for MemStore {
    fn refresh(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        let state = self.state();
        let file = state.files.get(id).ok_or_else(|| StoreError::NotFound {
            reference: id.to_string(),
        })?;
        Ok(state.with_accesses(file))
    }

    fn find_matches(
        &self,
        reference: &str,
        within: Option<&[Scope]>,
    ) -> Result<Vec<NameMatch>, StoreError> {
        let state = self.state();
        let is_prefix =
            |id: &MemoryId| 4 <= reference.len() && id.to_string().starts_with(reference);
        let is_meant =
            |file: &&MemFile| is_prefix(&file.memory.id) && is_within(within, &file.memory);
        let matching = state.files.values().filter(is_meant);
        Ok(matching
            .map(|file| NameMatch {
                id: file.memory.id,
                path: file.path.clone(),
            })
            .collect())
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

    fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError> {
        let mut memories = self.state().filtered(filter, now);
        memories.sort_by(|left, right| {
            let (left, right) = (&left.memory, &right.memory);
            let order = match slice.order {
                ListOrder::Created => right.created_at.cmp(&left.created_at),
                ListOrder::Updated => right.updated_at.cmp(&left.updated_at),
                ListOrder::Accessed => right.access_count.cmp(&left.access_count),
                ListOrder::Title => left
                    .headline()
                    .to_lowercase()
                    .cmp(&right.headline().to_lowercase()),
                ListOrder::Useful => {
                    let use_of =
                        |memory: &Memory| (memory.pinned, memory.access_count, memory.updated_at);
                    use_of(right).cmp(&use_of(left))
                }
            };
            order.then_with(|| left.id.cmp(&right.id))
        });
        let total = memories.len() as u64;
        let memories = memories
            .into_iter()
            .skip(slice.offset)
            .take(slice.limit.unwrap_or(usize::MAX))
            .collect();
        Ok(MemoryPage {
            memories,
            total,
            degraded: None,
        })
    }

    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError> {
        Ok(self.state().search(asked, now))
    }

    fn speakers(
        &self,
        names: &[String],
        within: Option<&[Scope]>,
    ) -> Result<Vec<String>, StoreError> {
        let mut all = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        all.retain(|stored| is_within(within, &stored.memory));
        let name = |memory: &Memory| match &memory.scope {
            Scope::Conversation(_) => memory.source.to_lowercase(),
            Scope::Agent(name) => name.to_lowercase(),
            Scope::Global | Scope::Project(_) | Scope::Private(_) | Scope::Team(_) => String::new(),
        };
        let speaking: HashSet<String> = all
            .iter()
            .flat_map(|stored| {
                name(&stored.memory)
                    .split(|letter: char| !letter.is_alphanumeric())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        Ok(names
            .iter()
            .filter(|name| speaking.contains(*name))
            .cloned()
            .collect())
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

    fn by_origin(&self, origin: &Origin, _: &Scope) -> Result<Option<StoredMemory>, StoreError> {
        let state = self.state();
        let is_same = |memory: &Memory| {
            memory
                .origin
                .iter()
                .chain(&memory.other_origins)
                .any(|own| own.is_same_place(origin))
        };
        Ok(state
            .accepted()
            .find(|file| is_same(&file.memory))
            .map(|file| state.with_accesses(file)))
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError> {
        let state = self.state();
        let found = state.by_content(hash, scope);
        Ok(found.map(|file| file.memory.id).collect())
    }

    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError> {
        let uses = |memory: &Memory| {
            wikilink::parse(&memory.content).iter().any(|link| {
                wikilink::lookup_keys(&link.target)
                    .iter()
                    .any(|key| keys.contains(key))
            })
        };
        let all = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        Ok(all
            .into_iter()
            .filter(|stored| stored.memory.links.contains(id) || uses(&stored.memory))
            .collect())
    }

    fn reminders(
        &self,
        wanted: ReminderQuery,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<MemoryPage, StoreError> {
        let mut memories = self.state().filtered(&Filter::all(), DateTime::UNIX_EPOCH);
        memories
            .retain(|stored| wanted.includes(&stored.memory) && is_within(within, &stored.memory));
        memories.sort_by_key(|stored| {
            (
                stored.memory.reminder.as_ref().map(|reminder| reminder.due),
                stored.memory.id,
            )
        });
        let total = memories.len() as u64;
        memories.truncate(limit.unwrap_or(usize::MAX));
        Ok(MemoryPage {
            memories,
            total,
            degraded: None,
        })
    }

    fn count_access(&self, ids: &[MemoryId]) {
        let mut state = self.state();
        for id in ids {
            *state.accesses.entry(*id).or_default() += 1;
        }
    }

    fn write_access_counts(&self, _now: DateTime<Utc>) -> Result<u64, StoreError> {
        // There are no files.
        Ok(0)
    }

    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError> {
        Ok(self.get(id)?.stamp == expected)
    }
}

impl Embeddings for MemStore {
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
        let state = self.state();
        let lacking = state
            .accepted()
            .filter(|file| state.vector(identity, &file.memory).is_none());
        Ok(lacking.count() as u64)
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
}

impl MemoryFacets for MemStore {
    fn facets(
        &self,
        question: Option<&TextQuery>,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, StoreError> {
        let state = self.state();
        let mut counter = FacetCounter::default();
        match question {
            Some(question) => {
                let ranking = Ranking {
                    coverage: MatchCoverage::Best,
                    ..Ranking::default()
                };
                let request = SearchRequest {
                    question,
                    filter,
                    limit: usize::MAX,
                    ranking,
                    vector: None,
                };
                state
                    .search(&request, now)
                    .hits
                    .iter()
                    .for_each(|hit| counter.add(&hit.stored.memory));
            }
            None => state
                .files
                .values()
                .filter(|file| filter.matches(file, now))
                .for_each(|file| counter.add(&file.memory)),
        }
        Ok(counter.finish())
    }

    fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let filter = Filter {
            tags: [tag].into_iter().collect(),
            within: within.map(<[Scope]>::to_vec),
            ..Filter::default()
        };
        let mut tagged = self.state().filtered(&filter, now);
        tagged.sort_by_key(|stored| (Reverse(stored.memory.created_at), stored.memory.id));
        tagged.truncate(limit);
        Ok(tagged)
    }
}

impl MemorySummaries for MemStore {
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let state = self.state();
        let summary = |file: &MemFile| {
            let memory = &file.memory;
            let id = &memory.id;
            let text = ContentHash::of(&embedded_text(memory));
            MemorySummary {
                id: *id,
                phase: memory.phase,
                category: memory.category,
                scope: memory.scope.clone(),
                created_at: memory.created_at,
                updated_at: memory.updated_at,
                is_superseded: memory.superseded_by.is_some(),
                ends_at: memory.ends_at().filter(|_| memory.superseded_by.is_none()),
                access_count: memory.access_count
                    + state.accesses.get(id).copied().unwrap_or_default(),
                is_damaged: false,
                is_foreign: false,
                text,
                impression: state
                    .analyses
                    .get(id)
                    .filter(|(of, _)| *of == text)
                    .map(|(_, bytes)| bytes.clone()),
            }
        };
        Ok(state.accepted().map(summary).collect())
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
}
