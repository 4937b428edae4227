//! The `memory ingest` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::{IngestReport, Services, SkippedFile};
use memory_ingest::{SourceName, SourceOptions};
use serde_json::json;

use crate::app::App;
use crate::args::{self, SourceSelection};
use crate::config::{Settings, SourceLocation};
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// Ingest notes from other programs
///
/// Notes become memories in the inbox, with their tags, aliases and links. A second run changes nothing; a changed note
/// updates its memory. Credentials are redacted. `all` ingests every source whose folder exists; the folders can be set in
/// config.yaml.
///
/// JSON: {source, new, updated, unchanged, skipped: [{path, reason}], warnings: [{path, reason}], tags, links: {resolved,
/// unresolved, only_by_alias, only_by_title}}; for `all`: {sources: [these…], left_out: [{source, path, reason}]}
#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Program to ingest from, or all
    #[arg(long, value_parser = args::sources_parser(), value_name = "NAME")]
    source: SourceSelection,
    /// Folder of the notes, if not the default
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// A source that `--source all` did not read, and the reason.
struct SkippedSource {
    source: SourceName,
    path: String,
    reason: String,
}

impl IngestArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        match self.source {
            SourceSelection::One(source) => self.ingest_one(source, &settings, app),
            SourceSelection::All if self.path.is_some() => {
                Err(Failure::usage("--path requires a single source", "specify the source: --source obsidian --path …"))
            }
            SourceSelection::All => self.ingest_all(&settings, app),
        }
    }

    fn ingest_one(&self, source: SourceName, settings: &Settings, app: &mut App) -> Result<(), Failure> {
        let services = app.open()?.services;
        let configured = || settings.places.iter().find(|place| place.source == source).map(|place| place.path.value.clone());
        let path = self.path.as_deref().map(|path| app.environment.absolute_path(path)).or_else(configured).unwrap_or_default();
        let report = self.ingest_source(source, &path, &services, app)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::ingest_report(source.as_str(), &report))?);
        }
        self.show(&[(source, report)], &[], app)
    }

    fn ingest_all(&self, settings: &Settings, app: &mut App) -> Result<(), Failure> {
        let services = app.open()?.services;
        let (mut taken, mut left_out) = (Vec::new(), Vec::new());
        for SourceLocation { source, path, enabled } in &settings.places {
            let reason = if !enabled.value {
                "it is disabled".to_owned()
            } else if !path.value.exists() {
                "it does not exist".to_owned()
            } else {
                match self.ingest_source(*source, &path.value, &services, app) {
                    Ok(report) => {
                        taken.push((*source, report));
                        continue;
                    }
                    // An unreadable source does not prevent the ingestion of the others.
                    Err(Failure::Source(error)) => error.to_string(),
                    Err(failure) => return Err(failure),
                }
            };
            left_out.push(SkippedSource { source: *source, path: app.output.display_path(&path.value), reason });
        }
        if app.output.is_json() {
            let sources: Vec<_> = taken.iter().map(|(source, report)| json::ingest_report(source.as_str(), report)).collect();
            let shape = |SkippedSource { source, path, reason }: &SkippedSource| json!({ "source": source.as_str(), "path": path, "reason": reason });
            let left_out: Vec<_> = left_out.iter().map(shape).collect();
            return Ok(app.output.json(&json!({ "sources": sources, "left_out": left_out }))?);
        }
        self.show(&taken, &left_out, app)
    }

    fn ingest_source(&self, source: SourceName, path: &Path, services: &Services, app: &App) -> Result<IngestReport, Failure> {
        let source = memory_ingest::open(source, path, &SourceOptions::default())?;
        let mut bar = app.output.progress_bar("ingesting");
        Ok(memory_core::ingest(services, source.as_ref(), self.dry_run, &mut |progress| bar.show(progress))?)
    }

    fn show(&self, taken: &[(SourceName, IngestReport)], left_out: &[SkippedSource], app: &mut App) -> Result<(), Failure> {
        let numbers = ["new", "updated", "unchanged", "skipped", "tags", "links", "dead links"].map(TableColumn::Number);
        let mut table = Table::new([&[TableColumn::Text("source")][..], &numbers[..]].concat());
        for (source, report) in taken {
            let skipped = report.skipped.len() as u64;
            let IngestReport { new, updated, unchanged, tags, links, .. } = report;
            let [new, updated, unchanged, skipped, tags, resolved, dead] =
                [*new, *updated, *unchanged, skipped, *tags, links.resolved, links.unresolved].map(|count| count.to_string());
            table.push([source.as_str(), &new, &updated, &unchanged, &skipped, &tags, &resolved, &dead]);
        }
        app.output.table(&table)?;
        for (_, report) in taken {
            let followed = report.links.only_by_alias + report.links.only_by_title;
            if followed != 0 {
                app.output.note(&format!("dead links resolved by alias or title: {followed}"))?;
            }
            print_files("skipped", &report.skipped, app)?;
            print_files("ingested with a warning", &report.warnings, app)?;
        }
        for SkippedSource { source, path, reason } in left_out {
            app.output.note(&format!("skipped {source} ({path}): {reason}"))?;
        }
        if self.dry_run {
            app.output.note("dry run: nothing was written")?;
        }
        Ok(())
    }
}

/// Maximum number of files that are printed for a source.
const MAX_FILES: usize = 20;

fn print_files(what: &str, files: &[SkippedFile], app: &mut App) -> Result<(), Failure> {
    for SkippedFile { path, reason } in files.iter().take(MAX_FILES) {
        app.output.note(&format!("{what}: {path}: {reason}"))?;
    }
    if MAX_FILES < files.len() {
        app.output.note(&format!("{what}: {} more; use --json to list them all", files.len() - MAX_FILES))?;
    }
    Ok(())
}
