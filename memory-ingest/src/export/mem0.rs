//! The JSON of all memories, as mem0 returns it.

use memory_core::{Category, Scope, SpeakerRole};
use serde_json::{Map, Value};

use super::catalog::ExportCatalog;
use super::{
    ExportFormat, ExportPart, ExportRecord, front_matter_of, own_fields, source_properties, time,
};
use crate::mem0::{
    DEFAULT_USER, ENTITIES, MEMORIES, METADATA_PREFIX, Mem0Relation, NAME, OTHER_KEYS,
    PROPERTY_KEYS, RELATIONS, RELATIONS_PROPERTY, TIME_KEYS, without_links,
};
use crate::own_fields::KEY;
use crate::record::{SourceRecord, map_category};
use crate::record_note::markdown_list;

/// An export as the answer of `get_all`.
#[derive(Debug)]
pub(super) struct Mem0Export {
    catalog: ExportCatalog,
    has_results: bool,
    /// The relations of the entities.
    relations: Vec<Value>,
}

impl Mem0Export {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self {
            catalog,
            has_results: false,
            relations: Vec::new(),
        }
    }
}

impl ExportFormat for Mem0Export {
    fn start(&mut self) -> Vec<ExportPart> {
        vec![ExportPart::next("{\"results\":[".into())]
    }

    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        if self.catalog.get(&memory.id).is_none() {
            return Vec::new();
        }
        let properties = source_properties(record, NAME);
        if let Some(relations) = unchanged_relations(record, &properties) {
            self.relations.extend(relations);
            return Vec::new();
        }
        let mut metadata = Map::new();
        let given = properties
            .iter()
            .find(|(key, _)| key == "category")
            .and_then(|(_, category)| category.as_str());
        let given =
            given.filter(|given| map_category(given).unwrap_or(Category::Inbox) == memory.category);
        let category =
            Some(memory.category.as_str()).filter(|_| memory.category != Category::Inbox);
        if let Some(category) = given.or(category) {
            metadata.insert("category".into(), category.into());
        }
        if let Some(title) = &memory.title {
            metadata.insert("title".into(), title.as_str().into());
        }
        if !memory.tags.is_empty() {
            metadata.insert("tags".into(), memory.tags.as_slice().into());
        }
        // A memory of mem0 retains its id.
        let own_path = memory
            .origin
            .as_ref()
            .filter(|origin| origin.source == NAME && origin.root == NAME);
        let own_id = own_path
            .and_then(|origin| origin.path.strip_prefix(MEMORIES))
            .map(str::to_owned);
        let fields = [
            ("id", own_id.unwrap_or_else(|| memory.id.to_string())),
            ("memory", memory.content.clone()),
            ("created_at", time(memory.created_at)),
            ("updated_at", time(memory.updated_at)),
        ];
        let mut result: Map<String, Value> = fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        match &memory.scope {
            Scope::Global => {}
            Scope::Agent(name) => drop(result.insert("agent_id".into(), name.as_str().into())),
            Scope::Conversation(id) => drop(result.insert("run_id".into(), id.as_str().into())),
            Scope::Project(name) => drop(metadata.insert("project".into(), name.as_str().into())),
            Scope::Private(_) | Scope::Team(_) => {
                drop(metadata.insert("scope".into(), memory.scope.to_string().into()));
            }
        }
        match memory.speaker_role() {
            Some(SpeakerRole::Person) => drop(result.insert("role".into(), "user".into())),
            Some(SpeakerRole::Assistant) => drop(result.insert("role".into(), "assistant".into())),
            _ => {}
        }
        if let Some(end) = memory.ends_at() {
            result.insert(
                "expiration_date".into(),
                end.format("%Y-%m-%d").to_string().into(),
            );
        }
        let other_keys = properties
            .iter()
            .find(|(key, _)| key == OTHER_KEYS)
            .map(|(_, keys)| keys.clone());
        let is_other = |key: &str| {
            other_keys
                .as_ref()
                .and_then(Value::as_array)
                .is_some_and(|keys| keys.contains(&key.into()))
        };
        for (key, value) in properties
            .into_iter()
            .filter(|(key, _)| !matches!(key.as_str(), OTHER_KEYS | "category"))
        {
            let is_in_metadata = !PROPERTY_KEYS.contains(&key.as_str())
                && !TIME_KEYS.contains(&key.as_str())
                && !is_other(&key);
            let (place, key) = match key.strip_prefix(METADATA_PREFIX).filter(|_| is_in_metadata) {
                Some(key) => (&mut metadata, key.to_owned()),
                None => (
                    if is_in_metadata {
                        &mut metadata
                    } else {
                        &mut result
                    },
                    key,
                ),
            };
            place.entry(key).or_insert(value);
        }
        // A memory belongs to a user, an agent, an application or a run.
        if !["user_id", "agent_id", "app_id", "run_id"]
            .iter()
            .any(|key| result.contains_key(*key))
        {
            result.insert("user_id".into(), DEFAULT_USER.into());
        }
        metadata.insert(
            KEY.into(),
            own_fields(record.fields, front_matter_of(record)).into(),
        );
        result.insert("metadata".into(), metadata.into());
        let separator = if std::mem::replace(&mut self.has_results, true) {
            ",\n"
        } else {
            "\n"
        };
        vec![ExportPart::next(format!(
            "{separator}{}",
            Value::Object(result)
        ))]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        let relations: Vec<_> = std::mem::take(&mut self.relations)
            .iter()
            .map(|relation| format!("\n{relation}"))
            .collect();
        let relations = if relations.is_empty() {
            String::new()
        } else {
            format!(",\"{RELATIONS}\":[{}\n]", relations.join(","))
        };
        vec![ExportPart::next(format!("\n]{relations}}}\n"))]
    }
}

/// Returns the relations of the memory of an entity, of which the first one contains the fields of the memory, unless its text was
/// changed.
fn unchanged_relations(
    record: &ExportRecord<'_>,
    properties: &[(String, Value)],
) -> Option<Vec<Value>> {
    let memory = record.memory;
    let origin = memory.origin.as_ref()?;
    let is_entity = (origin.source.as_str(), origin.root.as_str()) == (NAME, NAME)
        && origin.path.starts_with(ENTITIES);
    let (_, relations) = properties
        .iter()
        .find(|(key, _)| is_entity && key == RELATIONS_PROPERTY)?;
    let mut relations = relations.as_array()?.clone();
    let lines = relations.iter().map(|relation| {
        let relation = Mem0Relation::of(&SourceRecord(relation.as_object()?.clone())).ok()?;
        Some(relation.line(false))
    });
    let lines: Vec<_> = lines.collect::<Option<_>>()?;
    if without_links(&markdown_list(&lines)) != without_links(&memory.content) {
        return None;
    }
    let first = relations.first_mut()?.as_object_mut()?;
    let metadata = first
        .entry("metadata")
        .or_insert_with(|| Map::new().into())
        .as_object_mut()?;
    metadata.insert("memory".into(), memory.content.as_str().into());
    metadata.insert(
        KEY.into(),
        own_fields(record.fields, front_matter_of(record)).into(),
    );
    Some(relations)
}
