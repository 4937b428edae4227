//! The file of the MCP server `memory`: entities and relations, one per line.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::catalog::ExportCatalog;
use super::{ExportFormat, ExportPart, ExportRecord, front_matter_of, own_fields, source_properties};
use crate::own_fields::KEY;
use crate::server_memory::NAME;

/// An export as `memory.jsonl`.
#[derive(Debug)]
pub(super) struct ServerMemoryExport {
    catalog: ExportCatalog,
}

impl ServerMemoryExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self { catalog }
    }
}

impl ExportFormat for ServerMemoryExport {
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else { return Vec::new() };
        let mut export = front_matter_of(record);
        export.insert("title".into(), entry.name.as_str().into());
        let (mut entity, mut metadata) = (Map::new(), Map::new());
        entity.insert("type".into(), "entity".into());
        entity.insert("name".into(), entry.name.as_str().into());
        entity.insert("entityType".into(), memory.category.as_str().into());
        entity.insert("observations".into(), json!([memory.content]));
        for (key, value) in source_properties(record, NAME) {
            match value {
                Value::Object(fields) if key == "metadata" => metadata = fields,
                value => drop(entity.entry(key).or_insert(value)),
            }
        }
        metadata.insert(KEY.into(), own_fields(record.fields, export).into());
        entity.insert("metadata".into(), metadata.into());
        let mut lines = format!("{}\n", Value::Object(entity));
        for other in memory.links.iter().filter_map(|id| self.catalog.get(id)) {
            let relation = json!({ "type": "relation", "from": entry.name, "to": other.name, "relationType": "relates_to" });
            writeln!(lines, "{relation}").expect("a text grows");
        }
        vec![ExportPart::next(lines)]
    }
}
