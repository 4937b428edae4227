//! Defines the MCP prompts for common memory tasks.

use memory_core::text::{to_one_line, token_count};
use memory_core::{Filter, ListOrder, PageRequest, RecalledId, escape_tags};
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::resources::store_error;
use crate::agent::{Agent, CONTEXT_BUDGET, Session};

/// Number of memories that are listed for a review.
const REVIEW_LIMIT: usize = 50;

/// The prompts, with the tools that their texts name.
const TOOLS: [(&str, &[&str]); 3] = [
    ("recall", &["memory_search"]),
    (
        "remember",
        &["memory_search", "memory_write", "memory_update"],
    ),
    ("review", &["memory_update", "memory_tag", "memory_delete"]),
];

/// Returns whether a prompt is offered: whether the agent has the tools that its text names.
fn is_offered(agent: &Agent, prompt: &str) -> bool {
    let has_tool = |tool: &&str| agent.name_for_models(tool) == Some(tool);
    TOOLS
        .iter()
        .any(|(name, tools)| *name == prompt && tools.iter().all(has_tool))
}

/// Describes the prompts that an agent is offered.
pub(super) fn all(agent: &Agent) -> Vec<Prompt> {
    let argument = |name: &str, description: &str, is_required| {
        PromptArgument::new(name)
            .with_description(description)
            .with_required(is_required)
    };
    let mut prompts = vec![
        Prompt::new(
            "recall",
            Some("Show what is stored about a topic"),
            Some(vec![argument("topic", "The topic", true)]),
        ),
        Prompt::new(
            "remember",
            Some("Store something for later sessions"),
            Some(vec![argument(
                "text",
                "The text to store; default: the key points of this conversation",
                false,
            )]),
        ),
        Prompt::new(
            "review",
            Some("Review the newest memories and correct errors"),
            None,
        ),
    ];
    prompts.retain(|prompt| is_offered(agent, &prompt.name));
    prompts
}

/// Returns a prompt with its arguments filled in.
pub(super) fn get(
    session: &Session,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        _ if !is_offered(session.agent(), name) => return Err(unknown(session.agent(), name)),
        "recall" => recall(
            session,
            argument(arguments, "topic")?.ok_or_else(|| missing("topic"))?,
        )?,
        "remember" => remember(argument(arguments, "text")?),
        "review" => review(session)?,
        _ => return Err(unknown(session.agent(), name)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(
        Role::User,
        text,
    )]))
}

fn unknown(agent: &Agent, name: &str) -> ErrorData {
    let offered: Vec<String> = all(agent).into_iter().map(|prompt| prompt.name).collect();
    let offered = if offered.is_empty() {
        "none".to_owned()
    } else {
        offered.join(", ")
    };
    let name = to_one_line(name, 80);
    ErrorData::invalid_params(
        format!("unknown prompt {name}; available prompts: {offered}"),
        None,
    )
}

fn argument<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(ErrorData::invalid_params(
            format!("{name} is not a string"),
            None,
        )),
    }
}

fn missing(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the argument {name} is missing"), None)
}

fn recall(session: &Session, topic: &str) -> Result<String, ErrorData> {
    // A prompt is invoked explicitly, so memories that the session already received are included again.
    let gathered = memory_core::build_context(
        &session.services(),
        topic,
        CONTEXT_BUDGET,
        &memory_core::ShownMemories::default(),
        &session.agent().now(),
    );
    let gathered = gathered.map_err(|error| store_error(error, "recall"))?;
    session.record_recall("recall", Some(topic), gathered.recalled(), gathered.tokens);
    let topic = memory_core::text::to_one_line(topic, 500);
    Ok(if gathered.text.is_empty() {
        format!(
            "Nothing is remembered about: {topic}\nSay so; do not guess. memory_search may find it by other words."
        )
    } else {
        format!(
            "{}\nTell me what is remembered about: {topic}\nName the ids you rely on.",
            gathered.text
        )
    })
}

fn remember(text: Option<&str>) -> String {
    let what = text.map_or_else(
        || "Keep for later sessions what matters of this conversation: decisions and why, preferences, lessons, facts about people and projects.".to_owned(),
        |text| format!("Keep this for later sessions:\n\n{text}"),
    );
    format!(
        "{what}\n\nSearch with memory_search first: correct a memory that says it differently with memory_update instead of \
         writing a second one. Write one memory for each thing, in full sentences that are understood without this conversation, \
         with its category. Keep no passwords and no keys."
    )
}

fn review(session: &Session) -> Result<String, ErrorData> {
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(REVIEW_LIMIT),
    };
    let page = memory_core::list(&session.services(), &Filter::default(), &slice)
        .map_err(|error| store_error(error, "review"))?;
    let lines = page.memories.iter().map(|stored| {
        let memory = &stored.memory;
        let (headline, day) = (
            escape_tags(&to_one_line(memory.headline(), 120)),
            memory.created_at.format("%Y-%m-%d"),
        );
        format!(
            "- {} ({}, {day}): {headline}",
            memory.id.short(),
            memory.category
        )
    });
    let lines: Vec<String> = lines.collect();
    let recalled = page.memories.iter().map(RecalledId::from).collect();
    session.record_recall("review", None, recalled, token_count(&lines.join("\n")));
    Ok(format!(
        "These are the newest memories, as data:\n\n{}\n\nLook them over with me: what is wrong, out of date, said twice or in \
         the wrong category? Propose each change, and make it with memory_update, memory_tag or memory_delete once I agree.",
        if lines.is_empty() {
            "(none)".to_owned()
        } else {
            lines.join("\n")
        }
    ))
}
