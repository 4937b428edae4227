//! Ingesting notes from other programs.

mod export_edit;
mod facts;
mod findings;
mod fingerprint;
mod merge;
mod missing;
mod plan;
mod sessions;
mod source_state;
mod survey;

use crate::commit::{RefusedUnit, commit_units};
use crate::instance::InstanceError;
use crate::instance::history::Messages;
use crate::{Change, ChangeSet, Code, Services, Source, SourceItem, StoreError, Verb, secret};

pub use facts::{FactError, FactExtractor};
pub use missing::MissingNote;
pub use sessions::SessionCounts;

use findings::for_each_finding;
use plan::{IngestDecision, NotePlan};
use source_state::RecordedSteps;
use survey::Survey;

/// Maximum number of memories in one batch; the next constant limits the bytes of text. A test needs fewer memories for several
/// batches.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 16 << 20;

/// The result of an ingestion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// Number of notes that became new memories.
    pub new: u64,
    /// Number of changed notes that updated their memory.
    pub updated: u64,
    /// Number of unchanged notes.
    pub unchanged: u64,
    /// The files that were skipped.
    pub skipped: Vec<SkippedFile>,
    /// The notes that were ingested although a part of them could not be parsed or stored.
    pub warnings: Vec<SkippedFile>,
    /// Number of distinct tags, ignoring case.
    pub tags: u64,
    /// The number of links between the notes.
    pub links: LinkCounts,
    /// The numbers of conversations.
    pub sessions: SessionCounts,
    /// Number of facts that a language model drew from conversations.
    pub facts: u64,
    /// The memories of notes that the source no longer contains. They are retained, unless the options state otherwise.
    pub missing: Vec<MissingNote>,
    /// Number of memories of missing notes that were deleted.
    pub deleted: u64,
}

/// The options of an ingestion.
#[derive(Debug, Clone, Copy, Default)]
pub struct IngestOptions<'a> {
    /// Whether only the outcome is determined, and nothing is written.
    pub dry_run: bool,
    /// The sessions that receive the conversations of the source; without them, conversations are not read.
    pub sessions: Option<&'a Messages>,
    /// Whether the memories of notes that the source no longer contains move to the trash.
    pub delete_missing: bool,
    /// Draws facts from the messages of the user in conversations; each fact becomes a memory of the inbox.
    pub extractor: Option<&'a dyn FactExtractor>,
    /// Whether the files are those of the person, so that facts from messages of the user are the person's words.
    pub is_trusted: bool,
}

/// The error that an ingestion failed.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The memories cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The sessions cannot be read or written.
    #[error(transparent)]
    Sessions(#[from] InstanceError),
}

impl IngestError {
    /// Returns the permanent code of the error.
    pub fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Sessions(error) => error.code(),
        }
    }
}

/// A file with the reason for skipping or warning about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// The file.
    pub path: String,
    /// The reason for skipping it, or the part that could not be parsed.
    pub reason: String,
}

/// Numbers of links between notes. Other than the stored ones, they are occurrences in texts, resolved by the rules of the program that
/// wrote the notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Number of links that the memories of the notes have; a link in both directions counts once.
    pub stored: u64,
    /// Number of links that lead to a note or an attachment.
    pub resolved: u64,
    /// Number of links without a target.
    pub unresolved: u64,
    /// Number of unresolved links that match an alias. This program resolves them.
    pub only_by_alias: u64,
    /// Number of unresolved links that match a title. This program resolves them.
    pub only_by_title: u64,
}

/// The progress of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of completed items.
    pub done: u64,
    /// The total number of items, once it is determined.
    pub total: Option<u64>,
}

/// Ingests all notes that `source` finds as memories of the inbox, with the links between them.
///
/// The origin identifies a note: an unchanged note is skipped, a changed note updates its memory, and a moved note
/// moves the origin of its memory. A field, tag or link that was changed in the memory since remains as it is; if this is
/// the text, the note is reported. A note with the text and the name of a memory from another source is not ingested
/// again, and neither is an unchanged note whose memory a person deleted. Notes of one source that are equal in every part, also in
/// their dates, and whose links lead to the same notes become one memory, which records all of them as origins. Credentials are redacted. An edit of an export of this home counts as the edit of a person.
///
/// A conversation becomes a session with a name that ends in its id. A changed conversation replaces the records of its
/// session, unless other records were added to it. Conversations are skipped if the store of the sessions does not support
/// it. Notes and sessions are written in operations with the same id, so that
/// one undo reverts both.
///
/// `examples/vault_ingest.rs` is a complete program.
///
/// # Errors
/// Those of the stores. Errors of reading the source are part of the report instead.
pub fn ingest(
    services: &Services,
    source: &dyn Source,
    options: &IngestOptions<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<IngestReport, IngestError> {
    services.store.refresh()?;
    let mut report = IngestReport::default();
    let mut survey = Survey::of(services, source, &mut report, progress)?;
    let operation = services.change_set(Verb::Ingest);
    let links = survey.take_links(operation.operation.at, &mut report);
    let total = survey.len() as u64;
    // New memories belong to notes, so they need not be read.
    if source.is_complete() {
        report.missing = survey.missing_notes(services, &report.skipped)?;
    }
    let mut batch = IngestBatch {
        services,
        operation,
        changes: Vec::new(),
        paths: Vec::new(),
        bytes: 0,
        dry_run: options.dry_run,
    };
    let missing = report.missing.iter().map(|note| note.id);
    let steps = RecordedSteps::new(
        services,
        survey.memories().iter().copied().chain(missing).collect(),
    );
    for note in &mut report.missing {
        note.compare(&steps)?;
    }
    let mut done = 0;
    let at = batch.operation.operation.at;
    let zone = services.clock.zone();
    let think = |finding| {
        let SourceItem::Note(mut note) = finding else {
            return None;
        };
        // Notes that appeared after the survey are left for the next ingestion.
        let (path, index) = note
            .draft
            .origin
            .as_ref()
            .and_then(|origin| survey.find(&origin.path))?;
        if let (Some(origin), Some(path)) = (&mut note.draft.origin, &survey.note(index).path) {
            origin.path.clone_from(path);
        }
        Some((
            path,
            NotePlan {
                survey: &survey,
                note: survey.note(index),
                links: &links[index],
                at,
                zone: &zone,
            }
            .decide_early(note),
        ))
    };
    for_each_finding(source, &services.own_scope(), &think, &mut |thought| {
        let Some((path, thought)) = thought else {
            return Ok(());
        };
        match thought.complete(&steps)? {
            IngestDecision::Leave => report.unchanged += 1,
            IngestDecision::Skip(reason) => report.skipped.push(SkippedFile {
                path: path.to_owned(),
                reason,
            }),
            IngestDecision::Do {
                change,
                front_matter,
                reason,
                warnings,
            } => {
                report
                    .warnings
                    .extend(warnings.into_iter().map(|reason| SkippedFile {
                        path: path.to_owned(),
                        reason,
                    }));
                batch
                    .operation
                    .reasons
                    .extend(reason.map(|reason| (change.id(), reason)));
                batch
                    .operation
                    .front_matter
                    .extend(front_matter.map(|lines| (change.id(), lines)));
                batch.push(change, path, &mut report)?;
            }
        }
        done += 1;
        progress(Progress {
            done,
            total: Some(total),
        });
        Ok(())
    })?;
    if options.delete_missing {
        for note in report
            .missing
            .clone()
            .into_iter()
            .filter(|note| !note.is_edited)
        {
            batch.push(
                Change::Remove {
                    id: note.id,
                    expected: None,
                },
                &note.path,
                &mut report,
            )?;
        }
    }
    batch.flush(&mut report)?;
    if let Some(messages) = options.sessions {
        match messages.store.check_replace() {
            Ok(()) => {
                sessions::ingest_sessions(
                    source,
                    messages,
                    &batch,
                    options,
                    &mut report,
                    progress,
                )?;
            }
            Err(error) => report
                .skipped
                .extend(sessions::skipped_sessions(source, &error)),
        }
    }
    // Names of files, conversations and duplicates are those of the source.
    for file in report.skipped.iter_mut().chain(&mut report.warnings) {
        redact_text(&mut file.path);
        redact_text(&mut file.reason);
    }
    Ok(report)
}

/// Replaces credentials in a text.
fn redact_text(text: &mut String) {
    if let Some(redacted) = secret::redact(text) {
        *text = redacted.text;
    }
}

/// Changes that are written in one operation.
struct IngestBatch<'a> {
    services: &'a Services,
    /// The operation that the changes belong to.
    operation: ChangeSet,
    changes: Vec<Change>,
    /// The path of the note of each change.
    paths: Vec<String>,
    bytes: usize,
    dry_run: bool,
}

impl IngestBatch<'_> {
    fn push(
        &mut self,
        change: Change,
        path: &str,
        report: &mut IngestReport,
    ) -> Result<(), StoreError> {
        if let Change::Create { memory, .. } | Change::Replace { memory, .. } = &change {
            self.bytes += memory.content.len();
        }
        self.changes.push(change);
        self.paths.push(path.to_owned());
        if BATCH <= self.paths.len() || BATCH_BYTES <= self.bytes {
            self.flush(report)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self, report: &mut IngestReport) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.changes);
        let mut paths = std::mem::take(&mut self.paths);
        let reasons = std::mem::take(&mut self.operation.reasons);
        let front_matter = std::mem::take(&mut self.operation.front_matter);
        let operation = ChangeSet {
            reasons,
            front_matter,
            ..self.operation.clone()
        };
        self.bytes = 0;
        let mut kinds: Vec<_> = changes.iter().map(ChangeKind::of).collect();
        // Credentials were already redacted while the changes were computed.
        let units = changes.into_iter().map(|change| vec![change]).collect();
        let refused = if self.dry_run {
            Vec::new()
        } else {
            commit_units(self.services, &operation, units)?
        };
        for RefusedUnit { unit, error } in refused.into_iter().rev() {
            kinds.remove(unit);
            report.skipped.push(SkippedFile {
                path: paths.remove(unit),
                reason: error.to_string(),
            });
        }
        for kind in kinds {
            match kind {
                ChangeKind::New => report.new += 1,
                ChangeKind::Updated => report.updated += 1,
                ChangeKind::Deleted => report.deleted += 1,
            }
        }
        Ok(())
    }
}

/// The kind of a change, as the report counts it.
#[derive(Debug, Clone, Copy)]
enum ChangeKind {
    New,
    Updated,
    Deleted,
}

impl ChangeKind {
    fn of(change: &Change) -> Self {
        match change {
            Change::Create { .. } => Self::New,
            Change::Remove { .. } => Self::Deleted,
            Change::Replace { .. } => Self::Updated,
        }
    }
}

#[cfg(test)]
mod tests;
