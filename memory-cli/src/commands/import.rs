//! The `memory import` command.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::{
    ExportedMemory, ImportError, SecretPolicy, SkippedFile, Source, SourceError, SourceItem,
    preview_import,
};
use memory_ingest::{ForeignFormat, Markdown, SourceName, SuggestedMap};
use serde::de::IgnoredAny;

use super::export_lines::ExportLines;
use super::ingest::{DRY_RUN, IngestOptionArgs, SkippedSource};
use super::session_export;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::DEFAULT;
use crate::print::{Table, escape_line};
use crate::topics::shell_quoted;

/// Import an export of this or another program
///
/// PATH is a file or folder; its format is detected. Files of other programs are imported as by `memory ingest --source NAME
/// --path PATH`; of a folder with several exports or vaults, each is imported, and other files are named. In an export of this program each line is a JSON object with at least `content`; other fields are as written
/// by `export`, and unknown keys are ignored. An existing memory with the same id is replaced if it differs, and its previous
/// file moves to the trash. Invalid lines are reported, all others are imported, and the exit code is 5.
///
/// An export of sessions becomes sessions of the history instance; a session that exists with other records is left.
///
/// JSON: {new, updated, unchanged, skipped: [{path, reason}]}; `path` is the line number; for sessions {new, unchanged, records,
/// skipped}; for other programs that of `ingest`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File or folder to import
    #[arg(value_name = "PATH", conflicts_with = "input")]
    path: Option<PathBuf>,
    /// Input file; `-`, or none, is the standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Import memories even if they seem to contain a credential
    #[arg(long)]
    allow_secret: bool,
    #[command(flatten)]
    options: IngestOptionArgs,
}

impl ImportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if let Some(path) = &self.path {
            let path = app.environment.absolute_path(path);
            let format = match self.options.mapped_source(&path) {
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
                DetectedFormat::Sessions => self.import_sessions(&path, app),
                DetectedFormat::Memories => self.import_lines(Some(&path), app),
            };
        }
        self.import_lines(self.input.as_deref(), app)
    }

    /// Imports an export of sessions into a history instance.
    fn import_sessions(&self, path: &Path, app: &mut App) -> Result<(), Failure> {
        self.options.check_own_export()?;
        let is_dry_run = self.options.is_dry_run();
        let instance = self.options.instance();
        session_export::import(path, instance, self.secrets(), is_dry_run, app)
    }

    fn secrets(&self) -> SecretPolicy {
        if self.allow_secret {
            SecretPolicy::Keep
        } else {
            SecretPolicy::Refuse
        }
    }

    /// Imports the files of other programs at `path`.
    fn import_programs(
        &self,
        found: &[(SourceName, PathBuf)],
        path: &Path,
        app: &mut App,
    ) -> Result<(), Failure> {
        let left_out = unrecognized_items(path, found, app);
        match found {
            [(source, path)] if left_out.is_empty() => {
                self.options.ingest_path(*source, path, app)?;
            }
            _ => self.options.ingest_paths(found, left_out, app)?,
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
        self.options.check_own_export()?;
        if self.options.instance() != DEFAULT {
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
        let mut lines = ImportLines {
            lines: ExportLines::new(BufReader::new(&mut input)),
            failed: None,
        };
        let is_dry_run = self.options.is_dry_run();
        let mut show = |progress| bar.show(progress);
        let report = if is_dry_run {
            preview_import(&services, &mut lines, self.secrets(), &mut show)?
        } else {
            memory_core::import(&services, &mut lines, self.secrets(), &mut show)?
        };
        let failed = lines.failed.take();
        drop(input);
        drop(bar);
        if let Some(error) = failed {
            return Err(Failure::file(
                "read the whole export; the lines before are imported",
            )(error));
        }
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
        let skipped = report.skipped.len() as u64;
        if skipped == 0 {
            Ok(())
        } else {
            Err(Failure::NotTaken { count: skipped })
        }
    }
}

/// The format of the files at a path.
enum DetectedFormat {
    /// Files of programs, with their paths.
    Programs(Vec<(SourceName, PathBuf)>),
    /// An export of the memories of this program.
    Memories,
    /// An export of the sessions of this program.
    Sessions,
}

/// Detects the format of the files at `path`.
fn detect(path: &Path) -> Result<DetectedFormat, Failure> {
    if !path.exists() {
        let path = path.display().to_string();
        return Err(SourceError::Missing { path }.into());
    }
    let sources = SourceName::detect(path);
    let of_path: Vec<_> = sources
        .iter()
        .map(|source| (*source, path.to_owned()))
        .collect();
    let is_folder = of_path.is_empty() && path.is_dir();
    let programs = if is_folder {
        SourceName::detect_programs(path)
    } else {
        Vec::new()
    };
    let is_hidden = |place: &Path| {
        let name = place
            .strip_prefix(path)
            .ok()
            .and_then(|below| below.iter().next());
        name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    // In the folder of a person, the programs have hidden folders, and anything may be beside them.
    let is_home = programs.iter().any(|(_, place)| is_hidden(place));
    let mut found = of_path;
    if is_home {
        found.extend(programs);
    }
    if path.is_dir() {
        let within = if is_folder {
            SourceName::detect_within(path)
        } else {
            SourceName::detect_beside(path, &sources)
        };
        let is_new = |place: &(SourceName, PathBuf)| !found.contains(place);
        let within: Vec<_> = within.into_iter().filter(is_new).collect();
        found.extend(within);
    }
    let folders_of_claude: Vec<_> = found
        .iter()
        .filter(|(source, _)| *source == SourceName::Claude)
        .map(|(_, place)| place.clone())
        .collect();
    found.retain(|(source, place)| {
        *source != SourceName::ClaudeSessions || !folders_of_claude.contains(place)
    });
    if found.is_empty() {
        return detect_file(path);
    }
    let is_ambiguous = |(source, place): &(SourceName, PathBuf)| {
        let mut others = found.iter().filter(|other| other.1 == *place);
        others.any(|(other, _)| {
            other != source && (place.is_file() || source.is_ambiguous_with(*other))
        })
    };
    let choices: Vec<_> = if is_home && 1 < found.len() {
        found.clone()
    } else {
        found
            .iter()
            .filter(|place| is_ambiguous(place))
            .cloned()
            .collect()
    };
    if choices.is_empty() {
        return Ok(DetectedFormat::Programs(found));
    }
    let mut names: Vec<_> = choices.iter().map(|(source, _)| source.as_str()).collect();
    names.dedup();
    let commands: Vec<_> = choices
        .iter()
        .map(|(source, path)| format!("  `{}`", ingest_command(*source, path)))
        .collect();
    let problem = format!(
        "cannot import {}: it may be of several formats: {}",
        path.display(),
        names.join(", ")
    );
    Err(Failure::usage(
        problem,
        format!("choose one:\n{}", commands.join("\n")),
    ))
}

/// Detects the format of a file that is of no other program, or returns the error that no format fits.
fn detect_file(path: &Path) -> Result<DetectedFormat, Failure> {
    if path.is_dir() || is_empty(path) {
        return Err(unknown_format(path));
    }
    if session_export::is_export(path) {
        return Ok(DetectedFormat::Sessions);
    }
    if is_export(path) {
        return Ok(DetectedFormat::Memories);
    }
    match SourceName::of_text(path) {
        Some(source) => Ok(DetectedFormat::Programs(vec![(source, path.to_owned())])),
        None => Err(unknown_format(path)),
    }
}

/// Returns whether a file has no bytes, or a folder no items.
fn is_empty(path: &Path) -> bool {
    let has_no_items = || std::fs::read_dir(path).is_ok_and(|mut items| items.next().is_none());
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() == 0)
        || path.is_dir() && has_no_items()
}

/// Returns the files and folders in the folder at `path` that are not imported, if `found` are in it.
fn unrecognized_items(
    path: &Path,
    found: &[(SourceName, PathBuf)],
    app: &App,
) -> Vec<SkippedSource> {
    let is_whole =
        |(source, place): &(SourceName, PathBuf)| place == path && *source != SourceName::Evernote;
    let mut wholes = found.iter().filter(|place| is_whole(place)).peekable();
    let has_whole = wholes.peek().is_some();
    if !path.is_dir() || wholes.any(|(source, _)| source.has_texts_in_folder()) {
        return Vec::new();
    }
    let is_imported = |item: &Path| {
        let is_notebook = item
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("enex"));
        found.iter().any(|(source, place)| {
            place.starts_with(item) || *source == SourceName::Evernote && is_notebook
        })
    };
    let items = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut items: Vec<_> = items
        .filter(|item| !item.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|item| item.path())
        .filter(|item| !is_imported(item))
        .collect();
    if has_whole {
        // The program may have other files of its own.
        items.retain(|item| is_single_file(item) || ForeignFormat::recognize(item).is_some());
    }
    items.sort();
    let mut skipped: Vec<_> = items
        .iter()
        .map(|item| SkippedSource {
            source: None,
            path: app.output.display_path(item),
            reason: skip_reason(item),
        })
        .collect();
    skipped.sort_by_key(|skipped| skipped.reason == UNKNOWN);
    skipped
}

/// Returns the reason why a file or folder among others is not imported.
fn skip_reason(item: &Path) -> String {
    let command = || {
        format!(
            "memory import {}",
            shell_quoted(&item.display().to_string())
        )
    };
    match ForeignFormat::recognize(item) {
        _ if is_empty(item) => "it is empty".to_owned(),
        Some(ForeignFormat {
            name,
            records: Some(_),
            ..
        }) => {
            format!("it is {name}; `{}` shows how to import it", command())
        }
        Some(ForeignFormat { name, advice, .. }) => format!("it is {name}; {advice}"),
        None if is_single_file(item) => format!("it is a single file; `{}` imports it", command()),
        None if SourceName::suggest_map(item).is_some() => {
            format!("it has records; `{}` shows how to import them", command())
        }
        None => UNKNOWN.to_owned(),
    }
}

/// Returns whether a path is a text, or an export of this program.
fn is_single_file(path: &Path) -> bool {
    let is_own = || is_export(path) || session_export::is_export(path);
    path.is_file() && (SourceName::of_text(path).is_some() || is_own())
}

/// The reason for skipping a file of an unknown format.
const UNKNOWN: &str = "its format is not recognized";

/// Returns the error that no format fits.
fn unknown_format(path: &Path) -> Failure {
    let shown = path.display();
    if is_empty(path) {
        let problem = format!("cannot import {shown}: it is empty");
        return Failure::usage(problem, "check the path, or export again");
    }
    let foreign = ForeignFormat::recognize(path);
    let records = foreign.as_ref().and_then(|format| format.records.clone());
    let records = records.unwrap_or_else(|| path.to_owned());
    let Some(SuggestedMap { keys, fields }) = SourceName::suggest_map(&records) else {
        if let Some(ForeignFormat { name, advice, .. }) = foreign {
            return Failure::usage(format!("cannot import {shown}: it is {name}"), advice);
        }
        let problem = format!("the format of {shown} is not recognized");
        let has_notes = path.is_dir()
            && Markdown::open(path).is_ok_and(|folder| {
                folder
                    .items()
                    .any(|item| matches!(item, SourceItem::Note(_)))
            });
        return if has_notes {
            let command = ingest_command(SourceName::Markdown, path);
            Failure::usage(
                problem,
                format!("`{command}` imports its Markdown and text files"),
            )
        } else {
            Failure::usage(
                problem,
                "convert it to Markdown, text, JSON or CSV, and import the result",
            )
        };
    };
    let keys: Vec<_> = keys.iter().map(|key| escape_line(key)).collect();
    let label = if SourceName::of_records(&records) == Some(SourceName::Csv) {
        "columns"
    } else {
        "keys"
    };
    let kind = foreign.map_or_else(String::new, |format| format!(", {},", format.name));
    let problem = format!(
        "cannot import {}{kind} without --map; its {label} are: {}",
        records.display(),
        keys.join(", ")
    );
    let map: Vec<_> = fields
        .iter()
        .map(|(field, key)| format!("--map {field}={}", shell_quoted(key)))
        .collect();
    let path = shell_quoted(&records.display().to_string());
    Failure::usage(
        problem,
        format!(
            "map them to the fields of memories: `memory import {path} {}`",
            map.join(" ")
        ),
    )
}

/// Returns the command that imports the files at `path` as those of `source`.
fn ingest_command(source: SourceName, path: &Path) -> String {
    format!(
        "memory ingest --source {source} --path {}",
        shell_quoted(&path.display().to_string())
    )
}

/// Maximum number of damaged records before the first one that shows the format of a file.
const MAX_DAMAGED: usize = 20;

/// Returns whether the first record of a file that is JSON is a memory of an export.
fn is_export(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| begins_with_memory(BufReader::new(file)))
}

fn begins_with_memory(input: impl BufRead) -> bool {
    let mut lines = ExportLines::new(input);
    for _ in 0..MAX_DAMAGED {
        let record = match lines.next_record() {
            Ok(Some(Ok(record))) => record,
            Ok(Some(Err(_))) => continue,
            Ok(None) | Err(_) => return false,
        };
        if serde_json::from_slice::<IgnoredAny>(&record).is_ok() {
            let text = String::from_utf8(record);
            return text.is_ok_and(|text| json::parse_exported(&text).is_ok());
        }
    }
    false
}

/// Maximum number of rejected lines that are printed.
const MAX_WARNINGS: usize = 20;

/// An iterator over the exported memories in a file, one per line.
struct ImportLines<R> {
    lines: ExportLines<R>,
    failed: Option<io::Error>,
}

impl<R: BufRead> Iterator for ImportLines<R> {
    type Item = Result<(String, ExportedMemory), ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.lines.next_record() {
            Ok(line) => line?,
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let place = self.lines.place();
        let text = line.and_then(|line| {
            String::from_utf8(line).map_err(|_| "the line is not valid UTF-8".to_owned())
        });
        let exported = text.and_then(|text| json::parse_exported(&text));
        Some(match exported {
            Ok(exported) => Ok((place, exported)),
            Err(reason) => Err(ImportError { place, reason }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_with_the_empty_ones() {
        let text = "\u{feff}{\"content\":\"a\"}\r\n\n{\"content\":\"b\"}\nnonsense".as_bytes();
        let lines = ImportLines {
            lines: ExportLines::new(text),
            failed: None,
        };
        let places: Vec<_> = lines
            .map(|line| line.map_or_else(|error| error.place, |(place, _)| place))
            .collect();
        assert_eq!(places, ["line 1", "line 3", "line 4"]);
    }

    #[test]
    fn an_export_is_recognized_behind_damaged_records() {
        for (text, expected) in [
            ("{\"content\":\"a\"}\n", true),
            ("{\"content\":\"cu\n{\"content\":\"a\"}\n", true),
            ("", false),
            ("no JSON\n", false),
            ("{\"text\":\"a\"}\n{\"content\":\"a\"}\n", false),
            ("no JSON\n".repeat(30).as_str(), false),
        ] {
            assert_eq!(begins_with_memory(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_damaged_record_leaves_the_others_in_its_line() {
        let text = "{\"content\":\"a\"}{\"content\":\"b\"}\n{\"content\":\"cu{\"content\":\"c\"}\n"
            .as_bytes();
        let lines = ImportLines {
            lines: ExportLines::new(text),
            failed: None,
        };
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
