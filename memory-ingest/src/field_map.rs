//! Records without fixed names, and the fields of memories that their keys map to.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use memory_core::{ContentHash, SourceError, SourceItem, SpeakerRole, secret, wikilink};
use serde_json::Value;

use crate::enml::to_markdown;
use crate::note::{self, one_line};
use crate::own_fields;
use crate::record::{SourceRecord, map_category};
use crate::record_file::{RecordFile, RecordIndex, RecordPosition, record_name, unreadable};
use crate::record_note::{RecordNote, join_paragraphs, project_scope};

/// The fields of a memory to which a key or a column can map, and the keys that are taken for them without a map.
const FIELDS: [(&str, &[&str]); 10] = [
    (
        "content",
        &[
            "content",
            "text",
            "memory",
            "body",
            "note",
            "value",
            "message",
            "description",
        ],
    ),
    ("title", &["title", "subject", "heading", "name"]),
    ("tags", &["tags", "tag", "labels", "keywords"]),
    ("category", &["category", "type", "kind"]),
    (
        "created",
        &[
            "created_at",
            "created",
            "createdat",
            "created_on",
            "creation_date",
            "date",
            "timestamp",
        ],
    ),
    (
        "updated",
        &[
            "updated_at",
            "updated",
            "updatedat",
            "modified",
            "modified_at",
            "last_modified",
        ],
    ),
    ("id", &["id", "uuid", "_id"]),
    ("project", &["project", "workspace", "repository"]),
    ("source", &["source"]),
    ("author", &["author", "role", "user", "speaker"]),
];

/// The last field, which is separate since few tables have it.
const EXPIRES: (&str, &[&str]) = (
    "expires",
    &["expires_at", "expires", "expiry", "expiration_date"],
);

/// The key of the response of Gemini beside the prompt, in the activity of a Google account.
const RESPONSE: &str = "safeHtmlItem";

/// The fields that are times.
const TIMES: [&str; 3] = ["created", "updated", EXPIRES.0];

/// Maximum number of items of a list of numbers that is stored as a property under any name. Longer ones are embeddings.
const MAX_NUMBERS: usize = 64;

/// The key or column of each field of a memory.
#[derive(Debug, Clone)]
pub(crate) struct FieldMap {
    fields: Vec<(&'static str, String)>,
    is_guessed: bool,
}

impl FieldMap {
    /// Returns the map with these pairs of a field and a key or, without pairs, a map for `keys`.
    ///
    /// # Errors
    /// [`SourceError::WrongMap`] for an unknown or duplicate field, for a key that is not in the file, or if no key has the
    /// text.
    pub(crate) fn new(
        pairs: &[(String, String)],
        keys: &[String],
        is_known: &dyn Fn(&str) -> bool,
        path: &Path,
    ) -> Result<Self, SourceError> {
        let wrong = |problem: String| SourceError::WrongMap {
            path: path.display().to_string(),
            problem,
        };
        let known = || {
            if keys.is_empty() {
                "no keys".to_owned()
            } else {
                redacted(&keys.join(", "))
            }
        };
        let mut fields = Vec::<(&'static str, String)>::new();
        for (field, key) in pairs {
            let Some((name, _)) = all_fields().find(|(name, _)| name == field) else {
                let names: Vec<_> = all_fields().map(|(name, _)| name).collect();
                return Err(wrong(format!(
                    "a memory has no field {} (its fields are {})",
                    redacted(field),
                    names.join(", ")
                )));
            };
            if fields.iter().any(|(own, _)| *own == name) {
                return Err(wrong(format!("the field {name} is mapped twice")));
            }
            if !is_known(key) {
                return Err(wrong(format!(
                    "{} for the field {name} is not in the file (it has {})",
                    redacted(key),
                    known()
                )));
            }
            fields.push((name, key.clone()));
        }
        if pairs.is_empty() {
            fields = guess_fields(keys);
        }
        if fields.iter().all(|(name, _)| *name != "content") {
            return Err(wrong(format!(
                "the key of the field content is missing (the file has {})",
                known()
            )));
        }
        Ok(Self {
            fields,
            is_guessed: pairs.is_empty(),
        })
    }

    fn key(&self, field: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, key)| key.as_str())
    }

    fn text(&self, field: &str, record: &SourceRecord) -> Option<String> {
        record.text(&[self.key(field)?])
    }

    /// Returns the keys of times with a value in the record that is none.
    fn lost_times(&self, record: &SourceRecord) -> impl Iterator<Item = &str> {
        let keys = TIMES.into_iter().filter_map(|field| self.key(field));
        keys.filter(|key| record.get(key).is_some() && record.time(&[key]).is_none())
    }

    /// Returns the description of a guessed map.
    fn guess(&self) -> Option<String> {
        let pairs: Vec<_> = self
            .fields
            .iter()
            .map(|(field, key)| format!("{field}={key}"))
            .collect();
        self.is_guessed
            .then(|| format!("the fields were guessed: {}", redacted(&pairs.join(", "))))
    }

    /// Returns the path of the item of a record: by its id, or else by a hash of its text. Then also a hash of the whole record, which
    /// distinguishes it from others with its text.
    fn path(&self, record: &SourceRecord) -> Result<(String, Option<u64>), String> {
        let content = self.text("content", record).ok_or("has no text")?;
        if let Some(id) = self.text("id", record) {
            return Ok((format!("records/{}", one_line(&id)), None));
        }
        let whole = ContentHash::of(&Value::from(record.0.clone()).to_string());
        let whole = whole.as_bytes().first_chunk().copied();
        let path = format!("texts/{}", &ContentHash::of(&content).to_string()[..32]);
        Ok((path, whole.map(u64::from_be_bytes)))
    }

    fn note(&self, source: &str, root: &str, path: &str, record: &SourceRecord) -> RecordNote {
        let content = self.text("content", record).unwrap_or_default();
        let response = gemini_response(record);
        let content = join_paragraphs([content, response.clone().unwrap_or_default()]);
        let mut note = RecordNote::new(source, root, path, &content);
        note.draft.title = self.text("title", record).map(|title| one_line(&title));
        let tags = self
            .key("tags")
            .map(|key| record.list(key))
            .unwrap_or_default();
        note.draft.tags = tags.into_iter().collect();
        let category = self.text("category", record);
        note.draft.category = category.as_deref().and_then(map_category);
        note.draft.scope = project_scope(self.text("project", record).as_deref());
        let author = self.text("author", record);
        note.draft.role = author.as_deref().and_then(|author| {
            author
                .parse()
                .ok()
                .or_else(|| SpeakerRole::from_source(author))
        });
        let time = |field: &str| record.time(&[self.key(field)?]);
        note.draft.created_at = time("created");
        note.draft.expires_at = time("expires");
        note.updated_at = time("updated");
        note.local_times = record.local_times();
        let prose = wikilink::blank_code(&note.draft.content);
        note.links = wikilink::parse_prose_wikilinks(&prose)
            .into_iter()
            .map(|link| link.target)
            .collect();
        for (field, is_lost) in [
            ("category", note.draft.category.is_none()),
            ("author", note.draft.role.is_none()),
            ("created", note.draft.created_at.is_none()),
            ("expires", note.draft.expires_at.is_none()),
            ("updated", note.updated_at.is_none()),
            ("source", true),
        ] {
            // A value that cannot be a field of the memory is retained as a property.
            if let Some(key) = self.key(field).filter(|_| is_lost) {
                note.add_property(
                    &if key == field {
                        key.to_owned()
                    } else {
                        property_name(key)
                    },
                    record.get(key),
                );
            }
        }
        let is_mapped = |key: &String| {
            key == RESPONSE && response.is_some() || self.fields.iter().any(|(_, own)| own == key)
        };
        for (key, value) in record
            .0
            .iter()
            .filter(|(key, value)| !is_mapped(key) && !is_embedding(key, value))
        {
            if record.get(key).is_some() && key != own_fields::KEY {
                let mut inner = self
                    .fields
                    .iter()
                    .filter_map(|(_, own)| own.strip_prefix(key.as_str())?.strip_prefix('.'));
                let rest = inner.try_fold(value.clone(), without_value);
                note.add_property(&property_name(key), rest.as_ref());
            }
        }
        note.set_own_fields(Some(record));
        note
    }
}

/// Returns the response to a prompt in the activity of a Google account, which is HTML.
fn gemini_response(record: &SourceRecord) -> Option<String> {
    let parts = record.get(RESPONSE)?.as_array()?.iter();
    let texts = parts.filter_map(|part| part.get("html")?.as_str());
    let response = join_paragraphs(texts.map(|html| to_markdown(html).markdown));
    Some(response).filter(|response| !response.is_empty())
}

/// The keys or columns of a file of any program, and a map of them to the fields of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedMap {
    /// The keys or columns of the first records, in the order of the file and without credentials.
    pub keys: Vec<String>,
    /// Pairs of a field and its key. `content` is the first; the longest text is taken for it if no key has a usual name.
    pub fields: Vec<(&'static str, String)>,
}

impl SuggestedMap {
    /// Returns a map for the keys of the first records of a file, or `None` without a text.
    pub(crate) fn new(keys: Vec<String>, records: &[SourceRecord]) -> Option<Self> {
        let mut fields = guess_fields(&keys);
        let is_time = |key: &str| records.iter().any(|record| record.time(&[key]).is_some());
        fields.retain(|(name, key)| !TIMES.contains(name) || is_time(key));
        if fields.first().is_none_or(|(name, _)| *name != "content") {
            let text = |key: &str, record: &SourceRecord| {
                record
                    .get(key)
                    .and_then(Value::as_str)
                    .filter(|text| record.time(&[key]).is_none() && !is_address(text))
                    .map_or(0, str::len)
            };
            let length = |key: &&String| {
                records
                    .iter()
                    .map(|record| text(key, record))
                    .sum::<usize>()
            };
            let longest = keys
                .iter()
                .rev()
                .max_by_key(length)
                .filter(|key| 0 < length(key))?
                .clone();
            fields.retain(|(_, key)| *key != longest);
            fields.insert(0, ("content", longest));
        }
        let is_mapped = |key: &String| fields.iter().any(|(_, own)| own == key);
        if fields.iter().all(|(name, _)| *name != "created")
            && let Some(key) = keys
                .iter()
                .find(|key| !is_mapped(key) && has_times(key, records))
        {
            fields.push(("created", key.clone()));
        }
        let fields = fields
            .into_iter()
            .map(|(field, key)| (field, redacted(&key)))
            .collect();
        Some(Self {
            keys: keys.into_iter().map(|key| redacted(&key)).collect(),
            fields,
        })
    }
}

/// Returns whether a text is the address of a page alone.
fn is_address(text: &str) -> bool {
    let text = text.trim();
    text.contains("://") && !text.contains(char::is_whitespace)
}

/// Returns whether the texts at a key are times, and there is one.
fn has_times(key: &str, records: &[SourceRecord]) -> bool {
    let mut values = records
        .iter()
        .filter_map(|record| record.get(key))
        .peekable();
    let is_time = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| note::parse(text).is_some())
    };
    values.peek().is_some() && values.all(is_time)
}

/// Returns the fields with a key that has one of their usual names.
fn guess_fields(keys: &[String]) -> Vec<(&'static str, String)> {
    all_fields()
        .filter_map(|(name, guesses)| Some((name, find_key(keys, guesses)?)))
        .collect()
}

fn all_fields() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    FIELDS.into_iter().chain([EXPIRES])
}

fn find_key(keys: &[String], guesses: &[&str]) -> Option<String> {
    guesses
        .iter()
        .find_map(|guess| {
            keys.iter()
                .find(|key| key.trim().to_lowercase().replace([' ', '-'], "_") == *guess)
        })
        .cloned()
}

/// Returns an object without the value at a path of keys, or `None` if nothing remains.
fn without_value(mut value: Value, path: &str) -> Option<Value> {
    let Some(object) = value.as_object_mut() else {
        return Some(value);
    };
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    if let Some(inner) = object.remove(first)
        && let Some(inner) = rest.and_then(|rest| without_value(inner, rest))
    {
        object.insert(first.to_owned(), inner);
    }
    (!object.is_empty()).then_some(value)
}

/// Returns the key of a property, which does not conflict with that of a field.
fn property_name(key: &str) -> String {
    if all_fields().any(|(name, _)| name == key) {
        format!("{key}_")
    } else {
        key.to_owned()
    }
}

/// Returns whether a value is a list of numbers, possibly as text, that has the name or the length of an embedding.
fn is_embedding(key: &str, value: &Value) -> bool {
    let decoded = value
        .as_str()
        .filter(|text| text.starts_with('['))
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let name = key.to_lowercase();
    let has_name = ["embedding", "vector"]
        .iter()
        .any(|part| name.contains(part));
    let items = decoded.as_ref().unwrap_or(value).as_array();
    items.is_some_and(|items| {
        items.iter().all(Value::is_number) && (has_name || MAX_NUMBERS < items.len())
    })
}

/// Returns a text for a message, without credentials.
fn redacted(text: &str) -> String {
    secret::redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}

/// Returns the items of a file. The first has a warning about the file, if there is one, and with the guessed fields.
pub(crate) fn mapped_items<'a>(
    source: &'a str,
    file: &'a dyn RecordFile,
    map: &'a FieldMap,
    warning: Option<String>,
) -> Box<dyn Iterator<Item = SourceItem> + 'a> {
    let mut reader = match file.reader() {
        Ok(reader) => reader,
        Err(reason) => return unreadable(file, reason),
    };
    let mut hashes = Vec::new();
    let mut lost = BTreeMap::<&str, usize>::new();
    let mut index = RecordIndex::of(file, reader.as_mut(), &mut |_: &RecordPosition, record| {
        let (path, hash) = map.path(record)?;
        hashes.push(hash);
        map.lost_times(record)
            .for_each(|key| *lost.entry(key).or_default() += 1);
        Ok(Some(path))
    });
    let mut counts = HashMap::<String, usize>::new();
    for (path, _) in &index.entries {
        *counts.entry(path.clone()).or_default() += 1;
    }
    // Records with one text and other keys are separate notes.
    for ((path, _), hash) in index.entries.iter_mut().zip(hashes) {
        if let Some(hash) = hash.filter(|_| 1 < counts[path]) {
            *path = format!("{path} {hash:016x}");
        }
    }
    let mut warnings = warning
        .into_iter()
        .map(|warning| format!("{} {warning}", file.name()))
        .chain(map.guess())
        .chain(lost.into_iter().map(|(key, count)| {
            let (key, name) = (redacted(key), file.name());
            format!("{name}: {key} is no time (records: {count}) and is retained as a property")
        }));
    index.into_items(file, reader, move |path, position, record| {
        let mut note = map.note(source, file.name(), path, record);
        if note.draft.content.contains('\u{fffd}') {
            let name = record_name(file.name(), position);
            note.warnings.push(format!(
                "{name}: its text contains �, which replaces bytes that are not UTF-8"
            ));
        }
        note.warnings.extend(warnings.by_ref());
        note.into_item()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SuggestedMap;
    use crate::record::SourceRecord;

    #[test]
    fn the_longest_text_is_the_content_if_no_key_has_a_usual_name() {
        let record = json!({"when": "2026-01-02", "what": "tea at seven", "title": "a", "n": 123_456_789_012_345_u64});
        let record = SourceRecord(record.as_object().expect("an object").clone());
        let suggest = |keys: &[&str]| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            SuggestedMap::new(keys, std::slice::from_ref(&record)).map(|map| map.fields)
        };
        let fields = |pairs: &[(&'static str, &str)]| {
            Some(
                pairs
                    .iter()
                    .map(|(field, key)| (*field, (*key).to_owned()))
                    .collect(),
            )
        };
        assert_eq!(
            suggest(&["when", "what", "title"]),
            fields(&[("content", "what"), ("title", "title"), ("created", "when")])
        );
        assert_eq!(suggest(&["Text", "what"]), fields(&[("content", "Text")]));
        assert_eq!(suggest(&["title"]), fields(&[("content", "title")]));
        assert_eq!(suggest(&["n"]), None);
        let day = json!({"text": "tea", "date": "11/14/2021"});
        let day = SourceRecord(day.as_object().expect("an object").clone());
        let keys = day.0.keys().cloned().collect();
        assert_eq!(
            SuggestedMap::new(keys, &[day]).map(|map| map.fields),
            fields(&[("content", "text"), ("created", "date")])
        );
        let activity = json!({"header": "Apps", "title": "Asked about tea", "titleUrl": "https://a.example/a-long-path-of-a-page",
            "time": "2026-01-02T03:04:05.678Z", "details": [{"name": "x"}]});
        let activity = SourceRecord(activity.as_object().expect("an object").clone());
        let keys = activity.0.keys().cloned().collect();
        assert_eq!(
            SuggestedMap::new(keys, &[activity]).map(|map| map.fields),
            fields(&[("content", "title"), ("created", "time")])
        );
    }
}
