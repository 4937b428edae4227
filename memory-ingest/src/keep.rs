//! Exports of Google Keep.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, Utc};
use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem};
use serde_json::Value;

use crate::archive::{Archive, ArchiveFile};
use crate::folder::has_extension;
use crate::note::{one_line, stem};
use crate::record::{SourceRecord, clean_text};
use crate::record_note::{RecordNote, join_paragraphs};
use crate::source_text;

/// The root of all notes. The time of creation identifies a note in every export.
const ROOT: &str = "notes";

const CREATED_KEY: &str = "createdTimestampUsec";

/// An export of Google Keep: a JSON file per note, in a folder or in archives.
#[derive(Debug)]
pub struct Keep {
    archive: Archive,
}

impl Keep {
    /// Opens the export at `path`: a folder, a ZIP archive, a folder of archives, or the file of a note.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], or [`SourceError::NotRecognized`] without notes.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let archive = Archive::open(path, &|name| has_extension(name, &["json"]))?;
        let keep = Self { archive };
        if !keep.archive.files.iter().any(|file| is_in_keep(file) || read_record(file).is_ok_and(|record| is_note(&record))) {
            let expected = "an export of Google Keep".to_owned();
            return Err(SourceError::NotRecognized { path: path.display().to_string(), expected });
        }
        Ok(keep)
    }

    /// Returns whether `path` is an unpacked export.
    pub(crate) fn recognizes(path: &Path) -> bool {
        path.join("Takeout/Keep").is_dir() || path.join("Keep").is_dir()
    }

    /// Returns the index in the archive and the path of each note, ordered by path.
    fn index(&self) -> Vec<(String, usize)> {
        let mut seen = HashSet::new();
        let mut paths: Vec<_> = self
            .archive
            .files
            .iter()
            .enumerate()
            .map(|(index, file)| {
                let name = one_line(stem(&file.name));
                let created =
                    read_record(file).ok().and_then(|record| record.text(&[CREATED_KEY])).filter(|created| created != "0");
                let path = created.map_or_else(|| name.clone(), |created| one_line(&created));
                // Notes that another program created may have equal times.
                let path = if seen.insert(path.clone()) { path } else { format!("{path} {}", file.path()) };
                (path, index)
            })
            .collect();
        paths.sort();
        paths
    }

    fn finding(&self, path: &str, file: &ArchiveFile) -> Option<SourceItem> {
        let skipped = |reason: String| Some(SourceItem::Skipped { path: file.path(), reason });
        let record = match read_record(file) {
            Ok(record) => record,
            // Other products of the export have JSON files too.
            Err(reason) => return if is_in_keep(file) { skipped(reason) } else { None },
        };
        if !is_note(&record) {
            return if is_in_keep(file) { skipped("is not a note".into()) } else { None };
        }
        if record.is_set("isTrashed") {
            return skipped("is in the trash".into());
        }
        let content = join_paragraphs([text_of(&record), checklist(&record), links(&record), attachments(&record)]);
        let title = record.text(&["title"]).map(|title| one_line(&title));
        if content.is_empty() && title.is_none() {
            return skipped("is empty".into());
        }
        let content = if content.is_empty() { title.clone().unwrap_or_default() } else { content };
        let mut note = RecordNote::new(self.name(), ROOT, path, &content);
        note.draft.title = title;
        note.draft.created_at = read_time(&record, CREATED_KEY);
        note.updated_at = read_time(&record, "userEditedTimestampUsec");
        note.draft.pinned = record.is_set("isPinned");
        let labels = objects(&record, "labels").into_iter().filter_map(|label| label.text(&["name"]));
        let archived = record.is_set("isArchived").then(|| "archived".to_owned());
        note.draft.tags = labels.chain(archived).collect();
        note.add_property("color", record.get("color").filter(|color| *color != "DEFAULT"));
        let emails = objects(&record, "sharees").into_iter().filter(|sharee| !sharee.is_set("isOwner"));
        let emails: Vec<_> = emails.filter_map(|sharee| sharee.text(&["email"])).collect();
        note.add_property("shared_with", (!emails.is_empty()).then(|| emails.into()).as_ref());
        Some(note.into_item())
    }
}

impl Source for Keep {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    /// An export may contain the notes of one account, or a part of them.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let problems = self.archive.problems.iter();
        let problems = problems.map(|(path, reason)| SourceItem::Skipped { path: path.clone(), reason: reason.clone() });
        let notes = self.index().into_iter().filter_map(|(path, index)| self.finding(&path, &self.archive.files[index]));
        Box::new(problems.chain(notes))
    }
}

fn read_record(file: &ArchiveFile) -> Result<SourceRecord, String> {
    let text = source_text::read(file.open()?)?.text;
    let fields = serde_json::from_str(&text).map_err(|error| format!("is not a JSON object: {error}"))?;
    Ok(SourceRecord(fields))
}

/// Returns the time at `key`. A time of 0 is a missing one.
fn read_time(record: &SourceRecord, key: &str) -> Option<DateTime<Utc>> {
    record.time(&[key]).filter(|time| time.timestamp_micros() != 0)
}

/// Returns whether a file is in the folder of Keep, whose name may be translated.
fn is_in_keep(file: &ArchiveFile) -> bool {
    file.name.rsplit('/').skip(1).any(|folder| folder.ends_with("Keep"))
}

fn is_note(record: &SourceRecord) -> bool {
    record.0.contains_key(CREATED_KEY)
        && ["textContent", "listContent", "title", "attachments"].iter().any(|key| record.0.contains_key(*key))
}

fn objects(record: &SourceRecord, key: &str) -> Vec<SourceRecord> {
    let items = record.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_object().cloned().map(SourceRecord)).collect()
}

fn text_of(record: &SourceRecord) -> String {
    record.get("textContent").and_then(Value::as_str).map(clean_text).unwrap_or_default()
}

fn checklist(record: &SourceRecord) -> String {
    let line = |item: SourceRecord| {
        let mark = if item.is_set("isChecked") { "x" } else { " " };
        format!("- [{mark}] {}", item.text(&["text"]).unwrap_or_default().replace('\n', "\n  "))
    };
    objects(record, "listContent").into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the web pages that were saved with a note, except those in its text.
fn links(record: &SourceRecord) -> String {
    let text = text_of(record);
    let line = |page: SourceRecord| {
        let url = page.text(&["url"]).filter(|url| !text.contains(url.as_str()))?;
        let title = page.text(&["title"]).map(|title| one_line(&title).replace(['[', ']'], " "));
        Some(title.map_or_else(|| format!("- <{url}>"), |title| format!("- [{title}](<{url}>)")))
    };
    objects(record, "annotations").into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn attachments(record: &SourceRecord) -> String {
    let line = |file: SourceRecord| file.text(&["filePath"]).map(|path| format!("[file: {}]", one_line(&path)));
    objects(record, "attachments").into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}
