//! The memories of `mcp-memory-service`.

use std::collections::HashMap;
use std::path::Path;

use memory_core::{ContentHash, Source, SourceError, SourceItem};
use serde_json::{Value, json};

use crate::database::{SourceDatabase, SourceTable, has_table_at_rest, is_database};
use crate::json_records::{JsonRecordFile, MAX_RECORD_BYTES};
use crate::note::one_line;
use crate::program_folder::begins_with_json;
use crate::record::{SourceRecord, map_category};
use crate::record_file::{RecordFile, RecordIndex, RecordPosition, find_file, unreadable};
use crate::record_note::RecordNote;

const NAME: &str = "mcp-memory-service";

const DATABASE: &str = "sqlite_vec.db";

const MEMORIES: SourceTable = SourceTable { name: "memories", columns: &["content_hash", "content"] };

const GRAPH: SourceTable = SourceTable { name: "memory_graph", columns: &["source_hash", "target_hash"] };

/// The list of memories in an export.
const LISTS: &[&str] = &["memories"];

/// The keys that become properties.
const PROPERTY_KEYS: [&str; 6] = ["memory_type", "metadata", "confidence", "parent_id", "export_source", "source_machine"];

/// The memories of `mcp-memory-service`: its database, or an export as JSON.
#[derive(Debug)]
pub struct McpMemoryService {
    file: Box<dyn RecordFile>,
}

impl McpMemoryService {
    /// Opens a database or an export at `path`, or `sqlite_vec.db` in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let found = find_file(path, &[DATABASE])?;
        let expected = "a database or an export of mcp-memory-service";
        let shown = || found.display().to_string();
        if is_database(&found).map_err(|source| SourceError::Unreadable { path: shown(), source })? {
            return Ok(Self { file: Box::new(SourceDatabase::open(&found, &[MEMORIES, GRAPH], expected)?) });
        }
        let file = JsonRecordFile::open(&found, LISTS, MAX_RECORD_BYTES)?;
        if !is_export(&file, 10) {
            return Err(SourceError::NotRecognized { path: shown(), expected: expected.into() });
        }
        Ok(Self { file: Box::new(file) })
    }

    /// Returns whether the file or folder at `path` has been written by `mcp-memory-service`.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let database = if path.is_dir() { path.join(DATABASE) } else { path.to_owned() };
        let is_json = begins_with_json(path);
        let is_own = || JsonRecordFile::open(path, LISTS, MAX_RECORD_BYTES).is_ok_and(|file| is_export(&file, 1));
        has_table_at_rest(&database, &MEMORIES) || (is_json && is_own())
    }
}

fn is_export(file: &JsonRecordFile, count: usize) -> bool {
    // An export of a home has these keys too, and a phase.
    let is_memory = |record: &SourceRecord| {
        record.text(&["content"]).is_some() && record.contains("content_hash") && record.get("phase").is_none()
    };
    file.first_records(count).iter().any(|(_, record)| is_memory(record))
}

/// An edge of the graph: the kind of the relation, and the hash of the other memory.
struct MemoryEdge {
    kind: String,
    target: String,
}

impl Source for McpMemoryService {
    fn name(&self) -> &'static str {
        NAME
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let file = self.file.as_ref();
        let mut reader = match file.reader() {
            Ok(reader) => reader,
            Err(reason) => return unreadable(file, reason),
        };
        let mut edges = HashMap::<String, Vec<MemoryEdge>>::new();
        let index = RecordIndex::of(file, reader.as_mut(), &mut |position: &RecordPosition, record| {
            if position.list == GRAPH.name {
                let source = record.text(&["source_hash"]).ok_or("has no source")?;
                let target = record.text(&["target_hash"]).ok_or("has no target")?;
                let kind = record.text(&["relationship_type"]).unwrap_or_else(|| "related".into());
                edges.entry(memory_path(&source)).or_default().push(MemoryEdge { kind, target });
                return Ok(None);
            }
            // The program itself hides superseded memories, and those that it deletes later.
            if record.get("deleted_at").is_some() || record.get("superseded_by").is_some() {
                return Ok(None);
            }
            let content = record.text(&["content"]).ok_or("has no text")?;
            let hash = record.text(&["content_hash"]).unwrap_or_else(|| ContentHash::of(&content).to_string());
            Ok(Some(memory_path(&hash)))
        });
        index.into_items(file, reader, move |path, _, record| {
            memory_note(path, record, edges.get(path).map(Vec::as_slice).unwrap_or_default())
        })
    }
}

fn memory_path(hash: &str) -> String {
    format!("memories/{}", one_line(hash))
}

fn memory_note(path: &str, record: &SourceRecord, edges: &[MemoryEdge]) -> SourceItem {
    let mut note = RecordNote::new(NAME, NAME, path, &record.text(&["content"]).unwrap_or_default());
    note.draft.tags = record.list("tags").into_iter().collect();
    note.draft.category = record.text(&["memory_type"]).and_then(|kind| map_category(&kind));
    note.draft.created_at = record.time(&["created_at", "created_at_iso"]);
    note.updated_at = record.time(&["updated_at", "updated_at_iso"]);
    note.links = edges.iter().map(|edge| memory_path(&edge.target)).collect();
    note.links.extend(record.text(&["parent_id"]).map(|parent| memory_path(&parent)));
    let metadata = record.object("metadata");
    for key in PROPERTY_KEYS {
        match &metadata {
            Some(metadata) if key == "metadata" => note.add_property(key, Some(&Value::Object(metadata.0.clone()))),
            _ => note.add_property(key, record.get(key)),
        }
    }
    let named = edges.iter().filter(|edge| edge.kind != "related");
    let named: Vec<_> = named.map(|edge| json!({ "type": edge.kind, "target": edge.target })).collect();
    note.add_property("relations", (!named.is_empty()).then(|| Value::from(named)).as_ref());
    note.into_item()
}
