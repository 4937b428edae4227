//! Adds a tool to those of an agent, and calls it: `cargo run -p examples --bin custom_tool`.

use std::error::Error;
use std::sync::Arc;

use memory_agent::{Agent, Session};
use memory_core::{Effect, Filter, PageRequest, Tool, ToolContext, ToolError, View, list};
use serde_json::{Value, json};

/// Counts the memories with a tag.
#[derive(Debug)]
struct CountTool;

impl Tool for CountTool {
    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Count the memories with a tag."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "tag": { "type": "string" } },
            "required": ["tag"],
            "additionalProperties": false
        })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        // The parameters match the schema, and the services show only what the calling agent may see.
        let filter = Filter {
            tags: parameters["tag"].as_str().into_iter().collect(),
            ..Filter::default()
        };
        Ok(json!({ "count": list(&context.services, &filter, &PageRequest::default())?.total }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let agent = Agent::builder(memory_store::open(folder.path().join("home"))?)
        .tool(Arc::new(CountTool))
        .build()?;
    let session = |name: &str| {
        Session::begin(
            &agent,
            &View {
                agent: name.parse().ok(),
                project: None,
                ..View::default()
            },
        )
    };
    let (ada, bob) = (session("ada"), session("bob"));
    ada.call(
        "memory_write",
        json!({ "content": "We deploy on Fridays", "tags": ["work"] }),
    )?;
    ada.call(
        "memory_write",
        json!({ "content": "Bob's code is hard to read", "tags": ["work"], "scope": "agent:ada" }),
    )?;
    println!("ada: {}", ada.call("count", json!({ "tag": "work" }))?);
    println!("bob: {}", bob.call("count", json!({ "tag": "work" }))?);
    if let Err(error) = bob.call("count", json!({ "tags": "work" })) {
        println!(
            "{}: {}; {}",
            error.code,
            error.message,
            error.hint.unwrap_or_default()
        );
    }
    Ok(())
}
