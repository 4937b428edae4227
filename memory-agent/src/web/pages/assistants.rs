//! The assistants on this machine: whether they use the memories, what they received and wrote, and the review of their changes.
//!
//! - Purpose: a person connects an assistant, and sees what each one does with the memories.
//! - First: one card for each assistant that is found here, with its state and one button.
//! - Once: connect it; before anything is written, a page shows which lines of which files change.
//! - Often: when it was last seen, and how much it received and wrote. Sometimes: its sessions, or what it would be told.
//! - Rarely: switch whether its changes wait for a review; disconnect it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    AgentName, AgentSession, Code, RecallFilter, ReviewPolicy, Scope, Verb, WritePolicy,
    subtract_time,
};

use super::sessions::{DAYS, list_sessions};
use crate::web::assistant_host::{Assistant, Connection, ConnectionChange, ConnectionPlan};
use crate::web::error::{PageError, render};
use crate::web::fields::encode_pairs;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::{CONNECTION_CHANGED, Layout};
use crate::web::operations::is_agent;
use crate::web::request::{WebRequest, redirect_with_notice};
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/assistants", get(show))
        .route("/assistants/review", post(change_review))
        .route("/assistants/{name}/{change}", get(show_plan).post(apply))
}

/// What an agent did in the last [`DAYS`] days.
#[derive(Default)]
pub(super) struct AgentActivity {
    pub(super) last: Option<DateTime<Utc>>,
    pub(super) sessions: usize,
    /// The ids of the memories that it received.
    received: BTreeSet<String>,
    tokens: u64,
    written: usize,
    proposed: usize,
}

impl AgentActivity {
    pub(super) fn add(&mut self, session: &AgentSession) {
        let count = |verb: Verb| {
            let own = session.operations.iter();
            own.filter(|entry| entry.operation.verb == verb).count()
        };
        self.last = self.last.max(Some(session.last));
        self.sessions += 1;
        self.received.extend(session.memories.iter().cloned());
        self.tokens += session.tokens;
        self.written += count(Verb::Write);
        self.proposed += count(Verb::Propose);
    }
}

/// Returns the sessions of the last [`DAYS`] days.
pub(super) fn recent_sessions(request: &WebRequest) -> Result<Vec<AgentSession>, PageError> {
    let filter = RecallFilter {
        from: Some(subtract_time(
            request.services.clock.now(),
            TimeDelta::days(DAYS),
        )),
        ..RecallFilter::default()
    };
    list_sessions(request, &filter)
}

/// An agent with its activity, as a row.
pub(super) struct AgentRow {
    pub(super) name: Label,
    /// The fields of a query that select the agent.
    pub(super) query: String,
    pub(super) by_query: String,
    pub(super) last: Option<TimeLabel>,
    pub(super) sessions: usize,
    pub(super) received: usize,
    pub(super) tokens: u64,
    pub(super) written: usize,
    pub(super) proposed: usize,
}

impl AgentRow {
    pub(super) fn new(request: &WebRequest, name: &str, activity: &AgentActivity) -> Self {
        Self {
            name: Label::cut(name, 64),
            query: encode_pairs([("agent", name)]),
            by_query: encode_pairs([("by", name)]),
            last: activity.last.map(|last| {
                TimeLabel::new(
                    request.local(last),
                    request.local(request.services.clock.now()),
                )
            }),
            sessions: activity.sessions,
            received: activity.received.len(),
            tokens: activity.tokens,
            written: activity.written,
            proposed: activity.proposed,
        }
    }
}

/// An assistant, or another agent that uses the memories, as a card.
struct AssistantCard {
    /// The path of the pages that change the connection, if the program can connect it.
    path: Option<String>,
    title: Label,
    is_present: bool,
    connection: Option<Result<Connection, Label>>,
    row: AgentRow,
    /// The treatment of its changes, if the name is that of an agent.
    review: Option<ReviewSwitch>,
}

impl AssistantCard {
    fn is_connected(&self) -> bool {
        matches!(self.connection, Some(Ok(state)) if state != Connection::Absent)
    }

    fn is_outdated(&self) -> bool {
        matches!(self.connection, Some(Ok(Connection::Different)))
    }

    fn problem(&self) -> Option<&Label> {
        self.connection
            .as_ref()
            .and_then(|state| state.as_ref().err())
    }
}

/// The switch of a review.
struct ReviewSwitch {
    /// The name of the agent; empty for the changes that no rule covers.
    agent: String,
    is_on: bool,
    /// Whether rules decide by the readers of a memory.
    is_mixed: bool,
}

impl ReviewSwitch {
    fn of_agent(policy: &ReviewPolicy, agent: &AgentName) -> Self {
        let scopes = [
            Scope::Global,
            Scope::Agent(agent.as_str().to_owned()),
            // No project has this name, so only rules for all projects cover it.
            Scope::Project(String::new()),
        ];
        let reviewed =
            scopes.map(|scope| policy.decide(Some(agent), &scope) == WritePolicy::Propose);
        Self {
            agent: agent.as_str().to_owned(),
            is_on: reviewed[0],
            is_mixed: reviewed.contains(&true) && reviewed.contains(&false),
        }
    }
}

#[derive(Template)]
#[template(path = "assistants.html")]
struct AssistantsPage {
    layout: Layout,
    cards: Vec<AssistantCard>,
    /// The other assistants that the program can connect: title and path.
    absent: Vec<(Label, String)>,
    default_review: ReviewSwitch,
    rules: Vec<Label>,
    days: i64,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let host = request.web.config.host.assistant_host();
            let policy = host.review()?;
            let mut activities = BTreeMap::<String, AgentActivity>::new();
            for session in recent_sessions(request)? {
                let activity = activities.entry(session.agent.clone()).or_default();
                activity.add(&session);
            }
            let (mut cards, mut absent) = (Vec::new(), Vec::new());
            for assistant in host.assistants()? {
                let activity = activities.remove(&assistant.name);
                let path = format!("/assistants/{}", assistant.name);
                let is_shown = assistant.is_present
                    || activity.is_some()
                    || assistant.connection != Ok(Connection::Absent);
                if is_shown {
                    let activity = activity.unwrap_or_default();
                    let row = AgentRow::new(request, &assistant.name, &activity);
                    cards.push(AssistantCard::of_assistant(assistant, path, row, &policy));
                } else {
                    absent.push((Label::new(&assistant.title), path));
                }
            }
            // The connected ones come first; the others keep their order.
            cards.sort_by_key(|card| !card.is_connected());
            let others = activities.iter().filter(|(name, _)| is_agent(name));
            cards.extend(others.map(|(name, activity)| AssistantCard {
                path: None,
                title: Label::cut(name, 64),
                is_present: true,
                connection: None,
                row: AgentRow::new(request, name, activity),
                review: switch_of(&policy, name),
            }));
            let page = AssistantsPage {
                layout: request.layout("Assistants"),
                cards,
                absent,
                default_review: ReviewSwitch {
                    agent: String::new(),
                    is_on: policy.default == WritePolicy::Propose,
                    is_mixed: false,
                },
                rules: policy
                    .rules
                    .iter()
                    .map(|rule| Label::cut(&rule.to_string(), 120))
                    .collect(),
                days: DAYS,
            };
            Ok(render(&page))
        })
        .await
}

fn switch_of(policy: &ReviewPolicy, name: &str) -> Option<ReviewSwitch> {
    let agent = name.parse::<AgentName>().ok()?;
    Some(ReviewSwitch::of_agent(policy, &agent))
}

impl AssistantCard {
    fn of_assistant(
        assistant: Assistant,
        path: String,
        row: AgentRow,
        policy: &ReviewPolicy,
    ) -> Self {
        Self {
            path: Some(path),
            title: Label::new(&assistant.title),
            is_present: assistant.is_present,
            connection: Some(assistant.connection.map_err(|why| Label::new(&why))),
            row,
            review: switch_of(policy, &assistant.name),
        }
    }
}

/// Sets the review of the field `agent` to the field `policy`; without an agent, that of changes that no rule covers.
async fn change_review(request: WebRequest) -> Response {
    request
        .respond(|request| {
            request.check_on_computer()?;
            let agent = request.form.text("agent").map(str::parse).transpose()?;
            let policy = request.form.get("policy").parse()?;
            let host = request.web.config.host.assistant_host();
            host.set_review(agent.as_ref(), policy)?;
            Ok(request.redirect("/assistants"))
        })
        .await
}

#[derive(Template)]
#[template(path = "assistant_connection.html")]
struct ConnectionPage {
    layout: Layout,
    path: String,
    title: Label,
    is_connection: bool,
    replaces: bool,
    /// What would be written, or why it cannot be, and whether an entry of another program is in the way.
    plan: Result<PlanView, (Label, bool)>,
    /// Whether the files were changed after the person saw another plan.
    is_changed: bool,
}

struct PlanView {
    /// The files that change: path, what happens, and the lines.
    files: Vec<(Label, &'static str, SafeHtml)>,
    note: Option<Label>,
    fingerprint: String,
}

impl PlanView {
    fn new(plan: &ConnectionPlan) -> Self {
        let changed = plan.files.iter().filter(|file| file.change != "unchanged");
        Self {
            files: changed
                .map(|file| {
                    let path = Label::new(&file.path.display().to_string());
                    (path, file.change, SafeHtml::from_text(&file.diff))
                })
                .collect(),
            note: plan.note.as_deref().map(Label::new),
            fingerprint: plan.fingerprint.clone(),
        }
    }
}

/// Returns the assistant with a name.
fn find_assistant(request: &WebRequest, name: &str) -> Result<Assistant, PageError> {
    let host = request.web.config.host.assistant_host();
    let found = host.assistants()?.into_iter().find(|own| own.name == name);
    found.ok_or_else(|| {
        PageError::new(
            Code::PathNotFound,
            "there is no assistant with this name",
            "choose one from the list of assistants",
        )
    })
}

/// Returns the change that the last part of a path names.
fn parse_change(change: &str, replaces: bool) -> Result<ConnectionChange, PageError> {
    match change {
        "connect" => Ok(ConnectionChange::Connect { replaces }),
        "disconnect" => Ok(ConnectionChange::Disconnect),
        _ => Err(PageError::new(
            Code::PathNotFound,
            "there is no such page",
            "choose an assistant from the list",
        )),
    }
}

fn connection_page(
    request: &WebRequest,
    name: &str,
    change: ConnectionChange,
    is_changed: bool,
) -> Result<Response, PageError> {
    let assistant = find_assistant(request, name)?;
    let host = request.web.config.host.assistant_host();
    let is_connection = change != ConnectionChange::Disconnect;
    let verb = if is_connection {
        "Connect"
    } else {
        "Disconnect"
    };
    let plan = host.plan_connection(name, change);
    Ok(render(&ConnectionPage {
        layout: request.layout(&format!("{verb} {}", assistant.title)),
        path: request.path.clone(),
        title: Label::new(&assistant.title),
        is_connection,
        replaces: change == ConnectionChange::Connect { replaces: true },
        plan: plan.map(|plan| PlanView::new(&plan)).map_err(|error| {
            let is_taken = is_connection && error.code == Code::Conflict;
            (Label::new(&error.message), is_taken)
        }),
        is_changed,
    }))
}

async fn show_plan(Path((name, change)): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let change = parse_change(&change, request.query.get("replace") == "yes")?;
            connection_page(request, &name, change, false)
        })
        .await
}

async fn apply(Path((name, change)): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            request.check_on_computer()?;
            let change = parse_change(&change, request.form.get("replace") == "yes")?;
            find_assistant(request, &name)?;
            let host = request.web.config.host.assistant_host();
            let is_done = host.change_connection(&name, change, request.form.get("fingerprint"))?;
            if is_done {
                Ok(redirect_with_notice("/assistants", CONNECTION_CHANGED))
            } else {
                connection_page(request, &name, change, true)
            }
        })
        .await
}
