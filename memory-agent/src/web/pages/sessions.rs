//! The sessions of agents: what each of them received and wrote.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use chrono::{Days, NaiveDate};
use memory_core::{AgentSession, MemoryId, RecallFilter, RecallRecord, RecalledId, StoreError, recalls, sessions};

use super::inbox::Pager;
use crate::web::error::{PageError, render};
use crate::web::fields::encode_pairs;
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::operations::OperationRow;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Number of days that the list covers.
const DAYS: u64 = 30;

/// Number of sessions of a page.
const PAGE: usize = 40;

/// Maximum number of recalls and of operations of a session that are listed.
const MAX_LISTED: usize = 200;

/// The actors that are not agents.
const PEOPLE: [&str; 7] = ["cli", "web", "api", "daemon", "proxy", "external", "http"];

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/sessions", get(show)).route("/sessions/show", get(show_one))
}

/// A session as a row.
struct SessionRow {
    path: String,
    agent: Label,
    session: Option<Label>,
    project: Option<Label>,
    first: TimeLabel,
    last: TimeLabel,
    recalls: u64,
    memories: usize,
    tokens: u64,
    operations: usize,
}

impl SessionRow {
    fn new(request: &WebRequest, session: &AgentSession) -> Self {
        let day = session.first.date_naive().to_string();
        let name = session.session.as_deref();
        let fields = [("agent", session.agent.as_str()), name.map_or(("day", day.as_str()), |name| ("session", name))];
        Self {
            path: format!("/sessions/show?{}", encode_pairs(fields)),
            agent: Label::cut(if session.agent.is_empty() { "unknown agent" } else { &session.agent }, 60),
            session: name.map(|name| Label::cut(name, 24)),
            project: session.project.as_deref().map(|project| Label::cut(project, 40)),
            first: TimeLabel::exact(request.local(session.first)),
            last: TimeLabel::exact(request.local(session.last)),
            recalls: session.recalls,
            memories: session.memories.len(),
            tokens: session.tokens,
            operations: session.operations.len(),
        }
    }
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    layout: Layout,
    rows: Vec<SessionRow>,
    agent: String,
    days: u64,
    pager: Pager,
    today: Summary,
}

/// The sums of all sessions of today.
#[derive(Default)]
struct Summary {
    sessions: usize,
    recalls: u64,
    tokens: u64,
    operations: usize,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let now = request.services.clock.now();
            let agent = request.query.text("agent").map(str::to_owned);
            let filter = RecallFilter { agent: agent.clone(), from: Some(now - Days::new(DAYS)), ..RecallFilter::default() };
            let found = list_sessions(request, &filter)?;
            let today = request.local(now).date_naive();
            let mut summary = Summary::default();
            for session in found.iter().filter(|session| request.local(session.last).date_naive() == today) {
                summary.sessions += 1;
                summary.recalls += session.recalls;
                summary.tokens += session.tokens;
                summary.operations += session.operations.len();
            }
            let page = Pager::page(request);
            let page = SessionsPage {
                layout: request.layout("Sessions"),
                rows: found.iter().skip(page * PAGE).take(PAGE).map(|session| SessionRow::new(request, session)).collect(),
                agent: agent.unwrap_or_default(),
                days: DAYS,
                pager: Pager::new(request, page, PAGE, found.len() as u64),
                today: summary,
            };
            Ok(render(&page))
        })
        .await
}

fn list_sessions(request: &WebRequest, filter: &RecallFilter) -> Result<Vec<AgentSession>, PageError> {
    request.with_logs(|logs| sessions(request.web.config.recalls.as_ref(), logs, filter, &PEOPLE))
}

/// A recall of a session.
struct RecallRow {
    time: TimeLabel,
    tool: Label,
    query: Option<Label>,
    tokens: u64,
    memories: Vec<RecalledRow>,
}

/// A memory of a recall.
struct RecalledRow {
    path: String,
    headline: Label,
    score: Option<String>,
    /// The parts of the score, the largest first.
    reasons: String,
    exists: bool,
}

impl RecallRow {
    fn new(request: &WebRequest, recall: &RecallRecord) -> Result<Self, PageError> {
        Ok(Self {
            time: TimeLabel::exact(request.local(recall.at)),
            tool: Label::cut(&format!("{} over {}", recall.tool, recall.interface), 80),
            query: recall.query.as_deref().map(|query| Label::cut(query, 300)),
            tokens: recall.tokens,
            memories: recall.memories.iter().map(|memory| RecalledRow::new(request, memory)).collect::<Result<_, _>>()?,
        })
    }
}

impl RecalledRow {
    fn new(request: &WebRequest, recalled: &RecalledId) -> Result<Self, PageError> {
        let stored = match recalled.id.parse::<MemoryId>().map(|id| request.services.store.get(&id)) {
            Ok(Ok(stored)) => Some(stored),
            // The entries of conversations have other ids.
            Err(_) | Ok(Err(StoreError::NotFound { .. } | StoreError::Damaged(_))) => None,
            Ok(Err(error)) => return Err(error.into()),
        };
        let headline = stored.as_ref().map_or(recalled.id.as_str(), |stored| stored.memory.headline());
        let part = |(name, score): &(String, f32)| format!("{name} {score:.2}");
        Ok(Self {
            path: format!("/memories/{}", crate::web::fields::encode(&recalled.id)),
            headline: Label::cut(headline, 140),
            score: recalled.score.map(|score| format!("{score:.2}")),
            reasons: recalled.parts.iter().take(4).map(part).collect::<Vec<_>>().join(", "),
            exists: stored.is_some(),
        })
    }
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    layout: Layout,
    row: SessionRow,
    recalls: Vec<RecallRow>,
    more_recalls: u64,
    operations: Vec<OperationRow>,
    more_operations: usize,
}

async fn show_one(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let name = request.query.text("session").map(str::to_owned);
            let day = request.query.text("day").map(str::parse::<NaiveDate>).transpose();
            let day = day.map_err(|_| PageError::invalid("the day is not a date such as 2026-05-31"))?;
            let start = day.and_then(|day| day.and_hms_opt(0, 0, 0)).map(|start| start.and_utc());
            let filter = RecallFilter {
                agent: Some(request.query.get("agent").to_owned()),
                session: name.clone(),
                from: start.or_else(|| Some(request.services.clock.now() - Days::new(400))),
                to: start.map(|start| start + Days::new(1)),
                ..RecallFilter::default()
            };
            let is_it = |session: &AgentSession| session.session == name;
            let found = list_sessions(request, &filter)?.into_iter().find(is_it);
            let found = found.ok_or_else(|| {
                let hint = "the records of old sessions are deleted after some time; see the list of sessions";
                PageError::new(memory_core::Code::SessionNotFound, "there is no record of this session", hint)
            })?;
            let mut received = recalls(request.web.config.recalls.as_ref(), &filter, MAX_LISTED)?;
            received.recalls.retain(|recall| recall.session == name);
            received.recalls.reverse();
            let page = SessionPage {
                layout: request.layout("Session"),
                row: SessionRow::new(request, &found),
                more_recalls: found.recalls.saturating_sub(received.recalls.len() as u64),
                recalls: received.recalls.iter().map(|recall| RecallRow::new(request, recall)).collect::<Result<_, _>>()?,
                more_operations: found.operations.len().saturating_sub(MAX_LISTED),
                operations: found
                    .operations
                    .iter()
                    .take(MAX_LISTED)
                    .map(|entry| OperationRow::new(request, entry))
                    .collect::<Result<_, _>>()?,
            };
            Ok(render(&page))
        })
        .await
}
