//! Importing memories from an export.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::commit::{commit, memory_texts, storage_obstacle};
use crate::ingest::{Progress, SkippedFile};
use crate::supersede::mark_superseded;
use crate::{
    Change, ChangeOutcome, ChangeSet, ContentHash, Draft, Duplicates, ExportedFile, FileVersion,
    InboxTtl, Memory, MemoryId, Origin, Scope, SecretPolicy, Services, StoreError, Verb, secret,
};

/// Number of memories that are written in one operation.
const BATCH: usize = 2_000;

/// A memory in an export, with all or some of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedMemory {
    /// The id, if present.
    pub id: Option<MemoryId>,
    /// The fields that a draft also has.
    pub draft: Draft,
    /// The time of the last change.
    pub updated_at: Option<DateTime<Utc>>,
    /// The number of reads.
    pub access_count: u64,
    /// The time of the latest statement of the standing sentences.
    pub stated_at: Option<DateTime<Utc>>,
    /// The linked memories.
    pub links: Vec<MemoryId>,
    /// The version number.
    pub version: Option<u64>,
    /// The memories that this one supersedes.
    pub supersedes: Vec<MemoryId>,
    /// The memory that supersedes this one.
    pub superseded_by: Option<MemoryId>,
    /// The other source files with the same text.
    pub other_origins: Vec<Origin>,
    /// The file of the memory.
    pub file: ExportedFile,
}

impl From<Draft> for ExportedMemory {
    /// Returns an exported memory that has only the fields of `draft`, and no id.
    fn from(draft: Draft) -> Self {
        Self {
            id: None,
            draft,
            updated_at: None,
            stated_at: None,
            access_count: 0,
            links: Vec::new(),
            version: None,
            supersedes: Vec::new(),
            superseded_by: None,
            other_origins: Vec::new(),
            file: ExportedFile::default(),
        }
    }
}

impl ExportedMemory {
    /// Removes an expiry that is only derived from the inbox TTL.
    ///
    /// `memory read --json` includes the derived expiry, but a file never contains it.
    fn drop_derived_expiry(&mut self, inbox_ttl: InboxTtl, now: DateTime<Utc>) {
        let Some(expiry) = self.draft.expires_at.take() else {
            return;
        };
        let without = self.clone().into_memory(MemoryId::for_path(""), now);
        if inbox_ttl.memory_expiry(&without) != Some(expiry) {
            self.draft.expires_at = Some(expiry);
        }
    }

    fn into_memory(self, id: MemoryId, now: DateTime<Utc>) -> Memory {
        // A memory existed when it was changed, even if the time of its creation is not recorded.
        let created_at = self.draft.created_at.or(self.updated_at);
        let mut memory = Draft {
            created_at,
            ..self.draft
        }
        .into_memory(id, now);
        memory.updated_at = self.updated_at.unwrap_or(memory.updated_at);
        memory.stated_at = self.stated_at;
        memory.access_count = self.access_count;
        memory.links = self.links;
        memory.version = self.version.unwrap_or(1);
        memory.supersedes = self.supersedes;
        memory.superseded_by = self.superseded_by;
        memory.other_origins = self.other_origins;
        memory
    }
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Number of memories that did not exist before.
    pub new: u64,
    /// Number of memories that were replaced; the previous versions are in the trash.
    pub updated: u64,
    /// Number of memories that already exist unchanged.
    pub unchanged: u64,
    /// The skipped entries, identified by their position in the export.
    pub skipped: Vec<SkippedFile>,
}

/// The error that a line of an export is not a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// The position, such as `line 12`.
    pub place: String,
    /// The reason.
    pub reason: String,
}

/// Imports the memories of an export with all their fields.
///
/// A memory with an existing id replaces the stored one if they differ. A memory without an id is skipped if its text
/// already exists under its title and with its time of creation, as far as it states them.
///
/// # Errors
/// Those of the store. Lines that are malformed or contain credentials are part of the report instead.
pub fn import(
    services: &Services,
    exported: impl Iterator<Item = Result<(String, ExportedMemory), ImportError>>,
    secrets: SecretPolicy,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportSummary, StoreError> {
    let (mut newer, mut operation) = (Vec::new(), None);
    let summary = import_with(services, exported, secrets, progress, &mut |set| {
        // Each line was already checked for credentials.
        let outcomes = commit(services, set, SecretPolicy::Keep)?;
        let is_superseding = |memory: &&Memory| !memory.supersedes.is_empty();
        let memories = set.changes.iter().filter_map(Change::memory);
        newer.extend(memories.filter(is_superseding).cloned());
        operation = Some(set.operation.clone());
        let is_duplicate =
            |outcome: &ChangeOutcome| matches!(outcome, ChangeOutcome::Duplicate { .. });
        Ok(outcomes.iter().map(is_duplicate).collect())
    })?;
    if let Some(operation) = operation {
        supersede_imported(services, &newer, ChangeSet::new(operation))?;
    }
    Ok(summary)
}

/// Marks the memories that imported ones supersede, if the export did not.
fn supersede_imported(
    services: &Services,
    newer: &[Memory],
    mut set: ChangeSet,
) -> Result<(), StoreError> {
    let mut marked = HashSet::new();
    for memory in newer.iter().filter(|own| own.superseded_by.is_none()) {
        for id in memory.supersedes.iter().filter(|id| marked.insert(**id)) {
            match mark_superseded(services, *id, memory, set.operation.at) {
                Ok(change) => set.changes.extend(change),
                // The memory was not part of the export, or is damaged.
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    if set.changes.is_empty() {
        return Ok(());
    }
    commit(services, &set, SecretPolicy::Keep).map(drop)
}

/// Returns the result that [`import`] would have, without writing.
///
/// # Errors
/// Those of [`import`].
pub fn preview_import(
    services: &Services,
    exported: impl Iterator<Item = Result<(String, ExportedMemory), ImportError>>,
    secrets: SecretPolicy,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportSummary, StoreError> {
    let mut created = HashSet::new();
    import_with(services, exported, secrets, progress, &mut |set| {
        let mut is_duplicate = |change: &Change| {
            let Change::Create { memory, .. } = change else {
                return Ok(false);
            };
            if set.duplicates != Duplicates::Skip {
                return Ok(false);
            }
            let hash = memory.content_hash();
            let known = services.store.by_content(&hash, &memory.scope)?;
            Ok(known.into_iter().next().is_some() || !created.insert((hash, memory.scope.clone())))
        };
        set.changes.iter().map(&mut is_duplicate).collect()
    })
}

/// Imports with `write`, which returns for each change of a set whether the store has its text already.
fn import_with(
    services: &Services,
    exported: impl Iterator<Item = Result<(String, ExportedMemory), ImportError>>,
    secrets: SecretPolicy,
    progress: &mut dyn FnMut(Progress),
    write: &mut dyn FnMut(&ChangeSet) -> Result<Vec<bool>, StoreError>,
) -> Result<ImportSummary, StoreError> {
    services.store.refresh()?;
    let mut report = ImportSummary::default();
    let mut set = services.change_set(Verb::Import);
    // The store detects existing texts only in an operation that skips duplicates, so memories without an id have their
    // own. It comes first, since others of the export with the text have other names.
    let mut nameless = ChangeSet {
        duplicates: Duplicates::Skip,
        ..set.clone()
    };
    let mut taken = HashSet::new();
    let mut texts = KnownTexts::default();
    for (done, line) in exported.enumerate() {
        progress(Progress {
            done: done as u64,
            total: None,
        });
        let (place, mut exported) = match line {
            Ok(line) => line,
            Err(ImportError { place, reason }) => {
                report.skipped.push(SkippedFile {
                    path: place,
                    reason,
                });
                continue;
            }
        };
        let id = exported.id.unwrap_or_else(|| services.ids.memory_id());
        // On the node of a principal, new memories for all of another home are for the principal alone.
        if exported.draft.scope == Scope::Global
            && services.principal.is_some()
            && matches!(services.store.get(&id), Err(StoreError::NotFound { .. }))
        {
            exported.draft.scope = services.own_scope();
        }
        exported.drop_derived_expiry(services.inbox_ttl, set.operation.at);
        let created_at = exported.draft.created_at.or(exported.updated_at);
        let memory = exported.clone().into_memory(id, set.operation.at);
        let file = exported.file.clone();
        if let Some(reason) = skip_reason(exported.id, &memory, &file, secrets) {
            report.skipped.push(SkippedFile {
                path: place,
                reason,
            });
            continue;
        }
        let likeness = match exported.id {
            None => texts.compare(services, &memory, created_at)?,
            Some(_) => TextLikeness::Unknown,
        };
        texts.add(&memory);
        match exported.id {
            None if likeness == TextLikeness::Same => report.unchanged += 1,
            None => {
                let set = if likeness == TextLikeness::Namesake {
                    &mut set
                } else {
                    &mut nameless
                };
                set.files.insert(id, file);
                set.changes.push(create(memory));
            }
            Some(id) if !taken.insert(id) => {
                report.skipped.push(SkippedFile {
                    path: place,
                    reason: format!("the id {id} is a duplicate in the export"),
                });
            }
            Some(id) => {
                set.files.insert(id, file);
                set.changes.extend(replace_or_create(
                    services,
                    id,
                    exported,
                    set.operation.at,
                    &mut report,
                )?);
            }
        }
        if BATCH <= set.changes.len() + nameless.changes.len() {
            flush(&mut nameless, &mut report, write)?;
            flush(&mut set, &mut report, write)?;
        }
    }
    flush(&mut nameless, &mut report, write)?;
    flush(&mut set, &mut report, write)?;
    Ok(report)
}

/// The likeness of a memory without an id to those with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextLikeness {
    /// No other memory has its text.
    Unknown,
    /// The others have another title or time of creation.
    Namesake,
    /// Another one has its title and time of creation, too.
    Same,
}

/// The titles and times of creation of the memories of an export, by their text and scope.
#[derive(Default)]
struct KnownTexts(HashMap<(ContentHash, Scope), Vec<TitleAndTime>>);

/// The title and the time of creation of a memory.
type TitleAndTime = (Option<String>, DateTime<Utc>);

impl KnownTexts {
    fn add(&mut self, memory: &Memory) {
        let key = (memory.content_hash(), memory.scope.clone());
        let names = self.0.entry(key).or_default();
        names.push((memory.title.clone(), memory.created_at));
    }

    /// Compares a memory with those of the export before it, and with those of the store.
    fn compare(
        &self,
        services: &Services,
        memory: &Memory,
        created_at: Option<DateTime<Utc>>,
    ) -> Result<TextLikeness, StoreError> {
        let key = (memory.content_hash(), memory.scope.clone());
        let mut others = self.0.get(&key).cloned().unwrap_or_default();
        for id in services.store.by_content(&key.0, &key.1)? {
            let other = services.store.get(&id)?.memory;
            others.push((other.title, other.created_at));
        }
        // A store may record less than milliseconds.
        let is_same = |(title, time): &TitleAndTime| {
            (memory.title.is_none() || memory.title == *title)
                && created_at.is_none_or(|at| at.timestamp() == time.timestamp())
        };
        Ok(if others.iter().any(is_same) {
            TextLikeness::Same
        } else if others.is_empty() {
            TextLikeness::Unknown
        } else {
            TextLikeness::Namesake
        })
    }
}

fn skip_reason(
    given: Option<MemoryId>,
    memory: &Memory,
    file: &ExportedFile,
    secrets: SecretPolicy,
) -> Option<String> {
    if given.is_none() && memory.content.trim().is_empty() {
        return Some("it has no text".into());
    }
    let texts = || {
        memory_texts(memory)
            .chain(file.name.as_deref())
            .chain(file.text.as_deref())
    };
    if let Some(why) = texts().find_map(storage_obstacle) {
        return Some(why.into());
    }
    let titled = secret::titled_text(memory);
    let kind = texts()
        .chain(titled.as_deref())
        .filter(|_| secrets == SecretPolicy::Refuse)
        .flat_map(secret::find)
        .next()?
        .kind;
    Some(format!(
        "it seems to contain a credential ({kind}); --allow-secret stores it anyway"
    ))
}

fn create(memory: Memory) -> Change {
    Change::Create {
        memory: Box::new(memory),
        front_matter: String::new(),
    }
}

fn replace_or_create(
    services: &Services,
    id: MemoryId,
    exported: ExportedMemory,
    now: DateTime<Utc>,
    report: &mut ImportSummary,
) -> Result<Option<Change>, StoreError> {
    let stored = match services.store.get(&id) {
        Ok(stored) => stored,
        Err(StoreError::NotFound { .. }) => return Ok(Some(create(exported.into_memory(id, now)))),
        Err(error) => return Err(error),
    };
    let (says_version, says_creation) = (
        exported.version.is_some(),
        exported.draft.created_at.is_some(),
    );
    // The parts of the file that are not fields are compared through the hash of the whole file.
    let is_same_file =
        |text: &String| stored.stamp == FileVersion(ContentHash::from_bytes(text.as_bytes()));
    let is_same_file = exported.file.text.as_ref().is_none_or(is_same_file);
    let mut memory = exported.into_memory(id, now);
    if !says_version {
        memory.version = stored.memory.version;
    }
    if !says_creation {
        memory.created_at = stored.memory.created_at;
    }
    memory.access_count = memory.access_count.max(stored.memory.access_count);
    if is_same_file
        && (Memory {
            updated_at: stored.memory.updated_at,
            ..memory.clone()
        }) == stored.memory
    {
        report.unchanged += 1;
        return Ok(None);
    }
    let expected: FileVersion = stored.stamp;
    Ok(Some(Change::Replace {
        expected,
        memory: Box::new(memory),
    }))
}

fn flush(
    set: &mut ChangeSet,
    report: &mut ImportSummary,
    write: &mut dyn FnMut(&ChangeSet) -> Result<Vec<bool>, StoreError>,
) -> Result<(), StoreError> {
    if set.changes.is_empty() {
        return Ok(());
    }
    let duplicates = write(set)?;
    for (change, is_duplicate) in set.changes.iter().zip(duplicates) {
        match (change, is_duplicate) {
            (_, true) => report.unchanged += 1,
            (Change::Create { .. }, _) => report.new += 1,
            _ => report.updated += 1,
        }
    }
    set.changes.clear();
    set.files.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::MemStore;
    use crate::testing::services;

    #[test]
    fn records_without_an_id_are_distinguished_by_title_and_time() {
        let home = services(Arc::new(MemStore::default()));
        let day = |day: &str| Some(format!("{day}T00:00:00Z").parse().expect("a time"));
        let record = |title: Option<&str>, created_at| {
            let draft = Draft {
                title: title.map(str::to_owned),
                created_at,
                ..Draft::new("- [ ] water")
            };
            Ok(("line".to_owned(), ExportedMemory::from(draft)))
        };
        let records = || {
            vec![
                record(Some("Monday"), day("2024-01-01")),
                record(Some("Tuesday"), day("2024-01-02")),
                record(Some("Tuesday"), day("2024-01-09")),
                record(Some("Tuesday"), None),
                record(None, None),
            ]
        };
        let run = || {
            let records = records().into_iter();
            let report = import(&home, records, SecretPolicy::Refuse, &mut |_| {});
            let report = report.expect("the fake store does not fail");
            (report.new, report.unchanged)
        };
        assert_eq!((run(), run()), ((3, 2), (0, 5)));
    }
}
