//! The `memory export` command.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::{Filter, Lifetime, StoreError};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::app::App;
use crate::args::FilterArgs;
use crate::failure::Failure;
use crate::home::Home;

/// Export memories as JSON, one per line, oldest first
///
/// Expired and superseded memories are included. `path` is the file name, and `file` is the complete file if it contains
/// more than the memory (other keys, comments); `memory import` restores both. Unreadable files are reported, and all
/// others are exported.
///
/// JSON: the memories themselves; with --output: {output, memories}
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Output file, replaced only when complete; `-`, or none, is the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filter: FilterArgs,
}

impl ExportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let filter = self.filter.filter(Lifetime::All);
        let unreadable = match self.output.as_deref().filter(|file| *file != Path::new("-")) {
            None => export(&home, &filter, app, &mut |memory, app| Ok(app.output.json(memory)?))?,
            Some(file) => export_to_file(file, &home, &filter, app)?,
        };
        let never_read = home.store.unreadable_files()?;
        for problem in &never_read {
            app.output.warning(&problem.to_string())?;
        }
        let unreadable = unreadable + never_read.len() as u64;
        if unreadable == 0 { Ok(()) } else { Err(Failure::Unreadable { count: unreadable }) }
    }
}

fn export_to_file(file: &Path, home: &Home, filter: &Filter, app: &mut App) -> Result<u64, Failure> {
    let place = app.output.display_path(file);
    let failed = |source: io::Error| Failure::File { action: format!("write {place}"), source };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = BufWriter::new(NamedTempFile::new_in(folder).map_err(failed)?);
    let mut memories = 0_u64;
    let unreadable = export(home, filter, app, &mut |memory, _| {
        memories += 1;
        writeln!(draft, "{memory}").map_err(failed)
    })?;
    let draft = draft.into_inner().map_err(|error| failed(error.into_error()))?;
    draft.as_file().sync_all().map_err(failed)?;
    draft.persist(file).map_err(|error| failed(error.error))?;
    if app.output.is_json() {
        app.output.json(&json!({ "output": file, "memories": memories }))?;
    } else {
        app.output.fields(&[&place, &memories.to_string()])?;
    }
    Ok(unreadable)
}

/// Calls `write` for each memory that matches `filter`; returns the number of unreadable memories.
fn export(
    home: &Home,
    filter: &Filter,
    app: &mut App,
    write: &mut dyn FnMut(&Value, &mut App) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let services = &home.services;
    services.store.refresh()?;
    let mut unreadable = 0;
    for stored in services.store.memories(filter, services.clock.now()) {
        match stored {
            Ok(stored) => {
                let mut memory = json::memory_for_export(&stored);
                if let Some(text) = home.store.file_with_extras(&stored)? {
                    memory["file"] = text.into();
                }
                write(&memory, app)?;
            }
            Err(StoreError::Damaged(problem)) => {
                unreadable += 1;
                app.output.warning(&problem.to_string())?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(unreadable)
}
