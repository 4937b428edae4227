#![expect(
    clippy::needless_pass_by_value,
    reason = "calls are shorter with literal values"
)]

use std::fs::File;
use std::io::Write;
use std::path::Path;

use memory_core::json::JsonText;
use memory_core::testing::source_suite;
use memory_core::{Source, SourceError, SourceSession, SourceSessionItem};
use memory_ingest::{SourceName, SourceOptions, open};
use proptest::prelude::*;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::sandbox::{IngestSandbox, survey_source};

/// Sessions and skipped messages of a source, after the suite of its contract.
pub(crate) fn read_sessions(
    name: SourceName,
    path: &Path,
) -> (Vec<SourceSession>, Vec<(String, String)>) {
    let source = open(name, path, &SourceOptions::default()).expect("the source is there");
    source_suite(source.as_ref());
    let (mut sessions, mut skipped) = (Vec::new(), Vec::new());
    for item in Source::sessions(source.as_ref()) {
        match item {
            SourceSessionItem::Session(session) => sessions.push(*session),
            SourceSessionItem::Skipped { path, reason } => skipped.push((path, reason)),
        }
    }
    (sessions, skipped)
}

/// Returns the messages as `role: content`, with calls of tools as `role -> tool: arguments`.
pub(crate) fn lines(session: &SourceSession) -> Vec<String> {
    let line = |record: &memory_core::instance::history::RecordDraft| {
        let calls = record.tool_calls.as_ref().map(JsonText::to_value);
        let role = record.role.as_str();
        let name = record
            .name
            .as_deref()
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        match (&record.content, calls) {
            (Some(content), None) => {
                format!("{role}{name}: {}", content.as_string().expect("a string"))
            }
            (_, Some(calls)) => format!(
                "{role}{name} -> {}: {}",
                calls[0]["name"], calls[0]["arguments"]
            ),
            (None, None) => panic!("a record has content"),
        }
    };
    session.records.iter().map(line).collect()
}

pub(crate) fn write_zip(path: &Path, files: &[(&str, &str)]) {
    let mut zip = ZipWriter::new(File::create(path).expect("a file"));
    for (name, text) in files {
        zip.start_file(
            *name,
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated),
        )
        .expect("an entry");
        zip.write_all(text.as_bytes()).expect("room");
    }
    zip.finish().expect("room");
}

fn node(id: &str, parent: Option<&str>, role: &str, content: Value) -> (String, Value) {
    let message = json!({
        "id": id, "author": { "role": role, "name": null }, "create_time": 1_700_000_000.5, "content": content,
        "recipient": "all", "metadata": { "model_slug": "gpt-4o" },
    });
    (
        id.into(),
        json!({ "id": id, "parent": parent, "children": [], "message": message }),
    )
}

fn text(text: &str) -> Value {
    json!({ "content_type": "text", "parts": [text] })
}

fn conversation(id: &str, current: &str, nodes: Vec<(String, Value)>) -> Value {
    json!({ "id": id, "conversation_id": id, "title": "A title", "current_node": current, "mapping": Value::Object(nodes.into_iter().collect()) })
}

/// A conversation with one message.
fn short(id: &str) -> Value {
    conversation(id, "m", vec![node("m", None, "user", text(id))])
}

fn change(mut node: (String, Value), pointer: &str, value: Value) -> (String, Value) {
    *node.1.pointer_mut(pointer).expect("the member is there") = value;
    node
}

#[test]
fn the_branch_that_the_person_sees_is_imported() {
    let nodes = vec![
        (
            "root".into(),
            json!({ "id": "root", "parent": null, "children": ["system"], "message": null }),
        ),
        node("system", Some("root"), "system", text("")),
        change(
            node("hidden", Some("system"), "user", text("SECRET")),
            "/message/metadata",
            json!({ "is_visually_hidden_from_conversation": true }),
        ),
        node(
            "context",
            Some("hidden"),
            "user",
            json!({ "content_type": "user_editable_context", "user_profile": "SECRET" }),
        ),
        node("question", Some("context"), "user", text("你好 😀\r\n\0")),
        node(
            "first-answer",
            Some("question"),
            "assistant",
            text("REGENERATED"),
        ),
        node(
            "thoughts",
            Some("question"),
            "assistant",
            json!({ "content_type": "thoughts", "thoughts": [{ "content": "SECRET" }] }),
        ),
        change(
            node(
                "call",
                Some("thoughts"),
                "assistant",
                json!({ "content_type": "code", "language": "python", "text": "1 + 1" }),
            ),
            "/message/recipient",
            json!("python"),
        ),
        change(
            node(
                "output",
                Some("call"),
                "tool",
                json!({ "content_type": "execution_output", "text": "2" }),
            ),
            "/message/author/name",
            json!("python"),
        ),
        node(
            "quote",
            Some("output"),
            "tool",
            json!({ "content_type": "tether_quote", "title": "T", "url": "https://example.com", "text": "quoted" }),
        ),
        change(
            node(
                "images",
                Some("quote"),
                "user",
                json!({ "content_type": "multimodal_text", "parts": [
            { "content_type": "image_asset_pointer", "asset_pointer": "file-service://file-A" },
            { "content_type": "audio_transcription", "text": "spoken" },
            { "content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": { "asset_pointer": "sediment://file_B" } },
            "look", 7, null,
        ] }),
            ),
            "/message/metadata",
            json!({ "attachments": [{ "id": "file-A", "name": "a.png" }, { "id": "file-C", "name": "c.pdf" }] }),
        ),
        node(
            "unknown",
            Some("images"),
            "assistant",
            json!({ "content_type": "app_pairing", "parts": [] }),
        ),
        change(
            node("answer", Some("unknown"), "assistant", text("two")),
            "/message/create_time",
            Value::Null,
        ),
    ];
    let mut start = conversation("c1", "answer", nodes);
    start["create_time"] = json!(1_700_000_000);
    (start["is_archived"], start["is_starred"]) = (json!(true), json!(false));
    start["default_model_slug"] = json!("gpt-5");
    let folder = IngestSandbox::new(&[
        ("conversations.json", &json!([start]).to_string()),
        ("user.json", "{}"),
    ]);
    let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &folder.path());
    assert_eq!(
        skipped,
        [(
            "conversations/c1".into(),
            r#"a message has content of the unknown type "app_pairing""#.into()
        )]
    );
    let [session] = sessions.as_slice() else {
        panic!("one session: {sessions:?}")
    };
    assert_eq!(
        (session.id.as_str(), session.title.as_deref()),
        ("c1", Some("A title"))
    );
    assert_eq!(
        lines(session),
        [
            "user: 你好 😀\r\n\u{fffd}",
            r#"assistant -> "python": "1 + 1""#,
            "tool (python): 2",
            "tool: [quote: T, https://example.com]\nquoted",
            "user: [image: a.png]\nspoken\n[audio: file_B]\nlook\n[file: c.pdf]",
            "assistant: two",
        ]
    );
    let times: Vec<_> = session
        .records
        .iter()
        .map(|record| record.at.is_some())
        .collect();
    assert_eq!(times, [true, true, true, true, true, false]);
    assert_eq!(session.records[2].tool_call_id.as_deref(), Some("call"));
    let meta = |index: usize| session.records[index].meta.as_ref().map(JsonText::as_str);
    let start = r#""conversation_created_at":"2023-11-14T22:13:20Z","archived":"true","default_model":"gpt-5""#;
    assert_eq!(
        meta(0),
        Some(&*format!(
            r#"{{"message_id":"question","model":"gpt-4o",{start}}}"#
        ))
    );
    assert!(meta(1).is_some_and(|meta| !meta.contains("archived")));
    assert_eq!(
        session.records[0].at.map(|at| at.to_rfc3339()),
        Some("2023-11-14T22:13:20.500+00:00".into())
    );
}

#[test]
fn damaged_conversations_do_not_hide_the_others() {
    let mut forgotten = short("forgotten");
    forgotten["is_do_not_remember"] = json!(true);
    let mut untitled = conversation(
        "untitled",
        "gone",
        vec![
            node("a", Some("b"), "user", text("in a cycle")),
            change(
                node("b", Some("a"), "user", text("of parents")),
                "/message/author",
                json!("nobody"),
            ),
            change(
                node("leaf", Some("a"), "assistant", text("the newest leaf")),
                "/message/create_time",
                json!(1_800_000_000),
            ),
        ],
    );
    untitled["title"] = Value::Null;
    let without_id =
        json!({ "mapping": { "m": node("m", None, "user", text("no ids")).1 }, "title": 5 });
    let list = [
        short("c1").to_string(),
        r#"{"id": "broken", "mapping": [}]}"#.into(),
        forgotten.to_string(),
        untitled.to_string(),
        short("c1").to_string(),
        json!({ "id": "empty", "mapping": null }).to_string(),
        without_id.to_string(),
        short("half")
            .to_string()
            .replace(r#"["half"]"#, r#"["\ud83d!"]"#),
        short("c2").to_string().replacen('}', "", 1),
    ];
    let folder = IngestSandbox::new(&[(
        "export/conversations.json",
        &format!("[{}", list.join(",\n")),
    )]);
    let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &folder.path());
    let found: Vec<_> = sessions
        .iter()
        .map(|session| {
            (
                session.id.as_str(),
                session.title.as_deref(),
                lines(session),
            )
        })
        .collect();
    let lines = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found,
        [
            ("c1", Some("A title"), lines(&["user: c1"])),
            (
                "untitled",
                None,
                lines(&["user: in a cycle", "assistant: the newest leaf"])
            ),
            ("m", None, lines(&["user: no ids"])),
            ("half", Some("A title"), lines(&["user: \u{fffd}!"])),
        ]
    );
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(path, reason)| format!("{path}: {}", reason.split(':').next().unwrap_or_default()))
        .collect();
    assert_eq!(
        reasons,
        [
            "export/conversations.json, conversation 2: cannot be parsed",
            "conversations/forgotten: is marked as not to be remembered",
            "conversations/untitled: a message has no role",
            "conversations/c1: has the id of an earlier conversation, which is imported",
            "conversations/empty: has no messages",
            "export/conversations.json, conversation 9: cannot be parsed",
        ]
    );
}

#[test]
fn citations_are_links_to_their_pages() {
    let mark = "\u{e200}cite\u{e202}turn0search0\u{e201}";
    let own = format!("键 is tea {mark}. And【1†source】 more 【2†notes】.");
    let mark_at = own
        .chars()
        .position(|character| character == '【')
        .expect("a mark");
    let message = change(
        node("m", None, "assistant", text(&own)),
        "/message/metadata",
        json!({
            "content_references": [
                { "matched_text": mark, "type": "grouped_webpages", "items": [
                    { "title": "Tea", "url": "https://example.com/tea", "supporting_websites": [{ "title": "B", "url": "https://example.org" }] },
                ] },
                { "matched_text": " ", "type": "sources_footnote", "sources": [{ "title": "Tea", "url": "https://example.com/tea" }] },
            ],
            "citations": [
                { "start_ix": mark_at, "end_ix": mark_at + 10, "metadata": { "type": "webpage", "title": null, "url": "https://example.net" } },
                { "start_ix": 0, "end_ix": 4, "metadata": { "type": "webpage", "title": "x", "url": "https://example.net" } },
                { "start_ix": 900, "end_ix": 901, "metadata": { "type": "webpage", "url": "https://example.net" } },
            ],
        }),
    );
    let folder = IngestSandbox::new(&[(
        "conversations.json",
        &json!([conversation("c1", "m", vec![message])]).to_string(),
    )]);
    let (sessions, _) = read_sessions(SourceName::ChatGpt, &folder.path());
    let expected = "assistant: 键 is tea ([Tea](https://example.com/tea), [B](https://example.org)). \
                    And(<https://example.net>) more 【2†notes】.";
    assert_eq!(lines(&sessions[0]), [expected]);
}

#[test]
fn marks_without_a_reference_are_removed() {
    let mark = |parts: &[&str]| format!("\u{e200}{}\u{e201}", parts.join("\u{e202}"));
    let own = format!(
        "Tea is hot {}. {} is a port {}{}, see {} and {}\nturn0search0 remains, cut \u{e200}cite\u{e202}turn0search1",
        mark(&["cite", "turn0search0", "turn1news12"]),
        mark(&["entity", "[\"city\",\"Oslo\",\"capital\"]"]),
        mark(&["filecite", "turn0file0", "L1-L5"]),
        mark(&["cite", "turn2view0"]),
        mark(&["navlist", "More about tea", "turn0search3,turn0search4"]),
        mark(&["image_group", "{\"query\":[\"tea\"]}"]),
    );
    let conversations = json!([conversation(
        "c1",
        "m",
        vec![node("m", None, "assistant", text(&own))]
    )]);
    let folder = IngestSandbox::new(&[("conversations.json", &conversations.to_string())]);
    let (sessions, _) = read_sessions(SourceName::ChatGpt, &folder.path());
    let expected =
        "assistant: Tea is hot. Oslo is a port, see More about tea and\nturn0search0 remains, cut ";
    assert_eq!(lines(&sessions[0]), [expected]);
}

#[test]
fn a_conversation_without_a_time_was_changed_by_its_newest_message() {
    let message = |id: &str, time: u64| {
        change(
            node(id, None, "user", text(id)),
            "/message/create_time",
            json!(time),
        )
    };
    let nodes = vec![message("a", 1_767_225_600), message("b", 1_767_312_000)];
    for (time, expected) in [
        (json!(null), "2026-01-02T00:00:00Z"),
        (json!(1_767_398_400), "2026-01-03T00:00:00Z"),
    ] {
        let mut conversation = conversation("c1", "a", nodes.clone());
        conversation["update_time"] = time;
        let folder =
            IngestSandbox::new(&[("conversations.json", &json!([conversation]).to_string())]);
        let (sessions, _) = read_sessions(SourceName::ChatGpt, &folder.path());
        assert_eq!(sessions[0].updated_at, expected.parse().ok());
    }
}

#[test]
fn the_newest_state_of_a_conversation_is_imported() {
    let state = |words: &str, time: Value| {
        let mut state = conversation("c1", "m", vec![node("m", None, "user", text(words))]);
        state["update_time"] = time;
        state
    };
    let found = |first: &[Value], second: &[Value]| {
        let (first, second) = (json!(first).to_string(), json!(second).to_string());
        let folder = IngestSandbox::new(&[
            ("conversations-000.json", &first),
            ("conversations-001.json", &second),
        ]);
        let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &folder.path());
        let words: Vec<_> = sessions
            .iter()
            .map(|session| lines(session).join("|"))
            .collect();
        (words.join(" -> "), skipped.len())
    };
    let (old, new) = (
        state("old", json!(1_700_000_000.5)),
        state("new", json!(1_700_000_001)),
    );
    assert_eq!(
        found(std::slice::from_ref(&old), std::slice::from_ref(&new)),
        ("user: old -> user: new".into(), 0)
    );
    assert_eq!(
        found(&[new.clone(), old.clone()], &[]),
        ("user: new".into(), 1)
    );
    assert_eq!(
        found(&[state("undated", Value::Null)], &[new]),
        ("user: undated -> user: new".into(), 0)
    );
    assert_eq!(
        found(&[old], &[state("undated", Value::Null)]),
        ("user: old".into(), 1)
    );
}

#[test]
fn shards_and_archives_are_one_export() {
    let folder = IngestSandbox::new(&[]);
    let shard = |id: &str| json!([short(id)]).to_string();
    let files = [
        ("conversations-001.json", shard("b")),
        ("conversations-000.json", shard("a")),
        ("chat.html", "x".into()),
        ("../conversations.json", shard("outside")),
        ("/conversations.json", shard("absolute")),
        ("nested\\conversations-002.json", shard("c")),
    ];
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    write_zip(&folder.path().join("one.zip"), &files);
    let ids = |path: &Path| {
        let (sessions, skipped) = read_sessions(SourceName::ChatGpt, path);
        (
            sessions
                .into_iter()
                .map(|session| session.id)
                .collect::<Vec<_>>(),
            skipped,
        )
    };
    let (found, skipped) = ids(&folder.path().join("one.zip"));
    assert_eq!(found, ["a", "b", "c"]);
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(
        reasons,
        [
            "../conversations.json has a path with `..`",
            "/conversations.json has an absolute path"
        ]
    );
    write_zip(
        &folder.path().join("two.zip"),
        &[("conversations.json", &shard("d"))],
    );
    assert_eq!(ids(&folder.path()).0, ["a", "b", "d", "c"]);
    // The archives in a folder with conversations of its own are attachments.
    folder.write("conversations.json", shard("e").as_bytes());
    assert_eq!(ids(&folder.path()), (vec!["e".to_owned()], Vec::new()));
    folder.write("renamed.json", shard("f").as_bytes());
    assert_eq!(ids(&folder.path().join("renamed.json")).0, ["f"]);
    assert_eq!(SourceName::detect(&folder.path()), [SourceName::ChatGpt]);
    assert_eq!(
        SourceName::detect(&folder.path().join("one.zip")),
        [SourceName::ChatGpt]
    );
}

#[test]
fn other_files_are_not_an_export() {
    let claude = r#"[{"uuid":"u","chat_messages":[]}]"#;
    let folder = IngestSandbox::new(&[
        ("a/notes.json", "[]"),
        ("b/conversations.json", claude),
        ("c.zip", "PK\x03\x04 damaged"),
    ]);
    let fails = |path: &str| {
        open(
            SourceName::ChatGpt,
            &folder.path().join(path),
            &SourceOptions::default(),
        )
        .err()
    };
    assert!(matches!(
        fails("a"),
        Some(SourceError::NotRecognized { .. })
    ));
    assert!(matches!(
        fails("b"),
        Some(SourceError::NotRecognized { .. })
    ));
    assert!(matches!(
        fails("c.zip"),
        Some(SourceError::Unreadable { .. })
    ));
    assert_eq!(SourceName::detect(&folder.path()), []);
}

#[test]
fn damaged_and_dense_entries_of_an_archive_are_reported() {
    let folder = IngestSandbox::new(&[]);
    let path = folder.path().join("damaged.zip");
    let text = json!([short("a"), short("b")]).to_string();
    write_zip(&path, &[("conversations.json", &text)]);
    let mut bytes = std::fs::read(&path).expect("the archive");
    // The checksum in the directory, which is behind the data.
    let directory = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .expect("a directory");
    bytes[directory + 16] ^= 1;
    std::fs::write(&path, &bytes).expect("room");
    let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &path);
    assert_eq!((sessions.len(), skipped.len()), (2, 1), "{skipped:?}");
    assert!(
        skipped[0].1.ends_with("the checksum of the entry is wrong"),
        "{skipped:?}"
    );
    let bomb = format!("[{}]", " ".repeat(70 << 20));
    write_zip(
        &path,
        &[
            ("conversations-000.json", &text),
            ("conversations-001.json", &bomb),
        ],
    );
    let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &path);
    assert_eq!(sessions.len(), 2);
    assert_eq!(
        skipped,
        [(
            "conversations-001.json".into(),
            "unpacks to more than 200 times its size".into()
        )]
    );
}

#[test]
fn a_pasted_list_becomes_notes_once() {
    let folder = IngestSandbox::new(&[(
        "memories.txt",
        "- Likes tea\n- 喜欢深色模式\n- Likes tea\n- The token is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH\n",
    )]);
    let found = survey_source(SourceName::ChatGpt, &folder.path().join("memories.txt"));
    let texts: Vec<_> = found
        .notes
        .iter()
        .map(|note| note.draft.content.as_str())
        .collect();
    assert_eq!(texts.len(), 3);
    assert!(
        texts.contains(&"Likes tea") && texts.contains(&"喜欢深色模式"),
        "{texts:?}"
    );
    assert_eq!(
        (found.report.new, found.again.new, found.again.unchanged),
        (3, 0, 3)
    );
}

proptest! {
    #[test]
    fn every_text_survives(own in "[^\\s\0]\\PC{0,20}[\r\n\t\u{0}]?\\PC{0,20}", title in "\\PC{0,10}") {
        let mut list = json!([conversation("c", "m", vec![node("m", None, "user", text(&own))])]);
        list[0]["title"] = json!(title);
        let folder = IngestSandbox::new(&[("conversations.json", &list.to_string())]);
        let (sessions, skipped) = read_sessions(SourceName::ChatGpt, &folder.path());
        prop_assert_eq!(skipped, []);
        prop_assert_eq!(lines(&sessions[0]), [format!("user: {}", own.replace('\0', "\u{fffd}"))]);
        let expected = title.trim();
        prop_assert_eq!(sessions[0].title.as_deref(), Some(expected).filter(|title| !title.is_empty()));
    }
}
