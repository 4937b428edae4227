//! An agent with a memory: a loop around a chat model, with an index of topics in the system prompt.
//!
//! Any model behind the OpenAI chat completions API works. The model gets five tools to read and change topics.
//!
//!     OPENAI_BASE_URL=http://localhost:11434/v1 MODEL=llama3.2 cargo run -p examples --bin agent_loop
//!
//! Each line of the standard input is a prompt. The topics are stored in `.memory` of the current folder; the loop itself stores nothing.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use examples::ChatClient;
use memory_agent::{Agent, Session};
use memory_core::View;
use memory_core::text::to_one_line;
use memory_core::topic::{Topics, context};
use memory_store::topic::TopicFolder;
use memory_store::{RandomIds, SystemClock};
use serde_json::{Value, json};

/// Maximum number of tool rounds for a prompt.
const MAX_ROUNDS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let model = ChatClient::from_env();
    let (session, topics) = open_agent(&PathBuf::from(".memory"))?;
    let mut messages = vec![Value::Null];
    for prompt in io::stdin().lock().lines() {
        // The context includes the changes of the previous prompt.
        messages[0] = json!({ "role": "system", "content": format!("You are a helpful agent.\n\n{}", context(&topics)?) });
        messages.push(json!({ "role": "user", "content": prompt? }));
        let answer = answer_prompt(&model, &session, &mut messages)?;
        writeln!(
            io::stdout(),
            "{}",
            answer.replace(|letter: char| letter.is_control() && letter != '\n', "")
        )?;
    }
    Ok(())
}

/// Calls the model, and the tools that it requests, until it returns an answer.
fn answer_prompt(
    model: &ChatClient,
    session: &Session,
    messages: &mut Vec<Value>,
) -> Result<String, Box<dyn Error>> {
    let tools: Vec<Value> = session
        .agent()
        .listed_tools()
        .map(|tool| {
            let function = json!({ "name": tool.name(), "description": tool.description(), "parameters": tool.parameters() });
            json!({ "type": "function", "function": function })
        })
        .collect();
    for _ in 0..MAX_ROUNDS {
        let message = model.complete(messages, &tools)?;
        messages.push(message.clone());
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        }
        for call in calls {
            let name = call["function"]["name"].as_str().unwrap_or_default();
            let result = use_tool(session, name, &call["function"]["arguments"]);
            writeln!(io::stderr(), "> {name}: {}", to_one_line(&result, 100))?;
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
        }
    }
    Err("the model still requests tools after the last round".into())
}

/// Calls a tool. An error is returned to the model too, so that it can correct the call.
fn use_tool(session: &Session, name: &str, arguments: &Value) -> String {
    let parameters = match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    match session.call(name, parameters) {
        Ok(result) => result.to_string(),
        Err(error) => memory_agent::json::tool_error(&error).to_string(),
    }
}

/// Opens the topics in a folder, and an agent with the five topic tools.
///
/// The tools have the names that models know.
fn open_agent(folder: &PathBuf) -> Result<(Session, Topics), Box<dyn Error>> {
    let store = Arc::new(TopicFolder::new(folder));
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let topics = Topics {
        store,
        clock,
        ids,
        actor: "agent_loop".into(),
    };
    // The agent needs a store of memories, although their tools are not offered.
    let home = std::env::var_os("MEMORY_ROOT").unwrap_or_else(|| "~/.memory".into());
    let memories = memory_store::builder(home)?
        .actor("agent_loop")
        .topics(topics.clone())
        .build();
    let agent = Agent::builder(memories)
        .selection("topic=memory_".parse()?)
        .build()?;
    Ok((
        Session::begin(
            &agent,
            &View {
                agent: "agent_loop".parse().ok(),
                project: None,
                ..View::default()
            },
        ),
        topics,
    ))
}
