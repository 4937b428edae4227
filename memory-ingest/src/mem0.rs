//! Memories of mem0.

use std::collections::HashMap;
use std::path::Path;

use memory_core::chrono::{DateTime, Utc};
use memory_core::wikilink::WikilinkRule;
use memory_core::{MemoryId, Source, SourceError, SourceItem, SpeakerRole};
use serde_json::Value;

use crate::database::{SourceDatabase, SourceTable};
use crate::json_records::JsonRecordFile;
use crate::note::one_line;
use crate::own_fields;
use crate::program_records::{ProgramRecords, RecordProgram};
use crate::record::{SourceRecord, map_category};
use crate::record_file::{RecordFile, RecordIndex, RecordPath, RecordPosition, unreadable};
use crate::record_note::{RecordNote, markdown_list, project_scope};

/// The name of the source, and the constant root of its items.
pub(crate) const NAME: &str = "mem0";

/// The folder of memories in the paths of items.
pub(crate) const MEMORIES: &str = "memories/";

/// The user in an export of this program, unless the memory has another one.
pub(crate) const DEFAULT_USER: &str = "user";

/// The table with the events of each memory.
const HISTORY: SourceTable = SourceTable {
    name: "history",
    columns: &["memory_id", "new_memory"],
};

/// The folder of the notes of entities in the paths of items.
pub(crate) const ENTITIES: &str = "relations/";

/// The list of the relations of a graph between entities.
pub(crate) const RELATIONS: &str = "relations";

const PROGRAM: RecordProgram = RecordProgram {
    database: "history.db",
    tables: &[HISTORY],
    lists: &["results", "memories", RELATIONS],
    expected: "a list of memories of mem0, or its history.db",
    is_own,
};

/// The keys of a text.
const TEXT_KEYS: &[&str] = &["memory", "data", "text"];

/// The keys of a memory that become properties.
pub(crate) const PROPERTY_KEYS: [&str; 14] = [
    "id",
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "actor_id",
    "role",
    "attributed_to",
    "categories",
    "immutable",
    "structured_attributes",
    "keywords",
    "org_id",
    "project_id",
];

/// The property that lists the other keys of a memory. All other properties are keys of its metadata.
pub(crate) const OTHER_KEYS: &str = "other_keys";

/// The start of the names of properties for keys of metadata that are also keys of a memory.
pub(crate) const METADATA_PREFIX: &str = "metadata_";

/// The property with the relations of an entity.
pub(crate) const RELATIONS_PROPERTY: &str = "relations";

/// The keys of times. A value that is no time becomes a property.
pub(crate) const TIME_KEYS: [&str; 3] = ["created_at", "updated_at", "expiration_date"];

/// The other keys with a meaning. The hash is derived from the text, and a memory from the messages.
const KNOWN_KEYS: [&str; 8] = [
    "memory_id",
    "hash",
    "metadata",
    "is_deleted",
    "deleted_at",
    "score",
    "input",
    "messages",
];

/// The keys of metadata that become parts of the note.
const METADATA_KEYS: [&str; 4] = ["title", "tags", "category", "project"];

/// Memories of mem0: the JSON of `get_all`, or the database of events.
#[derive(Debug)]
pub struct Mem0 {
    file: ProgramRecords,
}

impl Mem0 {
    /// Opens a JSON file or `history.db` at `path`, or `history.db` in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            file: PROGRAM.open(path)?,
        })
    }

    /// Returns whether the file or folder at `path` has been written by mem0.
    pub(crate) fn recognizes(path: &Path) -> bool {
        PROGRAM.recognizes(path, 10, is_certain)
    }
}

/// Returns whether a record may be one of mem0.
fn is_own(position: &RecordPosition, record: &SourceRecord) -> bool {
    let is_memory = record.text(&["id", "hash"]).is_some() && has_text(record);
    is_memory || position.list == RELATIONS && Mem0Relation::of(record).is_ok()
}

/// Returns whether a record is one of mem0, and of no other program.
fn is_certain(_: &RecordPosition, record: &SourceRecord) -> bool {
    record.text(&["memory"]).is_some()
        && record.text(&["id"]).is_some()
        && (record.text(&["user_id", "hash", "agent_id"]).is_some()
            || record.0.contains_key("metadata")
            || record
                .text(&["id"])
                .is_some_and(|id| id.parse::<MemoryId>().is_ok()))
}

impl Source for Mem0 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Titles
    }

    /// A list may contain the memories of one user.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        match &self.file {
            ProgramRecords::Json(file) => result_items(file),
            ProgramRecords::Database(database) => history_items(database),
        }
    }
}

/// A relation between two entities.
pub(crate) struct Mem0Relation {
    source: String,
    name: String,
    target: String,
    record: SourceRecord,
}

impl Mem0Relation {
    pub(crate) fn of(record: &SourceRecord) -> Result<Self, String> {
        let name = |keys: &[&str]| {
            record
                .text(keys)
                .map(|name| one_line(&name))
                .filter(|name| !name.is_empty())
        };
        Ok(Self {
            source: name(&["source", "from"]).ok_or("has no start")?,
            name: name(&["relationship", "relation", "relationType"])
                .unwrap_or_else(|| "relates to".into()),
            target: name(&["target", "destination", "to"]).ok_or("has no target")?,
            record: record.clone(),
        })
    }

    /// Returns the line of the relation in the note of its source.
    pub(crate) fn line(&self, is_link: bool) -> String {
        if is_link {
            format!("{} [[{}]]", self.name, self.target)
        } else {
            format!("{} {}", self.name, self.target)
        }
    }
}

/// Returns the memories of a list, and a note for each entity with relations.
fn result_items(file: &JsonRecordFile) -> Box<dyn Iterator<Item = SourceItem> + '_> {
    let mut reader = match file.reader() {
        Ok(reader) => reader,
        Err(reason) => return unreadable(file, reason),
    };
    let mut relations = HashMap::<String, Vec<Mem0Relation>>::new();
    let index = RecordIndex::of(file, reader.as_mut(), &mut |position, record| {
        if position.list != RELATIONS {
            return result_path(record);
        }
        let relation = Mem0Relation::of(record)?;
        let path = format!("{ENTITIES}{}", relation.source);
        let own = relations.entry(path.clone()).or_default();
        own.push(relation);
        // The first relation of an entity stands for all of them.
        Ok((own.len() == 1).then_some(path))
    });
    index.into_items(file, reader, move |path, _, record| {
        match relations.get(path) {
            Some(own) => entity_note(path, own, &|entity| {
                relations.contains_key(&format!("{ENTITIES}{entity}"))
            }),
            None => memory_note(
                path,
                record,
                record.text(TEXT_KEYS).unwrap_or_default().as_str(),
                true,
            ),
        }
    })
}

/// Returns the note of an entity with its relations. A link leads to an entity that has a note too.
fn entity_note(
    path: &str,
    relations: &[Mem0Relation],
    has_note: &dyn Fn(&str) -> bool,
) -> SourceItem {
    let is_link = |target: &str| has_note(target) && !target.contains(['[', ']', '|', '#', '^']);
    let lines: Vec<_> = relations
        .iter()
        .map(|relation| relation.line(is_link(&relation.target)))
        .collect();
    let lines = markdown_list(&lines);
    // An export may contain a part of the entities.
    let exported = relations
        .iter()
        .find_map(|relation| relation.record.object("metadata"))
        .unwrap_or_default();
    let is_same = |text: &String| without_links(text) == without_links(&lines);
    let text = exported.text(&["memory"]).filter(is_same).unwrap_or(lines);
    let mut note = RecordNote::new(NAME, NAME, path, &text);
    note.draft.title = relations.first().map(|relation| relation.source.clone());
    note.links = relations
        .iter()
        .map(|relation| relation.target.clone())
        .filter(|target| has_note(target))
        .collect();
    let records: Vec<_> = relations
        .iter()
        .map(|relation| Value::Object(relation.record.0.clone()))
        .collect();
    note.add_property(RELATIONS_PROPERTY, Some(&records.into()));
    note.set_own_fields(Some(&exported));
    note.into_item()
}

/// Returns the text of an entity without the marks of links, which depend on the other entities.
pub(crate) fn without_links(text: &str) -> String {
    text.replace("[[", "").replace("]]", "")
}

fn result_path(record: &SourceRecord) -> RecordPath {
    if record.is_set("is_deleted") || record.get("deleted_at").is_some() {
        return Ok(None);
    }
    let id = record
        .text(&["id", "memory_id", "hash"])
        .ok_or("has no id")?;
    if has_text(record) {
        Ok(Some(memory_path(&id)))
    } else {
        Err("has no text".into())
    }
}

/// Returns whether a record has a text, which is empty only in an export of this program.
fn has_text(record: &SourceRecord) -> bool {
    let is_ours = || {
        record
            .object("metadata")
            .is_some_and(|metadata| metadata.get(own_fields::KEY).is_some())
    };
    record.text(TEXT_KEYS).is_some() || is_ours()
}

fn memory_path(id: &str) -> String {
    format!("{MEMORIES}{}", one_line(id))
}

/// The state of a memory after some of its events.
struct Mem0State {
    /// The position of the event with its text, unless it is deleted.
    text: Option<RecordPosition>,
    created_at: Option<DateTime<Utc>>,
    /// The time of its newest event, if it is recorded.
    changed_at: Option<DateTime<Utc>>,
}

/// Returns the memories that exist after all events, which are in the order of their times or, without a time, of their rows.
fn history_items(database: &SourceDatabase) -> Box<dyn Iterator<Item = SourceItem> + '_> {
    let mut reader = match database.reader() {
        Ok(reader) => reader,
        Err(reason) => return unreadable(database, reason),
    };
    let mut states = HashMap::<String, Mem0State>::new();
    let mut index = RecordIndex::of(database, reader.as_mut(), &mut |position, record| {
        let path = memory_path(&record.text(&["memory_id"]).ok_or("has no memory_id")?);
        let event = record.text(&["event"]).unwrap_or_default().to_uppercase();
        let state = states.entry(path).or_insert(Mem0State {
            text: None,
            created_at: None,
            changed_at: None,
        });
        // Other events repeat the time of the creation.
        let created_at = record.time(&["created_at"]);
        let changed_at = record
            .time(&["updated_at"])
            .or(created_at.filter(|_| event == "ADD"));
        if changed_at.is_some() && changed_at < state.changed_at {
            return Ok(None);
        }
        // The newest creation counts for a memory that was added again.
        if created_at.is_some() && (event == "ADD" || state.created_at.is_none()) {
            state.created_at = created_at;
        }
        if event != "NONE" {
            state.changed_at = changed_at.or(state.changed_at);
        }
        if event == "DELETE" || record.is_set("is_deleted") {
            (state.text, state.created_at) = (None, None);
        } else if event != "NONE" && record.text(&["new_memory"]).is_some() {
            state.text = Some(*position);
        }
        Ok(None)
    });
    index.entries.extend(
        states
            .iter()
            .filter_map(|(path, state)| Some((path.clone(), state.text?))),
    );
    index.into_items(database, reader, move |path, _, record| {
        let mut record = record.clone();
        // In an event, `id` is that of the event.
        if let Some(id) = record.0.get("memory_id").cloned() {
            record.0.insert("id".into(), id);
        }
        let text = record.text(&["new_memory"]).unwrap_or_default();
        let created_at = states.get(path).and_then(|state| state.created_at);
        match memory_note(path, &record, &text, false) {
            SourceItem::Note(mut note) => {
                note.draft.created_at = created_at;
                SourceItem::Note(note)
            }
            other => other,
        }
    })
}

/// Returns the note of a memory; in a list, with the properties that are unknown.
fn memory_note(path: &str, record: &SourceRecord, text: &str, is_in_list: bool) -> SourceItem {
    let mut note = RecordNote::new(NAME, NAME, path, text);
    let metadata = record.object("metadata").unwrap_or_default();
    let categories = record.list("categories");
    note.draft.title = metadata.text(&["title"]).map(|title| one_line(&title));
    note.draft.tags = categories.iter().chain(&metadata.list("tags")).collect();
    let category = metadata.text(&["category"]);
    note.draft.category = category
        .iter()
        .chain(&categories)
        .find_map(|name| map_category(name));
    note.draft.scope = project_scope(metadata.text(&["project"]).as_deref());
    note.draft.role = record.text(&["role"]).and_then(|role| {
        role.parse()
            .ok()
            .or_else(|| SpeakerRole::from_source(&role))
    });
    note.draft.created_at = record.time(&["created_at"]);
    note.draft.expires_at = record.time(&["expiration_date"]);
    note.updated_at = record.time(&["updated_at"]);
    note.local_times = record.days();
    for key in PROPERTY_KEYS {
        note.add_property(key, record.get(key));
    }
    for key in TIME_KEYS {
        note.add_property(
            key,
            record.get(key).filter(|_| record.time(&[key]).is_none()),
        );
    }
    let known = [TEXT_KEYS, &PROPERTY_KEYS, &TIME_KEYS, &KNOWN_KEYS].concat();
    let others = record
        .0
        .iter()
        .filter(|(key, _)| is_in_list && !known.contains(&key.as_str()));
    let others: Vec<_> = others
        .filter(|(key, _)| record.get(key).is_some() && key.as_str() != OTHER_KEYS)
        .collect();
    for (key, value) in &others {
        note.add_property(key, Some(value));
    }
    let other_keys: Vec<_> = others
        .iter()
        .map(|(key, _)| Value::from(key.as_str()))
        .collect();
    note.add_property(
        OTHER_KEYS,
        Some(&other_keys)
            .filter(|keys| !keys.is_empty())
            .map(|keys| keys.clone().into())
            .as_ref(),
    );
    for (key, value) in metadata
        .0
        .iter()
        .filter(|(key, value)| !METADATA_KEYS.contains(&key.as_str()) || !value.is_string())
    {
        if key != "tags" && key != own_fields::KEY && metadata.get(key).is_some() {
            let is_ambiguous = PROPERTY_KEYS.contains(&key.as_str())
                || TIME_KEYS.contains(&key.as_str())
                || key == OTHER_KEYS
                || key.starts_with(METADATA_PREFIX)
                || others.iter().any(|(other, _)| *other == key);
            let name = if is_ambiguous {
                format!("{METADATA_PREFIX}{key}")
            } else {
                key.clone()
            };
            note.add_property(&name, Some(value));
        }
    }
    // A name that has the meaning of a category may differ from that of the category.
    if category.as_ref().is_some_and(|category| {
        map_category(category).is_none_or(|known| known.as_str() != category)
    }) {
        note.add_property("category", metadata.get("category"));
    }
    note.set_own_fields(Some(&metadata));
    note.into_item()
}
