//! A home for tests of the index.

use std::fs::{self, File, FileTimes};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeZone, Utc};
use memory_core::query_parser::{ParsedQuery, parse};
use memory_core::spelling::correct_query;
use memory_core::{
    Filter, ListOrder, MemoryId, PageRequest, Query, Ranking, SearchRequest, SearchResults,
    StoreError,
};
use tempfile::TempDir;

use crate::disk::RealDisk;
use crate::index::flush::flush;
use crate::index::{AppliedChange, MemoryIndex, RefreshDepth};

/// A home in a temporary folder.
pub(in crate::index) struct IndexFixture {
    folder: TempDir,
}

/// A note to write.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct TestNote<'n> {
    pub(in crate::index) number: u32,
    pub(in crate::index) folder: &'n str,
    pub(in crate::index) front: &'n str,
    pub(in crate::index) body: &'n str,
}

impl TestNote<'_> {
    pub(in crate::index) fn id(&self) -> MemoryId {
        id(self.number)
    }

    pub(in crate::index) fn path(&self) -> String {
        let folder = if self.folder.is_empty() {
            "inbox"
        } else {
            self.folder
        };
        format!(
            "categories/{folder}/note-{}-{}.md",
            self.number,
            self.id().short()
        )
    }

    fn text(&self) -> String {
        let second = self.number % 60;
        let minute = self.number / 60 % 60;
        let hour = self.number / 3600;
        let front = self.front;
        let at = format!("2026-05-07T{hour:02}:{minute:02}:{second:02}Z");
        format!(
            "---\nid: {}\n{front}created_at: {at}\nupdated_at: {at}\n---\n{}\n",
            self.id(),
            self.body
        )
    }
}

pub(in crate::index) fn id(number: u32) -> MemoryId {
    MemoryId::from(uuid::Uuid::from_fields(
        number,
        0,
        0x4000,
        &[0x80, 0, 0, 0, 0, 0, 0, 1],
    ))
}

pub(in crate::index) fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 6, 1, 0, 0, 0).unwrap()
}

pub(in crate::index) fn query(text: &str) -> Query {
    Query {
        text: text.to_owned(),
        filter: Filter::default(),
        limit: 10,
        ranking: Ranking::default(),
    }
}

impl IndexFixture {
    pub(in crate::index) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("categories/inbox")).unwrap();
        Self { folder }
    }

    pub(in crate::index) fn with(notes: &[TestNote<'_>]) -> Self {
        let home = Self::new();
        for note in notes {
            home.write(note);
        }
        home
    }

    pub(in crate::index) fn index(&self) -> MemoryIndex {
        MemoryIndex::open(Arc::new(self.disk()), self.folder.path(), 0)
    }

    pub(in crate::index) fn disk(&self) -> RealDisk {
        RealDisk::open(self.folder.path()).unwrap()
    }

    pub(in crate::index) fn absolute_path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a note as another program does.
    pub(in crate::index) fn write(&self, note: &TestNote<'_>) {
        self.put(&note.path(), note.text().as_bytes());
    }

    pub(in crate::index) fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.absolute_path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes notes as the store does, and updates the index.
    pub(in crate::index) fn write_and_apply(&self, index: &MemoryIndex, notes: &[TestNote<'_>]) {
        let applied: Vec<AppliedChange> = notes
            .iter()
            .map(|note| {
                self.write(note);
                AppliedChange::Kept {
                    path: note.path(),
                    former_path: None,
                }
            })
            .collect();
        index.apply(&applied, None).unwrap();
    }

    /// Sets the modification time of a file to an hour ago.
    pub(in crate::index) fn age(&self, path: &str) {
        let then = SystemTime::from(memory_core::Clock::now(&memory_core::SystemClock))
            - Duration::from_hours(1);
        File::options()
            .write(true)
            .open(self.absolute_path(path))
            .unwrap()
            .set_times(FileTimes::new().set_modified(then))
            .unwrap();
    }
}

/// Searches after a refresh, with corrected words, as the use case does.
pub(in crate::index) fn search(index: &MemoryIndex, query: &Query) -> SearchResults {
    index.refresh(RefreshDepth::Usual).unwrap();
    try_search(index, query).unwrap()
}

pub(in crate::index) fn try_search(
    index: &MemoryIndex,
    query: &Query,
) -> Result<SearchResults, StoreError> {
    let ParsedQuery {
        question, filter, ..
    } = parse(&query.text, &query.filter);
    let corrections = index.correct_words(&question, filter.within.as_deref())?;
    let corrected = correct_query(&question, &corrections, true);
    let question = corrected.map_or(question, |(with, _)| with);
    index.search(
        &SearchRequest {
            question: &question,
            filter: &filter,
            limit: query.limit,
            ranking: query.ranking,
            vector: None,
        },
        now(),
    )
}

/// Returns the numbers of the notes in the results, best first.
pub(in crate::index) fn numbers(index: &MemoryIndex, text: &str) -> Vec<u32> {
    numbers_of(&search(index, &query(text)))
}

pub(in crate::index) fn numbers_of(found: &SearchResults) -> Vec<u32> {
    found
        .hits
        .iter()
        .map(|hit| number(&hit.stored.memory.id))
        .collect()
}

pub(in crate::index) fn number(id: &MemoryId) -> u32 {
    uuid::Uuid::from(*id).as_fields().0
}

/// Returns the numbers of all notes, newest first.
pub(in crate::index) fn listed(index: &MemoryIndex) -> Vec<u32> {
    index.refresh(RefreshDepth::Usual).unwrap();
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let page = index.list(&Filter::default(), &slice, now()).unwrap();
    assert_eq!(page.total, page.memories.len() as u64);
    page.memories
        .iter()
        .map(|stored| number(&stored.memory.id))
        .collect()
}

/// Checks the index with flushed notes, with pending notes, and after a flush of the pending notes.
pub(in crate::index) fn check_flushed_and_pending(
    home: &IndexFixture,
    check: impl Fn(&MemoryIndex),
) {
    let flushed = home.index();
    flushed.refresh(RefreshDepth::Usual).unwrap();
    check(&flushed);
    drop(flushed);
    fs::remove_dir_all(home.absolute_path("index")).unwrap();
    fs::rename(
        home.absolute_path("categories"),
        home.absolute_path("aside"),
    )
    .unwrap();
    let pending = home.index();
    pending.refresh(RefreshDepth::Usual).unwrap();
    fs::rename(
        home.absolute_path("aside"),
        home.absolute_path("categories"),
    )
    .unwrap();
    pending.refresh(RefreshDepth::Usual).unwrap();
    check(&pending);
    pending.query("flush", |_, opened| flush(opened)).unwrap();
    check(&pending);
}
