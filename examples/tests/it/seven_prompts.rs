//! A conversation of seven prompts with a fake model.

use serde_json::{Value, json};

use crate::model_server::Reply;

/// The prompts of the user, one per line.
pub(crate) const PROMPTS: &str = "\
What do you currently remember? Check your memory.
I prefer TypeScript over JavaScript and always use strict mode. Remember that.
We decided to use PostgreSQL for the auth service. Save this project decision.
What do you know about my preferences? Read the details.
Update my preferences: I also prefer dark theme in all editors.
The auth service decision is outdated. Delete that memory.
List all memory files and show me the current index.
";

/// The replies of the model, in order: tool calls, then an answer.
pub(crate) fn model_replies() -> Vec<Reply> {
    let prefs = json!({
        "filename": "user_prefs.md", "name": "User Preferences", "description": "Languages and modes", "memory_type": "user",
        "content": "- TypeScript over JavaScript\n- Always strict mode"
    });
    let auth = json!({
        "filename": "project_auth.md", "name": "Auth Service", "description": "Which database it uses", "memory_type": "project",
        "content": "PostgreSQL was decided."
    });
    let dark = json!({ "filename": "user_prefs.md", "old_text": "- Always strict mode", "new_text": "- Always strict mode\n- Dark theme" });
    vec![
        tool_call_reply(&[("memory_view", &json!({ "target": "index" }))]),
        text_reply("I remember nothing yet."),
        tool_call_reply(&[("memory_write", &prefs)]),
        text_reply("I will remember that."),
        tool_call_reply(&[("memory_write", &auth)]),
        text_reply("The decision is saved."),
        tool_call_reply(&[("memory_read", &json!({ "filename": "user_prefs.md" }))]),
        text_reply("You prefer TypeScript in strict mode."),
        tool_call_reply(&[("memory_update", &dark)]),
        text_reply("And dark themes."),
        tool_call_reply(&[
            ("memory_delete", &json!({ "filename": "project_auth.md" })),
            ("memory_read", &json!({ "filename": "project_auth.md" })),
        ]),
        text_reply("It is forgotten."),
        tool_call_reply(&[
            ("memory_view", &json!({ "target": "files" })),
            ("memory_view", &json!({ "target": "index" })),
        ]),
        text_reply("There is one file."),
    ]
}

/// The expected output of the loop.
pub(crate) const SAID: &str = "\
I remember nothing yet.
I will remember that.
The decision is saved.
You prefer TypeScript in strict mode.
And dark themes.
It is forgotten.
There is one file.
";

/// Checks the requests to the model, and the files in the folder of topics.
pub(crate) fn check_requests(asked: &[Value], file: &dyn Fn(&str) -> Option<String>) {
    assert_eq!(asked.len(), 14);
    let names: Vec<_> = asked[0]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "memory_view",
            "memory_read",
            "memory_write",
            "memory_update",
            "memory_delete"
        ]
    );
    let system = |at: usize| {
        asked[at]["messages"][0]["content"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert!(
        system(0).contains("MEMORY PROTOCOL") && system(0).contains("(empty)"),
        "{}",
        system(0)
    );
    assert!(
        system(4).contains("- [User Preferences](user_prefs.md) - Languages and modes"),
        "the index is in the next prompt"
    );
    assert!(system(6).contains("(project_auth.md)") && !system(12).contains("(project_auth.md)"));
    let last = asked[13]["messages"].as_array().expect("messages");
    let results: Vec<Value> = last
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            serde_json::from_str(message["content"].as_str().expect("a text")).expect("JSON")
        })
        .collect();
    assert_eq!(results.len(), 9);
    assert_eq!(results[0], json!({ "index": "# Memory\n\n(empty)\n" }));
    assert_eq!(
        results[1],
        json!({ "file": "user_prefs.md", "created": true })
    );
    assert!(
        results[3]["text"]
            .as_str()
            .expect("a text")
            .ends_with("\n- TypeScript over JavaScript\n- Always strict mode\n")
    );
    assert_eq!(
        results[5],
        json!({ "file": "project_auth.md", "deleted": true })
    );
    assert_eq!(
        results[6]["error"]["code"], "PATH_NOT_FOUND",
        "what cannot be done is told to the model"
    );
    assert_eq!(results[7]["files"].as_array().map(Vec::len), Some(1));
    let index = "# Memory\n\n## User\n- [User Preferences](user_prefs.md) - Languages and modes\n";
    assert_eq!(results[8]["index"], index);
    assert_eq!(file("MEMORY.md").as_deref(), Some(index));
    assert!(
        file("user_prefs.md")
            .expect("it is there")
            .ends_with("- Always strict mode\n- Dark theme\n")
    );
    assert_eq!(file("project_auth.md"), None);
}

fn completion_reply(message: &Value) -> Reply {
    let body = json!({ "object": "chat.completion", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    Reply::Answer(200, "Content-Type: application/json\r\n", body.to_string())
}

pub(crate) fn text_reply(content: &str) -> Reply {
    completion_reply(&json!({ "role": "assistant", "content": content }))
}

fn tool_call_reply(calls: &[(&str, &Value)]) -> Reply {
    let call = |(at, (name, arguments)): (usize, &(&str, &Value))| json!({ "id": format!("call_{at}"), "type": "function", "function": { "name": name, "arguments": arguments.to_string() } });
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    completion_reply(&json!({ "role": "assistant", "content": null, "tool_calls": calls }))
}
