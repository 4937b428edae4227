use memory_core::{Category, SourceError};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, create_database, note_paths, survey_source};

const MEMORIES: &str = "CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL,
    content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,
    updated_at_iso TEXT, deleted_at REAL DEFAULT NULL, superseded_by TEXT, confidence REAL, an_extra_column BLOB);
    CREATE TABLE memory_graph (source_hash TEXT NOT NULL, target_hash TEXT NOT NULL, similarity REAL NOT NULL,
    connection_types TEXT NOT NULL, metadata TEXT, created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash));";

#[test]
fn the_database_yields_memories_that_are_neither_deleted_nor_superseded() {
    let folder = IngestSandbox::new(&[]);
    let rows = r#"INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, updated_at_iso, deleted_at, superseded_by)
        VALUES ('b2', 'We chose SQLite 数据库', 'db, 键', 'decision', '{"source":"cli","n":1}', 1735787045.25, '2025-02-01T00:00:00Z', NULL, NULL),
        ('a1', 'plain', '', NULL, 'broken {', NULL, NULL, NULL, NULL),
        ('c3', 'deleted', '', NULL, NULL, 1.0, NULL, 1735787045.0, NULL),
        ('d4', 'superseded', '', NULL, NULL, 1.0, NULL, NULL, 'b2'),
        ('e5', ' ', '', NULL, NULL, 1.0, NULL, NULL, NULL);
        INSERT INTO memory_graph VALUES ('b2', 'a1', 0.9, '[]', NULL, 1.0, 'fixes'), ('b2', 'c3', 0.9, '[]', NULL, 1.0, 'related');"#;
    create_database(&folder, "sqlite_vec.db", &format!("{MEMORIES}{rows}"));
    let found = folder.survey(SourceName::McpMemoryService);
    assert_eq!(note_paths(&found), ["memories/a1", "memories/b2"]);
    let note = found.note("memories/b2");
    assert_eq!(
        (note.draft.content.as_str(), note.draft.category),
        ("We chose SQLite 数据库", Some(Category::Decisions))
    );
    assert_eq!(note.draft.tags.as_slice(), ["db", "键"]);
    assert_eq!(
        note.draft.created_at,
        "2025-01-02T03:04:05.25Z".parse().ok()
    );
    assert_eq!(note.updated_at, "2025-02-01T00:00:00Z".parse().ok());
    let lines = "mcp_memory_service_memory_type: \"decision\"\nmcp_memory_service_metadata: {\"source\":\"cli\",\"n\":1}\n\
        mcp_memory_service_relations: [{\"type\":\"fixes\",\"target\":\"a1\"}]\n";
    assert_eq!(note.front_matter, lines);
    assert_eq!(
        found.note("memories/a1").front_matter,
        "mcp_memory_service_metadata: \"broken {\"\n"
    );
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (1, 1)
    );
    assert_eq!(
        found.skipped,
        [(
            "sqlite_vec.db#memories/5".to_owned(),
            "has no text".to_owned()
        )]
    );
    assert_eq!(
        (found.report.new, found.again.unchanged, found.again.updated),
        (2, 2, 0)
    );
    assert!(SourceName::McpMemoryService.recognizes(&folder.path()));
}

#[test]
fn an_old_database_lacks_columns_and_the_graph() {
    let folder = IngestSandbox::new(&[]);
    create_database(
        &folder,
        "old.db",
        "CREATE TABLE memories (content_hash, content); INSERT INTO memories VALUES ('a', 'x')",
    );
    let found = survey_source(SourceName::McpMemoryService, &folder.path().join("old.db"));
    assert_eq!(note_paths(&found), ["memories/a"]);
    create_database(&folder, "other.db", "CREATE TABLE memories (text)");
    let opened = open(
        SourceName::McpMemoryService,
        &folder.path().join("other.db"),
        &SourceOptions::default(),
    );
    assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
}

#[test]
fn an_export_has_the_same_memories() {
    let text = r#"{"export_metadata":{"source_machine":"m","total_memories":1,"exporter_version":"5.0.0"},
        "memories":[{"content":"We chose SQLite","content_hash":"b2","tags":["db"],"created_at":1735787045.25,"updated_at":null,
        "memory_type":"note","metadata":{},"export_source":"m"},{"content":"no hash","content_hash":null}]}"#;
    let folder = IngestSandbox::new(&[("export.json", text)]);
    let path = folder.path().join("export.json");
    let found = survey_source(SourceName::McpMemoryService, &path);
    assert_eq!(
        (found.notes.len(), found.skipped.len()),
        (2, 0),
        "a memory without a hash is imported"
    );
    let note = found.note("memories/b2");
    assert_eq!(
        (note.draft.tags.as_slice(), note.draft.category),
        (&["db".to_owned()][..], None)
    );
    assert_eq!(
        note.front_matter,
        "mcp_memory_service_memory_type: \"note\"\nmcp_memory_service_export_source: \"m\"\n"
    );
    assert!(SourceName::McpMemoryService.recognizes(&path) && !SourceName::Mem0.recognizes(&path));
}
