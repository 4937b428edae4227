//! Plans the file changes of an operation.

use std::collections::{HashMap, HashSet};

use memory_core::conversation::MAX_CONTENT;
use memory_core::{
    Category, Change, ChangeOutcome, ChangeSet, ContentHash, Duplicates, ExportedFile, FileVersion,
    Memory, MemoryId, Phase, Scope, StoreError, StoredMemory, text,
};

use super::FileStore;
use crate::disk::MAX_FILE;
use crate::index::{MemoryLocation, RefreshDepth};
use crate::journal::{CommitStep, PlannedFile, ReplacedFile};
use crate::markdown::{self, is_version};
use crate::memory_file::{MemoryFile, is_conversation_file, is_fact, load};

/// The file changes of an operation, and its results for the caller.
#[derive(Debug, Default)]
pub(super) struct CommitPlan {
    pub steps: Vec<CommitStep>,
    pub outcomes: Vec<ChangeOutcome>,
    /// Paths that a step will use.
    taken: HashSet<String>,
    /// Contents that a step will store, with the memory and its path.
    new: HashMap<(ContentHash, Scope), (MemoryId, String)>,
}

impl FileStore {
    /// Plans the file changes of `set` without making them.
    pub(super) fn plan(&self, set: &ChangeSet) -> Result<CommitPlan, StoreError> {
        let mut plan = CommitPlan::default();
        for change in &set.changes {
            let (mut step, outcome) = match change {
                Change::Create {
                    memory,
                    front_matter,
                } => {
                    if set.duplicates == Duplicates::Skip
                        && let Some((id, path)) = self.duplicate_of(memory, &plan)?
                    {
                        plan.outcomes.push(ChangeOutcome::Duplicate { id, path });
                        continue;
                    }
                    self.plan_create(memory, front_matter, set.files.get(&memory.id), &plan)?
                }
                Change::Replace { expected, memory } => {
                    let file = set.files.get(&memory.id);
                    let front_matter = set.front_matter.get(&memory.id).map(String::as_str);
                    let (step, outcome) =
                        self.replace(*expected, memory, file, front_matter, &plan)?;
                    if file.is_some_and(|file| file.text.is_some())
                        && let ChangeOutcome::Kept { id, path } = &outcome
                        && is_unchanged(&step)
                    {
                        plan.outcomes.push(ChangeOutcome::Duplicate {
                            id: *id,
                            path: path.clone(),
                        });
                        continue;
                    }
                    (step, outcome)
                }
                Change::Remove { id, expected } => self.remove(*id, *expected)?,
            };
            if let (ChangeOutcome::Kept { id, path }, Some(memory)) =
                (&outcome, changed_memory(change))
            {
                plan.taken.insert(path.clone());
                plan.new.insert(
                    (memory.content_hash(), memory.scope.clone()),
                    (*id, path.clone()),
                );
            }
            step.why = set.reasons.get(&step.id).cloned();
            plan.steps.push(step);
            plan.outcomes.push(outcome);
        }
        Ok(plan)
    }

    fn duplicate_of(
        &self,
        memory: &Memory,
        plan: &CommitPlan,
    ) -> Result<Option<(MemoryId, String)>, StoreError> {
        let hash = memory.content_hash();
        if let Some(new) = plan.new.get(&(hash, memory.scope.clone())) {
            return Ok(Some(new.clone()));
        }
        let Some(id) = self
            .index
            .by_content(&hash, &memory.scope)?
            .into_iter()
            .next()
        else {
            return Ok(None);
        };
        let Some(MemoryLocation { path, .. }) = self.index.locate(&id)? else {
            return Ok(None);
        };
        // The index may be outdated, so the file decides.
        let is_kept = load(self.disk.as_ref(), &path)?.is_some_and(|kept| {
            kept.stored.memory.content_hash() == hash && kept.stored.memory.scope == memory.scope
        });
        Ok(is_kept.then_some((id, path)))
    }

    fn plan_create(
        &self,
        memory: &Memory,
        front_matter: &str,
        file: Option<&ExportedFile>,
        plan: &CommitPlan,
    ) -> Result<(CommitStep, ChangeOutcome), StoreError> {
        if let Some(MemoryLocation { path, .. }) = self.index.locate(&memory.id)?
            && load(self.disk.as_ref(), &path)?.is_some()
        {
            return Err(StoreError::Conflict { what: path });
        }
        let name = file.and_then(|file| file.name.clone());
        let name = name.unwrap_or_else(|| generated_name(memory));
        let name = self.name_in_scope(name, &memory.scope)?;
        let path = self.free_path(category_folder(memory), &name, plan)?;
        let bytes = updated_export(&path, file, memory)
            .unwrap_or_else(|| markdown::encode(memory, front_matter).into_bytes());
        let bytes = self.bytes_for_log(bytes, memory)?;
        check_size(&path, &bytes)?;
        let step = CommitStep {
            id: memory.id,
            before: None,
            after: Some(PlannedFile {
                path: path.clone(),
                bytes,
            }),
            why: None,
        };
        Ok((
            step,
            ChangeOutcome::Kept {
                id: memory.id,
                path,
            },
        ))
    }

    fn replace(
        &self,
        expected: FileVersion,
        memory: &Memory,
        file: Option<&ExportedFile>,
        front_matter: Option<&str>,
        plan: &CommitPlan,
    ) -> Result<(CommitStep, ChangeOutcome), StoreError> {
        let (loaded, unfolded) = self.load_current(&memory.id)?;
        let before = &loaded.stored;
        if !is_version(&loaded.bytes, expected.0) {
            return Err(StoreError::Conflict {
                what: before.path.clone(),
            });
        }
        if let Some(problem) = &before.problem {
            return Err(StoreError::Damaged(problem.clone()));
        }
        let is_fact = is_conversation_file(&before.path);
        let mut memory = memory.clone();
        if is_fact {
            self.check_fact(before, &memory)?;
            keep_written_form(&loaded, &mut memory)?;
        }
        let former_name = before.path.rsplit('/').next().unwrap_or(&before.path);
        let name = if memory.scope == before.memory.scope {
            former_name.to_owned()
        } else {
            self.name_in_new_scope(former_name, &memory)?
        };
        let path = if is_fact
            || category_folder(&memory) == category_folder(&before.memory) && name == former_name
        {
            before.path.clone()
        } else {
            self.free_path(category_folder(&memory), &name, plan)?
        };
        memory.access_count = memory
            .access_count
            .max(before.memory.access_count.saturating_add(unfolded));
        let bytes = match (front_matter, updated_export(&path, file, &memory)) {
            (Some(front_matter), _) => markdown::encode(&memory, front_matter).into_bytes(),
            (None, Some(bytes)) => bytes,
            (None, None) => {
                markdown::rewrite(&path, &loaded.bytes, &memory).map_err(StoreError::Damaged)?
            }
        };
        let bytes = self.bytes_for_log(bytes, &memory)?;
        check_size(&path, &bytes)?;
        let step = CommitStep {
            id: memory.id,
            before: Some(replaced_file(&loaded)),
            after: Some(PlannedFile {
                path: path.clone(),
                bytes,
            }),
            why: None,
        };
        Ok((
            step,
            ChangeOutcome::Kept {
                id: memory.id,
                path,
            },
        ))
    }

    /// Checks whether a part of a conversation can become `memory`: facts have the fields of a memory, but stay in their conversation.
    fn check_fact(&self, before: &StoredMemory, memory: &Memory) -> Result<(), StoreError> {
        let path = &before.path;
        let why = if !is_fact(path) {
            format!("{path} is a message or a summary of a conversation, which cannot be updated")
        } else if memory.scope != before.memory.scope {
            format!(
                "{path} is a fact of a conversation and cannot change its scope; write its text as a memory of the other scope"
            )
        } else if MAX_CONTENT < memory.content.len() {
            format!(
                "the text has {} bytes; the maximum for a fact is {MAX_CONTENT}",
                memory.content.len()
            )
        } else if self.replica.is_some() {
            format!(
                "{path} is a fact of a conversation and cannot be updated in a shared home; delete it, and add the new text to the conversation"
            )
        } else {
            return Ok(());
        };
        Err(StoreError::Invalid { why })
    }

    fn remove(
        &self,
        id: MemoryId,
        expected: Option<FileVersion>,
    ) -> Result<(CommitStep, ChangeOutcome), StoreError> {
        let (loaded, _) = self.load_current(&id)?;
        let path = loaded.stored.path.clone();
        if expected.is_some_and(|expected| !is_version(&loaded.bytes, expected.0)) {
            return Err(StoreError::Conflict { what: path });
        }
        Ok((
            CommitStep {
                id,
                before: Some(replaced_file(&loaded)),
                after: None,
                why: None,
            },
            ChangeOutcome::Removed { id, path },
        ))
    }

    /// Returns the current file of a memory, and the number of accesses that it does not include.
    pub(super) fn load_current(&self, id: &MemoryId) -> Result<(MemoryFile, u64), StoreError> {
        if let Some(found) = self.load_indexed(id)? {
            return Ok(found);
        }
        // Another program may have moved the file.
        self.index.refresh(RefreshDepth::Names)?;
        self.load_indexed(id)?.ok_or_else(|| StoreError::NotFound {
            reference: id.to_string(),
        })
    }

    pub(super) fn load_indexed(
        &self,
        id: &MemoryId,
    ) -> Result<Option<(MemoryFile, u64)>, StoreError> {
        let Some(MemoryLocation {
            path,
            accesses: unfolded,
        }) = self.index.locate(id)?
        else {
            return Ok(None);
        };
        let mut loaded = load(self.disk.as_ref(), &path)?;
        if let Some(loaded) = &mut loaded
            && loaded.stored.memory.id != *id
            && *id == MemoryId::for_path(&path)
        {
            // Two files have one id, and this one is identified by its path instead.
            loaded.stored.memory.id = *id;
        }
        Ok(loaded
            .filter(|loaded| loaded.stored.memory.id == *id)
            .map(|loaded| (loaded, unfolded)))
    }

    fn free_path(
        &self,
        folder: Category,
        name: &str,
        plan: &CommitPlan,
    ) -> Result<String, StoreError> {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        // The part behind the last @ is the access key of the memory.
        let at = if self.replica.is_some() {
            stem.rfind('@').unwrap_or(stem.len())
        } else {
            stem.len()
        };
        let (stem, key) = stem.split_at(at);
        let first = format!("categories/{folder}/{stem}{key}.md");
        let others = (2..).map(|number| format!("categories/{folder}/{stem}-{number}{key}.md"));
        for path in std::iter::once(first).chain(others) {
            let is_there = self
                .disk
                .stat(&path)
                .map_err(|error| crate::error::io_error(format!("check {path}"), error))?
                .is_some();
            if !is_there && !plan.taken.contains(&path) {
                return Ok(path);
            }
        }
        unreachable!("numbers do not run out")
    }
}

/// Gives the unchanged fields of a fact the form that they have in its file, which differs in blank lines and in parts of a microsecond.
fn keep_written_form(loaded: &MemoryFile, memory: &mut Memory) -> Result<(), StoreError> {
    let before = &loaded.stored;
    let written = markdown::decode(&before.path, &loaded.bytes, before.memory.created_at);
    if let Some(problem) = written.problem {
        let why = format!(
            "{} cannot be updated, because {}; edit its text in the file instead",
            before.path, problem.what
        );
        return Err(StoreError::Invalid { why });
    }
    if memory.content == before.memory.content {
        memory.content = written.memory.content;
    }
    if memory.created_at == before.memory.created_at {
        memory.created_at = written.memory.created_at;
    }
    Ok(())
}

/// Returns the name of the file of a new memory.
pub(super) fn generated_name(memory: &Memory) -> String {
    format!("{}-{}.md", text::slug(memory.headline()), memory.id.short())
}

/// Returns the exported file updated to `memory`; `None` if it is missing or cannot be updated.
fn updated_export(path: &str, file: Option<&ExportedFile>, memory: &Memory) -> Option<Vec<u8>> {
    let text = file?.text.as_ref()?;
    markdown::rewrite(path, text.as_bytes(), memory).ok()
}

/// Returns whether a step leaves the file unchanged.
fn is_unchanged(step: &CommitStep) -> bool {
    let (Some(before), Some(after)) = (&step.before, &step.after) else {
        return false;
    };
    before.path == after.path && before.hash == ContentHash::from_bytes(&after.bytes)
}

/// Rejects a file that could be written but not read again.
fn check_size(path: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let size = bytes.len() as u64;
    if size <= MAX_FILE {
        return Ok(());
    }
    Err(StoreError::Invalid {
        why: format!("{path} would have {size} bytes; the limit for a memory is {MAX_FILE}"),
    })
}

fn changed_memory(change: &Change) -> Option<&Memory> {
    match change {
        Change::Create { memory, .. } | Change::Replace { memory, .. } => Some(memory),
        Change::Remove { .. } => None,
    }
}

/// Returns the category that names the folder of a memory.
fn category_folder(memory: &Memory) -> Category {
    match memory.phase {
        Phase::Inbox => Category::Inbox,
        Phase::Organized => memory.category,
    }
}

pub(super) fn replaced_file(loaded: &MemoryFile) -> ReplacedFile {
    ReplacedFile {
        path: loaded.stored.path.clone(),
        hash: loaded.stored.stamp.0,
    }
}
