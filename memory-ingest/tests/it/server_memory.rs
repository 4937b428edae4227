use memory_core::{Category, Phase, SourceError};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, note_paths, survey_source};

const GRAPH: &str = r#"{"type":"entity","name":"Anna","entityType":"person","observations":["likes tea","speaks 日本語 😀","two\nlines"],"unknown":{"a":1}}
{"type":"relation","from":"Anna","to":"Café Nord","relationType":"works_at"}
{"type":"entity","name":"Café Nord","entityType":"company","observations":[]}
{"type":"entity","entityName":"C#","entity_type":"skill","observations":["half \ud83d"]}
{"type":"relation","from_id":"Café Nord","to_id":"C#","relation_type":"uses"}
{"type":"entity","name":"Anna","entityType":"person","contents":["likes tea","sings"],"born":1990}
{"type":"relation","from":"Nobody","to":"Anna","relationType":"knows"}
{"type":"relation","from":"Anna","to":"Gone","relationType":"knew"}
{"broken
{"type":"memo","name":"x"}
{"type":"entity","name":null,"observations":["no name"]}
"#;

#[test]
fn entities_are_notes_with_their_observations_and_relations() {
    let folder = IngestSandbox::new(&[("memory.jsonl", GRAPH)]);
    let found = folder.survey(SourceName::ServerMemory);
    assert_eq!(
        note_paths(&found),
        ["entities/Anna", "entities/C#", "entities/Café Nord"]
    );
    let anna = found.note("entities/Anna");
    assert_eq!(
        anna.draft.content,
        "- likes tea\n- speaks 日本語 😀\n- two\n  lines\n- sings\n\n- works_at [[Café Nord]]\n- knew [[Gone]]"
    );
    assert_eq!(
        (anna.draft.title.as_deref(), anna.draft.category),
        (Some("Anna"), Some(Category::People))
    );
    assert_eq!(
        (anna.draft.phase, anna.draft.created_at),
        (Some(Phase::Inbox), None)
    );
    assert_eq!(anna.draft.tags.as_slice(), ["person"]);
    assert_eq!(
        anna.front_matter,
        "server_memory_entityType: \"person\"\nserver_memory_outgoing_relations: \
         [{\"relationType\":\"works_at\",\"to\":\"Café Nord\"},{\"relationType\":\"knew\",\"to\":\"Gone\"}]\n\
         server_memory_unknown: {\"a\":1}\nserver_memory_born: 1990\n"
    );
    assert_eq!(found.note("entities/Café Nord").draft.content, "- uses C#");
    assert_eq!(found.note("entities/C#").draft.content, "- half \u{fffd}");
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (2, 1)
    );
    assert_eq!(
        (
            found.report.new,
            found.again.new,
            found.again.updated,
            found.again.unchanged
        ),
        (3, 0, 0, 3)
    );
    let reasons: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(
        reasons
            .contains(&"memory.jsonl#7 is a relation of Nobody, which does not exist".to_owned()),
        "{reasons:?}"
    );
    assert!(
        reasons.contains(&"memory.jsonl#11 has no name".to_owned()),
        "{reasons:?}"
    );
}

#[test]
fn a_graph_in_one_document_is_the_same() {
    let text = r#"{"entities":[{"name":"Anna","entityType":"person","observations":["likes tea"]}],
        "relations":[{"from":"Anna","to":"Anna","relationType":"is"}]}"#;
    let folder = IngestSandbox::new(&[
        ("memory.json", text),
        ("other.json", "[{\"type\":\"page\"}]"),
        ("empty.json", ""),
    ]);
    let found = survey_source(SourceName::ServerMemory, &folder.path().join("memory.json"));
    assert_eq!(
        found.note("entities/Anna").draft.content,
        "- likes tea\n\n- is [[Anna]]"
    );
    assert!(SourceName::ServerMemory.recognizes(&folder.path()));
    for other in ["other.json", "empty.json"] {
        let path = folder.path().join(other);
        assert!(!SourceName::ServerMemory.recognizes(&path));
        let opened = open(SourceName::ServerMemory, &path, &SourceOptions::default());
        assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
    }
}

#[test]
fn an_export_of_this_program_has_its_text_without_marks() {
    let line = r#"{"type":"entity","name":"Tea","entityType":"habits","observations":["plain text"],"metadata":{"x_memory":{"category":"habits","source":"server-memory","tags":["a"]}}}"#;
    let folder = IngestSandbox::new(&[("memory.jsonl", line)]);
    let found = folder.survey(SourceName::ServerMemory);
    let note = found.note("entities/Tea");
    assert_eq!(
        (note.draft.content.as_str(), note.front_matter.as_str()),
        ("plain text", "")
    );
    assert_eq!(
        (note.draft.category, note.draft.tags.as_slice()),
        (Some(Category::Habits), &["a".to_owned()][..])
    );
}

#[test]
fn entities_with_equal_observations_have_their_own_relations_and_lost_values_are_named() {
    let graph = r#"{"type":"entity","name":"A","entityType":"person","observations":["likes tea"]}
{"type":"entity","name":"B","entityType":"person","observations":["likes tea"]}{"type":"entity","name":"C","entityType":"place","observations":["likes tea"]}
{"type":"relation","from":"A","to":"B","relationType":"knows"}
{"type":"relation","from":"B","to":"C","relationType":"lives_in"}
{"type":"entity","name":"A","entityType":"robot","observations":["likes oil"]}
"#;
    let folder = IngestSandbox::new(&[("memory.jsonl", graph)]);
    let found = folder.survey(SourceName::ServerMemory);
    assert_eq!((found.report.new, found.again.unchanged), (3, 3));
    assert_eq!(
        found.note("entities/A").draft.content,
        "- likes tea\n- likes oil\n\n- knows [[B]]"
    );
    assert_eq!(
        found.skipped,
        [(
            "memory.jsonl#5".to_owned(),
            "has other values than the first record of entities/A, which were left out: entityType"
                .to_owned()
        )]
    );
}
