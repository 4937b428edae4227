//! Taking in notes from other programs.

mod ahead;
mod mark;
mod plan;
mod survey;

use crate::commit::{Refused, commit_units};
use crate::{Change, Finding, Operation, Services, Source, StoreError, Verb};

use ahead::each_finding;
use plan::{Decision, Plan};
use survey::Survey;

/// How many memories are written with one sync, and how many bytes of text.
const BATCH: usize = 2_000;
const BATCH_BYTES: usize = 16 << 20;

/// What was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// Notes that became memories.
    pub new: u64,
    /// Notes whose memories were changed because the note had changed.
    pub updated: u64,
    /// Notes that are kept already.
    pub unchanged: u64,
    /// Files that were not taken.
    pub skipped: Vec<Skipped>,
    /// Notes that were taken though something about them could not be understood or kept.
    pub warnings: Vec<Skipped>,
    /// Different tags; case does not matter.
    pub tags: u64,
    /// Links between the notes.
    pub links: LinkCounts,
}

/// A file and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why it was not taken, or what could not be understood.
    pub reason: String,
}

/// How many links between notes lead somewhere, by the rules of the program the notes come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Links that lead to a note or an attachment.
    pub resolved: u64,
    /// Links that lead nowhere.
    pub unresolved: u64,
    /// Those of the unresolved ones that an alias answers to; we follow them.
    pub only_by_alias: u64,
    /// Those of the unresolved ones that a title answers to; we follow them.
    pub only_by_title: u64,
}

/// How far a long piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many things are done.
    pub done: u64,
    /// How many there are, once that is known.
    pub total: Option<u64>,
}

/// Takes in everything that `source` finds, as memories of the inbox, with the links between them.
///
/// Notes are known by their origin: one that has not changed is left alone, one that has changed updates its memory, one
/// that was moved takes its memory along. A note whose memory was changed as well is skipped, so that neither side is
/// lost. A note with the text of a memory that came from elsewhere is not taken twice, and equal files of one source are one
/// memory, which knows all of them. Tags, aliases and links are only
/// ever added to a memory. Credentials are redacted. With `dry_run`, the report says what would happen and nothing is
/// written.
///
/// # Errors
/// Whatever the store says; what cannot be read at the source is in the report instead.
pub fn ingest(
    services: &Services,
    source: &dyn Source,
    dry_run: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<IngestReport, StoreError> {
    services.store.refresh()?;
    let mut report = IngestReport::default();
    let mut survey = Survey::of(services, source, &mut report, progress)?;
    let links = survey.follow(&mut report.links);
    let total = survey.len() as u64;
    let mut batch = Batch {
        services,
        operation: services.operation(Verb::Ingest),
        changes: Vec::new(),
        paths: Vec::new(),
        bytes: 0,
        dry_run,
    };
    let mut done = 0;
    let at = batch.operation.at;
    let think = |finding| {
        let Finding::Note { draft, front_matter, .. } = finding else { return None };
        // What came since the first look waits for the next time.
        let (path, index) = draft.origin.as_ref().and_then(|origin| survey.find(&origin.path))?;
        Some((path, Plan { note: survey.note(index), links: &links[index], at }.think(draft, front_matter)))
    };
    each_finding(source, &think, &mut |thought| {
        let Some((path, thought)) = thought else { return Ok(()) };
        match thought.decide(services)? {
            Decision::Leave => report.unchanged += 1,
            Decision::Skip(reason) => report.skipped.push(Skipped { path: path.to_owned(), reason }),
            Decision::Do { change, warnings } => {
                report.warnings.extend(warnings.into_iter().map(|reason| Skipped { path: path.to_owned(), reason }));
                batch.push(change, path, &mut report)?;
            }
        }
        done += 1;
        progress(Progress { done, total: Some(total) });
        Ok(())
    })?;
    batch.flush(&mut report)?;
    Ok(report)
}

/// Changes that are written with one sync.
struct Batch<'a> {
    services: &'a Services,
    /// What they are all part of.
    operation: Operation,
    changes: Vec<Change>,
    /// The note that each change is about.
    paths: Vec<String>,
    bytes: usize,
    dry_run: bool,
}

impl Batch<'_> {
    fn push(&mut self, change: Change, path: &str, report: &mut IngestReport) -> Result<(), StoreError> {
        if let Change::Create { memory, .. } | Change::Replace { memory, .. } = &change {
            self.bytes += memory.content.len();
        }
        self.changes.push(change);
        self.paths.push(path.to_owned());
        if BATCH <= self.paths.len() || BATCH_BYTES <= self.bytes { self.flush(report) } else { Ok(()) }
    }

    fn flush(&mut self, report: &mut IngestReport) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.changes);
        let mut paths = std::mem::take(&mut self.paths);
        self.bytes = 0;
        let mut is_new: Vec<bool> = changes.iter().map(|change| matches!(change, Change::Create { .. })).collect();
        // Credentials were redacted when the changes were thought out.
        let units = changes.into_iter().map(|change| vec![change]).collect();
        let refused = if self.dry_run { Vec::new() } else { commit_units(self.services, &self.operation, units)? };
        for Refused { unit, error } in refused.into_iter().rev() {
            is_new.remove(unit);
            report.skipped.push(Skipped { path: paths.remove(unit), reason: error.to_string() });
        }
        let new = is_new.iter().filter(|is_new| **is_new).count() as u64;
        report.new += new;
        report.updated += is_new.len() as u64 - new;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
