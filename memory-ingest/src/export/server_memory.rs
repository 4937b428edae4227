//! The file of the MCP server `memory`: entities and relations, one per line.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::catalog::ExportCatalog;
use super::{ExportFormat, ExportPart, ExportRecord, own_fields};
use crate::own_fields::KEY;

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
        let export = Map::from_iter([("title".to_owned(), Value::from(entry.name.as_str()))]);
        let entity = json!({
            "type": "entity",
            "name": entry.name,
            "entityType": memory.category.as_str(),
            "observations": [memory.content],
            "metadata": { KEY: own_fields(record.fields, export) },
        });
        let mut lines = format!("{entity}\n");
        for other in memory.links.iter().filter_map(|id| self.catalog.get(id)) {
            let relation = json!({ "type": "relation", "from": entry.name, "to": other.name, "relationType": "relates_to" });
            writeln!(lines, "{relation}").expect("a text grows");
        }
        vec![ExportPart::next(lines)]
    }
}
