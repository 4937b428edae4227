//! Exports of the sessions of a history, and their import.
//!
//! A line `{"session": NAME}` precedes the records of each session, which are the lines of its file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use memory_agent::json;
use memory_agent::web::ImportStop;
use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    self, ExportedSession, Messages, RecordFilter, SessionImportReport, SessionName, SessionRecord,
    Window,
};
use memory_core::{Progress, SecretPolicy, SkippedFile};
use serde_json::{Map, Value, json};

use super::export_lines::ExportLines;
use super::import::check_all_imported;
use super::ingest::DRY_RUN;
use super::output_file::OutputFile;
use crate::app::App;
use crate::failure::Failure;
use crate::ingestion::open_history;
use crate::print::Table;

/// The key of the line before the records of a session.
const SESSION_KEY: &str = "session";

/// Exports all sessions of the history instance `instance` to a file, or to the standard output.
pub(super) fn export(instance: &str, output: Option<&Path>, app: &mut App) -> Result<(), Failure> {
    let messages = open_history(instance, &app.settings()?)?;
    let mut draft = output
        .map(|output| OutputFile::create(output, app))
        .transpose()?;
    let mut problems = Vec::new();
    let count = write_sessions(&messages, &mut problems, &mut |line| match &mut draft {
        Some(draft) => draft.write(&format!("{line}\n")),
        None => app.output.json_text(line),
    })?;
    for problem in &problems {
        app.output.warning(problem)?;
    }
    if let (Some(draft), Some(output)) = (draft, output) {
        draft.finish()?;
        if app.output.is_json() {
            app.output
                .json(&json!({ "output": output, "sessions": count }))?;
        } else {
            let place = app.output.display_path(output);
            app.output.fields(&[&place, &count.to_string()])?;
        }
    }
    match problems.len() as u64 {
        0 => Ok(()),
        count => Err(Failure::Unreadable { count }),
    }
}

/// Calls `write` with each line of an export of all sessions; returns their number. Records that cannot be read are problems.
pub(crate) fn write_sessions(
    messages: &Messages,
    problems: &mut Vec<String>,
    write: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut count = 0;
    for summary in history::sessions(messages)? {
        write(&json!({ SESSION_KEY: summary.session.as_str() }).to_string())?;
        for record in history::records(
            messages,
            &summary.session,
            &RecordFilter::default(),
            Window::default(),
        )? {
            match record {
                Ok(record) => write(record.text().as_str())?,
                Err(error) => problems.push(error.to_string()),
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Returns whether a file is an export of sessions.
pub(super) fn is_export(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let first = ExportLines::new(BufReader::new(file)).next();
    matches!(first, Some((_, Ok(line))) if session_name(&line).is_some())
}

/// Imports an export of sessions into the history instance `instance`.
pub(super) fn import(
    path: &Path,
    instance: &str,
    secrets: SecretPolicy,
    is_dry_run: bool,
    app: &mut App,
) -> Result<(), Failure> {
    let messages = open_history(instance, &app.settings()?)?;
    let report = import_file(
        &messages,
        path,
        (secrets, is_dry_run),
        &ImportStop::default(),
        &mut |_| {},
    )?;
    let SessionImportReport {
        new,
        unchanged,
        records,
        skipped,
    } = &report;
    if app.output.is_json() {
        app.output.json(&json::session_import_report(&report))?;
    } else {
        let counts = [
            ("new sessions", *new),
            ("unchanged sessions", *unchanged),
            ("records", *records),
        ];
        app.output.table(&Table::from_counts(counts))?;
        for SkippedFile { path, reason } in skipped {
            app.output
                .warning(&format!("{path} was not imported: {reason}"))?;
        }
        if is_dry_run {
            app.output.note(DRY_RUN)?;
        }
    }
    check_all_imported(skipped)
}

/// Imports the export of sessions at `path`, or only determines the outcome if it is a dry run. After `stop`, nothing more is read.
pub(crate) fn import_file(
    messages: &Messages,
    path: &Path,
    (secrets, is_dry_run): (SecretPolicy, bool),
    stop: &ImportStop,
    show: &mut dyn FnMut(Progress),
) -> Result<SessionImportReport, Failure> {
    let file = File::open(path).map_err(Failure::file(format!("read {}", path.display())))?;
    let mut sessions = SessionLines {
        lines: ExportLines::new(BufReader::new(file)),
        session: None,
        records: Vec::new(),
        next: None,
    };
    let mut done = 0;
    let read = sessions
        .by_ref()
        .take_while(|_| !stop.leaves_out())
        .inspect(|_| {
            done += 1;
            show(Progress { done, total: None });
        });
    let report = if is_dry_run {
        history::preview_import(messages, read, secrets)?
    } else {
        history::import(messages, read, secrets)?
    };
    if stop.has_left_out() {
        return Ok(report);
    }
    let lines = sessions.lines;
    lines.check_whole("read the whole export; the sessions before are imported")?;
    Ok(report)
}

/// An iterator over the sessions in a file; one of them is in memory.
struct SessionLines<'a> {
    lines: ExportLines<'a>,
    /// The position and the name of the session whose records are read.
    session: Option<(String, SessionName)>,
    records: Vec<SessionRecord>,
    /// The item after a complete session.
    next: Option<Result<ExportedSession, SkippedFile>>,
}

impl SessionLines<'_> {
    /// Returns the session whose records were read.
    fn take_session(&mut self) -> Option<ExportedSession> {
        let records = std::mem::take(&mut self.records);
        self.session.take().map(|(place, session)| ExportedSession {
            place,
            session,
            records,
        })
    }
}

impl Iterator for SessionLines<'_> {
    type Item = Result<ExportedSession, SkippedFile>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            let Some((place, line)) = self.lines.next() else {
                return self
                    .take_session()
                    .filter(|_| !self.lines.has_failed())
                    .map(Ok);
            };
            let skipped = |reason: String| SkippedFile {
                path: place.clone(),
                reason,
            };
            let line = match line {
                Ok(line) => line,
                Err(reason) => return Some(Err(skipped(reason))),
            };
            let Some(name) = session_name(&line) else {
                match SessionRecord::parse(line.trim()) {
                    Ok(record) if self.session.is_some() => self.records.push(record),
                    Ok(_) => return Some(Err(skipped("it belongs to no session".into()))),
                    Err(reason) => return Some(Err(skipped(reason))),
                }
                continue;
            };
            let former = self.take_session();
            match name.parse() {
                Ok(session) => self.session = Some((place, session)),
                Err(error) => self.next = Some(Err(skipped(InstanceError::to_string(&error)))),
            }
            if let Some(next) = former.map(Ok).or_else(|| self.next.take()) {
                return Some(next);
            }
        }
    }
}

/// Returns the name in the line before the records of a session.
fn session_name(line: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(line).ok()?;
    if object.contains_key("role") || object.contains_key("content") {
        return None;
    }
    object.get(SESSION_KEY)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lines_are_skipped_and_the_others_belong_to_their_sessions() {
        let record = r#"{"role":"user","content":"a"}"#;
        let text = format!(
            "{record}\n{{\"session\":\"one\"}}\n{record}\nbroken\n{record}\n{{\"session\":\"\"}}\n{record}\n{{\"session\":\"two\"}}\n"
        );
        let lines = ExportLines::new(text.as_bytes());
        let lines = SessionLines {
            lines,
            session: None,
            records: Vec::new(),
            next: None,
        };
        let found: Vec<_> = lines
            .map(|item| match item {
                Ok(session) => format!(
                    "{} {} {}",
                    session.place,
                    session.session,
                    session.records.len()
                ),
                Err(skipped) => skipped.path,
            })
            .collect();
        assert_eq!(
            found,
            [
                "line 1",
                "line 4",
                "line 2 one 2",
                "line 6",
                "line 7",
                "line 8 two 0"
            ]
        );
    }
}
