use memory_core::{Category, Scope, SourceError, SpeakerRole};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, create_database, note_paths, survey_source};

/// The table as mem0 creates it.
const HISTORY: &str = "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
    created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME);
    INSERT INTO messages VALUES ('m', 's', 'user', 'a message that is no memory', NULL, NULL);";

#[test]
fn results_have_their_ids_times_categories_and_metadata() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!(
        r#"{{"results":[
        {{"id":"b","memory":"Likes tea 🍵","hash":"h","created_at":"2024-07-20T05:30:36-07:00","updated_at":"2024-08-01T00:00:00.5Z",
          "user_id":"anna","agent_id":null,"role":"user","expiration_date":"2030-01-02","categories":["food","user_preferences"],
          "metadata":{{"title":null,"project":"shop","tags":"x, y","source":"web","nested":{{"a":[1]}}}},"score":0.5}},
        {{"id":"a","data":"the token is {token}","created_at":null}},
        {{"id":"b","memory":"a later duplicate"}},
        {{"id":"c","memory":"deleted","is_deleted":true}},
        {{"id":"d","memory":null}},
        {{"memory":"no id"}},
        7]}}"#
    );
    let folder = IngestSandbox::new(&[("export.json", &text)]);
    let path = folder.path().join("export.json");
    let found = survey_source(SourceName::Mem0, &path);
    assert_eq!(note_paths(&found), ["memories/a", "memories/b"]);
    let note = found.note("memories/b");
    assert_eq!(
        (note.draft.content.as_str(), note.draft.title.as_deref()),
        ("Likes tea 🍵", None)
    );
    assert_eq!(note.draft.created_at, "2024-07-20T12:30:36Z".parse().ok());
    assert_eq!(note.updated_at, "2024-08-01T00:00:00.5Z".parse().ok());
    assert_eq!(note.draft.expires_at, "2030-01-02T00:00:00Z".parse().ok());
    assert_eq!(
        (note.draft.role, note.draft.category),
        (Some(SpeakerRole::Person), Some(Category::Preferences))
    );
    assert_eq!(note.draft.scope, Scope::Project("shop".into()));
    assert_eq!(
        note.draft.tags.as_slice(),
        ["food", "user_preferences", "x", "y"]
    );
    assert!(
        note.front_matter
            .starts_with("mem0_id: \"b\"\nmem0_user_id: \"anna\"\n"),
        "{}",
        note.front_matter
    );
    assert!(
        note.front_matter
            .ends_with("mem0_source: \"web\"\nmem0_nested: {\"a\":[1]}\n"),
        "{}",
        note.front_matter
    );
    assert_eq!(found.note("memories/a").draft.created_at, None);
    assert_eq!(found.skipped.len(), 4, "{:?}", found.skipped);
    assert_eq!(
        (found.report.new, found.again.unchanged, found.again.updated),
        (2, 2, 0)
    );
    assert!(
        found
            .report
            .warnings
            .iter()
            .any(|warning| warning.reason.starts_with("redacted a credential"))
    );
    assert!(SourceName::Mem0.recognizes(&path));
}

#[test]
fn relations_are_notes_of_their_entities_and_unknown_keys_are_properties() {
    let text = r#"{"results":[{"id":"a","memory":"x","color":"red","nothing":null,"hash":"h","user_id":"u","input":[{"role":"user","content":"hi"}]}],
        "relations":[{"source":"anna","relationship":"likes","target":"tea"},{"source":"tea","relationship":"grows_in","destination":"日本"},
        {"source":"anna","relationship":"knows","target":"tea"},{"relationship":"broken"}]}"#;
    let first = r#"{"relations":[{"source":"anna","relationship":"likes","target":"tea"}],"results":[{"id":"a","memory":"x","hash":"h"}]}"#;
    let folder = IngestSandbox::new(&[("all.json", text), ("first.json", first)]);
    for file in ["all.json", "first.json"] {
        assert_eq!(
            SourceName::detect(&folder.path().join(file)),
            [SourceName::Mem0],
            "{file}"
        );
    }
    let found = survey_source(SourceName::Mem0, &folder.path().join("all.json"));
    assert_eq!(
        note_paths(&found),
        ["memories/a", "relations/anna", "relations/tea"]
    );
    assert_eq!(
        found.note("memories/a").front_matter,
        "mem0_id: \"a\"\nmem0_user_id: \"u\"\nmem0_color: \"red\"\nmem0_other_keys: [\"color\"]\n"
    );
    let anna = found.note("relations/anna");
    assert_eq!(
        (anna.draft.content.as_str(), anna.draft.title.as_deref()),
        ("- likes [[tea]]\n- knows [[tea]]", Some("anna"))
    );
    assert_eq!(found.note("relations/tea").draft.content, "- grows_in 日本");
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (2, 0)
    );
    assert_eq!(
        found.skipped,
        [("all.json#relations/5".to_owned(), "has no start".to_owned())]
    );
    assert_eq!((found.again.new, found.again.unchanged), (0, 3));
}

#[test]
fn pages_and_bare_arrays_are_lists_of_memories_too() {
    for text in [
        r#"[{"count":2,"next":"u","results":[{"id":"a","memory":"x"}]},{"count":2,"next":null,"results":[{"id":"b","memory":"y"}]}]"#,
        r#"[{"id":"a","memory":"x"},{"id":"b","memory":"y"}]"#,
        "{\"id\":\"a\",\"memory\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n",
        r#"{"memories":[{"id":"a","memory":"x"},{"id":"b","memory":"y"}]}"#,
    ] {
        let folder = IngestSandbox::new(&[("all.json", text)]);
        let found = survey_source(SourceName::Mem0, &folder.path().join("all.json"));
        assert_eq!(note_paths(&found), ["memories/a", "memories/b"], "{text}");
        assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    }
    let folder = IngestSandbox::new(&[("other.json", r#"[{"title":"x"}]"#)]);
    let opened = open(
        SourceName::Mem0,
        &folder.path().join("other.json"),
        &SourceOptions::default(),
    );
    assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
}

#[test]
fn a_minimal_list_is_recognized() {
    for text in [
        r#"{"results":[{"id":"a","memory":"x","metadata":{"mood":"calm"}}]}"#,
        r#"[{"id":"a","memory":"x","metadata":null},{"id":"b","memory":"y","metadata":{}}]"#,
    ] {
        let folder = IngestSandbox::new(&[("all.json", text)]);
        assert_eq!(
            SourceName::detect(&folder.path().join("all.json")),
            [SourceName::Mem0],
            "{text}"
        );
    }
}

#[test]
fn a_memory_that_was_added_again_has_the_newest_dates() {
    let folder = IngestSandbox::new(&[]);
    let events = "INSERT INTO history VALUES
        ('1', 'a', NULL, 'first', 'ADD', '2024-01-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('2', 'a', 'first', NULL, 'DELETE', '2024-01-01T00:00:00+00:00', '2024-02-01T00:00:00+00:00', 1, NULL, NULL),
        ('3', 'a', NULL, 'again', 'ADD', '2024-03-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('4', 'b', NULL, 'twice', 'ADD', '2024-01-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('5', 'b', NULL, 'twice again', 'ADD', '2024-03-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('6', 'b', 'twice again', 'changed', 'UPDATE', '2024-03-01T00:00:00+00:00', '2024-04-01T00:00:00+00:00', 0, NULL, NULL);";
    create_database(&folder, "history.db", &format!("{HISTORY}{events}"));
    let found = folder.survey(SourceName::Mem0);
    let state = |id: &str| {
        let note = found.note(id);
        (
            note.draft.content.clone(),
            note.draft.created_at,
            note.updated_at,
        )
    };
    let march = "2024-03-01T00:00:00Z".parse().ok();
    assert_eq!(state("memories/a"), ("again".to_owned(), march, None));
    assert_eq!(
        state("memories/b"),
        (
            "changed".to_owned(),
            march,
            "2024-04-01T00:00:00Z".parse().ok()
        )
    );
}

#[test]
fn the_history_is_ordered_by_the_times_of_its_events() {
    let folder = IngestSandbox::new(&[]);
    let events = "INSERT INTO history VALUES
        ('1', 'a', 'old', 'newest', 'UPDATE', '2024-01-01T00:00:00+00:00', '2024-03-01T00:00:00+00:00', 0, NULL, NULL),
        ('2', 'a', NULL, 'oldest', 'ADD', '2024-01-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('3', 'a', 'oldest', 'old', 'UPDATE', '2024-01-01T00:00:00+00:00', '2024-02-01T00:00:00+00:00', 0, NULL, NULL),
        ('4', 'b', NULL, 'deleted later', 'ADD', '2024-02-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('5', 'b', 'deleted later', NULL, 'DELETE', '2024-01-01T00:00:00+00:00', NULL, 1, NULL, NULL),
        ('6', 'c', NULL, 'undated', 'ADD', 'last spring', NULL, 0, NULL, NULL);";
    create_database(&folder, "history.db", &format!("{HISTORY}{events}"));
    let found = folder.survey(SourceName::Mem0);
    assert_eq!(note_paths(&found), ["memories/a", "memories/c"]);
    assert_eq!(found.note("memories/a").draft.content, "newest");
    assert_eq!(
        found.note("memories/a").draft.created_at,
        "2024-01-01T00:00:00Z".parse().ok()
    );
    assert_eq!(
        found.note("memories/c").front_matter,
        "mem0_id: \"c\"\nmem0_created_at: \"last spring\"\n"
    );
}

#[test]
fn the_history_yields_the_newest_state_of_each_memory_that_exists() {
    let folder = IngestSandbox::new(&[]);
    let events = "INSERT INTO history VALUES
        ('1', 'a', NULL, 'old', 'ADD', '2024-01-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('2', 'b', NULL, 'deleted', 'ADD', '2024-01-01T00:00:00+00:00', NULL, 0, NULL, NULL),
        ('3', 'a', 'old', 'new 键', 'UPDATE', '2024-01-01T00:00:00+00:00', '2024-02-01T00:00:00+00:00', 0, 'anna', 'user'),
        ('4', 'b', 'deleted', NULL, 'DELETE', NULL, NULL, 1, NULL, NULL),
        ('5', 'c', NULL, 'first', 'ADD', NULL, NULL, 0, NULL, NULL),
        ('6', 'c', 'first', NULL, 'DELETE', NULL, NULL, 1, NULL, NULL),
        ('7', 'c', NULL, 'again', 'ADD', NULL, NULL, 0, NULL, NULL),
        ('8', 'a', NULL, NULL, 'NONE', NULL, NULL, 0, NULL, NULL),
        ('9', NULL, NULL, 'no memory', 'ADD', NULL, NULL, 0, NULL, NULL);";
    create_database(&folder, "history.db", &format!("{HISTORY}{events}"));
    let found = folder.survey(SourceName::Mem0);
    assert_eq!(note_paths(&found), ["memories/a", "memories/c"]);
    let note = found.note("memories/a");
    assert_eq!(note.draft.content, "new 键");
    assert_eq!(
        (note.draft.created_at, note.updated_at),
        (
            "2024-01-01T00:00:00Z".parse().ok(),
            "2024-02-01T00:00:00Z".parse().ok()
        )
    );
    assert_eq!(
        note.front_matter,
        "mem0_id: \"a\"\nmem0_actor_id: \"anna\"\nmem0_role: \"user\"\n"
    );
    assert_eq!(found.note("memories/c").draft.content, "again");
    assert_eq!(
        found.skipped,
        [(
            "history.db#history/9".to_owned(),
            "has no memory_id".to_owned()
        )]
    );
    assert!(SourceName::Mem0.recognizes(&folder.path()));
}

#[test]
fn a_list_with_only_ids_and_texts_is_recognized() {
    let id = "7f6a2c1e-8f6b-4d65-9a51-2d1e0c8a4b11";
    let lists = [
        format!(r#"{{"results":[{{"id":"{id}","memory":"likes tea"}}]}}"#),
        format!(
            r#"{{"results":[{{"id":"{id}","memory":"likes tea","created_at":"2024-01-01T00:00:00Z"}}]}}"#
        ),
        format!(
            r#"{{"count":1,"next":null,"previous":null,"results":[{{"id":"{id}","memory":"likes tea"}}]}}"#
        ),
    ];
    for list in &lists {
        let folder = IngestSandbox::new(&[("all.json", list)]);
        let path = folder.path().join("all.json");
        assert!(SourceName::Mem0.recognizes(&path), "{list}");
        let found = survey_source(SourceName::Mem0, &path);
        assert_eq!((found.notes.len(), found.skipped.len()), (1, 0), "{list}");
    }
    let folder =
        IngestSandbox::new(&[("all.json", r#"{"results":[{"id":"1","memory":"16 GB"}]}"#)]);
    assert!(!SourceName::Mem0.recognizes(&folder.path().join("all.json")));
}
