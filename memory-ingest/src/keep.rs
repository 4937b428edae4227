//! Exports of Google Keep.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::{ContentHash, Source, SourceError, SourceItem};
use regex::Regex;
use serde_json::Value;

use crate::archive::{Archive, ArchiveFile, is_zip};
use crate::distinct_names::distinct_names;
use crate::enml;
use crate::folder::has_extension;
use crate::note::{one_line, stem};
use crate::program_folder::{begins_with_json, list};
use crate::record::{SourceRecord, clean_text};
use crate::record_note::{RecordNote, join_paragraphs};
use crate::source_text;

/// The root of all notes. The time of creation identifies a note in every export, and for several equal ones also the name of the
/// file and the contents.
const ROOT: &str = "notes";

const CREATED_KEY: &str = "createdTimestampUsec";

/// The keys of the contents of a note.
const TEXT_KEYS: [&str; 5] = [
    "textContent",
    "listContent",
    "title",
    "attachments",
    "annotations",
];

/// The text with its styles. It repeats the text, if a note has both.
const HTML_KEY: &str = "textContentHtml";

/// The keys that become fields or other properties of a memory.
const KNOWN_KEYS: [&str; 9] = [
    CREATED_KEY,
    "userEditedTimestampUsec",
    "isTrashed",
    "isPinned",
    "isArchived",
    "color",
    "labels",
    "sharees",
    HTML_KEY,
];

/// Number of digits of the hash of the contents of a note.
const HASH_DIGITS: usize = 8;

/// Number of files that are read to recognize an export.
const SAMPLE: usize = 20;

/// An export of Google Keep: a JSON file per note, in a folder or in archives.
#[derive(Debug)]
pub struct Keep {
    archive: Archive,
    /// Whether the path is the folder of Keep itself.
    is_folder: bool,
}

/// The files of an export by their meaning.
#[derive(Default)]
struct KeepIndex {
    /// The key of each note, and the index of its file in the archive, ordered by key.
    notes: Vec<(String, usize)>,
    /// The files in the folders of the notes that cannot be read as notes, with the reasons.
    skipped: Vec<(String, String)>,
}

impl Keep {
    /// Opens the export at `path`: a folder, a ZIP archive, a folder of archives, or the file of a note.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], or [`SourceError::NotRecognized`] without notes.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let is_json = |name: &str| has_extension(name, &["json"]);
        let archive = Archive::open_parts(path, Self::recognizes, &is_json)?;
        let is_folder = path
            .canonicalize()
            .is_ok_and(|path| path.is_dir() && is_keep_folder(&path.to_string_lossy()));
        let keep = Self { archive, is_folder };
        let is_note = |file: &ArchiveFile| {
            keep.is_in_keep(file) || read_record(file).is_ok_and(|record| is_note(&record))
        };
        if !keep.archive.files.iter().any(is_note) {
            let expected = "an export of Google Keep".to_owned();
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(keep)
    }

    /// Returns whether `path` is an archive, a folder or a file with a note.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let is_json = |name: &str| has_extension(name, &["json"]);
        let has_note = |archive: Archive| {
            // The archive has the files of other products as well.
            let (notes, others): (Vec<_>, Vec<_>) = archive
                .files
                .iter()
                .partition(|file| folder_of(file).split('/').any(is_keep_folder));
            notes
                .iter()
                .chain(&others)
                .take(SAMPLE)
                .any(|file| read_record(file).is_ok_and(|record| is_note(&record)))
        };
        if path.is_file() {
            let is_candidate = is_zip(path).unwrap_or(false) || begins_with_json(path);
            return is_candidate && Archive::open(path, &is_json).is_ok_and(has_note);
        }
        let files = list(path)
            .into_iter()
            .filter(|file| file.is_file() && is_json(&file.to_string_lossy()));
        files
            .take(SAMPLE)
            .any(|file| Archive::open(&file, &is_json).is_ok_and(has_note))
    }

    /// Returns whether a file is in a folder with the name of the program, which may be translated.
    fn is_in_keep(&self, file: &ArchiveFile) -> bool {
        self.is_folder || folder_of(file).split('/').any(is_keep_folder)
    }

    /// Reads all files once. Files in a folder with notes belong to the program; other products of an export have JSON too.
    fn index(&self) -> KeepIndex {
        let files = self.archive.files.iter();
        let records: Vec<_> = files
            .map(|file| read_record(file).map(|record| (is_note(&record), names_of(&record, file))))
            .collect();
        let own = self.archive.files.iter().zip(&records);
        let folders: HashSet<_> = own
            .filter(|(_, record)| record.as_ref().is_ok_and(|(is_note, _)| *is_note))
            .map(|(file, _)| folder_of(file))
            .collect();
        let (mut index, mut notes, mut names) = (KeepIndex::default(), Vec::new(), Vec::new());
        for (number, (file, record)) in self.archive.files.iter().zip(records).enumerate() {
            if !self.is_in_keep(file) && !folders.contains(folder_of(file)) {
                continue;
            }
            match record {
                Ok((_, Ok(own))) => {
                    notes.push(number);
                    names.push(own);
                }
                Ok((_, Err(reason))) | Err(reason) => index.skipped.push((file.path(), reason)),
            }
        }
        index.notes = distinct_names(&names).into_iter().zip(notes).collect();
        index.notes.sort();
        index
    }

    fn finding(&self, path: &str, file: &ArchiveFile) -> SourceItem {
        let skipped = |reason: String| SourceItem::Skipped {
            path: file.path(),
            reason,
        };
        let record = match read_record(file) {
            Ok(record) => record,
            Err(reason) => return skipped(reason),
        };
        if record.is_set("isTrashed") {
            return skipped("is in the trash".into());
        }
        let content = join_paragraphs([
            text_of(&record),
            checklist(&record),
            links(&record),
            attachments(&record),
        ]);
        let title = record.text(&["title"]).map(|title| one_line(&title));
        if content.is_empty() && title.is_none() {
            return skipped("is empty".into());
        }
        let content = if content.is_empty() {
            title.clone().unwrap_or_default()
        } else {
            content
        };
        let mut note = RecordNote::new(self.name(), ROOT, path, &content);
        note.former_paths = names_of(&record, file).map(Vec::from).unwrap_or_default();
        note.draft.title = title;
        note.draft.created_at = read_time(&record, CREATED_KEY);
        note.updated_at = read_time(&record, "userEditedTimestampUsec");
        note.draft.pinned = record.is_set("isPinned");
        let labels = objects(&record, "labels")
            .into_iter()
            .filter_map(|label| label.text(&["name"]));
        let archived = record.is_set("isArchived").then(|| "archived".to_owned());
        note.draft.tags = labels.chain(archived).collect();
        note.add_property(
            "color",
            record.get("color").filter(|color| *color != "DEFAULT"),
        );
        for (key, is_owner) in [("owner", true), ("shared_with", false)] {
            let people = objects(&record, "sharees")
                .into_iter()
                .filter(|person| person.is_set("isOwner") == is_owner);
            let people: Vec<_> = people
                .filter_map(|person| person.text(&["email", "name"]))
                .collect();
            note.add_property(key, (!people.is_empty()).then(|| people.into()).as_ref());
        }
        note.add_property("annotations", record.get("annotations"));
        let is_known = |key: &str| TEXT_KEYS.contains(&key) || KNOWN_KEYS.contains(&key);
        for key in record.0.keys().filter(|key| !is_known(key)) {
            note.add_property(key, record.get(key));
        }
        note.into_item()
    }
}

impl Source for Keep {
    fn name(&self) -> &'static str {
        "keep"
    }

    /// An export may contain the notes of one account, or a part of them.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let problems = self.archive.problems.iter();
        let problems = problems.map(|(path, reason)| SourceItem::Skipped {
            path: path.clone(),
            reason: reason.clone(),
        });
        let index = self.index();
        let skipped = index
            .skipped
            .into_iter()
            .map(|(path, reason)| SourceItem::Skipped { path, reason });
        let notes = index
            .notes
            .into_iter()
            .map(|(path, index)| self.finding(&path, &self.archive.files[index]));
        Box::new(problems.chain(skipped).chain(notes))
    }
}

fn read_record(file: &ArchiveFile) -> Result<SourceRecord, String> {
    let text = source_text::read(file.open()?)?.text;
    let fields =
        serde_json::from_str(&text).map_err(|error| format!("is not a JSON object: {error}"))?;
    Ok(SourceRecord(fields))
}

/// Returns the time at `key`. A time of 0 is a missing one.
fn read_time(record: &SourceRecord, key: &str) -> Option<DateTime<Utc>> {
    record
        .time(&[key])
        .filter(|time| time.timestamp_micros() != 0)
}

/// Returns names of a note that are equal in every form of an export, from the least to the most exact: its time of creation, or
/// else the name of its file; both; and these with a hash of its contents and the number of its file, which may change.
///
/// Notes that another program created may have equal times. The folders differ between forms of an export.
fn names_of(record: &SourceRecord, file: &ArchiveFile) -> Result<[String; 3], String> {
    // The number of a file with the name of another one may change.
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" ?\((\d+)\)$").expect("the pattern is right"));
    if !has_contents(record) {
        return Err("is not a note".into());
    }
    let created = record.text(&[CREATED_KEY]).filter(|created| created != "0");
    let time = one_line(created.as_deref().unwrap_or_else(|| stem(&file.name)));
    let name = one_line(&format!("{time} {}", NUMBER.replace(stem(&file.name), "")));
    let number = NUMBER.captures(stem(&file.name)).map_or("0", |found| {
        found.get(1).map_or("0", |number| number.as_str())
    });
    let contents: Vec<_> = TEXT_KEYS
        .iter()
        .map(|key| record.get(key).map(Value::to_string).unwrap_or_default())
        .collect();
    let hash = ContentHash::of(&contents.join("\0")).to_string();
    Ok([
        time,
        name.clone(),
        format!("{name} {}-{number}", &hash[..HASH_DIGITS]),
    ])
}

/// Returns the folder of a file in the export; empty for the export itself.
fn folder_of(file: &ArchiveFile) -> &str {
    file.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_keep_folder(path: &str) -> bool {
    path.ends_with("Keep")
}

/// Returns whether a record has a text and a key that only notes of the program have.
fn is_note(record: &SourceRecord) -> bool {
    let own = [
        CREATED_KEY,
        "userEditedTimestampUsec",
        "isTrashed",
        "isPinned",
        "isArchived",
    ];
    has_contents(record) && own.iter().any(|key| record.contains(key))
}

fn has_contents(record: &SourceRecord) -> bool {
    TEXT_KEYS
        .iter()
        .chain(&[HTML_KEY])
        .any(|key| record.contains(key))
}

fn objects(record: &SourceRecord, key: &str) -> Vec<SourceRecord> {
    let items = record
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.as_object().cloned().map(SourceRecord))
        .collect()
}

/// Returns the text of a note: as Markdown if it has styles, or else as it is.
fn text_of(record: &SourceRecord) -> String {
    let plain = record
        .get("textContent")
        .and_then(Value::as_str)
        .map(clean_text)
        .unwrap_or_default();
    styled_text(record, HTML_KEY, &plain).unwrap_or(plain)
}

/// Returns the text in HTML at `key` as Markdown, if it has styles or `plain` is empty.
fn styled_text(record: &SourceRecord, key: &str, plain: &str) -> Option<String> {
    static STYLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"<(?:h[1-6]|b|strong|i|em|s|del|a|ul|ol)[\s>]|font-weight:\s*(?:bold|700)")
            .expect("the pattern is right")
    });
    let html = record.text(&[key])?;
    (plain.trim().is_empty() || STYLE.is_match(&html))
        .then(|| clean_text(&enml::to_markdown(&html).markdown))
        .filter(|text| !text.trim().is_empty())
}

fn checklist(record: &SourceRecord) -> String {
    let line = |item: SourceRecord| {
        let mark = if item.is_set("isChecked") { "x" } else { " " };
        let plain = item.text(&["text"]).unwrap_or_default();
        let text = styled_text(&item, "textHtml", &plain).unwrap_or(plain);
        format!("- [{mark}] {}", text.replace('\n', "\n  "))
    };
    objects(record, "listContent")
        .into_iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the web pages that were saved with a note, except those in its text. All of them are also properties.
fn links(record: &SourceRecord) -> String {
    let text = text_of(record);
    let line = |page: SourceRecord| {
        let url = page
            .text(&["url"])
            .filter(|url| !text.contains(url.as_str()))?;
        let title = page
            .text(&["title"])
            .map(|title| one_line(&title).replace(['[', ']'], " "));
        Some(title.map_or_else(
            || format!("- <{url}>"),
            |title| format!("- [{title}](<{url}>)"),
        ))
    };
    objects(record, "annotations")
        .into_iter()
        .filter_map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn attachments(record: &SourceRecord) -> String {
    let line = |file: SourceRecord| {
        file.text(&["filePath"])
            .map(|path| format!("[file: {}]", one_line(&path)))
    };
    objects(record, "attachments")
        .into_iter()
        .filter_map(line)
        .collect::<Vec<_>>()
        .join("\n")
}
