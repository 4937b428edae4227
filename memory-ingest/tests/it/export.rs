//! Round trips: memories are exported in the format of another program, and ingested into an empty home.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use memory_core::chrono::{DateTime, SecondsFormat, Utc};
use memory_core::testing::{any_memory, any_text, services, source_suite};
use memory_core::{
    Category, Draft, Filter, IngestOptions, MemStore, Memory, MemoryId, Origin, Patch, Phase,
    Scope, SecretPolicy, Services, SourceItem, ingest, link, undo, update, write as write_memory,
};
use memory_ingest::export::{ExportCatalog, ExportFormatName, ExportPart, ExportRecord};
use memory_ingest::{SourceName, SourceOptions, open};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Returns the JSON that `memory read --json` prints.
fn fields(memory: &Memory) -> Value {
    let ids = |ids: &[MemoryId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let repeats = memory.recurrence();
    let origin = |origin: &Origin| json!({ "source": origin.source, "root": origin.root, "path": origin.path });
    json!({
        "id": memory.id.to_string(), "content": memory.content, "content_hash": memory.content_hash().to_string(),
        "phase": memory.phase.as_str(), "category": memory.category.as_str(), "scope": memory.scope.to_string(),
        "tags": memory.tags.as_slice(), "source": memory.source, "created_at": time(memory.created_at),
        "updated_at": time(memory.updated_at), "expires_at": memory.expires_at.map(time), "access_count": memory.access_count,
        "links": ids(&memory.links), "version": memory.version, "role": memory.role.map(memory_core::SpeakerRole::as_str),
        "title": memory.title, "aliases": memory.aliases, "stated_at": memory.stated_at.map(time),
        "valid_from": memory.valid_from.map(time), "valid_until": memory.valid_until.map(time),
        "supersedes": ids(&memory.supersedes), "superseded_by": memory.superseded_by.map(|id| id.to_string()),
        "pinned": memory.pinned, "due": memory.reminder.as_ref().map(|reminder| time(reminder.due)),
        "reminds": memory.reminder.as_ref().and_then(|reminder| reminder.of).map(|id| id.to_string()),
        "notified_at": memory.reminder.as_ref().and_then(|reminder| reminder.notified_at).map(time),
        "done_at": memory.reminder.as_ref().and_then(|reminder| reminder.done_at).map(time),
        "repeats": repeats.map(|repeats| &repeats.expression),
        "snoozed_from": repeats.and_then(|repeats| repeats.snoozed_from).map(time),
        "origin": memory.origin.as_ref().map(origin),
        "other_origins": memory.other_origins.iter().map(origin).collect::<Vec<_>>(),
        "path": "categories/inbox/a.md",
    })
}

/// Returns the parts of an export; `files` are the complete files of memories.
fn export(
    format: ExportFormatName,
    memories: &[Memory],
    files: &BTreeMap<MemoryId, String>,
) -> Vec<ExportPart> {
    let mut catalog = ExportCatalog::new(format);
    for memory in memories {
        catalog.add(memory);
    }
    let mut export = format.open(catalog);
    let mut parts = export.start();
    for memory in memories {
        let resolve = |target: &str| {
            let is_target = |other: &&Memory| {
                other.title.as_deref() == Some(target)
                    || other.aliases.iter().any(|own| own == target)
            };
            memories.iter().find(is_target).map(|other| other.id)
        };
        let file = files.get(&memory.id).map(String::as_str);
        parts.extend(export.memory(&ExportRecord {
            memory,
            fields: &fields(memory),
            file,
            resolve: &resolve,
        }));
    }
    parts.extend(export.finish());
    parts
}

/// Writes an export, and returns the path to ingest.
fn write(format: ExportFormatName, parts: &[ExportPart], folder: &Path) -> std::path::PathBuf {
    if format.is_folder() {
        for part in parts {
            let place = folder.join(&part.path);
            std::fs::create_dir_all(place.parent().expect("a folder"))
                .expect("a folder can be made");
            assert!(!place.exists(), "{} is written twice", part.path);
            std::fs::write(place, &part.text).expect("a file can be written");
        }
        return folder.to_owned();
    }
    let file = folder.join(if format == ExportFormatName::ServerMemory {
        "memory.jsonl"
    } else {
        "export.json"
    });
    std::fs::write(
        &file,
        parts
            .iter()
            .map(|part| part.text.as_str())
            .collect::<String>(),
    )
    .expect("a file can be written");
    file
}

/// Returns the memories of a home that an export was ingested into.
fn ingested(format: ExportFormatName, path: &Path) -> (Services, Vec<Memory>) {
    let name: SourceName = format.as_str().parse().expect("each format is a source");
    let source = open(name, path, &SourceOptions::default()).expect("the export is a source");
    source_suite(source.as_ref());
    let home = services(Arc::new(MemStore::default()));
    let report = ingest(
        &home,
        source.as_ref(),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    assert_eq!(
        (report.skipped.as_slice(), report.warnings.as_slice()),
        (&[][..], &[][..])
    );
    let again = ingest(
        &home,
        source.as_ref(),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    assert_eq!(
        (again.new, again.updated),
        (0, 0),
        "a second run writes nothing"
    );
    let all = home
        .store
        .memories(&Filter::all(), home.clock.now())
        .map(|stored| stored.expect("it can be read").memory)
        .collect();
    (home, all)
}

#[test]
fn a_memory_of_mem0_retains_its_id_and_its_user() {
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original.json");
    let text = r#"{"results":[{"id":"b","memory":"likes tea","user_id":"anna","created_at":"2024-01-01T00:00:00Z"}]}"#;
    std::fs::write(&original, text).expect("a file can be written");
    let (home, memories) = ingested(ExportFormatName::Mem0, &original);
    let file = format!(
        "---\nid: {}\nmem0_id: \"b\"\nmem0_user_id: \"anna\"\n---\nlikes tea\n",
        memories[0].id
    );
    let parts = export(
        ExportFormatName::Mem0,
        &memories,
        &BTreeMap::from([(memories[0].id, file)]),
    );
    let exported: Value = serde_json::from_str(
        &parts
            .iter()
            .map(|part| part.text.as_str())
            .collect::<String>(),
    )
    .expect("it is JSON");
    assert_eq!(
        (
            &exported["results"][0]["id"],
            &exported["results"][0]["user_id"]
        ),
        (&json!("b"), &json!("anna"))
    );
    let path = write(ExportFormatName::Mem0, &parts, folder.path());
    let source =
        open(SourceName::Mem0, &path, &SourceOptions::default()).expect("the export is a source");
    let notes: Vec<_> = source.items().collect();
    let [SourceItem::Note(note)] = notes.as_slice() else {
        panic!("one note: {notes:?}")
    };
    assert_eq!(
        (note.front_matter.as_str(), note.id),
        (
            "mem0_id: \"b\"\nmem0_user_id: \"anna\"\n",
            Some(memories[0].id)
        )
    );
    let import = || {
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("the fake store does not fail");
        (report.new, report.updated, report.unchanged)
    };
    assert_eq!(import().0, 0);
    assert_eq!(import(), (0, 0, 1));
    let (_, copied) = ingested(ExportFormatName::Mem0, &path);
    assert_eq!(
        (
            copied.len(),
            copied[0].id,
            copied[0].other_origins.as_slice()
        ),
        (1, memories[0].id, &[][..])
    );
}

#[test]
fn memories_and_relations_of_mem0_return_unchanged() {
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original.json");
    let results = json!([
        {"id": "a", "memory": "likes tea", "agent_id": "bot", "immutable": true, "keywords": ["tea"], "org_id": "o", "project_id": "p",
         "structured_attributes": {"day": 3}, "color": "red", "created_at": "2024-01-01T00:00:00Z",
         "metadata": {"category": "x", "mood": "calm", "user_id": "inner", "color": "inner", "metadata_x": 1}},
        {"id": "b", "memory": "knows Oslo", "user_id": "anna", "metadata": {"category": "fact"}},
        {"id": "c", "memory": "drinks tea", "user_id": "anna"},
    ]);
    let relations = json!([
        {"source": "anna", "relationship": "likes", "target": "tea", "since": 2020},
        {"source": "tea", "relation": "grows in", "destination": "Assam", "metadata": {"weight": 1}},
    ]);
    let text = json!({"results": results, "relations": relations, "input": [{"role": "user", "content": "hi"}]}).to_string();
    std::fs::write(&original, text).expect("a file can be written");
    let (home, memories) = ingested(ExportFormatName::Mem0, &original);
    let files = complete_files(&home, &memories);
    let parts = export(ExportFormatName::Mem0, &memories, &files);
    let mut exported: Value = serde_json::from_str(
        &parts
            .iter()
            .map(|part| part.text.as_str())
            .collect::<String>(),
    )
    .expect("it is JSON");
    for list in ["results", "relations"] {
        for item in exported[list].as_array_mut().expect("a list") {
            let item = item.as_object_mut().expect("an object");
            let metadata = item
                .get_mut("metadata")
                .and_then(Value::as_object_mut)
                .expect("metadata");
            assert!(metadata.remove("x_memory").is_some());
            if list == "relations" {
                metadata.remove("memory");
            }
            if metadata.is_empty() {
                item.remove("metadata");
            }
            item.remove("updated_at");
            if item.get("id") != Some(&json!("a")) {
                item.remove("created_at");
            }
        }
        exported[list]
            .as_array_mut()
            .expect("a list")
            .sort_by_key(|item| (item["id"].to_string(), item["source"].to_string()));
    }
    assert_eq!(
        (&exported["results"], &exported["relations"]),
        (&results, &relations)
    );
    let path = write(ExportFormatName::Mem0, &parts, folder.path());
    let (copied_home, copied) = ingested(ExportFormatName::Mem0, &path);
    assert_eq!(complete_files(&copied_home, &copied), files);
    let parts = |memories: &[Memory]| {
        let parts = memories.iter().map(|memory| {
            (
                memory.id,
                memory.title.clone(),
                memory.content.clone(),
                memory.links.clone(),
            )
        });
        parts.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(parts(&copied), parts(&memories));
    let tea: Vec<_> = memories
        .iter()
        .filter(|memory| memory.title.as_deref() == Some("anna"))
        .cloned()
        .collect();
    let path = write(
        ExportFormatName::Mem0,
        &export(ExportFormatName::Mem0, &tea, &files),
        folder.path(),
    );
    assert_eq!(
        ingested(ExportFormatName::Mem0, &path).1[0].content,
        "- likes [[tea]]",
        "also without the other entity"
    );
}

#[test]
fn a_graph_of_server_memory_returns_unchanged() {
    let graph = [
        json!({"type":"entity","name":"React","entityType":"library","observations":["is fast","two\nlines","works_at [[Z]]"],"unknown":{"a":1}}),
        json!({"type":"entity","name":"react","entityType":"person","observations":["- odd"]}),
        json!({"type":"entity","name":"C# / .NET","entityType":"deep skill","observations":[]}),
        json!({"type":"entity","name":"Z","entityType":"team","observations":["has [[links]] of its own"]}),
        json!({"type":"entity","name":"Blank","entityType":"team","observations":[""," padded","", {"content": "x", "at": 1}]}),
        json!({"type":"entity","name":"Void","entityType":"team","observations":[""]}),
        json!({"type":"relation","from":"Z","to":"react","relationType":"employs","since":2020,"deep":{"a":[null]}}),
        json!({"type":"relation","from":"Z","to":"React","relationType":"relates_to","since":"May"}),
        json!({"type":"relation","from":"React","to":"Z","relationType":"works_at"}),
        json!({"type":"relation","from":"React","to":"C# / .NET","relationType":"relates_to"}),
        json!({"type":"relation","from":"Z","to":"Gone","relationType":"knew about"}),
        json!({"type":"entity","name":"Bare","observations":["has no type"]}),
        json!({"type":"relation","from":"Bare","to":"Z"}),
    ];
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original.jsonl");
    let text = graph
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    std::fs::write(&original, text).expect("a file can be written");
    let (home, memories) = ingested(ExportFormatName::ServerMemory, &original);
    let files = complete_files(&home, &memories);
    let parts = export(ExportFormatName::ServerMemory, &memories, &files);
    let lines = parts.iter().flat_map(|part| part.text.lines());
    let without_fields = |line: &str| {
        let mut value: Value = serde_json::from_str(line).expect("it is JSON");
        value.as_object_mut().expect("an object").remove("metadata");
        value.to_string()
    };
    let exported: std::collections::BTreeSet<String> = lines.map(without_fields).collect();
    assert_eq!(exported, graph.iter().map(Value::to_string).collect());
    let path = write(ExportFormatName::ServerMemory, &parts, folder.path());
    let source = open(SourceName::ServerMemory, &path, &SourceOptions::default())
        .expect("the export is a source");
    let report = ingest(
        &home,
        source.as_ref(),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("it does not fail");
    assert_eq!((report.new, report.updated), (0, 0), "{report:?}");
    let (_, mut copied) = ingested(ExportFormatName::ServerMemory, &path);
    copied.sort_by_key(|memory| memory.id);
    let mut expected = memories.clone();
    expected.sort_by_key(|memory| memory.id);
    let parts = |memory: &Memory| {
        (
            memory.id,
            memory.title.clone(),
            memory.content.clone(),
            memory.links.clone(),
        )
    };
    assert_eq!(
        copied.iter().map(parts).collect::<Vec<_>>(),
        expected.iter().map(parts).collect::<Vec<_>>()
    );
}

/// Returns the files of memories with their other front matter.
fn complete_files(home: &Services, memories: &[Memory]) -> BTreeMap<MemoryId, String> {
    let file = |memory: &Memory| {
        let stored = home.store.get(&memory.id).expect("it is there");
        let lines: Vec<_> = stored
            .other_fields
            .iter()
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect();
        (
            memory.id,
            format!("---\n{}---\n{}\n", lines.concat(), memory.content),
        )
    };
    memories.iter().map(file).collect()
}

/// Ingests a note of a program, changes its memory, and returns the front matter that its export has for the program.
///
/// An import of the export into an empty home restores the other front matter.
fn exported_again(format: ExportFormatName, text: &str, change: &dyn Fn(&mut Memory)) -> String {
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original");
    std::fs::create_dir(&original).expect("a folder");
    std::fs::write(original.join("a.md"), text).expect("a file");
    let (home, mut memories) = ingested(format, &original);
    let files = complete_files(&home, &memories);
    change(&mut memories[0]);
    let parts = export(format, &memories, &files);
    let target = folder.path().join("export");
    std::fs::create_dir(&target).expect("a folder");
    let (copied_home, copied) = ingested(format, &write(format, &parts, &target));
    assert_eq!(complete_files(&copied_home, &copied), files);
    let part = parts
        .iter()
        .find(|part| part.text.contains("x_memory"))
        .expect("the memory");
    head(&part.text).to_owned()
}

#[test]
fn a_bundle_returns_the_keys_of_its_concepts() {
    let text = "---\ntype: Metric\ntitle: Revenue\ndescription: Sum of orders\nresource: https://a.example/r\n\
                generated: { by: agent/1, at: 2026-06-30T14:00:00Z }\nverified: { by: human:me }\nstatus: stable # yes\n\
                stale_after: 2036-12-31\nsources: [{ resource: p.md }]\nscope: team\nunit: EUR\n---\ntext\n";
    let without = exported_again(
        ExportFormatName::Okf,
        &text.replace("status: stable # yes\n", ""),
        &|_| {},
    );
    assert!(!without.contains("status"), "{without}");
    let keys = exported_again(ExportFormatName::Okf, text, &|_| {});
    for line in [
        "type: Metric\n",
        "description: Sum of orders\n",
        "resource: https://a.example/r\n",
        "generated: { by: agent/1, at: 2026-06-30T14:00:00Z }\n",
        "verified: { by: human:me }\n",
        "status: stable\n",
        "stale_after: 2036-12-31\n",
        "sources: [{ resource: p.md }]\n",
        "scope: team\n",
        "unit: EUR\n",
    ] {
        assert_eq!(keys.matches(line).count(), 1, "{line} {keys}");
    }
    assert_eq!(keys.matches("\ntype:").count(), 1, "{keys}");
    let text = text.replace("Metric", "Preferences");
    let keys = exported_again(ExportFormatName::Okf, &text, &|memory| {
        memory.category = Category::People;
        memory.phase = Phase::Organized;
        memory.expires_at = None;
        memory.superseded_by = Some(memory.id);
    });
    assert!(
        keys.contains("type: people\n") && keys.contains("status: deprecated\n"),
        "{keys}"
    );
    assert!(
        !keys.contains("Preferences") && !keys.contains("stale_after"),
        "{keys}"
    );
}

#[test]
fn links_between_the_files_of_a_bundle_lead_to_their_files_in_the_export() {
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original");
    std::fs::create_dir_all(original.join("deep")).expect("a folder");
    let text = "---\ntype: people\ntitle: Ada\naliases: [Countess, \"A. L.\"]\n---\nsee [it](deep/b.md#part), <deep/b.md> and [x](gone.md)\n";
    std::fs::write(original.join("a.md"), text).expect("a file");
    std::fs::write(
        original.join("deep/b.md"),
        "---\ntype: decisions\ntitle: Talk\n---\nby [her](../a.md)\n",
    )
    .expect("a file");
    let (home, mut memories) = ingested(ExportFormatName::Okf, &original);
    let files = complete_files(&home, &memories);
    for memory in &mut memories {
        memory.phase = Phase::Organized;
    }
    let parts = export(ExportFormatName::Okf, &memories, &files);
    let ada = file(&parts, "people/ada.md");
    assert_eq!(
        body(ada),
        "see [it](../decisions/talk.md#part), <deep/b.md> and [x](gone.md)\n"
    );
    assert!(
        head(ada).contains("aliases: [Countess, \"A. L.\"]\n"),
        "{ada}"
    );
    assert_eq!(
        body(file(&parts, "decisions/talk.md")),
        "by [her](../people/ada.md)\n"
    );
    let target = folder.path().join("export");
    std::fs::create_dir(&target).expect("a folder");
    let path = write(ExportFormatName::Okf, &parts, &target);
    let (_, copied) = ingested(ExportFormatName::Okf, &path);
    let fields = |memory: &Memory| {
        (
            memory.id,
            memory.content.clone(),
            memory.aliases.clone(),
            memory.links.clone(),
        )
    };
    let sorted = |memories: &[Memory]| {
        memories
            .iter()
            .map(fields)
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(sorted(&copied), sorted(&memories));
    std::fs::write(
        target.join("people/ada.md"),
        ada.replace("see [it]", "read [it]")
            .replace("Countess", "Lady"),
    )
    .expect("a file");
    let (_, edited) = ingested(ExportFormatName::Okf, &path);
    let edited = edited
        .iter()
        .find(|memory| memory.title.as_deref() == Some("Ada"))
        .expect("it is there");
    assert_eq!(
        edited.content,
        "read [it](deep/b.md#part), <deep/b.md> and [x](gone.md)"
    );
    assert_eq!(edited.aliases, ["Lady", "A. L."]);
}

#[test]
fn links_between_the_files_of_notes_lead_to_their_files_in_every_export() {
    for format in [ExportFormatName::Obsidian, ExportFormatName::BasicMemory] {
        let folder = TempDir::new().expect("a folder");
        let original = folder.path().join("original");
        std::fs::create_dir_all(original.join("deep")).expect("a folder");
        let text = "see [[B c]], `[[B c|x]]`, [b](deep/B%20c.md#part), [r], [x]([[B c]]) and [g](gone.md)\n\n[r]: <deep/B c.md> \"t\"\n";
        std::fs::write(original.join("a.md"), text).expect("a file");
        std::fs::write(original.join("deep/B c.md"), "by [her](../a.md)\n").expect("a file");
        let (home, mut memories) = ingested(format, &original);
        let files = complete_files(&home, &memories);
        for memory in &mut memories {
            memory.phase = Phase::Organized;
            memory.category = if memory.title.as_deref() == Some("a") {
                Category::People
            } else {
                Category::Decisions
            };
        }
        let parts = export(format, &memories, &files);
        let wikilink = if format == ExportFormatName::Obsidian {
            "[[B c|x]]"
        } else {
            "[[B c]]"
        };
        assert_eq!(
            body(file(&parts, "people/a.md")),
            format!(
                "see [[B c]], `[[B c|x]]`, [b](../decisions/B%20c.md#part), [r], {wikilink} and [g](gone.md)\n\n[r]: <../decisions/B%20c.md> \"t\"\n"
            ),
            "{format}"
        );
        assert_eq!(
            body(file(&parts, "decisions/B c.md")),
            "by [her](../people/a.md)\n"
        );
        let target = folder.path().join("export");
        std::fs::create_dir(&target).expect("a folder");
        let (_, copied) = ingested(format, &write(format, &parts, &target));
        let texts = |memories: &[Memory]| {
            let text = |memory: &Memory| (memory.id, memory.content.clone(), memory.links.clone());
            memories
                .iter()
                .map(text)
                .collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(texts(&copied), texts(&memories), "{format}");
    }
}

#[test]
fn a_link_without_a_direction_is_one_relation() {
    let mut memories = tea();
    // The text of a later memory may state the link under a name that the export does not know.
    memories[2].content = "see [[sencha]]".into();
    let text: String = export(ExportFormatName::ServerMemory, &memories, &BTreeMap::new())
        .into_iter()
        .map(|part| part.text)
        .collect();
    let lines = text.lines().filter(|line| line.contains("\"relation\""));
    let relations: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let ends = |relation: &Value| (relation["from"].clone(), relation["to"].clone());
    let green = json!("Green tea 绿茶");
    assert_eq!(
        relations.iter().map(ends).collect::<Vec<_>>(),
        [(green.clone(), json!("Cup")), (json!("see sencha"), green)]
    );
}

/// Returns the front matter of an exported memory with a list of the user, whose memory is linked to another one, too.
fn own_list_with_another_link() -> String {
    let titled = |name: &str| {
        let draft = Draft::new(name).title(name);
        draft.into_memory(MemoryId::for_path(name), DateTime::UNIX_EPOCH)
    };
    let (mut tea, talk, cup) = (titled("Tea"), titled("Talk"), titled("Cup"));
    tea.links = vec![talk.id, cup.id];
    let file = "---\nrelated: [\"[[Talk|a talk]]\", by hand]\n---\nTea\n".to_owned();
    let files = BTreeMap::from([(tea.id, file)]);
    let parts = export(ExportFormatName::Obsidian, &[tea, talk, cup], &files);
    let part = parts.iter().find(|part| part.path.ends_with("/Tea.md"));
    head(&part.expect("the memory").text).to_owned()
}

#[test]
fn a_vault_returns_the_list_of_related_notes_and_the_dates_of_the_user_as_they_are() {
    let text = "---\nrelated: [\"[[b|B]]\", a talk]\ncreated: 2024-01-02\nupdated: 2024-02-03 04:05\n---\ntext\n";
    let keys = exported_again(ExportFormatName::Obsidian, text, &|_| {});
    for line in [
        "related: [\"[[b|B]]\", a talk]\n",
        "created: 2024-01-02\n",
        "updated: 2024-02-03 04:05\n",
    ] {
        assert_eq!(keys.matches(line).count(), 1, "{line} {keys}");
    }
    let keys = exported_again(ExportFormatName::Obsidian, text, &|memory| {
        memory.created_at = "2025-01-01T00:00:00Z".parse().expect("a time");
    });
    assert!(keys.contains("created: 2025-01-01T00:00:00Z\n"), "{keys}");
    // A day in another zone is the same day, and what is no time states no other one.
    for (hours, keeps) in [(8, true), (-9, true), (40, false)] {
        let keys = exported_again(ExportFormatName::Obsidian, text, &|memory| {
            memory.created_at += memory_core::chrono::TimeDelta::hours(hours);
        });
        assert_eq!(keys.contains("created: 2024-01-02\n"), keeps, "{keys}");
    }
    for value in ["someday", "\"[[2024-01-02]]\"", "[a, b]", ""] {
        let text = format!("---\ncreated: {value}\n---\ntext\n");
        let keys = exported_again(ExportFormatName::Obsidian, &text, &|_| {});
        assert!(
            keys.contains(&format!("created: {value}\n").replace(" \n", "\n")),
            "{keys}"
        );
    }
    let list = own_list_with_another_link();
    assert!(
        list.contains("related:\n  - \"[[Talk|a talk]]\"\n  - \"by hand\"\n  - \"[[Cup]]\"\n"),
        "{list}"
    );
    let nested = "---\nrelated: {a: [b]}\n---\ntext\n";
    let keys = exported_again(ExportFormatName::Obsidian, nested, &|_| {});
    assert!(keys.contains("related: {a: [b]}\n"), "{keys}");
}

#[test]
fn a_project_returns_the_keys_of_its_notes() {
    let text = "---\ntitle: Tea\ntype: guide\npermalink: drinks/tea\nstatus: open\nid: 7\n---\n- [fact] hot\n";
    let keys = exported_again(ExportFormatName::BasicMemory, text, &|_| {});
    for line in [
        "type: guide\n",
        "permalink: drinks/tea\n",
        "status: open\n",
        "id: 7\n",
    ] {
        assert_eq!(keys.matches(line).count(), 1, "{line} {keys}");
    }
    let own = "---\ntitle: 'Coffee: Brewing'\ntype: note\naliases: [Kaffee]\npermalink: coffee\ntags: [drink]\n---\nhot #inline\n";
    let keys = exported_again(ExportFormatName::BasicMemory, own, &|_| {});
    assert!(
        keys.contains("title: \"Coffee: Brewing\"\naliases:\n  - Kaffee\n"),
        "{keys}"
    );
    assert!(
        keys.contains("tags:\n  - drink\n") && !keys.contains("inline"),
        "{keys}"
    );
    let keys = exported_again(ExportFormatName::BasicMemory, text, &|memory| {
        memory.aliases.clear();
    });
    assert!(
        keys.contains("permalink: inbox/tea\n") && !keys.contains("drinks/tea"),
        "{keys}"
    );
}

#[test]
fn a_link_from_another_note_is_no_relation_of_the_note() {
    let folder = TempDir::new().expect("a folder");
    let original = folder.path().join("original");
    std::fs::create_dir(&original).expect("a folder");
    std::fs::write(
        original.join("a.md"),
        "---\ntitle: A\npermalink: a\n---\n## Relations\n- part_of [[B]]\n",
    )
    .expect("a file");
    std::fs::write(
        original.join("b.md"),
        "---\ntitle: B\npermalink: b\n---\ntext\n",
    )
    .expect("a file");
    let (home, memories) = ingested(ExportFormatName::BasicMemory, &original);
    let files = complete_files(&home, &memories);
    let parts = export(ExportFormatName::BasicMemory, &memories, &files);
    assert_eq!(body(file(&parts, "inbox/B.md")), "text\n");
    assert_eq!(
        body(file(&parts, "inbox/A.md")),
        "## Relations\n- part_of [[B]]\n"
    );
    let target = folder.path().join("export");
    std::fs::create_dir(&target).expect("a folder");
    let (_, copied) = ingested(
        ExportFormatName::BasicMemory,
        &write(ExportFormatName::BasicMemory, &parts, &target),
    );
    let links = |memories: &[Memory]| {
        memories
            .iter()
            .map(|memory| (memory.id, memory.links.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(links(&copied), links(&memories));
}

#[test]
fn a_vault_returns_the_properties_of_its_notes() {
    let text = "---\npublish: true\ncssclasses: [wide]\ncssclass: old\ndue: 2099-01-02\nmood: fine\n---\ntext\n";
    let keys = exported_again(ExportFormatName::Obsidian, text, &|_| {});
    for line in [
        "publish: true\n",
        "cssclasses: [wide]\n",
        "cssclass: old\n",
        "due: 2099-01-02\n",
        "mood: fine\n",
    ] {
        assert_eq!(keys.matches(line).count(), 1, "{line} {keys}");
    }
}

fn round_trip(format: ExportFormatName, memories: &[Memory]) -> Result<(), TestCaseError> {
    let folder = TempDir::new().expect("a folder");
    let path = write(
        format,
        &export(format, memories, &BTreeMap::new()),
        folder.path(),
    );
    let (_, mut found) = ingested(format, &path);
    found.sort_by_key(|memory| memory.id);
    let mut expected: Vec<Memory> = memories.to_vec();
    expected.sort_by_key(|memory| memory.id);
    for memory in &mut expected {
        // The former origin is one of the other origins; hashes belong to the home.
        let former = memory.origin.take().map(|origin| Origin {
            hash: None,
            ..origin
        });
        memory.other_origins.splice(0..0, former);
    }
    // White space alone is not a text.
    for memory in expected
        .iter_mut()
        .chain(&mut found)
        .filter(|memory| memory.content.trim().is_empty())
    {
        memory.content = String::new();
    }
    for memory in &mut found {
        prop_assert_eq!(
            &memory.origin.take().expect("the origin is recorded").source,
            format.as_str()
        );
    }
    prop_assert_eq!(found, expected, "{}", format.as_str());
    Ok(())
}

/// The formats that can be ingested.
fn formats() -> impl Iterator<Item = ExportFormatName> {
    ExportFormatName::ALL
        .iter()
        .copied()
        .filter(|format| format.as_str().parse::<SourceName>().is_ok())
}

fn tea() -> Vec<Memory> {
    let at = |text: &str| text.parse::<DateTime<Utc>>().expect("a moment");
    let memory = |name: &str, draft: Draft| {
        draft.into_memory(MemoryId::for_path(name), at("2026-05-07T10:00:00Z"))
    };
    let mut green = memory(
        "green",
        Draft {
            category: Some(Category::Preferences),
            aliases: vec!["sencha".into()],
            created_at: Some(at("2024-01-02T03:04:05Z")),
            expires_at: Some(at("2030-01-01T00:00:00Z")),
            pinned: true,
            ..Draft::new("I like [[Cup|a cup]] of [[Cup]] tea.\r\n\r\n| a | [[Cup]] |\n`[[Cup]]` 绿茶 😀\n\n")
                .title("Green: tea / 绿茶")
                .tags(["deep work", "drink/tea", "2024", "日本語"])
                .source("claude")
        },
    );
    let mut cup = memory(
        "cup",
        Draft::new("The cup is blue.")
            .title("Cup")
            .category(Category::Knowledge),
    );
    let mut plain = memory(
        "plain",
        Draft {
            phase: Some(Phase::Inbox),
            ..Draft::new("plain text (with a note)")
        },
    );
    plain.scope = Scope::Project("shop".into());
    green.links = vec![cup.id, plain.id];
    cup.links = vec![green.id];
    plain.links = vec![green.id];
    cup.superseded_by = Some(green.id);
    let twin = Memory {
        id: MemoryId::for_path("twin"),
        links: Vec::new(),
        ..plain.clone()
    };
    let empty = memory("empty", Draft::new("").title("index"));
    vec![green, cup, plain, twin, empty]
}

#[test]
fn every_format_returns_the_memories() {
    for format in formats() {
        round_trip(format, &tea()).unwrap_or_else(|error| panic!("{format}: {error}"));
    }
}

fn file<'a>(parts: &'a [ExportPart], path: &str) -> &'a str {
    let found = parts.iter().find(|part| part.path == path);
    let paths = || {
        parts
            .iter()
            .map(|part| part.path.as_str())
            .collect::<Vec<_>>()
    };
    &found
        .unwrap_or_else(|| panic!("{path} is none of {:?}", paths()))
        .text
}

fn head(text: &str) -> &str {
    text.split("x_memory:").next().unwrap_or_default()
}

fn body(text: &str) -> &str {
    text.splitn(3, "---\n").nth(2).unwrap_or_default()
}

#[test]
fn a_vault_has_properties_and_links_that_obsidian_resolves() {
    let parts = export(ExportFormatName::Obsidian, &tea(), &BTreeMap::new());
    let green = file(&parts, "preferences/Green tea 绿茶.md");
    assert_eq!(
        head(green),
        format!(
            "---\ntitle: \"Green: tea / 绿茶\"\naliases:\n  - \"Green: tea / 绿茶\"\n  - sencha\ntags:\n  - deep-work\n  - drink/tea\n  \
             - \"_2024\"\n  - \"日本語\"\nid: {}\ncreated: 2024-01-02T03:04:05Z\nupdated: 2026-05-07T10:00:00Z\nrelated:\n  \
             - \"[[plain text (with a note)]]\"\n",
            MemoryId::for_path("green")
        )
    );
    assert!(body(green).starts_with("I like [[Cup|a cup]] of [[Cup]] tea."));
    assert!(parts.iter().any(|part| part.path == ".obsidian/app.json"));
}

#[test]
fn a_bundle_is_valid_and_its_links_lead_to_files() {
    let parts = export(ExportFormatName::Okf, &tea(), &BTreeMap::new());
    let green = file(&parts, "preferences/green-tea-绿茶.md");
    assert_eq!(
        head(green),
        "---\ntype: preferences\ntitle: \"Green: tea / 绿茶\"\ndescription: \"I like Cup|a cup of Cup tea.\"\n\
         aliases: [sencha]\ntags: [\"deep work\", drink/tea, \"2024\", \"日本語\"]\ngenerated: { by: claude, at: 2026-05-07T10:00:00Z }\n\
         verified: [{ by: \"human:user\", at: 2026-05-07T10:00:00Z }]\nstale_after: 2030-01-01T00:00:00Z\n"
    );
    assert!(
        body(green)
            .starts_with("I like [a cup](../knowledge/cup.md) of [Cup](../knowledge/cup.md) tea.")
    );
    assert!(body(green).ends_with(
        "\n\n# Related\n\n* [plain text (with a note)](../inbox/plain-text-with-a-note.md)\n"
    ));
    assert!(head(file(&parts, "inbox/plain-text-with-a-note.md")).contains("status: draft\n"));
    assert!(head(file(&parts, "knowledge/cup.md")).contains("status: deprecated\n"));
    assert_eq!(
        file(&parts, "knowledge/index.md"),
        "# knowledge\n\n* [Cup](cup.md) - The cup is blue.\n"
    );
    assert!(file(&parts, "index.md").starts_with("---\nokf_version: \"0.2\"\n---\n"));
    for part in parts.iter().filter(|part| !part.path.ends_with("index.md")) {
        assert!(part.text.starts_with("---\ntype: "), "{}", part.path);
    }
}

#[test]
fn a_project_has_relations_and_no_other_additions() {
    let parts = export(ExportFormatName::BasicMemory, &tea(), &BTreeMap::new());
    let plain = file(&parts, "inbox/plain text (with a note).md");
    assert!(
        head(plain).contains("permalink: inbox/plain-text-with-a-note\n"),
        "{plain}"
    );
    assert_eq!(body(plain), "plain text (with a note)\n");
    assert!(
        body(file(&parts, "preferences/Green tea 绿茶.md"))
            .ends_with("\n\n## Relations\n\n- relates_to [[plain text (with a note)]]\n")
    );
    assert_eq!(body(file(&parts, "inbox/index.md")), "\n");
}

#[test]
fn a_page_shows_all_memories_without_scripts() {
    let mut memories = tea();
    memories[1].content = "<script>alert(1)</script> [[Green: tea / 绿茶]]".into();
    let page: String = export(ExportFormatName::Html, &memories, &BTreeMap::new())
        .into_iter()
        .map(|part| part.text)
        .collect();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    for memory in &memories {
        assert_eq!(page.matches(&format!("id=\"m-{}\"", memory.id)).count(), 1);
        assert!(page.contains(&format!("<li><a href=\"#m-{}\">", memory.id)));
    }
    for link in page
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
    }
}

#[test]
fn other_front_matter_of_a_memory_survives() {
    let memories = tea();
    let text = "---\nid: x\nmood: calm # always\ntype: note\ntags: [a]\n---\ntext\n";
    let calm = "---\nmood: calm # always\nnested:\n  a: [1, 2]\n---\ntext\n";
    let files = BTreeMap::from([
        (memories[0].id, text.to_owned()),
        (memories[1].id, calm.to_owned()),
    ]);
    for format in formats().filter(|format| format.is_folder()) {
        let folder = TempDir::new().expect("a folder");
        let path = write(format, &export(format, &memories, &files), folder.path());
        let name: SourceName = format.as_str().parse().expect("a source");
        let source = open(name, &path, &SourceOptions::default()).expect("the export is a source");
        let notes = source.items().filter_map(|item| match item {
            memory_core::SourceItem::Note(note) => Some((note.id, note.front_matter)),
            _ => None,
        });
        let lines: BTreeMap<_, _> = notes.collect();
        assert_eq!(
            lines[&Some(memories[0].id)],
            "mood: calm # always\ntype: note\n",
            "{format}"
        );
        assert_eq!(
            lines[&Some(memories[1].id)],
            "mood: calm # always\nnested:\n  a: [1, 2]\n",
            "{format}"
        );
        assert_eq!(lines[&Some(memories[2].id)], "", "{format}");
    }
}

#[test]
fn an_edit_in_the_vault_counts() {
    let folder = TempDir::new().expect("a folder");
    let format = ExportFormatName::Obsidian;
    let path = write(
        format,
        &export(format, &tea(), &BTreeMap::new()),
        folder.path(),
    );
    let note = path.join("preferences/Green tea 绿茶.md");
    let text = std::fs::read_to_string(&note).expect("the note");
    let text = text
        .replace("  - deep-work\n", "  - work\n")
        .replace("I like", "I love #matcha and");
    std::fs::write(&note, text).expect("the note");
    let (_, found) = ingested(format, &path);
    let green = found
        .iter()
        .find(|memory| memory.id == MemoryId::for_path("green"))
        .expect("it is there");
    assert!(
        green
            .content
            .starts_with("I love #matcha and [[Cup|a cup]] of [[Cup]] tea."),
        "{}",
        green.content
    );
    assert_eq!(
        green.tags.as_slice(),
        ["work", "drink/tea", "2024", "日本語", "matcha"]
    );
    assert_eq!(
        (green.title.as_deref(), green.category),
        (Some("Green: tea / 绿茶"), Category::Preferences)
    );
}

/// A home with one memory, its export, and the file of the memory in the export.
struct ExportedHome {
    home: Services,
    folder: TempDir,
    format: ExportFormatName,
    file: std::path::PathBuf,
}

impl ExportedHome {
    fn new(format: ExportFormatName) -> Self {
        let home = services(Arc::new(MemStore::default()));
        write_memory(
            &home,
            Draft::new("alpha text").tags(["t1"]),
            SecretPolicy::Refuse,
        )
        .expect("it is new");
        Self::of(home, format)
    }

    fn of(home: Services, format: ExportFormatName) -> Self {
        let folder = TempDir::new().expect("a folder");
        let parts = export(format, &[only_memory(&home)], &BTreeMap::new());
        write(format, &parts, folder.path());
        let part = parts
            .iter()
            .find(|part| part.text.contains("x_memory"))
            .expect("the memory");
        let file = folder.path().join(&part.path);
        Self {
            home,
            folder,
            format,
            file,
        }
    }

    /// Replaces a tag in the front matter.
    fn edit_tag(&self, from: &str, to: &str) {
        self.edit(|front_matter, body| {
            format!("{}x_memory:{body}", front_matter.replace(from, to))
        });
    }

    /// Replaces a part of the text.
    fn edit_text(&self, from: &str, to: &str) {
        self.edit(|front_matter, body| {
            let (fields, text) = body
                .split_once("---\n")
                .expect("the end of the front matter");
            format!(
                "{front_matter}x_memory:{fields}---\n{}",
                text.replace(from, to)
            )
        });
    }

    fn edit(&self, edit: impl Fn(&str, &str) -> String) {
        let text = std::fs::read_to_string(&self.file).expect("the file");
        let (front_matter, rest) = text.split_once("x_memory:").expect("the fields");
        let edited = edit(front_matter, rest);
        assert_ne!(edited, text);
        std::fs::write(&self.file, edited).expect("the file");
    }

    fn update(&self, patch: &Patch) {
        update(
            &self.home,
            &only_memory(&self.home).id.to_string(),
            patch,
            None,
            SecretPolicy::Refuse,
        )
        .expect("it exists");
    }

    /// Replaces the file of the memory.
    fn restore(&self, text: &str) {
        std::fs::write(&self.file, text).expect("the file");
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.file).expect("the file")
    }

    fn export_again(&mut self) {
        std::fs::remove_file(&self.file).expect("the file");
        let parts = export(self.format, &[only_memory(&self.home)], &BTreeMap::new());
        let part = parts
            .iter()
            .find(|part| part.text.contains("x_memory"))
            .expect("the memory");
        self.file = self.folder.path().join(&part.path);
        self.restore(&part.text);
    }

    /// Imports the export, and returns the numbers of new, updated, unchanged and skipped notes with the only memory.
    fn import(&self) -> ((u64, u64, u64, usize), Memory) {
        let name: SourceName = self
            .format
            .as_str()
            .parse()
            .expect("each format is a source");
        let source = open(name, self.folder.path(), &SourceOptions::default())
            .expect("the export is a source");
        let report = ingest(
            &self.home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("it does not fail");
        (
            (
                report.new,
                report.updated,
                report.unchanged,
                report.skipped.len(),
            ),
            only_memory(&self.home),
        )
    }
}

fn only_memory(home: &Services) -> Memory {
    let all = home
        .store
        .memories(&Filter::all(), home.clock.now())
        .map(|stored| stored.expect("it can be read").memory);
    let all: Vec<_> = all.collect();
    let [memory] = all.as_slice() else {
        panic!("not one memory: {all:?}")
    };
    memory.clone()
}

#[test]
fn an_edited_export_updates_the_memory_of_its_own_home() {
    for format in formats().filter(|format| format.is_folder()) {
        let export = ExportedHome::new(format);
        let before = only_memory(&export.home);
        export.edit_tag("t1", "t2");
        let (counts, memory) = export.import();
        assert_eq!((counts, memory.id), ((0, 1, 0, 0), before.id), "{format}");
        assert_eq!(
            (memory.content.as_str(), memory.tags.as_slice()),
            ("alpha text", &["t2".to_owned()][..]),
            "{format}"
        );
        export.edit_text("alpha text", "beta text");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "beta text"),
            "{format}"
        );
        assert_eq!(
            (memory.tags.as_slice(), memory.origin.clone()),
            (&["t2".to_owned()][..], None),
            "{format}"
        );
        export.edit_text("beta text", "gamma text");
        export.edit_tag("t2", "t3");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "gamma text"),
            "{format}"
        );
        assert_eq!(memory.tags.as_slice(), ["t3"], "{format}");
        assert_eq!(export.import().0, (0, 0, 1, 0), "{format}");
    }
}

#[test]
fn a_memory_that_was_changed_since_its_export_retains_its_text() {
    for format in formats().filter(|format| format.is_folder()) {
        let export = ExportedHome::new(format);
        export.update(&Patch {
            content: Some("my text".into()),
            ..Patch::default()
        });
        let before = only_memory(&export.home);
        assert_eq!(export.import(), ((0, 0, 1, 0), before.clone()), "{format}");
        export.edit_text("alpha text", "beta text");
        assert_eq!(export.import(), ((0, 0, 0, 1), before), "{format}");
        export.edit_tag("t1", "t2");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "my text"),
            "{format}"
        );
        assert_eq!(memory.tags.as_slice(), ["t2"], "{format}");
    }
}

#[test]
fn the_original_text_of_an_export_returns_after_an_edit() {
    for format in formats().filter(|format| format.is_folder()) {
        let export = ExportedHome::new(format);
        let original = export.text();
        export.edit_text("alpha text", "beta text");
        export.edit_tag("t1", "t2");
        assert_eq!(export.import().0, (0, 1, 0, 0), "{format}");
        export.restore(&original);
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "alpha text"),
            "{format}"
        );
        assert_eq!(memory.tags.as_slice(), ["t1"], "{format}");
        assert_eq!(export.import().0, (0, 0, 1, 0), "{format}");
    }
}

#[test]
fn an_import_of_an_edit_that_was_undone_is_repeated() {
    for format in formats().filter(|format| format.is_folder()) {
        let export = ExportedHome::new(format);
        for (from, to) in [("alpha text", "beta text"), ("beta text", "gamma text")] {
            export.edit_text(from, to);
            assert_eq!(export.import().0, (0, 1, 0, 0), "{format}");
        }
        undo(&export.home, None).expect("it can be undone");
        assert_eq!(only_memory(&export.home).content, "beta text", "{format}");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "gamma text"),
            "{format}"
        );
        assert_eq!(export.import().0, (0, 0, 1, 0), "{format}");
    }
}

#[test]
fn an_edit_of_the_memory_after_an_import_remains_until_the_file_is_edited_again() {
    for format in formats().filter(|format| format.is_folder()) {
        let mut export = ExportedHome::new(format);
        export.edit_text("alpha text", "beta text");
        export.import();
        export.update(&Patch {
            content: Some("my text".into()),
            ..Patch::default()
        });
        let before = only_memory(&export.home);
        assert_eq!(export.import(), ((0, 0, 1, 0), before), "{format}");
        export.edit_text("beta text", "gamma text");
        export.edit_tag("t1", "t2");
        assert_eq!(export.import().0, (0, 1, 0, 0), "{format}");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 0, 0, 1), "my text"),
            "{format}"
        );
        // A new export is the version that later edits are compared with.
        export.export_again();
        assert_eq!(export.import(), ((0, 0, 1, 0), memory), "{format}");
        export.edit_text("my text", "delta text");
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "delta text"),
            "{format}"
        );
    }
}

#[test]
fn the_unchanged_copy_of_an_edited_export_changes_nothing() {
    for format in formats().filter(|format| format.is_folder()) {
        let one = ExportedHome::new(format);
        let two = ExportedHome {
            home: one.home.clone(),
            ..ExportedHome::of(one.home.clone(), format)
        };
        one.edit_text("alpha text", "beta text");
        assert_eq!(one.import().0, (0, 1, 0, 0), "{format}");
        let (counts, memory) = two.import();
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 0, 1, 0), "beta text"),
            "{format}"
        );
        two.edit_text("alpha text", "gamma text");
        assert_eq!(
            (two.import().0, two.import().0),
            ((0, 0, 0, 1), (0, 0, 0, 1)),
            "{format}"
        );
        assert_eq!(one.import().0, (0, 0, 1, 0), "{format}");
    }
}

#[test]
fn edits_of_the_list_of_links_in_an_export_change_the_links_and_not_the_text() {
    for format in formats().filter(|format| format.is_folder()) {
        let home = services(Arc::new(MemStore::default()));
        let ids = ["Tea", "Cup", "Mug"].map(|name| {
            let draft = Draft::new(&format!("about {name}")).title(name);
            write_memory(&home, draft, SecretPolicy::Refuse)
                .expect("it is new")
                .id
        });
        link(&home, &ids[0].to_string(), &ids[1].to_string()).expect("they exist");
        let memory = |at: usize| home.store.get(&ids[at]).expect("it exists").memory;
        let links = || [0, 1, 2].map(|at| memory(at).links);
        let folder = TempDir::new().expect("a folder");
        let parts = export(format, &[memory(0), memory(1), memory(2)], &BTreeMap::new());
        write(format, &parts, folder.path());
        let name: SourceName = format.as_str().parse().expect("each format is a source");
        let source =
            open(name, folder.path(), &SourceOptions::default()).expect("the export is a source");
        let import = || {
            let report = ingest(
                &home,
                source.as_ref(),
                &IngestOptions::default(),
                &mut |_| {},
            )
            .expect("it does not fail");
            (report.new, report.updated, report.unchanged)
        };
        assert_eq!(import(), (0, 0, 3), "{format}");
        let tea = parts
            .iter()
            .find(|part| part.text.contains("about Tea") && part.text.contains("x_memory"))
            .expect("the memory");
        let edit = |edit: &dyn Fn(&str) -> String| {
            let (head, rest) = tea.text.split_once("x_memory:").expect("the fields");
            let (fields, text) = rest
                .split_once("---\n")
                .expect("the end of the front matter");
            let text = format!("{}x_memory:{fields}---\n{}", edit(head), edit(text));
            std::fs::write(folder.path().join(&tea.path), text).expect("a file");
        };
        edit(&|part| {
            part.replace("[[Cup]]", "[[Mug]]")
                .replace("[Cup](cup.md)", "[Mug](mug.md)")
        });
        assert_eq!(import(), (0, 3, 0), "{format}");
        assert_eq!(links(), [vec![ids[2]], vec![], vec![ids[0]]], "{format}");
        assert_eq!(memory(0).content, "about Tea", "{format}");
        assert_eq!(import(), (0, 0, 3), "{format}");
        link(&home, &ids[0].to_string(), &ids[1].to_string()).expect("they exist");
        assert_eq!(
            import(),
            (0, 0, 3),
            "{format}: the file was not edited since"
        );
        edit(&|part| part.replace("about Tea", "of Tea"));
        assert_eq!(import(), (0, 2, 1), "{format}");
        assert_eq!(links(), [vec![ids[1]], vec![ids[0]], vec![]], "{format}");
        assert_eq!(memory(0).content, "of Tea", "{format}");
        if format == ExportFormatName::Obsidian {
            let mug = parts
                .iter()
                .find(|part| part.text.contains("about Mug"))
                .expect("the memory");
            let text = mug
                .text
                .replace("x_memory:", "related: [\"[[Cup]]\"]\nx_memory:");
            std::fs::write(folder.path().join(&mug.path), text).expect("a file");
            assert_eq!((import(), import()), ((0, 2, 1), (0, 0, 3)));
            assert_eq!(links(), [vec![ids[1]], vec![ids[0], ids[2]], vec![ids[1]]]);
        }
    }
}

#[test]
fn an_item_of_a_list_of_links_that_is_more_than_a_link_is_imported_as_text() {
    for (format, cup) in [
        (ExportFormatName::BasicMemory, "[[Cup]]"),
        (ExportFormatName::Okf, "[Cup](cup.md)"),
    ] {
        let home = services(Arc::new(MemStore::default()));
        let ids = ["Tea", "Cup"].map(|name| {
            let draft = Draft::new(&format!("about {name}")).title(name);
            write_memory(&home, draft, SecretPolicy::Refuse)
                .expect("it is new")
                .id
        });
        link(&home, &ids[0].to_string(), &ids[1].to_string()).expect("they exist");
        let memory = |at: usize| home.store.get(&ids[at]).expect("it exists").memory;
        let folder = TempDir::new().expect("a folder");
        let parts = export(format, &[memory(0), memory(1)], &BTreeMap::new());
        write(format, &parts, folder.path());
        let tea = parts
            .iter()
            .find(|part| part.text.contains("about Tea") && part.text.contains("x_memory"))
            .expect("the memory");
        let item = tea
            .text
            .lines()
            .find(|line| line.starts_with(['-', '*']) && line.ends_with(cup))
            .expect("the link");
        let import = |list: &str| {
            // The front matter contains the item, too.
            let (head, end) = tea.text.rsplit_once(item).expect("the link");
            std::fs::write(folder.path().join(&tea.path), format!("{head}{list}{end}"))
                .expect("a file");
            let name: SourceName = format.as_str().parse().expect("each format is a source");
            let source = open(name, folder.path(), &SourceOptions::default())
                .expect("the export is a source");
            let report = ingest(
                &home,
                source.as_ref(),
                &IngestOptions::default(),
                &mut |_| {},
            )
            .expect("it does not fail");
            (
                memory(0).content,
                memory(0).links,
                report
                    .warnings
                    .into_iter()
                    .map(|warning| warning.reason)
                    .collect::<Vec<_>>(),
            )
        };
        for text in [
            "- [fact] new #leaf",
            "- remark",
            &format!("- depends_on {cup}"),
            &format!("{item} (since May)"),
        ] {
            let (content, links, warnings) = import(&format!("{item}\n{text}"));
            assert_eq!(
                (content, links),
                (format!("about Tea\n\n{text}"), vec![ids[1]]),
                "{format}"
            );
            assert_eq!(warnings, [""; 0], "{format}");
        }
        import(&format!("{item}\n- [fact] new #leaf"));
        assert_eq!(memory(0).tags.as_slice(), ["leaf"], "{format}");
        let (content, links, _) = import(&format!("- depends_on {cup}"));
        assert_eq!(
            (content, links),
            (format!("about Tea\n\n- depends_on {cup}"), vec![ids[1]]),
            "{format}"
        );
        let unknown = item
            .replace("Cup", "Nowhere")
            .replace("cup.md", "nowhere.md");
        let (content, links, warnings) = import(&unknown);
        assert_eq!(
            (content.as_str(), links.len()),
            ("about Tea", 0),
            "{format}"
        );
        let report = format!(
            "`{}` in its list of links leads to no note and was left out",
            &unknown[2..]
        );
        assert_eq!(warnings, [report], "{format}");
    }
}

#[test]
fn an_edit_of_the_category_in_an_export_counts() {
    for format in [ExportFormatName::BasicMemory, ExportFormatName::Okf] {
        let export = ExportedHome::new(format);
        export.restore(
            &export
                .text()
                .replacen("type: inbox\n", "type: knowledge\n", 1),
        );
        let (counts, memory) = export.import();
        assert_eq!(
            (counts, memory.category),
            ((0, 1, 0, 0), Category::Knowledge),
            "{format}"
        );
        assert_eq!(export.import().0, (0, 0, 1, 0), "{format}");
    }
}

/// A home with one memory that was ingested from a vault, and the export of the home.
struct ExportedVault {
    vault: TempDir,
    export: ExportedHome,
}

impl ExportedVault {
    fn new(format: ExportFormatName) -> Self {
        let (vault, home) = (
            TempDir::new().expect("a folder"),
            services(Arc::new(MemStore::default())),
        );
        assert_eq!(change_note(&home, &vault, "t1", "alpha text"), (1, 0, 0, 0));
        Self {
            vault,
            export: ExportedHome::of(home, format),
        }
    }

    /// Changes the note in the vault, and ingests it.
    fn change(&self, tag: &str, text: &str) -> ((u64, u64, u64, usize), Memory) {
        (
            change_note(&self.export.home, &self.vault, tag, text),
            only_memory(&self.export.home),
        )
    }
}

fn change_note(home: &Services, vault: &TempDir, tag: &str, text: &str) -> (u64, u64, u64, usize) {
    std::fs::write(
        vault.path().join("a.md"),
        format!("---\ntags: [{tag}]\n---\n{text}\n"),
    )
    .expect("a file");
    let source = open(
        SourceName::Obsidian,
        vault.path(),
        &SourceOptions::default(),
    )
    .expect("the vault is a source");
    let report = ingest(
        home,
        source.as_ref(),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("it does not fail");
    (
        report.new,
        report.updated,
        report.unchanged,
        report.skipped.len(),
    )
}

#[test]
fn an_edited_text_of_an_export_remains_through_changes_of_the_original_note() {
    for format in formats().filter(|format| format.is_folder()) {
        let vault = ExportedVault::new(format);
        vault.export.edit_text("alpha text", "my text");
        assert_eq!(vault.export.import().0, (0, 1, 0, 0), "{format}");
        let (counts, memory) = vault.change("t3", "alpha text");
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "my text"),
            "{format}"
        );
        assert_eq!(memory.tags.as_slice(), ["t3"], "{format}");
        assert_eq!(vault.change("t3", "alpha text").0, (0, 0, 1, 0), "{format}");
        let (counts, memory) = vault.change("t3", "beta text");
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 0, 0, 1), "my text"),
            "{format}: both texts were changed"
        );
        assert_eq!(vault.export.import(), ((0, 0, 1, 0), memory), "{format}");
    }
}

#[test]
fn edited_tags_of_an_export_remain_through_changes_of_the_original_note() {
    for format in formats().filter(|format| format.is_folder()) {
        let vault = ExportedVault::new(format);
        let before = only_memory(&vault.export.home);
        vault.export.edit_tag("t1", "t2");
        assert_eq!(vault.export.import().0, (0, 1, 0, 0), "{format}");
        undo(&vault.export.home, None).expect("it can be undone");
        assert_eq!(only_memory(&vault.export.home), before, "{format}");
        assert_eq!(vault.export.import().0, (0, 1, 0, 0), "{format}");
        let (counts, memory) = vault.change("t1, t4", "beta text");
        assert_eq!(
            (counts, memory.content.as_str()),
            ((0, 1, 0, 0), "beta text"),
            "{format}"
        );
        assert_eq!(memory.tags.as_slice(), ["t2", "t4"], "{format}");
        assert_eq!(
            vault.change("t1, t4", "beta text").0,
            (0, 0, 1, 0),
            "{format}"
        );
        assert_eq!(vault.export.import(), ((0, 0, 1, 0), memory), "{format}");
    }
}

fn has_secret(memory: &Memory) -> bool {
    let title = memory.title.as_deref().unwrap_or_default();
    let named = format!("{title}: {}", memory.content);
    let texts = [&memory.content, &memory.source, &named].into_iter();
    let origins = memory.origin.iter().chain(&memory.other_origins);
    texts
        .chain(origins.flat_map(|origin| [&origin.source, &origin.root, &origin.path]))
        .chain(memory.tags.as_slice())
        .chain(&memory.aliases)
        .any(|text| memory_core::secret::redact(text).is_some())
}

/// Returns memories with distinct ids, whose links and texts lead to each other.
fn any_memories() -> impl Strategy<Value = Vec<Memory>> {
    let linked = (
        any_memory(),
        any_text(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(linked, 1..4).prop_map(|all| {
        let mut memories: Vec<Memory> = all.iter().map(|(memory, ..)| memory.clone()).collect();
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let names: Vec<Option<String>> =
            memories.iter().map(|memory| memory.title.clone()).collect();
        for (number, (_, text, link, wikilink)) in all.iter().enumerate() {
            let other = ids[link.index(ids.len())];
            if other != ids[number] && !memories[number].links.contains(&other) {
                memories[number].links.push(other);
            }
            if let Some(name) = &names[wikilink.index(names.len())] {
                memories[number].content.extend([
                    "see [[",
                    name,
                    "]] and [[",
                    name,
                    "|",
                    text,
                    "]] ",
                    text,
                ]);
            }
        }
        memories
    })
}

proptest! {
    #[test]
    fn no_memory_is_changed_by_a_round_trip(memories in any_memories()) {
        // A text that looks like a credential is redacted.
        prop_assume!(!memories.iter().any(has_secret));
        for format in formats() {
            round_trip(format, &memories)?;
        }
    }
}
