//! The `memory export` command.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chrono::SecondsFormat;
use clap::Args;
use memory_agent::json;
use memory_core::{
    Category, FileVersion, Filter, Lifetime, MemoryId, StoreError, StoredMemory, TrashedFile,
    resolve_wikilink,
};
use memory_ingest::export::{ExportCatalog, ExportFormatName, ExportPart, ExportRecord};
use serde_json::{Value, json};

use super::export_folder::ExportFolder;
use super::output_file::OutputFile;
use super::session_export;
use crate::app::App;
use crate::args::{ExportFormatSelection, FilterArgs, export_format_parser};
use crate::failure::Failure;
use crate::home::Home;
use crate::instances::DEFAULT;
use crate::shared_store::record_export;

/// Writes a memory, with its file if it contains more than the memory.
type MemoryWriter<'a> = dyn FnMut(&StoredMemory, Option<String>) -> Result<(), Failure> + 'a;

/// Export memories: as a backup of JSON lines, or in the format of another program
///
/// Expired and superseded memories are included. Unreadable files are reported, and all others are exported.
///
/// jsonl: one memory per line, oldest first. `path` is the file name, and `file` is the complete file if it contains more
/// than the memory (other keys, comments); `memory import` restores both.
///
/// okf, obsidian and basic-memory are folders of Markdown files; mem0, server-memory and html are files. `memory import`
/// with --trust restores all but html, with ids, dates and links.
///
/// --sessions: a line {"session": NAME} before the records of each session; `memory import FILE` restores them.
///
/// JSON: the memories themselves; with --output: {output, memories}, or {output, sessions}
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Format of the export
    #[arg(long, value_name = "NAME", value_parser = export_format_parser(), default_value = "jsonl")]
    format: ExportFormatSelection,
    /// Output file, replaced only when complete (`-`, or none, is the standard output), or folder, new or of a former export
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Add the former versions of each memory, newest first, as `history`; only for jsonl
    #[arg(long)]
    history: bool,
    /// Export the sessions of a history instead of memories, without filters; only for jsonl
    #[arg(long, conflicts_with = "history")]
    sessions: bool,
    /// History instance of the sessions
    #[arg(long, value_name = "NAME", default_value = DEFAULT, requires = "sessions")]
    instance: String,
    #[command(flatten)]
    filter: FilterArgs,
}

impl ExportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if self.sessions {
            if !matches!(self.format, ExportFormatSelection::JsonLines) {
                return Err(Failure::usage(
                    "--sessions requires the format jsonl",
                    "omit --sessions or --format",
                ));
            }
            let output = self
                .output
                .as_deref()
                .filter(|file| *file != Path::new("-"));
            return session_export::export(&self.instance, output, app);
        }
        let home = app.open()?;
        let output = self
            .output
            .as_deref()
            .filter(|file| *file != Path::new("-"));
        let mut export = ExportRun::new(&home, self.filter.filter(Lifetime::All, &home.now())?);
        let written = self.write(&mut export, output, app);
        for problem in &export.problems {
            app.output.warning(problem)?;
        }
        written?;
        let what = format!("{} memories", export.memories);
        app.warn_at_end(record_export(&home.settings, &what));
        if let Some(output) = output {
            if app.output.is_json() {
                app.output
                    .json(&json!({ "output": output, "memories": export.memories }))?;
            } else {
                let place = app.output.display_path(output);
                app.output.fields(&[&place, &export.memories.to_string()])?;
            }
        }
        match export.problems.len() as u64 {
            0 => Ok(()),
            count => Err(Failure::Unreadable { count }),
        }
    }

    /// Writes the export to a file or folder, or to the standard output.
    fn write(
        &self,
        export: &mut ExportRun<'_>,
        output: Option<&Path>,
        app: &mut App,
    ) -> Result<(), Failure> {
        match self.format {
            ExportFormatSelection::JsonLines => match output {
                None => export.lines(self.history, &mut |memory| app.output.json(memory))?,
                Some(output) => {
                    let mut draft = OutputFile::create(output, app)?;
                    export.lines(self.history, &mut |memory| {
                        draft.write(&format!("{memory}\n"))
                    })?;
                    draft.finish()?;
                }
            },
            ExportFormatSelection::Other(_) if self.history => {
                return Err(Failure::usage(
                    "--history requires the format jsonl",
                    "omit --history or --format",
                ));
            }
            ExportFormatSelection::Other(format) if format.is_folder() => {
                let hint =
                    format!("specify the folder: memory export --format {format} --output …");
                let output = output.ok_or_else(|| Failure::usage("a folder is required", hint))?;
                let shown = app.output.display_path(output);
                let mut folder = ExportFolder::open(output, &shown, format.as_str())?;
                export.parts(format, &mut |part| folder.write(&part.path, &part.text))?;
                folder.finish()?;
            }
            ExportFormatSelection::Other(format) => match output {
                None => export.parts(format, &mut |part| {
                    Ok(app.output.stream().write_all(part.text.as_bytes())?)
                })?,
                Some(output) => {
                    let mut draft = OutputFile::create(output, app)?;
                    export.parts(format, &mut |part| draft.write(&part.text))?;
                    draft.finish()?;
                }
            },
        }
        export.find_unread()
    }
}

/// An export in progress.
pub(crate) struct ExportRun<'a> {
    home: &'a Home,
    filter: Filter,
    /// The number of exported memories.
    pub(crate) memories: u64,
    /// The memories that could not be read.
    pub(crate) problems: Vec<String>,
}

impl<'a> ExportRun<'a> {
    /// Starts an export of the memories that match `filter`.
    pub(crate) fn new(home: &'a Home, filter: Filter) -> Self {
        Self {
            home,
            filter,
            memories: 0,
            problems: Vec::new(),
        }
    }

    /// Calls `write` with each memory as JSON, with its previous versions if `has_history`.
    pub(crate) fn lines(
        &mut self,
        has_history: bool,
        write: &mut dyn FnMut(&Value) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let home = self.home;
        let versions = if has_history {
            former_versions(home)?
        } else {
            HashMap::new()
        };
        let filter = self.filter.clone();
        self.for_each(&filter, &mut |stored, file| {
            let mut memory = json::memory_for_export(stored);
            if let Some(text) = file {
                memory["file"] = text.into();
            }
            if let Some(versions) = versions.get(&stored.memory.id) {
                memory["history"] = versions
                    .iter()
                    .filter_map(|version| former_version(version.clone(), home))
                    .collect();
            }
            write(&memory)
        })
    }

    /// Calls `write` with each part of an export in the format of another program.
    pub(crate) fn parts(
        &mut self,
        format: ExportFormatName,
        write: &mut dyn FnMut(&ExportPart) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let home = self.home;
        let mut catalog = ExportCatalog::new(format);
        let services = &home.services;
        services.store.refresh()?;
        // Unreadable files are reported when the memories are written.
        for stored in services
            .store
            .memories(&self.filter, services.clock.now())
            .flatten()
        {
            catalog.add(&stored.memory);
        }
        let mut export = format.open(catalog);
        for part in export.start() {
            write(&part)?;
        }
        let filters: Vec<Filter> = if format.is_grouped() {
            let categories = Category::ALL
                .into_iter()
                .filter(|category| self.filter.category.is_none_or(|own| own == *category));
            categories
                .map(|category| Filter {
                    category: Some(category),
                    ..self.filter.clone()
                })
                .collect()
        } else {
            vec![self.filter.clone()]
        };
        for filter in &filters {
            self.for_each(filter, &mut |stored, file| {
                let fields = json::memory_for_export(stored);
                let resolve = |target: &str| {
                    resolve_wikilink(services.store.as_ref(), target, stored)
                        .ok()
                        .flatten()
                };
                let record = ExportRecord {
                    memory: &stored.memory,
                    fields: &fields,
                    file: file.as_deref(),
                    resolve: &resolve,
                };
                export.memory(&record).iter().try_for_each(&mut *write)
            })?;
        }
        export.finish().iter().try_for_each(write)
    }

    /// Adds the files that no list of memories contains to the problems.
    pub(crate) fn find_unread(&mut self) -> Result<(), Failure> {
        let never_read = self.home.store.unreadable_files()?;
        let problems = never_read.iter().map(ToString::to_string);
        self.problems.extend(problems);
        Ok(())
    }

    /// Calls `write` with each memory that matches `filter`, and with its file if it contains more than the memory.
    fn for_each(&mut self, filter: &Filter, write: &mut MemoryWriter<'_>) -> Result<(), Failure> {
        let services = &self.home.services;
        services.store.refresh()?;
        for stored in services.store.memories(filter, services.clock.now()) {
            match stored {
                Ok(stored) => {
                    let file = self.home.store.file_with_extras(&stored)?;
                    self.memories += 1;
                    write(&stored, file)?;
                }
                Err(StoreError::Damaged(problem)) => {
                    self.problems.push(problem.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Returns the JSON of a former version of a memory, or `None` if it cannot be read.
fn former_version(version: TrashedFile, home: &Home) -> Option<Value> {
    let memory = home.services.history.memory_in_trash(&version.trash).ok()?;
    let stamp = FileVersion(memory.content_hash());
    let mut former = json::memory_for_export(&StoredMemory {
        memory,
        path: version.path,
        stamp,
        problem: None,
        other_fields: Vec::new(),
    });
    former["replaced_at"] = version
        .operation
        .at
        .to_rfc3339_opts(SecondsFormat::AutoSi, true)
        .into();
    former["replaced_by"] = version.operation.verb.as_str().into();
    Some(former)
}

/// Returns the former versions of all memories, newest first, from one pass over the trash.
fn former_versions(home: &Home) -> Result<HashMap<MemoryId, Vec<TrashedFile>>, Failure> {
    let mut versions: HashMap<MemoryId, Vec<TrashedFile>> = HashMap::new();
    for version in home.services.history.trashed() {
        let version = version?;
        versions.entry(version.id).or_default().push(version);
    }
    Ok(versions)
}
