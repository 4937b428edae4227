//! Events of clients with hooks: the input that a client sends, and the output that it expects.
//!
//! | client | documentation |
//! |---|---|
//! | Claude Code | <https://code.claude.com/docs/en/hooks> |
//! | Codex | <https://developers.openai.com/codex/hooks> |
//! | Gemini CLI | <https://geminicli.com/docs/hooks/reference> |
//! | Cursor | <https://cursor.com/docs/hooks> |

use std::path::PathBuf;

use serde_json::{Value, json};

/// An event of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientHookEvent {
    /// The id of the session, which is unique for the client.
    pub session: Option<String>,
    /// The folder in which the agent works.
    pub folder: Option<PathBuf>,
    /// The prompt of the user.
    pub prompt: Option<String>,
    format: HookOutputFormat,
}

/// The format in which a client expects the text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HookOutputFormat {
    /// The text itself, for input without the name of an event.
    Text,
    /// `hookSpecificOutput` with the name of the event: Claude Code, Codex and Gemini CLI.
    Nested { event: String },
    /// `additional_context`: Cursor. For prompts it is accepted, but documented only for the start of a session.
    Flat { is_prompt: bool },
}

impl ClientHookEvent {
    /// Parses the input of a hook. Missing and unknown fields are ignored.
    pub(super) fn parse(input: &str) -> Self {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        let root = input
            .get("workspace_roots")
            .and_then(|roots| roots.get(0))
            .and_then(Value::as_str);
        let format = match (text("hook_event_name"), input.get("cursor_version")) {
            (Some(event), Some(_)) => HookOutputFormat::Flat {
                is_prompt: event == "beforeSubmitPrompt",
            },
            (Some(event), None) => HookOutputFormat::Nested { event },
            (None, _) => HookOutputFormat::Text,
        };
        Self {
            session: text("session_id").or_else(|| text("conversation_id")),
            folder: text("cwd")
                .or_else(|| root.map(str::to_owned))
                .map(PathBuf::from),
            prompt: text("prompt"),
            format,
        }
    }

    /// Returns the output that gives `text` to the model; empty if there is no text.
    pub(super) fn output(&self, text: String) -> String {
        let output = match &self.format {
            _ if text.trim().is_empty() => return String::new(),
            HookOutputFormat::Text => return text,
            HookOutputFormat::Nested { event } => {
                json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
            }
            HookOutputFormat::Flat { is_prompt: true } => {
                json!({ "continue": true, "additional_context": text })
            }
            HookOutputFormat::Flat { is_prompt: false } => json!({ "additional_context": text }),
        };
        format!("{output}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_gets_the_context_in_its_format() {
        let nested = |event: &str| json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": "x" } });
        for (event, extra, expected) in [
            (
                "SessionStart",
                json!({ "source": "startup" }),
                nested("SessionStart"),
            ),
            (
                "UserPromptSubmit",
                json!({ "permission_mode": "default" }),
                nested("UserPromptSubmit"),
            ),
            (
                "BeforeAgent",
                json!({ "timestamp": "2026-01-01T00:00:00Z" }),
                nested("BeforeAgent"),
            ),
            (
                "sessionStart",
                json!({ "cursor_version": "3.20" }),
                json!({ "additional_context": "x" }),
            ),
            (
                "beforeSubmitPrompt",
                json!({ "cursor_version": "3.20" }),
                json!({ "continue": true, "additional_context": "x" }),
            ),
        ] {
            let mut input = json!({ "hook_event_name": event, "session_id": "s", "cwd": "/work" });
            input
                .as_object_mut()
                .expect("an object")
                .extend(extra.as_object().expect("an object").clone());
            let parsed = ClientHookEvent::parse(&input.to_string());
            assert_eq!(
                (parsed.session.as_deref(), parsed.folder.clone()),
                (Some("s"), Some("/work".into()))
            );
            assert_eq!(
                serde_json::from_str::<Value>(&parsed.output("x".into())).expect("JSON"),
                expected
            );
            assert_eq!(
                parsed.output("\n".into()),
                "",
                "a client without new context gets no output"
            );
        }
    }

    #[test]
    fn a_session_of_cursor_has_the_id_of_its_conversation_and_the_folder_of_its_workspace() {
        let input = json!({ "conversation_id": "c", "workspace_roots": ["/work", "/other"], "prompt": "p" });
        let parsed = ClientHookEvent::parse(&input.to_string());
        assert_eq!(
            (
                parsed.session.as_deref(),
                parsed.folder,
                parsed.prompt.as_deref()
            ),
            (Some("c"), Some("/work".into()), Some("p"))
        );
        assert_eq!(ClientHookEvent::parse("no JSON").output("x".into()), "x");
    }
}
