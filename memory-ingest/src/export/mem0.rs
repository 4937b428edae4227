//! The JSON of all memories, as mem0 returns it.

use memory_core::{Scope, SpeakerRole};
use serde_json::{Map, Value, json};

use super::catalog::ExportCatalog;
use super::{ExportFormat, ExportPart, ExportRecord, own_fields, time};
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
        let mut result = json!({
            "id": memory.id.to_string(),
            "memory": memory.content,
            "created_at": time(memory.created_at),
            "updated_at": time(memory.updated_at),
            "user_id": "user",
        });
        match &memory.scope {
            Scope::Global => {}
            Scope::Agent(name) => result["agent_id"] = name.as_str().into(),
            Scope::Conversation(id) => result["run_id"] = id.as_str().into(),
            Scope::Project(name) => drop(metadata.insert("project".into(), name.as_str().into())),
        }
        match memory.speaker_role() {
            Some(SpeakerRole::Person) => result["role"] = "user".into(),
            Some(SpeakerRole::Assistant) => result["role"] = "assistant".into(),
            _ => {}
        }
        if let Some(end) = memory.ends_at() {
            result["expiration_date"] = end.format("%Y-%m-%d").to_string().into();
        }
        metadata.insert(KEY.into(), own_fields(record.fields, Map::new()).into());
        result["metadata"] = metadata.into();
        let separator = if std::mem::replace(&mut self.has_results, true) { ",\n" } else { "\n" };
        vec![ExportPart::next(format!("{separator}{result}"))]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        vec![ExportPart::next("\n]}\n".into())]
    }
}
