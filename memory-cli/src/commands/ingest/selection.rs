//! The selection among the sources on this machine.

use std::io;

use memory_core::IngestReport;

use super::IngestOptionArgs;
use crate::app::App;
use crate::config::SourceLocation;
use crate::failure::Failure;
use crate::print::{Table, TableColumn, counted, select_several};

/// A source on this machine, with the outcome of its ingestion.
struct FoundSource {
    place: SourceLocation,
    report: IngestReport,
}

/// Lists the sources that exist with their counts, and returns the ones that the user selects.
///
/// Returns `None` if there is nothing to ingest, or if no user can be asked.
pub(super) fn select(
    places: &[SourceLocation],
    options: &IngestOptionArgs,
    app: &mut App,
) -> Result<Option<Vec<SourceLocation>>, Failure> {
    let found = survey(places, options, app)?;
    if found.is_empty() {
        app.output.note(
            "no data of a known program was found; `memory import PATH` imports a file or folder",
        )?;
        return Ok(None);
    }
    let can_ask = app.output.can_ask() && !options.dry_run;
    if !can_ask {
        app.output.table(&table(&found, app))?;
        app.output.note(
            "`memory import --source NAME` ingests one of them, `memory import --source all` all",
        )?;
        return Ok(None);
    }
    let chosen = ask(&found, app).map_err(Failure::file("read the selection"))?;
    if chosen.is_empty() {
        app.output
            .note("nothing was selected; nothing was written")?;
        return Ok(None);
    }
    let chosen = found
        .into_iter()
        .enumerate()
        .filter(|(index, _)| chosen.contains(index));
    // A source that is selected is ingested even if the settings disable it.
    Ok(Some(
        chosen
            .map(|(_, mut found)| {
                found.place.enabled.value = true;
                found.place
            })
            .collect(),
    ))
}

/// Returns the indexes of the sources that the user selects; none if the user leaves.
fn ask(found: &[FoundSource], app: &App) -> io::Result<Vec<usize>> {
    let width = found
        .iter()
        .map(|found| found.place.source.as_str().len())
        .max()
        .unwrap_or_default();
    let items: Vec<_> = found
        .iter()
        .map(|found| (label(found, width, app), found.place.enabled.value))
        .collect();
    Ok(select_several("Sources to import", &items)?.unwrap_or_default())
}

/// Determines the outcome of an ingestion of each source that exists and contains something.
fn survey(
    places: &[SourceLocation],
    options: &IngestOptionArgs,
    app: &mut App,
) -> Result<Vec<FoundSource>, Failure> {
    let ingestion = options.open(app)?;
    let dry = IngestOptionArgs {
        dry_run: true,
        delete_missing: false,
        ..options.clone()
    };
    let mut found = Vec::new();
    for place in places.iter().filter(|place| place.path.value.exists()) {
        match dry.run(
            "counting",
            &ingestion,
            (place.source, &place.path.value),
            app,
        ) {
            Ok(report) if 0 < count_notes(&report) + count_sessions(&report) => {
                found.push(FoundSource {
                    place: place.clone(),
                    report,
                });
            }
            Ok(_) => {}
            Err(Failure::Source(error)) => app
                .output
                .note(&format!("skipped {}: {error}", place.source))?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

fn count_notes(report: &IngestReport) -> u64 {
    report.new + report.updated + report.unchanged
}

fn count_sessions(report: &IngestReport) -> u64 {
    report.sessions.new + report.sessions.updated + report.sessions.unchanged
}

fn table(found: &[FoundSource], app: &App) -> Table {
    let numbers = ["notes", "conversations", "new"].map(TableColumn::Number);
    let columns = [
        &[TableColumn::Text("source")][..],
        &numbers[..],
        &[TableColumn::Text("path")][..],
    ]
    .concat();
    let mut table = Table::new(columns);
    for FoundSource { place, report } in found {
        let path = app.output.display_path(&place.path.value);
        let counts = [
            count_notes(report),
            count_sessions(report),
            report.new + report.sessions.new,
        ]
        .map(|count| count.to_string());
        table.push([
            place.source.as_str(),
            &counts[0],
            &counts[1],
            &counts[2],
            &path,
        ]);
    }
    table
}

fn label(found: &FoundSource, width: usize, app: &App) -> String {
    let FoundSource { place, report } = found;
    let counts = [
        (count_notes(report), "note"),
        (count_sessions(report), "conversation"),
    ];
    let counts = counts
        .iter()
        .filter(|(count, _)| *count != 0)
        .map(|(count, noun)| counted(*count, noun));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let new = report.new + report.sessions.new;
    format!(
        "{:width$}  {}  {counts}, {new} new",
        place.source,
        app.output.display_path(&place.path.value)
    )
}
