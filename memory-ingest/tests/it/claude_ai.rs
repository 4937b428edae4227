#![expect(
    clippy::needless_pass_by_value,
    reason = "calls are shorter with literal values"
)]

use memory_core::json::JsonText;
use memory_core::{Category, Scope, SpeakerRole};
use memory_ingest::{SourceName, SourceOptions, open};
use serde_json::{Value, json};

use crate::chatgpt::{lines, read_sessions, write_zip};
use crate::sandbox::{IngestSandbox, stated_days, survey_source};

fn message(id: &str, parent: &str, sender: &str, minute: u32, text: &str) -> Value {
    json!({
        "uuid": id, "parent_message_uuid": parent, "sender": sender, "text": "NOT USED",
        "content": [{ "type": "text", "text": text }], "created_at": format!("2026-01-02T03:{minute:02}:00.5Z"),
        "attachments": [], "files": [],
    })
}

fn conversation(id: &str, messages: &[Value]) -> Value {
    json!({ "uuid": id, "name": "名前", "summary": "**Tea** 茶", "created_at": "2026-01-02T03:00:00Z", "account": { "uuid": "acc" }, "chat_messages": messages })
}

#[test]
fn the_newest_branch_is_imported_with_attachments() {
    const ROOT: &str = "00000000-0000-4000-8000-000000000000";
    let mut first = message("m1", ROOT, "human", 0, "你好 😀\r\n\u{0}");
    first["attachments"] = json!([{ "file_name": "a.txt", "extracted_content": "line 1\nline 2" }, { "file_name": "b.pdf", "extracted_content": null }]);
    first["files"] = json!([{ "file_name": "a.txt" }, { "file_name": "c.png" }, 5]);
    let mut answer = message("m3", "m1", "assistant", 2, "regenerated");
    answer["content"] = json!([
        { "type": "thinking", "thinking": "SECRET", "text": "SECRET" },
        { "type": "text", "text": "mid sen" },
        { "type": "text", "text": "tence. ", "citations": [{ "url": "https://example.net" }] },
        { "type": "text", "text": "" },
        { "type": "text", "text": "Next." },
        { "type": "tool_use", "id": "t1", "name": "artifacts", "input": { "title": "T", "content": "x" } },
        { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "OK" }], "text": "RESULT" },
        { "type": "text", "text": "two", "citations": [
            { "start_index": 0, "end_index": 3, "url": "https://example.com", "title": "Tea" },
            { "details": { "type": "web_search_citation", "url": "https://example.org" } },
            { "url": "https://example.com", "title": "Tea" }, 5,
        ] },
    ]);
    let mut old = message("o2", "", "assistant", 1, "");
    old["content"] = json!([]);
    old["text"] = json!("from the text");
    let mut only_tool = message("t", "", "assistant", 1, "");
    only_tool["content"] =
        json!([{ "type": "tool_use", "id": "t2", "name": "search", "input": {} }]);
    let conversations = json!([
        conversation(
            "c1",
            &[
                first,
                message("m2", "m1", "assistant", 1, "FIRST ANSWER"),
                answer,
                message("m4", "m3", "human", 3, "thanks")
            ]
        ),
        conversation(
            "c2",
            &[
                message("o1", "", "human", 0, "old export"),
                old,
                only_tool,
                json!({ "uuid": "x" }),
                json!(7)
            ]
        ),
        conversation(
            "broken",
            &[
                message("b1", "missing", "human", 0, "kept"),
                message("b2", "b1", "human", 1, "too")
            ]
        ),
        conversation("empty", &[]),
        conversation("c1", &[message("d", "", "human", 0, "duplicate")]),
    ]);
    let folder = IngestSandbox::new(&[(
        "data-2026-batch-0000/conversations.json",
        &conversations.to_string(),
    )]);
    let (sessions, skipped) = read_sessions(
        SourceName::ClaudeAi,
        &folder.path().join("data-2026-batch-0000"),
    );
    let found: Vec<_> = sessions
        .iter()
        .map(|session| (session.id.as_str(), lines(session)))
        .collect();
    let texts = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found,
        [
            (
                "c1",
                texts(&[
                    "user: 你好 😀\r\n\u{fffd}\n[attachment: a.txt]\nline 1\nline 2\n[attachment: b.pdf]\n[file: c.png]",
                    r#"assistant -> "artifacts": "{\"title\":\"T\",\"content\":\"x\"}""#,
                    "user: thanks",
                ])
            ),
            (
                "c2",
                texts(&[
                    "user: old export",
                    "assistant: from the text",
                    r#"assistant -> "search": "{}""#
                ])
            ),
            ("broken", texts(&["user: kept", "user: too"])),
        ]
    );
    assert_eq!(sessions[0].title.as_deref(), Some("名前"));
    let call = &sessions[0].records[1];
    assert_eq!(
        call.content
            .as_ref()
            .and_then(JsonText::as_string)
            .as_deref(),
        Some(
            "mid sentence. (<https://example.net>) Next.\ntwo ([Tea](https://example.com), <https://example.org>)"
        )
    );
    assert_eq!(
        call.meta.as_ref().map(JsonText::as_str),
        Some(r#"{"message_id":"m3"}"#)
    );
    let first = sessions[0].records[0].meta.as_ref().map(JsonText::as_str);
    assert_eq!(first, Some(r#"{"message_id":"m1","summary":"**Tea** 茶"}"#));
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(
        reasons,
        [
            "conversations/c2 a message has no sender",
            "conversations/c2 a message has no sender",
            "conversations/empty has no messages",
            "conversations/c1 has the id of an earlier conversation, which is imported",
        ]
    );
}

fn project(id: &str, name: Value) -> Value {
    json!({
        "uuid": id, "name": name, "description": "a description", "prompt_template": "Be brief.", "is_private": true,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z",
        "docs": [{ "uuid": "d1", "filename": "notes.md", "content": "# 笔记\r\n", "created_at": "2026-01-03T00:00:00Z" }, { "uuid": "d1", "content": "again" }, { "filename": "empty", "content": "" }],
    })
}

#[test]
fn memories_and_projects_become_notes_in_every_layout() {
    let mut starter = project("p3", json!("How to use Claude"));
    starter["is_starter_project"] = json!(true);
    let memories = json!([{ "conversations_memory": "**Work**\n\nwrites Rust", "project_memories": { "p1": "about p1", "gone": "about another", "../x": "?" }, "account_uuid": "acc" }]);
    let projects = json!([project("p1", json!("Website")), project("p2", Value::Null), starter, { "name": "no id" }]);
    let folder = IngestSandbox::new(&[
        ("memories.json", &memories.to_string()),
        ("projects.json", &projects.to_string()),
    ]);
    let found = survey_source(SourceName::ClaudeAi, &folder.path());
    let paths: Vec<_> = found
        .notes
        .iter()
        .map(super::sandbox::SurveyNote::path)
        .collect();
    assert_eq!(
        paths,
        [
            "memories/acc/conversations",
            "memories/acc/projects/gone",
            "memories/acc/projects/p1",
            "projects/p1/description",
            "projects/p1/docs/d1",
            "projects/p1/instructions",
            "projects/p2/description",
            "projects/p2/docs/d1",
            "projects/p2/instructions",
        ]
    );
    let website = Scope::Project("Website".into());
    let memory = found.note("memories/acc/projects/p1");
    assert_eq!(
        (
            memory.draft.content.as_str(),
            &memory.draft.scope,
            memory.draft.role
        ),
        ("about p1", &website, Some(SpeakerRole::Assistant))
    );
    assert_eq!(
        found.note("memories/acc/projects/gone").draft.scope,
        Scope::Project("gone".into())
    );
    assert_eq!(
        found.note("memories/acc/projects/gone").front_matter,
        "claude_project: \"gone\"\n"
    );
    let document = found.note("projects/p1/docs/d1");
    assert_eq!(
        (
            document.draft.title.as_deref(),
            document.draft.content.as_str()
        ),
        (Some("notes.md"), "# 笔记\r\n")
    );
    assert_eq!(
        document.draft.created_at.map(|at| at.to_rfc3339()),
        Some("2026-01-03T00:00:00+00:00".into())
    );
    let instructions = found.note("projects/p1/instructions");
    assert_eq!(
        (
            instructions.draft.category,
            instructions.draft.title.as_deref()
        ),
        (Some(Category::Preferences), None)
    );
    assert_eq!(found.note("projects/p2/description").draft.title, None);
    let reasons: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(
        reasons,
        [
            "projects/p1/docs/d1 is in the export more than once; the first is imported",
            "projects/p2/docs/d1 is in the export more than once; the first is imported",
            "projects/p3 is the example project of the program",
            "projects.json, project 4 has no valid id",
            "memories.json, memory 1 has a memory of a project without a valid id",
        ]
    );
    assert_eq!(
        (found.report.new, found.again.new, found.again.unchanged),
        (9, 0, 9)
    );
    let newer = IngestSandbox::new(&[]);
    let files = json!({ "conversations_memory": "x", "memory_files": [{ "path": "/work.md", "content": "text", "updated_at": "2026-03-01T00:00:00Z" }, "plain", { "n": 1 }] });
    write_zip(
        &newer.path().join("memories-000.zip"),
        &[("memories/acc-2.json", &files.to_string())],
    );
    write_zip(
        &newer.path().join("projects-000.zip"),
        &[(
            "projects/p1.json",
            &project("p1", json!("Website")).to_string(),
        )],
    );
    let found = survey_source(SourceName::ClaudeAi, &newer.path());
    let paths: Vec<_> = found
        .notes
        .iter()
        .map(super::sandbox::SurveyNote::path)
        .collect();
    assert_eq!(paths.len(), 6, "{paths:?}");
    assert_eq!(paths[0], "memories/acc-2/conversations");
    let file = found.note("memories/acc-2/files/work.md");
    assert_eq!(
        (file.draft.title.as_deref(), file.draft.content.as_str()),
        (Some("/work.md"), "text")
    );
    assert_eq!(found.skipped.len(), 2, "{:?}", found.skipped);
    assert_eq!(
        found.skipped[1],
        (
            "memories-000.zip/memories/acc-2.json".into(),
            "has a memory file without a known field for its text".into()
        )
    );
}

#[test]
fn an_export_of_another_program_is_refused() {
    let other = IngestSandbox::new(&[
        ("conversations.json", r#"[{"mapping":{}}]"#),
        ("empty/conversations.json", "[]"),
    ]);
    assert!(
        open(
            SourceName::ClaudeAi,
            &other.path(),
            &SourceOptions::default()
        )
        .is_err()
    );
    assert_eq!(
        read_sessions(SourceName::ClaudeAi, &other.path().join("empty")),
        (Vec::new(), Vec::new())
    );
    let own = IngestSandbox::new(&[(
        "conversations.json",
        &json!([conversation("c", &[])]).to_string(),
    )]);
    assert_eq!(SourceName::detect(&own.path()), [SourceName::ClaudeAi]);
}

#[test]
fn days_without_a_time_are_marked() {
    let projects = r#"[{"uuid":"p","name":"Garden","description":"roses","created_at":"2024-01-05",
        "updated_at":"2024-02-06T00:00:00Z","docs":[{"uuid":"d","content":"tulips","created_at":"2024-01-07"}]}]"#;
    let memories = r#"[{"account_uuid":"a","memory_files":[{"path":"x.md","content":"tea","updated_at":"2024-01-08"}]}]"#;
    let export = IngestSandbox::new(&[
        ("conversations.json", r#"[{"uuid":"1","chat_messages":[]}]"#),
        ("projects.json", projects),
        ("memories.json", memories),
    ]);
    let days = stated_days(SourceName::ClaudeAi, &export.path());
    assert_eq!(days, ["2024-01-05", "2024-01-07", "2024-01-08"]);
}
