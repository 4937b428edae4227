//! The JSON of all memories, as mem0 returns it.

use memory_core::{Scope, SpeakerRole};
use serde_json::{Map, Value};

use super::catalog::ExportCatalog;
use super::{ExportFormat, ExportPart, ExportRecord, front_matter_of, own_fields, source_properties, time};
use crate::mem0::{DEFAULT_USER, MEMORIES, NAME, PROPERTY_KEYS};
use crate::own_fields::KEY;

/// An export as the answer of `get_all`.
#[derive(Debug)]
pub(super) struct Mem0Export {
    catalog: ExportCatalog,
    has_results: bool,
}

impl Mem0Export {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self { catalog, has_results: false }
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
        let mut metadata = Map::from_iter([("category".to_owned(), Value::from(memory.category.as_str()))]);
        if let Some(title) = &memory.title {
            metadata.insert("title".into(), title.as_str().into());
        }
        if !memory.tags.is_empty() {
            metadata.insert("tags".into(), memory.tags.as_slice().into());
        }
        // A memory of mem0 retains its id.
        let own_path = memory.origin.as_ref().filter(|origin| origin.source == NAME && origin.root == NAME);
        let own_id = own_path.and_then(|origin| origin.path.strip_prefix(MEMORIES)).map(str::to_owned);
        let fields = [
            ("id", own_id.unwrap_or_else(|| memory.id.to_string())),
            ("memory", memory.content.clone()),
            ("created_at", time(memory.created_at)),
            ("updated_at", time(memory.updated_at)),
        ];
        let mut result: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        match &memory.scope {
            Scope::Global => {}
            Scope::Agent(name) => drop(result.insert("agent_id".into(), name.as_str().into())),
            Scope::Conversation(id) => drop(result.insert("run_id".into(), id.as_str().into())),
            Scope::Project(name) => drop(metadata.insert("project".into(), name.as_str().into())),
            Scope::Private(_) | Scope::Team(_) => drop(metadata.insert("scope".into(), memory.scope.to_string().into())),
        }
        match memory.speaker_role() {
            Some(SpeakerRole::Person) => drop(result.insert("role".into(), "user".into())),
            Some(SpeakerRole::Assistant) => drop(result.insert("role".into(), "assistant".into())),
            _ => {}
        }
        if let Some(end) = memory.ends_at() {
            result.insert("expiration_date".into(), end.format("%Y-%m-%d").to_string().into());
        }
        for (key, value) in source_properties(record, NAME) {
            let place = if PROPERTY_KEYS.contains(&key.as_str()) { &mut result } else { &mut metadata };
            place.entry(key).or_insert(value);
        }
        result.entry("user_id").or_insert(DEFAULT_USER.into());
        metadata.insert(KEY.into(), own_fields(record.fields, front_matter_of(record)).into());
        result.insert("metadata".into(), metadata.into());
        let separator = if std::mem::replace(&mut self.has_results, true) { ",\n" } else { "\n" };
        vec![ExportPart::next(format!("{separator}{}", Value::Object(result)))]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        vec![ExportPart::next("\n]}\n".into())]
    }
}
