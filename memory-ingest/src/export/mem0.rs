//! The JSON of all memories, as mem0 returns it.

use memory_core::{Scope, SpeakerRole};
use serde_json::{Map, Value, json};

use super::catalog::ExportCatalog;
use super::{ExportFormat, ExportPart, ExportRecord, own_fields, time};
use crate::front_matter::split_front_matter;
use crate::mem0::{DEFAULT_USER, MEMORIES, NAME};
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
        let property = |key: &str| record.file.and_then(|file| property(file, key));
        // A memory of mem0 retains its id and its user.
        let own_path = memory.origin.as_ref().filter(|origin| origin.source == NAME && origin.root == NAME);
        let own_id = own_path.and_then(|origin| origin.path.strip_prefix(MEMORIES)).map(str::to_owned);
        let mut result = json!({
            "id": own_id.unwrap_or_else(|| memory.id.to_string()),
            "memory": memory.content,
            "created_at": time(memory.created_at),
            "updated_at": time(memory.updated_at),
            "user_id": property("user_id").unwrap_or_else(|| DEFAULT_USER.to_owned()),
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

/// Returns the property that an import from mem0 added to the file of a memory.
fn property(file: &str, key: &str) -> Option<String> {
    let fields = split_front_matter(file).fields.ok()?;
    let (_, value) = fields.into_iter().find(|(name, _)| *name == format!("{NAME}_{key}"))?;
    value.scalar().filter(|text| !text.is_empty()).map(str::to_owned)
}
