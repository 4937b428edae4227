//! Custom tools of an embedding program.

use std::sync::Arc;

use memory_agent::hook::{Hook, HookEvent, HookOutcome, HookPoint};
use memory_agent::rpc::{RpcConnection, RpcWork};
use memory_agent::{Agent, AgentBuilder, Session, batch};
use memory_core::testing::services;
use memory_core::{
    Code, Effect, Filter, MemStore, PageRequest, Tool, ToolContext, ToolError, View, list,
};
use serde_json::{Value, json};

/// Counts the memories that the caller sees, with a tag if one is given.
#[derive(Debug)]
struct CountTool {
    name: &'static str,
    parameters: Value,
}

impl Tool for CountTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &'static str {
        "Count the memories."
    }

    fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let filter = Filter {
            tags: parameters["tag"].as_str().into_iter().collect(),
            ..Filter::default()
        };
        let count = list(&context.services, &filter, &PageRequest::default())?.total;
        Ok(json!({ "count": count, "warning": "see `memory list`" }))
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "tag": { "type": "string" } }, "additionalProperties": false })
}

fn builder() -> AgentBuilder {
    Agent::builder(services(Arc::new(MemStore::default())))
}

/// Returns an agent with the custom tool `count`.
pub(crate) fn agent_that_counts() -> Arc<Agent> {
    builder()
        .tool(Arc::new(CountTool {
            name: "count",
            parameters: schema(),
        }))
        .build()
        .expect("no name is taken twice")
}

fn session_for(agent: &Arc<Agent>, name: &str) -> Session {
    Session::begin(
        agent,
        &View {
            agent: name.parse().ok(),
            project: None,
            ..View::default()
        },
    )
}

#[test]
fn a_custom_tool_is_restricted_to_the_view_of_the_caller() {
    let agent = agent_that_counts();
    let (claude, codex) = (session_for(&agent, "claude"), session_for(&agent, "codex"));
    claude
        .call(
            "memory_write",
            json!({ "content": "I like tea", "scope": "agent:claude" }),
        )
        .expect("it is written");
    let count = |session: &Session| {
        session.call("count", json!({})).expect("it is counted")["count"].clone()
    };
    assert_eq!((count(&claude), count(&codex)), (json!(1), json!(0)));
    assert_eq!(count(&Session::for_person(&agent)), 1);
}

#[test]
fn the_parameters_of_a_custom_tool_are_checked_and_its_result_is_returned_unchanged() {
    let session = session_for(&agent_that_counts(), "claude");
    let refused = session
        .call("count", json!({ "tag": 7 }))
        .expect_err("a wrong type");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (Code::InvalidInput, "tag: 7 is not of type \"string\"")
    );
    assert_eq!(refused.hint.as_deref(), Some("count takes tag"));
    let (answer, is_done) = batch::run_call(&session, json!({ "name": "count", "params": {} }));
    assert!(is_done);
    assert_eq!(
        answer["result"],
        json!({ "count": 0, "warning": "see `memory list`" })
    );
}

#[test]
fn a_custom_tool_is_listed_and_called_over_json_rpc() {
    let mut connection = RpcConnection::begin(&agent_that_counts(), View::default());
    let mut answer = |line: &str| -> Value {
        let answer = connection
            .parse_line(line.as_bytes())
            .and_then(RpcWork::execute);
        serde_json::from_str(&answer.expect("an answer")).expect("JSON")
    };
    let listed = answer(r#"{"id":1,"method":"tools/list"}"#);
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let own =
        json!({ "name": "count", "description": "Count the memories.", "parameters": schema() });
    assert_eq!(tools.last(), Some(&own));
    assert_eq!(answer(r#"{"id":1,"method":"count"}"#)["result"]["count"], 0);
    assert_eq!(
        answer(r#"{"id":1,"method":"count","params":{"tags":"a"}}"#)["error"]["data"]["code"],
        "INVALID_INPUT"
    );
}

/// Blocks every call of the tool `count`.
#[derive(Debug)]
struct BlockingHook;

impl Hook for BlockingHook {
    fn name(&self) -> String {
        "guard".into()
    }

    fn run(&self, event: &HookEvent) -> Result<HookOutcome, String> {
        Ok(match event {
            HookEvent::Before(call) if call.tool == "count" => {
                HookOutcome::Block("counting is forbidden".into())
            }
            _ => HookOutcome::Go,
        })
    }
}

#[test]
fn hooks_run_for_custom_tools() {
    let tool = Arc::new(CountTool {
        name: "count",
        parameters: schema(),
    });
    let hooks = vec![(
        HookPoint::BeforeToolCall,
        Arc::new(BlockingHook) as Arc<dyn Hook>,
    )];
    let agent = builder()
        .tool(tool)
        .hooks(hooks)
        .build()
        .expect("no name is taken twice");
    let session = session_for(&agent, "claude");
    assert_eq!(
        session.call("count", json!({})).expect_err("blocked").code,
        Code::CallBlocked
    );
    assert!(session.call("memory_list", json!({})).is_ok());
}

#[test]
fn an_agent_with_a_shared_or_invalid_name_or_an_invalid_schema_is_not_built() {
    let refused = |tools: &[(&'static str, Value)], selection: &str| {
        let selected = builder().selection(selection.parse().expect("a selection"));
        let tools = tools
            .iter()
            .cloned()
            .map(|(name, parameters)| Arc::new(CountTool { name, parameters }));
        let built = tools
            .fold(selected, |builder, tool| builder.tool(tool))
            .build();
        built
            .err()
            .map(|error| format!("{} {}", error.code, error.message))
    };
    let shared = Some("INVALID_INPUT two tools would be named memory_read".to_owned());
    assert_eq!(refused(&[("memory_read", schema())], "usual"), shared);
    assert_eq!(
        refused(&[("memory_read", schema())], "bank=memory_"),
        shared
    );
    assert_eq!(
        refused(&[("memory_read", schema())], "bank"),
        None,
        "the tool is not offered"
    );
    let twice = Some("INVALID_INPUT two tools would be named count".to_owned());
    assert_eq!(
        refused(&[("count", schema()), ("count", schema())], "usual"),
        twice
    );
    for name in ["", "1st", "a b", "a/b", "tüll", "ping"] {
        let message = format!("INVALID_INPUT {name:?} is not a valid name of a tool");
        assert_eq!(refused(&[(name, schema())], "usual"), Some(message));
    }
    for parameters in [
        json!(null),
        json!({}),
        json!({ "type": "array" }),
        json!({ "type": "object", "properties": 7 }),
    ] {
        let message = refused(&[("count", parameters.clone())], "usual")
            .unwrap_or_else(|| panic!("{parameters}"));
        assert!(
            message.starts_with("INVALID_INPUT the schema of the parameters of count is invalid: "),
            "{message}"
        );
    }
}
