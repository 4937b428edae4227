//! A folder for one test, and the findings of a source in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::chrono::{DateTime, Utc};
use memory_core::instance::history::RecordDraft;
use memory_core::json::JsonText;
use memory_core::testing::{services, source_suite};
use memory_core::{
    Draft, Filter, IngestOptions, IngestReport, MemStore, MemoryId, NoteItem, Source, SourceItem,
    SourceSession, SourceSessionItem, ingest,
};
use memory_ingest::{SourceName, SourceOptions, open};
use tempfile::TempDir;

pub(crate) struct IngestSandbox(TempDir);

impl IngestSandbox {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        for (path, text) in files {
            sandbox.write(path, text.as_bytes());
        }
        sandbox
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("the folder is there")
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the folder"))
            .expect("a folder can be made");
        std::fs::write(path, bytes).expect("a file can be written");
    }

    pub(crate) fn survey(&self, name: SourceName) -> SourceSurvey {
        survey_source(name, self.0.path())
    }
}

pub(crate) struct SurveyNote {
    pub(crate) draft: Draft,
    pub(crate) id: Option<MemoryId>,
    pub(crate) updated_at: Option<DateTime<Utc>>,
    pub(crate) front_matter: String,
    pub(crate) links: Vec<String>,
    pub(crate) uncounted_links: Vec<String>,
    pub(crate) warning: Option<String>,
}

/// Returns the moment in an RFC 3339 text.
pub(crate) fn moment(text: &str) -> DateTime<Utc> {
    text.parse().expect("a moment")
}

impl SurveyNote {
    pub(crate) fn path(&self) -> &str {
        &self
            .draft
            .origin
            .as_ref()
            .expect("every note has an origin")
            .path
    }
}

/// All findings of a source.
pub(crate) struct SourceSurvey {
    pub(crate) notes: Vec<SurveyNote>,
    pub(crate) attachments: Vec<String>,
    pub(crate) skipped: Vec<(String, String)>,
    pub(crate) tags: BTreeSet<String>,
    pub(crate) sessions: Vec<SourceSession>,
    /// The report of an import.
    pub(crate) report: IngestReport,
    /// The report of a second import.
    pub(crate) again: IngestReport,
}

impl SourceSurvey {
    pub(crate) fn note(&self, path: &str) -> &SurveyNote {
        self.notes
            .iter()
            .find(|note| note.path() == path)
            .unwrap_or_else(|| panic!("there is no note {path}"))
    }
}

pub(crate) fn survey_source(name: SourceName, path: &Path) -> SourceSurvey {
    survey_mapped_source(name, path, &[])
}

/// Returns the days of the times that the notes of a source state without a zone, sorted.
pub(crate) fn stated_days(name: SourceName, path: &Path) -> Vec<String> {
    let source = open(name, path, &field_options(&[])).expect("the source is there");
    let mut days = Vec::new();
    for item in source.items() {
        if let SourceItem::Note(note) = item {
            days.extend(
                note.local_times
                    .iter()
                    .map(|day| day.date_naive().to_string()),
            );
        }
    }
    days.sort();
    days
}

/// Returns the options with these pairs of a field and a key.
pub(crate) fn field_options(fields: &[(&str, &str)]) -> SourceOptions {
    SourceOptions {
        fields: fields
            .iter()
            .map(|(field, key)| ((*field).to_owned(), (*key).to_owned()))
            .collect(),
    }
}

pub(crate) fn survey_mapped_source(
    name: SourceName,
    path: &Path,
    fields: &[(&str, &str)],
) -> SourceSurvey {
    let source = open(name, path, &field_options(fields)).expect("the source is there");
    assert_eq!(source.name(), name.as_str());
    survey_opened(source.as_ref())
}

pub(crate) fn survey_opened(source: &dyn Source) -> SourceSurvey {
    source_suite(source);
    let name = source.name();
    let home = services(Arc::new(MemStore::default()));
    let take = |source: &dyn Source| {
        ingest(&home, source, &IngestOptions::default(), &mut |_| {})
            .expect("the fake store does not fail")
    };
    let mut survey = SourceSurvey {
        notes: Vec::new(),
        attachments: Vec::new(),
        skipped: Vec::new(),
        tags: BTreeSet::new(),
        sessions: Vec::new(),
        report: take(source),
        again: take(source),
    };
    for finding in source.items() {
        match finding {
            SourceItem::Note(note) => {
                let NoteItem {
                    draft,
                    id,
                    updated_at,
                    front_matter,
                    links,
                    uncounted_links,
                    warning,
                    ..
                } = *note;
                // An export of a home states the source of each memory.
                assert!(draft.source == name || id.is_some(), "{}", draft.source);
                survey
                    .tags
                    .extend(draft.tags.iter().map(|tag| memory_core::Tags::key(tag)));
                survey.notes.push(SurveyNote {
                    draft,
                    id,
                    updated_at,
                    front_matter,
                    links,
                    uncounted_links,
                    warning,
                });
            }
            SourceItem::Attachment(path) => survey.attachments.push(path),
            SourceItem::Skipped { path, reason } => survey.skipped.push((path, reason)),
        }
    }
    for item in source.sessions() {
        match item {
            SourceSessionItem::Session(session) => survey.sessions.push(*session),
            SourceSessionItem::Skipped { path, reason } => survey.skipped.push((path, reason)),
        }
    }
    survey
}

/// Creates a database with these statements in a folder.
pub(crate) fn create_database(folder: &IngestSandbox, path: &str, statements: &str) {
    folder.write(path, b"");
    let connection =
        rusqlite::Connection::open(folder.path().join(path)).expect("a database can be created");
    connection
        .execute_batch(statements)
        .expect("the statements are right");
}

/// Returns the paths of the notes.
pub(crate) fn note_paths(found: &SourceSurvey) -> Vec<&str> {
    found.notes.iter().map(SurveyNote::path).collect()
}

/// Returns the texts of a conversation, with the roles of their authors.
pub(crate) fn session_texts(session: &SourceSession) -> Vec<(&str, String)> {
    let text = |record: &RecordDraft| {
        record
            .content
            .as_ref()
            .and_then(JsonText::as_string)
            .unwrap_or_default()
    };
    session
        .records
        .iter()
        .map(|record| (record.role.as_str(), text(record)))
        .collect()
}

/// Asserts that the second state of a source with three notes of the same name, of which one was edited, updates its memory.
pub(crate) fn assert_edited_note_is_found(
    name: SourceName,
    before: &IngestSandbox,
    after: &IngestSandbox,
) {
    let home = services(Arc::new(MemStore::default()));
    let take = |state: &IngestSandbox| {
        let source =
            open(name, &state.path(), &SourceOptions::default()).expect("the source is there");
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("the fake store does not fail");
        (
            report.new,
            report.updated,
            report.unchanged,
            report.skipped.len(),
        )
    };
    assert_eq!(take(before), (3, 0, 0, 0), "{name}");
    assert_eq!(take(after), (0, 1, 2, 0), "{name}");
    assert_eq!(take(after), (0, 0, 3, 0), "{name}");
    // An edit back and forth is one of the same note.
    assert_eq!(take(before), (0, 1, 2, 0), "{name}");
}

/// Ingests states of a source into one home. Returns the numbers of new, updated and unchanged notes of each run.
pub(crate) fn ingest_states(name: SourceName, states: &[&IngestSandbox]) -> Vec<(u64, u64, u64)> {
    let home = services(Arc::new(MemStore::default()));
    let run = |state: &&IngestSandbox| {
        let source =
            open(name, &state.path(), &SourceOptions::default()).expect("the source is there");
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("the fake store does not fail");
        (report.new, report.updated, report.unchanged)
    };
    states.iter().map(run).collect()
}

/// Asserts that states of a source with one, two and three notes give each note a memory that retains its text.
pub(crate) fn assert_notes_are_stable(
    name: SourceName,
    one: &IngestSandbox,
    two: &IngestSandbox,
    three: &IngestSandbox,
) {
    let home = services(Arc::new(MemStore::default()));
    let mut known = BTreeMap::new();
    for (count, state) in (1..).zip([one, two, three]) {
        let source =
            open(name, &state.path(), &SourceOptions::default()).expect("the source is there");
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("the fake store does not fail");
        assert_eq!(
            (report.new, report.skipped.len()),
            (1, 0),
            "{:?}",
            report.skipped
        );
        let stored = home.store.memories(&Filter::all(), home.clock.now());
        let memories: BTreeMap<_, _> = stored
            .map(|stored| stored.expect("it can be read").memory)
            .map(|memory| (memory.id, memory.content))
            .collect();
        assert_eq!(memories.len(), count);
        assert!(
            known
                .iter()
                .all(|(id, text)| memories.get(id) == Some(text)),
            "{known:?} {memories:?}"
        );
        known = memories;
    }
}
