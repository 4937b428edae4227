use memory_core::json::JsonText;
use memory_core::{Category, Scope};
use memory_ingest::SourceName;

use crate::sandbox::{IngestSandbox, create_database, note_paths, session_texts, survey_source};

const TABLES: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL, memory_session_id TEXT,
        project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active', custom_title TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
        type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, agent_type TEXT, agent_id TEXT,
        merged_into_project TEXT, metadata TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
        prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE directives (id INTEGER PRIMARY KEY, scope TEXT, project TEXT, content TEXT NOT NULL, status TEXT NOT NULL,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL);
    CREATE TABLE observation_feedback (id INTEGER PRIMARY KEY, observation_id INTEGER NOT NULL, signal_type TEXT NOT NULL);
    CREATE TABLE pending_messages (id INTEGER PRIMARY KEY, tool_input TEXT);
    INSERT INTO pending_messages VALUES (1, 'not a memory');";

const ROWS: &str = r#"
    INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, user_prompt, started_at, custom_title)
        VALUES ('c1', 's1', 'shop', 'p', '2025', 'Fix the build');
    INSERT INTO observations (id, memory_session_id, project, text, type, title, subtitle, facts, narrative, concepts, files_read,
        files_modified, merged_into_project, metadata, created_at, created_at_epoch) VALUES
        (10, 's1', 'shop-tree', NULL, 'decision', 'Use 键', 'A subtitle', '["fact one","fact two"]', 'The story.', '["gotcha","how-it-works"]',
            '["a.rs"]', '[]', 'shop', '{"k":1}', '2025-01-02T03:04:05.000Z', 1735787045000),
        (9, 's1', 'shop', 'Old text 😀', 'bugfix', NULL, NULL, 'broken [', NULL, NULL, NULL, NULL, NULL, NULL, 'x', 1735787045),
        (8, 's1', 'shop', 'dismissed', 'feature', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x', 1),
        (7, 's1', '', NULL, 'feature', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x', 1);
    INSERT INTO observation_feedback VALUES (1, 8, 'dismissed'), (2, 9, 'used');
    INSERT INTO session_summaries (id, memory_session_id, project, request, learned, files_edited, created_at, created_at_epoch)
        VALUES (1, 's1', 'shop', 'Fix it
second line', 'That it was broken.', '["b.rs"]', '2025-01-02T03:04:05.000Z', 1735787045000);
    INSERT INTO directives VALUES (1, 'project', 'shop', 'Always run the tests.', 'active', 'x', 1735787045000, 1735787046000),
        (2, 'global', NULL, 'retired', 'inactive', 'x', 1, 1);
    INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch) VALUES
        ('c1', 2, 'second', 'x', 1735787047000), ('c1', 1, 'first 键', 'x', 1735787045000), ('c0', 1, 'other', 'x', 1), ('c0', 2, ' ', 'x', 1);"#;

#[test]
fn observations_summaries_and_rules_are_notes_and_prompts_are_conversations() {
    let folder = IngestSandbox::new(&[]);
    create_database(&folder, "claude-mem.db", &format!("{TABLES}{ROWS}"));
    let found = folder.survey(SourceName::ClaudeMem);
    assert_eq!(
        note_paths(&found),
        [
            "observations/10",
            "observations/9",
            "rules/1",
            "summaries/1"
        ]
    );
    let note = found.note("observations/10");
    let content =
        "A subtitle\n\nThe story.\n\nFacts:\n\n- fact one\n- fact two\n\nFiles read:\n\n- a.rs";
    assert_eq!(
        (note.draft.content.as_str(), note.draft.title.as_deref()),
        (content, Some("Use 键"))
    );
    assert_eq!(note.draft.tags.as_slice(), ["gotcha", "how-it-works"]);
    assert_eq!(
        (note.draft.category, &note.draft.scope),
        (Some(Category::Decisions), &Scope::Project("shop".into()))
    );
    assert_eq!(note.draft.created_at, "2025-01-02T03:04:05Z".parse().ok());
    assert_eq!(
        note.front_matter,
        "claude_mem_id: 10\nclaude_mem_session: \"s1\"\nclaude_mem_type: \"decision\"\nclaude_mem_metadata: {\"k\":1}\n"
    );
    let old = found.note("observations/9");
    assert_eq!(
        (old.draft.content.as_str(), old.draft.title.as_deref()),
        ("Old text 😀\n\nFacts:\n\n- broken [", None)
    );
    assert_eq!(old.draft.created_at, "2025-01-02T03:04:05Z".parse().ok());
    let summary = found.note("summaries/1");
    assert_eq!(summary.draft.title.as_deref(), Some("Fix it"));
    let content =
        "Request: Fix it\nsecond line\n\nLearned: That it was broken.\n\nFiles modified:\n\n- b.rs";
    assert_eq!(summary.draft.content, content);
    assert_eq!(
        found.note("rules/1").draft.category,
        Some(Category::Preferences)
    );
    assert_eq!(
        found
            .sessions
            .iter()
            .map(|session| session.id.as_str())
            .collect::<Vec<_>>(),
        ["c0", "c1"]
    );
    assert_eq!(found.sessions[1].title.as_deref(), Some("Fix the build"));
    assert_eq!(
        session_texts(&found.sessions[1]),
        [
            ("user", "first 键".to_owned()),
            ("user", "second".to_owned())
        ]
    );
    let meta = found.sessions[1].records[0]
        .meta
        .as_ref()
        .map(JsonText::as_str);
    assert_eq!(meta, Some(r#"{"project":"shop"}"#));
    assert_eq!(
        found.sessions[1].records[0].at,
        "2025-01-02T03:04:05Z".parse().ok()
    );
    let skipped: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(
        skipped,
        [
            "claude-mem.db#observations/7 has no text",
            "claude-mem.db#user_prompts/4 has no text"
        ]
    );
    assert_eq!(
        (found.report.new, found.again.unchanged, found.again.updated),
        (4, 4, 0)
    );
    assert!(SourceName::ClaudeMem.recognizes(&folder.path()));
}

#[test]
fn an_export_has_the_same_records() {
    let text = r#"{"exportedAt":"2025-01-02T03:04:05Z","query":"*","project":"shop","totalObservations":2,
        "observations":[{"id":10,"memory_session_id":"s1","project":"shop","type":"discovery","title":"T","facts":["a"],"created_at_epoch":1735787045000},
            {"sdk_session_id":"s0","project":"shop","type":"change","title":"Only a title","created_at_epoch":1}],
        "sessions":[{"content_session_id":"c1","custom_title":null}],
        "summaries":[{"id":1,"memory_session_id":"s1","project":"shop","request":"R","created_at_epoch":1735787045000}],
        "prompts":[{"id":1,"content_session_id":"c1","prompt_number":1,"prompt_text":"hello","project":"shop","created_at_epoch":1735787045000}]}"#;
    let folder = IngestSandbox::new(&[("export.json", text)]);
    let path = folder.path().join("export.json");
    let found = survey_source(SourceName::ClaudeMem, &path);
    assert_eq!(
        note_paths(&found),
        ["observations/10", "observations/s0-1", "summaries/1"]
    );
    assert_eq!(found.note("observations/10").draft.content, "Facts:\n\n- a");
    assert_eq!(
        found.note("observations/s0-1").draft.content,
        "Only a title"
    );
    assert_eq!(
        session_texts(&found.sessions[0]),
        [("user", "hello".to_owned())]
    );
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    assert!(
        SourceName::ClaudeMem.recognizes(&path) && !SourceName::McpMemoryService.recognizes(&path)
    );
}
