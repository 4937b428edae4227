//! The `memory agent` and `memory mcp` commands.

use std::io::Read;
use std::sync::Arc;

use clap::Args;
use memory_agent::batch::{self, BatchRequest};
use memory_agent::json::add_field;
use memory_agent::mcp::{
    ClientIdentity, FoundProject, ProjectDiscovery, ProjectFinder, serve_stdio,
};
use memory_agent::rpc::{self, RpcConnection, RpcWork};
use memory_agent::{
    Agent, CONTEXT_BUDGET, InputError, InputValues, Session, SessionOrigin, exact_json, json,
};
use memory_core::{Code, RecallInterface, View};
use serde_json::Value;

use crate::agent::{self, AgentOptions};
use crate::app::App;
use crate::args::SpeakerArgs;
use crate::embedding;
use crate::failure::Failure;
use crate::home::Home;
use crate::instances;
use crate::print::{Output, escape_text};
use crate::project::HomeProjects;

/// Call tools as an agent
///
/// Reads JSON values from the standard input and answers each in order: a list of calls, [{"name": "memory_search",
/// "params": {"query": "tea"}}, …], returns a list with one result per call; one call returns its result; {"prompt": TEXT,
/// "budget"?, "calls"?} returns the memories relevant to the prompt; a JSON-RPC request as for the socket of `memory
/// serve`, {"id": 1, "method": "tools/call", "params": {"name": "memory_list"}}, returns one line like the socket. A failed
/// call or an invalid line does not stop the others.
///
/// JSON: {id?, name, result} or {id?, name, error: {code, message, hint?}} for a call; for a prompt {context, memories, tokens,
/// left_out, standing?, degraded?, warning?, results?}; with --list-tools {tools: [{name, description, parameters}]}
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// List the tools with the JSON Schema of their parameters
    #[arg(long, conflicts_with = "prompt")]
    list_tools: bool,
    /// Print memories relevant to a prompt, fenced as data
    ///
    /// `-` reads {"prompt": TEXT} from the standard input.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Maximum number of tokens of that context
    #[arg(long, value_name = "TOKENS", default_value_t = CONTEXT_BUDGET, requires = "prompt")]
    budget: usize,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Maximum number of bytes read from the standard input.
const MAX_INPUT_BYTES: u64 = 64 << 20;

impl AgentArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let agent = build_agent(&home, &self.speaker)?;
        if self.list_tools {
            app.output.json(&rpc::list_tools(&agent, false))?;
            let further = agent.callable_tools().count() - agent.listed_tools().count();
            if 0 < further {
                app.output.note(&format!(
                    "{further} more tools may be called; `memory agent --list-tools --tools all` lists them"
                ))?;
            }
            return Ok(());
        }
        app.spawn_index_page_updates(&agent);
        let project = match (self.speaker.project(), app.environment.folder.as_deref()) {
            (None, Some(folder)) => match HomeProjects::new(&home.settings).find_project(folder) {
                FoundProject::Withheld(why) => {
                    app.output.warning(&why)?;
                    None
                }
                found => found.name(),
            },
            (project, _) => project,
        };
        let view = View {
            agent: self.speaker.agent(),
            project,
            ..View::default()
        };
        let session = Session::begin(&agent, &view)
            .with_origin(SessionOrigin::connection(RecallInterface::Agent));
        match self.prompt.as_deref() {
            Some(prompt) if prompt != "-" => self.print_context(&session, prompt, &mut app.output),
            _ if app.output.input_is_terminal() => Err(Failure::usage(
                "no calls on the standard input",
                "pipe calls: echo '[{\"name\": \"memory_list\"}]' | memory agent; use --list-tools to list the tools",
            )),
            // The caller that names an agent decides for the input, which may come from that agent.
            _ if self.speaker.is_given() => {
                let mut connection = RpcConnection::with_fixed_view(&agent, view)
                    .with_interface(RecallInterface::Agent);
                answer_input(&session, &mut connection, self.budget, &mut app.output)
            }
            _ => {
                let mut connection =
                    RpcConnection::begin(&agent, view).with_interface(RecallInterface::Agent);
                answer_input(&session, &mut connection, self.budget, &mut app.output)
            }
        }
    }

    fn print_context(
        &self,
        session: &Session,
        prompt: &str,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let context = session.inject_context(prompt, self.budget)?;
        // The input may be a pipe that nobody closes, so it is not read to its end.
        if output.has_waiting_input() {
            return Err(Failure::usage(
                "--prompt TEXT does not read the standard input, which is not empty",
                "pass both on the standard input: {\"prompt\": TEXT, \"calls\": [CALL…]}",
            ));
        }
        if output.is_json() {
            return output.json(&json::context(&context));
        }
        if output.is_drawn() && !context.text.is_empty() {
            output.line(escape_text(&context.text).trim_end())?;
        } else {
            output.text(&context.text)?;
        }
        if let Some(why) = &context.degraded {
            output.warn_incomplete(why)?;
        }
        if let Some(shortage) = &context.shortage {
            output.warning(&format!("{shortage}; raise --budget for more"))?;
        } else if context.memories.is_empty() {
            output.note("no relevant memories found")?;
        } else if 0 < context.left_out {
            let more = match context.left_out {
                1 => "1 more memory exceeds".to_owned(),
                several => format!("{several} more memories exceed"),
            };
            output.note(&format!("{more} the budget; raise --budget for more"))?;
        }
        Ok(())
    }
}

fn answer_input(
    session: &Session,
    speech: &mut RpcConnection,
    budget: usize,
    output: &mut Output,
) -> Result<(), Failure> {
    let input = output.take_input().take(MAX_INPUT_BYTES);
    let mut calls = CallCount::default();
    for wish in InputValues::new(input) {
        calls.has_input = true;
        let wish = match wish {
            Err(InputError::Io(error)) => {
                return Err(Failure::file("read the standard input")(error));
            }
            Err(InputError::NotJson { reason, id }) => {
                calls.add(false);
                let message = format!("the standard input is not valid JSON: {reason}");
                let mut answer = json::error("INVALID_INPUT", &message, Some(batch::FORMS));
                add_field(&mut answer, "id", id);
                output.json_text(&exact_json::to_text(&answer))?;
                output.flush()?;
                continue;
            }
            Ok(wish) => BatchRequest::parse(wish),
        };
        match wish {
            Ok(BatchRequest::Rpc(request)) => answer_rpc(speech, &request, &mut calls, output)?,
            Ok(wish) => answer_request(session, wish, budget, &mut calls, output)?,
            Err(error) => {
                calls.add(false);
                output.json_text(&exact_json::to_text(&json::tool_error(&error)))?;
            }
        }
        // The caller may wait for this answer before it sends the next request.
        output.flush()?;
    }
    if !calls.has_input {
        return Err(Failure::usage(
            "no calls on the standard input",
            "see `memory agent --help` for the input formats",
        ));
    }
    Failure::unless_all_done("call", calls.failed, calls.total, Code::CallFailed)
}

/// The number of calls that were answered, and of those that failed.
#[derive(Debug, Default)]
struct CallCount {
    has_input: bool,
    total: u64,
    failed: u64,
}

impl CallCount {
    fn add(&mut self, is_done: bool) {
        self.total += 1;
        self.failed += u64::from(!is_done);
    }
}

/// Answers JSON-RPC as the socket does.
fn answer_rpc(
    speech: &mut RpcConnection,
    request: &Value,
    calls: &mut CallCount,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(answer) = speech
        .parse_line(request.to_string().as_bytes())
        .and_then(RpcWork::execute)
    else {
        return Ok(());
    };
    let read = exact_json::from_slice(answer.as_bytes()).expect("an answer is JSON");
    let mut count = |answer: &Value| calls.add(answer.get("error").is_none());
    match &read {
        Value::Array(answers) => answers.iter().for_each(count),
        answer => count(answer),
    }
    output.json_text(&answer)
}

fn answer_request(
    session: &Session,
    wish: BatchRequest,
    usual_budget: usize,
    calls: &mut CallCount,
    output: &mut Output,
) -> Result<(), Failure> {
    match wish {
        BatchRequest::Rpc(_) => Ok(()),
        BatchRequest::Call(call) => {
            let (answer, is_done) = batch::run_call(session, call);
            calls.add(is_done);
            output.json_text(&exact_json::to_text(&answer))
        }
        BatchRequest::Calls(given) => {
            // Calls run one after the other, so that a long list needs no more memory than its longest answer.
            output.line("[")?;
            let last = given.len().saturating_sub(1);
            for (number, call) in given.into_iter().enumerate() {
                let (answer, is_done) = batch::run_call(session, call);
                calls.add(is_done);
                let comma = if number == last { "" } else { "," };
                output.json_text(&format!("{}{comma}", exact_json::to_text(&answer)))?;
            }
            output.line("]")
        }
        BatchRequest::Prompt {
            prompt,
            budget,
            calls: given,
        } => {
            let mut answer =
                json::context(&session.inject_context(&prompt, budget.unwrap_or(usual_budget))?);
            let results: Vec<Value> = given
                .into_iter()
                .map(|call| {
                    let (result, is_done) = batch::run_call(session, call);
                    calls.add(is_done);
                    result
                })
                .collect();
            if !results.is_empty() {
                answer["results"] = results.into();
            }
            output.json_text(&exact_json::to_text(&answer))
        }
    }
}

/// Serve an MCP client on the standard input and output
///
/// For clients of the Model Context Protocol: tools, resources (memory://index and memory://note/ID) and the prompts
/// recall, remember and review. Without --agent, the agent has the name of its client. `memory install` configures clients
/// for this command.
///
/// No daemon is needed. The server stops when the client closes the stream.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    speaker: SpeakerArgs,
}

impl McpArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_long_running()?;
        let agent = build_agent(&home, &self.speaker)?;
        app.spawn_index_page_updates(&agent);
        let discovery = ProjectDiscovery {
            working_folder: app.environment.folder.clone(),
            finder: Arc::new(HomeProjects::new(&home.settings)),
        };
        let project = self.speaker.project();
        let identity = ClientIdentity {
            agent: self.speaker.agent(),
            project,
            discovery: Some(discovery),
        };
        serve_stdio(&agent, &identity)
            .map_err(Failure::file("serve the client on the standard streams"))
    }
}

/// Builds the agent that both commands serve.
fn build_agent(home: &Home, speaker: &SpeakerArgs) -> Result<Arc<Agent>, Failure> {
    let options = AgentOptions {
        selection: speaker.tool_selection(),
        embedder: embedding::open_via_daemon(&home.settings),
        topic_folder: speaker.topics(),
        instances: Some(instances::open_cached(&home.settings)?),
        ..AgentOptions::default()
    };
    agent::build_agent(home, options)
}
