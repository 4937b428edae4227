//! JSON files of any program, with a map of their keys.

use std::collections::HashSet;
use std::path::Path;

use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem};

use crate::field_map::{FieldMap, SuggestedMap, mapped_items};
use crate::json_records::{JsonRecordFile, MAX_RECORD_BYTES};
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, find_file};

/// The lists of records in a document that is an object.
const LISTS: &[&str] = &[
    "results", "memories", "items", "records", "notes", "data", "entries",
];

/// Number of records whose keys are taken for a map that is guessed.
const SAMPLE: usize = 20;

/// A file with JSON objects: one per line, or in an array. Each is a note, by a map of its keys.
#[derive(Debug)]
pub struct Jsonl {
    file: JsonRecordFile,
    map: FieldMap,
}

impl Jsonl {
    /// Opens the file at `path`. `fields` are pairs of a field of memories and a key; dots separate nested keys.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], [`SourceError::NotRecognized`] or [`SourceError::WrongMap`].
    pub fn open(path: &Path, fields: &[(String, String)]) -> Result<Self, SourceError> {
        let found = find_file(path, &[])?;
        let file = open_records(&found)?;
        let (keys, _) = sample(&file);
        if keys.is_empty() {
            let expected = "a file with JSON objects".into();
            return Err(SourceError::NotRecognized {
                path: found.display().to_string(),
                expected,
            });
        }
        let unknown = unknown_keys(&file, fields);
        let map = FieldMap::new(fields, &keys, &|key| !unknown.contains(&key), &found)?;
        Ok(Self { file, map })
    }

    /// Returns a map for the file at `path`, or `None` if it has no objects with a text.
    pub(crate) fn suggest_map(path: &Path) -> Option<SuggestedMap> {
        let (keys, records) = sample(&open_records(path).ok()?);
        SuggestedMap::new(keys, &records)
    }
}

fn open_records(path: &Path) -> Result<JsonRecordFile, SourceError> {
    let file = JsonRecordFile::open(path, LISTS, MAX_RECORD_BYTES)?;
    // In a line, an object with one of these keys is a record.
    if file.has_lines() {
        JsonRecordFile::open(path, &[], MAX_RECORD_BYTES)
    } else {
        Ok(file)
    }
}

/// Returns the first records of a file, with their keys.
fn sample(file: &JsonRecordFile) -> (Vec<String>, Vec<SourceRecord>) {
    let records: Vec<_> = file
        .first_records(SAMPLE)
        .into_iter()
        .map(|(_, record)| record)
        .collect();
    let mut known = HashSet::new();
    let keys = records.iter().flat_map(|record| record.0.keys());
    let keys = keys.filter(|key| known.insert(*key)).cloned().collect();
    (keys, records)
}

/// Returns the keys of a map that no record has.
fn unknown_keys<'a>(file: &JsonRecordFile, fields: &'a [(String, String)]) -> Vec<&'a str> {
    let mut unknown: Vec<_> = fields.iter().map(|(_, key)| key.as_str()).collect();
    if let Ok(mut reader) = file.reader() {
        reader.scan(&mut |_, record| {
            unknown.retain(|key| !record.as_ref().is_ok_and(|record| record.contains(key)));
            !unknown.is_empty()
        });
    }
    unknown
}

impl Source for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Pages
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        mapped_items("jsonl", &self.file, &self.map, None)
    }
}
