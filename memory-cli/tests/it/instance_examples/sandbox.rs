//! A home for scripts, with a fake language model.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::model_server::{ModelTestServer, Reply};
use crate::sandbox::Sandbox;

pub(super) const KEY: &str = "test-key-0123456789";

/// A home for scripts, with a fake language model.
pub(super) struct ScriptSandbox {
    pub(super) sandbox: Sandbox,
    pub(super) server: ModelTestServer,
}

impl ScriptSandbox {
    /// Starts a model with these replies; returns `None` if a program that the scripts need is missing.
    pub(super) fn set(replies: Vec<Reply>) -> Option<Self> {
        for program in ["bash", "jq", "curl"] {
            if Command::new(program).arg("--version").output().is_err() {
                memory_core::testing::leave_out(&format!("{program} is missing"));
                return None;
            }
        }
        Some(Self {
            sandbox: Sandbox::new(),
            server: ModelTestServer::start(replies),
        })
    }

    /// Replaces the replies of the model.
    pub(super) fn next(self, replies: Vec<Reply>) -> Self {
        Self {
            server: ModelTestServer::start(replies),
            ..self
        }
    }

    /// Runs a shell line with the scripts on the `PATH`.
    pub(super) fn run_line(&self, line: &str) -> String {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/instances");
        let model = format!(
            "export OPENAI_BASE_URL={} OPENAI_API_KEY={KEY} MODEL=m EMBEDDING_MODEL=e",
            self.server.base_url()
        );
        self.sandbox.run_shell(&format!(
            "{model} PATH=\"$HOME/watch:{}:$PATH\"\n{line}",
            scripts.display()
        ))
    }

    /// Appends records to a session.
    pub(super) fn append_records(&self, session: &str, records: &[Value]) {
        for record in records {
            let kept = self.sandbox.run_shell(&format!(
                "memo run history append -p session={session} --input '{record}'"
            ));
            assert!(!kept.contains("error"), "{kept}");
        }
    }

    /// Returns the records of a session, one per line.
    pub(super) fn read_records(&self, session: &str) -> String {
        self.sandbox.run_shell(&format!(
            "memo run history read -p session={session} | jq -c '.[]'"
        ))
    }

    /// Returns the messages of a request to the model, one per line.
    pub(super) fn sent_messages(&self, request: usize) -> String {
        let asked = self.server.requests();
        let messages = asked[request].body["messages"]
            .as_array()
            .expect("messages")
            .clone();
        messages
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

pub(super) fn choice_reply(message: &Value, reason: &str) -> Reply {
    let choices = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    Reply::Answer(
        200,
        "Content-Type: application/json\r\n",
        json!({"object": "chat.completion", "choices": choices}).to_string(),
    )
}

pub(super) fn text_reply(content: &str) -> Reply {
    choice_reply(&json!({"role": "assistant", "content": content}), "stop")
}

pub(super) fn tool_call_reply(tools: &[(&str, &str, &str)]) -> Reply {
    let call = |(id, name, arguments): &(&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls: Vec<_> = tools.iter().map(call).collect();
    choice_reply(
        &json!({"role": "assistant", "content": null, "tool_calls": calls}),
        "tool_calls",
    )
}

pub(super) fn failing_reply() -> Reply {
    Reply::Answer(
        503,
        "",
        r#"{"error":{"message":"too much\u001b[2J to do"}}"#.into(),
    )
}

pub(super) fn record(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

pub(super) fn record_at(ts: &str, role: &str, content: &str) -> Value {
    json!({"role": role, "content": content, "ts": ts})
}
