use std::process::Command;
use std::sync::Arc;

use memory_core::testing::{FakeMessages, messages, services};
use memory_core::{Category, IngestOptions, MemStore, SourceError, ingest};
use memory_ingest::{SourceName, SourceOptions, open};
use serde_json::{Value, json};

use crate::inputs::inputs_folder;
use crate::sandbox::{IngestSandbox, note_paths, session_texts, survey_source};

fn agent_file() -> Value {
    let text = |text: &str| json!([{"type": "text", "text": text, "signature": null}]);
    let call = json!([{"id": "1", "type": "function", "function": {"name": "send_message", "arguments": "{\"message\":\"Hi Anna 😀\"}"}}]);
    json!({
        "agents": [{
            "id": "agent-0", "name": "helper", "agent_type": "letta_v1_agent", "block_ids": ["block-0", "block-1"],
            "system": "SYSTEM PROMPT", "secrets": {"KEY": "SECRET-VALUE"}, "tool_exec_environment_variables": {"KEY": "SECRET-VALUE"},
            "messages": [
                {"role": "system", "content": text("SYSTEM PROMPT"), "created_at": "2025-01-02T03:04:05+00:00"},
                {"role": "user", "content": text("{\"type\":\"user_message\",\"message\":\"hello 键\",\"time\":\"x\"}"), "created_at": "2025-01-02T03:04:06+00:00"},
                {"role": "user", "content": text("{\"type\":\"heartbeat\",\"time\":\"x\"}")},
                {"role": "assistant", "content": text("a thought"), "tool_calls": call},
                {"role": "tool", "content": text("a result with SECRET-VALUE")},
                {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "a thought"}, {"type": "text", "text": "Bye"}, {"type": "image"}], "created_at": "never"},
                {"role": "assistant", "content": null}, 7
            ]
        }, {"name": "hidden", "hidden": true, "agent_type": "x", "block_ids": ["block-0", "block-6"], "messages": [{"role": "user", "content": "no"}]}],
        "groups": [],
        "blocks": [
            {"id": "block-1", "label": "persona", "value": "I am Sam.", "description": "about me", "read_only": true, "metadata": {"a": 1}},
            {"id": "block-0", "label": "human", "value": "\nFirst name: Anna 键\n", "limit": 20000, "hidden": null},
            {"id": "block-2", "label": "notes", "value": "shared by none"},
            {"id": "block-3", "label": "empty", "value": ""},
            {"id": "block-4", "label": "secret", "value": "hidden", "hidden": true},
            {"id": "block-6", "label": "of the hidden agent", "value": "no"},
            {"id": "block-5", "label": "notes", "value": "the same label"}
        ],
        "tools": [{"id": "tool-0", "name": "t", "source_code": "SECRET-VALUE"}], "files": [], "mcp_servers": [{"token": "SECRET-VALUE"}],
    })
}

#[test]
fn blocks_are_notes_and_the_messages_of_an_agent_a_conversation() {
    // Real files are either JSON or JSON in a JSON string.
    for text in [
        agent_file().to_string(),
        Value::from(agent_file().to_string()).to_string(),
        format!("{:#}", agent_file()),
    ] {
        let folder = IngestSandbox::new(&[("agent.af", &text)]);
        let path = folder.path().join("agent.af");
        let found = survey_source(SourceName::Letta, &path);
        assert_eq!(
            note_paths(&found),
            [
                "agents/helper/human",
                "agents/helper/persona",
                "blocks/notes"
            ]
        );
        let human = found.note("agents/helper/human");
        assert_eq!(
            (human.draft.content.as_str(), human.draft.category),
            ("First name: Anna 键", Some(Category::People))
        );
        assert_eq!(human.front_matter, "letta_agents: [\"helper\"]\n");
        let persona = found.note("agents/helper/persona");
        assert!(persona.front_matter.ends_with(
            "letta_description: \"about me\"\nletta_metadata: {\"a\":1}\nletta_read_only: true\n"
        ));
        assert_eq!(found.sessions.len(), 1);
        let texts = [
            ("user", "hello 键"),
            ("assistant", "Hi Anna 😀"),
            ("assistant", "Bye\n\n[image]"),
        ];
        assert_eq!(
            session_texts(&found.sessions[0]),
            texts.map(|(role, text)| (role, text.to_owned()))
        );
        let times: Vec<_> = found.sessions[0]
            .records
            .iter()
            .map(|record| record.at.is_some())
            .collect();
        assert_eq!(
            (&found.sessions[0].id[..7], times),
            ("helper ", vec![true, false, false])
        );
        assert_eq!(found.skipped.len(), 2, "{:?}", found.skipped);
        let all: Vec<_> = found
            .notes
            .iter()
            .map(|note| format!("{:?} {}", note.draft, note.front_matter))
            .collect();
        assert!(
            !all.concat().contains("SECRET") && !format!("{:?}", found.sessions).contains("SECRET")
        );
        assert!(SourceName::Letta.recognizes(&path));
    }
}

#[test]
fn an_old_file_has_one_agent_with_its_memory() {
    let text = json!({"agent_type": "memgpt_agent", "name": "old", "version": "0.6", "core_memory": [{"label": "human", "value": "Anna"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "tool_exec_environment_variables": []});
    let folder = IngestSandbox::new(&[
        ("old.af", &text.to_string()),
        ("other.af", "{\"a\":1}"),
        ("broken.af", "\"{"),
    ]);
    let found = survey_source(SourceName::Letta, &folder.path().join("old.af"));
    assert_eq!(note_paths(&found), ["agents/old/human"]);
    assert_eq!(
        session_texts(&found.sessions[0]),
        [("user", "hello".to_owned())]
    );
    for other in ["other.af", "broken.af"] {
        let opened = open(
            SourceName::Letta,
            &folder.path().join(other),
            &SourceOptions::default(),
        );
        assert!(
            matches!(opened, Err(SourceError::NotRecognized { .. })),
            "{other}"
        );
    }
}

#[test]
fn conversations_of_agents_with_one_name_are_different_sessions() {
    let agent = |text: &str| json!({"name": "Same", "agent_type": "x", "block_ids": [], "messages": [{"role": "user", "content": text, "created_at": "2025-01-02T03:04:06Z"}]});
    let file = |texts: &[&str]| {
        json!({"agents": texts.iter().map(|text| agent(text)).collect::<Vec<_>>(), "blocks": []})
            .to_string()
    };
    let folder = IngestSandbox::new(&[
        ("one.af", &file(&["a", "b", "b"])),
        ("two.af", &file(&["c"])),
    ]);
    let (sessions, _) = messages(Arc::new(FakeMessages::default()));
    let home = services(Arc::new(MemStore::default()));
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let take = |name: &str| {
        let source = open(
            SourceName::Letta,
            &folder.path().join(name),
            &SourceOptions::default(),
        )
        .expect("the source is there");
        let report =
            ingest(&home, source.as_ref(), &options, &mut |_| {}).expect("the fakes do not fail");
        assert_eq!(report.skipped, [], "{name}");
        (
            report.sessions.new,
            report.sessions.updated,
            report.sessions.unchanged,
        )
    };
    assert_eq!(take("one.af"), (3, 0, 0));
    assert_eq!(take("two.af"), (1, 0, 0));
    assert_eq!((take("one.af"), take("two.af")), ((0, 0, 3), (0, 0, 1)));
    folder.write("one.af", file(&["b", "b"]).as_bytes());
    assert_eq!(take("one.af"), (0, 0, 2));
}

#[test]
fn real_agent_files_are_read() {
    let Some(inputs) = inputs_folder() else {
        return;
    };
    let folder = IngestSandbox::new(&[]);
    let archive = inputs.join("doors/letta.tar.gz");
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(folder.path())
        .status();
    assert!(
        unpacked.is_ok_and(|status| status.success()),
        "{}",
        archive.display()
    );
    for (file, blocks) in [
        ("memgpt_agent/memgpt_agent_with_convo.af", 2),
        ("customer_service_agent/customer_service.af", 2),
        ("workflow_agent/outreach_workflow_agent.af", 0),
    ] {
        let path = folder.path().join("letta").join(file);
        let text = std::fs::read_to_string(&path).expect("the file is there");
        let found = survey_source(SourceName::Letta, &path);
        assert_eq!(
            (found.notes.len(), found.skipped.len()),
            (blocks, 0),
            "{file}"
        );
        assert!(
            found
                .notes
                .iter()
                .all(|note| text.contains(note.draft.content.lines().next().expect("a line")))
        );
        assert!(!format!("{:?}", found.sessions).contains("base_instructions"));
    }
}
