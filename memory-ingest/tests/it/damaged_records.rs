//! Files of records with random damage.

use memory_core::testing::source_suite;
use memory_ingest::{SourceName, SourceOptions, open};
use proptest::prelude::*;

use crate::sandbox::{IngestSandbox, create_database};

/// A file of each source.
const FILES: [(SourceName, &str); 7] = [
    (
        SourceName::ServerMemory,
        "{\"type\":\"entity\",\"name\":\"Anna\",\"entityType\":\"person\",\"observations\":[\"tea\",{\"text\":\"键\"}]}\n{\"type\":\"relation\",\"from\":\"Anna\",\"to\":\"Anna\",\"relationType\":\"is\"}\n",
    ),
    (
        SourceName::Mem0,
        r#"{"results":[{"id":"a","memory":"x","created_at":"2024-01-02T03:04:05Z","metadata":{"k":[1]}}]}"#,
    ),
    (
        SourceName::McpMemoryService,
        r#"{"memories":[{"content":"x","content_hash":"a","tags":["t"],"created_at":1735787045.5}]}"#,
    ),
    (
        SourceName::ClaudeMem,
        r#"{"observations":[{"id":1,"memory_session_id":"s","title":"T","facts":"[\"f\"]"}],"prompts":[{"content_session_id":"c","prompt_text":"p"}]}"#,
    ),
    (
        SourceName::Letta,
        r#"{"agents":[{"name":"a","agent_type":"x","block_ids":["b"],"messages":[{"role":"user","content":[{"type":"text","text":"t"}]}]}],"blocks":[{"id":"b","label":"human","value":"v"}]}"#,
    ),
    (
        SourceName::Jsonl,
        "{\"text\":\"x\",\"tags\":[\"a\"],\"é k\":{\"n\":1}}\n{\"text\":\"\\ud83d\"}\n",
    ),
    (
        SourceName::Csv,
        "text;tags\n\"a \"\"b\"\"\nc\";\"x,y\"\n;;\nlast;z",
    ),
];

/// A change of a file: a position in 10,000 parts of it, and the bytes that replace some of its bytes.
fn any_damage() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    let token = prop::sample::select(&b"[]{}\",:\\\n;0e\xff\0 "[..]);
    (
        0..10_000_usize,
        0..8_usize,
        prop::collection::vec(prop_oneof![3 => token, 1 => any::<u8>()], 0..6),
    )
}

fn damage(bytes: &mut Vec<u8>, damages: &[(usize, usize, Vec<u8>)]) {
    for (at, length, new) in damages {
        let start = at * bytes.len() / 10_000;
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, new.iter().copied());
    }
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_without_a_panic_and_in_order(damages in prop::collection::vec(any_damage(), 1..4)) {
        for (name, text) in FILES {
            let folder = IngestSandbox::new(&[]);
            let mut bytes = text.as_bytes().to_vec();
            damage(&mut bytes, &damages);
            folder.write("file", &bytes);
            if let Ok(source) = open(name, &folder.path().join("file"), &SourceOptions::default()) {
                source_suite(source.as_ref());
            }
        }
    }

    #[test]
    fn a_damaged_database_is_read_without_a_panic_and_in_order(damages in prop::collection::vec(any_damage(), 1..6)) {
        let folder = IngestSandbox::new(&[]);
        create_database(
            &folder,
            "file.db",
            "PRAGMA page_size=512; CREATE TABLE memories (content_hash TEXT UNIQUE, content TEXT, tags TEXT);
             CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
             INSERT INTO memories SELECT 'h' || i, printf('text %.100d', i), 'a,b' FROM n;",
        );
        let path = folder.path().join("file.db");
        let mut bytes = std::fs::read(&path).expect("the file is there");
        damage(&mut bytes, &damages);
        folder.write("file.db", &bytes);
        if let Ok(source) = open(SourceName::McpMemoryService, &path, &SourceOptions::default()) {
            source_suite(source.as_ref());
        }
        prop_assert_eq!(std::fs::read(&path).expect("the file is there"), bytes);
    }
}
