//! The JSON of ingest and import reports.

use memory_core::instance::history::SessionImportReport;
use memory_core::{ImportSummary, IngestReport, LinkCounts, SkippedFile};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct IngestShape<'a> {
    source: &'a str,
    new: u64,
    updated: u64,
    unchanged: u64,
    skipped: Vec<SkippedShape<'a>>,
    warnings: Vec<SkippedShape<'a>>,
    tags: u64,
    links: LinkCountsShape,
    sessions: SessionCountsShape,
    facts: u64,
    missing: Vec<MissingShape<'a>>,
    deleted: u64,
}

#[derive(Serialize)]
struct SessionCountsShape {
    new: u64,
    updated: u64,
    unchanged: u64,
    records: u64,
}

#[derive(Serialize)]
struct MissingShape<'a> {
    id: String,
    path: &'a str,
    title: Option<&'a str>,
    edited: bool,
}

#[derive(Serialize)]
struct SkippedShape<'a> {
    path: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct LinkCountsShape {
    resolved: u64,
    unresolved: u64,
    only_by_alias: u64,
    only_by_title: u64,
    stored: u64,
}

#[derive(Serialize)]
struct ImportedShape<'a> {
    new: u64,
    updated: u64,
    unchanged: u64,
    skipped: Vec<SkippedShape<'a>>,
}

/// Returns the JSON of an ingest from `source`.
///
/// It has the number of new, updated and unchanged notes, the skipped ones (`[{path, reason}]`), notes with `warnings`
/// (same shape), the number of distinct tags, and the links: `{resolved, unresolved, only_by_alias, only_by_title, stored}`, of
/// which `only_by_alias` and `only_by_title` are part of `unresolved`, and `stored` counts the pairs of linked memories. `sessions` counts the conversations and their written records, `facts` those that a model drew from them, `missing`
/// (`[{id, path, title, edited}]`) lists the memories of notes that the source no longer contains, and `deleted` counts those of
/// them that moved to the trash.
pub fn ingest_report(source: &str, report: &IngestReport) -> Value {
    let IngestReport {
        new,
        updated,
        unchanged,
        skipped,
        warnings,
        tags,
        links,
        sessions,
        facts,
        missing,
        deleted,
    } = report;
    let missing = missing.iter().map(|note| MissingShape {
        id: note.id.to_string(),
        path: &note.path,
        title: note.title.as_deref(),
        edited: note.is_edited,
    });
    let LinkCounts {
        stored,
        resolved,
        unresolved,
        only_by_alias,
        only_by_title,
    } = *links;
    value(&IngestShape {
        source,
        new: *new,
        updated: *updated,
        unchanged: *unchanged,
        skipped: skipped_shapes(skipped),
        warnings: skipped_shapes(warnings),
        tags: *tags,
        links: LinkCountsShape {
            resolved,
            unresolved,
            only_by_alias,
            only_by_title,
            stored,
        },
        sessions: SessionCountsShape {
            new: sessions.new,
            updated: sessions.updated,
            unchanged: sessions.unchanged,
            records: sessions.records,
        },
        facts: *facts,
        missing: missing.collect(),
        deleted: *deleted,
    })
}

/// Returns the JSON of an import: `{new, updated, unchanged, skipped: [{path, reason}]}`.
///
/// `path` is the position in the export, such as `line 12`.
pub fn import_report(report: &ImportSummary) -> Value {
    let ImportSummary {
        new,
        updated,
        unchanged,
        skipped,
    } = report;
    value(&ImportedShape {
        new: *new,
        updated: *updated,
        unchanged: *unchanged,
        skipped: skipped_shapes(skipped),
    })
}

#[derive(Serialize)]
struct ImportedSessionsShape<'a> {
    new: u64,
    unchanged: u64,
    records: u64,
    skipped: Vec<SkippedShape<'a>>,
}

/// Returns the JSON of an import of sessions: `{new, unchanged, records, skipped: [{path, reason}]}`.
///
/// `path` is the position in the export, such as `line 12`.
pub fn session_import_report(report: &SessionImportReport) -> Value {
    let SessionImportReport {
        new,
        unchanged,
        records,
        skipped,
    } = report;
    value(&ImportedSessionsShape {
        new: *new,
        unchanged: *unchanged,
        records: *records,
        skipped: skipped_shapes(skipped),
    })
}

fn skipped_shapes(all: &[SkippedFile]) -> Vec<SkippedShape<'_>> {
    all.iter()
        .map(|SkippedFile { path, reason }| SkippedShape { path, reason })
        .collect()
}
