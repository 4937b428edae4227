//! A folder for one test, and the findings of a source in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::testing::{services, source_suite};
use memory_core::{Draft, IngestOptions, IngestReport, MemStore, NoteItem, Source, SourceItem, ingest};
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
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder can be made");
        std::fs::write(path, bytes).expect("a file can be written");
    }

    pub(crate) fn survey(&self, name: SourceName) -> SourceSurvey {
        survey_source(name, self.0.path())
    }
}

pub(crate) struct SurveyNote {
    pub(crate) draft: Draft,
    pub(crate) front_matter: String,
    pub(crate) links: Vec<String>,
    pub(crate) uncounted_links: Vec<String>,
    pub(crate) warning: Option<String>,
}

impl SurveyNote {
    pub(crate) fn path(&self) -> &str {
        &self.draft.origin.as_ref().expect("every note has an origin").path
    }
}

/// All findings of a source.
pub(crate) struct SourceSurvey {
    pub(crate) notes: Vec<SurveyNote>,
    pub(crate) attachments: Vec<String>,
    pub(crate) skipped: Vec<(String, String)>,
    pub(crate) tags: BTreeSet<String>,
    /// The report of an import.
    pub(crate) report: IngestReport,
    /// The report of a second import.
    pub(crate) again: IngestReport,
}

impl SourceSurvey {
    pub(crate) fn note(&self, path: &str) -> &SurveyNote {
        self.notes.iter().find(|note| note.path() == path).unwrap_or_else(|| panic!("there is no note {path}"))
    }
}

pub(crate) fn survey_source(name: SourceName, path: &Path) -> SourceSurvey {
    let source = open(name, path, &SourceOptions::default()).expect("the source is there");
    source_suite(source.as_ref());
    let home = services(Arc::new(MemStore::default()));
    let take = |source: &dyn Source| {
        ingest(&home, source, &IngestOptions::default(), &mut |_| {}).expect("the fake store does not fail")
    };
    let mut survey = SourceSurvey {
        notes: Vec::new(),
        attachments: Vec::new(),
        skipped: Vec::new(),
        tags: BTreeSet::new(),
        report: take(source.as_ref()),
        again: take(source.as_ref()),
    };
    for finding in source.items() {
        match finding {
            SourceItem::Note(note) => {
                let NoteItem { draft, front_matter, links, uncounted_links, warning, .. } = *note;
                assert_eq!(draft.source, name.as_str());
                survey.tags.extend(draft.tags.iter().map(|tag| memory_core::Tags::key(tag)));
                survey.notes.push(SurveyNote { draft, front_matter, links, uncounted_links, warning });
            }
            SourceItem::Attachment(path) => survey.attachments.push(path),
            SourceItem::Skipped { path, reason } => survey.skipped.push((path, reason)),
        }
    }
    survey
}
