//! The `memory import` command.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::{ExportedMemory, ImportError, SecretPolicy, SkippedFile, SourceError};
use memory_ingest::SourceName;

use super::ingest::IngestOptionArgs;
use crate::app::App;
use crate::failure::Failure;
use crate::print::Table;

/// Import an export of this or another program
///
/// PATH is a file or folder; its format is detected. Files of other programs are imported as by `memory ingest --source NAME
/// --path PATH`. In an export of this program each line is a JSON object with at least `content`; other fields are as written
/// by `export`, and unknown keys are ignored. An existing memory with the same id is replaced if it differs, and its previous
/// file moves to the trash. Invalid lines are reported, all others are imported, and the exit code is 5.
///
/// JSON: {new, updated, unchanged, skipped: [{path, reason}]}; `path` is the line number; for other programs that of `ingest`
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
            let source = match self.options.mapped_source(&path) {
                Some(source) if path.exists() => Some(source),
                _ => detect(&path)?,
            };
            return match source {
                Some(_) if self.allow_secret => Err(Failure::usage(
                    "--allow-secret requires an export of this program",
                    "credentials in files of other programs are always redacted",
                )),
                Some(source) => self.options.ingest_path(source, &path, app),
                None => self.import_lines(Some(&path), app),
            };
        }
        self.import_lines(self.input.as_deref(), app)
    }

    /// Imports the lines of an export of this program from a file, or from the standard input.
    fn import_lines(&self, input: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        if self.options.is_of_other_programs() {
            return Err(Failure::usage(
                "--dry-run, --delete-missing, --instance, --extract and --map require files of another program",
                "import an export of this program without them; to try it, import it into another home: --root DIR",
            ));
        }
        let services = app.open()?.services;
        let secrets = if self.allow_secret { SecretPolicy::Keep } else { SecretPolicy::Refuse };
        if input.is_none_or(|file| file == Path::new("-")) && app.output.input_is_terminal() {
            app.output.note("reading memories from the standard input, one JSON object per line; press Ctrl-D to finish")?;
        }
        let mut bar = app.output.progress_bar("reading");
        let mut input: Box<dyn Read + '_> = match input.filter(|file| *file != Path::new("-")) {
            Some(file) => Box::new(File::open(file).map_err(Failure::file(format!("read {}", file.display())))?),
            None => Box::new(app.output.input()),
        };
        let mut lines = ImportLines { input: BufReader::new(&mut input), number: 0, failed: None };
        let report = memory_core::import(&services, &mut lines, secrets, &mut |progress| bar.show(progress))?;
        let failed = lines.failed.take();
        drop(input);
        drop(bar);
        if let Some(error) = failed {
            return Err(Failure::file("read the whole export; the lines before are imported")(error));
        }
        if app.output.is_json() {
            app.output.json(&json::import_report(&report))?;
        } else {
            let counts = [("new", report.new), ("updated", report.updated), ("unchanged", report.unchanged)];
            app.output.table(&Table::from_counts(counts))?;
            for SkippedFile { path, reason } in report.skipped.iter().take(MAX_WARNINGS) {
                app.output.warning(&format!("{path} was not imported: {reason}"))?;
            }
            if MAX_WARNINGS < report.skipped.len() {
                let more = report.skipped.len() - MAX_WARNINGS;
                app.output.warning(&format!("{more} more lines were not imported; use --json to list them all"))?;
            }
        }
        let skipped = report.skipped.len() as u64;
        if skipped == 0 { Ok(()) } else { Err(Failure::NotTaken { count: skipped }) }
    }
}

/// Returns the source that wrote the files at `path`, or `None` for an export of this program.
fn detect(path: &Path) -> Result<Option<SourceName>, Failure> {
    if !path.exists() {
        return Err(SourceError::Missing { path: path.display().to_string() }.into());
    }
    let sources = SourceName::detect(path);
    let shown = path.display();
    match sources.as_slice() {
        [source] => Ok(Some(*source)),
        [] if path.is_file() && is_export(path) => Ok(None),
        [] => Err(Failure::usage(
            format!("the format of {shown} is not recognized"),
            "specify it with `memory ingest --source NAME --path PATH`, such as `--source markdown` or `--source jsonl`",
        )),
        several => {
            let names: Vec<_> = several.iter().map(|source| source.as_str()).collect();
            let problem = format!("{shown} may be of several formats: {}", names.join(", "));
            Err(Failure::usage(problem, format!("specify one: `memory ingest --source {} --path PATH`", names[0])))
        }
    }
}

/// Returns whether the first line of a file is a memory of an export.
fn is_export(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut lines = ImportLines { input: BufReader::new(file), number: 0, failed: None };
    matches!(lines.next(), Some(Ok(_)) | None)
}

/// Maximum number of rejected lines that are printed.
const MAX_WARNINGS: usize = 20;

/// Maximum length of a line, in bytes; larger than any memory.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// An iterator over the exported memories in a file, one per line; empty lines are skipped.
struct ImportLines<R> {
    input: R,
    number: u64,
    failed: Option<io::Error>,
}

impl<R: BufRead> ImportLines<R> {
    /// Returns the next line that is not empty, or why the line is rejected; `None` at the end.
    fn next_line(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
        loop {
            self.number += 1;
            let mut line = Vec::new();
            if self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if !line.ends_with(b"\n") && MAX_LINE <= line.len() as u64 {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Err("the line is longer than any memory".into())));
            }
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Ok(line)));
            }
        }
    }
}

impl<R: BufRead> Iterator for ImportLines<R> {
    type Item = Result<(String, ExportedMemory), ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.next_line() {
            Ok(line) => line?,
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let place = format!("line {}", self.number);
        let text = line.and_then(|line| String::from_utf8(line).map_err(|_| "the line is not valid UTF-8".to_owned()));
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
        let lines = ImportLines { input: text, number: 0, failed: None };
        let places: Vec<_> = lines.map(|line| line.map_or_else(|error| error.place, |(place, _)| place)).collect();
        assert_eq!(places, ["line 1", "line 3", "line 4"]);
    }
}
