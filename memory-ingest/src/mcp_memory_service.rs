//! The memories of `mcp-memory-service`.

use std::collections::HashMap;
use std::path::Path;

use memory_core::{ContentHash, Source, SourceError, SourceItem};
use serde_json::{Value, json};

use crate::database::SourceTable;
use crate::note::one_line;
use crate::program_records::RecordProgram;
use crate::record::{SourceRecord, map_category};
use crate::record_file::{RecordFile, RecordIndex, RecordPosition, unreadable};
use crate::record_note::RecordNote;

const NAME: &str = "mcp-memory-service";

const MEMORIES: SourceTable = SourceTable {
    name: "memories",
    columns: &["content_hash", "content"],
};

const GRAPH: SourceTable = SourceTable {
    name: "memory_graph",
    columns: &["source_hash", "target_hash"],
};

const PROGRAM: RecordProgram = RecordProgram {
    database: "sqlite_vec.db",
    tables: &[MEMORIES, GRAPH],
    lists: &["memories"],
    expected: "a database or an export of mcp-memory-service",
    is_own: is_memory,
};

/// The keys that become properties.
const PROPERTY_KEYS: [&str; 6] = [
    "memory_type",
    "metadata",
    "confidence",
    "parent_id",
    "export_source",
    "source_machine",
];

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
        Ok(Self {
            file: PROGRAM.open(path)?.into_file(),
        })
    }

    /// Returns whether the file or folder at `path` has been written by `mcp-memory-service`.
    pub(crate) fn recognizes(path: &Path) -> bool {
        PROGRAM.recognizes(path, 1, is_memory)
    }
}

/// Returns whether a record is a memory. One of an export of a home has these keys too, and a phase.
fn is_memory(_: &RecordPosition, record: &SourceRecord) -> bool {
    record.text(&["content"]).is_some()
        && record.contains("content_hash")
        && record.get("phase").is_none()
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
        let index = RecordIndex::of(
            file,
            reader.as_mut(),
            &mut |position: &RecordPosition, record| {
                if position.list == GRAPH.name {
                    let source = record.text(&["source_hash"]).ok_or("has no source")?;
                    let target = record.text(&["target_hash"]).ok_or("has no target")?;
                    let kind = record
                        .text(&["relationship_type"])
                        .unwrap_or_else(|| "related".into());
                    edges
                        .entry(memory_path(&source))
                        .or_default()
                        .push(MemoryEdge { kind, target });
                    return Ok(None);
                }
                // The program itself hides superseded memories, and those that it deletes later.
                if record.get("deleted_at").is_some() || record.get("superseded_by").is_some() {
                    return Ok(None);
                }
                let content = record.text(&["content"]).ok_or("has no text")?;
                let hash = record
                    .text(&["content_hash"])
                    .unwrap_or_else(|| ContentHash::of(&content).to_string());
                Ok(Some(memory_path(&hash)))
            },
        );
        index.into_items(file, reader, move |path, _, record| {
            memory_note(
                path,
                record,
                edges.get(path).map(Vec::as_slice).unwrap_or_default(),
            )
        })
    }
}

fn memory_path(hash: &str) -> String {
    format!("memories/{}", one_line(hash))
}

fn memory_note(path: &str, record: &SourceRecord, edges: &[MemoryEdge]) -> SourceItem {
    let mut note = RecordNote::new(
        NAME,
        NAME,
        path,
        &record.text(&["content"]).unwrap_or_default(),
    );
    note.draft.tags = record.list("tags").into_iter().collect();
    note.draft.category = record
        .text(&["memory_type"])
        .and_then(|kind| map_category(&kind));
    note.draft.created_at = record.time(&["created_at", "created_at_iso"]);
    note.updated_at = record.time(&["updated_at", "updated_at_iso"]);
    note.links = edges.iter().map(|edge| memory_path(&edge.target)).collect();
    note.links.extend(
        record
            .text(&["parent_id"])
            .map(|parent| memory_path(&parent)),
    );
    let metadata = record.object("metadata");
    for key in PROPERTY_KEYS {
        match &metadata {
            Some(metadata) if key == "metadata" => {
                note.add_property(key, Some(&Value::Object(metadata.0.clone())));
            }
            _ => note.add_property(key, record.get(key)),
        }
    }
    let named = edges.iter().filter(|edge| edge.kind != "related");
    let named: Vec<_> = named
        .map(|edge| json!({ "type": edge.kind, "target": edge.target }))
        .collect();
    note.add_property(
        "relations",
        (!named.is_empty()).then(|| Value::from(named)).as_ref(),
    );
    note.into_item()
}
