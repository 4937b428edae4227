//! An agent that remembers: a loop around any model behind the usual chat completions, with an index of topics in its prompt and five
//! tools to look into them.
//!
//!     OPENAI_BASE_URL=http://localhost:11434/v1 MODEL=llama3.2 cargo run -p examples --bin agent_loop
//!
//! Each line that is read is a prompt. Topics are kept in `.memory` of the folder it runs in; the loop itself keeps nothing.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_agent::{Agent, Hooks, Offer, Session};
use memory_core::text::one_line;
use memory_core::topic::{Topics, context};
use memory_core::{Services, View};
use memory_store::topic::TopicFolder;
use memory_store::{FileStore, Options, RandomIds, SystemClock};
use serde_json::{Value, json};

/// A prompt takes so many rounds of tools at most.
const ROUNDS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::of_environment();
    let (session, topics) = open(&PathBuf::from(".memory"))?;
    let mut messages = vec![Value::Null];
    for prompt in io::stdin().lock().lines() {
        // What was remembered a moment ago is in the next prompt.
        messages[0] = json!({ "role": "system", "content": format!("You are a helpful agent.\n\n{}", context(&topics)?) });
        messages.push(json!({ "role": "user", "content": prompt? }));
        let answer = answer(&model, &session, &mut messages)?;
        writeln!(io::stdout(), "{}", answer.replace(|letter: char| letter.is_control() && letter != '\n', ""))?;
    }
    Ok(())
}

/// Asks the model until it has an answer, and does what it asks for meanwhile.
fn answer(model: &Model, session: &Session, messages: &mut Vec<Value>) -> Result<String, Box<dyn Error>> {
    let tools: Vec<Value> = session
        .agent()
        .listed()
        .map(|tool| {
            let function = json!({ "name": tool.name(), "description": tool.description(), "parameters": tool.parameters() });
            json!({ "type": "function", "function": function })
        })
        .collect();
    for _ in 0..ROUNDS {
        let message = model.ask(messages, &tools)?;
        messages.push(message.clone());
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        }
        for call in calls {
            let name = call["function"]["name"].as_str().unwrap_or_default();
            let result = use_tool(session, name, &call["function"]["arguments"]);
            writeln!(io::stderr(), "> {name}: {}", one_line(&result, 100))?;
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
        }
    }
    Err("the model asks for tools without end".into())
}

/// Does what the model asks for. What cannot be done is told to it as well: it may do better.
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

/// Opens the topics in a folder, and an agent with the five tools of them under the names that models know.
fn open(folder: &PathBuf) -> Result<(Session, Topics), Box<dyn Error>> {
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(TopicFolder::new(folder));
    let topics = Topics { store, clock: clock.clone(), ids: ids.clone(), actor: "agent_loop".into() };
    // The tools of memories are not offered, but stand on the same ground.
    let home = match std::env::var_os("MEMORY_ROOT") {
        Some(root) => PathBuf::from(root),
        None => std::env::home_dir().ok_or("there is no home folder; MEMORY_ROOT names one")?.join(".memory"),
    };
    let store = Arc::new(FileStore::open(&home, Options::default())?);
    let services = Services {
        store: store.clone(),
        history: store,
        clock,
        ids,
        embedder: None,
        reranking: None,
        chat: None,
        banks: None,
        topics: Some(topics.clone()),
        inbox_ttl: memory_core::InboxTtl::default(),
        actor: "agent_loop".into(),
    };
    let offer: Offer = "topic=memory_".parse()?;
    let utc = Arc::new(|moment: DateTime<Utc>| moment.fixed_offset());
    let agent = Arc::new(Agent::new(services, utc, &offer, Hooks::new(), None)?);
    Ok((Session::begin(&agent, &View { agent: "agent_loop".parse().ok(), project: None }), topics))
}

/// Where the model is.
struct Model {
    url: String,
    name: String,
    key: Option<String>,
}

impl Model {
    fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let base = variable("OPENAI_BASE_URL").unwrap_or_else(|| "http://localhost:11434/v1".into());
        Self {
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            name: variable("MODEL").unwrap_or_else(|| "llama3.2".into()),
            key: variable("OPENAI_API_KEY"),
        }
    }

    fn ask(&self, messages: &[Value], tools: &[Value]) -> Result<Value, Box<dyn Error>> {
        let body = json!({ "model": self.name, "messages": messages, "tools": tools, "stream": false });
        let mut request = ureq::post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        let text = request.send(body.to_string())?.body_mut().read_to_string()?;
        let mut answer: Value = serde_json::from_str(&text)?;
        let message = answer["choices"][0]["message"].take();
        if message.is_object() { Ok(message) } else { Err("the model said nothing".into()) }
    }
}
