//! The projects: what belongs to each of them.
//!
//! - Purpose: a person sees and opens all that concerns one project, instead of filtering each list for it.
//! - First: one card for each project with the numbers of its memories, sessions and agents.
//! - Often: its rules and newest memories, and what agents do in it; each number links to the list with this filter.
//! - Sometimes: what an assistant would receive in it, and its topics.
//! - Rarely: confirm a repository, so that agents in it receive the memories of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{DateTime, TimeDelta, Utc};
use memory_core::standing::{StandingFilter, StandingKind};
use memory_core::{
    Code, Filter, HomeSection, ListOrder, PageRequest, Query, RecallFilter, Scope, facets, list,
    subtract_time, topic,
};

use super::assistants::{AgentActivity, AgentRow, recent_sessions};
use super::sessions::{DAYS, SessionRow};
use crate::web::assistant_host::ProjectRepositories;
use crate::web::card::MemoryCard;
use crate::web::error::{PageError, render};
use crate::web::fields::{encode, encode_pairs};
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::operations::is_agent;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Maximum number of memories, of sessions and of topics on the page of a project.
const MAX_LISTED: usize = 5;

/// Maximum number of rules on the page of a project.
const MAX_RULES: usize = 20;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/projects", get(show))
        .route("/projects/show", get(show_one))
        .route("/projects/repository", post(confirm_repository))
}

/// The names that the home knows.
#[derive(Default)]
pub(super) struct KnownNames {
    pub(super) agents: BTreeSet<String>,
    /// The projects, with the number of their memories.
    pub(super) projects: BTreeMap<String, u64>,
}

/// Returns the agents and projects of the memories, of the recalls of the last [`DAYS`] days and of the repositories.
pub(super) fn known_projects(request: &WebRequest) -> Result<KnownNames, PageError> {
    let mut known = KnownNames::default();
    let notes = Filter {
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let counts = facets(&request.services, &Query::new("").filter(notes))?;
    for (scope, count) in counts.scopes {
        match scope {
            Scope::Project(name) => {
                known.projects.insert(name, count);
            }
            Scope::Agent(name) => {
                known.agents.insert(name);
            }
            _ => {}
        }
    }
    for project in request.web.config.host.assistant_host().projects()? {
        known.projects.entry(project.name).or_default();
    }
    let recent = RecallFilter {
        from: Some(subtract_time(
            request.services.clock.now(),
            TimeDelta::days(DAYS),
        )),
        ..RecallFilter::default()
    };
    for recall in request.web.config.recalls.recalls(&recent) {
        let recall = recall?;
        if is_agent(&recall.agent) {
            known.agents.insert(recall.agent);
        }
        if let Some(project) = recall.project {
            known.projects.entry(project).or_default();
        }
    }
    Ok(known)
}

/// A project as a card.
struct ProjectCard {
    path: String,
    name: Label,
    memories: u64,
    sessions: usize,
    agents: usize,
    last: Option<TimeLabel>,
    /// Whether a repository waits for a confirmation.
    has_candidates: bool,
}

#[derive(Template)]
#[template(path = "projects.html")]
struct ProjectsPage {
    layout: Layout,
    cards: Vec<ProjectCard>,
    days: i64,
}

/// The sessions in a project.
#[derive(Default)]
struct ProjectActivity {
    sessions: usize,
    agents: BTreeSet<String>,
    last: Option<DateTime<Utc>>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let known = known_projects(request)?;
            let mut activities = BTreeMap::<String, ProjectActivity>::new();
            for session in recent_sessions(request)? {
                let Some(project) = session.project else {
                    continue;
                };
                let activity = activities.entry(project).or_default();
                activity.sessions += 1;
                activity.last = activity.last.max(Some(session.last));
                activity.agents.insert(session.agent);
            }
            let waiting: BTreeSet<String> = request
                .web
                .config
                .host
                .assistant_host()
                .projects()?
                .into_iter()
                .filter(|project| !project.candidates.is_empty())
                .map(|project| project.name)
                .collect();
            let now = request.local(request.services.clock.now());
            let mut rows: Vec<_> = known
                .projects
                .into_iter()
                .map(|(name, memories)| {
                    let activity = activities.remove(&name).unwrap_or_default();
                    (name, memories, activity)
                })
                .collect();
            // The one that was used last comes first.
            rows.sort_by_key(|(_, _, activity)| std::cmp::Reverse(activity.last));
            let page = ProjectsPage {
                layout: request.layout("Projects"),
                cards: rows
                    .iter()
                    .map(|(name, memories, activity)| ProjectCard {
                        path: project_path(name),
                        name: Label::cut(name, 80),
                        memories: *memories,
                        sessions: activity.sessions,
                        agents: activity.agents.len(),
                        last: activity
                            .last
                            .map(|last| TimeLabel::new(request.local(last), now)),
                        has_candidates: waiting.contains(name),
                    })
                    .collect(),
                days: DAYS,
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the path of the page of a project. The name may contain any character.
fn project_path(name: &str) -> String {
    format!("/projects/show?{}", encode_pairs([("project", name)]))
}

#[derive(Template)]
#[template(path = "project.html")]
struct ProjectPage {
    layout: Layout,
    name: String,
    label: Label,
    memories_path: String,
    memories: u64,
    newest: Vec<MemoryCard>,
    rules: Vec<MemoryCard>,
    more_rules: u64,
    /// The query that selects the project.
    query: String,
    session_count: usize,
    sessions: Vec<SessionRow>,
    agents: Vec<AgentRow>,
    /// The topics: title, description, and the path if the page serves them.
    topics: Option<Vec<(Label, Label, Option<String>)>>,
    more_topics: usize,
    repositories: Vec<Label>,
    /// The repositories that wait for a confirmation, with their values in the form.
    candidates: Vec<(Label, String)>,
    days: i64,
}

async fn show_one(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&project_page(request)?)))
        .await
}

fn project_page(request: &WebRequest) -> Result<ProjectPage, PageError> {
    let host = request.web.config.host.assistant_host();
    let name = request.query.get("project").trim().to_owned();
    let is_known = known_projects(request)?.projects.contains_key(&name);
    let scope = Scope::Project(name.clone());
    let notes = Filter {
        scope: Some(scope.clone()),
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let newest = |filter: &Filter, limit: usize| {
        let page = PageRequest {
            order: ListOrder::Created,
            limit: Some(limit),
            ..PageRequest::default()
        };
        list(&request.services, filter, &page)
    };
    let memories = newest(&notes, MAX_LISTED)?;
    // A small project of many is not among the known ones.
    if name.is_empty() || !is_known && memories.total == 0 {
        return Err(PageError::new(
            Code::PathNotFound,
            "there is no project with this name",
            "choose one from the list of projects",
        ));
    }
    let rules = Filter {
        standing: Some(StandingFilter::Only(StandingKind::Instruction)),
        ..notes
    };
    let rules = newest(&rules, MAX_RULES)?;
    let cards = |found: &memory_core::MemoryPage| {
        let memories = found.memories.iter();
        memories
            .map(|stored| MemoryCard::new(request, stored))
            .collect::<Vec<_>>()
    };
    let mut sessions = recent_sessions(request)?;
    sessions.retain(|session| session.project.as_ref() == Some(&name));
    let mut activities = BTreeMap::<&str, AgentActivity>::new();
    for session in &sessions {
        let activity = activities.entry(&session.agent).or_default();
        activity.add(session);
    }
    let (topics, more_topics) = project_topics(request, &name)?;
    let projects = host.projects()?;
    let project = projects.into_iter().find(|project| project.name == name);
    let ProjectRepositories {
        repositories,
        candidates,
        ..
    } = project.unwrap_or_default();
    Ok(ProjectPage {
        layout: request.layout(&memory_core::html::visible_text(&name)),
        label: Label::cut(&name, 80),
        memories_path: format!(
            "/memories?{}",
            encode_pairs([("scope", scope.to_string().as_str())])
        ),
        memories: memories.total,
        newest: cards(&memories),
        more_rules: rules.total.saturating_sub(rules.memories.len() as u64),
        rules: cards(&rules),
        query: encode_pairs([("project", name.as_str())]),
        session_count: sessions.len(),
        sessions: sessions
            .iter()
            .take(MAX_LISTED)
            .map(|session| SessionRow::new(request, session))
            .collect(),
        agents: activities
            .iter()
            .map(|(agent, activity)| AgentRow::new(request, agent, activity))
            .collect(),
        topics,
        more_topics,
        repositories: repositories.iter().map(|id| Label::new(id)).collect(),
        candidates: candidates
            .into_iter()
            .map(|id| (Label::new(&id), id))
            .collect(),
        days: DAYS,
        name,
    })
}

/// Returns the topics of a project as rows, and the number of those that are not listed.
#[expect(clippy::type_complexity, reason = "the rows of one template")]
fn project_topics(
    request: &WebRequest,
    name: &str,
) -> Result<(Option<Vec<(Label, Label, Option<String>)>>, usize), PageError> {
    let host = request.web.config.host.assistant_host();
    let Some(found) = host.project_topics(name)? else {
        return Ok((None, 0));
    };
    let listing = topic::list(&found)?;
    let served = request.services.topics.as_ref();
    let is_served = served.is_some_and(|own| own.store.location() == found.store.location());
    let row = |topic: &topic::Topic| {
        let path = format!("/topics/{}", encode(topic.name.as_str()));
        (
            Label::cut(&topic.title, 140),
            Label::cut(&topic.description, 300),
            Some(path).filter(|_| is_served),
        )
    };
    let rows = listing.topics.iter().take(MAX_LISTED).map(row).collect();
    Ok((Some(rows), listing.topics.len().saturating_sub(MAX_LISTED)))
}

/// Lets agents in the repository of the field `repository` receive the memories of the field `project`.
async fn confirm_repository(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let project = request.form.get("project");
            let host = request.web.config.host.assistant_host();
            host.confirm_repository(project, request.form.get("repository"))?;
            Ok(request.redirect(&project_path(project)))
        })
        .await
}
