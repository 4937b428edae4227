//! The import of files from the web page, as `memory import` does it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::web::{ImportOutcome, ImportReport, ImportRequest, ImportStop, ImportedFiles};
use memory_core::instance::history::Messages;
use memory_core::secret::without_secrets;
use memory_core::text::to_one_line;
use memory_core::{
    ExportedMemory, IngestOptions, Progress, SecretPolicy, Services, SkippedFile, Source,
    SourceItem, SourceSessionItem,
};
use memory_ingest::{ForeignFormat, SourceName, SourceOptions, SuggestedMap};

use crate::commands::import::detection::{DetectedFormat, detect, unrecognized_items};
use crate::commands::import::import_memories;
use crate::commands::session_export;
use crate::failure::Failure;
use crate::home::Home;
use crate::ingestion::{Ingestion, open_history};
use crate::instances::DEFAULT;

/// Number of titles that are shown of notes, and of conversations.
const MAX_TITLES: usize = 5;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 120;

/// The formats with a title that differs from the name.
const TITLES: [(SourceName, &str); 23] = [
    (SourceName::Claude, "Claude Code: instructions and memories"),
    (SourceName::ClaudeSessions, "Claude Code: conversations"),
    (SourceName::CarAgent, "Car-agent"),
    (SourceName::Fingersaver, "Fingersaver"),
    (SourceName::Logseq, "Logseq"),
    (SourceName::Markdown, "Markdown and text files"),
    (SourceName::Obsidian, "Obsidian"),
    (SourceName::ChatGpt, "ChatGPT"),
    (SourceName::ClaudeAi, "Claude.ai"),
    (SourceName::Codex, "Codex"),
    (SourceName::Gemini, "Gemini CLI"),
    (SourceName::BasicMemory, "Basic Memory"),
    (SourceName::Okf, "Open Knowledge Format"),
    (SourceName::ServerMemory, "MCP server memory"),
    (SourceName::Letta, "Letta"),
    (SourceName::Jsonl, "JSON of any program"),
    (SourceName::Csv, "CSV table"),
    (SourceName::Cline, "Cline"),
    (SourceName::Roo, "Roo Code"),
    (SourceName::Cursor, "Cursor"),
    (SourceName::Evernote, "Evernote"),
    (SourceName::Notion, "Notion"),
    (SourceName::Keep, "Google Keep"),
];

/// Returns the title of a format.
fn title(source: SourceName) -> &'static str {
    let found = TITLES.iter().find(|(own, _)| *own == source);
    found.map_or(source.as_str(), |(_, title)| title)
}

/// Returns the name and the title of each format.
pub(crate) fn formats() -> Vec<(String, String)> {
    let shape = |source: &SourceName| (source.to_string(), title(*source).to_owned());
    let mut formats: Vec<_> = SourceName::ALL.iter().map(shape).collect();
    formats.sort_by_key(|(_, title)| title.to_lowercase());
    formats
}

/// Imports files, or only determines the outcome. After `stop`, nothing more is read.
pub(crate) fn import(
    home: &Home,
    services: &Services,
    request: &ImportRequest,
    stop: &Arc<ImportStop>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportOutcome, Failure> {
    let path = request.path.as_path();
    let format = match &request.format {
        Some(name) => DetectedFormat::Programs(vec![(
            name.parse().map_err(|error| wrong_format(&error))?,
            path.to_owned(),
        )]),
        None if !request.fields.is_empty() => {
            let records = records_at(path);
            let source = SourceName::of_records(&records).unwrap_or(SourceName::Jsonl);
            DetectedFormat::Programs(vec![(source, records)])
        }
        None => match suggested_map(path) {
            Some(SuggestedMap { keys, fields }) => {
                let owned = |(field, key): (&'static str, String)| (field.to_owned(), key);
                let suggested = fields.into_iter().map(owned).collect();
                return Ok(ImportOutcome::Unmapped { keys, suggested });
            }
            None => detect(path).map_err(|failure| for_page(path, failure))?,
        },
    };
    let report = match format {
        DetectedFormat::Ambiguous(choices) => {
            let mut formats: Vec<_> = choices
                .into_iter()
                .map(|(source, _)| (source.to_string(), title(source).to_owned()))
                .collect();
            formats.dedup();
            return Ok(ImportOutcome::Ambiguous(formats));
        }
        DetectedFormat::Programs(found) => {
            import_programs(home, services, request, &found, stop, progress)?
        }
        DetectedFormat::Memories => import_export(services, request, stop, progress)?,
        DetectedFormat::Sessions => import_sessions(home, services, request, stop, progress)?,
    };
    Ok(ImportOutcome::Report(report))
}

fn wrong_format(error: &memory_core::ParseError) -> Failure {
    Failure::usage(error.to_string(), "choose a format of the list")
}

/// Returns the file of records at a path, which may be an export of a program that is not known.
fn records_at(path: &Path) -> PathBuf {
    let foreign = ForeignFormat::recognize(path);
    foreign
        .and_then(|format| format.records)
        .unwrap_or_else(|| path.to_owned())
}

/// Returns the suggested map of a file in a format that is not recognized.
fn suggested_map(path: &Path) -> Option<SuggestedMap> {
    if detect(path).is_ok() {
        return None;
    }
    let map = SourceName::suggest_map(&records_at(path))?;
    // A table that begins with a record has no names of columns.
    let has_names = map
        .keys
        .iter()
        .all(|key| key.trim().is_empty() || key.contains(char::is_alphabetic));
    has_names.then_some(map)
}

/// Returns the error that the format of files is not recognized, with a next step on the page.
fn for_page(path: &Path, failure: Failure) -> Failure {
    let Failure::Usage { why, hint } = failure else {
        return failure;
    };
    match ForeignFormat::recognize(path) {
        Some(_) => Failure::Usage {
            why,
            hint: hint.filter(|hint| !hint.contains('`')),
        },
        None if path.is_dir() => Failure::usage(
            why,
            "to import its Markdown and text files, choose the format Markdown and text files below",
        ),
        None => Failure::usage(
            why,
            "convert it to Markdown, text, JSON or CSV, and import the result",
        ),
    }
}

/// Imports the files of other programs.
fn import_programs(
    home: &Home,
    services: &Services,
    request: &ImportRequest,
    found: &[(SourceName, PathBuf)],
    stop: &Arc<ImportStop>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, Failure> {
    let ingestion = Ingestion::open(services, DEFAULT, &home.settings)?
        .trusting(request.is_trusted)
        .of_upload(request.upload.clone())
        .until(stop);
    let options = IngestOptions {
        dry_run: request.is_dry_run,
        ..IngestOptions::default()
    };
    let source_options = SourceOptions {
        fields: request.fields.clone(),
    };
    let display = |item: &Path| shown_path(item, request);
    let left_out = unrecognized_items(&request.path, found, &display).into_iter();
    let left_out = left_out.map(|file| SkippedFile {
        path: file.path,
        // The reason may end in a command.
        reason: file
            .reason
            .split("; `")
            .next()
            .unwrap_or_default()
            .to_owned(),
    });
    let mut report = ImportReport {
        sources: Vec::new(),
        left_out: left_out.collect(),
    };
    for (source, path) in found {
        if stop.leaves_out() {
            break;
        }
        match ingestion.run((*source, path), &source_options, &options, progress) {
            Ok(run) => {
                let sessions = &run.sessions;
                report.sources.push(ImportedFiles {
                    format: title(*source).to_owned(),
                    notes: [run.new, run.updated, run.unchanged],
                    sessions: [sessions.new, sessions.updated, sessions.unchanged],
                    skipped: run.skipped,
                    warnings: run.warnings,
                    first: first_titles(*source, path, &source_options),
                });
            }
            // An unreadable source does not prevent the import of the others.
            Err(Failure::Source(error)) if 1 < found.len() => report.left_out.push(SkippedFile {
                path: display(path),
                reason: error.to_string(),
            }),
            Err(failure) => return Err(failure),
        }
        if *source == SourceName::Claude && SourceName::ClaudeSessions.recognizes(path) {
            report.left_out.push(SkippedFile {
                path: display(path),
                reason: format!(
                    "its conversations are imported with the format {:?}",
                    title(SourceName::ClaudeSessions)
                ),
            });
        }
    }
    if !request.is_dry_run && !stop.is_requested() {
        // The notes and sessions are stored. Vectors and the index are derived, and made later if they are missing.
        let _ = ingestion.embed(progress);
        let _ = ingestion.index_sessions(progress);
    }
    Ok(report)
}

/// Returns a path as the person knows it: that of an uploaded file is its name.
fn shown_path(path: &Path, request: &ImportRequest) -> String {
    let below = request
        .upload
        .as_ref()
        .and_then(|folder| path.strip_prefix(folder).ok());
    below.unwrap_or(path).display().to_string()
}

/// Returns the titles of the first notes and conversations.
fn first_titles(source: SourceName, path: &Path, options: &SourceOptions) -> Vec<String> {
    let Ok(source) = memory_ingest::open(source, path, options) else {
        return Vec::new();
    };
    let source: &dyn Source = source.as_ref();
    let notes = source.items().filter_map(|item| match item {
        SourceItem::Note(note) => Some(title_of(note.draft.title.as_deref(), &note.draft.content)),
        _ => None,
    });
    let sessions = source.sessions().filter_map(|item| match item {
        SourceSessionItem::Session(session) => Some(session.title.unwrap_or(session.id)),
        SourceSessionItem::Skipped { .. } => None,
    });
    let titles = notes.take(MAX_TITLES).chain(sessions.take(MAX_TITLES));
    titles.map(|title| shown_title(&title)).collect()
}

fn title_of(title: Option<&str>, content: &str) -> String {
    title.unwrap_or(content).to_owned()
}

fn shown_title(title: &str) -> String {
    without_secrets(&to_one_line(title, MAX_TITLE)).into_owned()
}

/// Imports an export of the memories of this program.
fn import_export(
    services: &Services,
    request: &ImportRequest,
    stop: &ImportStop,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, Failure> {
    let path = &request.path;
    let mut file = File::open(path).map_err(Failure::file(format!("read {}", path.display())))?;
    let mut first = Vec::new();
    let mut see = |memory: &ExportedMemory| {
        if first.len() < MAX_TITLES {
            let draft = &memory.draft;
            first.push(shown_title(&title_of(
                draft.title.as_deref(),
                &draft.content,
            )));
        }
    };
    let options = (SecretPolicy::Refuse, request.is_dry_run);
    let summary = import_memories(services, &mut file, options, stop, &mut see, progress)?;
    let files = ImportedFiles {
        format: "Memories of this program".to_owned(),
        notes: [summary.new, summary.updated, summary.unchanged],
        skipped: summary.skipped,
        first,
        ..ImportedFiles::default()
    };
    Ok(ImportReport {
        sources: vec![files],
        left_out: Vec::new(),
    })
}

/// Imports an export of the sessions of this program.
fn import_sessions(
    home: &Home,
    services: &Services,
    request: &ImportRequest,
    stop: &ImportStop,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, Failure> {
    let messages = Messages {
        ids: services.ids.clone(),
        ..open_history(DEFAULT, &home.settings)?
    };
    let options = (SecretPolicy::Refuse, request.is_dry_run);
    let report = session_export::import_file(&messages, &request.path, options, stop, progress)?;
    let files = ImportedFiles {
        format: "Sessions of this program".to_owned(),
        sessions: [report.new, 0, report.unchanged],
        skipped: report.skipped,
        ..ImportedFiles::default()
    };
    Ok(ImportReport {
        sources: vec![files],
        left_out: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use memory_core::Filter;

    use super::*;

    /// Imports `path` into a new home, stops it as soon as `when` is true, and returns the counts of new notes and sessions.
    fn import_until(
        path: &Path,
        stop: &Arc<ImportStop>,
        when: &dyn Fn(Progress) -> bool,
    ) -> [u64; 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open(&folder.path().join("home")).expect("a home");
        let request = ImportRequest {
            path: path.to_owned(),
            ..ImportRequest::default()
        };
        let mut progress = |progress: Progress| {
            if when(progress) {
                stop.request();
            }
        };
        let services = &home.services;
        let outcome = import(&home, services, &request, stop, &mut progress);
        let Ok(ImportOutcome::Report(report)) = outcome else {
            panic!("{outcome:?}");
        };
        let count =
            |counts: &dyn Fn(&ImportedFiles) -> u64| report.sources.iter().map(counts).sum();
        let (notes, sessions) = (
            count(&|files| files.notes[0]),
            count(&|files| files.sessions[0]),
        );
        let now = services.clock.now();
        let stored = services.store.memories(&Filter::default(), now).count() as u64;
        assert_eq!(stored, notes, "the report counts what is stored");
        [notes, sessions]
    }

    /// The number of notes or sessions of an example.
    const ITEMS: u64 = 5;

    fn file_of(folder: &Path, lines: &dyn Fn(u64) -> String) -> PathBuf {
        let path = folder.join("export.jsonl");
        let text: String = (0..ITEMS).map(lines).collect();
        std::fs::write(&path, text).expect("a file");
        path
    }

    #[test]
    fn a_stop_leaves_out_the_rest_of_a_vault_and_says_so_only_then() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".obsidian")).expect("a folder");
        for number in 0..ITEMS {
            let note = folder.path().join(format!("{number}.md"));
            std::fs::write(note, format!("The crane {number} is old.")).expect("a note");
        }
        let run = |when: &dyn Fn(Progress) -> bool| {
            let stop = Arc::<ImportStop>::default();
            let [notes, _] = import_until(folder.path(), &stop, when);
            assert_eq!(stop.has_left_out(), notes < ITEMS);
            notes
        };
        assert_eq!(run(&|_| false), ITEMS);
        assert_eq!(
            run(&|progress| progress.total.is_none()),
            0,
            "a survey writes nothing"
        );
        // Notes that were read ahead are imported.
        run(&|progress| progress.total.is_some());
        let stop = Arc::<ImportStop>::default();
        stop.request();
        assert_eq!(import_until(folder.path(), &stop, &|_| false), [0, 0]);
        assert!(stop.has_left_out());
    }

    #[test]
    fn a_stop_leaves_out_the_rest_of_an_export_of_this_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let session = |number| {
            format!("{{\"session\":\"s{number}\"}}\n{{\"role\":\"user\",\"content\":\"tea\"}}\n")
        };
        let path = file_of(folder.path(), &session);
        for (last, is_cut) in [
            (1, true),
            (ITEMS - 1, true),
            (ITEMS, false),
            (ITEMS + 1, false),
        ] {
            let stop = Arc::<ImportStop>::default();
            let found = import_until(&path, &stop, &|progress| progress.done == last);
            assert_eq!((found, stop.has_left_out()), ([0, last.min(ITEMS)], is_cut));
        }
        let path = file_of(folder.path(), &|number| {
            format!("{{\"content\":\"The crane {number} is old\"}}\n")
        });
        let stop = Arc::<ImportStop>::default();
        let found = import_until(&path, &stop, &|progress| progress.done == 1);
        assert_eq!((found, stop.has_left_out()), ([2, 0], true));
    }
}
