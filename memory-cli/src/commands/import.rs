//! The `memory import` command.

pub(crate) mod detection;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_agent::web::ImportStop;
use memory_core::{
    Code, ExportedMemory, ImportError, ImportSummary, Progress, SecretPolicy, Services,
    SkippedFile, preview_import,
};
use memory_ingest::SourceName;

use self::detection::{DetectedFormat, ambiguous, detect, ingest_command, unrecognized_items};
use super::export_lines::ExportLines;
use super::ingest::{DRY_RUN, IngestArgs};
use super::session_export;
use crate::app::App;
use crate::failure::Failure;
use crate::ingestion::MAX_EMBEDDED;
use crate::instances::DEFAULT;
use crate::print::{Table, counted};

/// Import notes and chats from other programs, files and folders
///
/// At a terminal, without arguments, the data of other programs on this machine is listed with counts, and you select.
/// `memory help moving` shows where each program has its data.
///
/// PATH is a file or folder; its format is detected, or that of --source. Of a folder with several exports or vaults, each is
/// imported, and other files are named. Notes become memories in the inbox, with their tags, aliases and links. Conversations
/// become sessions of `memory instance history`. A second run changes nothing; a changed note updates its memory. Notes that
/// the source no longer contains are listed, and their memories are retained. Credentials are redacted. `memory undo` reverts
/// a whole run. `all` imports every source with a folder that exists; the folders can be set in config.yaml.
///
/// In an export of this program each line is a JSON object with at least `content`; other fields are as written by `export`, and unknown keys
/// are ignored. An existing memory with the same id is replaced if it differs, and its previous file moves to the trash.
/// Invalid lines are reported, all others are imported, and the exit code is 5.
///
/// An export of sessions becomes sessions of the history instance; a session that exists with other records is left.
///
/// JSON: {new, updated, unchanged, skipped: [{path, reason}]}; `path` is the line number; for sessions {new, unchanged, records,
/// skipped}; for other programs {source, new, updated, unchanged, skipped: [{path, reason}], warnings: [{path, reason}], tags,
/// links: {resolved, unresolved, only_by_alias, only_by_title, stored}, sessions: {new, updated, unchanged, records}, facts,
/// missing: [{id, path, title, edited}], deleted}; for several {sources: [these…], left_out: [{source, path, reason}]}
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File or folder to import
    #[arg(value_name = "PATH", conflicts_with_all = ["input", "path"])]
    file: Option<PathBuf>,
    /// Export of this program; `-`, or piped input without PATH, is the standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "path"])]
    input: Option<PathBuf>,
    /// List the programs on this machine with data to import, and let a person at a terminal select; with --source, import it
    #[arg(long, conflicts_with_all = ["input", "allow_secret"])]
    programs: bool,
    /// Import memories even if they seem to contain a credential
    #[arg(long, conflicts_with = "source")]
    allow_secret: bool,
    #[command(flatten)]
    ingest: IngestArgs,
}

impl ImportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if self.is_for_programs(app) {
            return self.ingest.run(self.file.as_deref(), app);
        }
        if let Some(path) = &self.file {
            let path = app.environment.absolute_path(path);
            let format = match self.ingest.options.mapped_source(&path) {
                Some(source) if path.exists() => {
                    DetectedFormat::Programs(vec![(source, path.clone())])
                }
                _ => detect(&path)?,
            };
            return match format {
                DetectedFormat::Programs(_) if self.allow_secret => Err(Failure::usage(
                    "--allow-secret requires an export of this program",
                    "credentials in files of other programs are always redacted",
                )),
                DetectedFormat::Programs(found) => self.import_programs(&found, &path, app),
                DetectedFormat::Ambiguous(choices) => Err(ambiguous(&path, &choices)),
                DetectedFormat::Sessions => self.import_sessions(&path, app),
                DetectedFormat::Memories => self.import_lines(Some(&path), app),
            };
        }
        self.import_lines(self.input.as_deref(), app)
    }

    /// Returns whether the files are those of programs that are known by name, not by their format.
    fn is_for_programs(&self, app: &App) -> bool {
        let has_input = self.file.is_some() || self.input.is_some() || self.allow_secret;
        self.programs || self.ingest.names_source() || !has_input && app.output.input_is_terminal()
    }

    /// Imports an export of sessions into a history instance.
    fn import_sessions(&self, path: &Path, app: &mut App) -> Result<(), Failure> {
        self.ingest.options.check_own_export()?;
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let is_dry_run = self.ingest.options.is_dry_run();
        let instance = self.ingest.options.instance();
        session_export::import(path, instance, secrets, is_dry_run, app)
    }

    /// Imports the files of other programs at `path`.
    fn import_programs(
        &self,
        found: &[(SourceName, PathBuf)],
        path: &Path,
        app: &mut App,
    ) -> Result<(), Failure> {
        let left_out = unrecognized_items(path, found, &|item| app.output.display_path(item));
        match found {
            [(source, path)] if left_out.is_empty() => {
                self.ingest.options.ingest_path(*source, path, app)?;
            }
            _ => self.ingest.options.ingest_paths(found, left_out, app)?,
        }
        for (source, path) in found {
            if *source == SourceName::Claude && SourceName::ClaudeSessions.recognizes(path) {
                let command = ingest_command(SourceName::ClaudeSessions, path);
                app.output.note(&format!(
                    "the transcripts were not imported; `{command}` imports them"
                ))?;
            }
        }
        Ok(())
    }

    /// Imports the lines of an export of this program from a file, or from the standard input.
    fn import_lines(&self, input: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        self.ingest.options.check_own_export()?;
        if self.ingest.options.instance() != DEFAULT {
            return Err(Failure::usage(
                "--instance requires conversations or sessions",
                "import the memories without it",
            ));
        }
        let services = app.open()?.services;
        if input.is_none_or(|file| file == Path::new("-")) && app.output.input_is_terminal() {
            app.output.note("reading memories from the standard input, one JSON object per line; press Ctrl-D to finish")?;
        }
        let mut bar = app.output.progress_bar("reading");
        let mut input: Box<dyn Read + '_> = match input.filter(|file| *file != Path::new("-")) {
            Some(file) => Box::new(
                File::open(file).map_err(Failure::file(format!("read {}", file.display())))?,
            ),
            None => Box::new(app.output.input()),
        };
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let is_dry_run = self.ingest.options.is_dry_run();
        let mut show = |progress| bar.show(progress);
        let (seen, options) = (&mut |_: &ExportedMemory| {}, (secrets, is_dry_run));
        let report = import_memories(
            &services,
            &mut input,
            options,
            &ImportStop::default(),
            seen,
            &mut show,
        )?;
        drop(input);
        drop(bar);
        if app.output.is_json() {
            app.output.json(&json::import_report(&report))?;
        } else {
            let counts = [
                ("new", report.new),
                ("updated", report.updated),
                ("unchanged", report.unchanged),
            ];
            app.output.table(&Table::from_counts(counts))?;
            for SkippedFile { path, reason } in report.skipped.iter().take(MAX_WARNINGS) {
                app.output
                    .warning(&format!("{path} was not imported: {reason}"))?;
            }
            if MAX_WARNINGS < report.skipped.len() {
                let more = report.skipped.len() - MAX_WARNINGS;
                app.output.warning(&format!(
                    "{more} more lines were not imported; use --json to list them all"
                ))?;
            }
            if is_dry_run {
                app.output.note(DRY_RUN)?;
            }
        }
        check_all_imported(&report.skipped)
    }
}

/// Imports the memories of an export of this program, or only determines the outcome if it is a dry run. Each is shown to `see` first.
/// After `stop`, nothing more is read.
pub(crate) fn import_memories(
    services: &Services,
    input: &mut dyn Read,
    (secrets, is_dry_run): (SecretPolicy, bool),
    stop: &ImportStop,
    see: &mut dyn FnMut(&ExportedMemory),
    show: &mut dyn FnMut(Progress),
) -> Result<ImportSummary, Failure> {
    let mut lines = ExportLines::new(BufReader::new(input));
    let lines_until = lines.by_ref().take_while(|_| !stop.leaves_out());
    let mut memories = lines_until.map(parse_line).inspect(|memory| {
        if let Ok((_, memory)) = memory {
            see(memory);
        }
    });
    let report = if is_dry_run {
        preview_import(services, &mut memories, secrets, show)?
    } else {
        let report = memory_core::import(services, &mut memories, secrets, show)?;
        // The memories are stored. Vectors are derived, and each search says how many are missing.
        let _ = memory_core::embed_newest(services, MAX_EMBEDDED, show);
        report
    };
    drop(memories);
    if stop.has_left_out() {
        return Ok(report);
    }
    lines.check_whole("read the whole export; the lines before are imported")?;
    Ok(report)
}

/// Fails if lines of an export were skipped.
pub(super) fn check_all_imported(skipped: &[SkippedFile]) -> Result<(), Failure> {
    let count = skipped.len() as u64;
    let verb = if count == 1 { "was" } else { "were" };
    Failure::unless_none(
        count,
        format!("{} {verb} not imported", counted(count, "line")),
        "all other lines were imported; correct these lines and import them again",
        Code::FileDamaged,
    )
}

/// Maximum number of rejected lines that are printed.
const MAX_WARNINGS: usize = 20;

/// Returns the memory of a record.
fn parse_line(
    (place, text): (String, Result<String, String>),
) -> Result<(String, ExportedMemory), ImportError> {
    match text.and_then(|text| json::parse_exported(&text)) {
        Ok(exported) => Ok((place, exported)),
        Err(reason) => Err(ImportError { place, reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_with_the_empty_ones() {
        let text = "\u{feff}{\"content\":\"a\"}\r\n\n{\"content\":\"b\"}\nnonsense".as_bytes();
        let lines = ExportLines::new(text).map(parse_line);
        let places: Vec<_> = lines
            .map(|line| line.map_or_else(|error| error.place, |(place, _)| place))
            .collect();
        assert_eq!(places, ["line 1", "line 3", "line 4"]);
    }

    #[test]
    fn a_damaged_record_leaves_the_others_in_its_line() {
        let text = "{\"content\":\"a\"}{\"content\":\"b\"}\n{\"content\":\"cu{\"content\":\"c\"}\n"
            .as_bytes();
        let lines = ExportLines::new(text).map(parse_line);
        let found: Vec<_> = lines
            .map(|line| match line {
                Ok((place, exported)) => (place, exported.draft.content),
                Err(error) => (error.place, "damaged".to_owned()),
            })
            .collect();
        let expected = [
            ("line 1", "a"),
            ("line 1", "b"),
            ("line 2", "damaged"),
            ("line 2", "c"),
        ];
        assert_eq!(
            found,
            expected.map(|(place, text)| (place.to_owned(), text.to_owned()))
        );
    }
}
