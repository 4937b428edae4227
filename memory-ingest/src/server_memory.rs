//! The knowledge graph of the MCP server `memory`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memory_core::wikilink::WikilinkRule;
use memory_core::{Memory, Source, SourceError, SourceItem};
use serde_json::{Map, Value};

use crate::json_records::{JsonRecordFile, MAX_RECORD_BYTES};
use crate::note::one_line;
use crate::own_fields;
use crate::program_folder::begins_with_json;
use crate::record::{SourceRecord, map_category, scalar_text};
use crate::record_file::{
    RecordFile, RecordIndex, RecordPosition, RecordReader, find_file, skipped, unreadable,
};
use crate::record_note::{RecordNote, join_paragraphs, markdown_list};

/// The name of the source, and the constant root of its items.
pub(crate) const NAME: &str = "server-memory";

/// The names of the file, the newest first.
const FILES: [&str; 2] = ["memory.jsonl", "memory.json"];

/// The lists of a graph in one document, as the tool `read_graph` returns it.
const LISTS: &[&str] = &["entities", "relations"];

/// The folder of entities in the paths of items.
pub(crate) const ENTITIES: &str = "entities/";

/// The properties that an export returns as parts of the graph: the type of an entity, and its relations.
pub(crate) const TYPE_PROPERTY: &str = "entityType";
pub(crate) const RELATIONS_PROPERTY: &str = "outgoing_relations";

/// The property with the observations of an entity, if its text does not determine them.
pub(crate) const OBSERVATIONS_PROPERTY: &str = "observations";

/// The type of a relation of an export that stands for a link.
pub(crate) const LINK_RELATION: &str = "relates_to";

/// The names of the key with the observations of an entity, the newest first.
const OBSERVATIONS_KEYS: [&str; 2] = ["observations", "contents"];

/// The keys of an entity that become parts of the note.
const ENTITY_KEYS: [&str; 8] = [
    "type",
    "name",
    "entityName",
    "entityType",
    "entity_type",
    "observations",
    "contents",
    "metadata",
];

/// The keys of a relation that state its kind and its entities.
const RELATION_KEYS: [&str; 9] = [
    "type",
    "from",
    "from_id",
    "source",
    "to",
    "to_id",
    "target",
    "relationType",
    "relation_type",
];

/// The knowledge graph of the MCP server `memory`: one note for each entity, with its observations and relations.
#[derive(Debug)]
pub struct ServerMemory {
    file: JsonRecordFile,
}

/// A relation of an entity to the entity with the name `target`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityRelation {
    /// The type, if the file states one.
    pub(crate) name: Option<String>,
    pub(crate) target: String,
    /// The other keys.
    pub(crate) more: Map<String, Value>,
}

impl EntityRelation {
    /// Returns the relations in a property of a memory, or in the fields of an export.
    pub(crate) fn read_all(value: &Value) -> Vec<Self> {
        let text = |item: &Value, key: &str| Some(item.get(key)?.as_str()?.to_owned());
        let more = |item: &Value| {
            let fields = item
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(key, _)| !["relationType", "to"].contains(&key.as_str()));
            fields
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        let read = |item: &Value| {
            Some(Self {
                name: text(item, "relationType"),
                target: text(item, "to")?,
                more: more(item),
            })
        };
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(read)
            .collect()
    }

    /// Returns the relation without the entity that it starts from.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let name = self.name.as_deref();
        let name = name.map(|name| ("relationType".to_owned(), name.into()));
        let target = ("to".to_owned(), self.target.as_str().into());
        let more = self.more.clone();
        name.into_iter().chain([target]).chain(more).collect()
    }

    /// Returns the line in the text of a memory.
    pub(crate) fn line(&self) -> String {
        let name = self.name.as_deref().unwrap_or("relates to");
        format!("{name} {}", link_text(&self.target))
    }
}

/// Returns the name of the entity that a memory was ingested from, unless its title was changed.
pub(crate) fn entity_name(memory: &Memory) -> Option<&str> {
    let origins = memory.origin.iter().chain(&memory.other_origins);
    let mut origins = origins.filter(|origin| origin.source == NAME);
    let name = origins.find_map(|origin| origin.path.strip_prefix(ENTITIES))?;
    (memory.title.as_deref() == Some(name)).then_some(name)
}

/// Returns the text of the memory of an entity.
pub(crate) fn entity_text(observations: &[String], relations: &[EntityRelation]) -> String {
    let lines: Vec<_> = relations.iter().map(EntityRelation::line).collect();
    join_paragraphs([markdown_list(observations), markdown_list(&lines)])
}

/// A relation of an entity, with the position of its record.
struct GraphRelation {
    relation: EntityRelation,
    position: RecordPosition,
}

enum GraphRecord {
    /// An entity with this name.
    Entity(String),
    /// A relation from the entity with this name.
    Relation(String, GraphRelation),
}

impl ServerMemory {
    /// Opens `memory.jsonl` or an older `memory.json` at `path`, or in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let found = find_file(path, &FILES)?;
        let file = JsonRecordFile::open(&found, LISTS, MAX_RECORD_BYTES)?;
        // The relations of mem0 have another name for their kind.
        let is_own = |record: &SourceRecord| {
            [
                "name",
                "entityName",
                "from",
                "from_id",
                "relationType",
                "relation_type",
            ]
            .iter()
            .any(|key| record.contains(key))
        };
        let is_graph = |(position, record): &(RecordPosition, SourceRecord)| {
            is_own(record) && parse_record(*position, record).is_ok()
        };
        if file.first_records(10).iter().any(is_graph) {
            return Ok(Self { file });
        }
        let expected = "a knowledge graph of the MCP server memory".into();
        Err(SourceError::NotRecognized {
            path: found.display().to_string(),
            expected,
        })
    }

    /// Returns whether `path` is the file that is read in `folder`.
    pub(crate) fn is_file_of(folder: &Path, path: &Path) -> bool {
        find_file(folder, &FILES)
            .is_ok_and(|found| path.canonicalize().is_ok_and(|path| path == found))
    }

    /// Returns whether the file at `path` begins with an entity or a relation.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let Ok(found) = find_file(path, &FILES) else {
            return false;
        };
        if !begins_with_json(&found) {
            return false;
        }
        let Ok(file) = JsonRecordFile::open(&found, LISTS, MAX_RECORD_BYTES) else {
            return false;
        };
        // Lists of other programs have relations too, which name their start otherwise.
        let is_own = |position: RecordPosition, record: &SourceRecord| match parse_record(
            position, record,
        ) {
            Ok(GraphRecord::Entity(_)) => true,
            Ok(GraphRecord::Relation(..)) => record.text(&["from", "from_id"]).is_some(),
            Err(_) => false,
        };
        file.first_records(10)
            .iter()
            .any(|(position, record)| is_own(*position, record))
    }
}

impl Source for ServerMemory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Pages
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut reader = match self.file.reader() {
            Ok(reader) => reader,
            Err(reason) => return unreadable(&self.file, reason),
        };
        let mut relations = HashMap::<String, Vec<GraphRelation>>::new();
        let mut index = RecordIndex::of(&self.file, reader.as_mut(), &mut |position, record| {
            Ok(match parse_record(*position, record)? {
                GraphRecord::Entity(name) => Some(format!("{ENTITIES}{name}")),
                GraphRecord::Relation(from, relation) => {
                    relations.entry(from).or_default().push(relation);
                    None
                }
            })
        });
        let entities: HashSet<&str> = index
            .entries
            .iter()
            .filter_map(|(path, _)| path.strip_prefix(ENTITIES))
            .collect();
        let mut orphans: Vec<_> = relations
            .iter()
            .filter(|(from, _)| !entities.contains(from.as_str()))
            .collect();
        orphans.sort_by_key(|(from, _)| *from);
        let reason = |from: &str| format!("is a relation of {from}, which does not exist");
        let orphans = orphans
            .into_iter()
            .flat_map(|(from, own)| own.iter().map(move |relation| (from, relation)));
        let orphans: Vec<_> = orphans
            .map(|(from, relation)| skipped(&self.file, &relation.position, reason(from)))
            .collect();
        index.skipped.extend(orphans);
        let merged = merge_entities(&self.file, &mut index, reader.as_mut());
        index.into_items(&self.file, reader, move |path, _, record| {
            let name = path.strip_prefix(ENTITIES).unwrap_or(path);
            let record = merged.get(path).unwrap_or(record);
            let relations = relations
                .get(name)
                .into_iter()
                .flatten()
                .map(|own| own.relation.clone())
                .collect();
            entity_note(path, name, record, relations)
        })
    }
}

/// Merges the records of entities that occur more than once, and leaves the first position of each in `index`.
fn merge_entities(
    file: &JsonRecordFile,
    index: &mut RecordIndex,
    reader: &mut dyn RecordReader,
) -> HashMap<String, SourceRecord> {
    let mut counts = HashMap::<String, usize>::new();
    for (path, _) in &index.entries {
        *counts.entry(path.clone()).or_default() += 1;
    }
    let mut merged = HashMap::<String, SourceRecord>::new();
    let RecordIndex {
        entries,
        skipped: lost,
    } = index;
    entries.retain(|(path, position)| {
        if counts[path] < 2 {
            return true;
        }
        match (reader.read(position), merged.get_mut(path)) {
            (Ok(record), Some(first)) => {
                let keys = merge_entity(first, record);
                if !keys.is_empty() {
                    let reason = format!(
                        "has other values than the first record of {path}, which were left out: {}",
                        keys.join(", ")
                    );
                    lost.push(skipped(file, position, reason));
                }
            }
            (Ok(record), None) => {
                merged.insert(path.clone(), record);
                return true;
            }
            (Err(reason), _) => lost.push(skipped(file, position, reason)),
        }
        false
    });
    merged
}

/// Adds the observations and the new keys of another record of an entity. Returns the keys with other values, which remain as they are.
fn merge_entity(first: &mut SourceRecord, mut other: SourceRecord) -> Vec<String> {
    let mut observations = take_observations(first);
    for observation in take_observations(&mut other) {
        if !observations.contains(&observation) {
            observations.push(observation);
        }
    }
    first
        .0
        .insert(OBSERVATIONS_KEYS[0].into(), observations.into());
    let mut others = Vec::new();
    for (key, value) in other.0 {
        match first.0.get(&key) {
            Some(own) if *own != value && !value.is_null() => others.push(key),
            Some(_) => {}
            None => drop(first.0.insert(key, value)),
        }
    }
    others
}

fn take_observations(record: &mut SourceRecord) -> Vec<Value> {
    let listed = OBSERVATIONS_KEYS.map(|key| record.0.remove(key));
    match listed.into_iter().flatten().next() {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(single) => vec![single],
    }
}

fn parse_record(position: RecordPosition, record: &SourceRecord) -> Result<GraphRecord, String> {
    let kind = match position.list {
        "entities" => "entity".to_owned(),
        "relations" => "relation".to_owned(),
        _ => record.text(&["type"]).ok_or("has no type")?,
    };
    let name = |keys: &[&str]| {
        record
            .text(keys)
            .map(|name| one_line(&name))
            .filter(|name| !name.is_empty())
    };
    match kind.as_str() {
        "entity" => Ok(GraphRecord::Entity(
            name(&["name", "entityName"]).ok_or("has no name")?,
        )),
        "relation" => {
            let from = name(&["from", "from_id", "source"]).ok_or("has no start")?;
            let target = name(&["to", "to_id", "target"]).ok_or("has no target")?;
            let name = name(&["relationType", "relation_type"]);
            let more = record
                .0
                .iter()
                .filter(|(key, _)| !RELATION_KEYS.contains(&key.as_str()));
            let more = more
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            Ok(GraphRecord::Relation(
                from,
                GraphRelation {
                    relation: EntityRelation { name, target, more },
                    position,
                },
            ))
        }
        kind => Err(format!(
            "is neither an entity nor a relation, but has the type {kind}"
        )),
    }
}

fn entity_note(
    path: &str,
    name: &str,
    record: &SourceRecord,
    mut relations: Vec<EntityRelation>,
) -> SourceItem {
    let metadata = record.object("metadata");
    let listed = OBSERVATIONS_KEYS.iter().find_map(|key| record.get(key));
    let observations = listed.map(observation_texts).unwrap_or_default();
    let own = metadata
        .as_ref()
        .and_then(|metadata| metadata.get(own_fields::KEY));
    let links: Vec<_> = relations
        .iter()
        .map(|relation| relation.target.clone())
        .collect();
    // An export has the text of a memory as one observation, unless the memory has the form of an entity.
    let content = match own.map(|own| {
        own.get(own_fields::EXPORT)
            .and_then(|export| export.get(RELATIONS_PROPERTY))
    }) {
        None => entity_text(&observations, &relations),
        // White space alone is a text, too.
        Some(None) => texts(record).join("\n"),
        Some(Some(exported)) => {
            let exported = EntityRelation::read_all(exported);
            let is_exported = |relation: &EntityRelation| {
                exported
                    .iter()
                    .any(|other| (&other.name, &other.target) == (&relation.name, &relation.target))
            };
            relations.retain(|relation| {
                relation.name.as_deref() != Some(LINK_RELATION) || is_exported(relation)
            });
            entity_text(&observations, &relations)
        }
    };
    let mut note = RecordNote::new(NAME, NAME, path, &content);
    note.draft.title = Some(name.to_owned());
    if let Some(kind) = record.text(&["entityType", "entity_type"]) {
        note.draft.category = map_category(&kind);
        note.draft.tags = [kind.as_str()].into_iter().collect();
        note.add_property(TYPE_PROPERTY, Some(&kind.into()));
    }
    if !relations.is_empty() {
        note.add_property(
            RELATIONS_PROPERTY,
            Some(&relations.iter().map(EntityRelation::fields).collect()),
        );
    }
    let items = list_items(markdown_list(&observations).trim_end());
    note.add_property(
        OBSERVATIONS_PROPERTY,
        listed.filter(|listed| **listed != Value::from(items)),
    );
    note.links = links;
    note.set_own_fields(metadata.as_ref());
    for (key, value) in record
        .0
        .iter()
        .filter(|(key, _)| !ENTITY_KEYS.contains(&key.as_str()) || *key == "metadata")
    {
        note.add_property(key, Some(value));
    }
    note.into_item()
}

fn texts(record: &SourceRecord) -> Vec<&str> {
    record
        .get("observations")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the observations of an entity.
pub(crate) fn observation_texts(listed: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Object(fields) => ["content", "text", "observation"]
            .iter()
            .find_map(|key| scalar_text(fields.get(*key)?)),
        value => scalar_text(value),
    };
    match listed {
        Value::Array(items) => items.iter().filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    }
}

/// Returns the items of a Markdown list.
pub(crate) fn list_items(text: &str) -> Vec<String> {
    let mut items = Vec::<String>::new();
    for line in text.split('\n') {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(first), _) => items.push(first.to_owned()),
            (None, Some(item)) => item.extend(["\n", line.strip_prefix("  ").unwrap_or(line)]),
            (None, None) => {}
        }
    }
    items
}

/// Returns a link to an entity, or its name if a link cannot contain it.
fn link_text(name: &str) -> String {
    if name.contains(['[', ']', '|', '#', '^']) {
        name.to_owned()
    } else {
        format!("[[{name}]]")
    }
}
