//! The `memory import` command.

mod report;
mod selection;

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::{IngestOptions, IngestReport};
use memory_ingest::{SourceName, SourceOptions};
use serde_json::json;

use super::config::store_setting;
use crate::app::App;
use crate::args::{self, SourceSelection};
use crate::config::{Settings, SourceLocation};
use crate::failure::Failure;
use crate::ingestion::{INDEXING_SESSIONS, Ingestion};
use crate::instances::DEFAULT;

/// The options of `memory import` for the files of other programs.
#[derive(Debug, Args)]
pub(super) struct IngestArgs {
    /// Program to import from, or all
    #[arg(long, value_parser = args::sources_parser(), value_name = "NAME")]
    source: Option<SourceSelection>,
    /// Folder or file of the source, if not the default
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Let the daemon import later changes of the source; the path becomes a setting
    #[arg(long, requires = "source", conflicts_with = "dry_run")]
    watch: bool,
    #[command(flatten)]
    pub(super) options: IngestOptionArgs,
}

/// The options of an ingestion, of one source or of several.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct IngestOptionArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Move the memories of notes that the source no longer contains to the trash
    #[arg(long)]
    delete_missing: bool,
    /// Trust the files as your own: what they state about project, author, scope, pin and reminder counts, and so do edits of an export
    #[arg(long)]
    trust: bool,
    /// History instance for conversations and sessions
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    instance: String,
    /// Let the language model draw facts from conversations, within its budget; each becomes a memory in the inbox
    #[arg(long)]
    extract: bool,
    /// Key or column of a memory's field, for jsonl and csv: content, title, tags, category, created, updated, id, project,
    /// source, author or expires
    #[arg(long = "map", value_name = "FIELD=KEY", value_parser = parse_mapping)]
    fields: Vec<(String, String)>,
}

fn parse_mapping(text: &str) -> Result<(String, String), String> {
    let (field, key) = text
        .split_once('=')
        .ok_or("expected FIELD=KEY, such as content=text")?;
    Ok((field.trim().to_owned(), key.trim().to_owned()))
}

/// The label of the progress bar.
const INGESTING: &str = "ingesting";

/// The note about a run without writes.
pub(super) const DRY_RUN: &str = "dry run: nothing was written";

/// The reason for skipping a source without files.
const ABSENT: &str = "it does not exist";

/// Files that were not read, and the reason.
pub(crate) struct SkippedSource {
    /// The source of the files, if it is known.
    pub(crate) source: Option<SourceName>,
    pub(crate) path: String,
    pub(crate) reason: String,
}

impl IngestArgs {
    /// Returns whether a source or its files are named.
    pub(super) fn names_source(&self) -> bool {
        self.source.is_some() || self.path.is_some()
    }

    /// Ingests the source, from the files at `path` if it is given.
    pub(super) fn run(&self, path: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let path = path.or(self.path.as_deref());
        match self.source {
            Some(SourceSelection::One(source)) => self.ingest_one(source, path, &settings, app),
            _ if path.is_some() => Err(Failure::usage(
                "--path requires a single source",
                "specify the source, or let `memory import PATH` detect it",
            )),
            Some(SourceSelection::All) if self.watch => Err(Failure::usage(
                "--watch requires a single source",
                "specify the source: --source obsidian --watch",
            )),
            Some(SourceSelection::All) => self.ingest_all(&settings.places, app),
            None => match selection::select(&settings.places, &self.options, app)? {
                Some(places) => self.ingest_all(&places, app),
                None => Ok(()),
            },
        }
    }

    fn ingest_one(
        &self,
        source: SourceName,
        path: Option<&Path>,
        settings: &Settings,
        app: &mut App,
    ) -> Result<(), Failure> {
        let configured = || {
            settings
                .places
                .iter()
                .find(|place| place.source == source)
                .map(|place| place.path.value.clone())
        };
        let path = path
            .map(|path| app.environment.absolute_path(path))
            .or_else(configured)
            .ok_or_else(|| {
                let problem = format!("{source} has no default folder");
                Failure::usage(
                    problem,
                    format!("specify the files: --source {source} --path PATH"),
                )
            })?;
        if self.watch && settings.places.iter().all(|place| place.source != source) {
            let problem = format!("{source} cannot be watched: its files are exports");
            return Err(Failure::usage(
                problem,
                "import the next export with the same command",
            ));
        }
        self.options.ingest_path(source, &path, app)?;
        if self.watch {
            watch(source, &path, settings, app)
        } else {
            Ok(())
        }
    }

    fn ingest_all(&self, places: &[SourceLocation], app: &mut App) -> Result<(), Failure> {
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        for SourceLocation {
            source,
            path,
            enabled,
            ..
        } in places
        {
            let reason = if !enabled.value {
                "it is disabled"
            } else if !path.value.exists() {
                ABSENT
            } else {
                found.push((*source, path.value.clone()));
                continue;
            };
            left_out.push(SkippedSource {
                source: Some(*source),
                path: app.output.display_path(&path.value),
                reason: reason.to_owned(),
            });
        }
        self.options.ingest_paths(&found, left_out, app)
    }
}

/// Stores the settings by which the daemon ingests later changes of a source.
fn watch(
    source: SourceName,
    path: &Path,
    settings: &Settings,
    app: &mut App,
) -> Result<(), Failure> {
    if settings
        .places
        .iter()
        .any(|place| place.source == source && place.path.value != path)
    {
        store_setting(
            &format!("ingestion.{source}.path"),
            &path.display().to_string(),
            app,
        )?;
    }
    store_setting(&format!("ingestion.{source}.watch"), "true", app)?;
    app.output.note(&format!(
        "the daemon ingests later changes from its next start on; `memory config set ingestion.{source}.watch false` stops it"
    ))
}

impl IngestOptionArgs {
    /// Checks that no option is given that has a meaning for files of other programs only.
    pub(super) fn check_own_export(&self) -> Result<(), Failure> {
        if !self.delete_missing && !self.extract && self.fields.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(
            "--delete-missing, --extract and --map require files of another program",
            "import an export of this program without them",
        ))
    }

    /// Returns whether the changes are shown without being made.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the history instance for conversations.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// Returns the source of a file with named keys or columns, whose format no program has as its own.
    pub(super) fn mapped_source(&self, path: &Path) -> Option<SourceName> {
        (!self.fields.is_empty()).then(|| SourceName::of_records(path).unwrap_or(SourceName::Jsonl))
    }

    fn open(&self, app: &mut App) -> Result<Ingestion, Failure> {
        let settings = app.settings()?;
        let ingestion =
            Ingestion::open(&app.open()?.services, &self.instance, &settings)?.trusting(self.trust);
        if self.extract {
            ingestion.with_extraction(&settings)
        } else {
            Ok(ingestion)
        }
    }

    fn run(
        &self,
        action: &'static str,
        ingestion: &Ingestion,
        (source, path): (SourceName, &Path),
        app: &App,
    ) -> Result<IngestReport, Failure> {
        let options = IngestOptions {
            dry_run: self.dry_run,
            delete_missing: self.delete_missing,
            ..IngestOptions::default()
        };
        let mut bar = app.output.progress_bar(action);
        let source_options = SourceOptions {
            fields: self.fields.clone(),
        };
        let report = ingestion.run((source, path), &source_options, &options, &mut |progress| {
            bar.show(progress);
        })?;
        if !self.dry_run {
            drop(bar);
            let mut bar = app.output.progress_bar("embedding");
            // The notes are stored. Vectors are derived, and each search says how many are missing.
            let _ = ingestion.embed(&mut |progress| bar.show(progress));
            drop(bar);
            let mut bar = app.output.progress_bar(INDEXING_SESSIONS);
            // The sessions are stored, and a search indexes those that are not indexed yet.
            let _ = ingestion.index_sessions(&mut |progress| bar.show(progress));
        }
        Ok(report)
    }

    /// Ingests the files of `source` at `path`, and prints the report.
    pub(super) fn ingest_path(
        &self,
        source: SourceName,
        path: &Path,
        app: &mut App,
    ) -> Result<(), Failure> {
        let ingestion = self.open(app)?;
        let report = self.run(INGESTING, &ingestion, (source, path), app)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json::ingest_report(source.as_str(), &report));
        }
        report::print(&[(source, report)], &[], self, app)
    }

    /// Ingests the files of several sources, and prints the reports. `left_out` are files that are not read.
    pub(super) fn ingest_paths(
        &self,
        found: &[(SourceName, PathBuf)],
        mut left_out: Vec<SkippedSource>,
        app: &mut App,
    ) -> Result<(), Failure> {
        let ingestion = self.open(app)?;
        let mut taken = Vec::new();
        for (source, path) in found {
            match self.run(INGESTING, &ingestion, (*source, path), app) {
                Ok(report) => taken.push((*source, report)),
                // An unreadable source does not prevent the ingestion of the others.
                Err(Failure::Source(error)) => left_out.push(SkippedSource {
                    source: Some(*source),
                    path: app.output.display_path(path),
                    reason: error.to_string(),
                }),
                Err(failure) => return Err(failure),
            }
        }
        if app.output.is_json() {
            let sources: Vec<_> = taken
                .iter()
                .map(|(source, report)| json::ingest_report(source.as_str(), report))
                .collect();
            let shape = |SkippedSource {
                             source,
                             path,
                             reason,
                         }: &SkippedSource| {
                let source = source.map(SourceName::as_str);
                json!({ "source": source, "path": path, "reason": reason })
            };
            let left_out: Vec<_> = left_out.iter().map(shape).collect();
            return app
                .output
                .json(&json!({ "sources": sources, "left_out": left_out }));
        }
        report::print(&taken, &left_out, self, app)
    }
}
