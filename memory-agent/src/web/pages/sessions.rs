//! The sessions of agents: what each of them received and wrote.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    AgentSession, Memory, MemoryId, RecallFilter, RecallRecord, RecalledId, StoreError, add_time,
    memory_at, parse_day, recalls, sessions, subtract_time,
};

use crate::web::card::describe_parts;
use crate::web::error::{PageError, render};
use crate::web::fields::{encode, encode_pairs};
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::operations::{OperationRow, PEOPLE};
use crate::web::pager::Pager;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::{TimeLabel, describe_duration};

/// Number of days that the list covers.
pub(super) const DAYS: i64 = 30;

/// Number of days in which a single session is looked up.
const LOOKUP_DAYS: i64 = 400;

/// Number of sessions of a page.
const PAGE: usize = 20;

/// Maximum number of questions, of memories and of changes of a session in the list.
const MAX_SUMMARY: usize = 5;

/// Maximum number of recalls and of operations of a session that are listed.
const MAX_LISTED: usize = 200;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/sessions", get(show))
        .route("/sessions/show", get(show_one))
}

/// A session as a row.
pub(super) struct SessionRow {
    pub(super) path: String,
    pub(super) agent: Label,
    session: Option<Label>,
    project: Option<Label>,
    pub(super) first: TimeLabel,
    last: TimeLabel,
    pub(super) duration: String,
    questions: usize,
    recalls: u64,
    pub(super) memories: usize,
    pub(super) tokens: u64,
    operations: usize,
    /// Whether the operations belong to the session by their time alone.
    is_probable: bool,
}

/// A session in the list, with the first questions, memories and changes.
struct AgentSessionView {
    row: SessionRow,
    questions: Vec<Label>,
    more_questions: usize,
    given: Vec<RecalledRow>,
    more_given: usize,
    changes: Vec<OperationRow>,
    more_changes: usize,
}

impl AgentSessionView {
    fn new(request: &WebRequest, session: &AgentSession) -> Result<Self, PageError> {
        let more = |count: usize| count.saturating_sub(MAX_SUMMARY);
        let given = session
            .memories
            .iter()
            .take(MAX_SUMMARY)
            .map(|id| RecalledRow::new(request, &RecalledId::unranked(id), session.last));
        let changes = session
            .operations
            .iter()
            .take(MAX_SUMMARY)
            .map(|entry| OperationRow::new(request, entry));
        Ok(Self {
            row: SessionRow::new(request, session),
            questions: session
                .queries
                .iter()
                .take(MAX_SUMMARY)
                .map(|query| Label::cut(query, 160))
                .collect(),
            more_questions: more(session.queries.len()),
            given: given.collect::<Result<_, _>>()?,
            more_given: more(session.memories.len()),
            changes: changes.collect::<Result<_, _>>()?,
            more_changes: more(session.operations.len()),
        })
    }
}

impl SessionRow {
    pub(super) fn new(request: &WebRequest, session: &AgentSession) -> Self {
        let day = session.first.date_naive().to_string();
        let name = session.session.as_deref();
        let fields = [
            ("agent", session.agent.as_str()),
            name.map_or(("day", day.as_str()), |name| ("session", name)),
        ];
        Self {
            path: format!("/sessions/show?{}", encode_pairs(fields)),
            agent: agent_label(&session.agent),
            session: name.map(|name| Label::cut(name, 24)),
            project: session
                .project
                .as_deref()
                .map(|project| Label::cut(project, 40)),
            first: TimeLabel::exact(request.local(session.first)),
            last: TimeLabel::clock_time(request.local(session.last)),
            duration: describe_duration(session.last - session.first),
            questions: session.queries.len(),
            recalls: session.recalls,
            memories: session.memories.len(),
            tokens: session.tokens,
            operations: session.operations.len(),
            is_probable: session.has_probable_operations(),
        }
    }
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    layout: Layout,
    sessions: Vec<AgentSessionView>,
    agent: String,
    /// The project of the listed sessions, if it is selected.
    project: Option<(Label, String)>,
    /// The agents with sessions: label, name, and whether the agent is selected.
    agents: Vec<(Label, String, bool)>,
    days: i64,
    pager: Pager,
}

/// Returns the label of the name of an agent.
pub(super) fn agent_label(agent: &str) -> Label {
    Label::cut(
        if agent.is_empty() {
            "unknown agent"
        } else {
            agent
        },
        60,
    )
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let now = request.services.clock.now();
            let agent = request.query.text("agent").map(str::to_owned);
            let filter = RecallFilter {
                from: Some(subtract_time(now, TimeDelta::days(DAYS))),
                ..RecallFilter::default()
            };
            let mut found = list_sessions(request, &filter)?;
            let agents: BTreeSet<String> =
                found.iter().map(|session| session.agent.clone()).collect();
            let is_selected = |name: &str| {
                agent
                    .as_deref()
                    .is_some_and(|agent| name.eq_ignore_ascii_case(agent))
            };
            let project = request.query.text("project");
            found.retain(|session| {
                (agent.is_none() || is_selected(&session.agent))
                    && project.is_none_or(|own| session.project.as_deref() == Some(own))
            });
            let page = Pager::page(request);
            let page = SessionsPage {
                layout: request.layout("Sessions"),
                sessions: found
                    .iter()
                    .skip(page * PAGE)
                    .take(PAGE)
                    .map(|session| AgentSessionView::new(request, session))
                    .collect::<Result<_, _>>()?,
                agents: agents
                    .into_iter()
                    .filter(|name| !name.is_empty())
                    .map(|name| (agent_label(&name), name.clone(), is_selected(&name)))
                    .collect(),
                agent: agent.clone().unwrap_or_default(),
                project: project.map(|project| (Label::cut(project, 60), project.to_owned())),
                days: DAYS,
                pager: Pager::new(request, page, PAGE, found.len() as u64),
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the sessions of agents that `filter` selects, the latest first.
pub(super) fn list_sessions(
    request: &WebRequest,
    filter: &RecallFilter,
) -> Result<Vec<AgentSession>, PageError> {
    request.with_logs(|logs| sessions(request.web.config.recalls.as_ref(), logs, filter, &PEOPLE))
}

/// A recall of a session.
struct RecallRow {
    time: TimeLabel,
    tool: Label,
    query: Option<Label>,
    tokens: u64,
    /// The first memories.
    memories: Vec<RecalledRow>,
    /// The other memories, which are folded.
    more: Vec<RecalledRow>,
}

/// A memory of a recall.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
struct RecalledRow {
    path: String,
    headline: Label,
    /// The parts that contributed most to the score, in words.
    reasons: String,
    exists: bool,
    /// Whether the memory is deleted, and its page shows the former text.
    is_deleted: bool,
    /// Whether the text was changed since.
    is_changed: bool,
    /// Whether an earlier answer of the session contained the memory.
    is_repeated: bool,
}

impl RecallRow {
    /// Returns the row of a recall. `given` are the memories of the earlier recalls of the session.
    fn new(
        request: &WebRequest,
        recall: &RecallRecord,
        given: &mut HashSet<String>,
    ) -> Result<Self, PageError> {
        let mut row = |memory: &RecalledId| {
            let is_repeated = !given.insert(memory.id.clone());
            Ok(RecalledRow {
                is_repeated,
                ..RecalledRow::new(request, memory, recall.at)?
            })
        };
        let mut memories = recall
            .memories
            .iter()
            .map(&mut row)
            .collect::<Result<Vec<_>, PageError>>()?;
        let more = memories.split_off(memories.len().min(MAX_SUMMARY));
        Ok(Self {
            time: TimeLabel::clock_time(request.local(recall.at)),
            tool: Label::cut(&format!("{} over {}", recall.tool, recall.interface), 80),
            query: recall.query.as_deref().map(|query| Label::cut(query, 300)),
            tokens: recall.tokens,
            memories,
            more,
        })
    }
}

impl RecalledRow {
    /// Returns the row of a memory that was given at a time, with the text of that time.
    fn new(
        request: &WebRequest,
        recalled: &RecalledId,
        at: DateTime<Utc>,
    ) -> Result<Self, PageError> {
        // The entries of conversations have other ids.
        let id = recalled.id.parse::<MemoryId>().ok();
        let stored = match id.map(|id| request.services.store.get(&id)) {
            Some(Ok(stored)) => Some(stored.memory),
            None | Some(Err(StoreError::NotFound { .. } | StoreError::Damaged(_))) => None,
            Some(Err(error)) => return Err(error.into()),
        };
        let is_current = stored
            .as_ref()
            .is_some_and(|memory| memory.updated_at <= at);
        let given = id
            .filter(|_| !is_current)
            .map(|id| memory_at(&request.services, &id, at))
            .transpose()?
            .flatten();
        let is_changed = given
            .as_ref()
            .zip(stored.as_ref())
            .is_some_and(|(given, stored)| given.content != stored.content);
        let headline = given
            .as_ref()
            .or(stored.as_ref())
            .map_or(recalled.id.as_str(), Memory::headline);
        Ok(Self {
            path: format!("/memories/{}", encode(&recalled.id)),
            headline: Label::cut(headline, 140),
            reasons: describe_parts(&recalled.parts),
            exists: stored.is_some(),
            is_deleted: stored.is_none() && given.is_some(),
            is_changed,
            is_repeated: false,
        })
    }
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    layout: Layout,
    row: SessionRow,
    /// The recalls and operations in the order of their times.
    steps: Vec<SessionStep>,
    more_recalls: u64,
    more_operations: usize,
}

/// A step of a session.
enum SessionStep {
    Received(RecallRow),
    Changed(OperationRow),
}

async fn show_one(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&session_page(request)?)))
        .await
}

fn session_page(request: &WebRequest) -> Result<SessionPage, PageError> {
    let name = request.query.text("session").map(str::to_owned);
    let day = request
        .query
        .text("day")
        .map(|text| {
            parse_day(text)
                .ok_or_else(|| PageError::invalid("the day is not a date such as 2026-05-31"))
        })
        .transpose()?;
    // All sessions of the agent are needed to assign its operations, as in the list.
    let all = RecallFilter {
        agent: Some(request.query.get("agent").to_owned()),
        from: Some(subtract_time(
            request.services.clock.now(),
            TimeDelta::days(LOOKUP_DAYS),
        )),
        ..RecallFilter::default()
    };
    let is_it = |session: &AgentSession| {
        session.session == name && day.is_none_or(|day| session.first.date_naive() == day)
    };
    let found = list_sessions(request, &all)?.into_iter().find(is_it);
    let found = found.ok_or_else(|| {
        let hint =
            "the records of old sessions are deleted after some time; see the list of sessions";
        PageError::new(
            memory_core::Code::SessionNotFound,
            "there is no record of this session",
            hint,
        )
    })?;
    let start = day
        .and_then(|day| day.and_hms_opt(0, 0, 0))
        .map(|start| start.and_utc());
    let own = RecallFilter {
        session: name.clone(),
        from: start.or(all.from),
        to: start.map(|start| add_time(start, TimeDelta::days(1))),
        ..all
    };
    let mut received = recalls(request.web.config.recalls.as_ref(), &own, MAX_LISTED)?.recalls;
    received.retain(|recall| recall.session == name);
    received.reverse();
    let mut given = HashSet::new();
    let mut steps = Vec::new();
    for recall in &received {
        steps.push((
            recall.at,
            SessionStep::Received(RecallRow::new(request, recall, &mut given)?),
        ));
    }
    for entry in found.operations.iter().take(MAX_LISTED) {
        steps.push((
            entry.operation.at,
            SessionStep::Changed(OperationRow::new(request, entry)?),
        ));
    }
    steps.sort_by_key(|(at, _)| *at);
    Ok(SessionPage {
        layout: request.layout("Session"),
        row: SessionRow::new(request, &found),
        more_recalls: found.recalls.saturating_sub(received.len() as u64),
        more_operations: found.operations.len().saturating_sub(MAX_LISTED),
        steps: steps.into_iter().map(|(_, step)| step).collect(),
    })
}
