//! Sessions of agents on this machine: Claude Code, Codex and Gemini CLI.

#![expect(
    clippy::needless_pass_by_value,
    reason = "calls are shorter with literal values"
)]

use memory_core::json::JsonText;
use memory_core::{Category, Phase};
use memory_ingest::SourceName;
use serde_json::{Value, json};

use crate::chatgpt::{lines, read_sessions};
use crate::sandbox::{IngestSandbox, SurveyNote, moment};

fn json_lines(values: &[Value]) -> String {
    values
        .iter()
        .flat_map(|value| [value.to_string(), "\n".into()])
        .collect()
}

fn entry(kind: &str, uuid: &str, content: Value) -> Value {
    json!({ "type": kind, "uuid": uuid, "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/home/user/web.site", "sessionId": "s", "isSidechain": false, "message": { "role": kind, "content": content, "model": "claude-opus" } })
}

fn with(mut value: Value, key: &str, flag: Value) -> Value {
    value[key] = flag;
    value
}

#[test]
fn transcripts_of_claude_code_yield_the_words_of_both_sides() {
    let transcript = json_lines(&[
        json!({ "type": "summary", "summary": "of another transcript", "leafUuid": "elsewhere" }),
        json!({ "type": "summary", "summary": "网站", "leafUuid": "u1" }),
        entry("user", "u1", json!("你好 😀\r\n")),
        entry("user", "u1", json!("REPEATED")),
        with(entry("user", "u2", json!("META")), "isMeta", json!(true)),
        with(
            entry("user", "u3", json!("COMPACT")),
            "isCompactSummary",
            json!(true),
        ),
        with(
            entry(
                "assistant",
                "u4",
                json!([{ "type": "text", "text": "SIDECHAIN" }]),
            ),
            "isSidechain",
            json!(true),
        ),
        entry(
            "assistant",
            "u5",
            json!([{ "type": "thinking", "thinking": "SECRET" }, { "type": "text", "text": "Hello." }, { "type": "tool_use", "name": "Bash", "input": {} }]),
        ),
        entry(
            "user",
            "u6",
            json!([{ "type": "tool_result", "content": "OUTPUT" }]),
        ),
        entry(
            "user",
            "u7",
            json!([{ "type": "text", "text": "<system-reminder>ADDED</system-reminder>" }, { "type": "text", "text": "look" }, { "type": "image", "source": {} }]),
        ),
        entry(
            "user",
            "u8",
            json!(
                "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>"
            ),
        ),
        entry(
            "user",
            "u9",
            json!("<local-command-stdout>OUTPUT</local-command-stdout>"),
        ),
        json!({ "type": "system", "content": "SYSTEM" }),
        json!(7),
    ]);
    let folder = IngestSandbox::new(&[
        (
            "projects/-home-user-web-site/0a1b.jsonl",
            &format!("{transcript}{{broken\n"),
        ),
        ("projects/-home-user-web-site/agent-1.jsonl", &transcript),
        (
            "projects/-home-user-web-site/0a1b/subagents/agent-2.jsonl",
            &transcript,
        ),
        ("projects/-home-user-web-site/empty.jsonl", ""),
        ("history.jsonl", "{}"),
    ]);
    let (sessions, skipped) = read_sessions(SourceName::ClaudeSessions, &folder.path());
    let [session] = sessions.as_slice() else {
        panic!("one session: {sessions:?}")
    };
    assert_eq!(
        (session.id.as_str(), session.title.as_deref()),
        ("0a1b", Some("网站"))
    );
    assert_eq!(
        lines(session),
        [
            "user: 你好 😀\r\n",
            "assistant: Hello.",
            "user: look\n[image]",
            "user: /model opus"
        ]
    );
    let meta = |index: usize| {
        session.records[index]
            .meta
            .as_ref()
            .map(|meta| meta.as_str().to_owned())
    };
    assert_eq!(
        meta(1).as_deref(),
        Some(r#"{"message_id":"u5","model":"claude-opus","project":"web.site"}"#)
    );
    assert!(session.records.iter().all(|record| record.at.is_some()));
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(path, reason)| {
            format!(
                "{} {}",
                path.rsplit('/').next().unwrap_or_default(),
                reason.split(':').next().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "0a1b.jsonl line 14 cannot be parsed",
            "0a1b.jsonl line 15 cannot be parsed",
            "empty.jsonl has no messages"
        ]
    );
    let one = folder
        .path()
        .join("projects/-home-user-web-site/0a1b.jsonl");
    assert_eq!(read_sessions(SourceName::ClaudeSessions, &one).0.len(), 1);
}

#[test]
fn the_words_of_the_person_beside_added_elements_are_imported() {
    let queued = |uuid: &str, prompt: Value, is_meta: bool| {
        json!({ "type": "attachment", "uuid": uuid, "timestamp": "2026-01-02T03:04:05Z",
            "attachment": { "type": "queued_command", "prompt": prompt, "commandMode": "prompt", "isMeta": is_meta } })
    };
    let transcript = json_lines(&[
        entry(
            "user",
            "a",
            json!("<ide_opened_file>ADDED</ide_opened_file>\nfix the test"),
        ),
        entry(
            "user",
            "b",
            json!(
                "<ide_selection>ADDED\nADDED</ide_selection> <ide_opened_file>ADDED</ide_opened_file>why 😀?\n"
            ),
        ),
        entry(
            "user",
            "c",
            json!(
                "<task-notification>ADDED</task-notification>\nRead the output file to retrieve the result: ADDED\nand now the rest"
            ),
        ),
        entry(
            "user",
            "d",
            json!("<local-command-stdout>ADDED</local-command-stdout>\nthanks"),
        ),
        entry(
            "user",
            "e",
            json!(
                "<command-message>x</command-message>\n<command-name>/x</command-name>\n<command-args>one</command-args>\ntwo lines"
            ),
        ),
        entry(
            "user",
            "f",
            json!("<command-args>only arguments</command-args>"),
        ),
        entry(
            "user",
            "g",
            json!("<bash-input>ls</bash-input><bash-stdout>ADDED</bash-stdout>"),
        ),
        entry(
            "user",
            "h",
            json!("[Request interrupted by user for tool use]\nuse tabs"),
        ),
        entry("user", "i", json!("[Request interrupted by user]")),
        entry("user", "j", json!("<ide_selection>ADDED without an end")),
        queued("k", json!("also the docs"), false),
        queued("k", json!("REPEATED"), false),
        queued(
            "l",
            json!([{ "type": "text", "text": "look" }, { "type": "image", "source": {} }]),
            false,
        ),
        queued("m", json!("ADDED"), true),
        queued(
            "n",
            json!("<task-notification>ADDED</task-notification>"),
            false,
        ),
        json!({ "type": "attachment", "uuid": "o", "attachment": { "type": "todo_reminder", "prompt": "ADDED" } }),
    ]);
    let folder = IngestSandbox::new(&[("projects/p/0a1b.jsonl", &transcript)]);
    let (sessions, _) = read_sessions(SourceName::ClaudeSessions, &folder.path());
    assert_eq!(
        lines(&sessions[0]),
        [
            "user: fix the test",
            "user: why 😀?\n",
            "user: and now the rest",
            "user: thanks",
            "user: /x one\ntwo lines",
            "user: only arguments",
            "user: !ls",
            "user: use tabs",
            "user: also the docs",
            "user: look\n[image]",
        ]
    );
}

#[test]
fn markers_in_the_code_of_a_prompt_remain() {
    let reminder = "<system-reminder>x</system-reminder>";
    let pasted = format!("why is this removed?\n```xml\n{reminder}\n```\nor `{reminder}`?");
    let transcript = json_lines(&[entry("user", "a", json!(format!("{pasted}\n{reminder}")))]);
    let folder = IngestSandbox::new(&[("projects/p/0a1b.jsonl", &transcript)]);
    let (sessions, _) = read_sessions(SourceName::ClaudeSessions, &folder.path());
    assert_eq!(lines(&sessions[0]), [format!("user: {pasted}")]);
}

fn rollout(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload })
}

fn item(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    rollout(
        "response_item",
        json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }),
    )
}

#[test]
fn sessions_of_codex_are_read_from_events_or_from_items() {
    let events = json_lines(&[
        rollout(
            "session_meta",
            json!({ "id": "s1", "cwd": "/home/user/app", "source": "cli" }),
        ),
        rollout(
            "session_meta",
            json!({ "id": "parent", "cwd": "/home/user/app" }),
        ),
        rollout(
            "turn_context",
            json!({ "model": "gpt-5-codex", "cwd": "/home/user/app" }),
        ),
        item("user", "<environment_context>ADDED</environment_context>"),
        item("user", "你好"),
        rollout(
            "event_msg",
            json!({ "type": "user_message", "message": "你好", "kind": "plain", "images": ["data:image/png;base64,AA"] }),
        ),
        rollout(
            "event_msg",
            json!({ "type": "user_message", "message": "ADDED", "kind": "environment_context" }),
        ),
        rollout(
            "event_msg",
            json!({ "type": "agent_reasoning", "text": "SECRET" }),
        ),
        rollout(
            "response_item",
            json!({ "type": "function_call", "name": "shell", "arguments": "{}" }),
        ),
        rollout(
            "response_item",
            json!({ "type": "function_call_output", "output": "OUTPUT" }),
        ),
        rollout(
            "event_msg",
            json!({ "type": "agent_message", "message": "Hi 😀" }),
        ),
        item("assistant", "Hi 😀"),
    ]);
    let items = json_lines(&[
        rollout(
            "session_meta",
            json!({ "id": "s2", "cwd": "C:\\work\\tool" }),
        ),
        item("developer", "ADDED"),
        item("user", "# AGENTS.md instructions for /x"),
        item("user", "question"),
        item("assistant", "answer"),
    ]);
    let oldest = json_lines(&[
        json!({ "id": "s3", "timestamp": "2025-05-01T00:00:00Z", "instructions": "ADDED" }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "old" }] }),
    ]);
    let message = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let first = json!({
        "session": { "timestamp": "2025-04-16T20:21:22.123Z", "id": "s0", "instructions": "ADDED" },
        "items": [
            message("user", "input_text", "first 😀"),
            { "type": "reasoning", "id": "r", "summary": [{ "type": "summary_text", "text": "SECRET" }] },
            { "type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c" },
            { "type": "function_call_output", "call_id": "c", "output": "OUTPUT" },
            message("assistant", "output_text", "done"),
            message("system", "input_text", "ADDED"),
            7,
        ],
    });
    let subagent = json_lines(&[
        rollout(
            "session_meta",
            json!({ "id": "s4", "source": { "subagent": "review" } }),
        ),
        item("user", "SUB"),
    ]);
    let folder = IngestSandbox::new(&[
        (
            "sessions/2026/01/02/rollout-2026-01-02T03-04-05-s1.jsonl",
            &events,
        ),
        (
            "sessions/2026/01/03/rollout-2026-01-03T03-04-05-s2.jsonl",
            &items,
        ),
        ("sessions/rollout-2025-04-16-s0.json", &format!("{first:#}")),
        (
            "sessions/rollout-2025-04-17-broken.json",
            "{\"session\":{\"id\":\"s9\"},\"items\":[{]}",
        ),
        ("sessions/rollout-2025-05-01-s3.jsonl", &oldest),
        ("sessions/2026/01/04/rollout-s4.jsonl", &subagent),
        ("sessions/2026/01/05/rollout-s5.jsonl", &items),
        ("history.jsonl", "{}"),
        ("auth.json", "{\"token\":\"SECRET\"}"),
    ]);
    let (sessions, skipped) = read_sessions(SourceName::Codex, &folder.path());
    let found: Vec<_> = sessions
        .iter()
        .map(|session| (session.id.as_str(), lines(session).join(" | ")))
        .collect();
    assert_eq!(
        found,
        [
            ("s1", "user: 你好\n[image] | assistant: Hi 😀".to_owned()),
            ("s2", "user: question | assistant: answer".to_owned()),
            ("s0", "user: first 😀 | assistant: done".to_owned()),
            ("s3", "user: old".to_owned()),
        ]
    );
    let meta = |session: usize, record: usize| {
        sessions[session].records[record]
            .meta
            .as_ref()
            .map(|meta| meta.as_str().to_owned())
    };
    assert_eq!(
        meta(0, 1).as_deref(),
        Some(r#"{"model":"gpt-5-codex","project":"app"}"#)
    );
    assert_eq!(meta(1, 0).as_deref(), Some(r#"{"project":"tool"}"#));
    assert_eq!(
        sessions[2].updated_at,
        Some(moment("2025-04-16T20:21:22.123Z"))
    );
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(_, reason)| reason.split(':').next().unwrap_or_default())
        .collect();
    assert_eq!(
        reasons,
        [
            "is the session of a sub-agent",
            "has the id of an earlier conversation, which is imported",
            "object 1 cannot be parsed",
            "has no messages",
        ]
    );
    let one = folder.path().join("sessions/rollout-2025-04-16-s0.json");
    assert_eq!(
        (
            SourceName::detect(&one),
            read_sessions(SourceName::Codex, &one).0.len()
        ),
        (vec![SourceName::Codex], 1)
    );
}

#[test]
fn messages_of_codex_without_an_event_are_imported_once_and_in_order() {
    let event =
        |kind: &str, text: &str| rollout("event_msg", json!({ "type": kind, "message": text }));
    let with_image = rollout(
        "response_item",
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<image name=[Image #1]>" },
            { "type": "input_image", "image_url": "data:" }, { "type": "input_text", "text": "</image>" },
            { "type": "input_text", "text": "look" }] }),
    );
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let session = json_lines(&[
        rollout(
            "session_meta",
            json!({ "id": "s1", "cwd": format!("/home/user/{token}") }),
        ),
        item("user", "only an item"),
        item("user", "continue"),
        item("assistant", "first"),
        item("user", "continue"),
        event("user_message", "continue"),
        event("agent_message", "second"),
        item("assistant", "second\n"),
        item("user", "<some_context>ADDED</some_context>"),
        rollout(
            "event_msg",
            json!({ "type": "user_message", "message": "ADDED", "kind": "environment_context" }),
        ),
        item("user", "ADDED"),
        with_image,
        rollout(
            "event_msg",
            json!({ "type": "user_message", "message": "look", "images": ["data:"] }),
        ),
        event("user_message", "only an event"),
        item("user", "again"),
        item("user", "again"),
        event("user_message", "again"),
        event("user_message", "again"),
    ]);
    let folder = IngestSandbox::new(&[("sessions/rollout-s1.jsonl", &session)]);
    let (sessions, _) = read_sessions(SourceName::Codex, &folder.path());
    assert_eq!(
        lines(&sessions[0]),
        [
            "user: only an item",
            "user: continue",
            "assistant: first",
            "user: continue",
            "assistant: second",
            "user: look\n[image]",
            "user: only an event",
            "user: again",
            "user: again",
        ]
    );
    assert!(
        !format!("{sessions:?}").contains(&token),
        "the name of the project is redacted"
    );
}

#[test]
fn sessions_of_gemini_are_read_in_both_formats() {
    let message = |id: &str, kind: &str, content: Value| json!({ "id": id, "timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "content": content });
    let newer = json_lines(&[
        json!({ "sessionId": "g1", "projectHash": "h", "startTime": "2026-01-02T03:04:05.000Z", "kind": "main" }),
        with(
            message(
                "1",
                "user",
                json!([{ "text": "look @a.txt CONTENT OF THE FILE" }]),
            ),
            "displayContent",
            json!([{ "text": "look @a.txt" }]),
        ),
        message("2", "gemini", json!("partial")),
        with(
            message(
                "2",
                "gemini",
                json!([{ "text": "SECRET", "thought": true }, { "text": "完整 😀" }, { "inlineData": { "mimeType": "image/png", "data": "AA" } }]),
            ),
            "model",
            json!("gemini-3"),
        ),
        message("3", "info", json!("INFO")),
        message("4", "user", json!("REWOUND")),
        message("5", "gemini", json!("REWOUND")),
        json!({ "$rewindTo": "4" }),
        json!({ "$set": { "summary": "A title", "lastUpdated": "x" } }),
        json!({ "type": "message_update", "id": "2", "tokens": {} }),
        message("6", "user", json!("thanks")),
    ]);
    let older = json!({ "sessionId": "g2", "projectHash": "h", "messages": [message("1", "user", json!("old\nformat")), message("2", "gemini", json!("yes"))] });
    let migrated =
        json!({ "sessionId": "g1", "messages": [message("1", "user", json!("OUTDATED"))] });
    let subagent = json_lines(&[
        json!({ "sessionId": "g3", "kind": "subagent" }),
        message("1", "user", json!("SUB")),
    ]);
    let folder = IngestSandbox::new(&[
        (
            "tmp/abc/chats/session-2026-01-02T03-04-g1.json",
            &migrated.to_string(),
        ),
        (
            "tmp/abc/chats/session-2026-01-02T03-04-g1.jsonl",
            &format!("{newer}\nbroken"),
        ),
        ("tmp/abc/chats/session-2025.json", &format!("{older:#}")),
        ("tmp/abc/chats/session-sub.jsonl", &subagent),
        ("tmp/abc/chats/g1/g3.jsonl", &subagent),
        ("tmp/abc/logs.json", "[]"),
        ("tmp/abc/.project_root", "/home/user/shop\n"),
        ("oauth_creds.json", "{\"token\":\"SECRET\"}"),
        (
            "GEMINI.md",
            "Be brief.\n\n## Gemini Added Memories\n- likes tea\n- likes tea\n- 喜欢 😀\n",
        ),
    ]);
    let (sessions, skipped) = read_sessions(SourceName::Gemini, &folder.path());
    let found: Vec<_> = sessions
        .iter()
        .map(|session| {
            (
                session.id.as_str(),
                session.title.as_deref(),
                lines(session).join(" | "),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "g1",
                Some("A title"),
                "user: look @a.txt | assistant: 完整 😀\n[image] | user: thanks".to_owned()
            ),
            ("g2", None, "user: old\nformat | assistant: yes".to_owned()),
        ]
    );
    let meta = sessions[0].records[1].meta.as_ref().map(JsonText::as_str);
    assert_eq!(
        meta,
        Some(r#"{"message_id":"2","model":"gemini-3","project":"shop"}"#)
    );
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(_, reason)| reason.split(':').next().unwrap_or_default())
        .collect();
    assert_eq!(
        reasons,
        [
            "line 13 cannot be parsed",
            "is the session of a sub-agent",
            "has the id of an earlier conversation, which is imported"
        ]
    );
    let notes = folder.survey(SourceName::Gemini);
    assert_eq!(notes.notes[0].path(), "GEMINI.md");
    assert_eq!(
        (notes.notes[0].draft.category, notes.notes[0].draft.phase),
        (Some(Category::Preferences), Some(Phase::Inbox))
    );
    let mut texts: Vec<_> = notes
        .notes
        .iter()
        .map(|note: &SurveyNote| note.draft.content.as_str())
        .collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Be brief.", "likes tea", "喜欢 😀"]);
    assert_eq!(
        (notes.report.new, notes.again.new, notes.again.unchanged),
        (3, 0, 3)
    );
}
