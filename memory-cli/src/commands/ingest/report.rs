//! The report of an ingestion for people.

use memory_core::{IngestReport, SessionCounts, SkippedFile};
use memory_ingest::SourceName;

use super::{ABSENT, DRY_RUN, IngestOptionArgs, SkippedSource};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::DEFAULT;
use crate::print::Table;

/// Maximum number of files that are printed for a source.
const MAX_FILES: usize = 20;

/// Prints the reports of sources, and the sources that were left out.
pub(super) fn print(
    taken: &[(SourceName, IngestReport)],
    left_out: &[SkippedSource],
    options: &IngestOptionArgs,
    app: &mut App,
) -> Result<(), Failure> {
    let has_notes = |report: &IngestReport| {
        0 < report.new + report.updated + report.unchanged + report.skipped.len() as u64
    };
    let of_conversations =
        |report: &IngestReport| report.sessions != SessionCounts::default() && !has_notes(report);
    let (conversations, notes): (Vec<_>, Vec<_>) = taken
        .iter()
        .partition(|(_, report)| of_conversations(report));
    if !notes.is_empty() || conversations.is_empty() {
        app.output.table(&note_table(&notes))?;
    }
    if taken
        .iter()
        .any(|(_, report)| report.sessions != SessionCounts::default() || report.facts != 0)
    {
        app.output.table(&session_table(taken))?;
    }
    for (source, report) in taken {
        let followed = report.links.only_by_alias + report.links.only_by_title;
        if followed != 0 {
            app.output.note(&format!(
                "dead links resolved by alias or title: {followed}"
            ))?;
        }
        print_files("skipped", &report.skipped, app)?;
        print_files("ingested with a warning", &report.warnings, app)?;
        print_missing(*source, report, options, app)?;
    }
    print_next_step(taken, options, app)?;
    let (absent, failed): (Vec<_>, Vec<_>) =
        left_out.iter().partition(|source| source.reason == ABSENT);
    let more = failed.len().saturating_sub(MAX_FILES);
    for SkippedSource {
        source,
        path,
        reason,
    } in failed.into_iter().take(MAX_FILES)
    {
        app.output.note(&match source {
            Some(source) => format!("skipped {source} ({path}): {reason}"),
            None => format!("skipped {path}: {reason}"),
        })?;
    }
    if more != 0 {
        app.output
            .note(&format!("skipped {more} more; use --json to list them all"))?;
    }
    if !absent.is_empty() {
        let names: Vec<_> = absent
            .iter()
            .filter_map(|source| Some(source.source?.as_str()))
            .collect();
        app.output
            .note(&format!("not found: {}", names.join(", ")))?;
    }
    if options.dry_run {
        app.output.note(DRY_RUN)?;
    }
    Ok(())
}

fn note_table(taken: &[&(SourceName, IngestReport)]) -> Table {
    let numbers = [
        "new",
        "updated",
        "unchanged",
        "skipped",
        "tags",
        "links",
        "dead links",
    ];
    let mut table = Table::of_numbers("source", &numbers);
    for (source, report) in taken {
        let numbers = [
            report.new,
            report.updated,
            report.unchanged,
            report.skipped.len() as u64,
            report.tags,
            report.links.stored,
            report.links.unresolved,
        ];
        table.push_numbers(source.as_str(), &numbers);
    }
    table
}

fn session_table(taken: &[(SourceName, IngestReport)]) -> Table {
    let numbers = ["new", "updated", "unchanged", "messages", "facts"];
    let mut table = Table::of_numbers("conversations of", &numbers);
    for (source, report) in taken {
        let sessions = &report.sessions;
        let numbers = [
            sessions.new,
            sessions.updated,
            sessions.unchanged,
            sessions.records,
            report.facts,
        ];
        table.push_numbers(source.as_str(), &numbers);
    }
    table
}

fn print_files(label: &str, files: &[SkippedFile], app: &mut App) -> Result<(), Failure> {
    let line = |SkippedFile { path, reason }: &SkippedFile| format!("{label}: {path}: {reason}");
    print_first(label, &files.iter().map(line).collect::<Vec<_>>(), app)
}

/// Prints the first lines, and how many more there are.
fn print_first(label: &str, lines: &[String], app: &mut App) -> Result<(), Failure> {
    for line in lines.iter().take(MAX_FILES) {
        app.output.note(line)?;
    }
    let more = lines.len().saturating_sub(MAX_FILES);
    if more == 0 {
        return Ok(());
    }
    app.output.note(&format!(
        "{label}: {more} more; use --json to list them all"
    ))
}

/// Prints how new conversations are found.
fn print_next_step(
    taken: &[(SourceName, IngestReport)],
    options: &IngestOptionArgs,
    app: &mut App,
) -> Result<(), Failure> {
    let count =
        |(_, report): &(SourceName, IngestReport)| report.sessions.new + report.sessions.updated;
    if options.dry_run || options.extract || taken.iter().map(count).sum::<u64>() == 0 {
        return Ok(());
    }
    let instance = if options.instance == DEFAULT {
        "history".to_owned()
    } else {
        format!("history/{}", options.instance)
    };
    app.output.note(&format!(
        "`memory instance run {instance} sessions` lists the conversations; the same command with --extract draws facts from them, which requires a language model"
    ))
}

fn print_missing(
    source: SourceName,
    report: &IngestReport,
    options: &IngestOptionArgs,
    app: &mut App,
) -> Result<(), Failure> {
    if report.missing.is_empty() {
        return Ok(());
    }
    let verb = if report.deleted == 0 {
        "no longer in the source"
    } else {
        "deleted, since it is no longer in the source"
    };
    let lines = report.missing.iter().map(|note| {
        let title = note.title.as_deref().unwrap_or(&note.path);
        format!("{verb}: {} {title}", note.id.short())
    });
    print_first(verb, &lines.collect::<Vec<_>>(), app)?;
    if report.deleted == 0 && !options.dry_run {
        app.output.note(&format!(
            "their memories are retained; `memory import --source {source} --delete-missing` moves them to the trash"
        ))?;
    }
    Ok(())
}
