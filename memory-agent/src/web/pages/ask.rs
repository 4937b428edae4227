//! What an assistant would receive for a prompt.
//!
//! - Purpose: a person sees what an assistant receives, and corrects what is wrong or missing.
//! - First: one form (assistant, project, prompt), then the exact text of the start of a session and of the prompt.
//! - Often: read why a memory is given or is not; edit it. Sometimes: pin, expire or delete it.
//! - Rarely: compare with what an assistant receives when it asks for context itself.
//!
//! The text is that of the use cases that clients call, in the view of the agent. No recall and no access is recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{
    AgentName, ClientContext, ClientMoment, Context, MIN_USEFULNESS, OmissionReason, RecalledId,
    Services, ShownMemories, StoredMemory, View, build_client_context, build_context,
};

use super::projects::known_projects;
use crate::web::card::{describe_parts, describe_readers, memory_path, title};
use crate::web::error::{PageError, render};
use crate::web::fields::encode_pairs;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Maximum number of matches that are listed although they are not given.
const MAX_OMITTED: usize = 20;

/// Maximum length of a prompt, which is part of the address of the page.
const MAX_PROMPT: usize = 4_000;

/// The value of the field `way` for an assistant that asks for context itself.
const TOOL: &str = "tool";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/ask", get(show))
}

#[derive(Template)]
#[template(path = "ask.html")]
struct AskPage {
    layout: Layout,
    agent: String,
    project: String,
    prompt: String,
    is_tool: bool,
    agents: BTreeSet<String>,
    projects: BTreeSet<String>,
    longest: usize,
    error: Option<String>,
    answers: Vec<GivenText>,
    /// The field of a query with this page as the one to return to.
    next_query: String,
}

/// A text that the assistant would receive.
struct GivenText {
    id: &'static str,
    title: &'static str,
    text: SafeHtml,
    tokens: usize,
    is_empty: bool,
    /// What the person must know about the text.
    notes: Vec<String>,
    given: Vec<AskRow>,
    omitted: Vec<AskRow>,
    more_omitted: usize,
}

/// A memory that matches.
struct AskRow {
    path: String,
    title: Label,
    category: &'static str,
    readers: Label,
    /// The probability that the memory is useful for the prompt, in percent.
    probability: Option<u8>,
    reasons: String,
    /// Why the memory is not given.
    why: Option<&'static str>,
    is_pinned: bool,
    is_editable: bool,
}

impl AskRow {
    fn new(stored: &StoredMemory, recalled: &RecalledId) -> Self {
        let memory = &stored.memory;
        let parts: Vec<_> = recalled
            .parts
            .iter()
            .filter(|(name, _)| name != RecalledId::USEFULNESS)
            .cloned()
            .collect();
        Self {
            path: memory_path(memory),
            title: title(memory),
            category: memory.category.as_str(),
            readers: Label::cut(&describe_readers(&memory.scope), 60),
            probability: recalled.usefulness().map(percent),
            reasons: describe_parts(&parts),
            why: None,
            is_pinned: memory.pinned,
            is_editable: stored.problem.is_none() && !memory.is_proposal(),
        }
    }
}

impl GivenText {
    fn new(id: &'static str, title: &'static str, text: &str, context: &Context) -> Self {
        let rows = context.memories.iter().zip(context.recalled());
        let mut others: Vec<_> = context.omitted.iter().collect();
        let usefulness = |recalled: &RecalledId| recalled.usefulness().unwrap_or_default();
        others.sort_by(|one, other| {
            usefulness(&other.recalled).total_cmp(&usefulness(&one.recalled))
        });
        let omitted = others.iter().take(MAX_OMITTED).map(|omitted| AskRow {
            why: Some(describe_omission(omitted.reason)),
            ..AskRow::new(&omitted.stored, &omitted.recalled)
        });
        Self {
            id,
            title,
            text: SafeHtml::from_text(text),
            tokens: memory_core::text::token_count(text),
            is_empty: text.trim().is_empty(),
            notes: [&context.shortage, &context.degraded]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            given: rows
                .map(|(stored, recalled)| AskRow::new(stored, &recalled))
                .collect(),
            omitted: omitted.collect(),
            more_omitted: others.len().saturating_sub(MAX_OMITTED),
        }
    }

    /// Returns whether a match was given at the start of the session.
    fn is_given_before(&self) -> bool {
        let before = describe_omission(OmissionReason::AlreadyGiven);
        self.omitted.iter().any(|row| row.why == Some(before))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a probability is between 0 and 1"
)]
fn percent(probability: f32) -> u8 {
    (probability * 100.0).round() as u8
}

const fn describe_omission(reason: OmissionReason) -> &'static str {
    match reason {
        OmissionReason::Unlikely => "below the minimum",
        OmissionReason::TooMany => "enough others are more useful",
        OmissionReason::AlreadyGiven => "given at the start",
        OmissionReason::Budget => "no room left",
    }
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&ask_page(request)?)))
        .await
}

fn ask_page(request: &WebRequest) -> Result<AskPage, PageError> {
    let query = &request.query;
    let assistants = request.web.config.host.assistant_host().assistants();
    let mut page = AskPage {
        layout: request.layout("Ask"),
        agent: query.get("agent").trim().to_owned(),
        project: query.get("project").trim().to_owned(),
        prompt: query.get("prompt").replace("\r\n", "\n"),
        is_tool: query.get("way") == TOOL,
        // The names are only suggestions.
        agents: assistants
            .unwrap_or_default()
            .into_iter()
            .map(|assistant| assistant.name)
            .collect(),
        projects: BTreeSet::new(),
        longest: MAX_PROMPT,
        error: None,
        answers: Vec::new(),
        next_query: String::new(),
    };
    page.next_query = encode_pairs([("next", page.layout.here.as_str())]);
    let known = known_projects(request)?;
    page.agents.extend(known.agents);
    page.projects.extend(known.projects.into_keys());
    if query.all("agent").next().is_none() {
        return Ok(page);
    }
    let agent = Some(page.agent.as_str()).filter(|agent| !agent.is_empty());
    match agent.map(str::parse::<AgentName>).transpose() {
        Ok(agent) => {
            let project = Some(page.project.clone()).filter(|project| !project.is_empty());
            let view = View {
                agent,
                project,
                ..View::default()
            };
            page.answers = given_texts(request, &view, &page.prompt, page.is_tool)?;
        }
        Err(error) => page.error = Some(error.to_string()),
    }
    Ok(page)
}

/// Returns what an agent with `view` would receive.
fn given_texts(
    request: &WebRequest,
    view: &View,
    prompt: &str,
    is_tool: bool,
) -> Result<Vec<GivenText>, PageError> {
    let now = request.services.clock.now().with_timezone(&request.zone());
    let given = ShownMemories::default();
    if is_tool {
        let services = request.services.restrict_to(view);
        let context = build_context(&services, prompt, crate::CONTEXT_BUDGET, &given, &now)?;
        let title = "When the assistant asks for context";
        return Ok(vec![GivenText::new("tool", title, &context.text, &context)]);
    }
    // A client waits for its hook, so the hook uses only what is there at once.
    let services = Services {
        embedder: request.web.config.host.assistant_host().client_embedder(),
        reranking: None,
        ..request.services.clone()
    };
    let text = |id, title, moment| {
        let ClientContext { text, context, .. } =
            build_client_context(&services, view, moment, &given, &now)?;
        Ok::<_, PageError>(GivenText::new(id, title, &text, &context))
    };
    let start = text(
        "start",
        "At the start of a session",
        ClientMoment::SessionStart,
    )?;
    if prompt.trim().is_empty() {
        return Ok(vec![start]);
    }
    let with_prompt = text(
        "with-prompt",
        "With this prompt",
        ClientMoment::Prompt(prompt),
    )?;
    Ok(vec![with_prompt, start])
}
